//! Edge cases of the mathematical functions: `edge_cases.txt`, read for each type. Those of functions without an error
//! are compared with MPFR.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use gencl_utest::{Case, Outcome};

use super::table::Row;
use crate::library::calls::{Arguments, Call, MULTIPLE, VECTORS, WIDTHS, case, case_of_gencl};
use crate::library::none;
use crate::numbers::Type;
use crate::samples::{self, Form};

const TABLE: &str = include_str!("edge_cases.txt");

/// How far results that are not exact may be off, in units of the last place.
const ROUNDING: f64 = 6.0;

/// What a result has to be.
#[derive(Clone, Copy, Debug)]
enum Expected {
    Bits(f64),
    About(f64),
    One([f64; 2]),
    Any,
}

/// A function with everything that the table has of it.
struct Function {
    row: &'static Row,
    rows: Vec<([f64; 3], Vec<Expected>)>,
}

/// A type's numbers, and how many digits its significands have.
struct Float {
    ty: &'static Type,
    digits: i32,
    /// Exponents of the least subnormal and of the largest number.
    least: i32,
    most: i32,
}

impl Float {
    fn new(ty: &'static Type) -> Float {
        let (digits, most) = ty.float();
        Float { ty, digits, least: 2 - most - digits, most }
    }

    fn min(&self) -> f64 {
        libm::scalbn(1.0, self.least)
    }

    fn max(&self) -> f64 {
        libm::scalbn(2.0 - libm::scalbn(2.0, -self.digits), self.most)
    }

    /// The number of a name.
    fn number(&self, name: &str) -> Option<f64> {
        let unit = libm::scalbn(1.0, -self.digits);
        let normal = libm::scalbn(1.0, 1 - self.most);
        Some(match name {
            "min" => self.min(),
            "rootmin" => self.min().sqrt(),
            "max" => self.max(),
            "normal" => normal,
            "1+" => 1.0 + 2.0 * unit,
            "1-" => 1.0 - unit,
            "pi" => PI,
            "pi/2" => PI / 2.0,
            "pi/4" => PI / 4.0,
            "3pi/4" => 0.75 * PI,
            "intmax" => i32::MAX.into(),
            _ => return name.parse().ok(),
        })
    }

    /// Numbers of a class.
    fn class(&self, name: &str) -> Vec<f64> {
        if let Some(number) = self.number(name) {
            return vec![number];
        }
        let (min, max) = (self.min(), self.max());
        let next = |name: &str| self.number(name).expect("a number");
        let odd = libm::scalbn(1.0, self.digits) - 1.0;
        let broken = libm::scalbn(1.0, self.digits - 2) + 0.5;
        let both = |positive: Vec<f64>| positive.iter().flat_map(|x| [*x, -x]).collect::<Vec<f64>>();
        match name.split_once('<') {
            Some((kind, "0")) => return self.class(&format!("{kind}>0")).iter().map(|x| -x).collect(),
            Some((kind, "-1")) => return self.class(&format!("{kind}>1")).iter().map(|x| -x).collect(),
            _ => {}
        }
        match name {
            ">0" => vec![min, next("normal"), 0.5, 1.0, 2.5, 3.0, max],
            ">1" => vec![next("1+"), 2.0, max, f64::INFINITY],
            // Of half floats all are subnormal.
            "small" => {
                let first = -self.digits.max(14);
                (self.least..=first)
                    .step_by((first - self.least) as usize / 10)
                    .map(|n| libm::scalbn(1.0, n))
                    .collect()
            }
            "below1" => vec![min, 0.5, next("1-")],
            "finite" => both(vec![0.0, min, 0.5, 1.0, 3.0, max]),
            "nonzero" => both(vec![min, 0.5, 1.0, 3.0, max, f64::INFINITY]),
            "not1" => vec![0.0, min, 2.0, -1.0, max, f64::INFINITY, f64::NEG_INFINITY],
            "any" => [both(vec![0.0, min, 0.5, 1.0, 3.0, max, f64::INFINITY]), vec![f64::NAN]].concat(),
            "odd>0" => vec![1.0, 3.0, odd],
            "even>0" => vec![2.0, 4.0, max],
            "integer>0" => vec![1.0, 2.0, 3.0, 4.0, odd, max],
            "half>0" => vec![0.5, 1.5, 2.5, broken],
            "broken>0" => vec![min, 0.5, 1.5, broken],
            _ => panic!("{name} is no class"),
        }
    }

    /// Reads the table.
    fn functions(&self) -> BTreeMap<&'static str, Function> {
        let mut functions: BTreeMap<&str, Function> = BTreeMap::new();
        for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (names, row) = line.split_once(" : ").expect("functions : row");
            let (arguments, results) = row.split_once(" = ").expect("arguments = results");
            let signs: &[bool] = if row.contains(['±', '∓']) { &[false, true] } else { &[false] };
            let there = |name: &&str| Row::named(name).bound(self.ty).is_some();
            for name in names.split(' ').filter(there) {
                let row = Row::named(name);
                let function = functions.entry(name).or_insert(Function { row, rows: Vec::new() });
                for &negative in signs {
                    self.expand(function, negative, arguments, results);
                }
            }
        }
        functions
    }

    fn expand(&self, function: &mut Function, negative: bool, arguments: &str, results: &str) {
        let mut tuples = vec![Vec::new()];
        for argument in arguments.split(' ') {
            let (numbers, minus) = match argument.strip_prefix("n=") {
                Some(integer) => (integers(integer), false),
                None => {
                    let (minus, rest) = sign(argument, negative);
                    (self.class(rest), minus)
                }
            };
            tuples = tuples
                .into_iter()
                .flat_map(|tuple: Vec<f64>| {
                    numbers.iter().map(move |&x| [tuple.clone(), vec![if minus { -x } else { x }]].concat())
                })
                .collect();
        }
        for tuple in tuples {
            let mut x = [0.0; 3];
            x[..tuple.len()].copy_from_slice(&tuple);
            let expected = results.split(' ').map(|result| self.expected(result, negative, x)).collect();
            function.rows.push((x, expected));
        }
    }

    fn expected(&self, result: &str, negative: bool, [x, y, _]: [f64; 3]) -> Expected {
        let (about, result) = match result.strip_prefix('~') {
            Some(rest) => (true, rest),
            None => (false, result),
        };
        let (minus, name) = sign(result, negative);
        let least = f64::from(i32::MIN);
        let value = match name {
            "ignored" => return Expected::Any,
            // FP_ILOGB0 and FP_ILOGBNAN are the implementation's choice.
            "ilogb0" => return Expected::One([least, least + 1.0]),
            "ilogbnan" => return Expected::One([least, f64::from(i32::MAX)]),
            "|x|" => x.abs(),
            "|y|" => y.abs(),
            "ln|x|" => x.abs().ln(),
            _ => self.number(name).unwrap_or_else(|| panic!("{name} is no result")),
        };
        let value = if minus { -value } else { value };
        if about { Expected::About(value) } else { Expected::Bits(value) }
    }

    fn is(&self, ty: &Type, got: u64, expected: Expected) -> bool {
        let number = ty.value(got);
        match expected {
            Expected::Any => true,
            Expected::One(values) => values.contains(&number),
            Expected::Bits(value) if value.is_nan() => number.is_nan() && !ty.is_signalling(got),
            Expected::Bits(value) => got == ty.bits(value),
            Expected::About(value) => ty.error(number, value) <= ROUNDING,
        }
    }
}

/// Integers of a class.
fn integers(name: &str) -> Vec<f64> {
    let all: &[i32] = match name {
        "int" => &[0, 1, -1, 2, 77, i32::MIN, i32::MAX],
        "odd>0" => &[1, 3, i32::MAX],
        "even>0" => &[2, 4, 1 << 30],
        "odd<0" => &[-1, -3, -i32::MAX],
        "even<0" => &[-2, -4, i32::MIN],
        _ => return vec![name.parse().expect("an integer")],
    };
    all.iter().map(|&n| n.into()).collect()
}

/// The sign before a name, where that of the line is given.
fn sign(name: &str, negative: bool) -> (bool, &str) {
    let signs = [('±', negative), ('∓', !negative), ('-', true)];
    signs.iter().find_map(|(sign, minus)| Some((*minus, name.strip_prefix(*sign)?))).unwrap_or((false, name))
}

/// Other drivers agree about next to all of it, but not about signs of zeros.
const EDGES: &str = "its edge cases";

pub fn cases() -> Vec<Case> {
    let edges = Type::floats().map(|ty| case_of_gencl(EDGES, "math_edges", ty, move || check(ty, run)));
    let constants = Type::floats()
        .map(|ty| case_of_gencl(EDGES, "math_edge_constants", ty, move || check(ty, constants)));
    let codes = Type::floats().map(|ty| case("math_nan", ty, move || nan(ty)));
    edges.chain(constants).chain(codes).collect()
}

/// `nan` of any code is a quiet one.
fn nan(ty: &'static Type) -> Outcome {
    let code = ty.integers(false);
    let mut codes = samples::integer_triples(code)?[0].clone();
    codes.resize(codes.len().next_multiple_of(MULTIPLE), 0);
    let codes = codes.as_slice();
    let arguments = Arguments { types: [code; 3], values: [codes; 3], together: 1 };
    let call = || Call::new("nan(x)", ty);
    for (width, results) in arguments.evaluate(&WIDTHS, |_| vec![call()])? {
        let quiet = |got: &u64| ty.value(*got).is_nan() && !ty.is_signalling(*got);
        if let Some(i) = results[0][0].iter().position(|got| !quiet(got)) {
            let (name, got) = (ty.name, results[0][0][i]);
            return Err(format!("nan of {width} {name}: {:#x}: {got:#x}", codes[i]));
        }
    }
    Ok(())
}

/// What a check takes: the functions, arguments, where a function's begin, and where faults go.
struct Check<'a> {
    float: &'a Float,
    functions: Vec<(&'static str, &'a Function, usize)>,
    arguments: Arguments<'a>,
    faults: Vec<String>,
}

/// Functions of floats, and those of a float and an integer.
fn check(ty: &'static Type, how: fn(&mut Check<'_>) -> Outcome) -> Outcome {
    let float = Float::new(ty);
    let table = float.functions();
    let mut faults = Vec::new();
    for with_int in [false, true] {
        let types = Row::named(if with_int { "ldexp" } else { "fma" }).types(ty);
        let mut tuples: Vec<[f64; 3]> = Vec::new();
        let mut functions = Vec::new();
        for (name, function) in
            table.iter().filter(|(_, function)| (function.row.form == Form::WithInt) == with_int)
        {
            tuples.resize(tuples.len().next_multiple_of(VECTORS), [1.0; 3]);
            functions.push((*name, function, tuples.len()));
            tuples.extend(function.rows.iter().map(|(arguments, _)| *arguments));
        }
        tuples.resize(tuples.len().next_multiple_of(MULTIPLE) + MULTIPLE, [1.0; 3]);
        let values =
            [0, 1, 2].map(|i| tuples.iter().map(|tuple| types[i].bits(tuple[i])).collect::<Vec<u64>>());
        let values = values.each_ref().map(Vec::as_slice);
        let arguments = Arguments { types, values, together: 1 };
        let mut check = Check { float: &float, functions, arguments, faults: Vec::new() };
        how(&mut check)?;
        faults.extend(check.faults);
    }
    none(&faults)
}

impl Check<'_> {
    /// Compares results of some rows of a function.
    fn compare(
        &mut self,
        name: &str,
        function: &Function,
        what: &str,
        results: impl Iterator<Item = (usize, [u64; 2])>,
    ) {
        let call = function.row.call(self.float.ty);
        for (row, got) in results {
            let (arguments, expected) = &function.rows[row];
            let types = [Some(call.result), call.second];
            for ((ty, got), expected) in types.into_iter().flatten().zip(got).zip(expected) {
                if !self.float.is(ty, got, *expected) {
                    let (shown, kind) = (arguments, self.float.ty.name);
                    self.faults.push(format!(
                        "{name} {kind} {what}: {shown:?}: {:?}, expected {expected:?}",
                        ty.read(got)
                    ));
                }
            }
        }
    }
}

fn run(check: &mut Check<'_>) -> Outcome {
    let functions = check.functions.clone();
    let ty = check.float.ty;
    // Long ones of vectors are the scalar one for each element, which takes its time to compile: where they
    // store a second result by elements, two elements tell.
    let has = |function: &Function, width: usize| {
        let widest = if function.row.second.is_some() { 2 } else { 1 };
        width <= widest || function.row.is_short() || function.row.is_half_precision()
    };
    let of = |width: usize| functions.iter().filter(move |(_, function, _)| has(function, width));
    let call = |(_, function, first): &(&str, &Function, usize)| Call {
        range: Some(*first..first + function.rows.len()),
        ..function.row.call(ty)
    };
    let calls = |width| of(width).map(call).collect();
    let widths: Vec<usize> =
        WIDTHS[..4].iter().copied().filter(|&width| of(width).next().is_some()).collect();
    for (width, results) in check.arguments.evaluate(&widths, calls)? {
        for ((name, function, first), [one, two]) in of(width).zip(results) {
            let pair = |row: usize| [one[first + row], two.get(first + row).copied().unwrap_or(0)];
            let results = (0..function.rows.len()).map(|row| (row, pair(row)));
            check.compare(name, function, &width.to_string(), results);
        }
    }
    Ok(())
}

/// Some rows of each function as constants of the program.
fn constants(check: &mut Check<'_>) -> Outcome {
    const ROWS: usize = 12;
    let functions = check.functions.clone();
    let rows = |function: &Function| (0..function.rows.len()).step_by(function.rows.len().div_ceil(ROWS));
    let call = |(_, function, first): &(&'static str, &Function, usize)| {
        (function.row.call(check.float.ty), rows(function).map(|row| first + row).collect())
    };
    let calls: Vec<_> = functions.iter().map(call).collect();
    for ((name, function, _), [one, two]) in functions.iter().zip(check.arguments.fold(&calls)?) {
        let pair = |place: usize| [one[place], two.get(place).copied().unwrap_or(0)];
        let results = rows(function).enumerate().map(|(place, row)| (row, pair(place)));
        check.compare(name, function, "constant", results);
    }
    Ok(())
}

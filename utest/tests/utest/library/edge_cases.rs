//! Edge cases of the mathematical functions: `edge_cases.txt`, read for each type.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use gencl_utest::{Case, Outcome};

use super::calls::{Arguments, Call, MULTIPLE, VECTORS, WIDTHS, case, case_of_gencl};
use super::floats;
use crate::numbers::Type;

const TABLE: &str = include_str!("edge_cases.txt");

/// Functions whose result has the type int, or whose second result has.
const INT: &[&str] = &["ilogb"];
const INT_SECOND: &[&str] = &["frexp", "lgamma_r", "remquo"];

/// Functions of a few instructions, which are tried with vectors of up to four elements.
const SHORT: &[&str] = &[
    "ceil",
    "copysign",
    "degrees",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fract",
    "frexp",
    "ilogb",
    "ldexp",
    "logb",
    "mad",
    "max",
    "maxmag",
    "min",
    "minmag",
    "modf",
    "nextafter",
    "radians",
    "rint",
    "round",
    "rsqrt",
    "sqrt",
    "trunc",
];

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
#[derive(Default)]
struct Function {
    with_int: bool,
    arity: usize,
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
            "2min" => 2.0 * self.min(),
            "rootmin" => self.min().sqrt(),
            "max" => self.max(),
            "normal" => normal,
            "1+" => 1.0 + 2.0 * unit,
            "1-" => 1.0 - unit,
            "0.5-" => 0.5 - 0.5 * unit,
            "pi" => PI,
            "pi/2" => PI / 2.0,
            "pi/4" => PI / 4.0,
            "3pi/4" => 0.75 * PI,
            "least" => self.least.into(),
            "least+1" => (self.least + 1).into(),
            "most" => self.most.into(),
            "most+1" => (self.most + 1).into(),
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
            "number" => both(vec![0.0, min, 0.5, 1.0, 3.0, max, f64::INFINITY]),
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
            // Functions of lesser precision are there for floats only.
            let there = |name: &&str| self.ty.name == "float" || !name.starts_with("half_");
            for name in names.split(' ').filter(there) {
                let function = functions.entry(name).or_default();
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
                Some(integer) => {
                    function.with_int = true;
                    (integers(integer), false)
                }
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
            function.arity = tuple.len();
            let mut x = [0.0; 3];
            x[..tuple.len()].copy_from_slice(&tuple);
            let expected = results.split(' ').map(|result| self.expected(result, negative, x)).collect();
            function.rows.push((x, expected));
        }
    }

    fn expected(&self, result: &str, negative: bool, [x, y, z]: [f64; 3]) -> Expected {
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
            "x" => x,
            "y" => y,
            "z" => z,
            "|x|" => x.abs(),
            "|y|" => y.abs(),
            "ln|x|" => x.abs().ln(),
            "copied" => x.copysign(y),
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
            Expected::Bits(value) if value.is_nan() => {
                // Quiet ones, which have the first bit of the fraction.
                number.is_nan() && got >> (self.digits - 2) & 1 == 1
            }
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
        "huge>0" => &[1 << 12, i32::MAX],
        "huge<0" => &[-(1 << 12), i32::MIN],
        _ => return vec![name.parse().expect("an integer")],
    };
    all.iter().map(|&n| n.into()).collect()
}

/// The sign before a name, where that of the line is given.
fn sign(name: &str, negative: bool) -> (bool, &str) {
    let signs = [('±', negative), ('∓', !negative), ('-', true)];
    signs.iter().find_map(|(sign, minus)| Some((*minus, name.strip_prefix(*sign)?))).unwrap_or((false, name))
}

impl Function {
    fn results(&self) -> usize {
        self.rows[0].1.len()
    }

    fn call(&self, name: &str, ty: &'static Type) -> Call {
        let int = Type::named("int");
        let arguments = ["x", "y", "z"][..self.arity].join(", ");
        let second = (self.results() > 1).then(|| if INT_SECOND.contains(&name) { int } else { ty });
        let pointer = if second.is_some() { ", @" } else { "" };
        let result = if INT.contains(&name) { int } else { ty };
        Call { second, ..Call::new(format!("{name}({arguments}{pointer})"), result) }
    }
}

/// Other drivers agree about next to all of it, but not about signs of zeros.
const EDGES: &str = "its edge cases";

pub fn cases() -> Vec<Case> {
    let run =
        floats::types().map(|ty| case_of_gencl(EDGES, "library_edge_cases", ty, move || check(ty, run)));
    let constants = floats::types()
        .map(|ty| case_of_gencl(EDGES, "library_edge_constants", ty, move || check(ty, constants)));
    let codes = floats::types().map(|ty| case("library_nan", ty, move || nan(ty)));
    run.chain(constants).chain(codes).collect()
}

/// `nan` of any code is a quiet one.
fn nan(ty: &'static Type) -> Outcome {
    let (float, code) = (Float::new(ty), ty.integers(false));
    let codes = &super::integers::samples(code)[0];
    let arguments = Arguments { types: [code; 3], values: [codes; 3], together: 1 };
    let call = || Call::new("nan(x)", ty);
    for (width, results) in arguments.evaluate(&WIDTHS, |_| vec![call()])? {
        let quiet = |got: &u64| float.is(ty, *got, Expected::Bits(f64::NAN));
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
        let types = if with_int { [ty, Type::named("int"), ty] } else { [ty; 3] };
        let mut tuples: Vec<[f64; 3]> = Vec::new();
        let mut functions = Vec::new();
        for (name, function) in table.iter().filter(|(_, function)| function.with_int == with_int) {
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
    super::none(&faults)
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
        let call = function.call(name, self.float.ty);
        for (row, got) in results {
            let (arguments, expected) = &function.rows[row];
            let types = [Some(call.result), call.second];
            for ((ty, got), expected) in types.into_iter().flatten().zip(got).zip(expected) {
                if !self.float.is(ty, got, *expected) {
                    let (shown, kind) = (&arguments[..function.arity], self.float.ty.name);
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
    let has = |name: &str, function: &Function, width: usize| {
        let widest = if function.results() > 1 { 2 } else { 1 };
        width <= widest || SHORT.contains(&name) || name.starts_with("half_")
    };
    let of = |width: usize| functions.iter().filter(move |(name, function, _)| has(name, function, width));
    let call = |(name, function, first): &(&str, &Function, usize)| Call {
        range: Some(*first..first + function.rows.len()),
        ..function.call(name, ty)
    };
    let calls = |width| of(width).map(call).collect();
    for (width, results) in check.arguments.evaluate(&WIDTHS[..4], calls)? {
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
    let call = |(name, function, first): &(&'static str, &Function, usize)| {
        (function.call(name, check.float.ty), rows(function).map(|row| first + row).collect())
    };
    let calls: Vec<_> = functions.iter().map(call).collect();
    for ((name, function, _), [one, two]) in functions.iter().zip(check.arguments.fold(&calls)?) {
        let pair = |place: usize| [one[place], two.get(place).copied().unwrap_or(0)];
        let results = rows(function).enumerate().map(|(place, row)| (row, pair(place)));
        check.compare(name, function, "constant", results);
    }
    Ok(())
}

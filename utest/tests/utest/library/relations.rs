//! Relational functions (OpenCL C 3.0, 6.15.6): true is 1 of scalars and all ones of vectors; conditions are
//! numbers that are not 0 of scalars and highest bits of vectors.

use gencl_utest::{Case, Outcome};

use super::calls::{Arguments, Call, MULTIPLE, WIDTHS, case};
use crate::numbers::{TYPES, Type};
use crate::samples::{self, Density, Form};

type Relation = (&'static str, fn(f64, f64) -> bool);

const OF_TWO: &[Relation] = &[
    ("isequal", |x, y| x == y),
    ("isnotequal", |x, y| x != y),
    ("isgreater", |x, y| x > y),
    ("isgreaterequal", |x, y| x >= y),
    ("isless", |x, y| x < y),
    ("islessequal", |x, y| x <= y),
    ("islessgreater", |x, y| x.partial_cmp(&y).is_some_and(|order| order.is_ne())),
    ("isordered", |x, y| !x.is_nan() && !y.is_nan()),
    ("isunordered", |x, y| x.is_nan() || y.is_nan()),
];

type Class = (&'static str, fn(&Bits) -> bool);

/// What a number is, asked of its bits: a highest bit, an exponent's bits, and the fraction's.
const CLASSES: &[Class] = &[
    ("isfinite", |x| x.exponent != x.largest),
    ("isinf", |x| x.exponent == x.largest && x.fraction == 0),
    ("isnan", |x| x.exponent == x.largest && x.fraction != 0),
    ("isnormal", |x| x.exponent != x.largest && x.exponent != 0),
    ("signbit", |x| x.negative),
];

struct Bits {
    negative: bool,
    exponent: u64,
    largest: u64,
    fraction: u64,
}

impl Bits {
    fn new(ty: &Type, bits: u64) -> Bits {
        let (digits, most) = ty.float();
        let largest = 2 * most as u64 + 1;
        Bits {
            negative: bits >> (8 * ty.bytes - 1) != 0,
            exponent: bits >> (digits - 1) & largest,
            largest,
            fraction: bits & ((1 << (digits - 1)) - 1),
        }
    }
}

pub fn cases() -> Vec<Case> {
    let relations = Type::floats().map(|ty| case("library_relations", ty, move || relations(ty)));
    let selections = TYPES.iter().map(|ty| case("library_selections", ty, move || selections(ty)));
    relations.chain(selections).collect()
}

/// Pairs of floats, as bits: of special ones, of numbers of all sizes, and of any bits.
fn pairs(ty: &Type) -> Result<[Vec<u64>; 2], String> {
    let tuples = samples::tuples(ty, Form::Two, Density::new(ty, Form::Two)?);
    let bits = tuples.iter().map(|[x, y, _]| [ty.bits(*x), ty.bits(*y)]);
    let any = samples::any_bits(ty, MULTIPLE + tuples.len().next_multiple_of(MULTIPLE) - tuples.len());
    Ok(samples::columns(bits.chain(any)))
}

fn relations(ty: &'static Type) -> Outcome {
    let samples = pairs(ty)?;
    let arguments =
        Arguments { types: [ty; 3], values: [&samples[0], &samples[1], &samples[1]], together: 7 };
    let int = Type::named("int");
    let calls = |width: usize| {
        let two = OF_TWO.iter().map(|(name, _)| format!("{name}(x, y)"));
        let one = CLASSES.iter().map(|(name, _)| format!("{name}(x)"));
        let result = if width == 1 { int } else { ty.integers(true) };
        two.chain(one).map(|text| Call::new(text, result)).collect()
    };
    let mut faults = Vec::new();
    let names = || OF_TWO.iter().map(|(name, _)| name).chain(CLASSES.iter().map(|(name, _)| name));
    for (width, results) in arguments.evaluate(&WIDTHS, calls)? {
        for (k, (name, [results, _])) in names().zip(results).enumerate() {
            let fault = results.into_iter().enumerate().find_map(|(i, got)| {
                let (x, y) = (samples[0][i], samples[1][i]);
                let is = match OF_TWO.get(k) {
                    Some((_, relation)) => relation(ty.value(x), ty.value(y)),
                    None => CLASSES[k - OF_TWO.len()].1(&Bits::new(ty, x)),
                };
                let result = if width == 1 { int } else { ty.integers(true) };
                let expected = result.bits(if !is {
                    0.0
                } else if width == 1 {
                    1.0
                } else {
                    -1.0
                });
                (got != expected).then(|| format!("{name} of {width} {}: {x:#x}, {y:#x}: {got:#x}", ty.name))
            });
            faults.extend(fault);
        }
    }
    super::none(&faults)
}

/// `select`, `bitselect`, and `any` and `all` of signed integers.
fn selections(ty: &'static Type) -> Outcome {
    let signed = ty.integers(true);
    let mut samples = match ty.range {
        Some(_) => samples::integer_triples(ty)?.into_iter().take(2).collect(),
        None => pairs(ty)?.to_vec(),
    };
    let count = samples[0].len().next_multiple_of(MULTIPLE);
    samples.iter_mut().for_each(|all| all.resize(count, 1));
    // Conditions of all kinds, and the bits of an integer.
    let [_, _, conditions] = samples::integer_triples(signed)?;
    let conditions: Vec<u64> = conditions.into_iter().cycle().take(count).collect();
    let arguments =
        Arguments { types: [ty, ty, signed], values: [&samples[0], &samples[1], &conditions], together: 5 };
    let of_conditions = ty.range.is_some_and(|(low, _)| low < 0);
    let int = Type::named("int");
    let calls = |_| {
        let unsigned = ty.integers(false).name;
        let mut calls: Vec<Call> = [
            "select(x, y, z)".to_owned(),
            format!("select(x, y, as_{unsigned}#(z))"),
            format!("bitselect(x, y, as_{}#(z))", ty.name),
        ]
        .map(|text| Call::new(text, ty))
        .into();
        if of_conditions {
            calls.extend(["any(z)", "all(z)"].map(|text| Call { whole: true, ..Call::new(text, int) }));
        }
        calls
    };
    let highest = |bits: &u64| bits >> (8 * ty.bytes - 1) != 0;
    let mut faults = Vec::new();
    for (width, results) in arguments.evaluate(&WIDTHS, calls)? {
        for (k, [results, _]) in results.into_iter().enumerate() {
            let fault = results.into_iter().enumerate().find_map(|(i, got)| {
                let expected = match k {
                    3 => u64::from(conditions[i * width..][..width].iter().any(highest)),
                    4 => u64::from(conditions[i * width..][..width].iter().all(highest)),
                    _ => {
                        let (x, y, z) = (samples[0][i], samples[1][i], conditions[i]);
                        let second = if width == 1 { z != 0 } else { highest(&z) };
                        match k {
                            2 => x & !z | y & z,
                            _ if second => y,
                            _ => x,
                        }
                    }
                };
                (got != expected).then(|| {
                    let z = conditions[if k < 3 { i } else { i * width }];
                    format!("selection {k} of {width} {}: {z:#x}: {got:#x}, expected {expected:#x}", ty.name)
                })
            });
            faults.extend(fault);
        }
    }
    super::none(&faults)
}

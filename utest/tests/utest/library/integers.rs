//! Integer functions (OpenCL C 3.0, 6.15.3), compared with exact arithmetic.

use gencl_utest::{Case, Outcome};

use super::calls::{Arguments, Call, MULTIPLE, WIDTHS, case, case_of_gencl};
use crate::numbers::{Exact, TYPES, Type};
use crate::samples;

/// Which type a result has.
#[derive(Clone, Copy)]
enum Of {
    Same,
    Unsigned,
    Wider,
}

struct Row {
    call: &'static str,
    of: Of,
    /// The exact result, which is then cut to the type; none where any will do.
    expected: fn(&Int, i128, i128, i128) -> Option<i128>,
}

/// A type's numbers.
struct Int {
    bits: u32,
    low: i128,
    high: i128,
}

macro_rules! rows {
    ($($call:literal $of:ident |$t:ident $(, $argument:ident)*| $expected:expr;)*) => {
        &[$(Row { call: $call, of: Of::$of, expected: rows!(@ $t $($argument)*; $expected) }),*]
    };
    (@ $t:ident $x:ident; $e:expr) => { |$t, $x, _, _| Some($e) };
    (@ $t:ident $x:ident $y:ident; $e:expr) => { |$t, $x, $y, _| Some($e) };
    (@ $t:ident $x:ident $y:ident $z:ident; $e:expr) => { |$t, $x, $y, $z| $e };
}

/// `T` is the type, `U` the unsigned one of its size. Scalars for all elements are `s` and `t`.
const ROWS: &[Row] = rows! {
    "abs(x)" Unsigned |_t, x| x.abs();
    "abs_diff(x, y)" Unsigned |_t, x, y| (x - y).abs();
    "add_sat(x, y)" Same |t, x, y| t.saturated(x + y);
    "sub_sat(x, y)" Same |t, x, y| t.saturated(x - y);
    "hadd(x, y)" Same |_t, x, y| (x + y) >> 1;
    "rhadd(x, y)" Same |_t, x, y| (x + y + 1) >> 1;
    "clamp(x, y, z)" Same |_t, x, y, z| (y <= z).then(|| x.max(y).min(z));
    "clamp(x, s, t)" Same |_t, x, y, z| (y <= z).then(|| x.max(y).min(z));
    "clz(x)" Same |t, x| i128::from(t.cut(x).leading_zeros()) - i128::from(128 - t.bits);
    "ctz(x)" Same |t, x| i128::from(t.cut(x).trailing_zeros().min(t.bits));
    "mad_hi(x, y, z)" Same |t, x, y, z| Some(t.product_high(x, y) + z);
    "mad_sat(x, y, z)" Same |t, x, y, z| Some(t.saturated(x.saturating_mul(y).saturating_add(z)));
    "max(x, y)" Same |_t, x, y| x.max(y);
    "max(x, s)" Same |_t, x, y| x.max(y);
    "min(x, y)" Same |_t, x, y| x.min(y);
    "min(x, s)" Same |_t, x, y| x.min(y);
    "mul_hi(x, y)" Same |t, x, y| t.product_high(x, y);
    "rotate(x, y)" Same |t, x, y| t.rotated(x, y);
    "popcount(x)" Same |t, x| i128::from(t.cut(x).count_ones());
};

/// Of `char`, `short` and `int`, and the unsigned ones.
const NARROW_ROWS: &[Row] = rows! {
    "upsample(x, as_U#(y))" Wider |t, x, y| x << t.bits | t.cut(y) as i128;
};

/// Of `int` and `uint`, where the factors have 24 bits.
const ROWS_24: &[Row] = rows! {
    "mul24(x, y)" Same |t, x, y, _z| (t.is_24(x) && t.is_24(y)).then(|| x * y);
    "mad24(x, y, z)" Same |t, x, y, z| (t.is_24(x) && t.is_24(y)).then(|| x * y + z);
};

impl Int {
    fn new(ty: &Type) -> Int {
        let (low, high) = ty.range.expect("an integer");
        Int { bits: 8 * ty.bytes as u32, low, high }
    }

    fn saturated(&self, x: i128) -> i128 {
        x.clamp(self.low, self.high)
    }

    /// As many of the lower bits as the type has.
    fn cut(&self, x: i128) -> u128 {
        x as u128 & (u128::MAX >> (128 - self.bits))
    }

    /// The upper half; the product of two `ulong` has a bit more than `i128` has digits.
    fn product_high(&self, x: i128, y: i128) -> i128 {
        match self.low {
            0 => ((x as u128 * y as u128) >> self.bits) as i128,
            _ => (x * y) >> self.bits,
        }
    }

    fn rotated(&self, x: i128, by: i128) -> i128 {
        let by = self.cut(by) as u32 % self.bits;
        (self.cut(x) << by | self.cut(x) >> (self.bits - by)) as i128
    }

    fn is_24(&self, x: i128) -> bool {
        let bits = if self.low < 0 { 23 } else { 24 };
        (if self.low < 0 { -(1 << bits) } else { 0 }..1 << bits).contains(&x)
    }
}

fn rows(ty: &Type) -> impl Iterator<Item = &'static Row> {
    let narrow = if ty.bytes < 8 { NARROW_ROWS } else { &[] };
    let of_24 = if ty.bytes == 4 { ROWS_24 } else { &[] };
    ROWS.iter().chain(narrow).chain(of_24)
}

impl Row {
    fn result(&self, ty: &'static Type) -> &'static Type {
        let signed = ty.range.is_some_and(|(low, _)| low < 0);
        match self.of {
            Of::Same => ty,
            Of::Unsigned => ty.integers(false),
            Of::Wider => TYPES
                .iter()
                .find(|wide| {
                    wide.bytes == 2 * ty.bytes && wide.range.is_some_and(|(low, _)| (low < 0) == signed)
                })
                .expect("a wider one"),
        }
    }

    fn call(&self, ty: &'static Type) -> Call {
        let text = self.call.replace('U', ty.integers(false).name);
        Call::new(text, self.result(ty))
    }

    /// Whether this is the result of arguments given as bits.
    fn check(&self, ty: &'static Type, bits: [u64; 3], got: u64, what: &str) -> Outcome {
        let numbers = bits.map(|bits| match ty.read(bits) {
            Exact::Integer(number) => number,
            Exact::Float(_) => unreachable!("integers"),
        });
        let [x, y, z] = numbers;
        let Some(exact) = (self.expected)(&Int::new(ty), x, y, z) else { return Ok(()) };
        let expected = Int::new(self.result(ty)).cut(exact) as u64;
        if got == expected {
            return Ok(());
        }
        Err(format!(
            "{} of {what}{}: {x:#x}, {y:#x}, {z:#x}: {got:#x}, expected {expected:#x}",
            self.call, ty.name
        ))
    }
}

pub fn cases() -> Vec<Case> {
    let integers = || TYPES.iter().filter(|ty| ty.range.is_some());
    let run = integers().map(|ty| match ty.name {
        "long" => case_of_gencl("its saturation of long", "library_integers", ty, move || run(ty)),
        _ => case("library_integers", ty, move || run(ty)),
    });
    let constants = integers().map(|ty| case("library_integer_constants", ty, move || constants(ty)));
    run.chain(constants).collect()
}

fn run(ty: &'static Type) -> Outcome {
    let mut samples = samples::integer_triples(ty)?;
    let count = samples[0].len();
    samples.iter_mut().for_each(|all| all.resize(count.next_multiple_of(MULTIPLE), 1));
    let arguments = Arguments { types: [ty; 3], values: samples.each_ref().map(Vec::as_slice), together: 8 };
    let mut faults = Vec::new();
    for (width, results) in arguments.evaluate(&WIDTHS, |_| rows(ty).map(|row| row.call(ty)).collect())? {
        for (row, [results, _]) in rows(ty).zip(results) {
            let check = |(i, got): (usize, u64)| {
                let place = |scalar: &str| if row.call.contains(scalar) { i / width * width } else { i };
                let bits = [samples[0][i], samples[1][place(", s")], samples[2][place(", t")]];
                row.check(ty, bits, got, &format!("{width} "))
            };
            faults.extend(results.into_iter().enumerate().map(check).find_map(Result::err));
        }
    }
    super::none(&faults)
}

/// Some of the pairs, as constants of the program.
fn constants(ty: &'static Type) -> Outcome {
    let samples = samples::integer_triples(ty)?;
    let step = samples[0].len() / 66;
    let samples = samples.map(|all| all.into_iter().step_by(step).collect::<Vec<u64>>());
    let arguments = Arguments { types: [ty; 3], values: samples.each_ref().map(Vec::as_slice), together: 8 };
    let all: Vec<usize> = (0..samples[0].len()).collect();
    let calls: Vec<_> = rows(ty).map(|row| (row.call(ty), all.clone())).collect();
    let mut faults = Vec::new();
    for (row, [results, _]) in rows(ty).zip(arguments.fold(&calls)?) {
        let check =
            |(i, got): (usize, u64)| row.check(ty, [0, 1, 2].map(|k| samples[k][i]), got, "constants of ");
        faults.extend(results.into_iter().enumerate().map(check).find_map(Result::err));
    }
    super::none(&faults)
}

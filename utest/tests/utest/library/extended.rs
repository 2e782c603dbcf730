//! Bit fields and dot products of bytes (OpenCL C 3.1, "Extended Bit Operations" and "Integer Functions"), compared with
//! exact arithmetic.

use gencl_utest::{Case, Need, Outcome, Random};

use super::calls::{Arguments, Call, MULTIPLE, WIDTHS, case};
use crate::numbers::{Exact, TYPES, Type};
use crate::samples;

/// A call, the type of its result for a type of arguments, and the exact result.
struct Row {
    call: &'static str,
    result: fn(&'static Type) -> &'static Type,
    expected: fn(&Field) -> i128,
}

/// Arguments of a call.
struct Field {
    bits: u32,
    base: i128,
    insert: i128,
    offset: u32,
    count: u32,
}

impl Field {
    /// So many ones.
    fn ones(&self) -> i128 {
        (1 << self.count) - 1
    }

    fn extracted(&self) -> i128 {
        self.base >> self.offset & self.ones()
    }
}

/// The last argument has the offset in its low byte, and the count above.
const FIELDS: &[Row] = &[
    Row {
        call: "bitfield_insert(x, y, t & 255, t >> 8)",
        result: |ty| ty,
        expected: |f| f.base & !(f.ones() << f.offset) | (f.insert & f.ones()) << f.offset,
    },
    Row {
        call: "bitfield_extract_signed(x, t & 255, t >> 8)",
        result: |ty| ty.integers(true),
        expected: |f| {
            let negative = f.count > 0 && f.extracted() >> (f.count - 1) == 1;
            f.extracted() - (i128::from(negative) << f.count)
        },
    },
    Row {
        call: "bitfield_extract_unsigned(x, t & 255, t >> 8)",
        result: |ty| ty.integers(false),
        expected: Field::extracted,
    },
    Row {
        call: "bit_reverse(x)",
        result: |ty| ty,
        expected: |f| ((f.base as u128).reverse_bits() >> (128 - f.bits)) as i128,
    },
];

/// A dot product: how each function names the vectors' types, and whether they have signs.
const DOTS: &[(&str, [(&str, bool); 2])] = &[
    ("uu_uint", [("uchar4", false), ("uchar4", false)]),
    ("ss_int", [("char4", true), ("char4", true)]),
    ("us_int", [("uchar4", false), ("char4", true)]),
    ("su_int", [("char4", true), ("uchar4", false)]),
];

pub fn cases() -> Vec<Case> {
    let fields = TYPES.iter().filter(|ty| ty.range.is_some()).map(|ty| {
        case("library_bit_fields", ty, move || fields(ty)).needing(Need::Extension("cl_khr_extended_bit_ops"))
    });
    let dots = Case::new("library_dot_products", dots).needing(Need::Extension("cl_khr_integer_dot_product"));
    fields.chain([dots]).collect()
}

/// Offsets and counts of fields of a type: ends, and any.
fn places(bits: u32, length: usize) -> Vec<u64> {
    let mut random = Random::new(51);
    let place = |i: usize| {
        let mut any = |below: u32| random.next_u32() % below;
        let count = match i % 5 {
            0 => 0,
            1 => 1,
            2 => bits,
            3 => bits - 1,
            _ => any(bits + 1),
        };
        let offset = match i / 5 % 3 {
            0 => 0,
            1 => bits - count,
            _ => any(bits - count + 1),
        };
        u64::from(offset | count << 8)
    };
    (0..length).map(place).collect()
}

fn fields(ty: &'static Type) -> Outcome {
    let bits = 8 * ty.bytes as u32;
    let [mut x, mut y, _] = samples::integer_triples(ty)?;
    let length = x.len().next_multiple_of(MULTIPLE);
    x.resize(length, 1);
    y.resize(length, 1);
    let z = places(bits, length);
    let types = [ty, ty, Type::named("uint")];
    let number = |bits: u64| match ty.read(bits) {
        Exact::Integer(number) => number,
        Exact::Float(_) => unreachable!("integers"),
    };
    let check = |row: &Row, [x, y, z]: [u64; 3], got: u64, what: &str| -> Outcome {
        let (base, insert) = (number(x), number(y));
        let field = Field { bits, base, insert, offset: z as u32 & 255, count: z as u32 >> 8 };
        let expected = (row.result)(ty).cut((row.expected)(&field));
        let Field { offset, count, .. } = field;
        let what = || format!("{} of {what}{}: {x:#x}, {y:#x}, {offset}, {count}", row.call, ty.name);
        if got == expected { Ok(()) } else { Err(format!("{}: {got:#x}, expected {expected:#x}", what())) }
    };
    let calls = || FIELDS.iter().map(|row| Call::new(row.call, (row.result)(ty)));
    let mut faults = Vec::new();
    let arguments = Arguments { types, values: [&x, &y, &z], together: 4 };
    for (width, results) in arguments.evaluate(&WIDTHS, |_| calls().collect())? {
        for (row, [results, _]) in FIELDS.iter().zip(results) {
            let check = |(i, got): (usize, u64)| {
                check(row, [x[i], y[i], z[i / width * width]], got, &format!("{width} "))
            };
            faults.extend(results.into_iter().enumerate().map(check).find_map(Result::err));
        }
    }
    let some: Vec<usize> = (0..length).step_by(length / 66).collect();
    let constants: Vec<_> = calls().map(|call| (call, some.clone())).collect();
    for (row, [results, _]) in FIELDS.iter().zip(arguments.fold(&constants)?) {
        let check = |(i, got): (&usize, u64)| check(row, [x[*i], y[*i], z[*i]], got, "constants of ");
        faults.extend(some.iter().zip(results).map(check).find_map(Result::err));
    }
    super::none(&faults)
}

/// The dot product of bytes, and the sum with an accumulator, as wide as the result.
fn dot(signed: [bool; 2], x: u64, y: u64, sum: u64) -> [u64; 2] {
    let bytes = |signed: bool, bits: u64| {
        (bits as u32).to_le_bytes().map(|byte| if signed { i64::from(byte as i8) } else { i64::from(byte) })
    };
    let (x, y) = (bytes(signed[0], x), bytes(signed[1], y));
    let product: i64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
    let sum = if signed.contains(&true) {
        (product + i64::from(sum as u32 as i32)).clamp(i32::MIN.into(), i32::MAX.into())
    } else {
        (product + sum as i64).min(u32::MAX.into())
    };
    [product, sum].map(|number| u64::from(number as u32))
}

fn dots() -> Outcome {
    let uint = Type::named("uint");
    let mut samples = samples::integer_triples(uint)?;
    let count = samples[0].len();
    samples.iter_mut().for_each(|all| all.resize(count.next_multiple_of(MULTIPLE), u32::MAX.into()));
    let values = samples.each_ref().map(Vec::as_slice);
    let arguments = Arguments { types: [uint; 3], values, together: 16 };
    let calls = DOTS.iter().flat_map(|(name, [(a, signed_a), (b, signed_b)])| {
        let result = Type::named(if *signed_a || *signed_b { "int" } else { "uint" });
        let sum = if result.name == "int" { "as_int(z)" } else { "z" };
        [
            format!("dot(as_{a}(x), as_{b}(y))"),
            format!("dot_acc_sat(as_{a}(x), as_{b}(y), {sum})"),
            format!("dot_4x8packed_{name}(x, y)"),
            format!("dot_acc_sat_4x8packed_{name}(x, y, {sum})"),
        ]
        .map(|call| ([*signed_a, *signed_b], call, result))
    });
    let calls: Vec<_> = calls.collect();
    let list = |_| calls.iter().map(|(_, call, result)| Call::new(call, result)).collect();
    let mut faults = Vec::new();
    for (_, results) in arguments.evaluate(&[1], list)? {
        for ((k, (signed, call, _)), [results, _]) in calls.iter().enumerate().zip(results) {
            let check = |(i, got): (usize, u64)| {
                let [x, y, z] = [0, 1, 2].map(|argument| samples[argument][i]);
                let expected = dot(*signed, x, y, z)[k % 2];
                let what = || format!("{call}: {x:#x}, {y:#x}, {z:#x}: {got:#x}, expected {expected:#x}");
                if got == expected { Ok(()) } else { Err(what()) }
            };
            faults.extend(results.into_iter().enumerate().map(check).find_map(Result::err));
        }
    }
    super::none(&faults)
}

//! Arguments for functions of floats, and how results may differ from exact ones.

use gencl_utest::Random;

use super::calls::MULTIPLE;
use crate::numbers::Type;

/// All three types.
pub fn types() -> impl Iterator<Item = &'static Type> {
    ["half", "float", "double"].map(Type::named).into_iter()
}

/// Pairs of all edges with some third, and any bits.
pub fn any(ty: &Type) -> [Vec<u64>; 3] {
    let mut random = Random::new(33);
    let (digits, most) = ty.float();
    let normal = libm::scalbn(1.0, 1 - most);
    let unit = libm::scalbn(1.0, 1 - digits);
    let max = (2.0 - unit) * libm::scalbn(1.0, most);
    let positive = [0.0, normal * unit, normal, 1.0, 1.0 + unit, max, f64::INFINITY, f64::NAN];
    let sign = 1u64 << (8 * ty.bytes - 1);
    let edge = |i: usize| ty.bits(positive[i / 2 % 8]) ^ if i % 2 == 1 { sign } else { 0 };
    let mut bits =
        || (u64::from(random.next_u32()) << 32 | u64::from(random.next_u32())) & (2 * (sign - 1) + 1);
    let triple = |i: usize| match i {
        0..256 => [edge(i), edge(i / 16), edge(i * 7 + i / 16 * 3)],
        _ if i.is_multiple_of(2) => [bits(), bits(), bits()],
        _ => {
            let x = bits();
            [x, x, bits()]
        }
    };
    columns((0..MULTIPLE).map(triple))
}

/// Numbers of moderate size, of which there is none between some and their neighbours.
pub fn moderate(ty: &Type) -> [Vec<u64>; 3] {
    let mut random = Random::new(34);
    let mut number = |i: usize| match i % 8 {
        0 => 0.0,
        1 => f64::from(random.next_u32() % 9) - 4.0,
        2 => f64::from(random.float(0.0, 1.0)) / 1024.0,
        3..=4 => f64::from(random.float(0.0, 1.0)),
        _ => f64::from(random.float(-8.0, 8.0)),
    };
    columns((0..MULTIPLE).map(|i| [number(i), number(i / 8), number(i / 64)].map(|x| ty.bits(x))))
}

fn columns(rows: impl Iterator<Item = [u64; 3]>) -> [Vec<u64>; 3] {
    let rows: Vec<[u64; 3]> = rows.collect();
    [0, 1, 2].map(|i| rows.iter().map(|row| row[i]).collect())
}

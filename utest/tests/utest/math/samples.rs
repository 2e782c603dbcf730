//! Arguments for the mathematical functions: the ends of a type's range, what is next to integers, halves and powers of
//! two, where functions overflow and underflow; all pairs of these; numbers of all exponents.

use gencl_utest::Random;

use super::table::Form;
use crate::numbers::Type;

/// How many arguments there are.
#[derive(Clone, Copy)]
pub struct Density {
    /// Numbers of each exponent and sign, and pairs and triples of those for each thousand.
    pub of_exponent: usize,
    /// Every such special number is paired with every such.
    pub step: usize,
}

/// Tuples of arguments. The integer of `Form::WithInt` is the second one.
pub fn tuples(ty: &Type, form: Form, density: Density) -> Vec<[f64; 3]> {
    let mut random = Random::new(41);
    let special = special(ty);
    let ends = ends(ty);
    let few: Vec<f64> = special.iter().step_by(density.step).chain(&ends).copied().collect();
    let spread = spread(ty, &mut random, density.of_exponent);
    let pairs = few.iter().flat_map(|&x| few.iter().map(move |&y| [x, y, 0.0]));
    match form {
        Form::One if ty.bytes == 2 => (0..=0xffff).map(|bits| [ty.value(bits), 0.0, 0.0]).collect(),
        Form::One => special.iter().chain(&spread).map(|&x| [x, 0.0, 0.0]).collect(),
        Form::Two => {
            let mut tuples: Vec<[f64; 3]> = pairs.collect();
            // Quotients that are about an integer, times which the divisor may overflow.
            tuples.extend(
                ends.iter()
                    .flat_map(|&x| (2..64).map(move |n| [x, ty.value(ty.bits(x / f64::from(n))), 0.0])),
            );
            tuples.extend(spread.iter().map(|&x| [x, pick(&mut random, &spread), 0.0]));
            tuples.extend(spread.iter().enumerate().map(|(i, &x)| [x, related(ty, &mut random, i, x), 0.0]));
            tuples
        }
        Form::WithInt => {
            let integers = integers(ty);
            let mut tuples: Vec<[f64; 3]> =
                few.iter().flat_map(|&x| integers.iter().map(move |&n| [x, n, 0.0])).collect();
            tuples.extend(spread.iter().map(|&x| [x, pick(&mut random, &integers), 0.0]));
            let (_, most) = ty.float();
            let mut exponent = |x: f64| {
                // To the ends of the range and beyond.
                let own = if x == 0.0 || !x.is_finite() { 0 } else { libm::ilogb(x) };
                let target = if random.next_u32() & 1 == 0 { most } else { 1 - most - ty.float().0 };
                f64::from(target - own + (random.next_u32() % 7) as i32 - 3)
            };
            tuples.extend(spread.iter().map(|&x| [x, exponent(x), 0.0]));
            tuples
        }
        Form::Three => {
            let corners: Vec<f64> = special.iter().step_by(8 * density.step).chain(&ends).copied().collect();
            let mut tuples: Vec<[f64; 3]> = Vec::new();
            for &x in &corners {
                for &y in &corners {
                    tuples.extend(corners.iter().map(|&z| [x, y, z]));
                    // Cancels the product but for its rounding error; half of the last place of the sum.
                    let product = ty.value(ty.bits(x * y));
                    tuples.extend([[x, y, -product], [x, y, product * libm::scalbn(1.0, ty.float().0)]]);
                }
            }
            for &x in &spread {
                let y = related(ty, &mut random, 0, x);
                let product = ty.value(ty.bits(x * y));
                tuples.extend([[x, y, pick(&mut random, &spread)], [x, y, -product]]);
            }
            tuples.iter().map(|tuple| tuple.map(|number| ty.value(ty.bits(number)))).collect()
        }
    }
}

fn pick(random: &mut Random, numbers: &[f64]) -> f64 {
    numbers[random.next_u32() as usize % numbers.len()]
}

/// Numbers with which functions of two have something in common with x: quotients that are about an integer, numbers of
/// about the same size, powers that are about the largest or smallest number.
fn related(ty: &Type, random: &mut Random, i: usize, x: f64) -> f64 {
    let (digits, most) = ty.float();
    let neighbour = |x: f64, steps: i64| {
        let moved = ty.bits(x).wrapping_add_signed(steps) & (u64::MAX >> (64 - 8 * ty.bytes));
        ty.value(moved)
    };
    let steps = i64::from(random.next_u32() % 5) - 2;
    let y = match i % 4 {
        0 => x / f64::from(1 + random.next_u32() % 1000),
        1 => x * libm::scalbn(1.0, (random.next_u32() % (2 * digits as u32)) as i32 - digits),
        2 => {
            let end = if random.next_u32() & 1 == 0 { most + 1 } else { 1 - most - digits };
            f64::from(end) / x.abs().log2()
        }
        _ => x * (f64::from(random.next_u32() % 64) + 0.5),
    };
    neighbour(ty.value(ty.bits(y)), steps)
}

/// Ends of the range.
fn ends(ty: &Type) -> Vec<f64> {
    let (digits, most) = ty.float();
    let power = |n: i32| libm::scalbn(1.0, n);
    let max = (2.0 - power(1 - digits)) * power(most);
    let positive = [0.0, power(2 - most - digits), power(1 - most), 1.0, max, f64::INFINITY];
    positive.into_iter().flat_map(|x| [x, -x]).chain([f64::NAN]).collect()
}

/// Ends of the range, thresholds, and their neighbours, of both signs.
fn special(ty: &Type) -> Vec<f64> {
    let (digits, most) = ty.float();
    let power = |n: i32| libm::scalbn(1.0, n);
    let (unit, least) = (power(1 - digits), 2 - most - digits);
    let normal = power(1 - most);
    let max = (2.0 - unit) * power(most);
    let whole = power(digits - 1);
    let mut positive = vec![
        0.0,
        f64::INFINITY,
        f64::NAN,
        // The smallest ones.
        power(least),
        2.0 * power(least),
        3.0 * power(least),
        normal / 2.0,
        normal - power(least),
        normal,
        normal * (1.0 + unit),
        2.0 * normal,
        // The largest.
        max,
        max * (1.0 - unit),
        max / 2.0,
        max / 3.0,
        max / 5.0,
        max / 7.0,
        power(most),
        power(most - 1),
        // Whose squares and products are such.
        normal.sqrt(),
        power(least).sqrt(),
        max.sqrt(),
        max.sqrt() * (1.0 + unit),
        max.cbrt(),
        // Next to the last integers and halves.
        whole / 4.0 + 0.25,
        whole / 4.0 + 0.75,
        whole / 2.0 + 0.5,
        whole / 2.0 - 0.5,
        whole - 0.5,
        whole - 1.0,
        whole,
        whole + 1.0,
        2.0 * whole - 1.0,
        2.0 * whole,
        2.0 * whole + 2.0,
        4.0 * whole,
        // Those of integers.
        power(31),
        power(31) * (1.0 - unit / 2.0),
        power(32),
        power(63),
        power(63) * (1.0 - unit / 2.0),
        power(64),
        // The digits of other types, where sums begin to lose one operand.
        power(-8),
        power(-11),
        power(-24),
        power(-25),
        power(-53),
        unit / 4.0,
        unit / 2.0,
        unit,
        // Around 1.
        1.0 - unit,
        1.0 - unit / 2.0,
        1.0,
        1.0 + unit,
        1.0 + 2.0 * unit,
        2.0 - unit,
        2.0,
        2.0 + 2.0 * unit,
        0.5 - unit / 4.0,
        0.5,
        0.5 + unit / 2.0,
        0.25,
        0.75,
        1.5,
        1.5 - unit,
        2.5,
        3.0,
        3.5,
        4.0,
        5.0,
        7.0,
        10.0,
        16.0,
        33.0,
        100.0,
        1000.0,
        1.0 / 3.0,
        2.0 / 3.0,
        0.1,
        std::f64::consts::E,
        // Angles: multiples of pi, next to which sine and cosine are smallest; those with the least distance.
        std::f64::consts::PI / 6.0,
        std::f64::consts::FRAC_PI_4,
        std::f64::consts::FRAC_PI_2,
        std::f64::consts::PI,
        1.5 * std::f64::consts::PI,
        std::f64::consts::TAU,
        22.0,
        355.0,
        131071.0 * std::f64::consts::FRAC_PI_2,
        131073.0 * std::f64::consts::FRAC_PI_2,
        16367173.0 * power(72),
        6381956970095103.0 * power(797),
        5319372648326541.0 * power(415),
        // Where the gamma function and its logarithm overflow, and its logarithm has zeros for negative numbers.
        9.0,
        12.0,
        34.0,
        35.04,
        36.0,
        171.0,
        171.624,
        172.0,
        177.78,
        184.0,
        2.457024738220797,
        2.7476826467274127,
        // And the error function.
        9.19,
        10.05,
        26.54,
        27.22,
    ];
    // Where exponentials are at the ends, and hyperbolic functions.
    for exponent in [
        f64::from(most + 1),
        f64::from(most + 2),
        f64::from(1 - most),
        f64::from(least),
        f64::from(least - 1),
    ] {
        let magnitude = exponent.abs();
        positive.extend([
            magnitude,
            magnitude * std::f64::consts::LN_2,
            magnitude * std::f64::consts::LOG10_2,
        ]);
    }
    let rounded = positive.iter().map(|&x| ty.bits(x));
    let sign = 1u64 << (8 * ty.bytes - 1);
    let largest = ty.bits(f64::INFINITY);
    // With the neighbours of thresholds that are rounded.
    let mut bits: Vec<u64> = rounded
        .flat_map(|bits| {
            let near = bits.is_multiple_of(4) || bits < 8 || bits >= largest - 8;
            if near { vec![bits] } else { vec![bits - 1, bits, bits + 1] }
        })
        .flat_map(|bits| [bits, bits | sign])
        .collect();
    bits.sort_unstable();
    bits.dedup();
    bits.into_iter().map(|bits| ty.value(bits)).collect()
}

/// Numbers of all exponents and both signs, any of moderate size, and any bits near them.
fn spread(ty: &Type, random: &mut Random, of_exponent: usize) -> Vec<f64> {
    let (digits, most) = ty.float();
    let least = 2 - most - digits;
    let mut fraction =
        || 1.0 + f64::from(random.next_u32()) / 2f64.powi(32) + f64::from(random.next_u32()) / 2f64.powi(64);
    let mut numbers = Vec::new();
    for exponent in least..=most {
        for i in 0..2 * of_exponent {
            let number = libm::scalbn(fraction(), exponent);
            numbers.push(if i % 2 == 0 { number } else { -number });
        }
    }
    let count = numbers.len() / 4;
    for i in 0..count {
        let range = libm::scalbn(4.0, 2 * (i % 5) as i32);
        numbers.push((fraction() * 2.0 - 3.0) * range);
    }
    numbers.into_iter().map(|number| ty.value(ty.bits(number))).collect()
}

fn integers(ty: &Type) -> Vec<f64> {
    let (digits, most) = ty.float();
    let ends =
        [1, 2, 3, 4, 5, 7, 10, 31, 32, 127, 128, 1 << 12, (1 << 24) + 1, (1 << 30) - 1, 1 << 30, i32::MAX];
    let exponents = [
        digits - 1,
        digits,
        digits + 1,
        most - 1,
        most,
        most + 1,
        most + digits,
        2 * most,
        2 * most + digits,
    ];
    let positive = ends.into_iter().chain(exponents).map(f64::from);
    positive.flat_map(|n| [n, -n]).chain([0.0, i32::MIN.into()]).collect()
}

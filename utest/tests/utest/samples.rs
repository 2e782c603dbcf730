//! Arguments for the tables of functions: the ends of a type's range, what is next to integers, halves and powers of two,
//! where functions overflow and underflow; all pairs of these; numbers of all exponents.

use gencl_utest::Random;

use crate::numbers::{TYPES, Type};

/// With a number: so many times as many arguments, and all numbers of elements.
const DENSITY: &str = "NUMBERS_DENSITY";

/// Which arguments a function has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    One,
    Two,
    Three,
    /// Two numbers, and one from 0 to 1 or between them.
    Blend,
    /// A number and an `int`.
    WithInt,
}

/// How many arguments there are.
#[derive(Clone, Copy)]
pub struct Density {
    /// Numbers of each exponent and sign, and pairs and triples of those for each thousand.
    of_exponent: usize,
    /// Every such special number is paired with every such.
    step: usize,
}

impl Density {
    pub fn new(ty: &Type, form: Form) -> Result<Density, String> {
        Ok(match dense()? {
            Some(times) => Density { of_exponent: 8 * times, step: 1 },
            None => Density {
                of_exponent: if ty.bytes == 8 { 1 } else { 4 },
                step: if form == Form::One { 1 } else { 4 },
            },
        })
    }
}

/// How many times as many arguments are asked for, if more are.
pub fn dense() -> Result<Option<usize>, String> {
    let Ok(text) = std::env::var(DENSITY) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| format!("{DENSITY}={text} is no number"))
}

/// Tuples of arguments. The integer of `Form::WithInt` is the second one.
pub fn tuples(ty: &Type, form: Form, density: Density) -> Vec<[f64; 3]> {
    let mut random = Random::new(41);
    let special = special(ty);
    let ends = ends(ty);
    let few: Vec<f64> = special.iter().step_by(density.step).chain(&ends).copied().collect();
    let spread = spread(ty, &mut random, density.of_exponent);
    let corners: Vec<f64> = special.iter().step_by(8 * density.step).chain(&ends).copied().collect();
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
        Form::Blend => {
            let mut tuples: Vec<[f64; 3]> = Vec::new();
            let weights = [0.0, libm::scalbn(1.0, -ty.float().0), 0.25, 1.0 / 3.0, 0.5, 0.75, 1.0];
            let mut blends = |x: f64, y: f64, weight: f64| {
                tuples.extend([[x, y, weight], [x, y, x + (y - x) * weight]]);
            };
            for &x in &corners {
                for &y in &corners {
                    weights.iter().for_each(|&weight| blends(x, y, weight));
                }
            }
            for &x in &spread {
                let (other, steps) = (related(ty, &mut random, 1, x), random.next_u32() % 4);
                blends(x, other, random.float(0.0, 1.0).into());
                // Around both.
                blends(x, pick(&mut random, &spread), f64::from(steps) - 1.0);
                let mut moderate = || f64::from(random.float(-8.0, 8.0));
                blends(moderate(), moderate(), moderate().abs() / 8.0);
            }
            tuples.iter().map(|tuple| tuple.map(|number| ty.value(ty.bits(number)))).collect()
        }
        Form::Three => {
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
        let moved = ty.value(ty.bits(x).wrapping_add_signed(steps) & (u64::MAX >> (64 - 8 * ty.bytes)));
        // The neighbours of infinity are signalling, which nobody has to support.
        if moved.is_nan() { f64::NAN } else { moved }
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
pub fn ends(ty: &Type) -> Vec<f64> {
    let (digits, most) = ty.float();
    let power = |n: i32| libm::scalbn(1.0, n);
    let max = (2.0 - power(1 - digits)) * power(most);
    let positive = [0.0, power(2 - most - digits), power(1 - most), 1.0, max, f64::INFINITY];
    positive.into_iter().flat_map(|x| [x, -x]).chain([f64::NAN]).collect()
}

/// Ends of the range, thresholds, and their neighbours, of both signs.
pub fn special(ty: &Type) -> Vec<f64> {
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

/// Numbers that conversions to some type round otherwise than their neighbours: around the ends of integers and their
/// halves, the ties of floats, where they overflow, and subnormal ones; numbers of all sizes.
pub fn converted(from: &Type) -> Result<Vec<u64>, String> {
    let density = Density::new(from, Form::Two)?;
    let mut random = Random::new(42);
    let mut bits: Vec<u64> = match from.range {
        Some(_) => {
            let numbers = TYPES.iter().flat_map(converted_integers).chain(special_integers(from));
            let any = (0..256).map(|i| i128::from(random.next_u64() as i64 >> (i % 64)));
            numbers.chain(any).map(|number| from.cut(number)).collect()
        }
        None if from.bytes == 2 && density.step == 1 => (0..=0xffff).collect(),
        None => {
            let sign = 1u64 << (8 * from.bytes - 1);
            let near = |x: f64| {
                let bits = from.bits(x.abs());
                (bits.saturating_sub(2)..=bits + 2).flat_map(move |bits| [bits, bits | sign])
            };
            let numbers = special(from).into_iter().chain(spread(from, &mut random, density.of_exponent));
            let numbers: Vec<u64> = numbers.map(|x| from.bits(x)).collect();
            TYPES.iter().flat_map(converted_floats).flat_map(near).chain(numbers).collect()
        }
    };
    bits.sort_unstable();
    bits.dedup();
    Ok(bits)
}

/// Integers about which conversions to a type change.
fn converted_integers(to: &Type) -> Vec<i128> {
    let near = |number: i128| (-2..=2).map(move |i| number + i);
    if let Some((low, high)) = to.range {
        return near(low).chain(near(high)).collect();
    }
    let (digits, most) = to.float();
    // Half of the last place of the numbers from 2^n on.
    let ties = (digits..=most.min(63)).flat_map(|n| {
        let (power, half) = (1i128 << n, 1i128 << (n - digits));
        [power, power + half, power + 3 * half, 2 * power - half]
    });
    ties.flat_map(|number| [number, -number]).flat_map(near).collect()
}

/// Floats about which conversions to a type change, of any sign.
fn converted_floats(to: &Type) -> Vec<f64> {
    if let Some((low, high)) = to.range {
        let near = |end: i128| (-6..=6).map(move |quarters| end as f64 + f64::from(quarters) / 4.0);
        return near(low).chain(near(high)).collect();
    }
    let (digits, most) = to.float();
    let power = |n: i32| libm::scalbn(1.0, n);
    let (least, unit) = (power(2 - most - digits), power(1 - digits));
    let max = (2.0 - unit) * power(most);
    // Quarters of the last place.
    let near = |x: f64, unit: f64| (-6..=6).map(move |quarters| x + f64::from(quarters) * unit / 4.0);
    let small = (0..16).map(|quarters| f64::from(quarters) * least / 4.0);
    small
        .chain(near(power(1 - most), least))
        .chain(near(1.0, unit))
        .chain(near(max, unit * power(most)))
        .collect()
}

/// The ends of an integer type, and what is around halves of its bits.
pub fn integer_ends(ty: &Type) -> Vec<i128> {
    let (low, high) = ty.range.expect("an integer");
    let bits = 8 * ty.bytes as i128;
    let half = 1 << (bits / 2);
    let all = high - low;
    let ends = [
        0,
        1,
        high,
        low,
        -1,
        2,
        high - 1,
        low + 1,
        half,
        half - 1,
        -half,
        all / 3,
        all / 5,
        bits,
        bits - 1,
        -2,
    ];
    // What the functions of 24 bits take.
    let of_24 = [1 << 23, (1 << 23) - 1, -(1 << 23), (1 << 24) - 1];
    ends.into_iter().chain(if ty.bytes == 4 { of_24.to_vec() } else { Vec::new() }).collect()
}

/// Powers of two and their neighbours, of both signs, and the ends, in the range of the type.
fn special_integers(ty: &Type) -> Vec<i128> {
    let powers = (0..8 * ty.bytes).flat_map(|n| [-1, 0, 1].map(|near| (1i128 << n) + near));
    let mut numbers: Vec<i128> = powers.flat_map(|n| [n, -n]).chain(integer_ends(ty)).collect();
    let (low, high) = ty.range.expect("an integer");
    numbers.retain(|number| (low..=high).contains(number));
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Triples of integers, as bits: all pairs of ends with some third; special ones with ends; any numbers of all lengths;
/// and those of which `x * y + z` is about the largest or smallest number.
pub fn integer_triples(ty: &Type) -> Result<[Vec<u64>; 3], String> {
    let dense = dense()?;
    let mut random = Random::new(31);
    let (low, high) = ty.range.expect("an integer");
    let (ends, special) = (integer_ends(ty), special_integers(ty));
    let of_ends = |i: usize| ends[i % ends.len()];
    let mut triples = Vec::new();
    for (i, &x) in ends.iter().enumerate() {
        for (j, &y) in ends.iter().enumerate() {
            let thirds = if dense.is_some() { ends.len() } else { 3 };
            triples.extend((0..thirds).map(|k| [x, y, of_ends(i * 5 + j * 3 + k)]));
        }
    }
    for (i, &x) in special.iter().enumerate() {
        let others = if dense.is_some() { ends.len() } else { 4 };
        for j in 0..others {
            let (y, z) = (of_ends(i + 5 * j), of_ends(7 * i + 3 * j));
            triples.extend([[x, y, z], [y, x, z], [y, z, x]]);
        }
        triples.push([x, x, special[(3 * i) % special.len()]]);
    }
    let mut any = || {
        let bits = random.next_u64() as i64;
        i128::from(bits >> (bits as u64 % 64))
    };
    for i in 0..768 * dense.unwrap_or(1) {
        let [x, y, z] = [any(), any(), any()];
        let factor = x >> (2 * ty.bytes);
        let end = if i % 2 == 0 { high } else { low };
        let z = z.clamp(low, high);
        let other = if factor == 0 { 0 } else { (end - z) / factor };
        let rest = end - other * factor + i as i128 / 4 % 5 - 2;
        triples.push(match i % 6 {
            0 | 1 => [x, y, z],
            2 | 3 => [factor, other, rest],
            _ => [factor, other, z],
        });
    }
    Ok(columns(triples.into_iter().map(|triple| triple.map(|number| ty.cut(number)))))
}

/// Any bits of floats, every other time the same twice.
pub fn any_bits(ty: &Type, count: usize) -> Vec<[u64; 2]> {
    let mut random = Random::new(33);
    let mut bits = || random.next_u64() >> (64 - 8 * ty.bytes);
    let pair = |i: usize| {
        let x = bits();
        if i.is_multiple_of(2) { [x, bits()] } else { [x, x] }
    };
    (0..count).map(pair).collect()
}

/// The columns of a table.
pub fn columns<const N: usize>(rows: impl Iterator<Item = [u64; N]>) -> [Vec<u64>; N] {
    let rows: Vec<[u64; N]> = rows.collect();
    std::array::from_fn(|i| rows.iter().map(|row| row[i]).collect())
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

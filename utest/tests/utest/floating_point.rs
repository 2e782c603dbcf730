//! Doubles and half floats.

use gencl_utest::{Case, DOUBLE, Gpu, HALF, Launch, Need, Outcome, Random, all_needing, all_widths};
use half::f16;

use crate::numbers::{Mode, to_half};

pub fn cases() -> Vec<Case> {
    [
        all_needing(DOUBLE, all_widths("doubles", doubles)),
        all_needing(DOUBLE, all_widths("double_places", double_places)),
        all_needing(Need::DoubleArrays, all_needing(DOUBLE, all_widths("double_arrays", double_arrays))),
        all_needing(
            Need::Feature("__opencl_c_subgroups"),
            all_needing(DOUBLE, all_widths("double_sub_groups", double_sub_groups)),
        ),
        all_needing(HALF, all_widths("halves", halves)),
        all_needing(HALF, all_widths("half_memory", half_memory)),
        vec![Case::new("exact_roots", exact_roots)],
        all_widths("denormals", denormals),
    ]
    .into_iter()
    .flatten()
    .collect()
}

const N: usize = 256;

/// Denormal floats are kept, but for arithmetic with `-cl-denorms-are-zero`, where they count as zeros and
/// become zeros; bits never change.
fn denormals(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let least = f32::from_bits(1);
    let edges =
        [0.0, -0.0, 1.0, -1.5, least, -least, f32::MIN_POSITIVE, -f32::MIN_POSITIVE / 2.0, 2e-38, 0.25];
    let a: Vec<f32> = (0..N).map(|i| edges[i % edges.len()]).collect();
    let b: Vec<f32> = (0..N).map(|i| edges[i / edges.len() % edges.len()]).collect();
    for (options, flushed) in [("", false), ("-cl-denorms-are-zero", true)] {
        let (da, db) = (gpu.buffer(&a)?, gpu.buffer(&b)?);
        let [sum, product, copy] =
            [gpu.buffer(&[1f32; N])?, gpu.buffer(&[1f32; N])?, gpu.buffer(&[1f32; N])?];
        let bits = gpu.buffer(&[0i32; N])?;
        gpu.build_with("denormals", Some(width), options)?.run(
            "denormals",
            &[da.arg(), db.arg(), sum.arg(), product.arg(), copy.arg(), bits.arg()],
            &Launch::linear(N, 64),
        )?;
        let (sum, product, copy, bits) = (sum.read()?, product.read()?, copy.read()?, bits.read()?);
        let flush = |x: f32| if flushed && x.is_subnormal() { 0f32.copysign(x) } else { x };
        for i in 0..N {
            let (x, y) = (flush(a[i]), flush(b[i]));
            let expected = [flush(x + y), flush(x * y), a[i]].map(f32::to_bits);
            let got = [sum[i], product[i], copy[i]].map(f32::to_bits);
            if got != expected || bits[i] != a[i].to_bits() as i32 + 1 {
                return Err(format!("{:e}, {:e} {options}: {got:x?}, expected {expected:x?}", a[i], b[i]));
            }
        }
    }
    Ok(())
}

/// Doubles of all sizes, subnormals too.
fn double_inputs(seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    let edges = [
        0.0,
        -0.0,
        1.0,
        -0.5,
        1.5,
        -2.5,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::MAX,
        f64::MIN_POSITIVE,
        -5e-324,
    ];
    let mut bits = || u64::from(random.next_u32()) << 32 | u64::from(random.next_u32());
    (0..N)
        .map(|i| match i {
            0..144 if seed.is_multiple_of(2) => edges[i % 12],
            0..144 => edges[i / 12],
            // Near 1: fractions; subnormals; anything.
            _ if i % 3 == 0 => f64::from_bits(bits() & 0x800f_ffff_ffff_ffff | (1020 + bits() % 54) << 52),
            _ if i % 3 == 1 => f64::from_bits(bits() & 0x801f_ffff_ffff_ffff),
            _ => f64::from_bits(bits()),
        })
        .collect()
}

/// Operation `k` of kernel `doubles`.
fn double_operations(x: f64, y: f64) -> Vec<f64> {
    let third = 1.0 / 3.0;
    let classes = u8::from(x.is_nan())
        + 2 * u8::from(y.is_infinite())
        + 4 * u8::from(x.is_sign_negative())
        + 8 * u8::from(y.is_normal())
        + 16 * u8::from(x.is_finite());
    let whole = x.trunc();
    vec![
        x + y,
        x - y,
        x * y,
        x / y,
        x.mul_add(y, third),
        x.sqrt(),
        x.floor(),
        x.ceil(),
        x.trunc(),
        x.round_ties_even(),
        x.round(),
        x.min(y),
        x.max(y),
        x.abs(),
        x.copysign(y),
        if x < y { x } else { -y },
        f64::from(x as f32),
        f64::from(classes),
        x % y,
        x * 8.0,
        if x.is_infinite() { 0f64.copysign(x) } else { (x - whole).copysign(x) },
        whole,
        third.mul_add(third, third),
    ]
}

fn doubles(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let (a, b) = (double_inputs(2), double_inputs(3));
    let count = double_operations(1.0, 1.0).len();
    let (da, db) = (gpu.buffer(&a)?, gpu.buffer(&b)?);
    let output = gpu.buffer(&vec![0f64; count * N])?;
    let third = (1.0f64 / 3.0).to_le_bytes();
    gpu.build("doubles", Some(width))?.run(
        "doubles",
        &[da.arg(), db.arg(), output.arg(), gencl_utest::Arg::Bytes(&third)],
        &Launch::linear(N, 64),
    )?;
    let result = output.read()?;
    let foreign = gpu.foreign_platform().is_some();
    for i in 0..N {
        for (k, expected) in double_operations(a[i], b[i]).into_iter().enumerate() {
            let got = result[k * N + i];
            // The sign of a NaN means nothing, neither for signbit's sum, nor does that of minima of zeros.
            let open = k == 17 && a[i].is_nan() || matches!(k, 11 | 12) && a[i] == b[i];
            // Intel's floor of -0 is 0.
            let zero = foreign && got == 0.0 && expected == 0.0;
            let same = got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan() || zero;
            if !same && !open {
                return Err(format!(
                    "operation {k} of {:e}, {:e}: {got:e}, expected {expected:e}",
                    a[i], b[i]
                ));
            }
        }
    }
    Ok(())
}

fn double_places(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let (items, group) = (96, 32);
    let a: Vec<f64> = (0..4 * items).map(|i| f64::from(i as u32) * 0.75 - 100.0).collect();
    let da = gpu.buffer(&a)?;
    let output = gpu.buffer(&vec![0f64; 3 * items])?;
    let (first, number, second) = (1.0e-3f64, -7i32, 3.5f64);
    let mut pair = first.to_le_bytes().to_vec();
    pair.extend(number.to_le_bytes());
    pair.extend([0; 4]);
    pair.extend(second.to_le_bytes());
    gpu.build("doubles", Some(width))?.run(
        "places",
        &[da.arg(), output.arg(), gencl_utest::Arg::Local(8 * group), gencl_utest::Arg::Bytes(&pair)],
        &Launch::linear(items, group),
    )?;
    let table = [0.25, -1.0e300, 4.9e-324, 1.0];
    let v = |i: usize| {
        let factors = [first, second, (i % group) as f64, table[i & 3]];
        let element = |k: usize| a[4 * i + 3 - k] * factors[k];
        [element(0), element(1), element(2), element(3)]
    };
    let expected: Vec<f64> = (0..items)
        .flat_map(|i| {
            let other = i / group * group + group - 1 - i % group;
            let (own, other) = (v(i), v(other));
            [other[0] + other[1], own[2], own[3] + f64::from(number)]
        })
        .collect();
    crate::memory::same(&output.read()?, &expected)
}

fn double_arrays(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let items = 96;
    let output = gpu.buffer(&vec![0f64; 2 * items])?;
    gpu.build("doubles", Some(width))?.run("arrays", &[output.arg()], &Launch::linear(items, 32))?;
    let expected: Vec<f64> = (0..items)
        .flat_map(|i| [((2 * i) & 7) as f64 * 0.5, i as f64 - ((4 * i) & 7) as f64 * 0.25])
        .collect();
    crate::memory::same(&output.read()?, &expected)
}

/// Sums are of whole numbers, so that their order does not matter.
fn double_sub_groups(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let (items, width) = (96, width as usize);
    let a: Vec<f64> = (0..items).map(|i| (i * 37 % 101) as f64 - 40.0).collect();
    let input = gpu.buffer(&a)?;
    let output = gpu.buffer(&vec![0f64; 4 * items])?;
    gpu.build_with("doubles", Some(width as u32), "-cl-std=CL3.0")?.run(
        "groups",
        &[input.arg(), output.arg()],
        &Launch::linear(items, 32),
    )?;
    let expected: Vec<f64> = (0..items)
        .flat_map(|i| {
            let group = &a[i / width * width..][..width];
            let before = &group[..i % width];
            let most = before.iter().copied().fold(a[i], f64::max);
            [group.iter().sum::<f64>(), most, before.iter().sum::<f64>() + 0.0, group[5]]
        })
        .collect();
    crate::memory::same(&output.read()?, &expected)
}

/// Correctly rounded roots and quotients; with 32 lanes the first kernel takes every register.
fn exact_roots() -> Outcome {
    let gpu = Gpu::get()?;
    let source = "kernel void roots(global float16 *d, global const float16 *a) {\
                  size_t i = get_global_id(0); d[i] = sqrt(a[i]); }\
                  kernel void quotients(global float4 *d, global const float4 *a) {\
                  size_t i = get_global_id(0); d[i] = a[i].wzyx / a[i]; }";
    let mut random = Random::new(8);
    let a: Vec<f32> = (0..16 * N).map(|_| f32::from_bits(random.next_u32() % 0x7f80_0000)).collect();
    let da = gpu.buffer(&a)?;
    let output = gpu.buffer(&vec![0f32; 16 * N])?;
    let program = gpu.build_source(source, "-cl-fp32-correctly-rounded-divide-sqrt")?;
    program.run("roots", &[output.arg(), da.arg()], &Launch::linear(N, 64))?;
    let roots: Vec<f32> = a.iter().map(|x| x.sqrt()).collect();
    crate::memory::same(&output.read()?, &roots)?;
    program.run("quotients", &[output.arg(), da.arg()], &Launch::linear(4 * N, 64))?;
    let quotients: Vec<f32> =
        a.chunks(4).flat_map(|v| [v[3] / v[0], v[2] / v[1], v[1] / v[2], v[0] / v[3]]).collect();
    crate::memory::same(&output.read()?, &quotients)
}

fn half_inputs(seed: u64) -> Vec<f16> {
    let mut random = Random::new(seed);
    let edges =
        [0u16, 0x8000, 0x3c00, 0xb800, 0x3e00, 0xc100, 0x7c00, 0xfc00, 0x7e00, 0x7bff, 0x0400, 0x8001];
    let mut number = |i: usize| match i {
        0..144 if seed.is_multiple_of(2) => edges[i % 12],
        0..144 => edges[i / 12],
        _ => random.next_u32() as u16,
    };
    (0..N).map(|i| f16::from_bits(number(i))).collect()
}

/// Operation `k` of kernel `halves`. A result of `f64` operations on half floats is exact or has so many
/// digits more that rounding it once more changes nothing.
fn half_operations(a: f16, b: f16) -> Vec<f16> {
    let (x, y) = (a.to_f64(), b.to_f64());
    let third = f16::from_f64(1.0 / 3.0).to_f64();
    let classes = u8::from(x.is_nan())
        + 2 * u8::from(y.is_infinite())
        + 4 * u8::from(x.is_sign_negative())
        + 8 * u8::from(b.is_normal())
        + 16 * u8::from(x.is_finite());
    let results = [
        x + y,
        x - y,
        x * y,
        x.mul_add(y, third),
        x.sqrt(),
        x.floor(),
        x.ceil(),
        x.trunc(),
        x.round_ties_even(),
        x.min(y),
        x.max(y),
        x.abs(),
        x.copysign(y),
        if x < y { x } else { -y },
        x,
        f64::from(classes),
        x % y,
    ];
    results.iter().map(|&result| to_half(result, Mode::Nearest)).collect()
}

fn same_half(got: f16, expected: f16) -> bool {
    got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan()
}

fn halves(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let (a, b) = (half_inputs(4), half_inputs(5));
    let count = half_operations(f16::ONE, f16::ONE).len();
    let (da, db) = (gpu.buffer(&a)?, gpu.buffer(&b)?);
    let output = gpu.buffer(&vec![f16::ZERO; count * N])?;
    let third = f16::from_f64(1.0 / 3.0).to_le_bytes();
    gpu.build("halves", Some(width))?.run(
        "halves",
        &[da.arg(), db.arg(), output.arg(), gencl_utest::Arg::Bytes(&third)],
        &Launch::linear(N, 64),
    )?;
    let result = output.read()?;
    for i in 0..N {
        for (k, expected) in half_operations(a[i], b[i]).into_iter().enumerate() {
            let got = result[k * N + i];
            let open = k == 15 && a[i].is_nan() || matches!(k, 9 | 10) && a[i] == b[i];
            if !same_half(got, expected) && !open {
                return Err(format!("operation {k} of {}, {}: {got}, expected {expected}", a[i], b[i]));
            }
        }
    }
    Ok(())
}

fn half_memory(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let mut random = Random::new(6);
    // Up to beyond the largest half float, and down to its subnormals.
    let mut number = |i: usize| {
        let bits = random.next_u32() & 0x807f_ffff | (100 + random.next_u32() % 45) << 23;
        // Between two half floats.
        if i.is_multiple_of(4) { f32::from_bits(bits & 0xffff_f000) } else { f32::from_bits(bits) }
    };
    let mut a: Vec<f32> = (0..N).map(&mut number).collect();
    a[..4].copy_from_slice(&[f32::INFINITY, f32::NAN, 65519.9, -0.0]);
    // Slightly off the midpoint of two half floats, which double rounding through float would lose.
    let b: Vec<f64> = a.iter().map(|x| f64::from(*x) * (1.0 + 2f64.powi(-45))).collect();
    let (da, db) = (gpu.buffer(&a)?, gpu.buffer(&b)?);
    let output = gpu.buffer(&vec![f16::ZERO; 13 * N + 4])?;
    gpu.build("halves", Some(width))?.run(
        "stored",
        &[da.arg(), db.arg(), output.arg(), gencl_utest::Arg::Local(2 * 64)],
        &Launch::linear(N, 64),
    )?;
    let result = output.read()?;
    let modes = [Mode::Nearest, Mode::Nearest, Mode::Zero, Mode::Up, Mode::Down];
    for i in 0..N {
        for (k, mode) in modes.into_iter().enumerate() {
            for (row, value) in [(k, f64::from(a[i])), (5 + k, b[i])] {
                let (got, expected) = (result[row * N + i], to_half(value, mode));
                if !same_half(got, expected) {
                    return Err(format!("row {row}: {value:e}: {got}, expected {expected}"));
                }
            }
        }
        let expected = to_half(f64::from(a[i]), Mode::Nearest);
        if !same_half(result[10 * N + i], expected) {
            return Err(format!("local: {}: {}, expected {expected}", a[i], result[10 * N + i]));
        }
        if i % 4 != 3 {
            let (got, expected) = (result[12 * N + i], to_half(f64::from(a[i]), Mode::Zero));
            if !same_half(got, expected) {
                return Err(format!("aligned: {}: {got}, expected {expected}", a[i]));
            }
        }
    }
    Ok(())
}

//! Integers, floats, vectors, conversions and mathematical functions.

use gencl_utest::{Case, Gpu, Launch, Outcome, Random, all_widths};

use crate::memory::same;

pub fn cases() -> Vec<Case> {
    [
        all_widths("integers", integers),
        all_widths("floats", floats),
        all_widths("math", math),
        all_widths("vectors", vectors),
    ]
    .into_iter()
    .flatten()
    .collect()
}

const N: usize = 256;

/// Operation `k` of kernel `integers`.
fn integer_operations(x: i32, y: i32) -> Vec<u32> {
    let (ux, uy) = (x as u32, y as u32);
    let nonzero = if y == 0 || (x == i32::MIN && y == -1) { 3 } else { y };
    let un = nonzero as u32;
    let shift = uy & 31;
    vec![
        x.wrapping_add(y) as u32,
        x.wrapping_sub(y) as u32,
        x.wrapping_mul(y) as u32,
        (x / nonzero) as u32,
        (x % nonzero) as u32,
        ux / un,
        ux % un,
        ux << shift,
        (x >> shift) as u32,
        ux >> shift,
        ((x & y) ^ (x | !y)) as u32,
        x.min(y) as u32,
        ux.max(uy),
        x.unsigned_abs(),
        ((i64::from(x) * i64::from(y)) >> 32) as u32,
        ((u64::from(ux) * u64::from(uy)) >> 32) as u32,
        x.leading_zeros(),
        x.count_ones(),
        ux.rotate_left(shift),
        x.saturating_add(y) as u32,
        ux.saturating_sub(uy),
        ((i64::from(x) + i64::from(y)) >> 1) as u32,
        ((u64::from(ux) + u64::from(uy) + 1) >> 1) as u32,
        ((x & 0xffff) * (y & 0xff) + 5) as u32,
        u32::from(x < y)
            + 2 * u32::from(ux < uy)
            + 4 * u32::from(x <= y)
            + 8 * u32::from(x == y)
            + 16 * u32::from(ux >= uy),
        (i32::from(x as i8) + i32::from(y as i16) + i32::from(x as u8) * 3 + i32::from(y as u16)) as u32,
        (i64::from(x).wrapping_mul(i64::from(y)) >> 13) as u32
            ^ ((u64::from(ux).wrapping_add(u64::from(uy) << 7)) >> 5) as u32,
        (if x < 0 { y } else { x }) as u32,
    ]
}

fn integers(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let mut random = Random::new(3);
    let edges = [0, 1, -1, i32::MIN, i32::MAX, 2, 31, 32, 255, 256, 65535, -65536];
    let mut number = |i: usize, stride: usize| {
        if i < 144 { edges[i / stride % 12] } else { (random.next_u32() as i32) >> (i % 20) }
    };
    let a: Vec<i32> = (0..N).map(|i| number(i, 1)).collect();
    let b: Vec<i32> = (0..N).map(|i| number(i, 12)).collect();
    let operations = integer_operations(1, 1).len();
    let (da, db) = (gpu.buffer(&a)?, gpu.buffer(&b)?);
    let output = gpu.buffer(&vec![0u32; operations * N])?;
    gpu.build("integers", Some(width))?.run(
        "integers",
        &[da.arg(), db.arg(), output.arg()],
        &Launch::linear(N, 64),
    )?;
    let result = output.read()?;
    for i in 0..N {
        for (k, expected) in integer_operations(a[i], b[i]).into_iter().enumerate() {
            if result[k * N + i] != expected {
                return Err(format!(
                    "operation {k} of {:#x}, {:#x}: {:#x}, expected {expected:#x}",
                    a[i],
                    b[i],
                    result[k * N + i]
                ));
            }
        }
    }
    Ok(())
}

fn float_operations(x: f32, y: f32) -> Vec<f32> {
    vec![
        x + y,
        x - y,
        x * y,
        x.mul_add(y, 0.75),
        x.floor(),
        x.ceil(),
        x.trunc(),
        x.round_ties_even(),
        x.min(y),
        x.max(y),
        x.abs(),
        x as i32 as f32,
        x.abs() as u32 as f32,
        (y * 1000.0) as i32 as f32,
        x.copysign(y),
        if x < y { x } else { -y },
        (x * 1e9) as i32 as f32,
        x as u8 as f32,
        -x,
        f32::from(u8::from(x.is_nan()) + 2 * u8::from(y.is_infinite()) + 4 * u8::from(x.is_sign_negative())),
    ]
}

fn float_inputs() -> (Vec<f32>, Vec<f32>) {
    let mut random = Random::new(5);
    let edges = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 300.0, -300.0, 0.1, 16777216.0, 1e-3];
    let a = (0..N).map(|i| if i < 144 { edges[i % 12] } else { random.float(-100.0, 100.0) }).collect();
    let b = (0..N).map(|i| if i < 144 { edges[i / 12] } else { random.float(-9.0, 9.0) }).collect();
    (a, b)
}

fn floats(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let (mut a, mut b) = float_inputs();
    (a[200], b[201]) = (f32::NAN, f32::INFINITY);
    let operations = float_operations(1.0, 1.0).len();
    let (da, db) = (gpu.buffer(&a)?, gpu.buffer(&b)?);
    let output = gpu.buffer(&vec![0f32; operations * N])?;
    gpu.build("floats", Some(width))?.run(
        "floats",
        &[da.arg(), db.arg(), output.arg()],
        &Launch::linear(N, 64),
    )?;
    let result = output.read()?;
    for i in 0..N {
        for (k, expected) in float_operations(a[i], b[i]).into_iter().enumerate() {
            let got = result[k * N + i];
            // Out of range conversions without _sat are undefined, as is the sign of min and max of zeros.
            let undefined = matches!(k, 11..=13)
                && (expected.abs() > 2e9 || a[i].is_nan() || b[i].is_infinite())
                || k == 16 && a[i].is_nan();
            let same = got == expected || got.is_nan() && expected.is_nan();
            if !undefined && !same {
                return Err(format!("operation {k} of {}, {}: {got}, expected {expected}", a[i], b[i]));
            }
        }
    }
    Ok(())
}

/// Function `k` of kernel `math` in double precision, and the error bound of OpenCL C 3.0, 7.4, in ULP.
fn functions(x: f32, y: f32) -> Vec<(f64, f64)> {
    let p = f64::from(x.abs() + 0.001f32);
    let tenth = |v: f32| f64::from(v * 0.1f32);
    let (dx, dy) = (f64::from(x), f64::from(y));
    vec![
        (dx / dy, 2.5),
        (p.sqrt(), 3.0),
        (1.0 / p.sqrt(), 2.0),
        (tenth(x).exp(), 3.0),
        (p.ln(), 3.0),
        (dx.sin(), 4.0),
        (dx.cos(), 4.0),
        (dx.tan(), 5.0),
        (p.powf(tenth(y)), 16.0),
        (dx.atan2(dy), 6.0),
        (dy.exp2(), 3.0),
        (p.log2(), 3.0),
        (f64::from(x * 0.01f32).asin(), 4.0),
        (tenth(x).tanh(), 5.0),
        (dx.cbrt(), 2.0),
        (dx.hypot(dy), 4.0),
        (dx % dy, 0.0),
        (dy.exp2(), 2000.0),
        (p.sqrt(), 2000.0),
        (1.0 / dy, 2000.0),
        (p.log2(), 2000.0),
    ]
}

/// The distance of a result from the exact value in units of the last place of a float there.
fn ulp(result: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if result == rounded || result.is_nan() && rounded.is_nan() {
        return 0.0;
    }
    let exponent = if exact == 0.0 { -126 } else { (exact.abs().log2().floor() as i32).max(-126) };
    (f64::from(result) - exact).abs() / 2f64.powi(exponent - 23)
}

fn math(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let mut random = Random::new(11);
    let a: Vec<f32> = (0..N).map(|_| random.float(-100.0, 100.0)).collect();
    let b: Vec<f32> = (0..N).map(|_| random.float(0.25, 9.0)).collect();
    let count = functions(1.0, 1.0).len();
    let (da, db) = (gpu.buffer(&a)?, gpu.buffer(&b)?);
    let output = gpu.buffer(&vec![0f32; count * N])?;
    gpu.build("floats", Some(width))?.run(
        "math",
        &[da.arg(), db.arg(), output.arg()],
        &Launch::linear(N, 64),
    )?;
    let result = output.read()?;
    for i in 0..N {
        for (k, (exact, bound)) in functions(a[i], b[i]).into_iter().enumerate() {
            let got = result[k * N + i];
            // Native logarithms are absolute near 1.
            let near_one = k == 20 && (f64::from(got) - exact).abs() < 1e-5;
            let error = ulp(got, exact);
            if (error.is_nan() || error > bound) && !near_one {
                return Err(format!(
                    "function {k} of {}, {}: {got}, exactly {exact}: {error:.1} ULP, at most {bound}",
                    a[i], b[i]
                ));
            }
        }
    }
    Ok(())
}

fn vectors(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let n = 48;
    let a: Vec<f32> = (0..4 * n).map(|i| (i % 23) as f32 - 9.0).collect();
    let b: Vec<u8> = (0..4 * n).map(|i| (i * 29 % 256) as u8).collect();
    let packed: Vec<f32> = (0..3 * n).map(|i| i as f32).collect();
    let (da, db, dp) = (gpu.buffer(&a)?, gpu.buffer(&b)?, gpu.buffer(&packed)?);
    let (output, odd) = (gpu.buffer(&vec![0f32; 4 * n])?, gpu.buffer(&vec![0i32; 4 * n])?);
    gpu.build("vectors", Some(width))?.run(
        "vectors",
        &[da.arg(), db.arg(), output.arg(), odd.arg(), dp.arg()],
        &Launch::linear(n, 16),
    )?;
    let (mut floats, mut ints) = (Vec::new(), Vec::new());
    for i in 0..n {
        let v = &a[4 * i..][..4];
        let w: Vec<f32> = b[4 * i..][..4].iter().map(|x| f32::from(*x)).collect();
        let dot: f32 = (0..4).map(|k| v[k] * w[k]).sum();
        let add = [dot, packed[3 * i], packed[3 * i + 1], packed[3 * i + 2]];
        floats.extend((0..4).map(|k| v[3 - k] * w[k] + add[k]));
        let t: Vec<i32> = v.iter().chain(&w).map(|x| *x as i32).collect();
        ints.extend([t[0] + t[6] * 2, t[3] + t[4] * 2, t[5] + t[1] * 2]);
    }
    same(&output.read()?, &floats)?;
    let result: Vec<i32> = odd.read()?.chunks(4).flat_map(|c| c[..3].to_vec()).collect();
    same(&result, &ints)?;
    Ok(())
}

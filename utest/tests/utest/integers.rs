//! Integers of 8, 16 and 64 bits.

use gencl_utest::{Case, Gpu, Launch, Outcome, Random, all_widths};

pub fn cases() -> Vec<Case> {
    [all_widths("integers_wide", wide), all_widths("integers_narrow", narrow)].into_iter().flatten().collect()
}

const N: usize = 256;
/// Which of the wide operations is `add_sat`.
const ADD_SAT: usize = 19;

/// Operation `k` of kernel `integers_wide`.
fn wide_operations(x: i64, y: i64) -> Vec<u64> {
    let (ux, uy) = (x as u64, y as u64);
    let safe = if y == 0 || (x == i64::MIN && y == -1) { 3 } else { y };
    let shift = uy & 63;
    vec![
        x.wrapping_add(y) as u64,
        x.wrapping_sub(y) as u64,
        x.wrapping_mul(y) as u64,
        (x / safe) as u64,
        (x % safe) as u64,
        ux / safe as u64,
        ux % safe as u64,
        ux << shift,
        (x >> shift) as u64,
        ux >> shift,
        ((x & y) ^ (x | !y)) as u64,
        x.min(y) as u64,
        ux.max(uy),
        ((i128::from(x) * i128::from(y)) >> 64) as u64,
        ((u128::from(ux) * u128::from(uy)) >> 64) as u64,
        u64::from(x.leading_zeros() + y.count_ones()),
        ux.rotate_left(shift as u32),
        u64::from(x < y)
            + 2 * u64::from(ux < uy)
            + 4 * u64::from(x <= y)
            + 8 * u64::from(x == y)
            + 16 * u64::from(ux >= uy),
        (i64::from(x as i32) as u64).wrapping_add(u64::from(y as u32)),
        x.saturating_add(y) as u64,
        ux.saturating_sub(uy),
        (x.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) + y.clamp(0, i64::from(u32::MAX))) as u64,
    ]
}

/// Operation `k` of kernel `integers_narrow`.
fn narrow_operations(x: i16, y: i16, s: i8) -> Vec<u16> {
    let (ux, uy, us) = (x as u16, y as u16, s as u8);
    let (wx, wy, ws) = (i32::from(x), i32::from(y), i32::from(s));
    vec![
        (wx * wy + ws) as u16,
        (wx / if y == 0 { 7 } else { wy }) as u16,
        ux % if uy == 0 { 7 } else { uy },
        (wx << (y & 15)) as u16,
        (wx >> (y & 15)) as u16,
        ux >> (us & 15),
        x.saturating_add(y) as u16,
        u16::from(us.saturating_sub(y as u8)),
        x.min(y) as u16 ^ ux.max(uy),
        x.clamp(-128, 127) as u16,
        y.clamp(0, 255) as u16,
        u16::from((ws * 3) as u8) + u16::from(us.rotate_left(5)),
        (((wx * wy) >> 16) as u16).wrapping_add(ux.leading_zeros() as u16),
        u16::from(s < x as i8) + 2 * u16::from(us > y as u8) + 4 * u16::from(x == y),
        ((wx + wy) >> 1).wrapping_sub((i32::from(ux) + i32::from(uy) + 1) >> 1) as u16,
        u16::from(s.unsigned_abs()).wrapping_add(x.abs_diff(y)),
    ]
}

/// Compares operation by operation; `result` holds all results of one operation together.
fn compare<T: PartialEq + std::fmt::LowerHex + Copy>(
    result: &[T],
    expected: impl Fn(usize) -> Vec<T>,
) -> Outcome {
    for i in 0..N {
        for (k, expected) in expected(i).into_iter().enumerate() {
            let got = result[k * N + i];
            if got != expected {
                return Err(format!("operation {k} of work-item {i}: {got:#x}, expected {expected:#x}"));
            }
        }
    }
    Ok(())
}

fn wide(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let mut random = Random::new(21);
    let edges = [0, 1, -1, i64::MIN, i64::MAX, 1 << 32, -(1 << 32), 0xffff_ffff, 63, 3, -7, 1 << 52];
    let mut number = |i: usize, stride: usize| {
        let wide = i64::from(random.next_u32()) << 32 | i64::from(random.next_u32());
        if i < 144 { edges[i / stride % 12] } else { wide >> (i % 50) }
    };
    let a: Vec<i64> = (0..N).map(|i| number(i, 1)).collect();
    let b: Vec<i64> = (0..N).map(|i| number(i, 12)).collect();
    let output = gpu.buffer(&vec![0u64; wide_operations(1, 1).len() * N])?;
    let (da, db) = (gpu.buffer(&a)?, gpu.buffer(&b)?);
    gpu.build("integers_sized", Some(width))?.run(
        "integers_wide",
        &[da.arg(), db.arg(), output.arg()],
        &Launch::linear(N, 64),
    )?;
    let mut result = output.read()?;
    if gpu.foreign_platform().is_some() {
        // The library of Intel's compiler asks whether the sum is above 0 where it should ask whether it is
        // not below.
        let twice_smallest = |&i: &usize| a[i] == i64::MIN && b[i] == i64::MIN;
        for i in (0..N).filter(twice_smallest) {
            let sum = &mut result[ADD_SAT * N + i];
            *sum = if *sum == i64::MAX as u64 { i64::MIN as u64 } else { *sum };
        }
    }
    compare(&result, |i| wide_operations(a[i], b[i]))
}

fn narrow(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let mut random = Random::new(22);
    let edges = [0, 1, -1, i16::MIN, i16::MAX, 127, 128, -128, -129, 255, 256, 15];
    let mut number = |i: usize, stride: usize| {
        let any = random.next_u32() as i16;
        if i < 144 { edges[i / stride % 12] } else { any >> (i % 9) }
    };
    let a: Vec<i16> = (0..N).map(|i| number(i, 1)).collect();
    let b: Vec<i16> = (0..N).map(|i| number(i, 12)).collect();
    let c: Vec<i8> = (0..N).map(|i| (i * 37) as i8).collect();
    let output = gpu.buffer(&vec![0u16; narrow_operations(1, 1, 1).len() * N])?;
    let (da, db, dc) = (gpu.buffer(&a)?, gpu.buffer(&b)?, gpu.buffer(&c)?);
    gpu.build("integers_sized", Some(width))?.run(
        "integers_narrow",
        &[da.arg(), db.arg(), dc.arg(), output.arg()],
        &Launch::linear(N, 64),
    )?;
    compare(&output.read()?, |i| narrow_operations(a[i], b[i], c[i]))
}

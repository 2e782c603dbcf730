//! Address spaces: local memory with barriers, private arrays, constants, arguments, atomics, spilling.

use gencl_utest::{Arg, Case, Gpu, Launch, Outcome, Random, all_widths};

pub fn cases() -> Vec<Case> {
    [
        all_widths("local_reduce", local_reduce),
        all_widths("local_transpose", local_transpose),
        vec![Case::of_gencl("others have no such arguments", "local_empty", local_empty)],
        all_widths("atomics", atomics),
        all_widths("turns", turns),
        all_widths("turns_private", turns_private),
        all_widths("private_array", private_array),
        [32, 100].map(|kib| Case::new(format!("large_private/{kib}k"), move || large_private(kib))).into(),
        all_widths("register_pressure", register_pressure),
        all_widths("argument_direct", argument_direct),
        all_widths("argument_indirect", argument_indirect),
        all_widths("argument_written", argument_written),
        all_widths("constants", constants),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Compares two slices and names the first difference.
pub fn same<T: PartialEq + std::fmt::Debug>(result: &[T], expected: &[T]) -> Outcome {
    if result.len() != expected.len() {
        return Err(format!("{} elements, expected {}", result.len(), expected.len()));
    }
    match (0..result.len()).find(|&i| result[i] != expected[i]) {
        None => Ok(()),
        Some(i) => Err(format!("element {i}: {:?}, expected {:?}", result[i], expected[i])),
    }
}

fn numbers(n: usize, range: u32) -> Vec<i32> {
    let mut random = Random::new(n as u64 + 1);
    (0..n).map(|_| (random.next_u32() % range) as i32).collect()
}

fn local_reduce(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let program = gpu.build("local_reduce", Some(width))?;
    for local in [4, 32, 256] {
        let n = 1024;
        let src = numbers(n, 1000);
        let (input, output) = (gpu.buffer(&src)?, gpu.buffer(&vec![0i32; n / local])?);
        program.run(
            "local_reduce",
            &[input.arg(), output.arg(), Arg::Local(4 * local)],
            &Launch::linear(n, local),
        )?;
        let expected: Vec<i32> =
            src.chunks(local).map(|group| group.iter().sum::<i32>() + 1000 * (local as i32 - 1)).collect();
        same(&output.read()?, &expected)?;
    }
    Ok(())
}

/// Local arguments of no bytes, between others (OpenCL 3.1, `clSetKernelArg`).
fn local_empty() -> Outcome {
    let gpu = Gpu::get()?;
    let source = "kernel void k(local int *a, local int *none, local int *b, global int *out, int uses) {
        int l = get_local_id(0); a[l] = l; b[l] = 100 - l; if (uses) none[l] = -1;
        barrier(CLK_LOCAL_MEM_FENCE); out[get_global_id(0)] = a[15 - l] + 1000 * b[15 - l]; }";
    let output = gpu.buffer(&[0i32; 32])?;
    let no = 0i32.to_ne_bytes();
    let arguments = [Arg::Local(4 * 16), Arg::Local(0), Arg::Local(4 * 16), output.arg(), Arg::Bytes(&no)];
    gpu.build_source(source, "")?.run("k", &arguments, &Launch::linear(32, 16))?;
    let expected: Vec<i32> = (0..32).map(|i| 15 - i % 16 + 1000 * (85 + i % 16)).collect();
    same(&output.read()?, &expected)?;
    // All of them empty: a kernel without local memory.
    let source = "kernel void k(local int *none, global int *out) { out[get_global_id(0)] = 7; }";
    gpu.build_source(source, "")?.run("k", &[Arg::Local(0), output.arg()], &Launch::linear(32, 16))?;
    same(&output.read()?, &[7; 32])
}

fn local_transpose(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let (w, h) = (48usize, 32usize);
    let src: Vec<f32> = (0..w * h).map(|i| i as f32 * 0.5).collect();
    let (input, output) = (gpu.buffer(&src)?, gpu.buffer(&vec![0f32; w * h])?);
    let (wi, hi) = ((w as i32).to_ne_bytes(), (h as i32).to_ne_bytes());
    gpu.build("transpose", Some(width))?.run(
        "transpose",
        &[input.arg(), output.arg(), Arg::Bytes(&wi), Arg::Bytes(&hi)],
        &Launch { global: vec![w, h], local: vec![16, 16], ..Launch::default() },
    )?;
    let expected: Vec<f32> = (0..w * h).map(|i| src[(i % h) * w + i / h]).collect();
    same(&output.read()?, &expected)
}

fn atomics(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let n = 2048i32;
    let (counters, order) = (gpu.buffer(&[0i32; 16])?, gpu.buffer(&vec![-1i32; n as usize])?);
    gpu.build("atomics", Some(width))?.run(
        "atomics",
        &[counters.arg(), order.arg()],
        &Launch::linear(n as usize, 64),
    )?;
    let all = 0..n;
    let expected = [
        all.clone().sum(),
        n,
        all.clone().map(|i| i * 7 % 101).max().unwrap_or(0),
        all.clone().map(|i| -(i * 5 % 97)).min().unwrap_or(0),
        -1,
        all.clone().fold(0, |x, i| x ^ i),
        -2 * n,
        3 * n,
        n,
    ];
    same(&counters.read()?[..9], &expected)?;
    let mut order = order.read()?;
    order.sort_unstable();
    same(&order, &all.collect::<Vec<_>>())
}

/// Work-items that wait for others of their group, which a driver that executes one thread after the other
/// has to let them.
fn turns(width: u32) -> Outcome {
    const ITEMS: i32 = 1000;
    let gpu = Gpu::get()?;
    let (groups, local, rounds) = (4, 128, 3i32);
    let counters = gpu.buffer(&vec![0i32; 5 * groups])?;
    let queue = gpu.buffer(&vec![-1i32; groups * ITEMS as usize])?;
    gpu.build("turns", Some(width))?.run(
        "turns",
        &[counters.arg(), queue.arg(), Arg::Bytes(&rounds.to_ne_bytes())],
        &Launch::linear(groups * local, local),
    )?;
    let holders = local as i32 / 32;
    // Each work-item asks the queue once in vain.
    let own = [rounds * local as i32, ITEMS + local as i32, 0, 200 * holders, holders];
    same(&counters.read()?, &own.repeat(groups))?;
    let items: Vec<i32> = (0..ITEMS).map(|i| i * 3).collect();
    same(&queue.read()?, &items.repeat(groups))
}

/// Work-items that wait for others have private memory of their own.
fn turns_private(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let (groups, local, rounds) = (4, 128, 2i32);
    let counters = gpu.buffer(&vec![0i32; groups])?;
    let output = gpu.buffer(&vec![0i32; groups * local])?;
    gpu.build("turns", Some(width))?.run(
        "turns_private",
        &[counters.arg(), output.arg(), Arg::Bytes(&rounds.to_ne_bytes())],
        &Launch::linear(groups * local, local),
    )?;
    let host = |i: usize| {
        let mut heap: Vec<i32> = (0..40).map(|k| k * i as i32).collect();
        for round in 1..=rounds as usize {
            heap[(i % local + 7 * round) % 40] += heap[(i % local + 11 * round) % 40];
        }
        heap.iter().fold(0i32, |sum, value| sum.wrapping_mul(3).wrapping_add(*value))
    };
    same(&counters.read()?, &vec![rounds * local as i32; groups])?;
    same(&output.read()?, &(0..groups * local).map(host).collect::<Vec<_>>())
}

fn private_array(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let n = 64;
    let src = numbers(n, 40);
    let (input, output) = (gpu.buffer(&src)?, gpu.buffer(&vec![0i32; n])?);
    gpu.build("private_array", Some(width))?.run(
        "private_array",
        &[input.arg(), output.arg()],
        &Launch::linear(n, 32),
    )?;
    let host = |i: usize| {
        let mut heap: Vec<i32> = (0..40).map(|k| k * i as i32).collect();
        for k in 0..20 {
            let from = heap[(k * 11 + i) % 40];
            let to = &mut heap[(src[i] as usize + k * 7) % 40];
            *to = to.wrapping_add(from);
        }
        heap.iter().fold(0i32, |sum, value| sum.wrapping_mul(3).wrapping_add(*value))
    };
    same(&output.read()?, &(0..n).map(host).collect::<Vec<_>>())
}

/// Private arrays of so many KiB for each work-item, in groups whose threads are all in flight at the same
/// time. Threads of eight lanes: with more, scratch memory for all of Skylake's is half a gigabyte.
fn large_private(kib: usize) -> Outcome {
    let gpu = Gpu::get()?;
    let (n, words) = (192, 256 * kib);
    let src = numbers(n, words as u32);
    let input = gpu.buffer(&src)?;
    let program = gpu.build_with("large_private", Some(8), &format!("-DWORDS={words}"))?;
    let host = |i: usize, group: usize| {
        let mut heap: Vec<i32> = (0..words).map(|k| (k * 7 + i) as i32).collect();
        for k in 0..64 {
            let from = heap[(k * 4111 + i % group) % words];
            let to = &mut heap[(src[i] as usize + k * 977) % words];
            *to = to.wrapping_add(from);
        }
        let sum = |sum: i32, value: &i32| sum.wrapping_mul(3).wrapping_add(*value);
        heap[i % group % 16..].iter().step_by(16).fold(0, sum)
    };
    for group in [64, 24] {
        let output = gpu.buffer(&vec![0i32; n])?;
        program.run("large_private", &[input.arg(), output.arg()], &Launch::linear(n, group))?;
        same(&output.read()?, &(0..n).map(|i| host(i, group)).collect::<Vec<_>>())?;
    }
    Ok(())
}

fn register_pressure(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let n = 64;
    let src = numbers(n, 100_000);
    let (input, output) = (gpu.buffer(&src)?, gpu.buffer(&vec![0i32; n])?);
    gpu.build("pressure", Some(width))?.run(
        "pressure",
        &[input.arg(), output.arg()],
        &Launch::linear(n, 16),
    )?;
    let host = |i: usize| {
        let mut v: Vec<i32> = (0..160).map(|k| src[(i + k) % n].wrapping_mul(k as i32 + 1)).collect();
        let mut sum = 0i32;
        for turn in 0..3 {
            for k in 0..160 {
                v[k] ^= v[(k * 37 + 11) % 160].wrapping_add(turn);
            }
            if v[i & 1] & 3 == 1 {
                sum = sum.wrapping_add(v[5]);
            }
        }
        v.iter().fold(sum, |sum, value| sum.wrapping_mul(5).wrapping_add(*value))
    };
    same(&output.read()?, &(0..n).map(host).collect::<Vec<_>>())
}

fn argument_direct(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let n = 20;
    let output = gpu.buffer(&vec![0i32; n])?;
    let mut pair = [0u8; 20];
    pair[0] = 9;
    for (k, value) in [40i32, -50, 60].into_iter().enumerate() {
        pair[4 + 4 * k..][..4].copy_from_slice(&value.to_ne_bytes());
    }
    pair[16..18].copy_from_slice(&(-70i16).to_ne_bytes());
    let vector: Vec<u8> = [1i32, 2, 3, -4].iter().flat_map(|x| x.to_ne_bytes()).collect();
    gpu.build("arguments", Some(width))?.run(
        "argument_direct",
        &[
            output.arg(),
            Arg::Bytes(&(-5i8).to_ne_bytes()),
            Arg::Bytes(&300i16.to_ne_bytes()),
            Arg::Bytes(&pair),
            Arg::Bytes(&vector),
            Arg::Bytes(&(6i64 << 32).to_ne_bytes()),
            Arg::Bytes(&2.5f32.to_ne_bytes()),
            Arg::Bytes(&[250, 251]),
        ],
        &Launch::linear(n, n),
    )?;
    let value = -5 + 300 * 2 + 9 * 3 + 40 + 60 * 5 - 70 * 7 + 11 - 4 * 13 + 6 * 17 + 10 + 251 * 19;
    same(&output.read()?, &vec![value; n])
}

fn table() -> (Vec<i32>, Vec<u8>) {
    let values: Vec<i32> = (0..16).map(|k| k * k - 30).collect();
    let bytes = values.iter().flat_map(|x| x.to_ne_bytes()).collect();
    (values, bytes)
}

fn argument_indirect(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let n = 64;
    let (values, bytes) = table();
    let output = gpu.buffer(&vec![0i32; n])?;
    gpu.build("arguments", Some(width))?.run(
        "argument_indirect",
        &[output.arg(), Arg::Bytes(&bytes)],
        &Launch::linear(n, 32),
    )?;
    same(&output.read()?, &(0..n).map(|i| values[i & 15]).collect::<Vec<_>>())
}

fn argument_written(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let n = 64;
    let (values, bytes) = table();
    let output = gpu.buffer(&vec![0i32; n])?;
    gpu.build("arguments", Some(width))?.run(
        "argument_written",
        &[output.arg(), Arg::Bytes(&bytes)],
        &Launch::linear(n, 32),
    )?;
    let host = |i: usize| {
        let mut x = values.clone();
        x[0] = i as i32 * 100;
        x[(i + 3) & 15] += 1000;
        x[i & 15] + x[0]
    };
    same(&output.read()?, &(0..n).map(host).collect::<Vec<_>>())
}

fn constants(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let n = 32;
    let given = [10i32, 20, -30, 40];
    let (output, buffer) = (gpu.buffer(&vec![0f32; n])?, gpu.buffer(&given)?);
    gpu.build("constants", Some(width))?.run(
        "constants",
        &[output.arg(), buffer.arg()],
        &Launch::linear(n, 32),
    )?;
    let primes = [2, 3, 5, 7, 11, 13, 17, 19];
    let host = |i: usize| primes[i & 7] as f32 * 0.5 + given[i & 3] as f32 + [2.0, -5.0][i & 1] - 6.0;
    same(&output.read()?, &(0..n).map(host).collect::<Vec<_>>())
}

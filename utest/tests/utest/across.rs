//! What work-items do together: sub-groups, functions of the work-group, C11 atomics.

use gencl_utest::{
    Arg, Case, Gpu, Launch, Need, Outcome, Program, Random, all_control_flows, all_needing, all_widths,
};

use crate::memory::same;

pub fn cases() -> Vec<Case> {
    [
        all_widths("sub_group_ids", ids),
        all_control_flows(all_widths("sub_group_votes", votes)),
        all_widths("sub_group_together_int", together::<i32>),
        all_widths("sub_group_together_ulong", together::<u64>),
        all_widths("sub_group_together_float", together::<f32>),
        all_widths("sub_group_together_char", together::<i8>),
        all_widths("sub_group_together_ushort", together::<u16>),
        all_widths("sub_group_shuffles_int", shuffles::<i32>),
        all_widths("sub_group_shuffles_uchar", shuffles::<u8>),
        all_widths("sub_group_shuffles_short", shuffles::<i16>),
        all_widths("sub_group_shuffles_long", shuffles::<i64>),
        [8, 16].map(|width| Case::new(format!("sub_group_blocks/simd{width}"), move || blocks(width))).into(),
        vec![
            Case::of_gencl("Intel's compiler has no blocks of 32 lanes", "sub_group_blocks/simd32", || {
                blocks(32)
            })
            .needing(Need::Lanes(32)),
        ],
        vec![Case::of_gencl("widths differ", "sub_group_size_refused", refused)],
        all_widths("work_group_int", work_group::<i32>),
        all_widths("work_group_ulong", work_group::<u64>),
        all_widths("work_group_float", work_group::<f32>),
        all_widths("c11_atomics", c11_atomics),
        all_widths("inclusive_scopes", inclusive_scopes),
        all_needing(Need::Extension("cl_khr_kernel_clock"), all_widths("clocks", clocks)),
        all_needing(
            Need::Extension("cl_intel_split_work_group_barrier"),
            all_widths("split_barriers", split_barriers)
                .into_iter()
                .map(|case| case.only_of_gencl("Intel's compiler lacks the functions of its extension")),
        ),
        [8, 16, 32].map(|width| c11_atomic_float(width).needing(Need::Lanes(width))).into(),
        all_needing(
            Need::Extension("cl_khr_int64_base_atomics"),
            [
                all_widths("atomics64", atomics64),
                all_widths("atomics64_local_long", atomics64_local::<i64>),
                all_widths("atomics64_local_ulong", atomics64_local::<u64>),
            ]
            .into_iter()
            .flatten(),
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A type of OpenCL C.
trait Number: Copy + Default + PartialEq + PartialOrd + std::fmt::Debug + std::ops::Add<Output = Self> {
    const NAME: &'static str;
    fn of(number: u8) -> Self;
}

macro_rules! numbers {
    ($($ty:ty = $name:literal),*) => {$(
        impl Number for $ty {
            const NAME: &'static str = $name;
            fn of(number: u8) -> Self {
                number as $ty
            }
        }
    )*};
}
numbers! {
    i32 = "int", u64 = "ulong", i64 = "long", f32 = "float", i8 = "char", u8 = "uchar", i16 = "short", u16 = "ushort"
}

fn build(file: &str, width: u32, ty: &str) -> Result<Program, String> {
    let path = format!("{}/kernels/{file}.cl", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
    let prefix =
        format!("#define __kernel __attribute__((intel_reqd_sub_group_size({width}))) kernel\n#line 1\n");
    Gpu::get()?.build_source(&(prefix + &source), &format!("-cl-std=CL3.0 -DTYPE={ty}"))
}

/// Small numbers, so that no sum leaves even a char.
fn small<T: Number>(n: usize) -> Vec<T> {
    let mut random = Random::new(n as u64);
    (0..n).map(|_| T::of((random.next_u32() % 7) as u8)).collect()
}

/// The sub-groups of launches of one dimension: numbers of work-items, of which the last in each group may be
/// fewer.
fn sub_groups<T>(items: &[T], local: usize, width: usize) -> impl Iterator<Item = &[T]> {
    items.chunks(local).flat_map(move |group| group.chunks(width))
}

fn ids(width: u32) -> Outcome {
    let program = build("sub_groups", width, "int")?;
    let launches: [([usize; 2], [usize; 2]); 3] =
        [([48, 1], [24, 1]), ([18, 10], [6, 5]), ([40, 1], [32, 1])];
    for (global, local) in launches {
        let items = local[0] * local[1];
        let groups = global[0].div_ceil(local[0]) * global[1].div_ceil(local[1]);
        let output = Gpu::get()?.buffer(&vec![0u32; groups * items * 6])?;
        let launch = Launch { global: global.to_vec(), local: local.to_vec(), ..Launch::default() };
        program.run("sub_group_ids", &[output.arg()], &launch)?;
        let mut expected = Vec::new();
        for group in 0..groups as u32 {
            // Groups at the end of one dimension may be smaller.
            let own = (items as u32).min((global[0] * global[1]) as u32 - group * items as u32);
            for item in 0..items as u32 {
                if item >= own {
                    expected.extend([0; 6]);
                    continue;
                }
                let id = item / width;
                let size = width.min(own - id * width);
                expected.extend([
                    width,
                    size,
                    own.div_ceil(width),
                    id,
                    item % width,
                    (items as u32).div_ceil(width),
                ]);
            }
        }
        same(&output.read()?, &expected)?;
    }
    Ok(())
}

fn votes(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let program = build("sub_groups", width, "int")?;
    let mut random = Random::new(9);
    let source: Vec<i32> = (0..300).map(|_| (random.next_u32() % 100) as i32).collect();
    for local in [20, 60] {
        let (input, output) = (gpu.buffer(&source)?, gpu.buffer(&vec![0i32; 4 * source.len()])?);
        program.run("sub_group_votes", &[input.arg(), output.arg()], &Launch::linear(source.len(), local))?;
        let mut expected = Vec::new();
        for group in sub_groups(&source, local, width as usize) {
            let odd = || group.iter().filter(|x| **x & 1 == 1);
            let even: i32 = group.iter().filter(|x| **x & 1 == 0).sum();
            for x in group {
                expected.push(i32::from(group.iter().all(|x| *x < 90)));
                expected.push(i32::from(group.iter().any(|x| *x < 10)));
                if x & 1 == 1 {
                    expected.push(i32::from(odd().all(|x| *x < 50)));
                    expected.push(odd().filter(|x| **x < 50).count() as i32);
                } else {
                    expected.extend([-1, even]);
                }
            }
        }
        same(&output.read()?, &expected)?;
    }
    Ok(())
}

/// What the functions that put values together give to each of these work-items: sums, minima and maxima of
/// all, up to each, before each, then two values of others, and the maximum before each.
fn put_together<T: Number>(items: &[T], others: [T; 2]) -> Vec<T> {
    let sum = |items: &[T]| items.iter().fold(T::default(), |a, b| a + *b);
    let least =
        |items: &[T]| items.iter().copied().reduce(|a, b| if b < a { b } else { a }).unwrap_or_default();
    let most =
        |items: &[T]| items.iter().copied().reduce(|a, b| if b > a { b } else { a }).unwrap_or_default();
    let mut result = Vec::new();
    for (lane, own) in items.iter().enumerate() {
        let (so_far, before) = (&items[..=lane], &items[..lane]);
        result.extend([
            sum(items),
            least(items),
            most(items),
            sum(so_far),
            least(so_far),
            most(so_far),
            sum(before),
        ]);
        result.extend(others);
        result.push(if lane == 0 { *own } else { most(before) });
    }
    result
}

fn together<T: Number>(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let program = build("sub_groups", width, T::NAME)?;
    for (global, local) in [(256, 64), (57, 19), (60, 20)] {
        let source = small::<T>(global);
        let (input, output) = (gpu.buffer(&source)?, gpu.buffer(&vec![T::default(); 10 * global])?);
        program.run("sub_group_together", &[input.arg(), output.arg()], &Launch::linear(global, local))?;
        let expected: Vec<T> = sub_groups(&source, local, width as usize)
            .flat_map(|group| put_together(group, [group[2], group[group.len() - 1]]))
            .collect();
        same(&output.read()?, &expected)?;
    }
    Ok(())
}

fn shuffles<T: Number>(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let program = build("sub_groups", width, T::NAME)?;
    let (global, local) = (128, 64);
    let source = small::<T>(global);
    let mut random = Random::new(3);
    let lanes: Vec<u32> = (0..global).map(|_| random.next_u32()).collect();
    let (input, output) = (gpu.buffer(&source)?, gpu.buffer(&vec![T::default(); 5 * global])?);
    let numbers = gpu.buffer(&lanes)?;
    let arguments = [input.arg(), numbers.arg(), output.arg()];
    program.run("sub_group_shuffles", &arguments, &Launch::linear(global, local))?;
    let width = width as usize;
    let mut expected = Vec::new();
    for (item, own) in lanes.iter().enumerate() {
        let (lane, delta) = (item % width, *own as usize % width);
        let group = &source[item - lane..][..width];
        let next = |lane: usize| group[lane % width] + T::of(1);
        expected.push(group[delta]);
        expected.push(group[lane ^ 5]);
        expected.push(if lane + delta < width { group[lane + delta] } else { next(lane + delta) });
        expected.push(if delta <= lane { next(lane - delta) } else { group[lane + width - delta] });
        expected.push(group[3] + T::of(2));
    }
    same(&output.read()?, &expected)
}

fn blocks(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let program = build("sub_group_blocks", width, "int")?;
    let (global, local) = (128, 64);
    let mut random = Random::new(5);
    let source: Vec<u32> = (0..16 * global).map(|_| random.next_u32()).collect();
    let (input, output) = (gpu.buffer(&source)?, gpu.buffer(&vec![0u32; 16 * global])?);
    program.run("sub_group_blocks", &[input.arg(), output.arg()], &Launch::linear(global, local))?;
    let width = width as usize;
    let mut expected = Vec::new();
    for block in source.chunks(16 * width) {
        let rows: Vec<&[u32]> = block.chunks(width).collect();
        for row in (0..8).rev().chain((8..12).rev()).chain((12..14).rev()) {
            expected.extend_from_slice(rows[row]);
        }
        expected.extend_from_slice(&block[14 * width + 4..][..width]);
        let half = |index: usize| block[index / 2] >> (16 * (index % 2)) & 0xffff;
        let mut halves: Vec<u32> = (0..width).map(|lane| block[2 * lane + 1] & 0xffff).collect();
        halves.extend((0..width).map(|lane| half(width + lane)));
        expected.extend(halves.chunks(2).map(|pair| pair[0] | pair[1] << 16));
    }
    same(&output.read()?, &expected)
}

/// Threads of 12 lanes do not exist.
fn refused() -> Outcome {
    match build("sub_groups", 12, "int") {
        Ok(_) => Err("a sub-group size of 12 was accepted".into()),
        Err(log) if log.contains("12 lanes") => Ok(()),
        Err(log) => Err(log),
    }
}

fn work_group<T: Number>(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let program = build("work_group_functions", width, T::NAME)?;
    for (global, local) in [([256, 1], [128, 1]), ([57, 1], [19, 1]), ([24, 6], [8, 3]), ([5, 1], [5, 1])] {
        let count = global[0] * global[1];
        let source = small::<T>(count);
        let (input, output) = (gpu.buffer(&source)?, gpu.buffer(&vec![T::default(); 10 * count])?);
        let launch = Launch { global: global.to_vec(), local: local.to_vec(), ..Launch::default() };
        program.run("work_group_functions", &[input.arg(), output.arg()], &launch)?;
        let mut expected = vec![T::default(); 10 * count];
        for group in 0..count / (local[0] * local[1]) {
            let across = global[0] / local[0];
            let corner = group / across * local[1] * global[0] + group % across * local[0];
            let places: Vec<usize> =
                (0..local[1]).flat_map(|y| (0..local[0]).map(move |x| corner + y * global[0] + x)).collect();
            let items: Vec<T> = places.iter().map(|place| source[*place]).collect();
            let last = items[items.len() - 1];
            let all = u8::from(items.iter().all(|x| *x < T::of(90)));
            let any = u8::from(items.iter().any(|x| *x < T::of(10)));
            let results = put_together(&items, [last, T::of(all + 2 * any)]);
            for (place, result) in places.iter().zip(results.chunks(10)) {
                expected[10 * place..10 * place + 10].copy_from_slice(result);
            }
        }
        same(&output.read()?, &expected)?;
    }
    Ok(())
}

fn c11_atomics(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let program = build("c11_atomics", width, "int")?;
    let (global, local) = (200, 20);
    let counters = gpu.buffer(&[0, 0, 0, 0, 0, -1, 0, 0, 0, 0])?;
    let (real, flags) = (gpu.buffer(&[0f32])?, gpu.buffer(&vec![0i32; global])?);
    let arguments = [counters.arg(), real.arg(), flags.arg()];
    program.run("c11_atomics", &arguments, &Launch::linear(global, local))?;
    let n = global as i32;
    let xor = (0..n).fold(0, |a, b| a ^ b);
    let least = (0..n).map(|i| -(i * 5 % 97)).min().unwrap_or(0);
    same(&counters.read()?, &[n * (n - 1) / 2, n - 1, -2 * n, -1, xor, !0xff, least, 3 * n, 77, 0])?;
    same(&real.read()?, &[2.25])?;
    let set: Vec<bool> = flags.read()?.iter().map(|flag| *flag != 0).collect();
    same(&set, &(0..global).map(|i| i % 2 == 0).collect::<Vec<_>>())
}

/// Scopes that include both sides, and are not the same (OpenCL 3.1, "Scope inclusion").
fn inclusive_scopes(width: u32) -> Outcome {
    const SCOPES: [&str; 3] = ["sub_group", "work_group", "device"];
    let gpu = Gpu::get()?;
    for (first, second) in SCOPES.iter().flat_map(|first| SCOPES.map(|second| (*first, second))) {
        // What one of them restricts to a sub-group has no others.
        let local = if first == SCOPES[0] || second == SCOPES[0] { width as usize } else { 64 };
        for form in ["", " -DFENCES"] {
            let scopes = format!("-DFIRST=memory_scope_{first} -DSECOND=memory_scope_{second}{form}");
            let program =
                gpu.build_with("inclusive_scopes", Some(width), &format!("-cl-std=CL3.0 {scopes}"))?;
            let (written, counts) = (gpu.buffer(&[0i32; 128])?, gpu.buffer(&vec![0i32; 128 / local])?);
            let sums = gpu.buffer(&vec![0i32; 128 / local])?;
            let arguments = [written.arg(), counts.arg(), sums.arg()];
            program.run("inclusive_scopes", &arguments, &Launch::linear(128, local))?;
            let all: Vec<i32> = (1..=128).collect();
            let expected: Vec<i32> = all.chunks(local).map(|group| group.iter().sum()).collect();
            same(&sums.read()?, &expected).map_err(|error| format!("{scopes}: {error}"))?;
        }
    }
    Ok(())
}

/// The clock of a sub-group goes on, is the same for its work-items, and has the same bits in both forms.
fn clocks(width: u32) -> Outcome {
    let source = "kernel void k(global ulong *times, global uint *numbers, uint rounds) {
        uint i = get_global_id(0), x = i;
        times[3 * i] = clock_read_sub_group();
        for (uint k = 0; k < rounds; k++) x = x * 1664525 + 1013904223 ^ x >> 7;
        numbers[i] = x;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        uint2 middle = clock_read_hilo_sub_group();
        times[3 * i + 1] = (ulong)middle.hi << 32 | middle.lo;
        times[3 * i + 2] = clock_read_sub_group(); }";
    let (gpu, items) = (Gpu::get()?, 64);
    let source =
        format!("#define kernel __attribute__((intel_reqd_sub_group_size({width}))) kernel\n{source}");
    let program = gpu.build_source(&source, "-cl-std=CL3.0")?;
    let (times, numbers) = (gpu.buffer(&vec![0u64; 3 * items])?, gpu.buffer(&vec![0u32; items])?);
    let mut took = Vec::new();
    for rounds in [1u32, 1000] {
        let arguments = [times.arg(), numbers.arg(), Arg::Bytes(&rounds.to_ne_bytes())];
        program.run("k", &arguments, &Launch::linear(items, 32))?;
        let all = times.read()?;
        for item in all.chunks(3) {
            if !(item[0] < item[1] && item[1] < item[2]) {
                return Err(format!("times {item:?}"));
            }
        }
        for group in all.chunks(3 * width as usize) {
            if group.chunks(3).any(|item| item[0] != group[0]) {
                return Err(format!("a sub-group has different times: {group:?}"));
            }
        }
        took.push(all[1] - all[0]);
    }
    if took[1] > took[0] + 1000 { Ok(()) } else { Err(format!("1 and 1000 rounds take {took:?}")) }
}

/// What is written before one half of a barrier is there after the other, again and again.
fn split_barriers(width: u32) -> Outcome {
    let source = "kernel void k(global uint *out, local uint *shared) {
        uint i = get_global_id(0), l = get_local_id(0), n = get_local_size(0), x = i + 1;
        for (uint round = 0; round < 5; round++) {
            shared[l] = x;
            intel_work_group_barrier_arrive(CLK_LOCAL_MEM_FENCE);
            uint own = x * 3 + round;
            intel_work_group_barrier_wait(CLK_LOCAL_MEM_FENCE);
            x = own + shared[(l + 1) % n];
            out[i] = x;
            intel_work_group_barrier_arrive(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_scope_work_group);
            own = x ^ round;
            intel_work_group_barrier_wait(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_scope_work_group);
            x = own + out[i - l + (l + n - 1) % n];
            barrier(CLK_GLOBAL_MEM_FENCE);
        }
        out[i] = x; }";
    let gpu = Gpu::get()?;
    let source =
        format!("#define kernel __attribute__((intel_reqd_sub_group_size({width}))) kernel\n{source}");
    let program = gpu.build_source(&source, "-cl-std=CL3.0")?;
    for (global, local) in [(128, 64), (64, 4), (96, 48)] {
        let output = gpu.buffer(&vec![0u32; global])?;
        let arguments = [output.arg(), Arg::Local(4 * local)];
        program.run("k", &arguments, &Launch::linear(global, local))?;
        let mut x: Vec<u32> = (1..=global as u32).collect();
        let place = |i: usize, by: usize| i / local * local + (i % local + by) % local;
        for round in 0..5u32 {
            let next = |i: usize| x[i].wrapping_mul(3).wrapping_add(round).wrapping_add(x[place(i, 1)]);
            let all: Vec<u32> = (0..global).map(next).collect();
            x = (0..global).map(|i| (all[i] ^ round).wrapping_add(all[place(i, local - 1)])).collect();
        }
        same(&output.read()?, &x).map_err(|error| format!("groups of {local}: {error}"))?;
    }
    Ok(())
}

/// Comparison and exchange of floats, by their bits.
fn c11_atomic_float(width: u32) -> Case {
    Case::of_gencl("Intel's compiler fails", format!("c11_atomic_float/simd{width}"), move || {
        let sum = Gpu::get()?.buffer(&[0f32])?;
        build("c11_atomic_float", width, "int")?.run(
            "c11_atomic_float",
            &[sum.arg()],
            &Launch::linear(200, 20),
        )?;
        same(&sum.read()?, &[100.0])
    })
}

fn atomics64(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let program = build("atomics64", width, "int")?;
    let (global, local) = (120, 40);
    let counters = gpu.buffer(&[0i64, 0, -5, 0, 0, -1, 0, 0, 0, 1 << 40])?;
    let groups = gpu.buffer(&vec![0i64; 4 * global / local])?;
    program.run("atomics64", &[counters.arg(), groups.arg()], &Launch::linear(global, local))?;
    let n = global as i64;
    let wide = |i: i64| i << 33 | i;
    let sum: i64 = (0..n).map(wide).sum();
    let xor = (0..n).fold(0, |a, i| a ^ wide(i));
    let expected = [
        sum,
        n,
        -5 - n,
        wide(n - 1),
        -wide(n - 1),
        -1 ^ 0xff << 32,
        0xff << 32,
        xor,
        (3 * n) << 32,
        (1 << 40) - n,
    ];
    same(&counters.read()?, &expected)?;
    let expected: Vec<i64> = (0..(global / local) as i64)
        .flat_map(|group| {
            let items = group * local as i64..(group + 1) * local as i64;
            [
                items.clone().map(wide).sum(),
                wide(items.end - 1),
                5 * local as i64,
                items.fold(0, |a, i| a ^ wide(i)),
            ]
        })
        .collect();
    same(&groups.read()?, &expected)
}

/// What the operations of `atomics64_local.cl` leave where they have found a number, by their place in the kernel.
fn left_by<T: Number>(operation: usize, found: u64, x: u64, step: u64) -> u64 {
    let less = if T::NAME == "long" { (x as i64) < found as i64 } else { x < found };
    let [least, most] = if less { [x, found] } else { [found, x] };
    match operation {
        0 => found.wrapping_add(x),
        1 => found.wrapping_sub(x),
        2 => x,
        3 => least,
        4 => most,
        5 => found & x,
        6 => found | x,
        7 => found ^ x,
        8 => found.wrapping_add(1),
        9 => found.wrapping_sub(1),
        _ if found == step % 3 => (step + 1) % 3,
        _ => found,
    }
}

/// Whatever the order was: each number but the last at a place has been found by one operation, and each but the
/// first has been left by one.
fn atomics64_local<T: Number>(width: u32) -> Outcome {
    const OPERATIONS: usize = 11;
    const PLACES: usize = 5;
    const ROUNDS: usize = 8;
    let gpu = Gpu::get()?;
    let program = build("atomics64_local", width, T::NAME)?;
    let (global, local) = (256, 128);
    let found = gpu.buffer(&vec![0u64; OPERATIONS * ROUNDS * global])?;
    let left = gpu.buffer(&vec![0u64; OPERATIONS * PLACES * global / local])?;
    let noise = gpu.buffer(&vec![0u32; global])?;
    let busy = 400_000u32.to_ne_bytes();
    let arguments = [found.arg(), left.arg(), noise.arg(), Arg::Bytes(&busy)];
    program.run("atomics64_local", &arguments, &Launch::linear(global, local))?;
    let (found, left) = (found.read()?, left.read()?);
    for group in 0..global / local {
        for place in 0..OPERATIONS * PLACES {
            let (operation, own) = (place / PLACES, place % PLACES);
            let first = if operation == 5 { u64::MAX } else { 0 };
            let (mut before, mut after) = (vec![left[group * OPERATIONS * PLACES + place]], vec![first]);
            for (item, round) in (0..local).flat_map(|item| (0..ROUNDS - item % 3).map(move |r| (item, r))) {
                let at = if round % 2 == 1 { 0 } else { 1 + item % 4 };
                if (item + round) % 5 == 0 || at != own {
                    continue;
                }
                let number = group * local + item;
                let x = ((number * ROUNDS + round + 1) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let there = found[(operation * ROUNDS + round) * global + number];
                before.push(there);
                after.push(left_by::<T>(operation, there, x, (item + round) as u64));
            }
            before.sort_unstable();
            after.sort_unstable();
            same(&before, &after).map_err(|error| format!("operation {operation}, place {own}: {error}"))?;
        }
    }
    Ok(())
}

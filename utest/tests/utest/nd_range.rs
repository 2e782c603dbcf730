//! Work-item functions in one, two and three dimensions, with offsets and uneven last groups.

use gencl_utest::{Arg, Case, Gpu, Launch, Outcome, all_widths};

use crate::memory::same;

/// The values that a work-item writes for each dimension.
const ANSWERS: usize = 7;
/// Numbers of a work-item's record: the answers and `get_work_dim`.
const RECORD: usize = 3 * ANSWERS + 1;

pub fn cases() -> Vec<Case> {
    let beyond = Case::of_gencl("Intel's compiler leaves the answers undefined", "nd_range_beyond", beyond);
    let required = Case::of_gencl("Intel's largest group has 256", "nd_range_required_512", required);
    [
        vec![beyond, required, Case::new("nd_range_repeated", repeated)],
        all_widths("nd_range_1d", |width| records(width, &[1000], &[250], &[])),
        all_widths("nd_range_1d_offset", |width| records(width, &[64], &[16], &[1_000_003])),
        all_widths("nd_range_2d", |width| records(width, &[24, 10], &[8, 5], &[])),
        all_widths("nd_range_3d_offset", |width| records(width, &[6, 4, 10], &[3, 4, 5], &[7, 0, 9])),
        all_widths("nd_range_driver_chooses", |width| chosen(width, &[30, 7, 2])),
        all_widths("nd_range_prime", |width| chosen(width, &[1009])),
        all_widths("nd_range_largest", largest),
        all_widths("nd_range_largest_with_constants", largest_with_constants),
        all_widths("nd_range_uneven_1d", |width| records(width, &[101], &[16], &[5])),
        all_widths("nd_range_uneven_3d", |width| records(width, &[13, 9, 5], &[4, 4, 2], &[1, 2, 3])),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn at(sizes: &[usize], d: usize, default: usize) -> usize {
    sizes.get(d).copied().unwrap_or(default)
}

fn run(width: u32, launch: &Launch) -> Result<Vec<u32>, String> {
    let gpu = Gpu::get()?;
    let count: usize = launch.global.iter().product();
    let output = gpu.buffer(&vec![u32::MAX; count * RECORD])?;
    // Uneven groups need a language version that has them.
    let source = include_str!("../../kernels/work_item.cl");
    let prefix =
        format!("#define __kernel __attribute__((intel_reqd_sub_group_size({width}))) kernel\n#line 1\n");
    let program = gpu.build_source(&(prefix + source), "-cl-std=CL3.0")?;
    program.run("work_item", &[output.arg()], launch)?;
    output.read()
}

fn records(width: u32, global: &[usize], local: &[usize], offset: &[usize]) -> Outcome {
    let launch = Launch { offset: offset.to_vec(), global: global.to_vec(), local: local.to_vec() };
    let result = run(width, &launch)?;
    let mut expected = Vec::new();
    for z in 0..at(global, 2, 1) {
        for y in 0..at(global, 1, 1) {
            for x in 0..global[0] {
                for (d, id) in [x, y, z].into_iter().enumerate() {
                    let (size, group) = (at(global, d, 1), at(local, d, 1));
                    let start = id / group * group;
                    expected.extend([
                        id + at(offset, d, 0),
                        id % group,
                        id / group,
                        size,
                        group.min(size - start),
                        size.div_ceil(group),
                        at(offset, d, 0),
                    ]);
                }
                expected.push(global.len());
            }
        }
    }
    same(&result, &expected.iter().map(|x| *x as u32).collect::<Vec<_>>())
}

/// Groups as large as the kernel's can be, all of whose work-items wait for each other, and one work-item
/// more. The largest group of a kernel with nearly 1024 bytes of arguments, all of which it uses. Where each
/// thread gets a copy of them, they limit the group.
fn largest_with_constants(width: u32) -> Outcome {
    const VECTORS: usize = 15;
    let gpu = Gpu::get()?;
    let parameters: String = (0..VECTORS).map(|n| format!(", uint16 v{n}")).collect();
    let sum: Vec<String> = (0..VECTORS).map(|n| format!("v{n} * {}u", n + 1)).collect();
    let elements: Vec<String> = (0..16).map(|n| format!("s.s{n:x} * {}u", 2 * n + 1)).collect();
    let (sum, elements) = (sum.join(" + "), elements.join(" + "));
    let program = gpu.build_source(
        &format!(
            "kernel __attribute__((intel_reqd_sub_group_size({width}))) void many(global uint *out{parameters}) {{
                 uint16 s = {sum};
                 out[get_global_id(0)] = get_local_id(0) + {elements}; }}"
        ),
        "",
    )?;
    let kernel = program.kernel("many")?;
    let size = kernel.get_work_group_size(gpu.device.id()).map_err(|e| e.to_string())?;
    let values: Vec<u32> = (0..16 * VECTORS as u32).map(|n| n * n + 7).collect();
    let weigh = |(n, value): (usize, &u32)| value * (n as u32 / 16 + 1) * (2 * (n as u32 % 16) + 1);
    let total = values.iter().enumerate().map(weigh).fold(0, u32::wrapping_add);
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    let output = gpu.buffer(&vec![u32::MAX; 2 * size])?;
    let mut arguments = vec![output.arg()];
    arguments.extend(bytes.chunks_exact(64).map(Arg::Bytes));
    program.run("many", &arguments, &Launch::linear(2 * size, size))?;
    let expected: Vec<u32> = (0..size as u32).map(|id| total.wrapping_add(id)).collect();
    same(&output.read()?, &expected.repeat(2))
}

/// Launches in a row without waiting, each three times, and each other than the one before in one thing only:
/// each notes what it is.
fn repeated() -> Outcome {
    let gpu = Gpu::get()?;
    let program = gpu.build_source(
        "void note(global uint *log, uint what) {
             if (get_local_id(0) != 0)
                 return;
             global uint *next = log + 1 + 6 * atomic_inc(log);
             next[0] = what;
             next[1] = get_group_id(0);
             next[2] = get_global_offset(0);
             next[3] = get_global_size(0);
             next[4] = get_local_size(0);
             next[5] = get_num_groups(0); }
         kernel void first(global uint *log, uint what, local uint *unused) { note(log, what); }
         kernel void second(global uint *log, uint what, local uint *unused) { note(log, what); }
         kernel void doubled(global uint *log, uint what, local uint *unused) { note(log, 2 * what); }",
        "-cl-std=CL3.0",
    )?;
    // Kernel, log, value, bytes of local memory, offset, global size, local size.
    let launches = [
        ("first", 0, 5, 4, 0, 1, 1),
        ("first", 0, 6, 4, 0, 1, 1),
        ("first", 1, 6, 4, 0, 1, 1),
        ("second", 1, 6, 4, 0, 1, 1),
        ("doubled", 1, 6, 4, 0, 1, 1),
        ("doubled", 1, 6, 64, 0, 1, 1),
        ("doubled", 1, 6, 64, 3, 1, 1),
        ("doubled", 1, 6, 64, 3, 8, 1),
        ("doubled", 1, 6, 64, 3, 8, 8),
        ("doubled", 1, 6, 64, 3, 11, 8),
        ("first", 0, 5, 4, 0, 1, 1),
    ];
    let logs = [gpu.buffer(&[0_u32; 1024])?, gpu.buffer(&[0_u32; 1024])?];
    let queue = gpu.queue()?;
    let mut expected = [(); 2].map(|()| Vec::new());
    for (kernel, log, value, local_bytes, offset, global, local) in launches {
        let arguments = [logs[log].arg(), Arg::Bytes(&u32::to_ne_bytes(value)), Arg::Local(local_bytes)];
        let launch = Launch { offset: vec![offset], global: vec![global], local: vec![local] };
        for _ in 0..3 {
            program.enqueue(&queue, kernel, &arguments, &launch)?;
            let groups = global.div_ceil(local);
            let value = if kernel == "doubled" { 2 * value } else { value };
            expected[log].extend((0..groups).map(|group| {
                let size = local.min(global - group * local);
                [value, group as u32, offset as u32, global as u32, size as u32, groups as u32]
            }));
        }
    }
    queue.finish().map_err(|error| error.to_string())?;
    for (log, mut expected) in logs.iter().zip(expected) {
        let log = log.read()?;
        let mut notes: Vec<[u32; 6]> = log[1..].as_chunks().0.to_vec();
        let rest = notes.split_off((log[0] as usize).min(notes.len()));
        if rest.iter().flatten().any(|&number| number != 0) {
            return Err("something behind the last note".to_owned());
        }
        // Groups of a launch come in any order.
        for list in [&mut notes, &mut expected] {
            list.sort_unstable();
        }
        same(notes.as_flattened(), expected.as_flattened())?;
    }
    Ok(())
}

fn largest(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let program = gpu.build_source(
        &format!(
            "kernel __attribute__((intel_reqd_sub_group_size({width}))) void turn(global uint *out, local uint *turned) {{
                 turned[get_local_size(0) - 1 - get_local_id(0)] = get_local_id(0);
                 barrier(CLK_LOCAL_MEM_FENCE);
                 out[get_global_id(0)] = turned[get_local_id(0)]; }}"
        ),
        "",
    )?;
    let kernel = program.kernel("turn")?;
    let size = kernel.get_work_group_size(gpu.device.id()).map_err(|e| e.to_string())?;
    let of_device = gpu.device.max_work_group_size().map_err(|e| e.to_string())?;
    if size < 256 || size > of_device {
        return Err(format!("groups of {size} of the kernel, of {of_device} of the device"));
    }
    let output = gpu.buffer(&vec![u32::MAX; 3 * size])?;
    let arguments = |size: usize| [output.arg(), Arg::Local(4 * size)];
    program.run("turn", &arguments(size), &Launch::linear(3 * size, size))?;
    let expected: Vec<u32> = (0..size as u32).rev().collect();
    same(&output.read()?, &expected.repeat(3))?;
    match program.run("turn", &arguments(size + 1), &Launch::linear(size + 1, size + 1)) {
        Ok(()) => Err(format!("a group of {} ran", size + 1)),
        Err(_) => Ok(()),
    }
}

/// A required group that fits with 16 lanes only, in a kernel with more live values than there are registers
/// for.
fn required() -> Outcome {
    const VALUES: usize = 140;
    let gpu = Gpu::get()?;
    let load = |i| format!("uint v{i} = in[get_global_id(0) + {i}];\n");
    let store = |i| format!("out[{i} * 512 + get_local_id(0)] = v{i} + turned[{i}];\n");
    let source = format!(
        "kernel __attribute__((reqd_work_group_size(512, 1, 1))) void k(global uint *out, global const uint *in) {{
             local uint turned[512];
             {}
             turned[511 - get_local_id(0)] = v0;
             barrier(CLK_LOCAL_MEM_FENCE);
             {} }}",
        (0..VALUES).map(load).collect::<String>(),
        (0..VALUES).map(store).collect::<String>(),
    );
    let program = gpu.build_source(&source, "")?;
    let numbers: Vec<u32> = (0..512 + VALUES as u32).map(|x| x * x).collect();
    let input = gpu.buffer(&numbers)?;
    let output = gpu.buffer(&vec![0; 512 * VALUES])?;
    program.run("k", &[output.arg(), input.arg()], &Launch::linear(512, 512))?;
    let expected = |at: usize| numbers[at % 512 + at / 512] + numbers[511 - at / 512];
    same(&output.read()?, &(0..512 * VALUES).map(expected).collect::<Vec<_>>())
}

/// With the driver's own local size: ids are consistent with whatever it is.
fn chosen(width: u32, global: &[usize]) -> Outcome {
    let result = run(width, &Launch { global: global.to_vec(), ..Launch::default() })?;
    for (index, record) in result.chunks(RECORD).enumerate() {
        let mut rest = index;
        for d in 0..3 {
            let [id, local, group, size, local_size, groups] = record[d * ANSWERS..][..6] else {
                return Err("short record".into());
            };
            let expected = rest % at(global, d, 1);
            rest /= at(global, d, 1);
            let size_at = d * ANSWERS + 4;
            let first = group * record[size_at].max(result[size_at]);
            if id as usize != expected
                || size as usize != at(global, d, 1)
                || first + local != id
                || local >= local_size
                || group >= groups
            {
                return Err(format!("work-item {index}, dimension {d}: {record:?}"));
            }
        }
    }
    Ok(())
}

/// OpenCL C, "Work-Item Functions": ids and offsets of dimensions that do not exist are 0, sizes and numbers
/// of groups 1.
fn beyond() -> Outcome {
    let output = Gpu::get()?.buffer(&[u32::MAX; 3 * ANSWERS])?;
    Gpu::get()?.build("work_item", None)?.run("work_item_beyond", &[output.arg()], &Launch::linear(1, 1))?;
    same(&output.read()?, &[0, 0, 0, 1, 1, 1, 0].repeat(3))
}

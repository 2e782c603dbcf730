//! Work-groups of the device's maximum size, for each kernel: what a kernel's threads have no room for is
//! executed by wider ones.

use gencl_utest::{Case, DOUBLE, Gpu, Launch, Need, Outcome, Program, run};
use opencl_sys::{
    CL_KERNEL_MAX_NUM_SUB_GROUPS, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE,
    CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE,
};
use opencl3::error_codes::ClError;
use opencl3::kernel::{Kernel, create_kernel};

use crate::il;
use crate::information::objects::sub_group_number;
use crate::memory::same;
use crate::programs::{Linked, compiled};

/// Intel's driver reports less for a kernel than for the device.
const LESS: &str = "a kernel's largest group may be smaller than the device's";

pub fn cases() -> Vec<Case> {
    let case = |name: &str, run: fn() -> Outcome| Case::of_gencl(LESS, name, run);
    let feature = Need::Feature("__opencl_c_program_scope_global_variables");
    vec![
        case("work_groups_largest", largest),
        case("work_groups_private_arrays", arrays),
        case("work_groups_doubles", doubles).needing(DOUBLE),
        case("work_groups_linked", linked),
        case("work_groups_of_binaries", binaries),
        case("work_groups_required", required),
        case("work_groups_variables", variables).needing(feature),
        case("work_groups_one_size", one_size).needing(Need::SubGroups),
        case("work_groups_sub_groups", sub_groups).needing(Need::SubGroups),
        case("work_groups_sub_groups_il", sub_groups_il)
            .needing(Need::SubGroups)
            .needing(Need::Extension("cl_khr_il_program")),
        case("work_groups_narrow", narrow),
    ]
}

/// Live values of a work-item across a barrier: more than fit into registers with 16 lanes.
const VALUES: usize = 90;

/// A kernel that turns a group's values around, all of which are live at a barrier. `attributes` belong to
/// it.
fn source(attributes: &str, largest: usize) -> String {
    let load = |i| format!("uint v{i} = in[get_global_id(0) + {i}];\n");
    let store = |i| format!("out[{i} * get_global_size(0) + get_global_id(0)] = v{i} + turned[{i}];\n");
    format!(
        "{attributes} kernel void k(global uint *out, global const uint *in) {{
             local uint turned[{largest}];
             {}
             turned[get_local_size(0) - 1 - get_local_id(0)] = v0;
             barrier(CLK_LOCAL_MEM_FENCE);
             {} }}",
        (0..VALUES).map(load).collect::<String>(),
        (0..VALUES).map(store).collect::<String>(),
    )
}

/// Runs that kernel with two groups of `size`.
fn turn(program: &Program, size: usize) -> Outcome {
    turn_with(&program.kernel("k")?, size)
}

fn turn_with(kernel: &Kernel, size: usize) -> Outcome {
    let gpu = Gpu::get()?;
    let global = 2 * size;
    let numbers: Vec<u32> = (0..(global + VALUES) as u32).map(|x| x * x).collect();
    let input = gpu.buffer(&numbers)?;
    let output = gpu.buffer(&vec![0; global * VALUES])?;
    run(kernel, &[output.arg(), input.arg()], &Launch::linear(global, size))?;
    let expected = |at: usize| {
        let (i, id) = (at / global, at % global);
        numbers[id + i] + numbers[id / size * size + size - 1 - i]
    };
    same(&output.read()?, &(0..global * VALUES).map(expected).collect::<Vec<_>>())
}

fn device_largest() -> Result<usize, String> {
    Gpu::get()?.device.max_work_group_size().map_err(|error| error.to_string())
}

fn kernel_largest(program: &Program, name: &str) -> Result<usize, String> {
    let device = Gpu::get()?.device.id();
    program.kernel(name)?.get_work_group_size(device).map_err(|error| error.to_string())
}

/// Of a kernel whose work-items take many registers, in turn with smaller groups.
fn largest() -> Outcome {
    let size = device_largest()?;
    let program = Gpu::get()?.build_source(&source("", size), "")?;
    let of_kernel = kernel_largest(&program, "k")?;
    if of_kernel != size || !size.is_power_of_two() {
        return Err(format!("the device's groups have {size} work-items, the kernel's {of_kernel}"));
    }
    for size in [128, size, 256, size / 2, size, 300] {
        turn(&program, size)?;
    }
    match turn(&program, size + 1) {
        Err(error)
            if error.contains("CL_INVALID_WORK_GROUP_SIZE")
                || error.contains("CL_INVALID_WORK_ITEM_SIZE") =>
        {
            Ok(())
        }
        other => Err(format!("a group of {}: {other:?}", size + 1)),
    }
}

/// Private memory of each work-item, with a dynamic index.
fn arrays() -> Outcome {
    let gpu = Gpu::get()?;
    let program = gpu.build_source(
        "kernel void k(global uint *out, global const uint *in) {
             uint i = get_local_id(0), a[64];
             for (uint n = 0; n < 64; n++) a[(n * 5 + i) & 63] = in[(n + i) & 63] + i;
             barrier(CLK_LOCAL_MEM_FENCE);
             out[get_global_id(0)] = a[in[i & 63] & 63]; }",
        "",
    )?;
    let size = device_largest()?;
    let numbers: Vec<u32> = (0..64).map(|x| x * 37 + 11).collect();
    let (input, output) = (gpu.buffer(&numbers)?, gpu.buffer(&vec![0; size])?);
    program.run("k", &[output.arg(), input.arg()], &Launch::linear(size, size))?;
    let expected = |i: usize| {
        let wanted = numbers[i & 63] as usize & 63;
        let n = (0..64).find(|n| (n * 5 + i) & 63 == wanted).unwrap_or(0);
        numbers[(n + i) & 63] + i as u32
    };
    same(&output.read()?, &(0..size).map(expected).collect::<Vec<_>>())
}

/// Functions of doubles, whose threads have eight lanes.
fn doubles() -> Outcome {
    let gpu = Gpu::get()?;
    let program = gpu.build_source(
        "kernel void k(global double8 *x) { x[get_global_id(0)] = sqrt(x[get_global_id(0)] * 4) + 1; }",
        "",
    )?;
    let size = device_largest()?;
    let numbers: Vec<f64> = (0..8 * size).map(|x| (x * x) as f64).collect();
    let buffer = gpu.buffer(&numbers)?;
    program.run("k", &[buffer.arg()], &Launch::linear(size, size))?;
    same(&buffer.read()?, &(0..8 * size).map(|x| 2.0 * x as f64 + 1.0).collect::<Vec<_>>())
}

/// A program that was linked has no source.
fn linked() -> Outcome {
    let size = device_largest()?;
    let object = compiled(&source("", size), "")?;
    let program = Linked::new(c"", &[object.get()]).map_err(|error| error.to_string())?;
    let kernel = create_kernel(program.0, c"k").map_err(|code| ClError(code).to_string())?;
    turn_with(&Kernel::new(kernel), size)
}

/// Nor has one from a binary.
fn binaries() -> Outcome {
    let gpu = Gpu::get()?;
    let size = device_largest()?;
    let text = |error: ClError| error.to_string();
    let program = gpu.build_source(&source("", size), "")?;
    let binary = program.program().get_binaries().map_err(text)?.swap_remove(0);
    let devices = [gpu.device.id()];
    // SAFETY: the binary is what the driver gave.
    let again = unsafe { opencl3::program::Program::create_from_binary(&gpu.context, &devices, &[&binary]) };
    let mut again = again.map_err(text)?;
    again.build(&devices, "").map_err(text)?;
    turn_with(&Kernel::create(&again, "k").map_err(text)?, size)
}

/// Sizes that the source requires.
fn required() -> Outcome {
    let gpu = Gpu::get()?;
    let largest = device_largest()?;
    for size in [128, 256, 512, largest] {
        let attribute = format!("__attribute__((reqd_work_group_size({size}, 1, 1)))");
        turn(&gpu.build_source(&source(&attribute, size), "")?, size)?;
    }
    Ok(())
}

/// Narrow and wide threads count in the same variable, and print.
fn variables() -> Outcome {
    let gpu = Gpu::get()?;
    let size = device_largest()?;
    let text = source("", size).replacen(
        "kernel void k(",
        "global uint count = 7; global uint *global place = &count;
         kernel void add(global uint *out) { uint i = get_local_id(0); out[i] = i ? 0 : atomic_add(place, 1u); }
         kernel void k(",
        1,
    );
    let program = gpu.build_source(&text, "-cl-std=CL3.0")?;
    let out = gpu.buffer(&vec![9_u32; size])?;
    for (count, size) in [(7, 1), (8, size), (9, 16), (10, size)] {
        program.run("add", &[out.arg()], &Launch::linear(size, size))?;
        let first = out.read()?[0];
        if first != count {
            return Err(format!("{first} with groups of {size}, not {count}"));
        }
    }
    Ok(())
}

/// Work-items of a group that programs expect every kernel to take.
const USUAL: usize = 256;

/// Values of kernels, and whether they depend on which work-items are a sub-group.
const VALUES_OF: [(&str, bool); 7] = [
    ("0", false),
    ("work_group_reduce_add(1)", false),
    ("get_max_sub_group_size()", true),
    ("lane()", true),
    ("(sub_group_barrier(CLK_LOCAL_MEM_FENCE), 0)", true),
    ("sub_group_shuffle(in[1], 0)", true),
    ("intel_sub_group_block_read(in)", true),
];

/// The kernel of [`source`], whose result is `values` in its first elements if the input begins with 77.
fn early(size: usize, values: &[&str]) -> String {
    let stores = |(i, value): (usize, &&str)| {
        format!("uint early{i} = {value}; if (in[0] == 77) out[{i}] = early{i};")
    };
    let body: String = values.iter().enumerate().map(stores).collect();
    let helper = "uint lane(void) { return get_sub_group_local_id(); }\n";
    helper.to_owned() + &source("", size).replacen('{', &format!("{{ {body} if (in[0] == 77) return;\n"), 1)
}

/// Kernels that use sub-groups have the same size of them in all launches, and groups as large as this size allows.
/// Others have the device's largest group.
fn one_size() -> Outcome {
    let size = device_largest()?;
    for (value, depends) in VALUES_OF {
        let program = Gpu::get()?.build_source(&early(size, &[value]), "-cl-std=CL3.0")?;
        let kernel = program.kernel("k")?;
        let of_group = |group| sub_group_number(&kernel, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, group);
        let largest = kernel_largest(&program, "k")?;
        let (narrow, wide) = (of_group(1)?, of_group(size)?);
        if depends != (narrow == wide) || depends != (largest < size) || largest < USUAL {
            return Err(format!("{value}: sub-groups of {narrow} and {wide}, groups of {largest}"));
        }
    }
    Ok(())
}

/// Programs ask for the size of sub-groups in large groups, launch a group of this size, and expect one sub-group.
fn sub_groups() -> Outcome {
    let size = device_largest()?;
    let counts = ["get_num_sub_groups()", "get_max_sub_group_size()"];
    let program = Gpu::get()?.build_source(&early(size, &counts), "-cl-std=CL3.0")?;
    count_sub_groups(&program.kernel("k")?, kernel_largest(&program, "k")?)
}

/// The same of a program of SPIR-V.
fn sub_groups_il() -> Outcome {
    let kernel = il::count_sub_groups()?;
    let largest = kernel.get_work_group_size(Gpu::get()?.device.id()).map_err(|error| error.to_string())?;
    count_sub_groups(&kernel, largest)
}

/// What the queries say of a group's sub-groups is what the kernel sees, in groups of up to `largest` work-items.
fn count_sub_groups(kernel: &Kernel, largest: usize) -> Outcome {
    let gpu = Gpu::get()?;
    let size = device_largest()?;
    let (input, output) = (gpu.buffer(&[77_u32; 4])?, gpu.buffer(&[0_u32; 4])?);
    let arguments = [output.arg(), input.arg()];
    let most = gpu.device.max_num_sub_groups().map_err(|error| error.to_string())? as usize;
    let width = sub_group_number(kernel, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, size)?;
    if !(USUAL..=size).contains(&largest) || !largest.is_power_of_two() {
        return Err(format!("groups of at most {largest}"));
    }
    for group in [1, width, width + 1, 64, 200, largest] {
        run(kernel, &arguments, &Launch::linear(group, group))?;
        let ask = |query| sub_group_number(kernel, query, group);
        let asked =
            [ask(CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE)?, ask(CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE)?];
        let seen = output.read()?[..2].iter().map(|&number| number as usize).collect::<Vec<_>>();
        let expected = [group.div_ceil(width), width];
        if seen[..] != expected || asked != expected || expected[0] > most {
            return Err(format!(
                "a group of {group} has sub-groups of {seen:?}, the queries say {asked:?} and {width}, at most {most}"
            ));
        }
    }
    let of_kernel = sub_group_number(kernel, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0)?;
    if of_kernel > most || of_kernel != largest / width {
        return Err(format!("the kernel has up to {of_kernel} sub-groups, the device {most}"));
    }
    match run(kernel, &arguments, &Launch::linear(size, size)) {
        Ok(()) if largest == size => Ok(()),
        Err(error) if largest < size && error.contains("CL_INVALID_WORK_GROUP_SIZE") => Ok(()),
        other => Err(format!("a group of {size}: {other:?}, where {largest} is the largest")),
    }
}

/// A kernel that requires sub-groups of 8 has no wider threads: its largest group is smaller, and a power of
/// two.
fn narrow() -> Outcome {
    let gpu = Gpu::get()?;
    let size = device_largest()?;
    let program = gpu.build_source(&source("__attribute__((intel_reqd_sub_group_size(8)))", size), "")?;
    let narrow = kernel_largest(&program, "k")?;
    if narrow >= size || !narrow.is_power_of_two() {
        return Err(format!("groups of {narrow} with sub-groups of 8"));
    }
    turn(&program, narrow)?;
    match turn(&program, size) {
        Err(error) if error.contains("CL_INVALID_WORK_GROUP_SIZE") => Ok(()),
        other => Err(format!("a group of {size}: {other:?}")),
    }
}

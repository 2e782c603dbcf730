//! Programs: what is built for which device, and kernels of it.

use std::ffi::CStr;
use std::ptr::null_mut;

use gencl_utest::raw::api;
use gencl_utest::{Case, Outcome};
use opencl_sys::{
    CL_BUILD_ERROR, CL_BUILD_NONE, CL_BUILD_PROGRAM_FAILURE, CL_BUILD_SUCCESS, CL_INVALID_BINARY,
    CL_INVALID_DEVICE, CL_INVALID_KERNEL_DEFINITION, CL_INVALID_OPERATION, CL_INVALID_PROGRAM_EXECUTABLE,
    CL_INVALID_VALUE, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, CL_KERNEL_WORK_GROUP_SIZE,
    CL_PROGRAM_BINARIES, CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_BINARY_TYPE,
    CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT, CL_PROGRAM_BINARY_TYPE_EXECUTABLE, CL_PROGRAM_BINARY_TYPE_NONE,
    CL_PROGRAM_BUILD_LOG, CL_PROGRAM_BUILD_OPTIONS, CL_PROGRAM_BUILD_STATUS, CL_PROGRAM_DEVICES,
    CL_PROGRAM_KERNEL_NAMES, CL_PROGRAM_NUM_DEVICES, CL_SUCCESS,
};
use opencl3::kernel::{create_kernel, create_kernels_in_program, get_kernel_work_group_info, release_kernel};
use opencl3::program::{
    compile_program, create_program_with_source, get_program_build_info, get_program_info, link_program,
};
use opencl3::types::{cl_device_id, cl_int, cl_kernel, cl_program};

use super::{MIXED, TWINS, WIDE, World, build, context, done, equal, refused, several, wait};

pub fn cases() -> Vec<Case> {
    vec![
        several("several_devices_build", &[WIDE, MIXED, TWINS], all),
        several("several_devices_build_some", &[WIDE, MIXED], some),
        several("several_devices_build_failure", &[MIXED], failure),
        several("several_devices_definitions", &[WIDE, MIXED], definitions),
        several("several_devices_binaries", &[WIDE, MIXED], binaries),
        several("several_devices_link", &[WIDE, MIXED], link),
        several("several_devices_variables", &[WIDE, MIXED, TWINS], variables),
    ]
}

const NUMBER: &str = "kernel void number(global uint *out) { *out = NUMBER; }";

fn status(program: cl_program, device: cl_device_id) -> Result<cl_int, String> {
    Ok(done("status", get_program_build_info(program, device, CL_PROGRAM_BUILD_STATUS))?.into())
}

fn kind(program: cl_program, device: cl_device_id) -> Result<u32, String> {
    Ok(done("binary type", get_program_build_info(program, device, CL_PROGRAM_BINARY_TYPE))?.into())
}

fn said(program: cl_program, device: cl_device_id, what: u32) -> Result<String, String> {
    Ok(done("build information", get_program_build_info(program, device, what))?.into())
}

fn devices_of(program: cl_program) -> Result<Vec<isize>, String> {
    let count: u32 = done("devices", get_program_info(program, CL_PROGRAM_NUM_DEVICES))?.into();
    let devices: Vec<isize> = done("devices", get_program_info(program, CL_PROGRAM_DEVICES))?.into();
    equal("CL_PROGRAM_NUM_DEVICES", count as usize, devices.len())?;
    Ok(devices)
}

fn handles(devices: &[cl_device_id]) -> Vec<isize> {
    devices.iter().map(|device| *device as isize).collect()
}

fn binaries_of(program: cl_program) -> Result<Vec<Vec<u8>>, String> {
    let sizes: Vec<usize> = done("sizes", get_program_info(program, CL_PROGRAM_BINARY_SIZES))?.into();
    let binaries: Vec<Vec<u8>> = done("binaries", get_program_info(program, CL_PROGRAM_BINARIES))?.into();
    equal("CL_PROGRAM_BINARY_SIZES", sizes, binaries.iter().map(Vec::len).collect())?;
    Ok(binaries)
}

fn kernel(program: cl_program, name: &CStr) -> Result<cl_kernel, String> {
    done("clCreateKernel", create_kernel(program, name))
}

fn release(kernel: cl_kernel) -> Outcome {
    // SAFETY: cases release what they have made, and once.
    done("clReleaseKernel", unsafe { release_kernel(kernel) })
}

fn group_sizes(kernel: cl_kernel, device: cl_device_id) -> Result<[usize; 2], cl_int> {
    let ask = |what| get_kernel_work_group_info(kernel, device, what).map(usize::from);
    Ok([ask(CL_KERNEL_WORK_GROUP_SIZE)?, ask(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE)?])
}

/// Each device reports the same properties of a kernel as in a context of its own.
fn all(world: &World) -> Outcome {
    const SOURCE: &str = "
        kernel void ids(global uint *out) { out[get_global_id(0)] = get_global_id(0) * 3 + get_local_size(0); }
        kernel __attribute__((reqd_work_group_size(4, 1, 1))) void four(global uint *out) {
            out[get_global_id(0)] = get_global_id(0) * 5 + get_local_size(0);
        }";
    let program = world.built(SOURCE)?;
    equal("CL_PROGRAM_DEVICES", devices_of(program)?, handles(&world.devices))?;
    equal("empty binaries", binaries_of(program)?.iter().any(Vec::is_empty), false)?;
    let ids = kernel(program, c"ids")?;
    refused("no device, where there are two", group_sizes(ids, null_mut()), CL_INVALID_DEVICE)?;
    for (index, device) in world.devices.into_iter().enumerate() {
        equal("CL_PROGRAM_BUILD_STATUS", status(program, device)?, CL_BUILD_SUCCESS)?;
        equal("CL_PROGRAM_BINARY_TYPE", kind(program, device)?, CL_PROGRAM_BINARY_TYPE_EXECUTABLE)?;
        let alone = done("clCreateContext", context(&[device]))?;
        let alone = done("program", create_program_with_source(alone, &[SOURCE]))?;
        done("clBuildProgram", build(alone, &[], c"-cl-std=CL3.0"))?;
        let alone = group_sizes(kernel(alone, c"ids")?, null_mut());
        equal("work-group sizes", group_sizes(ids, device), alone)?;
        let out = world.buffer(&[0; 64])?;
        wait(world.launch(index, kernel(program, c"four")?, &[out], 64, &[])?)?;
        equal("out", world.read(index, out, 64)?, (0..64).map(|id| id * 5 + 4).collect())?;
    }
    Ok(())
}

/// One device after the other, each with its own options.
fn some(world: &World) -> Outcome {
    let program = world.source(NUMBER)?;
    let [first, second] = world.devices;
    done("clBuildProgram", build(program, &[first], c"-DNUMBER=17"))?;
    equal("status", [status(program, first)?, status(program, second)?], [CL_BUILD_SUCCESS, CL_BUILD_NONE])?;
    equal("kind", kind(program, second)?, CL_PROGRAM_BINARY_TYPE_NONE)?;
    equal(
        "binaries",
        binaries_of(program)?.iter().map(|binary| binary.is_empty()).collect(),
        vec![false, true],
    )?;

    let number = kernel(program, c"number")?;
    // It has one device, so that need not be named.
    equal("work-group sizes", group_sizes(number, null_mut()), group_sizes(number, first))?;
    refused("sizes on the other", group_sizes(number, second), CL_INVALID_DEVICE)?;
    let out = world.buffer(&[0])?;
    wait(world.launch(0, number, &[out], 1, &[])?)?;
    let launch = world.enqueue(1, number, 1, &[]);
    refused("a launch on the other", launch, CL_INVALID_PROGRAM_EXECUTABLE)?;
    refused("a build with a kernel", build(program, &[second], c"-DNUMBER=4"), CL_INVALID_OPERATION)?;
    release(number)?;

    done("clBuildProgram", build(program, &[second], c"-DNUMBER=4"))?;
    for (index, (options, expected)) in [("-DNUMBER=17", 17), ("-DNUMBER=4", 4)].into_iter().enumerate() {
        let said = said(program, world.devices[index], CL_PROGRAM_BUILD_OPTIONS)?;
        equal("CL_PROGRAM_BUILD_OPTIONS", said.as_str(), options)?;
        equal("number", world.number(index, program, c"number")?, expected)?;
    }
    Ok(())
}

/// A program that cannot be built for one of the devices.
fn failure(world: &World) -> Outcome {
    let source = "
        #ifndef cl_khr_fp16
        #error no half floats
        #endif
        kernel void number(global uint *out) { *out = 12; }";
    let program = world.source(source)?;
    let [first, second] = world.devices;
    refused("clBuildProgram", build(program, &[], c""), CL_BUILD_PROGRAM_FAILURE)?;
    equal("status", [status(program, first)?, status(program, second)?], [CL_BUILD_SUCCESS, CL_BUILD_ERROR])?;
    let logs = [said(program, first, CL_PROGRAM_BUILD_LOG)?, said(program, second, CL_PROGRAM_BUILD_LOG)?];
    equal("logs with the error", logs.map(|log| log.contains("no half floats")), [false, true])?;
    equal("number", world.number(0, program, c"number")?, 12)?;
    done("clBuildProgram", build(program, &[first], c""))?;
    refused("clBuildProgram", build(program, &[second], c""), CL_BUILD_PROGRAM_FAILURE)
}

/// Kernels that are not the same on all devices.
fn definitions(world: &World) -> Outcome {
    let source = "
        kernel void differs(global uint *out, T number) { *out = number; }
        kernel void number(global uint *out) { *out = sizeof(T); }
        #ifdef MORE
        kernel void more(global uint *out) { *out = 5; }
        #endif";
    let program = world.source(source)?;
    done("clBuildProgram", build(program, &world.devices[..1], c"-DT=uint"))?;
    done("clBuildProgram", build(program, &world.devices[1..], c"-DT=ushort -DMORE"))?;
    let names: String = done("names", get_program_info(program, CL_PROGRAM_KERNEL_NAMES))?.into();
    equal("CL_PROGRAM_KERNEL_NAMES", names.as_str(), "differs;number;more")?;
    refused("clCreateKernel", create_kernel(program, c"differs"), CL_INVALID_KERNEL_DEFINITION)?;
    let kernels = done("clCreateKernelsInProgram", create_kernels_in_program(program))?;
    equal("kernels", kernels.len(), 2)?;
    let numbers = [world.number(0, program, c"number")?, world.number(1, program, c"number")?];
    equal("numbers", numbers, [4, 2])?;
    equal("more", world.number(1, program, c"more")?, 5)?;
    let more = world.enqueue(0, kernel(program, c"more")?, 1, &[]);
    refused("a launch where it is not", more, CL_INVALID_PROGRAM_EXECUTABLE)
}

/// `clCreateProgramWithBinary`, with the status of each binary.
fn with_binaries(
    world: &World,
    devices: &[cl_device_id],
    binaries: &[&[u8]],
) -> Result<(Result<cl_program, cl_int>, Vec<cl_int>), String> {
    let lengths: Vec<usize> = binaries.iter().map(|binary| binary.len()).collect();
    let mut pointers: Vec<*const u8> = binaries.iter().map(|binary| binary.as_ptr()).collect();
    let (mut statuses, mut code) = (vec![1; devices.len()], CL_SUCCESS);
    // SAFETY: all lists have as many elements as there are devices.
    let program = unsafe {
        (api()?.clCreateProgramWithBinary)(
            world.context,
            devices.len() as u32,
            devices.as_ptr(),
            lengths.as_ptr(),
            pointers.as_mut_ptr(),
            statuses.as_mut_ptr(),
            &raw mut code,
        )
    };
    Ok((if code == CL_SUCCESS { Ok(program) } else { Err(code) }, statuses))
}

fn binaries(world: &World) -> Outcome {
    let [first, second] = world.devices;
    let original = world.source(NUMBER)?;
    done("clBuildProgram", build(original, &[first], c"-DNUMBER=7"))?;
    done("clBuildProgram", build(original, &[second], c"-DNUMBER=8"))?;
    let made = binaries_of(original)?;

    let (program, statuses) = with_binaries(world, &[second, first], &[&made[1], &made[0]])?;
    let program = done("clCreateProgramWithBinary", program)?;
    equal("statuses", statuses, vec![CL_SUCCESS; 2])?;
    equal("CL_PROGRAM_DEVICES", devices_of(program)?, handles(&world.devices))?;
    equal("binaries", binaries_of(program)?, made.clone())?;
    done("clBuildProgram", build(program, &[], c""))?;
    let numbers = [world.number(0, program, c"number")?, world.number(1, program, c"number")?];
    equal("numbers", numbers, [7, 8])?;

    let (program, _) = with_binaries(world, &[second], &[&made[1]])?;
    let program = done("clCreateProgramWithBinary", program)?;
    equal("CL_PROGRAM_DEVICES", devices_of(program)?, handles(&[second]))?;
    refused("a build for another device", build(program, &[first], c""), CL_INVALID_DEVICE)?;
    let asked = get_program_build_info(program, first, CL_PROGRAM_BUILD_STATUS);
    refused("a question for another device", asked, CL_INVALID_DEVICE)?;
    done("clBuildProgram", build(program, &[], c""))?;
    equal("number", world.number(1, program, c"number")?, 8)?;

    let (program, statuses) = with_binaries(world, &[first, second], &[&made[1], &made[1]])?;
    refused("a binary of another device", program, CL_INVALID_BINARY)?;
    equal("statuses", statuses, vec![CL_INVALID_BINARY, CL_SUCCESS])?;
    let (program, statuses) = with_binaries(world, &[first, second], &[&made[0], &[]])?;
    refused("an empty binary", program, CL_INVALID_VALUE)?;
    equal("statuses", statuses, vec![CL_SUCCESS, CL_INVALID_VALUE])
}

fn link(world: &World) -> Outcome {
    let [first, second] = world.devices;
    let compile = |program, devices: &[cl_device_id], options: &CStr| {
        done("clCompileProgram", compile_program(program, devices, options, &[], &[], None, null_mut()))
    };
    let link = |devices: &[cl_device_id], programs: &[cl_program]| {
        // SAFETY: devices and programs are alive.
        unsafe { link_program(world.context, devices, c"", programs, None, null_mut()) }
    };
    let main =
        world.source("uint part(void); kernel void number(global uint *out) { *out = part() + 1; }")?;
    let part = world.source("uint part(void) { return NUMBER; }")?;
    compile(main, &[], c"")?;
    compile(part, &[first], c"-DNUMBER=20")?;
    equal("kind", kind(part, first)?, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT)?;
    equal("kind", kind(part, second)?, CL_PROGRAM_BINARY_TYPE_NONE)?;
    refused("a link of half", link(&[], &[main, part]), CL_INVALID_OPERATION)?;
    let program = done("clLinkProgram", link(&[first], &[main, part]))?;
    equal("CL_PROGRAM_DEVICES", devices_of(program)?, handles(&[first]))?;
    equal("number", world.number(0, program, c"number")?, 21)?;

    compile(part, &[second], c"-DNUMBER=30")?;
    let program = done("clLinkProgram", link(&[], &[main, part]))?;
    equal("CL_PROGRAM_DEVICES", devices_of(program)?, handles(&world.devices))?;
    let numbers = [world.number(0, program, c"number")?, world.number(1, program, c"number")?];
    equal("numbers", numbers, [21, 31])?;

    // What is compiled for one device only is linked for that.
    let alone = world.source("kernel void number(global uint *out) { *out = 9; }")?;
    compile(alone, &[second], c"")?;
    let program = done("clLinkProgram", link(&[], &[alone]))?;
    equal("status", [status(program, first)?, status(program, second)?], [CL_BUILD_NONE, CL_BUILD_SUCCESS])?;
    equal("number", world.number(1, program, c"number")?, 9)?;
    refused("a link of nothing", link(&[first], &[alone]), CL_INVALID_OPERATION)
}

/// Variables are each device's own, with the pointers between them.
fn variables(world: &World) -> Outcome {
    let program = world.built(
        "global uint count = 100;
        global uint *global where = &count;
        constant uint table[3] = {3, 5, 7};
        kernel void number(global uint *out) { *where += table[1]; *out = count; }",
    )?;
    for (device, expected) in [(0, 105), (0, 110), (1, 105), (0, 115), (1, 110)] {
        equal("number", world.number(device, program, c"number")?, expected)?;
    }
    Ok(())
}

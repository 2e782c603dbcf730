//! Programs as a whole: program-scope variables, generic pointers, linking.

use std::ffi::CStr;

use gencl_utest::{Arg, Case, Gpu, Launch, Need, Outcome, all_needing, all_widths};
use opencl3::error_codes::{
    CL_INVALID_LINKER_OPTIONS, CL_INVALID_OPERATION, CL_LINK_PROGRAM_FAILURE, ClError,
};
use opencl3::kernel::{create_kernel, release_kernel, set_kernel_arg};
use opencl3::memory::ClMem;
use opencl3::program::{
    CL_PROGRAM_BINARY_TYPE, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT, CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
    CL_PROGRAM_BINARY_TYPE_LIBRARY, Program, get_program_build_info, link_program, release_program,
};
use opencl3::types::{cl_mem, cl_program};

use crate::memory::same;

pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        Case::new("variables_live_with_the_program", variables_live),
        Case::new("variables_point_to_each_other", variables_point),
        Case::new("link_objects", link_objects),
        Case::new("link_libraries", link_libraries),
        Case::of_gencl("others report other codes", "link_faults", link_faults),
        Case::of_gencl("others link later", "link_binaries", link_binaries),
    ];
    let mut generic = all_widths("generic_mixed", generic_mixed);
    generic.extend(all_widths("generic_wide", generic_wide));
    let spaces = [8, 16, 32].map(|width| {
        let what = "Intel's compiler takes private pointers for global ones";
        Case::of_gencl(what, format!("generic_spaces/simd{width}"), move || generic_spaces(width))
    });
    generic.extend(spaces);
    generic.extend(all_widths("generic_stored", generic_stored));
    generic.extend(all_widths("generic_library", generic_library));
    cases.extend(all_needing(Need::Feature("__opencl_c_generic_address_space"), generic));
    cases
}

const LATEST: &str = "-cl-std=CL3.0";

fn with_variables() -> Result<gencl_utest::Program, String> {
    Gpu::get()?.build_with("variables", None, LATEST)
}

fn with_generic(width: u32) -> Result<gencl_utest::Program, String> {
    Gpu::get()?.build_with("generic", Some(width), LATEST)
}

fn variables_live() -> Outcome {
    let gpu = Gpu::get()?;
    let out = gpu.buffer(&[0i32; 4])?;
    let program = with_variables()?;
    let count = || program.run("count", &[out.arg()], &Launch::linear(4, 4));
    count()?;
    same(&out.read()?, &[5, 103, 4, 80])?;
    for calls in [64, 128] {
        program.run("other", &[out.arg()], &Launch::linear(64, 64))?;
        same(&out.read()?[..1], &[calls])?;
    }
    count()?;
    same(&out.read()?, &[(5 + 10) * 4, 103, 104, 80])?;
    // Another program of the same source has variables of its own.
    let another = with_variables()?;
    another.run("count", &[out.arg()], &Launch::linear(4, 4))?;
    same(&out.read()?, &[5, 103, 4, 80])
}

fn variables_point() -> Outcome {
    let gpu = Gpu::get()?;
    let program = with_variables()?;
    let out = gpu.buffer(&[0i32; 32])?;
    program.run("follow", &[out.arg()], &Launch::linear(32, 32))?;
    let expected: Vec<i32> =
        (0..32).map(|i| if i % 2 == 1 { 20 + 3000 + 20000 } else { 10 + 2000 + 70000 }).collect();
    same(&out.read()?, &expected)?;
    let out = gpu.buffer(&[0u8; 24])?;
    program.run("strings", &[out.arg()], &Launch::linear(24, 24))?;
    let expected: Vec<u8> = [b'z' + 4, b'o' + 3, b't' + 5].into_iter().cycle().take(24).collect();
    same(&out.read()?, &expected)
}

const N: usize = 96;

fn generic_mixed(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let data: Vec<i32> = (0..4 * N as i32).map(|i| i * i).collect();
    let (out, input) = (gpu.buffer(&[0i32; N])?, gpu.buffer(&data)?);
    let args = [out.arg(), input.arg(), Arg::Local(4 * 4 * 32)];
    let program = with_generic(width)?;
    program.run("mixed", &args, &Launch::linear(N, 32))?;
    let expected: Vec<i32> = (0..N)
        .map(|id| match id % 3 {
            0 => 10 * id as i32 + 7,
            1 => 4 * 1000 * (id as i32 % 32) + 6 + 7,
            _ => data[4 * id..4 * id + 4].iter().sum::<i32>() + 7,
        })
        .collect();
    same(&out.read()?, &expected)?;
    let after: Vec<i32> =
        (0..4 * N).map(|i| data[i] + 7 * i32::from(i / 4 % 3 == 2 && i % 4 == i / 4 % 4)).collect();
    same(&input.read()?, &after)
}

fn generic_wide(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let (out, data) = (gpu.buffer(&[0u64; 4 * N])?, gpu.buffer(&[0u64; 4 * N])?);
    let args = [out.arg(), data.arg(), Arg::Local(32 * 32)];
    let program = with_generic(width)?;
    program.run("wide", &args, &Launch::linear(N, 32))?;
    let mut expected = Vec::new();
    for id in 0..N {
        let scale = [1, 10, 100][id % 3];
        let mut bytes: Vec<u8> =
            (0..4).flat_map(|k| ((id + k) as u64 * scale + ((k as u64 + 1) << 32)).to_le_bytes()).collect();
        bytes[id % 32] ^= 0x11;
        let at = 2 * ((id + 5) % 16);
        let word = u16::from_le_bytes([bytes[at], bytes[at + 1]]).wrapping_add(0x101);
        bytes[at..at + 2].copy_from_slice(&word.to_le_bytes());
        expected
            .extend(bytes.chunks(8).map(|chunk| u64::from_le_bytes(chunk.try_into().expect("eight bytes"))));
    }
    same(&out.read()?, &expected)
}

fn generic_spaces(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let out = gpu.buffer(&[0i32; N])?;
    let program = with_generic(width)?;
    program.run("spaces", &[out.arg(), Arg::Local(64)], &Launch::linear(N, 32))?;
    let expected: Vec<i32> = (0..N).map(|id| [1, 2 + 8, 4, 2 + 8 + 16 + 32][id % 4]).collect();
    same(&out.read()?, &expected)
}

fn generic_stored(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let (out, items) = (gpu.buffer(&[0i32; N])?, gpu.buffer(&[0u64; 2 * N])?);
    let args = [out.arg(), items.arg(), Arg::Local(16 * 32)];
    let program = with_generic(width)?;
    program.run("stored", &args, &Launch::linear(N, 32))?;
    let expected: Vec<i32> = (0..N as i32).map(|id| if id % 2 == 1 { 4 * id } else { 50 + 3 * id }).collect();
    same(&out.read()?, &expected)
}

fn generic_library(width: u32) -> Outcome {
    let gpu = Gpu::get()?;
    let out = gpu.buffer(&[0f32; N])?;
    let program = with_generic(width)?;
    program.run("library", &[out.arg(), Arg::Local(4 * 32)], &Launch::linear(N, 32))?;
    let expected: Vec<f32> = (0..N)
        .map(|id| {
            let x = 1.25 * id as f32 + 0.5;
            let exponent = x.log2().floor() as i32 + 1;
            x.fract() + x.floor() + x / 2f32.powi(exponent) + exponent as f32
        })
        .collect();
    same(&out.read()?, &expected)
}

fn text(what: &str) -> impl Fn(ClError) -> String + '_ {
    move |error| format!("{what}: {error}")
}

pub fn compiled(source: &str, options: &str) -> Result<Program, String> {
    let gpu = Gpu::get()?;
    let mut program = Program::create_from_source(&gpu.context, source).map_err(text("create"))?;
    program.compile(&[gpu.device.id()], options, &[], &[]).map_err(text("compile"))?;
    Ok(program)
}

/// A program that `clLinkProgram` made; released when it is dropped.
pub struct Linked(pub cl_program);

impl Linked {
    pub fn new(options: &CStr, inputs: &[cl_program]) -> Result<Self, ClError> {
        let gpu = Gpu::get().map_err(|_| ClError(0))?;
        // SAFETY: the device is the context's, the inputs are alive, and nobody is to be called.
        unsafe {
            link_program(gpu.context.get(), &[gpu.device.id()], options, inputs, None, std::ptr::null_mut())
        }
        .map(Linked)
        .map_err(ClError)
    }

    fn binary_type(&self) -> Result<u32, String> {
        binary_type(self.0)
    }

    /// Runs a kernel that writes an int.
    pub fn run(&self, kernel: &CStr, expected: i32) -> Outcome {
        let gpu = Gpu::get()?;
        let kernel = create_kernel(self.0, kernel).map_err(|code| format!("create: {}", ClError(code)))?;
        let out = gpu.buffer(&[0i32])?;
        let argument = out.memory().get();
        let queue = gpu.queue()?;
        // SAFETY: the argument is a handle, and the sizes have as many elements as there are dimensions.
        unsafe {
            set_kernel_arg(kernel, 0, size_of::<cl_mem>(), std::ptr::from_ref(&argument).cast())
                .map_err(|code| format!("argument: {}", ClError(code)))?;
            let one = [1usize];
            queue
                .enqueue_nd_range_kernel(kernel, 1, std::ptr::null(), one.as_ptr(), one.as_ptr(), &[])
                .and_then(|event| event.wait())
                .map_err(text("launch"))?;
            release_kernel(kernel).map_err(|code| format!("release: {}", ClError(code)))?;
        }
        same(&out.read()?, &[expected])
    }
}

impl Drop for Linked {
    fn drop(&mut self) {
        // SAFETY: the program is ours.
        let _ = unsafe { release_program(self.0) };
    }
}

fn binary_type(program: cl_program) -> Result<u32, String> {
    let device = Gpu::get()?.device.id();
    let info = get_program_build_info(program, device, CL_PROGRAM_BINARY_TYPE);
    Ok(info.map_err(|code| format!("binary type: {}", ClError(code)))?.into())
}

fn is(what: &str, found: u32, expected: u32) -> Outcome {
    if found == expected { Ok(()) } else { Err(format!("{what}: binary type {found}, expected {expected}")) }
}

const USES: &str = "int twice(int); extern constant int offset; int once(int x) { return x; }
    kernel void k(global int *p) { p[0] = once(twice(20)) + offset; }";
const DEFINES: &str =
    "constant int offset = 2; static int once(int x) { return 2 * x; } int twice(int x) { return once(x); }";

/// Functions and variables of other objects, static functions of the same name, kernels in both.
fn link_objects() -> Outcome {
    let uses = compiled(USES, "")?;
    is("an object", binary_type(uses.get())?, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT)?;
    let defines = compiled(&format!("{DEFINES} kernel void two(global int *p) {{ p[0] = twice(8); }}"), "")?;
    for inputs in [[uses.get(), defines.get()], [defines.get(), uses.get()]] {
        let linked = Linked::new(c"", &inputs).map_err(text("link"))?;
        is("an executable", linked.binary_type()?, CL_PROGRAM_BINARY_TYPE_EXECUTABLE)?;
        linked.run(c"k", 42)?;
        linked.run(c"two", 16)?;
    }
    Ok(())
}

fn link_libraries() -> Outcome {
    let (uses, defines) = (compiled(USES, "")?, compiled(DEFINES, "-cl-mad-enable")?);
    let library =
        Linked::new(c"-create-library -enable-link-options", &[defines.get()]).map_err(text("library"))?;
    is("a library", library.binary_type()?, CL_PROGRAM_BINARY_TYPE_LIBRARY)?;
    let again = Linked::new(c"-create-library", &[library.0]).map_err(text("library of a library"))?;
    let linked = Linked::new(c"", &[uses.get(), again.0]).map_err(text("link"))?;
    linked.run(c"k", 42)
}

fn refused(options: &CStr, inputs: &[cl_program], expected: i32) -> Outcome {
    match Linked::new(options, inputs) {
        Err(ClError(code)) if code == expected => Ok(()),
        Err(other) => Err(format!("{options:?}: {other}, expected {}", ClError(expected))),
        Ok(_) => Err(format!("{options:?} was linked, expected {}", ClError(expected))),
    }
}

fn link_faults() -> Outcome {
    let gpu = Gpu::get()?;
    let (uses, defines) = (compiled(USES, "")?, compiled(DEFINES, "")?);
    refused(c"", &[uses.get()], CL_LINK_PROGRAM_FAILURE)?;
    refused(c"", &[uses.get(), defines.get(), defines.get()], CL_LINK_PROGRAM_FAILURE)?;
    let both = [uses.get(), defines.get()];
    refused(c"-enable-link-options", &both, CL_INVALID_LINKER_OPTIONS)?;
    refused(c"-DX=1", &both, CL_INVALID_LINKER_OPTIONS)?;
    let raw = Program::create_from_source(&gpu.context, USES).map_err(text("create"))?;
    refused(c"", &[raw.get()], CL_INVALID_OPERATION)?;
    let built = gpu.build_source("kernel void k(global int *p) { p[0] = 1; }", "")?;
    refused(c"", &[built.program().get()], CL_INVALID_OPERATION)
}

/// Objects that went through `CL_PROGRAM_BINARIES` are linked, and built alone.
fn link_binaries() -> Outcome {
    let gpu = Gpu::get()?;
    let again = |program: &Program| -> Result<Program, String> {
        let binary = program.get_binaries().map_err(text("binaries"))?.swap_remove(0);
        // SAFETY: the binary is what the driver gave.
        unsafe { Program::create_from_binary(&gpu.context, &[gpu.device.id()], &[binary.as_slice()]) }
            .map_err(text("clCreateProgramWithBinary"))
    };
    let (uses, defines) = (again(&compiled(USES, "")?)?, again(&compiled(DEFINES, "")?)?);
    is("an object", binary_type(uses.get())?, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT)?;
    Linked::new(c"", &[uses.get(), defines.get()]).map_err(text("link"))?.run(c"k", 42)?;
    let mut alone = again(&compiled("kernel void k(global int *p) { p[0] = 7; }", "")?)?;
    alone.build(&[gpu.device.id()], "").map_err(text("build"))?;
    is("built", binary_type(alone.get())?, CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
}

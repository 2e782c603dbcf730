//! Programs of SPIR-V: creation, queries, specialization constants, builds and links.

pub mod module;
mod sampled;

use std::ffi::{CStr, c_char};

use gencl_utest::{Case, Gpu, Launch, Need, Outcome};
use opencl_sys::{
    CL_DEVICE_SPIRV_CAPABILITIES, CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS, CL_DEVICE_SPIRV_EXTENSIONS,
    cl_int, cl_name_version,
};
use opencl3::error_codes::{
    CL_BUILD_PROGRAM_FAILURE, CL_INVALID_PROGRAM, CL_INVALID_SPEC_ID, CL_INVALID_VALUE, ClError,
};
use opencl3::kernel::Kernel;
use opencl3::program::{CL_PROGRAM_IL, Program, create_program_with_il, get_program_data, release_program};
use rspirv::spirv::Capability;

use crate::builds::{Folder, builds_only, child, no_compiler_was_started};
use crate::child::act;
use crate::memory::same;
use crate::programs::{Linked, compiled};
use module::{FACTOR, OFFSET, SHIFTED, Side, scale, scaled, twice};

pub fn cases() -> Vec<Case> {
    let own = |name: &'static str, run: fn() -> Outcome| Case::of_gencl("its own compiler", name, run);
    let cases = vec![
        Case::of_gencl("others have other versions", "il_versions", versions),
        Case::new("il_queries", queries),
        Case::new("il_capabilities", capabilities).needing(Need::Extension("cl_khr_spirv_queries")),
        Case::of_gencl("Intel's compiler ends the process", "il_byte_orders", byte_orders),
        Case::new("il_specialization", specialization),
        Case::of_gencl("others report other codes", "il_specialization_refused", specialization_refused),
        Case::new("il_link", link),
        Case::new("il_link_once", link_once).needing(Need::Extension("cl_khr_spirv_linkonce_odr")),
        Case::new("il_binary", binary),
        Case::new("il_constant_samplers", sampled::constant_samplers).needing(Need::Images),
        Case::new("il_image_channels", sampled::channels).needing(Need::Images),
        Case::of_gencl("others have attributes of binaries, too", "il_attributes", attributes),
        Case::of_gencl("others report other codes", "il_damaged", damaged),
        Case::of_gencl("others may lack SPV_EXT_shader_atomic_float_*", "il_float_atomics", float_atomics),
        Case::new("il_turns", turns),
        own("il_not_supported", not_supported),
        own("il_cache", cache),
    ];
    gencl_utest::all_needing(Need::Extension("cl_khr_il_program"), cases)
}

fn text(what: &str) -> impl Fn(ClError) -> String + '_ {
    move |error| format!("{what}: {error}")
}

/// Bits of the device's pointers.
fn bits() -> Result<u32, String> {
    Gpu::get()?.device.address_bits().map_err(text("CL_DEVICE_ADDRESS_BITS"))
}

/// A program of a module, not built.
pub fn from_il(module: &[u8]) -> Result<Program, String> {
    Program::create_from_il(&Gpu::get()?.context, module).map_err(text("clCreateProgramWithIL"))
}

/// Builds a program; the error has its log.
pub fn build(program: &mut Program) -> Outcome {
    let device = Gpu::get()?.device.id();
    let built = program.build(&[device], "");
    built.map_err(|error| format!("{error}: {}", program.get_build_log(device).unwrap_or_default()))
}

/// Runs the kernel `scale`, and compares with constants of these values.
fn runs(program: &Program, factor: i32, shifted: bool, offset: i64) -> Outcome {
    let gpu = Gpu::get()?;
    let values: Vec<i64> = (0..64).map(|i| i * i - 100).collect();
    let buffer = gpu.buffer(&values)?;
    let kernel = Kernel::create(program, "scale").map_err(text("clCreateKernel"))?;
    gencl_utest::run(&kernel, &[buffer.arg()], &Launch::linear(64, 16))?;
    let expected: Vec<i64> = values.iter().map(|value| scaled(*value, factor, shifted, offset)).collect();
    same(&buffer.read()?, &expected)
}

/// The kernel of [`module::image_blocks`].
pub fn image_blocks(bytes: usize, count: usize, media: Option<[usize; 2]>) -> Result<Kernel, String> {
    let mut program = from_il(&module::image_blocks(bits()?, bytes, count, media))?;
    build(&mut program)?;
    Kernel::create(&program, "blocks").map_err(text("clCreateKernel"))
}

/// The kernel of [`module::count_sub_groups`].
pub fn count_sub_groups() -> Result<Kernel, String> {
    let mut program = from_il(&module::count_sub_groups(bits()?))?;
    build(&mut program)?;
    Kernel::create(&program, "k").map_err(text("clCreateKernel"))
}

/// Sums, minima and maxima of floats, without an order.
fn float_atomics() -> Outcome {
    let mut program = from_il(&module::float_atomics(bits()?))?;
    build(&mut program)?;
    let kernel = Kernel::create(&program, "float_atomics").map_err(text("clCreateKernel"))?;
    let gpu = Gpu::get()?;
    let values: Vec<f32> = (0..256).map(|i| ((i * 37) % 256 - 100) as f32).collect();
    let (out, input) = (gpu.buffer(&[0.5f32, 1000.0, -1000.0])?, gpu.buffer(&values)?);
    gencl_utest::run(&kernel, &[out.arg(), input.arg()], &Launch::linear(256, 64))?;
    same(&out.read()?, &[values.iter().sum::<f32>() + 0.5, -100.0, 155.0])
}

/// A thread of a work-group waits for another one by atomic loads.
fn turns() -> Outcome {
    let mut program = from_il(&module::turns(bits()?))?;
    build(&mut program)?;
    let kernel = Kernel::create(&program, "turns").map_err(text("clCreateKernel"))?;
    let buffer = Gpu::get()?.buffer(&[0_u32])?;
    gencl_utest::run(&kernel, &[buffer.arg()], &Launch::linear(64, 64))?;
    same(&buffer.read()?, &[7_u32])
}

/// Versions are listed as text and as numbers, the newest first, among them 1.0 to 1.4.
fn versions() -> Outcome {
    let device = &Gpu::get()?.device;
    let names = device.il_version().map_err(text("CL_DEVICE_IL_VERSION"))?;
    let list = device.ils_with_version().map_err(text("CL_DEVICE_ILS_WITH_VERSION"))?;
    let written = |il: &cl_name_version| {
        let name: String =
            il.name.iter().take_while(|byte| **byte != 0).map(|byte| char::from(*byte)).collect();
        format!("{name}_{}.{}", il.version >> 22, il.version >> 12 & 0x3ff)
    };
    let list: Vec<_> = list.iter().map(written).collect();
    same(&names.split(' ').collect::<Vec<_>>(), &list.iter().map(String::as_str).collect::<Vec<_>>())?;
    let missing: Vec<_> =
        (0..=4).map(|minor| format!("SPIR-V_1.{minor}")).filter(|name| !list.contains(name)).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("{missing:?} are not in {names}")) }
}

/// The module can be asked for, and there is no source; a program of source has no module.
fn queries() -> Outcome {
    let module = scale(bits()?, &[]);
    let mut program = from_il(&module)?;
    let il = |program: &Program| {
        get_program_data(program.get(), CL_PROGRAM_IL).map_err(|code| text("CL_PROGRAM_IL")(ClError(code)))
    };
    same(&il(&program)?, &module)?;
    same(&program.get_source().map_err(text("CL_PROGRAM_SOURCE"))?.into_bytes(), b"")?;
    build(&mut program)?;
    same(&il(&program)?, &module)?;
    same(&[program.kernel_names()], &["scale"])?;
    let source = compiled("kernel void k(global int *p) { p[0] = 1; }", "")?;
    same(&il(&source)?, b"")
}

/// The device lists the capabilities of its features, and no others; what OpenCL C's functions need is a set that it
/// knows.
fn capabilities() -> Outcome {
    let device = &Gpu::get()?.device;
    let get = |query| device.get_data(query).map_err(text("clGetDeviceInfo"));
    let numbers = get(CL_DEVICE_SPIRV_CAPABILITIES)?;
    let numbers: Vec<u32> = numbers
        .chunks(4)
        .map(|word| word.iter().rev().fold(0, |n, byte| n << 8 | u32::from(*byte)))
        .collect();
    let extensions = device.extensions().map_err(text("CL_DEVICE_EXTENSIONS"))?;
    let has = |name: &str| extensions.split(' ').any(|other| other == name);
    let generic = Need::Feature("__opencl_c_generic_address_space").is_there(Gpu::get()?);
    for (capability, expected) in [
        (Capability::Kernel, true),
        (Capability::Vector16, true),
        (Capability::Float64, has("cl_khr_fp64")),
        (Capability::Float16, has("cl_khr_fp16")),
        (Capability::Int64Atomics, has("cl_khr_int64_base_atomics")),
        (Capability::GenericPointer, generic),
        (Capability::Pipes, false),
        (Capability::DeviceEnqueue, false),
    ] {
        if numbers.contains(&(capability as u32)) != expected {
            return Err(format!("{capability:?}: {}, expected {expected}", !expected));
        }
    }
    let names = |query| -> Result<Vec<String>, String> {
        let words = get(query)?;
        let addresses = words
            .chunks(size_of::<usize>())
            .map(|bytes| bytes.iter().rev().fold(0, |n, byte| n << 8 | usize::from(*byte)));
        // SAFETY: the query gives pointers to text that stays as long as the device.
        Ok(addresses
            .map(|address| unsafe { CStr::from_ptr(address as *const c_char) }.to_string_lossy().into_owned())
            .collect())
    };
    let sets = names(CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS)?;
    if !sets.iter().any(|set| set == "OpenCL.std") {
        return Err(format!("OpenCL.std is not in {sets:?}"));
    }
    match names(CL_DEVICE_SPIRV_EXTENSIONS)?.iter().find(|name| !name.starts_with("SPV_")) {
        Some(other) => Err(format!("{other} is no extension of SPIR-V")),
        None => Ok(()),
    }
}

fn byte_orders() -> Outcome {
    let module = scale(bits()?, &[]);
    let swapped: Vec<u8> = module.chunks(4).flat_map(|word| word.iter().rev()).copied().collect();
    for bytes in [module, swapped] {
        let mut program = from_il(&bytes)?;
        build(&mut program)?;
        runs(&program, FACTOR.1, SHIFTED.1, OFFSET.1)?;
    }
    Ok(())
}

/// Sets a specialization constant to the bytes of a value.
fn specialize(program: &Program, id: u32, bytes: &[u8]) -> Result<(), cl_int> {
    // SAFETY: as many bytes as are said to be there.
    unsafe {
        opencl3::program::set_program_specialization_constant(
            program.get(),
            id,
            bytes.len(),
            bytes.as_ptr().cast(),
        )
    }
}

/// Values hold from the next build on, the last one counts, and constants that are not set keep their defaults.
fn specialization() -> Outcome {
    let mut program = from_il(&scale(bits()?, &[]))?;
    let set = |program: &Program, id, bytes: &[u8]| {
        specialize(program, id, bytes).map_err(|code| format!("constant {id}: {}", ClError(code)))
    };
    build(&mut program)?;
    runs(&program, FACTOR.1, SHIFTED.1, OFFSET.1)?;
    set(&program, FACTOR.0, &5i32.to_le_bytes())?;
    set(&program, FACTOR.0, &(-9i32).to_le_bytes())?;
    runs(&program, FACTOR.1, SHIFTED.1, OFFSET.1)?;
    build(&mut program)?;
    runs(&program, -9, SHIFTED.1, OFFSET.1)?;
    set(&program, SHIFTED.0, &[1])?;
    build(&mut program)?;
    runs(&program, -9, true, OFFSET.1)?;
    set(&program, OFFSET.0, &i64::MIN.to_le_bytes())?;
    build(&mut program)?;
    runs(&program, -9, true, i64::MIN)
}

fn specialization_refused() -> Outcome {
    let program = from_il(&scale(bits()?, &[]))?;
    let source = compiled("kernel void k(global int *p) { p[0] = 1; }", "")?;
    let refused = |what: &str, result: Result<(), cl_int>, expected: cl_int| match result {
        Err(code) if code == expected => Ok(()),
        other => Err(format!("{what}: {other:?}, expected {}", ClError(expected))),
    };
    refused("a long for an int", specialize(&program, FACTOR.0, &[0; 8]), CL_INVALID_VALUE)?;
    refused("an int for a bool", specialize(&program, SHIFTED.0, &[0; 4]), CL_INVALID_VALUE)?;
    refused("no bytes", specialize(&program, OFFSET.0, &[]), CL_INVALID_VALUE)?;
    // SAFETY: nothing is read behind null.
    let null = unsafe {
        opencl3::program::set_program_specialization_constant(program.get(), FACTOR.0, 4, std::ptr::null())
    };
    refused("null", null, CL_INVALID_VALUE)?;
    refused("no such constant", specialize(&program, 8, &[0; 4]), CL_INVALID_SPEC_ID)?;
    refused("a source", specialize(&source, FACTOR.0, &[0; 4]), CL_INVALID_PROGRAM)
}

fn compiled_il(side: &Side) -> Result<Program, String> {
    let device = Gpu::get()?.device.id();
    let mut program = from_il(&twice(bits()?, side))?;
    let result = program.compile(&[device], "", &[], &[]);
    result.map_err(|error| format!("{error}: {}", program.get_build_log(device).unwrap_or_default()))?;
    Ok(program)
}

/// Modules are linked with modules and with OpenCL C, whichever of them has the function.
fn link() -> Outcome {
    let (imports, exports) = (compiled_il(&Side::Imports)?, compiled_il(&Side::Exports)?);
    let uses = compiled("int twice(int); kernel void k(global int *p) { p[0] = twice(21); }", "")?;
    let defines = compiled("int twice(int x) { return 2 * x; }", "")?;
    for inputs in [[&imports, &exports], [&exports, &imports], [&imports, &defines], [&uses, &exports]] {
        let linked = Linked::new(c"", &inputs.map(Program::get)).map_err(text("clLinkProgram"))?;
        linked.run(c"k", 42)?;
    }
    Ok(())
}

/// A function that modules have once at most is there for others, though its own module does not use it, and may be
/// there twice.
fn link_once() -> Outcome {
    let (imports, once) = (compiled_il(&Side::Imports)?, compiled_il(&Side::Once)?);
    let again = compiled_il(&Side::Once)?;
    for inputs in [&[&imports, &once][..], &[&once, &imports], &[&once, &imports, &again]] {
        let inputs: Vec<_> = inputs.iter().map(|program| program.get()).collect();
        Linked::new(c"", &inputs).map_err(text("clLinkProgram"))?.run(c"k", 42)?;
    }
    Ok(())
}

/// The binary of a program is as any other's.
fn binary() -> Outcome {
    let gpu = Gpu::get()?;
    let mut program = from_il(&scale(bits()?, &[]))?;
    build(&mut program)?;
    let binary = program.get_binaries().map_err(text("CL_PROGRAM_BINARIES"))?.swap_remove(0);
    // SAFETY: the binary is what the driver gave.
    let again =
        unsafe { Program::create_from_binary(&gpu.context, &[gpu.device.id()], &[binary.as_slice()]) };
    let mut again = again.map_err(text("clCreateProgramWithBinary"))?;
    build(&mut again)?;
    runs(&again, FACTOR.1, SHIFTED.1, OFFSET.1)
}

/// A kernel has attributes when its program is made from OpenCL C only. What they say holds for all.
fn attributes() -> Outcome {
    let (gpu, size) = (Gpu::get()?, [16usize, 1, 1]);
    let source =
        "kernel __attribute__((reqd_work_group_size(16, 1, 1))) void scale(global long *p) { p[0] = 1; }";
    let mut il = from_il(&scale(bits()?, &[]))?;
    build(&mut il)?;
    let source = gpu.build_unchecked(source, "")?;
    let binary = source.program().get_binaries().map_err(text("CL_PROGRAM_BINARIES"))?.swap_remove(0);
    // SAFETY: the binary is what the driver gave.
    let binary =
        unsafe { Program::create_from_binary(&gpu.context, &[gpu.device.id()], &[binary.as_slice()]) };
    let mut binary = binary.map_err(text("clCreateProgramWithBinary"))?;
    build(&mut binary)?;
    for (program, expected) in [(source.program(), "reqd_work_group_size(16,1,1)"), (&il, ""), (&binary, "")]
    {
        let kernel = opencl3::kernel::Kernel::create(program, "scale").map_err(text("clCreateKernel"))?;
        let found = kernel.attributes().map_err(text("CL_KERNEL_ATTRIBUTES"))?;
        if found != expected {
            return Err(format!("attributes {found:?}, expected {expected:?}"));
        }
        let compiled = kernel.get_compile_work_group_size(gpu.device.id());
        same(&compiled.map_err(text("CL_KERNEL_COMPILE_WORK_GROUP_SIZE"))?, &size)?;
    }
    Ok(())
}

/// What is no module is refused at once.
fn damaged() -> Outcome {
    let gpu = Gpu::get()?;
    let module = scale(bits()?, &[]);
    let without_magic: Vec<u8> = [&[0; 4], &module[4..]].concat();
    let of_version_9: Vec<u8> = [&module[..4], &[0, 0, 9, 0], &module[8..]].concat();
    // The last three instructions have five words: the first of them is cut.
    let cut = &module[..module.len() - 12];
    let cases = [
        &[][..],
        &module[..4],
        &module[..19],
        &module[..module.len() - 3],
        cut,
        &without_magic,
        &of_version_9,
    ];
    for bytes in cases {
        match create_program_with_il(gpu.context.get(), bytes) {
            Err(CL_INVALID_VALUE) => {}
            Err(code) => return Err(format!("{} bytes: {}", bytes.len(), ClError(code))),
            Ok(program) => {
                // SAFETY: the program is ours.
                let _ = unsafe { release_program(program) };
                return Err(format!("{} bytes are taken", bytes.len()));
            }
        }
    }
    Ok(())
}

/// What the device cannot do fails the build, and the log says what.
fn not_supported() -> Outcome {
    let gpu = Gpu::get()?;
    let bits = bits()?;
    for (module, expected) in [
        (scale(bits, &[Capability::Pipes]), "capability Pipes is not supported"),
        (scale(96 - bits, &[]), "those of the device"),
    ] {
        let mut program = from_il(&module)?;
        match program.build(&[gpu.device.id()], "") {
            Err(ClError(CL_BUILD_PROGRAM_FAILURE)) => {}
            other => return Err(format!("{other:?}, not CL_BUILD_PROGRAM_FAILURE")),
        }
        let log = program.get_build_log(gpu.device.id()).map_err(text("CL_PROGRAM_BUILD_LOG"))?;
        if !log.contains(expected) {
            return Err(format!("the log does not say that {expected}: {log}"));
        }
    }
    Ok(())
}

/// A second process finds what the first has built, which depends on specialization constants.
fn cache() -> Outcome {
    let factors = |count: i32| {
        (0..count).try_for_each(|factor| {
            let mut program = from_il(&scale(bits()?, &[]))?;
            specialize(&program, FACTOR.0, &factor.to_le_bytes())
                .map_err(|code| ClError(code).to_string())?;
            build(&mut program)?;
            runs(&program, factor, SHIFTED.1, OFFSET.1)
        })
    };
    match act().as_deref() {
        Some("fill") => return factors(3),
        Some("use") => return factors(3).and_then(|()| no_compiler_was_started()),
        _ => {}
    }
    let folder = Folder::new("il-cache")?;
    let variables = builds_only(&folder)?;
    child("il_cache", "fill", &variables)?;
    child("il_cache", "use", &variables).map(drop)
}

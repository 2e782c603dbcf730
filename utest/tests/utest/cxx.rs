//! C++ for OpenCL (`cl_ext_cxx_for_opencl`): the language, its version, and objects that are constructed at run time.

use gencl_utest::raw::api;
use gencl_utest::{Case, Gpu, Launch, Need, Outcome};
use opencl_sys::CL_DEVICE_CXX_FOR_OPENCL_NUMERIC_VERSION_EXT;
use opencl3::program::Program;

use crate::information::{ask, number};
use crate::memory::same;
use crate::programs::{Linked, compiled};

/// Options, and `__OPENCL_CPP_VERSION__`.
const LANGUAGES: [(&str, i32); 3] =
    [("-cl-std=CLC++", 100), ("-cl-std=CLC++1.0", 100), ("-cl-std=CLC++2021", 202_100)];

pub fn cases() -> Vec<Case> {
    let cases = vec![
        Case::new("cxx_language", language),
        Case::new("cxx_version", version),
        Case::of_gencl("others want the application to initialize", "cxx_initialized_once", once),
        Case::of_gencl("others want the application to initialize", "cxx_initialized_linked", linked),
        Case::of_gencl("others want the application to initialize", "cxx_initialized_binary", binary),
    ];
    let mut cases = gencl_utest::all_needing(Need::Extension("cl_ext_cxx_for_opencl"), cases);
    // Without generic pointers, this is all that there is of it.
    cases.push(Case::of_gencl("others have no C++", "cxx_named_spaces", named_spaces));
    cases
}

const LOCAL: usize = 16;
const ITEMS: usize = 64;

/// What `place.size` is constructed with: one work-item in one group.
const SIZE: i32 = 11;

fn expected(version: i32) -> Vec<i32> {
    let of_item = |i: i32| {
        let sum = i + 1 + (2 + i) * i + 4;
        let group = i / LOCAL as i32;
        // 27 takes 111 steps.
        let (known, place) = (27_000 + 111, SIZE + 100 * 112);
        let first = [sum, 2 * i + 4, i.max(5) + 5, 6 * i + 4 * sum, 721, i + 7];
        first.into_iter().chain([known, place, 120 + 6, 2 * group, 42, 7 + version])
    };
    (0..ITEMS as i32).flat_map(of_item).collect()
}

fn language() -> Outcome {
    let gpu = Gpu::get()?;
    for (options, version) in LANGUAGES {
        let output = gpu.buffer(&vec![0i32; 12 * ITEMS])?;
        let program = gpu.build_with("cxx", None, options)?;
        program.run("cxx", &[output.arg()], &Launch::linear(ITEMS, LOCAL))?;
        same(&output.read()?, &expected(version)).map_err(|error| format!("{options}: {error}"))?;
    }
    Ok(())
}

/// The version is that of `-cl-std=CLC++`; the macro of OpenCL C and one of the extension's name are not there.
fn version() -> Outcome {
    let gpu = Gpu::get()?;
    let device = ask!(clGetDeviceInfo, gpu.device.id());
    let version = number(&device, CL_DEVICE_CXX_FOR_OPENCL_NUMERIC_VERSION_EXT)?;
    let source = "#if defined(__OPENCL_C_VERSION__) || defined(cl_ext_cxx_for_opencl)
        #error a macro of another language
        #endif
        kernel void k(global int *p) {
            p[0] = __OPENCL_CPP_VERSION__; p[1] = __CL_CPP_VERSION_1_0__; p[2] = __CL_CPP_VERSION_2021__; }";
    for (options, expected) in LANGUAGES {
        let output = gpu.buffer(&[0i32; 3])?;
        gpu.build_unchecked(source, options)?.run("k", &[output.arg()], &Launch::linear(1, 1))?;
        same(&output.read()?, &[expected, 100, 202_100])?;
    }
    let (major, minor) = (version >> 22, version >> 12 & 0x3ff);
    if 100 * major + 10 * minor == 100 { Ok(()) } else { Err(format!("version {version:#x}")) }
}

/// The values of `place.size` in two launches, whoever is first.
fn twice(run: impl Fn(&[gencl_utest::Arg]) -> Outcome) -> Outcome {
    for expected in [SIZE, SIZE + 1] {
        let output = Gpu::get()?.buffer(&[0i32])?;
        run(&[output.arg()])?;
        same(&output.read()?, &[expected])?;
    }
    Ok(())
}

/// Objects are constructed once, before the first launch, by nothing that the application sees.
fn once() -> Outcome {
    let program = Gpu::get()?.build_with("cxx", None, "-cl-std=CLC++")?;
    let names = program.program().kernel_names();
    if names != "cxx;again" {
        return Err(format!("kernels: {names}"));
    }
    twice(|arguments| program.run("again", arguments, &Launch::linear(1, 1)))
}

/// Those of each source of a program, compiled alone.
fn linked() -> Outcome {
    let source = |name: &str, add: usize| {
        format!(
            "struct S {{ int a; S(int x) : a(get_global_size(0) + x) {{}} }};
            static __global S object({add});
            kernel void {name}(global int *p) {{ p[0] = object.a; }}"
        )
    };
    let first = compiled(&source("first", 10), "-cl-std=CLC++")?;
    let second = compiled(&source("second", 20), "-cl-std=CLC++")?;
    let program = Linked::new(c"", &[first.get(), second.get()]);
    let program = program.map_err(|error| format!("link: {error}"))?;
    program.run(c"first", 1 + 10)?;
    program.run(c"second", 1 + 20)
}

fn binary() -> Outcome {
    let gpu = Gpu::get()?;
    let built = gpu.build_with("cxx", None, "-cl-std=CLC++")?;
    let binaries = built.program().get_binaries().map_err(|error| error.to_string())?;
    let devices = [gpu.device.id()];
    // SAFETY: the binary is what the driver gave.
    let program = unsafe { Program::create_from_binary(&gpu.context, &devices, &[binaries[0].as_slice()]) };
    let mut program = program.map_err(|error| error.to_string())?;
    program.build(&devices, "").map_err(|error| error.to_string())?;
    let kernel = opencl3::kernel::Kernel::create(&program, "again").map_err(|error| error.to_string())?;
    twice(|arguments| gencl_utest::run(&kernel, arguments, &Launch::linear(1, 1)))
}

/// C++ for OpenCL 2021 on every device.
fn named_spaces() -> Outcome {
    let gpu = Gpu::get()?;
    let source = "template <typename T> struct Pair { T a, b; T sum() const { return a + b; } };
        template <typename T> T most(T a, T b) { return a > b ? a : b; }
        __global int start = 3;
        kernel void k(global int *p) {
            int i = get_global_id(0);
            Pair<int> pair{i, start};
            auto more = [=](int x) { return x + i; };
            p[i] = most(pair.sum(), 10) + more(100);
        }";
    let output = gpu.buffer(&[0i32; 32])?;
    let program = gpu.build_source(source, "-cl-std=CLC++2021")?;
    program.run("k", &[output.arg()], &Launch::linear(32, 16))?;
    same(&output.read()?, &(0..32).map(|i| (i + 3).max(10) + 100 + i).collect::<Vec<_>>())
}

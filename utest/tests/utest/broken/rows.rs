//! The table of what is broken.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::Row;
use super::Run::{self, Diagnosis, Fails, Tool, Works};

/// Nothing is changed.
const NOTHING: Row =
    Row { name: "", variables: &[], change: |_| Ok(()), source: "", options: "", run: Works, line: &[] };

/// `clGetDeviceIDs` fails with `CL_DEVICE_NOT_FOUND`.
const NO_DEVICE: Run = Fails("clGetDeviceIDs", -1);

/// `clBuildProgram` fails with `CL_COMPILER_NOT_AVAILABLE`, `CL_BUILD_PROGRAM_FAILURE`, `CL_INVALID_BUILD_OPTIONS`.
const NO_COMPILER: Run = Fails("clBuildProgram", -3);
const NO_BUILD: Run = Fails("clBuildProgram", -11);
const NO_OPTIONS: Run = Fails("clBuildProgram", -43);

/// A variable with one value.
const fn set(
    name: &'static str,
    variable: &'static [(&str, &str)],
    run: Run,
    line: &'static [&'static str],
) -> Row {
    Row { name, variables: variable, run, line, ..NOTHING }
}

/// Options of the build.
const fn options(name: &'static str, options: &'static str, line: &'static [&'static str]) -> Row {
    Row { name, options, run: NO_OPTIONS, line, ..NOTHING }
}

/// A kernel.
const fn kernel(name: &'static str, source: &'static str, run: Run, line: &'static [&'static str]) -> Row {
    Row { name, source, run, line, ..NOTHING }
}

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    // Devices.
    set("device_unknown", &[("GENCL_DEVICE", "foo")], NO_DEVICE, &["no device is found: GENCL_DEVICE=foo", "it takes sim:NAME"]),
    set("device_without_sim", &[("GENCL_DEVICE", "skl")], NO_DEVICE, &["no device is found", "did you mean sim:skl?"]),
    set("device_misspelt", &[("GENCL_DEVICE", "sim:slk")], NO_DEVICE, &["no device is found", "ivb, byt, hsw, bdw, chv, skl"]),
    set("device_empty_list", &[("GENCL_DEVICE", ",")], NO_DEVICE, &["GENCL_DEVICE=, names no device", "it takes sim:NAME"]),
    set("device_other_file", &[("GENCL_DEVICE", "/dev/null")], NO_DEVICE, &["GENCL_DEVICE=/dev/null", "it is no GPU's device file"]),
    set("device_missing_file", &[("GENCL_DEVICE", "/dev/dri/renderD999")], NO_DEVICE, &["renderD999: there is no such file", "render nodes"]),
    set("device_one_of_two", &[("GENCL_DEVICE", "sim:skl,sim:tgl")], Works, &["GENCL_DEVICE=sim:tgl is not used", "skl"]),
    set("device_type", &[("GENCL_DEVICE_TYPE", "tpu")], Works, &["GENCL_DEVICE_TYPE=tpu is ignored", "cpu or gpu"]),
    set("engine", &[("GENCL_ENGINE", "fast")], Works, &["GENCL_ENGINE=fast is ignored", "auto, translate or interpret"]),
    set("hang_limit_word", &[("GENCL_HANG_LIMIT", "never")], Works, &["GENCL_HANG_LIMIT=never is ignored", "a number of seconds"]),
    set("hang_limit_negative", &[("GENCL_HANG_LIMIT", "-1")], Works, &["GENCL_HANG_LIMIT=-1 is ignored", "0 or more"]),
    // Numbers, options, names.
    set("build_timeout_word", &[("GENCL_BUILD_TIMEOUT", "soon")], Works, &["GENCL_BUILD_TIMEOUT=soon is ignored", "seconds, 1 or more"]),
    set("build_timeout_zero", &[("GENCL_BUILD_TIMEOUT", "0")], Works, &["GENCL_BUILD_TIMEOUT=0 is ignored", "seconds, 1 or more"]),
    set("build_memory_word", &[("GENCL_BUILD_MEMORY", "4G")], Works, &["GENCL_BUILD_MEMORY=4G is ignored", "MiB, 1 or more"]),
    set("cache_size_word", &[("GENCL_CACHE_SIZE", "lots"), ("GENCL_CACHE", "{}/cache")], Works, &["GENCL_CACHE_SIZE=lots is ignored", "MiB"]),
    set("debug_unknown", &[("GENCL_DEBUG", "irr")], Works, &["GENCL_DEBUG: irr is ignored", "ir-passes", "genclc --help"]),
    set("debug_value", &[("GENCL_DEBUG", "simd=7")], Works, &["GENCL_DEBUG: simd=7 is ignored", "simd=8|16|32"]),
    set("debug_level", &[("GENCL_DEBUG", "log=loud")], Works, &["GENCL_DEBUG: log=loud is ignored", "log=error|warn|info|debug|trace"]),
    set("debug_without_value", &[("GENCL_DEBUG", "simd")], Works, &["GENCL_DEBUG: simd is ignored", "simd=8|16|32"]),
    set("variable_misspelt", &[("GENCL_DEVCE", "sim:hsw")], Works, &["GENCL_DEVCE is ignored", "did you mean GENCL_DEVICE?"]),
    set("variable_misspelt_size", &[("GENCL_CACHESIZE", "1")], Works, &["GENCL_CACHESIZE is ignored", "did you mean GENCL_CACHE_SIZE?"]),
    set("profile_folder", &[("GENCL_DEBUG", "profile=/proc/none")], Works, &["no profile is written", "/proc/none"]),
    // The cache.
    set("cache_nowhere", &[("GENCL_CACHE", "/proc/none")], Works, &["kernels are not kept", "/proc/none", "GENCL_CACHE=FOLDER"]),
    Row { change: |i| i.write("file", ""), ..set("cache_is_file", &[("GENCL_CACHE", "{}/file")], Works, &["kernels are not kept", "/file", "GENCL_CACHE=FOLDER"]) },
    Row { change: |i| i.write("file", ""), ..set("cache_below_file", &[("GENCL_CACHE", "{}/file/cache")], Works, &["kernels are not kept", "/file/cache"]) },
    Row {
        change: |i| {
            fs::create_dir(i.at("cache"))?;
            fs::set_permissions(i.at("cache"), fs::Permissions::from_mode(0o777))
        },
        ..set("cache_of_all", &[("GENCL_CACHE", "{}/cache")], Works, &["the kernel cache", "/cache", "others may write to it"])
    },
    set("cache_at_home", &[("GENCL_CACHE", ""), ("HOME", "/proc/none")], Works, &["kernels are not kept", "/proc/none/.cache/gencl"]),
    // The compiler.
    set("compiler_missing", &[("GENCL_COMPILER", "/none/genclc")], NO_COMPILER, &["no program can be built", "GENCL_COMPILER=/none/genclc: there is no such file"]),
    set("compiler_is_folder", &[("GENCL_COMPILER", "{}")], NO_COMPILER, &["no program can be built", "there is no such file"]),
    set("compiler_other_program", &[("GENCL_COMPILER", "/bin/true")], NO_COMPILER, &["no program can be built: /bin/true has ended at once; is it gencl's compiler?"]),
    set("compiler_that_fails", &[("GENCL_COMPILER", "/bin/false")], NO_COMPILER, &["no program can be built: /bin/false", "status 1"]),
    Row {
        change: |i| {
            i.write("genclc", "")?;
            fs::set_permissions(i.at("genclc"), fs::Permissions::from_mode(0o644))
        },
        ..set("compiler_not_executable", &[("GENCL_COMPILER", "{}/genclc")], NO_COMPILER, &["no program can be built", "/genclc: Permission denied"])
    },
    Row { change: |i| fs::remove_file(i.at("bin/genclc")), ..set("compiler_not_installed", &[], NO_COMPILER, &["no program can be built", "genclc is not in", "/lib/gencl/genclc", "GENCL_COMPILER"]) },
    Row { change: |i| i.write("bin/genclc", "\x7fELF"), ..set("compiler_damaged", &[], NO_COMPILER, &["no program can be built", "/genclc: Exec format error"]) },
    set("compiler_too_slow", &[("GENCL_BUILD_TIMEOUT", "1"), ("GENCL_DEBUG", "stall=codegen")], NO_BUILD, &["the compiler was stopped after 1 s", "GENCL_BUILD_TIMEOUT"]),
    // Options.
    options("option_unknown", "-foo", &["unknown option -foo"]),
    options("option_misspelt", "-cl-fast-relaxed-mat", &["unknown option -cl-fast-relaxed-mat", "did you mean -cl-fast-relaxed-math?"]),
    options("option_standard", "-cl-std=CL4.0", &["-cl-std=CL4.0", "CL1.0, CL1.1, CL1.2, ", "CL3.0"]),
    options("option_without_value", "-D", &["option -D needs a value"]),
    options("option_language", "-x c++", &["-x c++", "OpenCL C"]),
    options("option_quote", "-DA='x", &["a quotation mark is not closed"]),
    // Kernels.
    kernel("private_memory", "kernel void k(global int *p) { int a[3000000]; for (int i = 0; i < 3000000; i++) a[i] = p[i & 63]; p[0] = a[p[1]]; }", NO_BUILD, &["<source>:1: error: kernel k: private memory per work-item: 12,000,000 bytes asked, 262,144 is the most"]),
    kernel("local_memory", "kernel void k(global int *p) { local int a[300000]; a[get_local_id(0)] = *p; barrier(1); *p = a[p[1]]; }", NO_BUILD, &["<source>:1: error: kernel k: local memory per work-group: 1,200,000 bytes asked, 65,536 is the most"]),
    Row { options: "-cl-std=CL3.0", ..kernel("device_enqueue", "kernel void k(global int *p) {\n  enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^{ p[0] = 1; });\n}", NO_BUILD, &["<source>:2:", "note: device-side enqueue is not supported (enqueue_kernel)"]) },
    kernel("pipe", "kernel void k(global int *p, read_only pipe int q) { p[0] = 1; }", NO_BUILD, &["<source>:1:", "note: pipes are not supported (pipe)"]),
    kernel("page_fault", "kernel void k(global int *p) { if (get_global_id(0) == 5) p[100000000] = 1; }", Fails("clFinish", -5), &["kernel k, line 1, work-item (5, 0, 0), 399999744 bytes behind argument 0 (p) of 256 bytes: page fault: write at 0x"]),
    kernel("page_fault_far", "kernel void k(global int *p) { if (get_global_id(0) == 5) p[1000000000] = 1; }", Fails("clFinish", -5), &["kernel k, line 1, work-item (5, 0, 0): page fault: write at 0x"]),
    kernel("page_fault_private", "kernel void k(global int *p) {\n  int a[64];\n  for (int i = 0; i < 64; i++) a[i] = p[i];\n  a[p[1] + 10000000] = 1;\n  p[0] = a[p[2]];\n}", Fails("clFinish", -5), &["kernel k, line 4, work-item (0, 0, 0), out of bounds of a private array: page fault: write at 0x"]),
    Row { options: "-g", ..kernel("page_fault_line", "kernel void k(global int *p) {\n  int i = get_global_id(0);\n  p[i + 100000000] = 1;\n}", Fails("clFinish", -5), &["kernel k, line 3, work-item (0, 0, 0)", "argument 0 (p)"]) },
    Row { variables: &[("GENCL_HANG_LIMIT", "0.2")], ..kernel("hang", "kernel void k(global volatile int *p) { while (*p == *p) p[1]++; }", Fails("clFinish", -5), &["kernel k", ": stopped after running too long", "GENCL_HANG_LIMIT"]) },
    // The installation, of which only the diagnosis can tell.
    Row { change: |i| fs::remove_file(i.at("vendors/gencl.icd")), ..set("icd_missing", &[], Diagnosis, &["no .icd file in", "OCL_ICD_VENDORS"]) },
    Row { change: |i| i.write("vendors/gencl.icd", "/none/libgencl.so\n"), ..set("icd_of_nothing", &[], Diagnosis, &["gencl.icd names /none/libgencl.so: there is no such file"]) },
    Row { change: |i| i.write("lib/gencl/libgencl.so", "no library"), ..set("library_damaged", &[], Diagnosis, &["gencl.icd names", "it cannot be loaded"]) },
    Row { change: |i| fs::remove_file(i.at("bin/genclc")), ..set("diagnosis_compiler", &[], Diagnosis, &["the compiler: the compiler genclc is not in"]) },
    set("diagnosis_variable", &[("GENCL_BUILD_MEMORY", "much")], Diagnosis, &["GENCL_BUILD_MEMORY=much", "a number of MiB, 1 or more"]),
    set("diagnosis_cache", &[("GENCL_CACHE", "/proc/none")], Diagnosis, &["the kernel cache /proc/none: it cannot be written", "GENCL_CACHE=FOLDER"]),
    set("tool_not_installed", &[], Tool("profile"), &["there is no gencl-profile in", "not installed"]),
    set("tool_misspelt", &[], Tool("profle"), &["there is no gencl-profle in", "did you mean profile?"]),
];

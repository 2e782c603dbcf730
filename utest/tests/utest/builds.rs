//! Builds that go wrong in the compiler itself, and those that the kernel cache saves. Both are for the
//! environment, so the cases run this program again.

use std::ffi::CStr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

use gencl_utest::{Arg, Case, Gpu, Launch, Need, Outcome};
use opencl3::error_codes::CL_INVALID_BUILD_OPTIONS;
use opencl3::program::{Program, build_program};
use opencl3::types::cl_int;

use crate::child::{self, act, is_child};
use crate::memory::same;

/// Set in the processes that build: build options.
const OPTIONS: &str = "GENCL_UTEST_OPTIONS";

pub fn cases() -> Vec<Case> {
    let own = |name: &'static str, run: fn() -> Outcome| Case::of_gencl("its own compiler", name, run);
    // The compiler is the same whatever executes its code.
    let slow = |name: &'static str, run: fn() -> Outcome| own(name, run).needing(Need::Simulator);
    vec![
        own("build_crash", crash),
        own("build_timeout", timeout),
        Case::of_gencl("Intel's driver looks in the working directory first", "build_include", include),
        own("build_include_bomb", include_bomb),
        slow("build_macro_bomb", macro_bomb),
        own("build_deep_expression", deep_expression),
        slow("build_long_expression", long_expression),
        own("build_large_source", large_source),
        own("build_invalid_utf8", invalid_utf8),
        own("build_cache", cache),
        // Buffers of the simulated node are files, too.
        own("build_small_files", small_files).needing(Need::Simulator),
        own("build_wait", wait),
        own("build_ignored_children", ignored_children),
    ]
}

/// Runs a case in a process of its own with some variables set.
pub fn child(name: &str, act: &str, variables: &[(&str, &str)]) -> Result<Output, String> {
    let output = child::run(name, act, variables)?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!(
        "{act}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    ))
}

const GOOD: &str = "kernel void good(global int *p) { p[get_global_id(0)] = 42; }";

pub fn run_good() -> Outcome {
    let gpu = Gpu::get()?;
    let out = gpu.buffer(&[0i32; 16])?;
    gpu.build_source(GOOD, "")?.run("good", &[out.arg()], &Launch::linear(16, 16))?;
    same(&out.read()?, &[42; 16])
}

const BAD: &str = "kernel void bad(global int *p) { p[0] = 1; }";

/// A build fails with a log that has these words; then another build works.
fn fails(source: &str, options: &str, words: &[&str]) -> Outcome {
    let log = match Gpu::get()?.build_source(source, options) {
        Err(log) => log,
        Ok(_) => return Err("it was built".into()),
    };
    match ["CL_BUILD_PROGRAM_FAILURE"].iter().chain(words).find(|word| !log.contains(**word)) {
        Some(word) => {
            Err(format!("the log does not say {word:?}: {}", log.chars().take(1000).collect::<String>()))
        }
        None => run_good(),
    }
}

fn crash() -> Outcome {
    match act() {
        Some(_) => fails(BAD, "", &["crashed", "codegen", "kernel bad"]),
        None => child("build_crash", "crash", &[("GENCL_DEBUG", "crash=codegen:bad")]).map(drop),
    }
}

fn timeout() -> Outcome {
    let variables = [("GENCL_DEBUG", "stall=codegen:bad"), ("GENCL_BUILD_TIMEOUT", "2")];
    match act() {
        Some(_) => fails(BAD, "", &["stopped after 2 s", "codegen", "kernel bad", "GENCL_BUILD_TIMEOUT"]),
        None => {
            let output = child("build_timeout", "stall", &variables)?;
            let told = String::from_utf8_lossy(&output.stderr);
            let words = "still being built after 1 s, in pass codegen of kernel bad";
            if told.contains(words) { Ok(()) } else { Err(format!("it did not say {words:?}: {told}")) }
        }
    }
}

/// Headers are found in the folders of the options, and then in the working directory.
fn include() -> Outcome {
    if act().is_none() {
        return child("build_include", "include", &[]).map(drop);
    }
    let (first, second) = (Folder::new("first")?, Folder::new("second")?);
    first.write("a.h", b"#define A 1\n")?;
    second.write("a.h", b"#define A 2\n")?;
    second.write("b.h", b"#define B 20\n")?;
    // The process has no other thread that could depend on it.
    std::env::set_current_dir(second.path()?).map_err(|error| error.to_string())?;
    let source = "#include \"a.h\"\n#include \"b.h\"\nkernel void sum(global int *p) { p[0] = A + B; }";
    for (options, expected) in [(format!("-I {}", first.path()?), 21), (String::new(), 22)] {
        let gpu = Gpu::get()?;
        let out = gpu.buffer(&[0i32; 1])?;
        gpu.build_source(source, &options)?.run("sum", &[out.arg()], &Launch::linear(1, 1))?;
        same(&out.read()?, &[expected])?;
    }
    Ok(())
}

/// Headers that include each other without end, and some that would end after 10^12 lines.
fn include_bomb() -> Outcome {
    if act().is_some() {
        let options = std::env::var(OPTIONS).map_err(|e| e.to_string())?;
        fails(&format!("#include \"endless.h\"\n{BAD}"), &options, &["endless.h", "nested too deeply"])?;
        return fails(&format!("#include \"0.h\"\n{BAD}"), &options, &["stopped after 2 s", "pass clang"]);
    }
    let folder = Folder::new("bomb")?;
    folder.write("endless.h", b"#include \"endless.h\"\n#include \"endless.h\"\n")?;
    for level in 0..12 {
        folder
            .write(&format!("{level}.h"), format!("#include \"{}.h\"\n", level + 1).repeat(10).as_bytes())?;
    }
    folder.write("12.h", b"\n")?;
    let options = format!("-I {}", folder.path()?);
    child("build_include_bomb", "include", &[("GENCL_BUILD_TIMEOUT", "2"), (OPTIONS, &options)]).map(drop)
}

/// Macros that would become 10^12 terms.
fn macro_bomb() -> Outcome {
    if act().is_none() {
        return child("build_macro_bomb", "expand", &[("GENCL_BUILD_MEMORY", "300")]).map(drop);
    }
    let mut source = "#define M0 1+1+1+1+1+1+1+1+1+1\n".to_owned();
    for level in 1..12 {
        let terms = vec![format!("M{}", level - 1); 10].join("+");
        source += &format!("#define M{level} {terms}\n");
    }
    source += "kernel void bomb(global int *p) { p[0] = M11; }";
    fails(&source, "", &["pass clang", "more than 300 MiB", "GENCL_BUILD_MEMORY"])
}

/// More operators around each other than the compiler's stack has room for.
fn deep_expression() -> Outcome {
    // With `GENCL_DEBUG` the compiler's messages would be on standard error, not in the log.
    if !is_child() {
        return child("build_deep_expression", "deep", &[]).map(drop);
    }
    let source = format!("kernel void deep(global int *p) {{ p[0] = {}p[1]; }}", "-~".repeat(100_000));
    fails(&source, "", &["crashed", "pass clang", "overflowed its stack"])
}

/// A sum of 100,000 terms, which is none of these faults.
fn long_expression() -> Outcome {
    const TERMS: usize = 100_000;
    let sum = vec!["a"; TERMS].join("+");
    let source = format!("kernel void long_sum(global int *p, int a) {{ p[0] = {sum}; }}");
    let gpu = Gpu::get()?;
    let out = gpu.buffer(&[0i32; 1])?;
    let arguments = [out.arg(), Arg::Bytes(&3i32.to_ne_bytes())];
    gpu.build_source(&source, "")?.run("long_sum", &arguments, &Launch::linear(1, 1))?;
    same(&out.read()?, &[3 * TERMS as i32])
}

/// Ten megabytes that clang does not understand, that nest too deeply, and that are right.
fn large_source() -> Outcome {
    const SIZE: usize = 10 << 20;
    let line = "x ) { \n";
    fails(&line.repeat(SIZE / line.len()), "", &["<source>:1:1: error:"])?;
    let (open, close) = ("(".repeat(SIZE / 2), ")".repeat(SIZE / 2));
    let deep = format!("kernel void deep(global int *p) {{ p[0] = {open}1{close}; }}");
    fails(&deep, "", &["<source>:1:", "nesting level"])?;
    Gpu::get()?.build_source(&format!("{}{GOOD}", "// A comment.\n".repeat(SIZE / 14)), "").map(drop)?;
    run_good()
}

/// What is no UTF-8 is an error in code, none in a comment, and no reason to misunderstand an option.
fn invalid_utf8() -> Outcome {
    let folder = Folder::new("utf8")?;
    folder.write("code.h", b"kernel void bad(global int *p) { p[0] = \xff\xfe; }")?;
    folder.write("comment.h", b"/* \xff\xfe */ kernel void fair(global int *p) { p[0] = 1; }")?;
    let include = format!("-I {}", folder.path()?);
    fails("#include \"code.h\"", &include, &["code.h:1:41: error:", "not valid UTF-8"])?;
    Gpu::get()?.build_source("#include \"comment.h\"", &include)?;
    build_with_bytes(c"-DNAME=\xff\xfe")?.map_err(|(code, log)| format!("{code}: {log}"))?;
    match build_with_bytes(c"-\xff\xfe")? {
        Err((CL_INVALID_BUILD_OPTIONS, log)) if log.contains("unknown option") => run_good(),
        other => Err(format!("{other:?}, expected CL_INVALID_BUILD_OPTIONS and a reason")),
    }
}

/// Builds with options that need not be text; the inner error is that of clBuildProgram, with the log.
fn build_with_bytes(options: &CStr) -> Result<Result<(), (cl_int, String)>, String> {
    let gpu = Gpu::get()?;
    let program = Program::create_from_source(&gpu.context, GOOD).map_err(|e| e.to_string())?;
    let built = build_program(program.get(), &[gpu.device.id()], options, None, std::ptr::null_mut());
    let log = program.get_build_log(gpu.device.id()).unwrap_or_default();
    Ok(built.map_err(|code| (code, log)))
}

/// A second process finds what the first has built, and starts no compiler; damaged entries are built again.
fn cache() -> Outcome {
    match act().as_deref() {
        Some("fill") => return run_good(),
        Some("use") => return run_cached(),
        _ => {}
    }
    let folder = Folder::new("cache")?;
    let variables = builds_only(&folder)?;
    child("build_cache", "fill", &variables)?;
    let entries = files(&folder.0)?;
    if entries.is_empty() {
        return Err("nothing was stored".into());
    }
    child("build_cache", "use", &variables)?;
    for entry in &entries {
        let mut bytes = std::fs::read(entry).map_err(|e| e.to_string())?;
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x40;
        std::fs::write(entry, bytes).map_err(|e| e.to_string())?;
    }
    child("build_cache", "fill", &variables)?;
    child("build_cache", "use", &variables).map(drop)
}

fn run_cached() -> Outcome {
    run_good()?;
    let begin = Instant::now();
    Gpu::get()?.build_source(GOOD, "")?;
    println!("from the cache: {:?}", begin.elapsed());
    no_compiler_was_started()
}

/// The environment of processes that are asked for [`no_compiler_was_started`]: with this cache, and without
/// translations, which a server makes as well, for launches that take long on a busy machine.
pub fn builds_only(cache: &Folder) -> Result<[(&'static str, &str); 2], String> {
    Ok([("GENCL_CACHE", cache.path()?), ("GENCL_ENGINE", "interpret")])
}

/// Whether all that this process has built was in the cache. It has the environment [`builds_only`].
pub fn no_compiler_was_started() -> Outcome {
    // A compile server is spoken to by a socket.
    let descriptors = std::fs::read_dir("/proc/self/fd").map_err(|e| e.to_string())?;
    let own =
        descriptors.flatten().filter(|entry| !["0", "1", "2"].iter().any(|name| entry.file_name() == *name));
    let targets: Vec<_> = own.filter_map(|entry| entry.path().read_link().ok()).collect();
    match targets.iter().any(|target| target.to_string_lossy().starts_with("socket:")) {
        true => Err(format!("a compiler was started: {targets:?}")),
        false => Ok(()),
    }
}

/// Where files may not become large, nothing is stored, and no signal comes.
fn small_files() -> Outcome {
    let Some(act) = act() else {
        let folder = Folder::new("small-files")?;
        return child("build_small_files", folder.path()?, &[("GENCL_CACHE", folder.path()?)]).map(drop);
    };
    // What was built to learn of the device is there.
    let folder = Path::new(&act);
    let before = files(folder)?;
    let limit = libc::rlimit { rlim_cur: 512, rlim_max: 512 };
    // SAFETY: the pointer is to a limit.
    if unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) } != 0 {
        return Err(std::io::Error::last_os_error().to_string());
    }
    run_good()?;
    let after = files(folder)?;
    if after == before { Ok(()) } else { Err(format!("{after:?} were written, {before:?} before")) }
}

/// An application that waits for all its children waits for none of ours, and can build again.
fn wait() -> Outcome {
    if act().is_none() {
        return child("build_wait", "wait", &[]).map(drop);
    }
    run_good()?;
    let begin = Instant::now();
    // SAFETY: nobody wants the status.
    while unsafe { libc::waitpid(-1, std::ptr::null_mut(), 0) } > 0 {}
    if begin.elapsed() > Duration::from_secs(10) {
        return Err(format!("it has waited for {:?}", begin.elapsed()));
    }
    Gpu::get()?.build_source(BAD, "").map(drop)
}

/// An application that ignores the ends of its children, which processes inherit: the end of the server is
/// told all the same, and leaves nothing.
fn ignored_children() -> Outcome {
    if !is_child() {
        return child("build_ignored_children", "ignore", &[("GENCL_DEBUG", "crash=codegen:bad")]).map(drop);
    }
    // SAFETY: to ignore a signal is no function.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    match Gpu::get()?.build_source(BAD, "") {
        Err(log) if log.contains("crashed (signal") => Ok(()),
        Err(log) => Err(format!("the log does not say how the compiler ended: {log}")),
        Ok(_) => Err("the compiler did not crash".into()),
    }
}

/// A folder that goes when it is dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("gencl-utest-{name}-{}", std::process::id()));
        // A kernel cache is nobody else's to write to, whatever the umask.
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)
            .map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Self(path))
    }

    pub fn path(&self) -> Result<&str, String> {
        self.0.to_str().ok_or_else(|| "a folder that is no text".into())
    }

    fn write(&self, name: &str, text: &[u8]) -> Outcome {
        std::fs::write(self.0.join(name), text).map_err(|e| e.to_string())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// All files below a folder.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?.flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)?) } else { found.push(path) }
    }
    Ok(found)
}

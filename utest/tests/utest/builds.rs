//! Builds that go wrong in the compiler itself, and those that the kernel cache saves. Both are for the environment to decide, so
//! the cases run this program anew.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use gencl_utest::{Case, Gpu, Launch, Outcome};

use crate::memory::same;

/// Set in the processes that build, to what they are to do.
const CHILD: &str = "GENCL_UTEST_BUILDS";

pub fn cases() -> Vec<Case> {
    let own = |name: &'static str, run: fn() -> Outcome| Case::of_gencl("its own compiler", name, run);
    vec![own("build_crash", crash), own("build_timeout", timeout), own("build_cache", cache)]
}

/// Runs a case in a process of its own with some variables set.
fn child(name: &str, act: &str, variables: &[(&str, &str)]) -> Result<Output, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut command = Command::new(program);
    command.args(["--exact", name]).env(CHILD, act).env_remove("GENCL_DEBUG");
    let output = command.envs(variables.iter().copied()).output().map_err(|e| e.to_string())?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!(
        "{act}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    ))
}

fn act() -> Option<String> {
    std::env::var(CHILD).ok()
}

const GOOD: &str = "kernel void good(global int *p) { p[get_global_id(0)] = 42; }";

fn run_good() -> Outcome {
    let gpu = Gpu::get()?;
    let out = gpu.buffer(&[0i32; 16])?;
    gpu.build_source(GOOD, "")?.run("good", &[out.arg()], &Launch::linear(16, 16))?;
    same(&out.read()?, &[42; 16])
}

/// The build of `bad` fails with a log that has these words; then another build works.
fn fails(words: &[&str]) -> Outcome {
    let log = match Gpu::get()?.build_source("kernel void bad(global int *p) { p[0] = 1; }", "") {
        Err(log) => log,
        Ok(_) => return Err("it was built".into()),
    };
    match ["CL_BUILD_PROGRAM_FAILURE"].iter().chain(words).find(|word| !log.contains(**word)) {
        Some(word) => Err(format!("the log does not say {word:?}: {log}")),
        None => run_good(),
    }
}

fn crash() -> Outcome {
    match act() {
        Some(_) => fails(&["crashed", "codegen", "kernel bad"]),
        None => child("build_crash", "crash", &[("GENCL_DEBUG", "crash=codegen:bad")]).map(drop),
    }
}

fn timeout() -> Outcome {
    let variables = [("GENCL_DEBUG", "stall=codegen:bad"), ("GENCL_BUILD_TIMEOUT", "2")];
    match act() {
        Some(_) => fails(&["stopped after 2 s", "codegen", "kernel bad", "GENCL_BUILD_TIMEOUT"]),
        None => child("build_timeout", "stall", &variables).map(drop),
    }
}

/// A second process finds what the first has built, and starts no compiler; damaged entries are built anew.
fn cache() -> Outcome {
    match act().as_deref() {
        Some("fill") => return run_good(),
        Some("use") => return run_cached(),
        _ => {}
    }
    let folder = Folder(std::env::temp_dir().join(format!("gencl-utest-cache-{}", std::process::id())));
    let path = folder.0.to_str().ok_or("a folder that is no text")?;
    let variables = [("GENCL_CACHE", path)];
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
    let tasks = std::fs::read_dir("/proc/self/task").map_err(|e| e.to_string())?;
    for task in tasks.flatten() {
        let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        if !children.is_empty() {
            return Err(format!("processes {children} were started"));
        }
    }
    Ok(())
}

/// A folder that goes when it is dropped.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// All files below a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?.flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)?) } else { found.push(path) }
    }
    Ok(found)
}

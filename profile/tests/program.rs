//! Profiles of a program, with the driver of this build: `examples/matrix`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gencl_profile::analysis::Analysis;
use gencl_profile::collect::read_report;
use gencl_simulator::statistics::Report;
use gencl_simulator::statistics::report::LineInformation;
use gencl_testing::harness::{self, Outcome};

const PROFILER: &str = env!("CARGO_BIN_EXE_gencl-profile");
const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/matrix");

/// Why the program cannot be run.
fn missing() -> Option<String> {
    let folder = Path::new(PROFILER).parent()?;
    let file = ["libgencl.so", "genclc"].into_iter().find(|file| !folder.join(file).exists());
    file.map(|file| format!("{file} is not built")).or_else(|| harness::missing_programs(&["cc"]))
}

/// A folder with the compiled program.
struct Program(tempfile::TempDir);

impl Program {
    fn new() -> Result<Program, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut compiler = Command::new("cc");
        let source = Path::new(EXAMPLE).join("matrix.c");
        compiler.arg(source).arg("-o").arg(folder.path().join("matrix")).args(["-O2", "-lOpenCL"]);
        match compiler.status() {
            Ok(status) if status.success() => Ok(Program(folder)),
            other => Err(format!("cc: {other:?}")),
        }
    }

    /// The files of a profile.
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Profiles the program with a kernel file and the remaining arguments of `line`.
    fn profile(&self, options: &[&str], output: &str, line: &str) -> Result<Output, String> {
        let mut arguments = line.split(' ');
        let kernel = Path::new(EXAMPLE).join(arguments.next().unwrap_or_default());
        let mut command = Command::new(PROFILER);
        command.args(options).arg("--output").arg(self.path(output)).arg("--");
        command.arg(self.path("matrix")).arg(kernel).args(arguments);
        for variable in ["OCL_ICD_VENDORS", "GENCL_COMPILER", "GENCL_DEVICE", "GENCL_DEBUG"] {
            command.env_remove(variable);
        }
        let output = command.env("GENCL_CACHE", "off").output().map_err(|error| error.to_string())?;
        let told = String::from_utf8_lossy(&output.stderr);
        match String::from_utf8_lossy(&output.stdout).starts_with("0 of ") {
            true => Ok(output),
            false => Err(format!("{}: {told}", output.status)),
        }
    }
}

/// The number of a source's line that begins with a text.
fn line_with(report: &Report, text: &str) -> Option<u32> {
    let lines = report.sources.first()?.text.as_ref()?.lines();
    Some(lines.into_iter().position(|line| line.trim().starts_with(text))? as u32 + 1)
}

const NAIVE: &str = "naive.cl 16 16 1";

/// The hottest line is the one that a reader expects, for the reason that the access pattern gives, and each instruction
/// has a line.
fn the_hottest_line_is_named() -> Outcome {
    let program = Program::new()?;
    let output = program.profile(&["--device", "skl"], "profile", NAIVE)?;
    assert!(output.status.success());
    let report = read_report(&program.path("profile/profile.json"))?;
    let [kernel] = &report.kernels[..] else { return Err(format!("{} kernels", report.kernels.len())) };
    assert_eq!((kernel.name.as_str(), &kernel.line_information), ("multiply", &LineInformation::Present));
    assert!(kernel.program.starts_with("1-") && kernel.program.ends_with("-multiply"), "{}", kernel.program);
    let text =
        std::fs::read_to_string(Path::new(EXAMPLE).join("naive.cl")).map_err(|error| error.to_string())?;
    assert_eq!(report.sources[0].text.as_ref(), Some(&text));
    assert!(kernel.instructions.iter().all(|instruction| !instruction.frames.is_empty()));
    let analysis = Analysis::of(&report);
    let (key, line) = &analysis.hottest_lines()[0];
    assert_eq!(Some(key.1), line_with(&report, "sum += "));
    let reasons = analysis.reasons(Some(*key), line).join("; ");
    assert!(reasons.contains("wait for memory") && reasons.contains("uncoalesced"), "{reasons}");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("sum += a[row * n + k] * b[k * n + column];"), "{told}");
    Ok(())
}

/// The files of two runs are the same.
fn profiles_are_reproducible() -> Outcome {
    let program = Program::new()?;
    for output in ["first", "second"] {
        program.profile(&["--device", "skl"], output, "vectors.cl 32 2 8")?;
    }
    let entries = std::fs::read_dir(program.path("first")).map_err(|error| error.to_string())?;
    let mut compared = 0;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let [first, second] =
            ["first", "second"].map(|folder| std::fs::read(program.path(folder).join(&name)).ok());
        assert!(first == second, "{}", name.display());
        compared += 1;
    }
    assert!(compared >= 6, "{compared} files");
    Ok(())
}

/// `--compare` and `--check` tell which line makes a kernel slower.
fn a_slower_program_fails_the_check() -> Outcome {
    let program = Program::new()?;
    program.profile(&["--device", "skl"], "old", "coalesced.cl 16 16 1")?;
    let old = program.path("old/profile.json");
    let old = ["--device", "skl", "--compare", old.to_str().unwrap_or_default(), "--check", "5%"];
    let same = program.profile(&old, "same", "coalesced.cl 16 16 1")?;
    assert!(same.status.success() && String::from_utf8_lossy(&same.stderr).contains("no line has changed"));
    let slower = program.profile(&old, "slower", NAIVE)?;
    assert_eq!(slower.status.code(), Some(1));
    let told = String::from_utf8_lossy(&slower.stderr);
    let lines: Vec<&str> = told.lines().filter(|line| line.starts_with("slower: ")).collect();
    assert!(lines.iter().any(|line| line.contains(".cl:6 by ")), "{told}");
    Ok(())
}

fn several_devices() -> Outcome {
    let program = Program::new()?;
    let output = program.profile(&["--on", "ivb,skl"], "devices", NAIVE);
    // Each run prints its result.
    let told = String::from_utf8_lossy(&output?.stderr).into_owned();
    assert!(told.contains("clocks on ivb") && told.contains("share on skl"), "{told}");
    for device in ["ivb", "skl"] {
        assert_eq!(read_report(&program.path(&format!("devices/{device}/profile.json")))?.device, device);
    }
    Ok(())
}

fn main() {
    type Test = fn() -> Outcome;
    let tests: [(&str, Test); 4] = [
        ("the_hottest_line_is_named", the_hottest_line_is_named),
        ("profiles_are_reproducible", profiles_are_reproducible),
        ("a_slower_program_fails_the_check", a_slower_program_fails_the_check),
        ("several_devices", several_devices),
    ];
    harness::run(tests.into_iter().map(|(name, run)| harness::test_unless(missing(), name, run)).collect());
}

//! Profiles of a program, with the driver of this build: `examples/matrix`.

mod shared;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gencl_profile::advice;
use gencl_profile::analysis::Analysis;
use gencl_simulator::statistics::Report;
use gencl_simulator::statistics::report::{Instruction, LineInformation};
use gencl_testing::harness::{self, Outcome};
use shared::{PROFILER, missing};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");

/// A test.
type Test = fn() -> Outcome;

/// The Perfetto trace.
const TRACE: &str = "trace.perfetto-trace";

/// The compiled program of `examples`, by its name.
struct Program(shared::Program, &'static str);

impl Program {
    fn new() -> Result<Program, String> {
        Program::of("matrix")
    }

    fn of(name: &'static str) -> Result<Program, String> {
        let source = Path::new(EXAMPLES).join(name).join(format!("{name}.c"));
        shared::Program::new(&source).map(|program| Program(program, name))
    }

    /// The files of a profile.
    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    /// Profiles the program with a kernel file and the remaining arguments of `line`.
    fn profile(&self, options: &[&str], output: &str, line: &str) -> Result<Output, String> {
        self.profile_by(&[], options, output, line)
    }

    /// The same by another program, which is given first.
    fn profile_by(
        &self,
        by: &[&OsStr],
        options: &[&str],
        output: &str,
        line: &str,
    ) -> Result<Output, String> {
        let mut arguments = line.split(' ');
        let kernel = Path::new(EXAMPLES).join(self.1).join(arguments.next().unwrap_or_default());
        let mut command = self.0.profiler(options, output);
        command.args(by).arg(self.0.program()).arg(kernel).args(arguments);
        let output = command.output().map_err(|error| error.to_string())?;
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
    let report = Report::read(&program.path("profile/profile.json"))?;
    let [kernel] = &report.kernels[..] else { return Err(format!("{} kernels", report.kernels.len())) };
    assert_eq!((kernel.name.as_str(), &kernel.line_information), ("multiply", &LineInformation::Present));
    assert!(kernel.program.starts_with("1-") && kernel.program.ends_with("-multiply"), "{}", kernel.program);
    let text = std::fs::read_to_string(Path::new(EXAMPLES).join("matrix/naive.cl"))
        .map_err(|error| error.to_string())?;
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

/// Each kernel of `examples/newcomer` is told its fault first, at its line; and the kernels that follow the advice are
/// faster by the model, by no more than it said.
fn advice_makes_kernels_faster() -> Outcome {
    let program = Program::of("newcomer")?;
    let profile = |kernels: &str| -> Result<Report, String> {
        program.profile(&["--device", "skl"], kernels, &format!("{kernels}.cl"))?;
        Report::read(&program.path(kernels).join("profile.json"))
    };
    let (first, better) = (profile("first")?, profile("better")?);
    let analysis = Analysis::of(&first);
    let advice = advice::of(&analysis);
    for (name, fault, line) in [
        ("brighten", "uncoalesced access", "out[row * N + column] = 2 *"),
        ("choose", "divergence", "if (column % 2) {"),
        ("transpose", "bank conflicts", "out[(column + y) * N"),
        ("window", "barrier that may be redundant", "barrier(CLK_LOCAL_MEM_FENCE);"),
        ("average", "spilled registers", "average[i] = mad("),
    ] {
        let of = |report: &Report| report.kernels.iter().position(|kernel| kernel.name == name);
        let (before, after) = (of(&first).ok_or(name)?, of(&better).ok_or(name)?);
        let told = advice.iter().find(|advice| advice.kernel == before).ok_or(name)?;
        let text = analysis.line_text(*told.lines.first().ok_or(name)?);
        assert!(told.fault == fault && text.starts_with(line), "{name}: {told:?} {text}");
        let gain = first.kernels[before].cycles as f64 / better.kernels[after].cycles as f64;
        println!("{name}: {gain:.2} x, at most {:.2} x", told.gain);
        // The compiler's other decisions are not in the estimate.
        assert!(gain > 1.3 && gain < 1.1 * told.gain, "{name}: {gain} {told:?}");
    }
    let written = analysis.redundant.iter().flatten().count();
    assert_eq!(written, 16, "the barriers of the unrolled loop alone");
    Ok(())
}

/// The files of two runs are the same, but for those with the host's times.
fn profiles_are_reproducible() -> Outcome {
    let program = Program::new()?;
    for output in ["first", "second"] {
        program.profile(&["--device", "skl"], output, "vectors.cl 32 2 8")?;
    }
    let entries = std::fs::read_dir(program.path("first")).map_err(|error| error.to_string())?;
    let mut compared = 0;
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name == TRACE || name == "profile.html" {
            continue;
        }
        let [first, second] =
            ["first", "second"].map(|folder| std::fs::read(program.path(folder).join(&name)).ok());
        assert!(first == second, "{}", name.display());
        compared += 1;
    }
    assert!(compared >= 5, "{compared} files");
    Ok(())
}

/// Translated code counts what the interpreter does.
fn fast_counts_are_the_same() -> Outcome {
    let program = Program::new()?;
    for line in [NAIVE, "blocked.cl 64 4 8", "vectors.cl 32 2 8"] {
        let [all, fast] = [&["--device", "skl"][..], &["--device", "skl", "--fast"]];
        let output = program.profile(fast, "fast", line)?;
        assert!(String::from_utf8_lossy(&output.stderr).contains("(--fast)"));
        program.profile(all, "all", line)?;
        let [all, fast] = ["all", "fast"].map(|name| Report::read(&program.path(name).join("profile.json")));
        let [all, fast] = [all?, fast?];
        assert!(fast.fast && !all.fast && fast.kernels[0].refused.is_none());
        assert_eq!(fast.kernels.len(), all.kernels.len());
        for (fast, all) in fast.kernels.iter().zip(&all.kernels) {
            assert_eq!((fast.groups, fast.threads), (all.groups, all.threads));
            for (fast, all) in fast.instructions.iter().zip(&all.instructions) {
                let counts =
                    |own: &Instruction| (own.counter.executions, own.counter.lanes, own.counter.issue);
                assert_eq!((&fast.text, counts(fast)), (&all.text, counts(all)));
                assert_eq!(fast.frames, all.frames);
            }
        }
    }
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

/// Why the trace cannot be read: Perfetto's messages are in PyPI's `perfetto`.
fn without_perfetto() -> Option<String> {
    let import = Command::new("python3").args(["-c", "import perfetto"]).output();
    let found = import.is_ok_and(|output| output.status.success());
    missing().or_else(|| (!found).then(|| "python3 has no module perfetto".to_owned()))
}

/// Perfetto's own messages have each launch, in its command and with its clocks.
fn launches_are_in_the_trace() -> Outcome {
    let program = Program::new()?;
    program.profile(&["--device", "skl"], "profile", "coalesced.cl 32 16 1")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/perfetto_trace.py");
    let mut reader = Command::new("python3");
    let output = reader.arg(script).arg(program.path("profile").join(TRACE)).output();
    let output = output.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let found: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
    let report = Report::read(&program.path("profile/profile.json"))?;
    let found = found.as_array().ok_or("no list")?;
    assert_eq!(found.len(), report.launches.len(), "{found:?}");
    for (found, launch) in found.iter().zip(&report.launches) {
        let kernel = &report.kernels[launch.kernel].name;
        assert_eq!(found["kernel"], kernel.as_str());
        assert_eq!(found["inside"], serde_json::json!([format!("NdRangeKernel {kernel}")]));
        assert_eq!(found["values"]["clocks"], launch.cycles);
    }
    Ok(())
}

/// Why the render node cannot be used.
fn without_node() -> Option<String> {
    missing().or_else(|| (!beside("gencl-sim").exists()).then(|| "gencl-sim is not built".to_owned()))
}

/// A file of this build.
fn beside(name: &str) -> PathBuf {
    Path::new(PROFILER).with_file_name(name)
}

/// A driver's launches are counted by the render node; gencl's have lines there, too.
fn a_driver_on_the_render_node() -> Outcome {
    let program = Program::new()?;
    let driver = beside("vendors").join("gencl.icd");
    let options = ["--device", "skl", "--driver", driver.to_str().unwrap_or_default()];
    program.profile(&options, "node", NAIVE)?;
    program.profile(&["--device", "skl"], "process", NAIVE)?;
    let [node, process] =
        ["node", "process"].map(|name| Report::read(&program.path(name).join("profile.json")));
    assert_eq!(node?.kernels, process?.kernels);
    Ok(())
}

/// Where the driver's device is not simulated, there are the times of its commands.
fn a_device_without_counts() -> Outcome {
    let program = Program::new()?;
    let simulator = beside("gencl-sim");
    let by = [simulator.as_os_str(), "--device".as_ref(), "skl".as_ref(), "--".as_ref()];
    let output = program.profile_by(&by, &[], "times", NAIVE)?;
    assert!(output.status.success());
    let told = String::from_utf8_lossy(&output.stderr);
    let row = told.lines().find(|line| line.ends_with("  multiply")).ok_or_else(|| told.to_string())?;
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!((cells[0], cells[1], cells[4]), ("100.0%", "1", "32"), "{told}");
    assert!(program.path("times").join(TRACE).exists() && !program.path("times/profile.json").exists());
    Ok(())
}

/// KCachegrind asks for the code between two addresses.
fn machine_code_for_kcachegrind() -> Outcome {
    let program = Program::new()?;
    program.profile(&["--device", "skl"], "profile", "coalesced.cl 16 16 1")?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_gencl-objdump"));
    command.args(["-C", "-d", "--start-address=0x1000010", "--stop-address=0x1000030"]);
    let output = command.arg(program.path("profile/profile.json")).output();
    let text = String::from_utf8(output.map_err(|error| error.to_string())?.stdout);
    let text = text.map_err(|error| error.to_string())?;
    let rows: Vec<&str> = text.lines().filter(|line| line.contains(":\t")).collect();
    let report = Report::read(&program.path("profile/profile.json"))?;
    let within = |instruction: &&Instruction| (0x10..0x30).contains(&instruction.offset);
    let instructions = report.kernels[0].instructions.iter().filter(within);
    assert_eq!(rows.len(), instructions.clone().count());
    for (row, instruction) in rows.iter().zip(instructions) {
        let parts: Vec<&str> = row.split('\t').collect();
        assert_eq!(parts[0].trim(), format!("{:x}:", 0x100_0000 + instruction.offset));
        let bytes = parts[1].split_whitespace().collect::<String>();
        assert!(report.kernels[0].code[2 * instruction.offset as usize..].starts_with(&bytes), "{row}");
        assert!(instruction.text.trim().starts_with(parts[2]), "{row}");
    }
    Ok(())
}

fn several_devices() -> Outcome {
    let program = Program::new()?;
    let output = program.profile(&["--on", "ivb,skl"], "devices", NAIVE);
    // Each run prints its result.
    let told = String::from_utf8_lossy(&output?.stderr).into_owned();
    assert!(told.contains("clocks on ivb") && told.contains("share on skl"), "{told}");
    for device in ["ivb", "skl"] {
        assert_eq!(Report::read(&program.path(&format!("devices/{device}/profile.json")))?.device, device);
    }
    Ok(())
}

fn main() {
    let tests: [(&str, Test); 7] = [
        ("the_hottest_line_is_named", the_hottest_line_is_named),
        ("advice_makes_kernels_faster", advice_makes_kernels_faster),
        ("profiles_are_reproducible", profiles_are_reproducible),
        ("fast_counts_are_the_same", fast_counts_are_the_same),
        ("a_slower_program_fails_the_check", a_slower_program_fails_the_check),
        ("several_devices", several_devices),
        ("machine_code_for_kcachegrind", machine_code_for_kcachegrind),
    ];
    let on_node: [(&str, Test); 2] = [
        ("a_driver_on_the_render_node", a_driver_on_the_render_node),
        ("a_device_without_counts", a_device_without_counts),
    ];
    let mut tests: Vec<_> =
        tests.into_iter().map(|(name, run)| harness::test_unless(missing(), name, run)).collect();
    tests.extend(on_node.into_iter().map(|(name, run)| harness::test_unless(without_node(), name, run)));
    let name = "launches_are_in_the_trace";
    tests.push(harness::test_unless(without_perfetto(), name, launches_are_in_the_trace));
    harness::run(tests);
}

//! Which launches a profile has, and of which kernel each is: with the driver of this build and `launches.c`.

mod shared;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use gencl_simulator::statistics::Report;
use gencl_testing::harness::{self, Outcome};
use shared::{PROFILER, Program, missing};

/// A test.
type Test = fn() -> Outcome;

const ON_SKL: [&str; 2] = ["--device", "skl"];

fn program() -> Result<Program, String> {
    Program::new(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/launches.c"))
}

/// Profiles the program with an argument.
fn profile(program: &Program, options: &[&str], output: &str, end: &str) -> Result<Output, String> {
    let mut command = program.profiler(options, output);
    command.arg(program.program()).arg(end).output().map_err(|error| error.to_string())
}

fn report(program: &Program, output: &str) -> Result<Report, String> {
    Report::read(&program.path(output).join("profile.json"))
}

/// The kernels of the launches, in their order.
fn launched(report: &Report) -> Vec<&str> {
    report.launches.iter().map(|launch| report.kernels[launch.kernel].name.as_str()).collect()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Kernels are told apart though their code is the same; each launch has its index space and its arguments.
fn kernels_with_the_same_code() -> Outcome {
    let program = program()?;
    for (output, options) in [("skl", ["--device", "skl"]), ("ivb", ["--device", "ivb"])] {
        let told = told(&profile(&program, &options, output, "exit")?);
        let report = report(&program, output)?;
        let [second, first] = &report.kernels[..] else { return Err(told) };
        assert_eq!((first.name.as_str(), first.launches), ("first", 1));
        assert_eq!((second.name.as_str(), second.launches), ("second", 2));
        assert_eq!((&first.hash, &first.options), (&second.hash, &"-DN=4".to_owned()));
        assert_eq!(launched(&report), ["second", "first", "second"]);
        let numbers: Vec<u32> = report.launches.iter().map(|launch| launch.number).collect();
        assert_eq!(numbers, [1, 2, 3]);
        assert_eq!(report.launches[1].global, [2048, 1, 1]);
        assert_eq!(report.launches[1].arguments, ["x=16384 bytes", "n=2048"]);
        assert!(report.notes.is_empty(), "{:?}", report.notes);
        // The kernel that takes most of the time, not the first of the program, which is not launched.
        assert!(report.sources[0].name.ends_with("-second.cl"), "{}", report.sources[0].name);
        assert!(told.contains("first: x=16384 bytes, n=2048"), "{told}");
        // 2048 floats in, and the same lines out.
        assert_eq!(report.launches[1].distinct_lines, 2048 * 4 / 64);
    }
    Ok(())
}

/// The options tell which build a kernel is of.
fn kernels_of_two_builds() -> Outcome {
    let program = program()?;
    let told = told(&profile(&program, &ON_SKL, "builds", "builds")?);
    let report = report(&program, "builds")?;
    let labels: Vec<&str> = report.kernels.iter().map(|kernel| kernel.label.as_str()).collect();
    assert_eq!(labels, ["second (-DN=4)", "", "second (-DN=8)"]);
    assert!(told.contains("second (-DN=8)"), "{told}");
    Ok(())
}

/// Only some launches are counted; the others run.
fn launches_are_selected() -> Outcome {
    let program = program()?;
    for (options, kernels, numbers) in [
        (["--launch", "2-3"], &["first", "second"][..], &[2, 3][..]),
        (["--kernel", "second"], &["second", "second"], &[1, 3]),
        (["--launch", "3,2"], &["first", "second"], &[2, 3]),
    ] {
        let output = profile(&program, &[&ON_SKL[..], &options].concat(), "selected", "exit")?;
        assert!(output.status.success(), "{}", told(&output));
        let report = report(&program, "selected")?;
        assert_eq!(launched(&report), kernels);
        assert_eq!(report.launches.iter().map(|launch| launch.number).collect::<Vec<_>>(), numbers);
        assert!(report.notes.is_empty(), "{:?}", report.notes);
    }
    let none = profile(&program, &["--device", "skl", "--kernel", "third"], "none", "exit")?;
    assert!(none.status.success() && told(&none).contains("no launch of a kernel"), "{}", told(&none));
    Ok(())
}

/// A launch that a fault ends is in the profile, with the reason.
fn a_fault_is_a_row() -> Outcome {
    let program = program()?;
    let output = profile(&program, &ON_SKL, "fault", "fault")?;
    let report = report(&program, "fault")?;
    assert_eq!(launched(&report), ["second", "first", "second", "wild"]);
    let fault = report.launches[3].fault.as_deref().unwrap_or_default();
    assert!(fault.contains("kernel wild") && fault.contains("page fault: write"), "{fault}");
    assert_eq!((report.kernels[2].launches, report.kernels[2].faults), (0, 1));
    assert!(told(&output).contains("wild: 1 of 1 launches failed: "), "{}", told(&output));
    assert_eq!(report.launches[3].arguments, ["x=16384 bytes", "n=64"]);
    Ok(())
}

/// The launches of a process are in the profile however it ends, and the profile says how it ended.
fn a_program_that_is_killed() -> Outcome {
    let program = program()?;
    let output = profile(&program, &ON_SKL, "abort", "abort")?;
    assert_eq!(output.status.code(), Some(128 + 6), "{}", told(&output));
    assert_eq!(launched(&report(&program, "abort")?), ["second", "first", "second"]);
    assert!(told(&output).contains("did not exit by itself"), "{}", told(&output));
    for signal in ["INT", "TERM", "KILL"] {
        let mut command = program.profiler(&ON_SKL, signal);
        command.arg(program.program()).arg("wait").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let mut line = String::new();
        let stdout = child.stdout.take().ok_or("no output")?;
        BufReader::new(stdout).read_line(&mut line).map_err(|error| error.to_string())?;
        assert_eq!(line, "launched\n");
        // SIGKILL cannot be passed on: it is sent to the program.
        let target = match signal {
            "KILL" => format!("$(cat /proc/{0}/task/{0}/children)", child.id()),
            _ => child.id().to_string(),
        };
        let sent = Command::new("sh").arg("-c").arg(format!("kill -{signal} {target}")).status();
        assert!(sent.is_ok_and(|status| status.success()), "{signal}");
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        let number = [("INT", 2), ("TERM", 15), ("KILL", 9)].into_iter().find(|(name, _)| *name == signal);
        assert_eq!(output.status.code(), number.map(|(_, number)| 128 + number), "{}", told(&output));
        assert_eq!(launched(&report(&program, signal)?), ["second", "first", "second"], "{signal}");
        assert!(told(&output).contains("incomplete: process "), "{}", told(&output));
    }
    Ok(())
}

/// The exit status is the program's, also where there is no profile; what is wrong with the arguments is told before it runs.
fn the_exit_status_is_the_programs() -> Outcome {
    let program = program()?;
    let status = |options: &[&str], command: &[&str]| {
        let output = program.profiler(options, "status").args(command).output();
        output.map(|output| (output.status.code(), told(&output))).map_err(|error| error.to_string())
    };
    assert_eq!(profile(&program, &ON_SKL, "status", "3")?.status.code(), Some(3));
    let (code, text) = status(&[], &["true"])?;
    assert_eq!((code, text.contains("no launch of a kernel")), (Some(0), true), "{text}");
    assert_eq!(status(&[], &["false"])?.0, Some(1));
    assert_eq!(status(&[], &["sh", "-c", "kill -SEGV $$"])?.0, Some(128 + 11));
    assert_eq!(status(&[], &["/nonexistent"])?.0, Some(127));
    assert_eq!(status(&[], &["/"])?.0, Some(126));
    let file = program.path("touched");
    let touch = ["touch", file.to_str().unwrap_or_default()];
    for options in [&["--compare", "missing.json"][..], &["--driver", "missing.icd"]] {
        let (code, text) = status(options, &touch)?;
        assert_eq!((code, text.contains("missing.")), (Some(125), true), "{text}");
    }
    let mut command = Command::new(PROFILER);
    let unwritable = command.args(["--output", "/proc/profile", "--"]).args(touch).output();
    assert_eq!(unwritable.map_err(|error| error.to_string())?.status.code(), Some(125));
    assert!(!file.exists(), "the program ran");
    Ok(())
}

fn main() {
    let tests: [(&str, Test); 6] = [
        ("kernels_with_the_same_code", kernels_with_the_same_code),
        ("kernels_of_two_builds", kernels_of_two_builds),
        ("launches_are_selected", launches_are_selected),
        ("a_fault_is_a_row", a_fault_is_a_row),
        ("a_program_that_is_killed", a_program_that_is_killed),
        ("the_exit_status_is_the_programs", the_exit_status_is_the_programs),
    ];
    harness::run(tests.into_iter().map(|(name, run)| harness::test_unless(missing(), name, run)).collect());
}

//! `gencl-check` on a program, with the driver of this build: `examples/matrix`, with kernels that have faults.

use std::path::Path;
use std::process::{Command, Output};

use gencl_testing::c_program::CProgram;
use gencl_testing::harness::{self, Outcome};
use serde_json::Value;

const CHECKER: &str = env!("CARGO_BIN_EXE_gencl-check");

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/matrix/matrix.c");

/// Each row but the last reads the next one's first element.
const FAULTY: &str =
    "kernel void multiply(global const float *a, global const float *b, global float *c, int n) {
    int i = get_global_id(0) * n + get_global_id(1);
    c[i] = a[i + 1] / b[i];
}";

const RIGHT: &str =
    "kernel void multiply(global const float *a, global const float *b, global float *c, int n) {
    int i = get_global_id(0) * n + get_global_id(1);
    c[i] = a[i] + b[i];
}";

/// Why programs cannot be run.
fn missing() -> Option<String> {
    let folder = Path::new(CHECKER).parent()?;
    let file = ["libgencl.so", "genclc"].into_iter().find(|file| !folder.join(file).exists());
    file.map(|file| format!("{file} is not built")).or_else(|| harness::missing_programs(&["cc"]))
}

/// The checker, without what the environment says of gencl.
fn checker() -> Command {
    let mut command = Command::new(CHECKER);
    for variable in ["OCL_ICD_VENDORS", "GENCL_COMPILER", "GENCL_DEVICE", "GENCL_DEBUG"] {
        command.env_remove(variable);
    }
    command.env("GENCL_CACHE", "off").args(["--device", "skl"]);
    command
}

/// Checks the program with a kernel.
fn check(program: &CProgram, kernel: &str, options: &[&str]) -> Result<Output, String> {
    let file = program.path("kernel.cl");
    std::fs::write(&file, kernel).map_err(|error| error.to_string())?;
    let mut command = checker();
    command.args(options).arg("--").arg(program.program()).arg(file).args(["16", "16", "1"]);
    command.output().map_err(|error| error.to_string())
}

/// That a text has words, and that the program has ended with a status.
fn expect(output: &Output, status: i32, text: &str, words: &[&str]) -> Outcome {
    let missing = words.iter().find(|words| !text.contains(**words));
    match (output.status.code() == Some(status), missing) {
        (true, None) => Ok(()),
        (_, words) => Err(format!("{}, not {status}; without {words:?}: {text}", output.status)),
    }
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The fault is told with its place, work-item and count; what the program computes stays the same, and so does its exit
/// status unless it is 0.
fn a_fault_is_told() -> Outcome {
    let program = CProgram::new(Path::new(PROGRAM))?;
    let output = check(&program, FAULTY, &[])?;
    let words = [
        "out-of-bounds read of 4 bytes in kernel multiply\n    at multiply (<source>:3:12)\n    work-item (255, 255, 0): it \
         begins 0 bytes behind argument 0 (a) of 262144 bytes\n    1 time in 1 launch",
        "gencl-check: 1 finding",
    ];
    // The program ends with 1, as its result is wrong.
    expect(&output, 1, &told(&output), &words)?;
    let output = check(&program, FAULTY, &["--error-exitcode", "7", "--tool", "arithmetic,race"])?;
    expect(&output, 1, &told(&output), &["gencl-check: 0 findings"])?;
    let output = check(&program, RIGHT, &[])?;
    expect(&output, 1, &told(&output), &["gencl-check: 0 findings"])
}

/// Findings decide about the exit status of a program that succeeds.
fn the_exit_status_is_chosen() -> Outcome {
    let program = CProgram::new(Path::new(PROGRAM))?;
    let faulty =
        "kernel void multiply(global const float *a, global const float *b, global float *c, int n) {
    int row = get_global_id(0), column = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
    if (row + column == 0) c[n * n] = 1;
}";
    let tool = ["--tool", "memory"];
    let output = check(&program, faulty, &tool)?;
    expect(&output, 1, &told(&output), &["out-of-bounds write", "(<source>:7:"])?;
    let output = check(&program, faulty, &[&tool[..], &["--error-exitcode", "0"]].concat())?;
    expect(&output, 0, &told(&output), &["gencl-check: 1 finding"])?;
    let output = check(&program, faulty, &[&tool[..], &["--error-exitcode", "42"]].concat())?;
    expect(&output, 42, &told(&output), &[])
}

/// All formats have kind and line.
fn reports_have_formats() -> Outcome {
    let program = CProgram::new(Path::new(PROGRAM))?;
    let formats = [
        ("json", ["\"version\": 1", "\"kind\": \"out-of-bounds-read\"", "\"line\": 3"]),
        ("sarif", ["\"version\": \"2.1.0\"", "\"ruleId\": \"out-of-bounds-read\"", "\"startLine\": 3"]),
        ("junit", ["<testsuite name=", "type=\"out-of-bounds-read\"", "multiply (&lt;source&gt;:3:12)"]),
    ];
    let schema = checker().arg("--schema").output().map_err(|error| error.to_string())?;
    let schema: Value = serde_json::from_slice(&schema.stdout).map_err(|error| error.to_string())?;
    for (format, words) in formats {
        let file = program.path(format);
        let output = check(&program, FAULTY, &["--format", format, "--output", &file.to_string_lossy()])?;
        let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
        expect(&output, 1, &text, &words)?;
        if format != "junit" {
            let report: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
            if format == "json" {
                let known = schema.to_string();
                let is_known = |name: &String| known.contains(&format!("\"{name}\":{{"));
                let finding =
                    report["findings"][0].as_object().into_iter().flat_map(|finding| finding.keys());
                let names: Vec<_> =
                    report.as_object().into_iter().flat_map(|report| report.keys()).chain(finding).collect();
                if names.len() < 8 || !names.into_iter().all(is_known) {
                    return Err(format!("not all of {text} is in {schema}"));
                }
            }
        }
    }
    Ok(())
}

/// What the user knows is not reported, and what is wrong with arguments is told before the program runs.
fn arguments_are_checked() -> Outcome {
    let program = CProgram::new(Path::new(PROGRAM))?;
    let file = program.path("known");
    let name = file.to_string_lossy().into_owned();
    for (text, words) in [
        ("out-of-bounds-read multiply *:3  # known\n", "gencl-check: 0 findings"),
        ("* * *:4\n", "gencl-check: 1 finding"),
        ("what\n", "line 1: it must be KIND KERNEL FILE[:LINE]"),
    ] {
        std::fs::write(&file, text).map_err(|error| error.to_string())?;
        let output = check(&program, FAULTY, &["--suppressions", &name])?;
        let status = if text == "what\n" { 125 } else { 1 };
        expect(&output, status, &told(&output), &[words])?;
    }
    let run = |arguments: &[&str]| checker().args(arguments).output().map_err(|error| error.to_string());
    let output = run(&["kernel.cl"])?;
    expect(&output, 2, &told(&output), &["gencl compile --check kernel.cl"])?;
    let output = run(&["--", "/nonexistent"])?;
    expect(&output, 127, &told(&output), &["/nonexistent"])?;
    let output = run(&["--tool", "everything", "--", "true"])?;
    expect(&output, 2, &told(&output), &["memory, arithmetic, race, sync, undefined, api, order"])
}

/// Races are looked for in some work-groups: the first ones, of four.
fn groups_are_sampled() -> Outcome {
    let program = CProgram::new(Path::new(PROGRAM))?;
    for (group, groups, count) in [(9, "1000", 1), (9, "4", 0), (1, "4", 1)] {
        let kernel = format!(
            "kernel void multiply(global const float *a, global const float *b, global float *c, int n) {{
    if (get_group_id(0) == {group} && get_group_id(1) == 0)
        c[0] = get_local_id(0) + 100;
}}"
        );
        let output = check(&program, &kernel, &["--tool", "race", "--groups", groups])?;
        let end = format!("gencl-check: {count} finding");
        expect(&output, 1, &told(&output), &[&end])?;
    }
    Ok(())
}

fn main() {
    let test = |name, run: fn() -> Outcome| harness::test_unless(missing(), name, run);
    harness::run(vec![
        test("a_fault_is_told", a_fault_is_told),
        test("the_exit_status_is_chosen", the_exit_status_is_chosen),
        test("reports_have_formats", reports_have_formats),
        test("arguments_are_checked", arguments_are_checked),
        test("groups_are_sampled", groups_are_sampled),
    ]);
}

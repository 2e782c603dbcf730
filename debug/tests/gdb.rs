//! `gencl-debug --gdb`: gdb debugs the example's wrong sum, forwards and backwards.

mod shared;

use std::path::Path;
use std::process::Stdio;

use gencl_testing::c_program::CProgram;
use gencl_testing::harness::{self, Outcome};
use shared::{ENDLESS, OUT_OF_BOUNDS, changed_kernel, debugger, example, kernel, missing};

/// In its order, what gdb is told, and what it prints then.
type Dialogue<'a> = &'a [(&'a str, &'a [&'a str])];

const WRONG_SUM: Dialogue = &[
    ("set pagination off", &[]),
    ("break 27 if id == 17", &["Breakpoint 1 at 0x"]),
    ("continue", &["Breakpoint 1, sum (", "27\t            parts[l].value = add("]),
    ("info threads", &["work-item (16, 0, 0)", "work-item (31, 0, 0)"]),
    ("print own", &["$1 = {value = 18, count = 1}"]),
    ("print parts[l + step].value + in[0]", &["$2 = 27"]),
    ("ptype own", &["float value;"]),
    ("step", &["add (", "8\t    float sum = a + b;"]),
    ("backtrace", &["#0  add (", "#1  sum (in="]),
    ("print a + b", &["$3 = 44"]),
    ("finish", &["sum (in="]),
    ("delete", &[]),
    ("watch parts[1].value", &["Hardware watchpoint 2: parts[1].value"]),
    ("continue", &["Old value = ", "New value = "]),
    ("reverse-continue", &["Hardware watchpoint 2: parts[1].value"]),
    ("delete", &[]),
    ("reverse-continue", &["No more reverse-execution history."]),
    ("kill", &[]),
];

/// Ctrl-C a while later.
const INTERRUPT: &str = "shell (sleep 2; kill -INT $PPID) &";

const INTERRUPTED: Dialogue = &[
    (INTERRUPT, &[]),
    ("continue", &["received signal SIGINT", "sum ("]),
    ("print step", &["$1 = 8"]),
    ("reverse-continue", &["No more reverse-execution history."]),
    ("kill", &[]),
];

const CHECKED: Dialogue =
    &[("continue", &["received signal SIGTRAP", "33\t"]), ("print l", &["$1 = 0"]), ("kill", &[])];

/// Has gdb debug a program with a kernel. Returns what it has printed on standard error: also what it was told to print.
fn talk(program: &CProgram, options: &[&str], kernel: &Path, dialogue: Dialogue) -> Result<String, String> {
    let mut command = debugger();
    command.args(["--device", "skl", "--gdb"]).args(options).env("HOME", program.path(""));
    for (line, _) in dialogue {
        command.args(["-e", &format!("echo \\n> {line}\\n"), "-e", line]);
    }
    command.arg("--").arg(program.program()).arg(kernel).stdin(Stdio::null());
    let output = command.output().map_err(|error| error.to_string())?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut rest = &*printed;
    for (line, texts) in dialogue {
        for text in [&[&*format!("> {line}\n")], *texts].concat() {
            let Some(at) = rest.find(text) else {
                return Err(format!("{line}: {text:?} is not printed: {printed}{errors}"));
            };
            rest = &rest[at + text.len()..];
        }
    }
    Ok(errors)
}

fn gdb_debugs_a_wrong_sum() -> Outcome {
    talk(&example()?, &[], &kernel(), WRONG_SUM).map(|_| ())
}

fn gdb_interrupts_a_kernel() -> Outcome {
    let program = example()?;
    talk(&program, &[], &changed_kernel(&program, ENDLESS)?, INTERRUPTED).map(|_| ())
}

fn gdb_is_told_of_failed_checks() -> Outcome {
    let program = example()?;
    let told = talk(&program, &["--check"], &changed_kernel(&program, OUT_OF_BOUNDS)?, CHECKED)?;
    let finding = "out-of-bounds write of 8 bytes in kernel sum\n    at sum (<source>:33:37)\n";
    if told.contains(finding) { Ok(()) } else { Err(told) }
}

fn main() {
    let missing = missing().or_else(|| harness::missing_programs(&["gdb"]));
    let test = |name, run: fn() -> Outcome| harness::test_unless(missing.clone(), name, run);
    harness::run(vec![
        test("gdb_debugs_a_wrong_sum", gdb_debugs_a_wrong_sum),
        test("gdb_interrupts_a_kernel", gdb_interrupts_a_kernel),
        test("gdb_is_told_of_failed_checks", gdb_is_told_of_failed_checks),
    ]);
}

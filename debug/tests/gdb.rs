//! `gencl-debug --gdb`: gdb debugs the example's wrong sum, forwards and backwards.

mod shared;

use std::process::Stdio;

use gencl_testing::harness::{self, Outcome};
use shared::{debugger, example, kernel, missing};

/// In its order, what gdb is told, and what it prints then.
const DIALOGUE: &[(&str, &[&str])] = &[
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

fn gdb_debugs_a_wrong_sum() -> Outcome {
    let program = example()?;
    let mut command = debugger();
    command.args(["--device", "skl", "--gdb"]).env("HOME", program.path(""));
    for (line, _) in DIALOGUE {
        command.args(["-e", &format!("echo \\n> {line}\\n"), "-e", line]);
    }
    command.arg("--").arg(program.program()).arg(kernel()).stdin(Stdio::null());
    let output = command.output().map_err(|error| error.to_string())?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let mut rest = &*printed;
    for (line, texts) in DIALOGUE {
        for text in [&[&*format!("> {line}\n")], *texts].concat() {
            let Some(at) = rest.find(text) else {
                let errors = String::from_utf8_lossy(&output.stderr);
                return Err(format!("{line}: {text:?} is not printed: {printed}{errors}"));
            };
            rest = &rest[at + text.len()..];
        }
    }
    Ok(())
}

fn main() {
    let missing = missing().or_else(|| harness::missing_programs(&["gdb"]));
    harness::run(vec![harness::test_unless(missing, "gdb_debugs_a_wrong_sum", gdb_debugs_a_wrong_sum)]);
}

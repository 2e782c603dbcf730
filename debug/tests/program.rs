//! The prompt of `gencl-debug`, with the driver of this build: `examples/reduction`, whose sums are wrong.

mod shared;

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use gencl_testing::c_program::CProgram;
use gencl_testing::harness::{self, Outcome};
use shared::{ENDLESS, OUT_OF_BOUNDS, changed_kernel, debugger, example, kernel, missing};

/// The debugger of a program on a device, with the commands of a script. The program's arguments are missing.
fn debugger_of(program: &CProgram, device: &str, script: &str) -> Result<Command, String> {
    let file = program.path("script");
    std::fs::write(&file, script).map_err(|error| error.to_string())?;
    let mut command = debugger();
    command.args(["--device", device, "-x"]).arg(file).stdin(Stdio::null());
    Ok(command)
}

/// Debugs the example on a device with the commands of a script.
fn debug(device: &str, script: &str) -> Result<Output, String> {
    let program = example()?;
    let mut command = debugger_of(&program, device, script)?;
    command.arg("--").arg(program.program()).arg(kernel());
    command.output().map_err(|error| error.to_string())
}

/// That the debugger prints these texts, in this order.
fn expect(output: &Output, texts: &[&str]) -> Outcome {
    let printed = String::from_utf8_lossy(&output.stdout);
    let mut rest = &*printed;
    for text in texts {
        let Some(at) = rest.find(text) else {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{text:?} is not printed, or not there: {printed}{errors}"));
        };
        rest = &rest[at + text.len()..];
    }
    Ok(())
}

/// Breakpoints, steps, calls, variables of all kinds, work-items, lanes and threads.
fn forwards() -> Outcome {
    for device in ["skl", "hsw"] {
        let output = debug(
            device,
            "break sum:27 work-item 17
continue
backtrace
locals
print parts[1].value
print in[id] + get_local_id(0)
print &parts[1] == parts + 1
work-item 20
print id
lane 0
threads
step
backtrace
print a + b
frame 1
print l
finish
next
lanes
delete
continue
",
        )?;
        expect(
            &output,
            &[
                "breakpoint 1 at sum:27, work-item (17, 0, 0)\n",
                "breakpoint 1, sum (<source>:27:",
                "*#0 sum (<source>:27:",
                "step = 8\n",
                "n = 56\nid = 17\nl = 1\nown = {value = 18.0, count = 1}\n",
                "parts = {{value = 17.0, count = 1}, {value = 18.0, count = 1},",
                "parts[1].value = 18.0\n",
                "in[id] + get_local_id(0) = 19.0\n",
                "&parts[1] == parts + 1 = 1\n",
                "work-item (20, 0, 0)",
                "id = 20\n",
                "work-item (16, 0, 0)",
                "* thread 0, work-items from (16, 0, 0): (<source>:27:",
                "  thread 1, work-items from (24, 0, 0): (<source>:30:9), lanes ++++++++, waits at a barrier\n",
                "add (<source>:8:",
                "*#0 add (<source>:8:",
                " #1 sum (<source>:27:",
                "a + b = 42.0\n",
                "*#1 sum (<source>:27:",
                "l = 0\n",
                "sum (<source>:27:",
                "sum (<source>:28:",
                "lane 7, work-item (23, 0, 0): enabled, (<source>:28:",
                "group 0: 64 of 8 numbers, not 136 of 16\n",
                "the program has ended\n",
            ],
        )?;
        // It is the program's: the sums are wrong.
        if output.status.code() != Some(1) {
            return Err(format!("{}", output.status));
        }
    }
    Ok(())
}

/// From the wrong result back to where it was written, and to what has not been added.
fn backwards() -> Outcome {
    let output = debug(
        "skl",
        "break sum work-item 0
continue
end
print sums[0]
last-write sums[0]
backtrace
print parts[0]
print parts[1]
last-write parts[0].value
print step
lanes
reverse-next
reverse-next
reverse-continue
next
next
reverse-next
time
time 0
print own
reverse-stepi
",
    )?;
    expect(
        &output,
        &[
            "breakpoint 1, sum (<source>:16:",
            "at the end of the launch\n",
            "sums[0] = {value = 64.0, count = 8}\n",
            "sum (<source>:33:33), work-item (0, 0, 0), lanes +-------\n   33          sums[get_group_id(0)] = parts[0];\n",
            "*#0 sum (<source>:33:",
            "parts[0] = {value = 64.0, count = 8}\n",
            // What has not been added: the loop ends too early.
            "parts[1] = {value = 72.0, count = 8}\n",
            "sum (<source>:27:28), work-item (0, 0, 0), lanes ++------\n",
            "step = 2\n",
            "lane 2, work-item (2, 0, 0): disabled, (<source>:29:9)\n",
            "sum (<source>:27:",
            "sum (<source>:26:",
            "breakpoint 1, sum (<source>:16:",
            "sum (<source>:17:",
            "sum (<source>:18:",
            "sum (<source>:17:",
            "own = {value = 0.0, count = 0}\n",
            "at the beginning: nothing was executed before\n",
        ],
    )
}

/// Conditions, watched memory, and what is wrong with commands.
fn conditions() -> Outcome {
    let output = debug(
        "skl",
        "break 23 if id == 40
break nowhere
what
print id
continue
print id
watch parts[8].value
continue
print get_local_id(0)
breakpoints
delete 7
print own.none
print parts[0].value + own
print absent
lane 9
work-item 1000
reverse-continue
quit
",
    )?;
    expect(
        &output,
        &[
            "breakpoint 1 at 23, if id == 40\n",
            "breakpoint 2 at nowhere\n",
            "there is no command what; help lists them\n",
            "no kernel is running\n",
            "breakpoint 1, sum (<source>:23:",
            "work-item (40, 0, 0)",
            "id = 40\n",
            "watchpoint 3: parts[8].value\n",
            "watchpoint 3: parts[8].value = 41.0\n",
            "breakpoint 1 at 23, if id == 40\n",
            "there is no breakpoint 7\n",
            "has no member none\n",
            "is no scalar\n",
            "there is no absent here",
            "there is no lane 9\n",
            "there is no work-item (1000, 0, 0) in this launch\n",
            // Before it is written.
            "watchpoint 3: parts[8].value = 0.0\nsum (<source>:23:",
        ],
    )?;
    if output.status.success() { Ok(()) } else { Err(format!("{}", output.status)) }
}

/// Structures that are passed by value, recursion, and formats of `printf`.
fn calls() -> Outcome {
    for device in ["skl", "hsw", "ivb"] {
        let program = example()?;
        let script = "break 22 work-item 0
break 9 work-item 0
break 14 work-item 0 if n == 12
continue
print own
continue
print part
backtrace
continue
print part
print factor
continue
print count
continue
";
        let mut command = debugger_of(&program, device, script)?;
        let kernel = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/calls.cl");
        if device == "skl" {
            // It is right.
            command.arg("--check=memory,undefined");
        }
        command.arg("--").arg(program.program()).arg(kernel);
        let output = command.output().map_err(|error| error.to_string())?;
        expect(
            &output,
            &[
                ", sum (<source>:22:",
                "own = {value = 1.0, count = 56, rest = {7, 8, 9}}\n",
                ", times (<source>:9:",
                "part = {value = 1.0, count = 56, rest = {7, 8, 9}}\n",
                "*#0 times (<source>:9:",
                " #1 sum (<source>:22:17)\n",
                ", times (<source>:9:",
                "part = {value = 1.0, count = 56, rest = {7, 8, 9}}\n",
                "factor = 3\n",
                ", digits (<source>:14:",
                "count = 4\n",
                "5 digits, 23\n",
                "the program has ended\n",
            ],
        )?;
    }
    Ok(())
}

/// Where a check fails, forwards and backwards.
fn checks() -> Outcome {
    for device in ["skl", "hsw", "ivb"] {
        let program = example()?;
        let script = "continue
print l
print &sums[get_group_id(0) + 1]
last-write parts[0].value
time
continue
reverse-continue
reverse-continue
continue
continue
";
        let mut command = debugger_of(&program, device, script)?;
        let kernel = changed_kernel(&program, OUT_OF_BOUNDS)?;
        command.arg("--check=memory,arithmetic").arg("--").arg(program.program()).arg(kernel);
        let output = command.output().map_err(|error| error.to_string())?;
        let finding = "out-of-bounds write of 8 bytes in kernel sum
    at sum (<source>:33:37)
    work-item (48, 0, 0): it begins 0 bytes behind argument 1 (sums) of 32 bytes
sum (<source>:33:37), work-item (48, 0, 0), lanes ";
        expect(
            &output,
            &[
                "breakpoint 1 where checks fail\n",
                finding,
                "l = 0\n",
                "&sums[get_group_id(0) + 1] = 0x",
                "sum (<source>:27:28), work-item (48, 0, 0), lanes ",
                finding,
                finding,
                "at the beginning: nothing was executed before\n",
                finding,
                "the program has ended\n",
            ],
        )?;
    }
    Ok(())
}

/// Ctrl-C while a kernel runs.
fn interrupted() -> Outcome {
    for device in ["skl", "ivb"] {
        let program = example()?;
        let script = "continue\nprint step\nnext\ntime 0\nprint own\nquit\n";
        let mut command = debugger_of(&program, device, script)?;
        command.arg("--").arg(program.program()).arg(changed_kernel(&program, ENDLESS)?);
        let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
        let lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        let (to, printed) = mpsc::channel();
        let reader = thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| to.send(line)));
        let mut all = Vec::new();
        // A second one before the kernel runs would end the program.
        let mut patience = [2, 30].into_iter().map(Duration::from_secs);
        let mut wait = patience.next().unwrap_or_default();
        let mut interrupt = Command::new("kill");
        interrupt.args(["-INT", &child.id().to_string()]);
        loop {
            match printed.recv_timeout(wait) {
                Ok(line) => all.push(line),
                Err(RecvTimeoutError::Timeout) if all.is_empty() => {
                    interrupt.status().map_err(|error| error.to_string())?;
                    wait = patience.next().ok_or("nothing is printed")?;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let _ = reader.join();
        let status = child.wait().map_err(|error| error.to_string())?;
        let output = Output { status, stdout: all.join("\n").into_bytes(), stderr: Vec::new() };
        expect(&output, &["interrupted\nsum (<source>:", "step = 8\n", "sum (<source>:", "own = {value = "])?;
        if !status.success() {
            return Err(format!("{status}"));
        }
    }
    Ok(())
}

fn main() {
    let test = |name, run: fn() -> Outcome| harness::test_unless(missing(), name, run);
    harness::run(vec![
        test("forwards", forwards),
        test("backwards", backwards),
        test("conditions", conditions),
        test("calls", calls),
        test("checks", checks),
        test("interrupted", interrupted),
    ]);
}

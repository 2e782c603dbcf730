//! `gencl-check` on a C program with faults in its calls of the API, `calls.c`, with the driver of this build.

use std::path::Path;
use std::process::Command;

use gencl_testing::c_program::CProgram;
use gencl_testing::harness::{self, Outcome};

const CHECKER: &str = env!("CARGO_BIN_EXE_gencl-check");

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/calls.c");

/// The cases of the program: what is told, each finding with the words that it has.
const CASES: &[(&str, &[&[&str]])] = &[
    (
        "leak_many",
        &[
            &[
                "a buffer, made by clCreateBuffer, is never released",
                "leak_buffer (",
                "called from leak_many (",
                "3 times",
            ],
            &[
                "an event that nobody has waited for, made by clEnqueueMarkerWithWaitList, is never released",
                "calls.c:",
            ],
            &["an allocation, made by clSVMAlloc, is never released", "at leak_many (", "1 time"],
        ],
    ),
    // What ends with an error releases nothing.
    ("given_up", &[]),
    (
        "use_released",
        &[&[
            "clEnqueueWriteBuffer gets a buffer that was released",
            "it was released by clReleaseMemObject",
            "at use_released (",
            "2 times",
        ]],
    ),
    ("release_twice", &[&["clReleaseMemObject gets a buffer that was released"]]),
    ("wrong_type", &[&["clRetainMemObject gets a queue instead of a memory object"]]),
    (
        "ignored_error",
        &[&["clEnqueueNDRangeKernel failed, and the program went on with clFinish: invalid work-item size"]],
    ),
    ("handled_error", &[]),
    ("still_mapped", &[&["clReleaseMemObject releases a buffer that is mapped"]]),
    ("argument_not_set", &[&["clEnqueueNDRangeKernel: argument q of add is not set"]]),
    (
        "argument_size",
        &[
            &["argument n of add has type int of 4 bytes, 8 bytes were given"],
            &["argument n of add has type int of 4 bytes, 1 bytes were given"],
        ],
    ),
    (
        "two_queues",
        &[&[
            "command race: kernel add on queue 2 reads bytes 2048 to 4095 in argument 1 (q)",
            "which kernel add on queue 1 writes in argument 0 (p), in no order with that",
            "called from two_queues (",
        ]],
    ),
    ("ordered_queues", &[]),
    ("halves", &[]),
    (
        "out_of_order",
        &[&[
            "command race: kernel add on queue 2 reads bytes 0 to 4095 in argument 1 (q)",
            "which clEnqueueWriteBuffer on queue 2 writes, in no order with that",
        ]],
    ),
    (
        "use_mapped",
        &[&[
            "command race: kernel add on queue 1 writes bytes 64 to 95 in argument 0 (p)",
            "which the program writes mapped by clEnqueueMapBuffer, in no order with that",
        ]],
    ),
    ("right", &[]),
];

/// Why programs cannot be run.
fn missing() -> Option<String> {
    let folder = Path::new(CHECKER).parent()?;
    let file = ["libgencl.so", "genclc"].into_iter().find(|file| !folder.join(file).exists());
    file.map(|file| format!("{file} is not built")).or_else(|| harness::missing_programs(&["cc"]))
}

/// Runs a case of the program. What is told, in the order of the report.
fn findings(program: &CProgram, case: &str) -> Result<Vec<String>, String> {
    let mut command = Command::new(CHECKER);
    for variable in ["OCL_ICD_VENDORS", "GENCL_COMPILER", "GENCL_DEVICE", "GENCL_DEBUG"] {
        command.env_remove(variable);
    }
    command.args(["--device", "skl", "--tool", "api,order", "--"]).arg(program.program()).arg(case);
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut findings: Vec<_> = text.split("\n\n").map(str::to_owned).collect();
    findings.pop().filter(|end| end.starts_with("gencl-check: ")).ok_or(text)?;
    Ok(findings)
}

fn calls_are_checked() -> Outcome {
    let program = CProgram::new(Path::new(PROGRAM))?;
    for (case, expected) in CASES {
        let found = findings(&program, case)?;
        let has = |(found, words): (&String, &&[&str])| words.iter().all(|word| found.contains(word));
        if found.len() != expected.len() || !found.iter().zip(*expected).all(has) {
            return Err(format!("{case}: {}", found.join("\n\n")));
        }
    }
    Ok(())
}

fn main() {
    harness::run(vec![harness::test_unless(missing(), "calls_are_checked", calls_are_checked)]);
}

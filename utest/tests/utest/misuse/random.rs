//! The fuzzer (`make fuzz-api`): a moment of it, and what it calls.

use std::collections::BTreeSet;
use std::process::Command;

use gencl_utest::Outcome;

/// For a moment. `make fuzz-api MINUTES=30` is the real thing.
pub fn calls() -> Outcome {
    let output = Command::new(env!("CARGO_BIN_EXE_gencl-fuzz-api"))
        .args(["--seed", "1", "--seconds", "1", "--calls", "1000"])
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stdout).into_owned()) }
}

/// The driver's functions: the dispatch table, whose first part is what Windows has, and what is found by its
/// name.
const TABLE: &str = include_str!("../../../../icd/dispatch.rs");
const EXTENSIONS: &str = include_str!("../../../../icd/api/platform/extension.rs");

/// The fuzzer's calls.
const CALLS: [&str; 12] = [
    include_str!("../../../src/bin/fuzz_api/calls/absent.rs"),
    include_str!("../../../src/bin/fuzz_api/calls/command_buffers.rs"),
    include_str!("../../../src/bin/fuzz_api/calls/commands.rs"),
    include_str!("../../../src/bin/fuzz_api/calls/events.rs"),
    include_str!("../../../src/bin/fuzz_api/calls/images.rs"),
    include_str!("../../../src/bin/fuzz_api/calls/information.rs"),
    include_str!("../../../src/bin/fuzz_api/calls/mod.rs"),
    include_str!("../../../src/bin/fuzz_api/calls/objects.rs"),
    include_str!("../../../src/bin/fuzz_api/calls/older.rs"),
    include_str!("../../../src/bin/fuzz_api/calls/programs.rs"),
    include_str!("../../../src/bin/fuzz_api/calls/semaphores.rs"),
    include_str!("../../../src/bin/fuzz_api/calls/shared_memory.rs"),
];

/// What is called by a name of its own, or by the loader.
const OTHERWISE: [&str; 5] = [
    "clGetKernelSuggestedLocalWorkSize",
    "clGetKernelSuggestedLocalWorkSizeKHR",
    "clIcdGetPlatformIDsKHR",
    "clCreateCommandQueueWithPropertiesKHR",
    "clCreateProgramWithILKHR",
];

/// Names that begin as functions of OpenCL do, in words that `before` is before.
fn names(text: &'static str, before: &str) -> BTreeSet<&'static str> {
    let function = |rest: &'static str| {
        let name = &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len())];
        let begins =
            name.strip_prefix("cl").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_uppercase()));
        begins.then_some(name)
    };
    text.match_indices(before).filter_map(|(at, _)| function(&text[at + before.len()..])).collect()
}

/// No function is forgotten.
pub fn every_function() -> Outcome {
    let (_, table) = TABLE.split_once("dispatch! {").ok_or("no table")?;
    let (_, table) = table.split_once(';').ok_or("no end of what Windows has")?;
    let (table, _) = table.split_once("\n}\n").ok_or("no end of the table")?;
    let mut functions = names(table, " ");
    if functions.len() < 100 {
        return Err(format!("the table is read wrongly: {functions:?}"));
    }
    functions.append(&mut names(EXTENSIONS, "\""));
    for text in CALLS {
        for before in ["api.", "unified.", "buffers.", "semaphores.", "requirements.", "!("] {
            for name in names(text, before) {
                functions.remove(name);
            }
        }
    }
    let never: Vec<_> = functions.into_iter().filter(|name| !OTHERWISE.contains(name)).collect();
    if never.is_empty() { Ok(()) } else { Err(format!("the fuzzer never calls {never:?}")) }
}

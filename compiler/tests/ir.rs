//! File tests of Gen IR: `tests/ir/*.ir`.
//!
//! Comments at the head of a file are directives; see [`Test`]. The expected output follows the IR, after `;
//! expect`. With `BLESS=1` in the environment the tests write it instead of comparing.

use gencl_compiler::ir::interpret::{Launch, Memory, Value, run};
use gencl_compiler::ir::passes::{ControlFlow, Unobserved, find_pass, run_pass, standard};
use gencl_compiler::ir::text::{parse, print, print_function};
use gencl_compiler::ir::validate::validate;
use gencl_compiler::ir::{Form, Unit};
use std::fmt::Write as _;
use std::path::Path;

/// Directives, one a line:
///
/// - `; passes NAME...`, `; passes standard` or `; passes STRATEGY`, one for control flow: run these and
///   expect the result as text;
/// - `; faults`: expect the messages of the validator;
/// - `; run GLOBAL LOCAL WIDTH...`: run as it is, lowered by each strategy at each of the widths, expect all
///   buffers, the same each time;
/// - `; buffer NAME...` an argument of the run: a buffer of u32, each a number, `iota N` or `fill VALUE N`;
/// - `; value NUMBER` an argument of the run: a u32;
/// - `; local BYTES` an argument of the run.
#[derive(Default)]
struct Test {
    passes: Option<Vec<String>>,
    faults: bool,
    run: Option<(u32, u32, Vec<u32>)>,
    arguments: Vec<Argument>,
}

enum Argument {
    Buffer(Vec<u32>),
    Value(u32),
    Local(u32),
}

fn number(word: &str) -> u32 {
    let digits = word.strip_prefix("0x");
    digits.map_or_else(|| word.parse(), |d| u32::from_str_radix(d, 16)).unwrap_or_else(|_| panic!("`{word}`"))
}

fn buffer(words: &[&str]) -> Vec<u32> {
    match words {
        ["iota", count] => (0..number(count)).collect(),
        ["fill", value, count] => vec![number(value); number(count) as usize],
        _ => words.iter().map(|word| number(word)).collect(),
    }
}

fn directives(head: &str) -> Test {
    let mut test = Test::default();
    for line in head.lines().filter_map(|line| line.strip_prefix("; ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["passes", names @ ..] => test.passes = Some(names.iter().map(ToString::to_string).collect()),
            ["faults"] => test.faults = true,
            ["run", global, local, widths @ ..] => {
                test.run = Some((number(global), number(local), widths.iter().map(|w| number(w)).collect()));
            }
            ["buffer", contents @ ..] => test.arguments.push(Argument::Buffer(buffer(contents))),
            ["value", value] => test.arguments.push(Argument::Value(number(value))),
            ["local", size] => test.arguments.push(Argument::Local(number(size))),
            _ => {}
        }
    }
    test
}

/// Runs the only kernel of a unit and returns its buffers as text.
fn buffers_after_run(unit: &Unit, test: &Test, global: u32, local: u32, width: u32) -> String {
    let mut memory = Memory::default();
    let mut launch = Launch::linear(width, global, local);
    let mut buffers = Vec::new();
    for argument in &test.arguments {
        launch.arguments.push(match argument {
            Argument::Buffer(words) => {
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                buffers.push(memory.add(bytes));
                Value::Address(buffers[buffers.len() - 1])
            }
            Argument::Value(value) => Value::Bytes(value.to_le_bytes().to_vec()),
            Argument::Local(size) => Value::Local(*size),
        });
    }
    let mut text = String::new();
    if let Err(trap) = run(&unit.functions[0], &unit.data, &launch, &mut memory) {
        let _ = writeln!(text, "{trap}");
    }
    for buffer in buffers {
        let bytes = memory.buffer(buffer).expect("the buffer was added");
        for line in bytes.chunks(64) {
            let words: Vec<String> = line
                .chunks(4)
                .map(|word| u32::from_le_bytes(word.try_into().expect("words of 4 bytes")).to_string())
                .collect();
            let _ = writeln!(text, "buffer {}", words.join(" "));
        }
    }
    text
}

fn lower(unit: &mut Unit, strategy: ControlFlow) {
    standard(unit, strategy, &mut Unobserved).unwrap_or_else(|e| panic!("{e}\n{}", print(unit)));
}

fn result(unit: &Unit, test: &Test) -> String {
    let mut text = String::new();
    if test.faults {
        for function in &unit.functions {
            for fault in validate(function).err().unwrap_or_default() {
                let _ = write!(text, "{}: ", function.name);
                let _ = writeln!(text, "{fault}");
            }
        }
    }
    if let Some(names) = &test.passes {
        let mut unit = unit.clone();
        for name in names {
            if let Some(strategy) = ControlFlow::from_name(name) {
                lower(&mut unit, strategy);
                continue;
            }
            if name == "standard" {
                lower(&mut unit, ControlFlow::default());
                continue;
            }
            let pass = find_pass(name).unwrap_or_else(|| panic!("no pass `{name}`"));
            for function in &mut unit.functions {
                run_pass(pass, function, &mut Unobserved)
                    .unwrap_or_else(|e| panic!("{e}\n{}", print_function(function)));
            }
        }
        text.push_str(&print(&unit));
    }
    if let Some((global, local, widths)) = &test.run {
        let expected = buffers_after_run(unit, test, *global, *local, widths[0]);
        for &(name, strategy) in ControlFlow::NAMES {
            let mut lowered = unit.clone();
            lower(&mut lowered, strategy);
            assert_ne!(lowered.functions[0].form, Form::PerLane);
            for &width in widths {
                let found = buffers_after_run(&lowered, test, *global, *local, width);
                assert_eq!(found, expected, "{name}, width {width}:\n{}", print(&lowered));
            }
        }
        text.push_str(&expected);
    }
    text
}

/// Runs the test of one file.
fn check(path: &Path, bless: bool) -> Result<(), String> {
    let content = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let (ir, expected) = content.split_once("; expect\n").unwrap_or((&content, ""));
    let unit = parse(ir).map_err(|e| e.to_string())?;
    if !directives(ir).faults {
        for function in &unit.functions {
            validate(function).map_err(|faults| format!("{}", faults[0]))?;
        }
    }
    let found: String = result(&unit, &directives(ir)).lines().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{}", format!("; {line}").trim_end());
        text
    });
    if found.is_empty() {
        return Err("the file has no directives".to_owned());
    }
    if found == expected {
        return Ok(());
    }
    if bless {
        return std::fs::write(path, format!("{ir}; expect\n{found}")).map_err(|e| e.to_string());
    }
    Err(format!("expected\n{expected}\nfound\n{found}\nIf that is right, run the test with BLESS=1."))
}

#[test]
fn files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ir");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|e| e.expect("readable").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "ir"));
    paths.sort();
    assert!(!paths.is_empty());
    let bless = std::env::var_os("BLESS").is_some();
    let failures: Vec<String> = paths
        .iter()
        .filter_map(|path| {
            // The message of a failed assertion has the file's name as well.
            let result = std::panic::catch_unwind(|| check(path, bless));
            let reason = match result {
                Ok(Ok(())) => return None,
                Ok(Err(reason)) => reason,
                Err(_) => "panicked, see above".to_owned(),
            };
            Some(format!("{}: {reason}", path.display()))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

//! File tests of the middle IR: `tests/middle/*.mir`.
//!
//! Comments at the head of a file are directives; see [`Test`]. The expected output follows the function, after `; expect`. With `BLESS=1` in the environment the
//! tests write it instead of comparing.

#[path = "ir/interpret.rs"]
mod interpret;
#[path = "ir/parse.rs"]
mod parse;
#[path = "ir/verify.rs"]
mod verify;

use std::fmt::Write as _;
use std::path::Path;

use gencl_eu::abi::Tier;
use gencl_eu::message::AtomicOperation;
use gencl_translator::middle::function::{Block, Function};
use gencl_translator::middle::op::{Input, Op, Registers, Space};
use gencl_translator::passes::{self, PASSES};
use interpret::{Environment, Lanes, Outcome, run};
use parse::parse;
use verify::verify;

/// Directives, one a line:
///
/// - `; passes NAME...`: run these, or all, and expect the result as text;
/// - `; faults`: expect what the parser or the verifier says;
/// - `; memory DWORD...`: execute it before the passes and after them, with such a memory from address 0 on; inputs are bytes that count on. Expect the memory, the same
///   each time.
#[derive(Default)]
struct Test {
    passes: Option<Vec<String>>,
    faults: bool,
    memory: Option<Vec<u32>>,
}

fn directives(head: &str) -> Test {
    let mut test = Test::default();
    for line in head.lines().filter_map(|line| line.strip_prefix("; ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["passes", names @ ..] => test.passes = Some(names.iter().map(ToString::to_string).collect()),
            ["faults"] => test.faults = true,
            ["memory", dwords @ ..] => {
                test.memory = Some(dwords.iter().map(|word| word.parse().expect("a dword")).collect());
            }
            _ => {}
        }
    }
    test
}

fn apply(name: &str, function: &Function) -> Function {
    if name == "all" {
        return passes::all(function, Tier::Optimised);
    }
    let (_, pass) = PASSES.iter().find(|(own, _)| *own == name).unwrap_or_else(|| panic!("no pass {name:?}"));
    pass(function)
}

/// Memory from address 0 on, in all spaces.
struct Memory {
    bytes: Vec<u8>,
    file: Vec<u8>,
}

impl Environment for Memory {
    fn input(&mut self, input: Input, bytes: usize) -> Vec<u8> {
        let (Input::Header(first) | Input::CrossThread(first) | Input::PerThread(first)) = input else {
            // Masks, and numbers of images.
            return vec![0xff; bytes];
        };
        (0..bytes).map(|n| (usize::from(first) + n) as u8).collect()
    }

    fn read(&mut self, _space: Space, address: u64, bytes: usize) -> Option<Vec<u8>> {
        let first = usize::try_from(address).ok()?;
        self.bytes.get(first..first.checked_add(bytes)?).map(<[u8]>::to_vec)
    }

    fn write(&mut self, _space: Space, address: u64, bytes: &[u8]) -> Option<()> {
        let first = usize::try_from(address).ok()?;
        self.bytes.get_mut(first..first.checked_add(bytes.len())?)?.copy_from_slice(bytes);
        Some(())
    }

    fn atomic(
        &mut self,
        operation: AtomicOperation,
        space: Space,
        address: u64,
        bytes: usize,
        sources: &[u128],
    ) -> Option<u128> {
        assert_eq!(operation, AtomicOperation::Add, "no other operation is tested here");
        let old = self.read(space, address, bytes)?;
        let old = old.iter().rev().fold(0, |value, byte| value << 8 | u128::from(*byte));
        self.write(space, address, &(old + sources[0]).to_le_bytes()[..bytes])?;
        Some(old)
    }

    fn perform(&mut self, op: &Op, _: &[Lanes], _: &Registers, _: u32) -> Option<Vec<Vec<u8>>> {
        panic!("{op} is not tested here")
    }

    fn file(&mut self) -> &mut [u8] {
        &mut self.file
    }

    fn is_cancelled(&mut self) -> bool {
        false
    }

    fn arrive(&mut self) {}
}

/// What a thread leaves in memory, and how it has come to its end.
fn executed(function: &Function, dwords: &[u32]) -> String {
    let bytes = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
    let mut memory = Memory { bytes, file: vec![0; 8192] };
    let mut outcome = run(function, &mut memory, Block(0), &[]);
    while let Outcome::Stopped { block, parameters, .. } = outcome {
        outcome = run(function, &mut memory, block, &parameters);
    }
    let dwords = memory.bytes.chunks(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]).to_string());
    format!("{outcome:?}: {}\n", dwords.collect::<Vec<_>>().join(" "))
}

fn output(text: &str) -> String {
    let test = directives(text);
    let checked = parse(text).and_then(|function| verify(&function).map(|()| function));
    if test.faults {
        return format!("{}\n", checked.map_or_else(|fault| fault, |_| "no fault".into()));
    }
    let function = checked.unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(parse(&function.to_string()).map(|again| again.to_string()), Ok(function.to_string()));
    let mut out = String::new();
    let names = test.passes.unwrap_or_default();
    let mut result = function.clone();
    for name in &names {
        result = apply(name, &result);
        verify(&result).unwrap_or_else(|fault| panic!("{name}: {fault}\n{result}"));
    }
    if !names.is_empty() {
        let _ = write!(out, "{result}");
    }
    if let Some(dwords) = &test.memory {
        let before = executed(&function, dwords);
        assert_eq!(before, executed(&result, dwords), "{result}");
        let all = passes::all(&function, Tier::Optimised);
        assert_eq!(before, executed(&all, dwords), "{all}");
        out.push_str(&before);
    }
    out
}

#[test]
fn files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/middle");
    let mut paths: Vec<_> =
        folder.read_dir().expect("the folder").map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    let mut failures = Vec::new();
    for path in &paths {
        let text = std::fs::read_to_string(path).expect("a text");
        // The name is seen where the rest panics.
        println!("{}", path.display());
        let (source, expected) = text.split_once("; expect\n").unwrap_or((&text, ""));
        let output = output(source);
        let commented: String = output.lines().map(|line| format!("; {line}\n")).collect();
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(path, format!("{source}; expect\n{commented}")).expect("a file to write to");
        } else if commented != expected {
            failures.push(format!("{}:\n{commented}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(paths.len() >= 8, "only {} files", paths.len());
}

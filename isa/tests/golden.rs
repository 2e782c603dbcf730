//! Golden lines: a generation, the bytes of an instruction, and its text. Each tests encoding,
//! decoding, printing and parsing.
//!
//! `BLESS=1 cargo test -p gencl-isa --test golden` rewrites bytes and text from what the texts parse
//! to; a new line has `-` in the place of the bytes. Look at the difference before committing it.

use std::path::{Path, PathBuf};

use gencl_isa::witness::{self, WitnessError};
use gencl_isa::{Generation, Instruction, decode, encode, parse, print};

fn hexadecimal(bytes: &[u8; 16]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of(text: &str) -> Option<[u8; 16]> {
    let bytes: Option<Vec<u8>> =
        (0..text.len()).step_by(2).map(|n| u8::from_str_radix(text.get(n..n + 2)?, 16).ok()).collect();
    bytes?.try_into().ok()
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let entries = std::fs::read_dir(folder).expect("the folder of golden files");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    files.sort();
    files
}

/// A golden line's parts.
struct Golden<'a> {
    generation: Generation,
    bytes: &'a str,
    text: &'a str,
}

impl<'a> Golden<'a> {
    /// `None` for comments and empty lines.
    fn parse(line: &'a str) -> Option<Golden<'a>> {
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let mut parts = line.splitn(3, ' ');
        let generation = parts.next().and_then(Generation::from_name).expect("a generation");
        let bytes = parts.next().expect("bytes");
        Some(Golden { generation, bytes, text: parts.next().expect("text") })
    }

    fn instruction(&self, at: &str) -> Instruction {
        parse(self.generation, self.text).unwrap_or_else(|error| panic!("{at}: {error}"))
    }
}

/// The line as it should be.
fn canonical(golden: &Golden<'_>, at: &str) -> String {
    let instruction = golden.instruction(at);
    let bytes = encode(golden.generation, &instruction).unwrap_or_else(|error| panic!("{at}: {error}"));
    let text = print(golden.generation, &instruction);
    format!("{} {} {text}", golden.generation.capabilities().name, hexadecimal(&bytes))
}

#[test]
fn golden_lines() {
    let bless = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let mut wrong = Vec::new();
    for file in files() {
        let text = std::fs::read_to_string(&file).expect("a readable golden file");
        let mut blessed = String::new();
        for (number, line) in text.lines().enumerate() {
            let at = format!("{}:{}: {line}", file.display(), number + 1);
            let Some(golden) = Golden::parse(line) else {
                blessed.push_str(line);
                blessed.push('\n');
                continue;
            };
            let line = canonical(&golden, &at);
            blessed.push_str(&line);
            blessed.push('\n');
            if bless {
                continue;
            }
            if format!("{} {} {}", golden.generation.capabilities().name, golden.bytes, golden.text) != line {
                wrong.push(format!("{at}\n  now {line}"));
            }
            let bytes = bytes_of(golden.bytes).unwrap_or_else(|| panic!("{at}: no bytes"));
            assert_eq!(decode(golden.generation, &bytes), Ok(golden.instruction(&at)), "{at}");
        }
        if bless && blessed != text {
            std::fs::write(&file, blessed).expect("a writable golden file");
        }
    }
    assert!(wrong.is_empty(), "{}\nIf this is intended, run again with BLESS=1.", wrong.join("\n"));
}

/// The golden instructions that the witness can write down read the same there.
#[test]
fn golden_lines_read_the_same_elsewhere() {
    for generation in Generation::ALL {
        let mut code = Vec::new();
        for file in files() {
            let text = std::fs::read_to_string(&file).expect("a readable golden file");
            for golden in text.lines().filter_map(Golden::parse).filter(|g| g.generation == generation) {
                let instruction = golden.instruction(golden.text);
                if witness::knows(generation, &instruction) {
                    code.extend(encode(generation, &instruction).expect("encodable"));
                }
            }
        }
        match witness::compare(generation, &code) {
            Ok(differences) => {
                for d in &differences {
                    println!("{:#x}: {}\n  {}\n  {}", d.offset, d.what, d.ours, d.theirs);
                }
                assert!(differences.is_empty(), "{generation:?}: {} differences", differences.len());
                println!("{generation:?}: {} instructions", code.len() / 16);
            }
            Err(error @ (WitnessError::Missing | WitnessError::Generation(_))) => {
                println!("skipped: {error}")
            }
            Err(error) => panic!("{generation:?}: {error}"),
        }
    }
}

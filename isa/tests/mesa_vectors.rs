//! Mesa's assembler tests: assembly with the bytes that an independent assembler gives for it.
//!
//! They stand beside the project, not in it; without them the tests say so and pass.

use std::path::{Path, PathBuf};

use gencl_isa::message::Message;
use gencl_isa::{
    Descriptor, Extra, Generation, Instruction, decode, encode, parse, parse_program, print, print_program,
};

/// Percent of instructions that must pass each of the steps, in every generation.
const REQUIRED: f64 = 100.0;

struct Vector {
    name: String,
    assembly: String,
    expected: Vec<[u8; 16]>,
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/oracle/mesa-asm")
}

fn bytes_of(line: &str) -> [u8; 16] {
    let bytes: Vec<u8> =
        line.split_whitespace().map(|b| u8::from_str_radix(b, 16).expect("hexadecimal bytes")).collect();
    bytes.try_into().expect("16 bytes on a line")
}

/// The vectors of a generation, in a fixed order; empty where they are not there.
fn vectors(generation: Generation) -> Vec<Vector> {
    let folder = directory().join(generation.capabilities().name);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("no vectors in {}: skipped", folder.display());
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "asm"));
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let expected = std::fs::read_to_string(path.with_extension("expected")).expect("expected bytes");
            Vector {
                name: path.file_stem().expect("a name").to_string_lossy().into_owned(),
                assembly: std::fs::read_to_string(&path).expect("assembly"),
                expected: expected.lines().map(bytes_of).collect(),
            }
        })
        .collect()
}

/// Numbers of passed instructions, and what did not pass.
#[derive(Default)]
struct Count {
    passed: usize,
    all: usize,
    failures: Vec<String>,
}

impl Count {
    fn check(&mut self, passes: bool, describe: impl FnOnce() -> String) {
        self.all += 1;
        if passes {
            self.passed += 1;
        } else {
            self.failures.push(describe());
        }
    }

    fn percent(&self) -> f64 {
        100.0 * self.passed as f64 / self.all as f64
    }
}

/// Runs a step over all vectors, prints the table, and asserts the thresholds.
fn table(title: &str, step: impl Fn(Generation, &Vector, &mut Count)) {
    let mut below = Vec::new();
    for generation in Generation::ALL {
        let mut count = Count::default();
        for vector in vectors(generation) {
            step(generation, &vector, &mut count);
        }
        if count.all == 0 {
            continue;
        }
        println!(
            "{:8} {title:24} {:5} of {:5}  {:6.2} %",
            generation.capabilities().name,
            count.passed,
            count.all,
            count.percent()
        );
        for failure in &count.failures {
            println!("    {failure}");
        }
        if count.percent() < REQUIRED {
            below.push(generation);
        }
    }
    assert!(below.is_empty(), "{title}: below the threshold: {below:?}");
}

#[test]
fn decoding_and_encoding_gives_the_same_bytes() {
    table("decode, encode", |generation, vector, count| {
        for (n, bytes) in vector.expected.iter().enumerate() {
            let again = decode(generation, bytes).map(|i| encode(generation, &i));
            count.check(again == Ok(Ok(*bytes)), || format!("{} {}: {again:02x?}", vector.name, n + 1));
        }
    });
}

#[test]
fn printing_and_parsing_gives_the_same_bytes() {
    table("decode, print, parse", |generation, vector, count| {
        for (n, bytes) in vector.expected.iter().enumerate() {
            let text = decode(generation, bytes).map(|i| print(generation, &i)).unwrap_or_default();
            let again = parse(generation, &text).map(|i| encode(generation, &i));
            count.check(again == Ok(Ok(*bytes)), || {
                format!("{} {}: {bytes:02x?} {text} {again:02x?}", vector.name, n + 1)
            });
        }
    });
}

#[test]
fn assembling_mesas_text_gives_the_bytes() {
    table("parse, encode", |generation, vector, count| {
        let program = match parse_program(generation, &vector.assembly) {
            Ok(program) => program,
            Err(error) => {
                for _ in &vector.expected {
                    count.check(false, || format!("{}: {error}", vector.name));
                }
                return;
            }
        };
        assert_eq!(program.len(), vector.expected.len(), "{} {generation:?}", vector.name);
        for (n, (instruction, bytes)) in program.iter().zip(&vector.expected).enumerate() {
            let ours = encode(generation, instruction);
            count.check(ours == Ok(*bytes), || {
                let text = print(generation, instruction);
                format!("{} {}: {text}\n        {bytes:02x?}\n        {ours:02x?}", vector.name, n + 1)
            });
        }
    });
}

#[test]
fn a_printed_program_parses_to_itself() {
    for generation in Generation::ALL {
        for vector in vectors(generation) {
            let program: Vec<Instruction> =
                vector.expected.iter().filter_map(|bytes| decode(generation, bytes).ok()).collect();
            let text = print_program(generation, &program);
            assert_eq!(
                parse_program(generation, &text),
                Ok(program),
                "{} {generation:?}\n{text}",
                vector.name
            );
        }
    }
}

#[test]
fn message_descriptors_decode_and_encode() {
    for generation in Generation::ALL {
        for vector in vectors(generation) {
            for bytes in &vector.expected {
                let Ok(Instruction { extra: Extra::Send(send), .. }) = decode(generation, bytes) else {
                    continue;
                };
                let Descriptor::Immediate(bits) = send.descriptor else { continue };
                let message = Message::decode(generation, send.target, bits).expect("a known message");
                assert_eq!(message.encode(generation), Ok((send.target, bits)), "{message}");
                let second = match send.extended {
                    Descriptor::Immediate(bits) => (bits >> 6 & 0xf) as u8,
                    Descriptor::Register(_) => continue,
                };
                let lengths = message.operation.lengths();
                if lengths.known {
                    let payload = lengths.payload + u8::from(message.header);
                    assert_eq!(
                        (payload, lengths.response),
                        (message.payload + second, message.response),
                        "{message}"
                    );
                }
            }
        }
    }
}

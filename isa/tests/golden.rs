//! Golden lines: a generation, the bytes of an instruction, and its text. Each tests encoding, decoding,
//! printing and parsing; those in `golden/compiled`, which a compiler emits, the validator and messages'
//! descriptors as well.
//!
//! `BLESS=1 cargo test -p gencl-isa --test golden` rewrites bytes and text from what the texts parse
//! to; a new line has `-` in the place of the bytes. Look at the difference before committing it.
//! `scripts/confirm-golden` has each line confirmed by someone else.

mod golden_lines;

use gencl_isa::message::Message;
use gencl_isa::{
    Descriptor, Extra, Generation, Instruction, decode, encode, parse_program, print, print_program, validate,
};

use golden_lines::{COMPILED, Golden, bytes_of, files};

fn hexadecimal(bytes: &[u8; 16]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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
        let mut blessed = String::new();
        for (number, line) in file.text.lines().enumerate() {
            let at = format!("{}:{}: {line}", file.path.display(), number + 1);
            let Some(golden) = Golden::parse(line) else {
                blessed.push_str(line);
                blessed.push('\n');
                continue;
            };
            let now = canonical(&golden, &at);
            if now != line {
                wrong.push(format!("{at}\n  now {now}"));
            }
            blessed.push_str(&now);
            blessed.push('\n');
            if let Some(bytes) = bytes_of(golden.bytes).filter(|_| !bless) {
                assert_eq!(decode(golden.generation, &bytes), Ok(golden.instruction(&at)), "{at}");
            }
        }
        if bless && blessed != file.text {
            std::fs::write(&file.path, blessed).expect("a writable golden file");
        }
    }
    assert!(bless || wrong.is_empty(), "{}\nIf this is intended, run again with BLESS=1.", wrong.join("\n"));
}

/// The instructions that a compiler emits for a generation.
fn compiled(generation: Generation) -> Vec<Instruction> {
    let name = format!("{COMPILED}/{}.txt", generation.capabilities().name);
    let file = files().into_iter().find(|file| file.path.ends_with(&name));
    let file = file.unwrap_or_else(|| panic!("there is no {name}"));
    let instructions: Vec<_> = file.lines().map(|(at, golden)| golden.instruction(&at)).collect();
    assert!(instructions.len() > 1000, "{name} has {} lines only", instructions.len());
    instructions
}

#[test]
fn a_printed_program_parses_to_itself() {
    for generation in Generation::ALL {
        let program = compiled(generation);
        let text = print_program(generation, &program);
        assert_eq!(parse_program(generation, &text), Ok(program), "{generation:?}\n{text}");
    }
}

/// What the compiled instructions are known to break: where Gen9 has the extended descriptor, Mesa's
/// assembler writes a payload's region, and one line's immediate has lost its type's first letter there.
const KNOWN_FAULTS: [(&str, &[Generation]); 2] =
    [("send.region", &Generation::ALL), ("operand.float-logic", &[Generation::Gen75])];

#[test]
fn compiled_instructions_break_no_rule() {
    for generation in Generation::ALL {
        for instruction in compiled(generation) {
            for violation in validate(generation, &instruction) {
                let known = KNOWN_FAULTS
                    .iter()
                    .any(|(rule, of)| *rule == violation.rule.id && of.contains(&generation));
                assert!(known, "{}: {violation}", instruction.display(generation));
            }
        }
    }
}

#[test]
fn compiled_message_descriptors_decode_and_encode() {
    for generation in Generation::ALL {
        let mut messages = 0;
        for instruction in compiled(generation) {
            let Extra::Send(send) = instruction.extra else { continue };
            let Descriptor::Immediate(bits) = send.descriptor else { continue };
            let message = Message::decode(generation, send.target, bits).expect("a known message");
            assert_eq!(message.encode(generation), Ok((send.target, bits)), "{message}");
            messages += 1;
            let Descriptor::Immediate(extended) = send.extended else { continue };
            let second = (extended >> 6 & 0xf) as u8;
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
        assert!(messages > 100, "{generation:?}: {messages} messages");
    }
}

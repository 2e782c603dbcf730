//! Machine code of Intel's own compiler, which this crate must read as Intel's disassembler does,
//! write back, and find legal.

use std::path::Path;

use gencl_isa::{Extra, Generation, Opcode, Send, decode, decode_first, encode, parse, print, validate};
use gencl_testing::harness::{Outcome, Trial, missing_programs, test_unless};
use gencl_testing::ocloc;

use crate::agree;

/// Generations and `ocloc`'s names of a device of each.
const DEVICES: [(Generation, &str); 2] = [(Generation::Gen9, "skl"), (Generation::Gen8, "bdw")];

pub fn tests() -> Vec<Trial> {
    let missing = missing_programs(&["ocloc", "iga64"]);
    let test = |(generation, device)| {
        test_unless(missing.clone(), format!("intels_code_for_{device}"), move || check(generation, device))
    };
    DEVICES.into_iter().map(test).collect()
}

/// Bytes up to and with the last message that ends the thread; padding follows.
fn program_size(generation: Generation, code: &[u8]) -> usize {
    let mut offset = 0;
    let mut end = 0;
    while let Some((size, instruction)) =
        code.get(offset..).and_then(|rest| decode_first(generation, rest).ok())
    {
        offset += size;
        if matches!(instruction.extra, Extra::Send(Send { end_of_thread: true, .. })) {
            end = offset;
        } else if instruction.opcode == Opcode::Illegal {
            break;
        }
    }
    end
}

fn check(generation: Generation, device: &str) -> Outcome {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels/mixed.cl");
    let kernels = ocloc::compile(&source, device);
    assert!(kernels.len() >= 6, "{} kernels", kernels.len());
    for (name, code) in kernels {
        let code = &code[..program_size(generation, &code)];
        let stream = gencl_isa::decode_stream(generation, code).expect("decodable code");
        let compacted = stream.iter().filter(|(_, size, _)| *size == 8).count();
        println!("{device} {name}: {} instructions, {compacted} compacted", stream.len());
        for (offset, _, instruction) in &stream {
            let text = print(generation, instruction);
            assert_eq!(parse(generation, &text).as_ref(), Ok(instruction), "{name} {offset:#x}: {text}");
            let bytes = encode(generation, instruction).expect("encodable");
            assert_eq!(decode(generation, &bytes).as_ref(), Ok(instruction), "{name} {offset:#x}: {text}");
            let violations = validate(generation, instruction);
            assert!(violations.is_empty(), "{name} {offset:#x}: {text}: {}", violations[0]);
        }
        agree(generation, code).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}

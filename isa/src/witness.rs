//! An independent check of decoding: Intel's own disassembler.
//!
//! [`compare`] runs `iga64` (Debian package `libigc-tools`) on a program and compares its output with that of
//! [`decode_stream`](crate::decode_stream), instruction by instruction: opcode, execution size and channels,
//! predicate, conditional modifier, registers, regions, types, immediates, branch targets, descriptors and
//! options. It is used by the tests of everything that generates machine code.

mod expected;
mod line;

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{AccessMode, DecodeError, Generation, Generations, Instruction, Opcode, decode_stream};

/// Why the check is not possible.
#[derive(Debug, thiserror::Error)]
pub enum WitnessError {
    /// The program is not installed.
    #[error("iga64 is not installed")]
    Missing,
    /// It does not support the generation.
    #[error("iga64 does not know {0}")]
    Generation(&'static str),
    /// It refuses the bytes, with these messages.
    #[error("iga64: {0}")]
    Refused(String),
    /// This crate cannot decode the program.
    #[error("byte {0:#x}: {1}")]
    Decode(usize, DecodeError),
    /// An error of a file or process.
    #[error("iga64: {0}")]
    Io(#[from] std::io::Error),
}

/// A set of instructions.
type Filter = fn(&Instruction) -> bool;

/// The instructions that `iga64` cannot disassemble, by generation.
const UNKNOWN: &[(Generations, Filter)] = &[
    // Until Broadwell it supports align1 only.
    (Generations::GEN7_TO_8, |i| i.access_mode == AccessMode::Align16),
    // Later it supports neither write masks, except for `madm`, where the field is an accumulator, nor
    // predicates of align16.
    (Generations::GEN9, |i| {
        let masked = i.destination.writemask != 0xf && i.opcode != Opcode::Madm;
        i.access_mode == AccessMode::Align16 && (masked || i.predicate.is_some())
    }),
    // It decodes the two offsets of Haswell's `brc` as one number.
    (Generations::GEN7_TO_75, |i| i.opcode == Opcode::Brc),
];

/// Whether `iga64` supports the generation.
pub fn knows_generation(generation: Generation) -> bool {
    generation.capabilities().iga_platform.is_some()
}

/// Whether `iga64` can disassemble an instruction.
pub fn knows(generation: Generation, instruction: &Instruction) -> bool {
    let unknown = UNKNOWN.iter().any(|(generations, of)| generations.has(generation) && of(instruction));
    knows_generation(generation) && !unknown
}

/// A difference in the decoding of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its offset.
    pub offset: usize,
    /// The parts that differ.
    pub what: String,
    /// The instruction as this crate prints it.
    pub ours: String,
    /// The instruction as `iga64` prints it.
    pub theirs: String,
}

/// The path of `iga64`, if it is installed.
pub fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("iga64")).find(|file| file.is_file())
}

/// Disassembles a program with `iga64`; branch targets are in bytes from the branch.
///
/// # Errors
/// No `iga64`, or one that finds an error in the bytes.
pub fn disassemble(generation: Generation, code: &[u8]) -> Result<String, WitnessError> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let program = program().ok_or(WitnessError::Missing)?;
    let capabilities = generation.capabilities();
    let platform = capabilities.iga_platform.ok_or(WitnessError::Generation(capabilities.name))?;
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let file = std::env::temp_dir().join(format!("gencl-witness-{}-{number}.bin", std::process::id()));
    std::fs::write(&file, code)?;
    let output = Command::new(program)
        .arg(format!("-p={platform}"))
        .args(["-d", "-n", "-Xprint-pc"])
        .arg(&file)
        .output();
    std::fs::remove_file(&file)?;
    let output = output?;
    let messages = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || messages.contains("error:") {
        return Err(WitnessError::Refused(messages.into_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The differences between `iga64` and this crate in the decoding of a program.
///
/// # Errors
/// No `iga64`, or one of the two that cannot read the program.
pub fn compare(generation: Generation, code: &[u8]) -> Result<Vec<Difference>, WitnessError> {
    let stream =
        decode_stream(generation, code).map_err(|(offset, error)| WitnessError::Decode(offset, error))?;
    let text = disassemble(generation, code)?;
    let mut lines = text.lines().filter_map(line::Line::parse).peekable();
    let mut differences = Vec::new();
    for (offset, size, instruction) in stream {
        let theirs = lines.next_if(|line| line.offset == offset);
        let what = match &theirs {
            None => vec!["no such instruction".to_owned()],
            Some(line) => expected::differences(generation, &instruction, size, line),
        };
        if !what.is_empty() {
            differences.push(Difference {
                offset,
                what: what.join(", "),
                ours: instruction.display(generation).to_string(),
                theirs: theirs.map_or(String::new(), |line| line.text.to_owned()),
            });
        }
    }
    if let Some(line) = lines.next() {
        differences.push(Difference {
            offset: line.offset,
            what: "an instruction too many".to_owned(),
            ours: String::new(),
            theirs: line.text.to_owned(),
        });
    }
    Ok(differences)
}

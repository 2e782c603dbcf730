//! Encoding and decoding of instructions.

use crate::codec::{Codec, DecodeError, Decoder, EncodeError, Encoder};
use crate::field::Field;
use crate::opcode::{Allows, Format};
use crate::{Branch, Extra, Generation, Instruction, Opcode, compact, layout};

/// Encodes an instruction to 16 bytes.
///
/// # Errors
/// A value or combination that the generation has no encoding for. What is encodable need not be
/// legal: see [`validate`](crate::validate).
pub fn encode(generation: Generation, instruction: &Instruction) -> Result<[u8; 16], EncodeError> {
    let info = instruction.opcode.info();
    let code = info
        .code(generation)
        .ok_or(EncodeError::Opcode { generation: generation.capabilities().name, opcode: info.mnemonic })?;
    let mut encoder = Encoder { generation, word: 0 };
    encoder.constant(Field::Opcode, u64::from(code))?;
    let mut copy = *instruction;
    layout::instruction(&mut encoder, info, &mut copy)?;
    Ok(encoder.word.to_le_bytes())
}

/// Decodes an instruction of 16 bytes, which is not compacted.
///
/// Bits that the instruction's format does not use are ignored.
///
/// # Errors
/// An unknown opcode, a reserved value of a field.
pub fn decode(generation: Generation, bytes: &[u8; 16]) -> Result<Instruction, DecodeError> {
    let mut decoder = Decoder { generation, word: u128::from_le_bytes(*bytes) };
    let code = decoder.get(Field::Opcode) as u8;
    let info = Opcode::from_code(generation, code).ok_or(DecodeError::Opcode(code))?;
    if decoder.get(Field::Compact) != 0 {
        return Err(DecodeError::InvalidForm("a compacted instruction where a full one is expected"));
    }
    let mut instruction = Instruction::new(info.opcode, 1);
    if info.allows.contains(Allows::BRANCH_CONTROL) {
        instruction.extra = Extra::Branch(Branch::default());
    }
    if matches!(info.format, Format::Send | Format::SplitSend) {
        instruction.extra = Extra::Send(layout::NO_MESSAGE);
    }
    layout::instruction(&mut decoder, info, &mut instruction)?;
    Ok(instruction)
}

/// Instructions, each with its offset and its size in bytes: 16 or (compacted) 8.
pub type Stream = Vec<(usize, usize, Instruction)>;

/// Decodes all instructions of a program, including compacted ones.
///
/// # Errors
/// The offset and the error of the first instruction that cannot be decoded.
pub fn decode_stream(generation: Generation, code: &[u8]) -> Result<Stream, (usize, DecodeError)> {
    let mut result = Vec::with_capacity(code.len() / 16);
    let mut offset = 0;
    while offset < code.len() {
        let (size, instruction) =
            decode_first(generation, &code[offset..]).map_err(|error| (offset, error.at(offset)))?;
        result.push((offset, size, instruction));
        offset += size;
    }
    Ok(result)
}

/// Decodes the first instruction of a program. Returns its size, 8 or 16 bytes, and the instruction.
///
/// # Errors
/// As [`decode`], and code that ends within the instruction.
pub fn decode_first(generation: Generation, code: &[u8]) -> Result<(usize, Instruction), DecodeError> {
    let compacted: &[u8; 8] = code.first_chunk().ok_or(DecodeError::Truncated(0))?;
    if u64::from_le_bytes(*compacted) >> 29 & 1 != 0 {
        let full = compact::expand(generation, u64::from_le_bytes(*compacted))?;
        return Ok((8, decode(generation, &full.to_le_bytes())?));
    }
    let full: &[u8; 16] = code.first_chunk().ok_or(DecodeError::Truncated(0))?;
    Ok((16, decode(generation, full)?))
}

impl DecodeError {
    /// Adds the offset in a program to the error.
    fn at(self, offset: usize) -> DecodeError {
        match self {
            DecodeError::Truncated(_) => DecodeError::Truncated(offset),
            other => other,
        }
    }
}

//! From words to instructions.
//!
//! SPIR-V 1.6, 2.3 "Physical Layout of a SPIR-V Module and Instruction".

use std::sync::LazyLock;

use rspirv::grammar::{INSTRUCTION_TABLE, OperandKind};
use rspirv::spirv::{MAGIC_NUMBER, Op};
use rustc_hash::FxHashMap;

use crate::error::{Place, Result, SpirvError};

/// An id of a module.
pub(crate) type Id = u32;

/// The words of a module, in the byte order of the host.
///
/// # Errors
/// The size is no multiple of a word's, or the magic number is missing.
pub(crate) fn words(bytes: &[u8]) -> Result<Vec<u32>> {
    let at_header =
        |what: &str| SpirvError { place: Place { number: None, opcode: 0, offset: 0 }, what: what.into() };
    let (words, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() || words.len() < HEADER {
        return Err(at_header("the size is not that of a module: a multiple of 4 bytes, at least 20"));
    }
    let read = byte_order(words[0]).ok_or_else(|| at_header("the magic number is missing"))?;
    let words: Vec<u32> = words.iter().map(|word| read(*word)).collect();
    let (major, minor) = (words[1] >> 16 & 0xff, words[1] >> 8 & 0xff);
    if major != 1 || minor > 6 {
        return Err(at_header(&format!("version {major}.{minor} is not supported; 1.0 to 1.6 are")));
    }
    Ok(words)
}

/// The number of the tool that wrote a module (SPIR-V 1.6, 2.3: the generator's magic number).
pub(crate) fn tool(words: &[u32]) -> u32 {
    words.get(2).map_or(0, |generator| generator >> 16)
}

/// How words are read, by the magic number.
pub(crate) fn byte_order(first: [u8; 4]) -> Option<fn([u8; 4]) -> u32> {
    match u32::from_le_bytes(first) {
        MAGIC_NUMBER => Some(u32::from_le_bytes),
        other if other.swap_bytes() == MAGIC_NUMBER => Some(u32::from_be_bytes),
        _ => None,
    }
}

/// Words in front of the first instruction.
const HEADER: usize = 5;

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction<'a> {
    pub(crate) op: Op,
    place: Place,
    /// The type of the result; 0 if there is none.
    pub(crate) ty: Id,
    /// The result; 0 if there is none.
    pub(crate) result: Id,
    /// What follows type and result.
    pub(crate) operands: &'a [u32],
}

impl<'a> Instruction<'a> {
    /// An error of this instruction.
    pub(crate) fn error(&self, what: impl Into<String>) -> SpirvError {
        SpirvError { place: self.place, what: what.into() }
    }

    /// An operand by number.
    pub(crate) fn operand(&self, number: usize) -> Result<u32> {
        self.operands.get(number).copied().ok_or_else(|| self.error("it has too few operands"))
    }

    /// The operands from one on.
    pub(crate) fn operands_from(&self, number: usize) -> Result<&'a [u32]> {
        self.operands.get(number..).ok_or_else(|| self.error("it has too few operands"))
    }

    /// A literal string that begins with an operand, and the number of the operand behind it.
    pub(crate) fn string(&self, first: usize) -> Result<(String, usize)> {
        let mut bytes = Vec::new();
        for (number, word) in self.operands_from(first)?.iter().enumerate() {
            for byte in word.to_le_bytes() {
                if byte == 0 {
                    let text = String::from_utf8(bytes).map_err(|_| self.error("a string is not UTF-8"))?;
                    return Ok((text, first + number + 1));
                }
                bytes.push(byte);
            }
        }
        Err(self.error("a string does not end"))
    }
}

/// Which of the first operands an opcode has.
struct Results {
    has_type: bool,
    has_result: bool,
}

static RESULTS: LazyLock<FxHashMap<u32, Results>> = LazyLock::new(|| {
    let has = |operands: &[rspirv::grammar::LogicalOperand], kind| operands.iter().any(|o| o.kind == kind);
    let rows = INSTRUCTION_TABLE.iter().map(|row| {
        let has_type = has(row.operands, OperandKind::IdResultType);
        (row.opcode as u32, Results { has_type, has_result: has(row.operands, OperandKind::IdResult) })
    });
    rows.collect()
});

/// The places of a module's instructions with the words behind their first one. The last one is an error if it is longer
/// than the module.
pub(crate) fn encoded(words: &[u32]) -> impl Iterator<Item = Result<(Place, &[u32])>> {
    let (mut at, mut number) = (HEADER, 0);
    std::iter::from_fn(move || {
        let first = *words.get(at)?;
        let place = Place { number: Some(number), opcode: first as u16, offset: 4 * at };
        let count = (first >> 16) as usize;
        let operands = words[at..].get(1..count);
        number += 1;
        // Nothing follows an error.
        at = operands.map_or(words.len(), |_| at + count);
        let too_long = || SpirvError { place, what: "its length exceeds the module".into() };
        Some(operands.map(|operands| (place, operands)).ok_or_else(too_long))
    })
}

/// The instructions of a module.
///
/// # Errors
/// An opcode is unknown, or an instruction is longer than the module.
pub(crate) fn instructions(words: &[u32]) -> Result<Vec<Instruction<'_>>> {
    encoded(words).map(|instruction| instruction.and_then(decode)).collect()
}

/// What an instruction is by its place and the words behind its first one.
fn decode<'a>((place, mut operands): (Place, &'a [u32])) -> Result<Instruction<'a>> {
    let code = u32::from(place.opcode);
    let error = |what: &str| SpirvError { place, what: what.into() };
    let known = Op::from_u32(code).zip(RESULTS.get(&code));
    let (op, row) = known.ok_or_else(|| error("the opcode is unknown"))?;
    let (mut ty, mut result) = (0, 0);
    for (is_there, into) in [(row.has_type, &mut ty), (row.has_result, &mut result)] {
        if !is_there {
            continue;
        }
        let (first, rest) = operands.split_first().ok_or_else(|| error("it has too few operands"))?;
        if *first == 0 {
            return Err(error("an id is 0"));
        }
        (*into, operands) = (*first, rest);
    }
    Ok(Instruction { op, place, ty, result, operands })
}

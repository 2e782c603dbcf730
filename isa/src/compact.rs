//! Compacted instructions, 8 bytes long.
//!
//! A row describes each field of a compacted instruction: its bits, the table that they index (or none), and
//! the bits of the full instruction that get the value. Both directions use the same rows.
//!
//! Source: "EU Compact Instruction Format" of the manuals for Ivy Bridge (Volume 4 Part 3),
//! Broadwell and Skylake (Volume 7).

mod tables;

use crate::codec::DecodeError;
use crate::field::{Bits, Field, gather, scatter};
use crate::generation::COLUMNS;
use crate::opcode::Format;
use crate::{Generation, Opcode};

/// A field of a compacted instruction.
struct Row {
    name: &'static str,
    /// The bits of the compacted instruction.
    compact: Bits,
    /// The table that its value indexes; without a table the value is used directly.
    table: Option<&'static [u64]>,
    /// The bits of the full instruction.
    full: Bits,
}

const fn plain(name: &'static str, compact: Bits, full: Bits) -> Row {
    Row { name, compact, table: None, full }
}

const fn indexed(name: &'static str, compact: Bits, table: &'static [u64], full: Bits) -> Row {
    Row { name, compact, table: Some(table), full }
}

const OPCODE: Row = plain("opcode", &[(6, 0)], &[(6, 0)]);
const DEBUG: Row = plain("debug control", &[(7, 7)], &[(30, 30)]);
const ACCUMULATOR: Row = plain("accumulator write", &[(23, 23)], &[(28, 28)]);
const CONDITION: Row = plain("conditional modifier", &[(27, 24)], &[(27, 24)]);
const DESTINATION: Row = plain("destination register", &[(47, 40)], &[(60, 53)]);
const SOURCE0: Row = plain("source 0 register", &[(55, 48)], &[(76, 69)]);
const SUBREGISTERS: Bits = &[(100, 96), (68, 64), (52, 48)];

/// Instructions with one or two sources, without source 1.
const GEN7: &[Row] = &[
    OPCODE,
    DEBUG,
    indexed("control", &[(12, 8)], tables::GEN7_CONTROL, &[(90, 89), (31, 31), (23, 8)]),
    indexed("data type", &[(17, 13)], tables::GEN7_DATATYPE, &[(63, 61), (46, 32)]),
    indexed("subregister", &[(22, 18)], tables::GEN7_SUBREGISTER, SUBREGISTERS),
    ACCUMULATOR,
    CONDITION,
    indexed("source 0", &[(34, 30)], tables::GEN7_SOURCE, &[(88, 77)]),
    DESTINATION,
    SOURCE0,
];

/// As [`GEN7`], at their positions in Gen8.
const GEN8: &[Row] = &[
    OPCODE,
    DEBUG,
    indexed("control", &[(12, 8)], tables::GEN8_CONTROL, &[(33, 31), (23, 12), (10, 9), (34, 34), (8, 8)]),
    indexed("data type", &[(17, 13)], tables::GEN8_DATATYPE, &[(63, 61), (94, 89), (46, 35)]),
    indexed("subregister", &[(22, 18)], tables::GEN8_SUBREGISTER, SUBREGISTERS),
    ACCUMULATOR,
    CONDITION,
    indexed("source 0", &[(34, 30)], tables::GEN8_SOURCE, &[(88, 77)]),
    DESTINATION,
    SOURCE0,
];

/// Source 1, a register.
const GEN7_SOURCE1: &[Row] = &[
    indexed("source 1", &[(39, 35)], tables::GEN7_SOURCE, &[(120, 109)]),
    plain("source 1 register", &[(63, 56)], &[(108, 101)]),
];

/// Source 1, a register.
const GEN8_SOURCE1: &[Row] = &[
    indexed("source 1", &[(39, 35)], tables::GEN8_SOURCE, &[(120, 109)]),
    plain("source 1 register", &[(63, 56)], &[(108, 101)]),
];

/// The bits of an immediate as source 1: 13 bits, which are sign-extended.
const IMMEDIATE: Bits = &[(39, 35), (63, 56)];
const IMMEDIATE_WIDTH: u32 = 13;

/// The fields of all three-source instructions after opcode, control and source index.
macro_rules! ternary_rows {
    ($control:expr, $source:expr) => {
        &[
            OPCODE,
            indexed("control", &[(9, 8)], tables::TERNARY_CONTROL, $control),
            indexed("source", &[(11, 10)], tables::TERNARY_SOURCE, $source),
            plain("destination register", &[(18, 12)], &[(62, 56)]),
            plain("source 0 replicate", &[(28, 28)], &[(64, 64)]),
            plain("debug control", &[(30, 30)], &[(30, 30)]),
            plain("saturate", &[(31, 31)], &[(31, 31)]),
            plain("source 1 replicate", &[(32, 32)], &[(85, 85)]),
            plain("source 2 replicate", &[(33, 33)], &[(106, 106)]),
            plain("source 0 subregister", &[(36, 34)], &[(75, 73)]),
            plain("source 1 subregister", &[(39, 37)], &[(96, 94)]),
            plain("source 2 subregister", &[(42, 40)], &[(117, 115)]),
            plain("source 0 register", &[(49, 43)], &[(82, 76)]),
            plain("source 1 register", &[(56, 50)], &[(103, 97)]),
            plain("source 2 register", &[(63, 57)], &[(124, 118)]),
        ]
    };
}

/// Instructions with three sources.
const GEN8_TERNARY: &[Row] = ternary_rows!(
    &[(34, 32), (28, 8)],
    &[(125, 125), (104, 104), (83, 83), (114, 107), (93, 86), (72, 65), (55, 37)]
);

/// Instructions with three sources, which may be half floats.
const GEN9_TERNARY: &[Row] = ternary_rows!(
    &[(36, 35), (34, 32), (28, 8)],
    &[(126, 125), (105, 104), (84, 84), (83, 83), (114, 107), (93, 86), (72, 65), (55, 37)]
);

/// The rows of a generation.
struct Formats {
    basic: &'static [Row],
    source1: &'static [Row],
    ternary: Option<&'static [Row]>,
}

const FORMATS: [Formats; COLUMNS] = [
    Formats { basic: GEN7, source1: GEN7_SOURCE1, ternary: None },
    Formats { basic: GEN7, source1: GEN7_SOURCE1, ternary: None },
    Formats { basic: GEN8, source1: GEN8_SOURCE1, ternary: Some(GEN8_TERNARY) },
    Formats { basic: GEN8, source1: GEN8_SOURCE1, ternary: Some(GEN9_TERNARY) },
];

/// The compaction bit, at the same position in both forms.
const COMPACTED: u64 = 1 << 29;

/// The rows of an instruction without those of source 1, and whether source 1 has separate rows.
fn rows(generation: Generation, opcode: u64) -> Option<(&'static [Row], bool)> {
    let formats = &FORMATS[generation.column()];
    let info = Opcode::from_code(generation, opcode as u8)?;
    match info.format {
        Format::Ternary => formats.ternary.map(|rows| (rows, false)),
        _ => Some((formats.basic, true)),
    }
}

/// Whether one of the sources of a full instruction is an immediate.
fn has_immediate(generation: Generation, word: u128) -> bool {
    const IMMEDIATE_FILE: u64 = 3;
    [Field::Src0File, Field::Src1File]
        .into_iter()
        .any(|field| field.info().get(generation, word) == IMMEDIATE_FILE)
}

/// Expands a compacted instruction.
pub(crate) fn expand(generation: Generation, compact: u64) -> Result<u128, DecodeError> {
    let opcode = compact & 0x7f;
    let (rows, has_source1) = rows(generation, opcode).ok_or(DecodeError::Opcode(opcode as u8))?;
    let mut word = 0;
    expand_rows(rows, compact, &mut word)?;
    if has_source1 {
        if has_immediate(generation, word) {
            let value = gather(IMMEDIATE, u128::from(compact));
            let shift = 32 - IMMEDIATE_WIDTH;
            let extended = ((value as u32) << shift) as i32 >> shift;
            word = Field::Immediate32.info().set(generation, word, u64::from(extended as u32));
        } else {
            expand_rows(FORMATS[generation.column()].source1, compact, &mut word)?;
        }
    }
    Ok(word)
}

fn expand_rows(rows: &[Row], compact: u64, word: &mut u128) -> Result<(), DecodeError> {
    for row in rows {
        let value = gather(row.compact, u128::from(compact));
        let value = match row.table {
            Some(table) => *table
                .get(value as usize)
                .ok_or(DecodeError::Compact { table: row.name, index: value as u32 })?,
            None => value,
        };
        *word = scatter(row.full, *word, value);
    }
    Ok(())
}

/// The compacted form of an encoded instruction; `None` where it has none.
///
/// Expanding the result gives the same 16 bytes. Branch offsets are not adjusted to the smaller size of
/// compacted instructions: the caller has to do that.
pub fn compact(generation: Generation, full: &[u8; 16]) -> Option<[u8; 8]> {
    let word = u128::from_le_bytes(*full);
    let (rows, has_source1) = rows(generation, word as u64 & 0x7f)?;
    let immediate = has_source1 && has_immediate(generation, word);
    // The low bits of an immediate overlap the subregister of source 1, so they must not take part in the
    // lookup of subregisters.
    let fields = if immediate { Field::Immediate32.info().set(generation, word, 0) } else { word };
    let mut result = compact_rows(rows, fields)?;
    if has_source1 {
        result |= if immediate {
            let value = Field::Immediate32.info().get(generation, word);
            scatter(IMMEDIATE, 0, value & ((1 << IMMEDIATE_WIDTH) - 1)) as u64
        } else {
            compact_rows(FORMATS[generation.column()].source1, word)?
        };
    }
    result |= COMPACTED;
    // They differ if bits are set that no row covers.
    (expand(generation, result).ok()? == word).then(|| result.to_le_bytes())
}

fn compact_rows(rows: &[Row], word: u128) -> Option<u64> {
    rows.iter().try_fold(0, |result, row| {
        let value = gather(row.full, word);
        let number = match row.table {
            Some(table) => table.iter().position(|&entry| entry == value)? as u64,
            None => value,
        };
        Some(result | scatter(row.compact, 0, number) as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every value of every table can be expanded, and is compacted to the same bits.
    #[test]
    fn compacting_undoes_expanding() {
        for generation in Generation::ALL {
            let mut seen = 0;
            for index in 0..32 {
                for code in [1u64, 64, 91] {
                    let compact_word = code | COMPACTED | index << 8 | (index % 4) << 10;
                    let Ok(full) = expand(generation, compact_word) else { continue };
                    let Some(again) = compact(generation, &full.to_le_bytes()) else { continue };
                    assert_eq!(expand(generation, u64::from_le_bytes(again)), Ok(full));
                    seen += 1;
                }
            }
            assert!(seen >= 32, "{generation:?}: {seen}");
        }
    }
}

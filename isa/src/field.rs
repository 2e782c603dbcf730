//! One row per field of an instruction word: its bits in each generation.
//!
//! Source: "Instruction Fields" and the instruction formats of "EU Instruction Formats" in the
//! manuals for Ivy Bridge (Volume 4 Part 3), Haswell, Broadwell and Skylake (Volume 7).

use crate::Generation;
use crate::generation::COLUMNS;

/// The bits of a field in one generation, as (high, low) pairs, the most significant piece first.
/// No piece: the generation does not have the field.
pub type Bits = &'static [(u8, u8)];

/// The instruction formats that a field is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldGroup {
    /// Bits that mean the same in all formats.
    Common,
    /// One and two sources.
    Basic,
    /// Three sources.
    Ternary,
    /// `send` and `sendc`.
    Send,
    /// `sends` and `sendsc`.
    SplitSend,
    /// Branches.
    Branch,
}

/// A row of the field table.
#[derive(Clone, Copy, Debug)]
pub struct FieldInfo {
    /// The field.
    pub field: Field,
    /// Its name in error messages.
    pub name: &'static str,
    /// The formats that have it.
    pub group: FieldGroup,
    bits: [Bits; COLUMNS],
}

/// The same bits in all generations up to Gen9.
const fn gen7_to_9(bits: Bits) -> [Bits; COLUMNS] {
    [bits; 4]
}
/// Different bits until Gen7.5, and from Gen8 to Gen9.
const fn moved(gen7: Bits, gen8: Bits) -> [Bits; COLUMNS] {
    [gen7, gen7, gen8, gen8]
}
const fn gen8_to_9(bits: Bits) -> [Bits; COLUMNS] {
    [&[], &[], bits, bits]
}
const fn gen9(bits: Bits) -> [Bits; COLUMNS] {
    [&[], &[], &[], bits]
}

/// Defines the enumeration of fields and the table from the same rows.
macro_rules! fields {
    ($($group:ident { $($field:ident $name:literal $bits:expr;)* })*) => {
        /// A field of an instruction word.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "each variant's row has its name and place")]
        pub enum Field { $($($field,)*)* }

        /// All fields.
        pub const FIELDS: &[FieldInfo] = &[
            $($(FieldInfo {
                field: Field::$field,
                name: $name,
                group: FieldGroup::$group,
                bits: $bits,
            },)*)*
        ];
    };
}

#[rustfmt::skip]
fields! {
Common {
    Opcode "opcode" gen7_to_9(&[(6, 0)]);
    AccessMode "access mode" gen7_to_9(&[(8, 8)]);
    NoDDClear "no dependency clear" moved(&[(10, 10)], &[(9, 9)]);
    NoDDCheck "no dependency check" moved(&[(11, 11)], &[(10, 10)]);
    Nibble "nibble control" moved(&[(47, 47)], &[(11, 11)]);
    Quarter "quarter control" gen7_to_9(&[(13, 12)]);
    ThreadControl "thread control" gen7_to_9(&[(15, 14)]);
    PredicateControl "predicate control" gen7_to_9(&[(19, 16)]);
    PredicateInverse "predicate inverse" gen7_to_9(&[(20, 20)]);
    ExecSize "execution size" gen7_to_9(&[(23, 21)]);
    Condition "conditional modifier" gen7_to_9(&[(27, 24)]);
    MathFunction "math function" gen7_to_9(&[(27, 24)]);
    SharedFunction "shared function" gen7_to_9(&[(27, 24)]);
    AccumulatorWrite "accumulator write" gen7_to_9(&[(28, 28)]);
    BranchControl "branch control" gen8_to_9(&[(28, 28)]);
    Compact "compaction" gen7_to_9(&[(29, 29)]);
    Debug "debug control" gen7_to_9(&[(30, 30)]);
    Saturate "saturate" gen7_to_9(&[(31, 31)]);
    NoMask "mask control" moved(&[(9, 9)], &[(34, 34)]);
}
Basic {
    FlagRegister "flag register" moved(&[(90, 90)], &[(33, 33)]);
    FlagSubregister "flag subregister" moved(&[(89, 89)], &[(32, 32)]);
    DstFile "destination file" moved(&[(33, 32)], &[(36, 35)]);
    DstType "destination type" moved(&[(36, 34)], &[(40, 37)]);
    DstMode "destination address mode" gen7_to_9(&[(63, 63)]);
    DstStride "destination stride" gen7_to_9(&[(62, 61)]);
    DstRegister "destination register" gen7_to_9(&[(60, 53)]);
    DstSub1 "destination subregister" gen7_to_9(&[(52, 48)]);
    DstSub16 "destination subregister" gen7_to_9(&[(52, 52)]);
    DstMask "destination write mask" gen7_to_9(&[(51, 48)]);
    DstAddress "destination address register" moved(&[(60, 58)], &[(60, 57)]);
    DstOffset1 "destination address offset" moved(&[(57, 48)], &[(47, 47), (56, 48)]);
    DstOffset16 "destination address offset" moved(&[(57, 52)], &[(47, 47), (56, 52)]);
    Src0File "source 0 file" moved(&[(38, 37)], &[(42, 41)]);
    Src0Type "source 0 type" moved(&[(41, 39)], &[(46, 43)]);
    Src0Abs "source 0 absolute" gen7_to_9(&[(77, 77)]);
    Src0Negate "source 0 negate" gen7_to_9(&[(78, 78)]);
    Src0Mode "source 0 address mode" gen7_to_9(&[(79, 79)]);
    Src0Register "source 0 register" gen7_to_9(&[(76, 69)]);
    Src0Sub1 "source 0 subregister" gen7_to_9(&[(68, 64)]);
    Src0Sub16 "source 0 subregister" gen7_to_9(&[(68, 68)]);
    Src0Address "source 0 address register" moved(&[(76, 74)], &[(76, 73)]);
    Src0Offset1 "source 0 address offset" moved(&[(73, 64)], &[(95, 95), (72, 64)]);
    Src0Offset16 "source 0 address offset" moved(&[(73, 68)], &[(95, 95), (72, 68)]);
    Src0VStride "source 0 vertical stride" gen7_to_9(&[(88, 85)]);
    Src0Width "source 0 width" gen7_to_9(&[(84, 82)]);
    Src0HStride "source 0 horizontal stride" gen7_to_9(&[(81, 80)]);
    Src0Swizzle "source 0 swizzle" gen7_to_9(&[(83, 80), (67, 64)]);
    Src1File "source 1 file" moved(&[(43, 42)], &[(90, 89)]);
    Src1Type "source 1 type" moved(&[(46, 44)], &[(94, 91)]);
    Src1Abs "source 1 absolute" gen7_to_9(&[(109, 109)]);
    Src1Negate "source 1 negate" gen7_to_9(&[(110, 110)]);
    Src1Mode "source 1 address mode" gen7_to_9(&[(111, 111)]);
    Src1Register "source 1 register" gen7_to_9(&[(108, 101)]);
    Src1Sub1 "source 1 subregister" gen7_to_9(&[(100, 96)]);
    Src1Sub16 "source 1 subregister" gen7_to_9(&[(100, 100)]);
    Src1Address "source 1 address register" moved(&[(108, 106)], &[(108, 105)]);
    Src1Offset1 "source 1 address offset" moved(&[(105, 96)], &[(121, 121), (104, 96)]);
    Src1Offset16 "source 1 address offset" moved(&[(105, 100)], &[(121, 121), (104, 100)]);
    Src1VStride "source 1 vertical stride" gen7_to_9(&[(120, 117)]);
    Src1Width "source 1 width" gen7_to_9(&[(116, 114)]);
    Src1HStride "source 1 horizontal stride" gen7_to_9(&[(113, 112)]);
    Src1Swizzle "source 1 swizzle" gen7_to_9(&[(115, 112), (99, 96)]);
    Immediate32 "immediate" gen7_to_9(&[(127, 96)]);
    Immediate64 "immediate" gen7_to_9(&[(127, 64)]);
}
Ternary {
    TernaryFlagRegister "flag register" moved(&[(34, 34)], &[(33, 33)]);
    TernaryFlagSubregister "flag subregister" moved(&[(33, 33)], &[(32, 32)]);
    TernaryDstType "destination type" moved(&[(45, 44)], &[(48, 46)]);
    TernarySrcType "source type" moved(&[(43, 42)], &[(45, 43)]);
    TernarySrc1Half "source 1 is half float" gen8_to_9(&[(36, 36)]);
    TernarySrc2Half "source 2 is half float" gen8_to_9(&[(35, 35)]);
    TernaryDstRegister "destination register" gen7_to_9(&[(63, 56)]);
    TernaryDstSub "destination subregister" gen7_to_9(&[(55, 53)]);
    TernaryDstMask "destination write mask" gen7_to_9(&[(52, 49)]);
    TernarySrc0Abs "source 0 absolute" moved(&[(36, 36)], &[(37, 37)]);
    TernarySrc0Negate "source 0 negate" moved(&[(37, 37)], &[(38, 38)]);
    TernarySrc1Abs "source 1 absolute" moved(&[(38, 38)], &[(39, 39)]);
    TernarySrc1Negate "source 1 negate" moved(&[(39, 39)], &[(40, 40)]);
    TernarySrc2Abs "source 2 absolute" moved(&[(40, 40)], &[(41, 41)]);
    TernarySrc2Negate "source 2 negate" moved(&[(41, 41)], &[(42, 42)]);
    TernarySrc0Replicate "source 0 replicate" gen7_to_9(&[(64, 64)]);
    TernarySrc0Swizzle "source 0 swizzle" gen7_to_9(&[(72, 65)]);
    TernarySrc0Sub "source 0 subregister" gen7_to_9(&[(75, 73)]);
    TernarySrc0Register "source 0 register" gen7_to_9(&[(83, 76)]);
    TernarySrc1Replicate "source 1 replicate" gen7_to_9(&[(85, 85)]);
    TernarySrc1Swizzle "source 1 swizzle" gen7_to_9(&[(93, 86)]);
    TernarySrc1Sub "source 1 subregister" gen7_to_9(&[(96, 94)]);
    TernarySrc1Register "source 1 register" gen7_to_9(&[(104, 97)]);
    TernarySrc2Replicate "source 2 replicate" gen7_to_9(&[(106, 106)]);
    TernarySrc2Swizzle "source 2 swizzle" gen7_to_9(&[(114, 107)]);
    TernarySrc2Sub "source 2 subregister" gen7_to_9(&[(117, 115)]);
    TernarySrc2Register "source 2 register" gen7_to_9(&[(125, 118)]);
}
Send {
    EndOfThread "end of thread" gen7_to_9(&[(127, 127)]);
    Descriptor "message descriptor" [&[(124, 96)], &[(124, 96)], &[(126, 96)], &[(126, 96)]];
}
SplitSend {
    SplitDstFile "destination file" gen9(&[(35, 35)]);
    SplitDstType "destination type" gen9(&[(40, 37)]);
    SplitSrc1File "source 1 file" gen9(&[(36, 36)]);
    SplitSrc1Register "source 1 register" gen9(&[(51, 44)]);
    SplitDescriptorInRegister "descriptor in register" gen9(&[(77, 77)]);
    SplitExtendedInRegister "extended descriptor in register" gen9(&[(61, 61)]);
    SplitExtendedRegister "extended descriptor register" gen9(&[(82, 80)]);
    SplitExtendedHigh "extended descriptor" gen9(&[(95, 80)]);
    SplitExtendedLow "extended descriptor" gen9(&[(67, 64)]);
}
Branch {
    JipNarrow "JIP" moved(&[(111, 96)], &[]);
    UipNarrow "UIP" moved(&[(127, 112)], &[]);
    JipWide "JIP" gen8_to_9(&[(127, 96)]);
    UipWide "UIP" gen8_to_9(&[(95, 64)]);
}
}

impl Field {
    /// The field's row.
    pub fn info(self) -> &'static FieldInfo {
        &FIELDS[self as usize]
    }

    /// Whether the generation has it.
    pub fn exists(self, generation: Generation) -> bool {
        !self.info().bits(generation).is_empty()
    }
}

impl FieldInfo {
    /// The bits of the field.
    pub const fn bits(&self, generation: Generation) -> Bits {
        self.bits[generation.column()]
    }

    /// Its width in bits.
    pub fn width(&self, generation: Generation) -> u32 {
        self.bits(generation).iter().map(|&(high, low)| u32::from(high - low) + 1).sum()
    }

    /// The field's value in an instruction word.
    pub fn get(&self, generation: Generation, word: u128) -> u64 {
        gather(self.bits(generation), word)
    }

    /// Returns the word with the field set to the low bits of `value`.
    pub fn set(&self, generation: Generation, word: u128, value: u64) -> u128 {
        scatter(self.bits(generation), word, value)
    }
}

/// Extracts bits of a word as a number.
pub(crate) fn gather(bits: Bits, word: u128) -> u64 {
    bits.iter().fold(0, |value, &(high, low)| {
        let width = u32::from(high - low) + 1;
        let piece = (word >> low) as u64 & mask(width);
        value.checked_shl(width).unwrap_or(0) | piece
    })
}

/// Returns the word with the bits set to the low ones of `value`.
pub(crate) fn scatter(bits: Bits, word: u128, value: u64) -> u128 {
    let mut rest = value;
    bits.iter().rev().fold(word, |word, &(high, low)| {
        let width = u32::from(high - low) + 1;
        let piece = rest & mask(width);
        rest = rest.checked_shr(width).unwrap_or(0);
        word & !(u128::from(mask(width)) << low) | u128::from(piece) << low
    })
}

/// The lowest `width` bits, 1 to 64.
fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_reads_back_what_was_set_and_does_not_overlap_others() {
        for generation in Generation::ALL {
            for row in FIELDS.iter().filter(|row| row.field.exists(generation)) {
                let value = 0x5a5a_a5a5_0f0f_f0f0 & mask(row.width(generation));
                for background in [0, u128::MAX] {
                    let word = row.set(generation, background, value);
                    assert_eq!(row.get(generation, word), value, "{:?}", row.field);
                    let old = row.get(generation, background);
                    assert_eq!(row.set(generation, word, old), background, "{:?}", row.field);
                }
            }
        }
    }

    #[test]
    fn rows_are_in_the_order_of_the_enumeration() {
        for (index, row) in FIELDS.iter().enumerate() {
            assert_eq!(row.field as usize, index);
        }
    }
}

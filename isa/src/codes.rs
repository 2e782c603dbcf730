//! Encodings of field values: one row per value, with its encoding in each generation and its text.
//!
//! Source: "Instruction Fields" of the manuals for Ivy Bridge (Volume 4 Part 3), Haswell, Broadwell
//! and Skylake (Volume 7), and "Message Descriptor" for the shared functions.

use crate::generation::COLUMNS;
use crate::{
    AccessMode, Condition, Generation, MathFunction, PredicateControl, Region, SharedFunction, ThreadControl,
    Type,
};

/// A value of a field: a row.
#[derive(Clone, Copy, Debug)]
pub struct Code<T: 'static> {
    /// The value.
    pub value: T,
    /// Its text in assembly; may be empty.
    pub text: &'static str,
    /// Its encoding in each generation; `None` where the generation does not have it.
    numbers: [Option<u8>; COLUMNS],
}

impl<T: Copy + PartialEq> Code<T> {
    /// Its encoding, `None` where the generation does not have it.
    pub fn number(&self, generation: Generation) -> Option<u8> {
        self.numbers[generation.column()]
    }
}

/// The row of a value.
pub(crate) fn by_value<T: Copy + PartialEq>(rows: &'static [Code<T>], value: T) -> Option<&'static Code<T>> {
    rows.iter().find(|row| row.value == value)
}

/// Decodes a number.
pub(crate) fn by_number<T: Copy + PartialEq>(
    rows: &'static [Code<T>],
    generation: Generation,
    number: u64,
) -> Option<T> {
    rows.iter().find(|row| row.number(generation).map(u64::from) == Some(number)).map(|row| row.value)
}

/// The value with a text, among the rows that the generation has.
pub(crate) fn by_text<T: Copy + PartialEq>(
    rows: &'static [Code<T>],
    generation: Generation,
    text: &str,
) -> Option<T> {
    rows.iter().find(|row| row.text == text && row.number(generation).is_some()).map(|row| row.value)
}

/// The text of a value; `?` where there is no row.
pub(crate) fn text<T: Copy + PartialEq>(rows: &'static [Code<T>], value: T) -> &'static str {
    by_value(rows, value).map_or("?", |row| row.text)
}

const fn gen7_to_9<T: Copy>(value: T, text: &'static str, number: u8) -> Code<T> {
    Code { value, text, numbers: [Some(number); 4] }
}
const fn gen75_to_9<T: Copy>(value: T, text: &'static str, number: u8) -> Code<T> {
    Code { value, text, numbers: [None, Some(number), Some(number), Some(number)] }
}
const fn gen8_to_9<T: Copy>(value: T, text: &'static str, number: u8) -> Code<T> {
    Code { value, text, numbers: [None, None, Some(number), Some(number)] }
}

/// The register files of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum File {
    Arf,
    Grf,
    Immediate,
}

pub(crate) const FILES: &[Code<File>] =
    &[gen7_to_9(File::Arf, "arf", 0), gen7_to_9(File::Grf, "grf", 1), gen7_to_9(File::Immediate, "imm", 3)];

/// The one-bit file fields of split sends.
pub(crate) const SPLIT_FILES: &[Code<File>] =
    &[gen7_to_9(File::Arf, "arf", 0), gen7_to_9(File::Grf, "grf", 1)];

pub(crate) const ACCESS_MODES: &[Code<AccessMode>] =
    &[gen7_to_9(AccessMode::Align1, "align1", 0), gen7_to_9(AccessMode::Align16, "align16", 1)];

pub(crate) const THREAD_CONTROLS: &[Code<ThreadControl>] = &[
    gen7_to_9(ThreadControl::Normal, "", 0),
    gen7_to_9(ThreadControl::Atomic, "atomic", 1),
    gen7_to_9(ThreadControl::Switch, "switch", 2),
];

/// Types of register operands.
pub const REGISTER_TYPES: &[Code<Type>] = &[
    gen7_to_9(Type::UD, "UD", 0),
    gen7_to_9(Type::D, "D", 1),
    gen7_to_9(Type::UW, "UW", 2),
    gen7_to_9(Type::W, "W", 3),
    gen7_to_9(Type::UB, "UB", 4),
    gen7_to_9(Type::B, "B", 5),
    gen7_to_9(Type::DF, "DF", 6),
    gen7_to_9(Type::F, "F", 7),
    gen8_to_9(Type::UQ, "UQ", 8),
    gen8_to_9(Type::Q, "Q", 9),
    gen8_to_9(Type::HF, "HF", 10),
];

/// Types of immediates.
pub const IMMEDIATE_TYPES: &[Code<Type>] = &[
    gen7_to_9(Type::UD, "UD", 0),
    gen7_to_9(Type::D, "D", 1),
    gen7_to_9(Type::UW, "UW", 2),
    gen7_to_9(Type::W, "W", 3),
    gen7_to_9(Type::UV, "UV", 4),
    gen7_to_9(Type::VF, "VF", 5),
    gen7_to_9(Type::V, "V", 6),
    gen7_to_9(Type::F, "F", 7),
    gen8_to_9(Type::UQ, "UQ", 8),
    gen8_to_9(Type::Q, "Q", 9),
    gen8_to_9(Type::DF, "DF", 10),
    gen8_to_9(Type::HF, "HF", 11),
];

/// Types of the operands of three-source instructions.
pub const TERNARY_TYPES: &[Code<Type>] = &[
    gen7_to_9(Type::F, "F", 0),
    gen7_to_9(Type::D, "D", 1),
    gen7_to_9(Type::UD, "UD", 2),
    gen7_to_9(Type::DF, "DF", 3),
    gen8_to_9(Type::HF, "HF", 4),
];

pub(crate) const EXEC_SIZES: &[Code<u8>] = &[
    gen7_to_9(1, "1", 0),
    gen7_to_9(2, "2", 1),
    gen7_to_9(4, "4", 2),
    gen7_to_9(8, "8", 3),
    gen7_to_9(16, "16", 4),
    gen7_to_9(32, "32", 5),
];

pub(crate) const VSTRIDES: &[Code<u8>] = &[
    gen7_to_9(0, "0", 0),
    gen7_to_9(1, "1", 1),
    gen7_to_9(2, "2", 2),
    gen7_to_9(4, "4", 3),
    gen7_to_9(8, "8", 4),
    gen7_to_9(16, "16", 5),
    gen7_to_9(32, "32", 6),
    gen7_to_9(Region::VXH, "VxH", 15),
];

pub(crate) const WIDTHS: &[Code<u8>] = &[
    gen7_to_9(1, "1", 0),
    gen7_to_9(2, "2", 1),
    gen7_to_9(4, "4", 2),
    gen7_to_9(8, "8", 3),
    gen7_to_9(16, "16", 4),
];

pub(crate) const HSTRIDES: &[Code<u8>] =
    &[gen7_to_9(0, "0", 0), gen7_to_9(1, "1", 1), gen7_to_9(2, "2", 2), gen7_to_9(4, "4", 3)];

/// Predicate control in align1; `None` is an unpredicated instruction.
pub const PREDICATES_ALIGN1: &[Code<Option<PredicateControl>>] = &[
    gen7_to_9(None, "", 0),
    gen7_to_9(Some(PredicateControl::Normal), "", 1),
    gen7_to_9(Some(PredicateControl::AnyV), "anyv", 2),
    gen7_to_9(Some(PredicateControl::AllV), "allv", 3),
    gen7_to_9(Some(PredicateControl::Any2H), "any2h", 4),
    gen7_to_9(Some(PredicateControl::All2H), "all2h", 5),
    gen7_to_9(Some(PredicateControl::Any4H), "any4h", 6),
    gen7_to_9(Some(PredicateControl::All4H), "all4h", 7),
    gen7_to_9(Some(PredicateControl::Any8H), "any8h", 8),
    gen7_to_9(Some(PredicateControl::All8H), "all8h", 9),
    gen7_to_9(Some(PredicateControl::Any16H), "any16h", 10),
    gen7_to_9(Some(PredicateControl::All16H), "all16h", 11),
    gen7_to_9(Some(PredicateControl::Any32H), "any32h", 12),
    gen7_to_9(Some(PredicateControl::All32H), "all32h", 13),
];

/// Predicate control in align16; `None` is an unpredicated instruction.
pub const PREDICATES_ALIGN16: &[Code<Option<PredicateControl>>] = &[
    gen7_to_9(None, "", 0),
    gen7_to_9(Some(PredicateControl::Normal), "", 1),
    gen7_to_9(Some(PredicateControl::ReplicateX), "x", 2),
    gen7_to_9(Some(PredicateControl::ReplicateY), "y", 3),
    gen7_to_9(Some(PredicateControl::ReplicateZ), "z", 4),
    gen7_to_9(Some(PredicateControl::ReplicateW), "w", 5),
    gen7_to_9(Some(PredicateControl::Align16Any4H), "any4h", 6),
    gen7_to_9(Some(PredicateControl::Align16All4H), "all4h", 7),
];

/// The predicate controls of an access mode.
pub(crate) fn predicates(mode: AccessMode) -> &'static [Code<Option<PredicateControl>>] {
    match mode {
        AccessMode::Align1 => PREDICATES_ALIGN1,
        AccessMode::Align16 => PREDICATES_ALIGN16,
    }
}

/// Conditional modifiers; `None` is an instruction without one.
pub const CONDITIONS: &[Code<Option<Condition>>] = &[
    gen7_to_9(None, "", 0),
    gen7_to_9(Some(Condition::Equal), "z", 1),
    gen7_to_9(Some(Condition::NotEqual), "nz", 2),
    gen7_to_9(Some(Condition::Greater), "g", 3),
    gen7_to_9(Some(Condition::GreaterEqual), "ge", 4),
    gen7_to_9(Some(Condition::Less), "l", 5),
    gen7_to_9(Some(Condition::LessEqual), "le", 6),
    gen7_to_9(Some(Condition::Overflow), "o", 8),
    gen7_to_9(Some(Condition::Unordered), "u", 9),
];

/// Functions of `math`.
pub const MATH_FUNCTIONS: &[Code<MathFunction>] = &[
    gen7_to_9(MathFunction::Inv, "inv", 1),
    gen7_to_9(MathFunction::Log, "log", 2),
    gen7_to_9(MathFunction::Exp, "exp", 3),
    gen7_to_9(MathFunction::Sqrt, "sqrt", 4),
    gen7_to_9(MathFunction::Rsq, "rsq", 5),
    gen7_to_9(MathFunction::Sin, "sin", 6),
    gen7_to_9(MathFunction::Cos, "cos", 7),
    gen7_to_9(MathFunction::Fdiv, "fdiv", 9),
    gen7_to_9(MathFunction::Pow, "pow", 10),
    gen7_to_9(MathFunction::IntDivQuotientRemainder, "intdivmod", 11),
    gen7_to_9(MathFunction::IntDivQuotient, "intdiv", 12),
    gen7_to_9(MathFunction::IntDivRemainder, "intmod", 13),
    gen8_to_9(MathFunction::Invm, "invm", 14),
    gen8_to_9(MathFunction::Rsqrtm, "rsqrtm", 15),
];

/// Shared functions.
pub const SHARED_FUNCTIONS: &[Code<SharedFunction>] = &[
    gen7_to_9(SharedFunction::Null, "null", 0),
    gen7_to_9(SharedFunction::Sampler, "sampler", 2),
    gen7_to_9(SharedFunction::Gateway, "gateway", 3),
    gen7_to_9(SharedFunction::SamplerCache, "dp_sampler", 4),
    gen7_to_9(SharedFunction::RenderCache, "render", 5),
    gen7_to_9(SharedFunction::Urb, "urb", 6),
    gen7_to_9(SharedFunction::ThreadSpawner, "thread_spawner", 7),
    gen7_to_9(SharedFunction::VideoMotionEstimation, "vme", 8),
    gen7_to_9(SharedFunction::ConstantCache, "const", 9),
    gen7_to_9(SharedFunction::DataCache, "data", 10),
    gen7_to_9(SharedFunction::PixelInterpolator, "pixel interp", 11),
    gen75_to_9(SharedFunction::DataCache1, "dp data 1", 12),
    gen75_to_9(SharedFunction::CheckAndRefinement, "cre", 13),
];

impl Type {
    /// Bits of an immediate of this type: 16, 32 or 64; arbitrary for types that cannot be immediates.
    pub const fn immediate_bits(self) -> u32 {
        match self {
            Type::UW | Type::W | Type::HF => 16,
            Type::UQ | Type::Q | Type::DF => 64,
            Type::UD | Type::D | Type::F | Type::V | Type::UV | Type::VF | Type::UB | Type::B => 32,
        }
    }
}

impl Generation {
    /// Whether the generation has register operands of the type.
    pub fn has_type(self, ty: Type) -> bool {
        by_value(REGISTER_TYPES, ty).is_some_and(|row| row.number(self).is_some())
    }
}

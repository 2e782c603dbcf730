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

const fn all<T>(value: T, text: &'static str, number: u8) -> Code<T>
where
    T: Copy,
{
    Code { value, text, numbers: [Some(number); COLUMNS] }
}
const fn from75<T: Copy>(value: T, text: &'static str, number: u8) -> Code<T> {
    Code { value, text, numbers: [None, Some(number), Some(number), Some(number)] }
}
const fn from8<T: Copy>(value: T, text: &'static str, number: u8) -> Code<T> {
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
    &[all(File::Arf, "arf", 0), all(File::Grf, "grf", 1), all(File::Immediate, "imm", 3)];

/// The one-bit file fields of split sends.
pub(crate) const SPLIT_FILES: &[Code<File>] = &[all(File::Arf, "arf", 0), all(File::Grf, "grf", 1)];

pub(crate) const ACCESS_MODES: &[Code<AccessMode>] =
    &[all(AccessMode::Align1, "align1", 0), all(AccessMode::Align16, "align16", 1)];

pub(crate) const THREAD_CONTROLS: &[Code<ThreadControl>] = &[
    all(ThreadControl::Normal, "", 0),
    all(ThreadControl::Atomic, "atomic", 1),
    all(ThreadControl::Switch, "switch", 2),
];

/// Types of register operands.
pub const REGISTER_TYPES: &[Code<Type>] = &[
    all(Type::UD, "UD", 0),
    all(Type::D, "D", 1),
    all(Type::UW, "UW", 2),
    all(Type::W, "W", 3),
    all(Type::UB, "UB", 4),
    all(Type::B, "B", 5),
    all(Type::DF, "DF", 6),
    all(Type::F, "F", 7),
    from8(Type::UQ, "UQ", 8),
    from8(Type::Q, "Q", 9),
    from8(Type::HF, "HF", 10),
];

/// Types of immediates.
pub const IMMEDIATE_TYPES: &[Code<Type>] = &[
    all(Type::UD, "UD", 0),
    all(Type::D, "D", 1),
    all(Type::UW, "UW", 2),
    all(Type::W, "W", 3),
    all(Type::UV, "UV", 4),
    all(Type::VF, "VF", 5),
    all(Type::V, "V", 6),
    all(Type::F, "F", 7),
    from8(Type::UQ, "UQ", 8),
    from8(Type::Q, "Q", 9),
    from8(Type::DF, "DF", 10),
    from8(Type::HF, "HF", 11),
];

/// Types of the operands of three-source instructions.
pub const TERNARY_TYPES: &[Code<Type>] = &[
    all(Type::F, "F", 0),
    all(Type::D, "D", 1),
    all(Type::UD, "UD", 2),
    all(Type::DF, "DF", 3),
    from8(Type::HF, "HF", 4),
];

pub(crate) const EXEC_SIZES: &[Code<u8>] =
    &[all(1, "1", 0), all(2, "2", 1), all(4, "4", 2), all(8, "8", 3), all(16, "16", 4), all(32, "32", 5)];

pub(crate) const VSTRIDES: &[Code<u8>] = &[
    all(0, "0", 0),
    all(1, "1", 1),
    all(2, "2", 2),
    all(4, "4", 3),
    all(8, "8", 4),
    all(16, "16", 5),
    all(32, "32", 6),
    all(Region::VXH, "VxH", 15),
];

pub(crate) const WIDTHS: &[Code<u8>] =
    &[all(1, "1", 0), all(2, "2", 1), all(4, "4", 2), all(8, "8", 3), all(16, "16", 4)];

pub(crate) const HSTRIDES: &[Code<u8>] = &[all(0, "0", 0), all(1, "1", 1), all(2, "2", 2), all(4, "4", 3)];

/// Predicate control in align1; `None` is an unpredicated instruction.
pub const PREDICATES_ALIGN1: &[Code<Option<PredicateControl>>] = &[
    all(None, "", 0),
    all(Some(PredicateControl::Normal), "", 1),
    all(Some(PredicateControl::AnyV), "anyv", 2),
    all(Some(PredicateControl::AllV), "allv", 3),
    all(Some(PredicateControl::Any2H), "any2h", 4),
    all(Some(PredicateControl::All2H), "all2h", 5),
    all(Some(PredicateControl::Any4H), "any4h", 6),
    all(Some(PredicateControl::All4H), "all4h", 7),
    all(Some(PredicateControl::Any8H), "any8h", 8),
    all(Some(PredicateControl::All8H), "all8h", 9),
    all(Some(PredicateControl::Any16H), "any16h", 10),
    all(Some(PredicateControl::All16H), "all16h", 11),
    all(Some(PredicateControl::Any32H), "any32h", 12),
    all(Some(PredicateControl::All32H), "all32h", 13),
];

/// Predicate control in align16; `None` is an unpredicated instruction.
pub const PREDICATES_ALIGN16: &[Code<Option<PredicateControl>>] = &[
    all(None, "", 0),
    all(Some(PredicateControl::Normal), "", 1),
    all(Some(PredicateControl::ReplicateX), "x", 2),
    all(Some(PredicateControl::ReplicateY), "y", 3),
    all(Some(PredicateControl::ReplicateZ), "z", 4),
    all(Some(PredicateControl::ReplicateW), "w", 5),
    all(Some(PredicateControl::Align16Any4H), "any4h", 6),
    all(Some(PredicateControl::Align16All4H), "all4h", 7),
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
    all(None, "", 0),
    all(Some(Condition::Equal), "z", 1),
    all(Some(Condition::NotEqual), "nz", 2),
    all(Some(Condition::Greater), "g", 3),
    all(Some(Condition::GreaterEqual), "ge", 4),
    all(Some(Condition::Less), "l", 5),
    all(Some(Condition::LessEqual), "le", 6),
    all(Some(Condition::Overflow), "o", 8),
    all(Some(Condition::Unordered), "u", 9),
];

/// Functions of `math`.
pub const MATH_FUNCTIONS: &[Code<MathFunction>] = &[
    all(MathFunction::Inv, "inv", 1),
    all(MathFunction::Log, "log", 2),
    all(MathFunction::Exp, "exp", 3),
    all(MathFunction::Sqrt, "sqrt", 4),
    all(MathFunction::Rsq, "rsq", 5),
    all(MathFunction::Sin, "sin", 6),
    all(MathFunction::Cos, "cos", 7),
    all(MathFunction::Fdiv, "fdiv", 9),
    all(MathFunction::Pow, "pow", 10),
    all(MathFunction::IntDivQuotientRemainder, "intdivmod", 11),
    all(MathFunction::IntDivQuotient, "intdiv", 12),
    all(MathFunction::IntDivRemainder, "intmod", 13),
    from8(MathFunction::Invm, "invm", 14),
    from8(MathFunction::Rsqrtm, "rsqrtm", 15),
];

/// Shared functions.
pub const SHARED_FUNCTIONS: &[Code<SharedFunction>] = &[
    all(SharedFunction::Null, "null", 0),
    all(SharedFunction::Sampler, "sampler", 2),
    all(SharedFunction::Gateway, "gateway", 3),
    all(SharedFunction::SamplerCache, "dp_sampler", 4),
    all(SharedFunction::RenderCache, "render", 5),
    all(SharedFunction::Urb, "urb", 6),
    all(SharedFunction::ThreadSpawner, "thread_spawner", 7),
    all(SharedFunction::VideoMotionEstimation, "vme", 8),
    all(SharedFunction::ConstantCache, "const", 9),
    all(SharedFunction::DataCache, "data", 10),
    all(SharedFunction::PixelInterpolator, "pixel interp", 11),
    from75(SharedFunction::DataCache1, "dp data 1", 12),
    from75(SharedFunction::CheckAndRefinement, "cre", 13),
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

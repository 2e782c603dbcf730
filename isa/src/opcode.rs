//! One row per opcode.
//!
//! Source: "EU Overview", "Opcode Encoding" of the manuals for Ivy Bridge (Volume 4 Part 3),
//! Haswell, Broadwell and Skylake (Volume 7).

use crate::generation::COLUMNS;
use crate::{Arf, Generation, Opcode, Region, Register, Type};

/// The layout and syntax of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Destination and one or two sources.
    Basic,
    /// Destination and three sources, align16.
    Ternary,
    /// Two sources; the function is encoded in the conditional modifier's bits.
    Math,
    /// One payload and a message descriptor.
    Send,
    /// Two payloads and a message descriptor.
    SplitSend,
    /// A branch with offsets.
    Branch(BranchLayout),
    /// `jmpi`: the offset, immediate or register, is source 1.
    Jump,
    /// `call`, `calla`: the destination gets the return address.
    Call,
    /// `ret`: source 0 is the result of `call`.
    Return,
    /// `brd`, `brc`: offsets, or a register that contains them.
    RegisterBranch(BranchLayout),
    /// `wait`: destination and source are the same notification register.
    Wait,
    /// Only an opcode.
    Bare,
}

/// A register operand that is always the same, and therefore not part of an `Instruction`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Implied {
    pub(crate) register: Register,
    pub(crate) region: Region,
    pub(crate) ty: Type,
    /// Horizontal stride, for a destination.
    pub(crate) hstride: u8,
}

/// The encoding of a branch's offsets, and the contents of the operand fields around them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchLayout {
    /// Number of offsets in each generation: 1 (`JIP`) or 2 (`JIP` and `UIP`).
    offsets: [u8; COLUMNS],
    destination: [Implied; COLUMNS],
    /// Source 0, if narrow offsets are in the immediate of source 1; otherwise they are in that of source 0.
    pub(crate) source: Option<Implied>,
    /// Type of the immediate with narrow offsets.
    pub(crate) immediate: Type,
}

impl BranchLayout {
    /// Whether the branch has a `UIP`.
    pub const fn has_uip(&self, generation: Generation) -> bool {
        self.offsets[generation.column()] == 2
    }

    /// What stands in the destination's fields.
    pub(crate) const fn destination(&self, generation: Generation) -> &Implied {
        &self.destination[generation.column()]
    }
}

bitflags::bitflags! {
    /// The modifiers and options that an instruction may have.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Allows: u16 {
        /// Conditional modifier.
        const CONDITION = 1;
        /// Saturation.
        const SATURATE = 2;
        /// Source modifiers (negate, absolute).
        const MODIFIERS = 4;
        /// The conditional modifier selects and does not write a flag register.
        const CONDITION_WITHOUT_FLAG = 8;
        /// A logic operation: `negate` is complement on Gen8+.
        const LOGIC = 16;
        /// The conditional modifier is required.
        const CONDITION_REQUIRED = 32;
        /// The immediate has 64 bits regardless of its type (`dim`).
        const WIDE_IMMEDIATE = 64;
        /// `BranchCtrl` in the bit of accumulator write, Gen8+.
        const BRANCH_CONTROL = 128;
        /// No predication.
        const NO_PREDICATE = 256;
    }
}

/// A row of the opcode table.
#[derive(Clone, Copy, Debug)]
pub struct OpcodeInfo {
    /// The operation.
    pub opcode: Opcode,
    /// Its mnemonic.
    pub mnemonic: &'static str,
    /// Bits 6:0 in each generation; `None` where it does not exist.
    code: [Option<u8>; COLUMNS],
    /// Number of sources in the text.
    pub sources: u8,
    /// Its layout.
    pub format: Format,
    /// What it allows.
    pub allows: Allows,
}

impl OpcodeInfo {
    /// Bits 6:0, `None` where the generation does not have the opcode.
    pub const fn code(&self, generation: Generation) -> Option<u8> {
        self.code[generation.column()]
    }
}

const fn gen7_to_9(code: u8) -> [Option<u8>; COLUMNS] {
    [Some(code); 4]
}
/// Gen7 and Gen7.5 only.
const fn gen7_to_75(code: u8) -> [Option<u8>; COLUMNS] {
    [Some(code), Some(code), None, None]
}
const fn gen75(code: u8) -> [Option<u8>; COLUMNS] {
    [None, Some(code), None, None]
}
const fn gen75_to_9(code: u8) -> [Option<u8>; COLUMNS] {
    [None, Some(code), Some(code), Some(code)]
}
const fn gen8_to_9(code: u8) -> [Option<u8>; COLUMNS] {
    [None, None, Some(code), Some(code)]
}
const fn gen9(code: u8) -> [Option<u8>; COLUMNS] {
    [None, None, None, Some(code)]
}

const NULL_D: Implied =
    Implied { register: Register::NULL, region: Region::new(8, 8, 1), ty: Type::D, hstride: 1 };
const NULL_SCALAR_D: Implied = Implied { region: Region::SCALAR, ..NULL_D };
/// All fields zero.
const NULL_ZERO: Implied =
    Implied { register: Register::NULL, region: Region::SCALAR, ty: Type::UD, hstride: 0 };
const IP: Implied =
    Implied { register: Register::Arf(Arf::Ip), region: Region::new(4, 1, 0), ty: Type::UD, hstride: 1 };

const fn branch(
    offsets: [u8; COLUMNS],
    destination: [Implied; COLUMNS],
    source: Option<Implied>,
    immediate: Type,
) -> BranchLayout {
    BranchLayout { offsets, destination, source, immediate }
}

const ALU: Allows = Allows::CONDITION.union(Allows::SATURATE).union(Allows::MODIFIERS);
const LOGIC: Allows = Allows::CONDITION.union(Allows::MODIFIERS).union(Allows::LOGIC);
const COUNT: Allows = Allows::CONDITION;
const NONE: Allows = Allows::empty();

const fn row(
    opcode: Opcode,
    mnemonic: &'static str,
    code: [Option<u8>; COLUMNS],
    sources: u8,
    format: Format,
    allows: Allows,
) -> OpcodeInfo {
    OpcodeInfo { opcode, mnemonic, code, sources, format, allows }
}

/// All opcodes, in the order of the enumeration.
#[rustfmt::skip]
pub const OPCODES: &[OpcodeInfo] = &[
    row(Opcode::Illegal, "illegal", gen7_to_9(0), 0, Format::Bare, NONE),
    row(Opcode::Mov, "mov", gen7_to_9(1), 1, Format::Basic, ALU),
    row(Opcode::Sel, "sel", gen7_to_9(2), 2, Format::Basic, ALU.union(Allows::CONDITION_WITHOUT_FLAG)),
    row(Opcode::Movi, "movi", gen7_to_9(3), 1, Format::Basic, Allows::SATURATE),
    row(Opcode::Not, "not", gen7_to_9(4), 1, Format::Basic, LOGIC),
    row(Opcode::And, "and", gen7_to_9(5), 2, Format::Basic, LOGIC),
    row(Opcode::Or, "or", gen7_to_9(6), 2, Format::Basic, LOGIC),
    row(Opcode::Xor, "xor", gen7_to_9(7), 2, Format::Basic, LOGIC),
    row(Opcode::Shr, "shr", gen7_to_9(8), 2, Format::Basic, ALU),
    row(Opcode::Shl, "shl", gen7_to_9(9), 2, Format::Basic, ALU),
    row(Opcode::Smov, "smov", gen8_to_9(10), 2, Format::Basic, NONE),
    row(Opcode::Asr, "asr", gen7_to_9(12), 2, Format::Basic, ALU),
    row(Opcode::Cmp, "cmp", gen7_to_9(16), 2, Format::Basic, Allows::CONDITION.union(Allows::MODIFIERS).union(Allows::CONDITION_REQUIRED)),
    row(Opcode::Cmpn, "cmpn", gen7_to_9(17), 2, Format::Basic, Allows::CONDITION.union(Allows::MODIFIERS).union(Allows::CONDITION_REQUIRED)),
    row(Opcode::Csel, "csel", gen8_to_9(18), 3, Format::Ternary, ALU.union(Allows::CONDITION_WITHOUT_FLAG).union(Allows::CONDITION_REQUIRED)),
    row(Opcode::F32To16, "f32to16", gen7_to_75(19), 1, Format::Basic, ALU),
    row(Opcode::F16To32, "f16to32", gen7_to_75(20), 1, Format::Basic, ALU),
    row(Opcode::Bfrev, "bfrev", gen7_to_9(23), 1, Format::Basic, COUNT),
    row(Opcode::Bfe, "bfe", gen7_to_9(24), 3, Format::Ternary, NONE),
    row(Opcode::Bfi1, "bfi1", gen7_to_9(25), 2, Format::Basic, NONE),
    row(Opcode::Bfi2, "bfi2", gen7_to_9(26), 3, Format::Ternary, NONE),
    row(Opcode::Dim, "dim", gen75(10), 1, Format::Basic, Allows::WIDE_IMMEDIATE),
    row(Opcode::Jmpi, "jmpi", gen7_to_9(32), 1, Format::Jump, NONE),
    row(Opcode::Brd, "brd", gen7_to_9(33), 0, Format::RegisterBranch(branch([1; 4], [IP; 4], None, Type::W)), NONE),
    row(Opcode::If, "if", gen7_to_9(34), 0, Format::Branch(branch([2; 4], [NULL_D; 4], Some(NULL_SCALAR_D), Type::W)), Allows::BRANCH_CONTROL),
    row(Opcode::Brc, "brc", gen7_to_9(35), 0, Format::RegisterBranch(branch([2; 4], [IP; 4], None, Type::W)), NONE),
    row(Opcode::Else, "else", gen7_to_9(36), 0, Format::Branch(branch([1, 1, 2, 2], [NULL_D; 4], Some(NULL_D), Type::W)), Allows::BRANCH_CONTROL.union(Allows::NO_PREDICATE)),
    row(Opcode::Endif, "endif", gen7_to_9(37), 0, Format::Branch(branch([1; 4], [NULL_D, NULL_D, NULL_ZERO, NULL_ZERO], Some(NULL_D), Type::W)), NONE),
    row(Opcode::While, "while", gen7_to_9(39), 0, Format::Branch(branch([1; 4], [NULL_D; 4], Some(NULL_D), Type::W)), NONE),
    row(Opcode::Break, "break", gen7_to_9(40), 0, Format::Branch(branch([2; 4], [NULL_D; 4], Some(NULL_D), Type::D)), NONE),
    row(Opcode::Cont, "cont", gen7_to_9(41), 0, Format::Branch(branch([2; 4], [IP; 4], Some(IP), Type::D)), NONE),
    row(Opcode::Halt, "halt", gen7_to_9(42), 0, Format::Branch(branch([2; 4], [NULL_D; 4], Some(NULL_D), Type::D)), NONE),
    row(Opcode::Calla, "calla", gen75_to_9(43), 0, Format::Call, NONE),
    row(Opcode::Call, "call", gen7_to_9(44), 0, Format::Call, NONE),
    row(Opcode::Ret, "ret", gen7_to_9(45), 1, Format::Return, NONE),
    row(Opcode::Goto, "goto", gen8_to_9(46), 0, Format::Branch(branch([2; 4], [NULL_D; 4], Some(NULL_D), Type::D)), Allows::BRANCH_CONTROL),
    row(Opcode::Join, "join", gen8_to_9(47), 0, Format::Branch(branch([1; 4], [NULL_D; 4], Some(NULL_D), Type::D)), NONE),
    row(Opcode::Wait, "wait", gen7_to_9(48), 0, Format::Wait, NONE),
    row(Opcode::Send, "send", gen7_to_9(49), 1, Format::Send, NONE),
    row(Opcode::Sendc, "sendc", gen7_to_9(50), 1, Format::Send, NONE),
    row(Opcode::Sends, "sends", gen9(51), 2, Format::SplitSend, NONE),
    row(Opcode::Sendsc, "sendsc", gen9(52), 2, Format::SplitSend, NONE),
    row(Opcode::Math, "math", gen7_to_9(56), 2, Format::Math, Allows::SATURATE.union(Allows::MODIFIERS)),
    row(Opcode::Add, "add", gen7_to_9(64), 2, Format::Basic, ALU),
    row(Opcode::Mul, "mul", gen7_to_9(65), 2, Format::Basic, ALU),
    row(Opcode::Avg, "avg", gen7_to_9(66), 2, Format::Basic, ALU),
    row(Opcode::Frc, "frc", gen7_to_9(67), 1, Format::Basic, ALU),
    row(Opcode::Rndu, "rndu", gen7_to_9(68), 1, Format::Basic, ALU),
    row(Opcode::Rndd, "rndd", gen7_to_9(69), 1, Format::Basic, ALU),
    row(Opcode::Rnde, "rnde", gen7_to_9(70), 1, Format::Basic, ALU),
    row(Opcode::Rndz, "rndz", gen7_to_9(71), 1, Format::Basic, ALU),
    row(Opcode::Mac, "mac", gen7_to_9(72), 2, Format::Basic, ALU),
    row(Opcode::Mach, "mach", gen7_to_9(73), 2, Format::Basic, ALU),
    row(Opcode::Lzd, "lzd", gen7_to_9(74), 1, Format::Basic, ALU),
    row(Opcode::Fbh, "fbh", gen7_to_9(75), 1, Format::Basic, NONE),
    row(Opcode::Fbl, "fbl", gen7_to_9(76), 1, Format::Basic, NONE),
    row(Opcode::Cbit, "cbit", gen7_to_9(77), 1, Format::Basic, COUNT),
    row(Opcode::Addc, "addc", gen7_to_9(78), 2, Format::Basic, ALU),
    row(Opcode::Subb, "subb", gen7_to_9(79), 2, Format::Basic, ALU),
    row(Opcode::Sad2, "sad2", gen7_to_9(80), 2, Format::Basic, ALU),
    row(Opcode::Sada2, "sada2", gen7_to_9(81), 2, Format::Basic, ALU),
    row(Opcode::Dp4, "dp4", gen7_to_9(84), 2, Format::Basic, ALU),
    row(Opcode::Dph, "dph", gen7_to_9(85), 2, Format::Basic, ALU),
    row(Opcode::Dp3, "dp3", gen7_to_9(86), 2, Format::Basic, ALU),
    row(Opcode::Dp2, "dp2", gen7_to_9(87), 2, Format::Basic, ALU),
    row(Opcode::Line, "line", gen7_to_9(89), 2, Format::Basic, ALU),
    row(Opcode::Pln, "pln", gen7_to_9(90), 2, Format::Basic, ALU),
    row(Opcode::Mad, "mad", gen7_to_9(91), 3, Format::Ternary, ALU),
    row(Opcode::Lrp, "lrp", gen7_to_9(92), 3, Format::Ternary, ALU),
    row(Opcode::Madm, "madm", gen8_to_9(93), 3, Format::Ternary, ALU),
    row(Opcode::Nop, "nop", gen7_to_9(126), 0, Format::Bare, NONE),
];

impl Opcode {
    /// The opcode's row. A test checks that every opcode has one.
    pub fn info(self) -> &'static OpcodeInfo {
        &OPCODES[self as usize]
    }

    /// Whether it is a branch with a `UIP`.
    pub fn has_uip(self, generation: Generation) -> bool {
        match self.info().format {
            Format::Branch(shape) | Format::RegisterBranch(shape) => shape.has_uip(generation),
            _ => false,
        }
    }

    /// The row with a value of bits 6:0.
    pub fn from_code(generation: Generation, code: u8) -> Option<&'static OpcodeInfo> {
        OPCODES.iter().find(|row| row.code(generation) == Some(code))
    }

    /// The row of a mnemonic.
    pub fn from_mnemonic(mnemonic: &str) -> Option<&'static OpcodeInfo> {
        OPCODES.iter().find(|row| row.mnemonic == mnemonic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_enumeration() {
        for (index, row) in OPCODES.iter().enumerate() {
            assert_eq!(row.opcode as usize, index, "{}", row.mnemonic);
        }
        assert_eq!(OPCODES.len(), Opcode::Nop as usize + 1);
    }

    #[test]
    fn codes_and_mnemonics_are_unique() {
        for generation in Generation::ALL {
            for row in OPCODES {
                if let Some(code) = row.code(generation) {
                    assert!(code < 128);
                    assert_eq!(Opcode::from_code(generation, code).unwrap().opcode, row.opcode);
                }
            }
        }
        for row in OPCODES {
            assert_eq!(Opcode::from_mnemonic(row.mnemonic).unwrap().opcode, row.opcode);
        }
    }
}

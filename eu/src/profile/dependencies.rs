//! Register dependencies and cost of an instruction.

use gencl_isa::{Generation, Opcode};

use crate::cycles::{self, InstructionCost};
use crate::dispatch::GRF_SIZE;
use crate::file::{ACCUMULATOR, ADDRESS, FLAG};
use crate::op::{Action, Op};
use crate::operand::{SourceLocation, Src, Target};

/// Number of tracked architecture registers, in the order of their bits: four flag words (`f0.0`, `f0.1`,
/// `f1.0`, `f1.1`), `acc0`, all other accumulators, `a0`.
pub const ARCHITECTURE_REGISTERS: usize = 7;
/// Bit of the first accumulator.
pub const FIRST_ACCUMULATOR: usize = 4;
/// Bit of `a0`.
pub const ADDRESS_REGISTER: usize = 6;

/// The registers that an instruction accesses, as bit sets, and its cost; the same for all threads.
#[derive(Clone, Copy, Debug)]
pub struct Dependencies {
    /// General registers that it reads. Those of a message may be known only when it is sent.
    pub reads: u128,
    /// General registers that it writes.
    pub writes: u128,
    /// Architecture registers that it reads.
    pub arf_reads: u8,
    /// Architecture registers that it writes.
    pub arf_writes: u8,
    /// Its cost.
    pub cost: InstructionCost,
}

impl Dependencies {
    /// The dependencies of an instruction. An indirect operand only counts as a read of `a0`.
    pub fn of(generation: Generation, op: &Op) -> Dependencies {
        let flags = flag_words(op.flag_bit, op.lanes);
        let accumulators: u8 = 3 << FIRST_ACCUMULATOR;
        let mut dependencies = Dependencies {
            reads: op.reads,
            writes: op.writes,
            arf_reads: 0,
            arf_writes: 0,
            cost: cycles::cost(generation, op),
        };
        dependencies.arf_reads |= op.src.iter().map(read_by).fold(0, |all, bits| all | bits);
        match op.dst.target {
            Target::Direct { offset, .. } => dependencies.arf_writes |= architecture(offset),
            Target::Indirect { .. } => dependencies.arf_reads |= 1 << ADDRESS_REGISTER,
            Target::Null => {}
        }
        if op.predicate.is_some() {
            dependencies.arf_reads |= flags;
        }
        // The conditional modifier of `sel` writes no flag.
        if op.condition.is_some() && op.opcode != Opcode::Sel {
            dependencies.arf_writes |= flags;
        }
        if matches!(op.opcode, Opcode::Mac | Opcode::Mach | Opcode::Sada2) {
            dependencies.arf_reads |= accumulators;
        }
        if op.accumulator_write || op.opcode == Opcode::Mach {
            dependencies.arf_writes |= accumulators;
        }
        if matches!(&op.action, Action::Message(message) if message.kind.is_none()) {
            dependencies.arf_reads |= 1 << ADDRESS_REGISTER;
        }
        dependencies
    }
}

/// The flag words that an instruction uses, from its first flag bit on.
fn flag_words(first: u8, lanes: u8) -> u8 {
    let (from, to) = (first / 16, (first + lanes.max(1) - 1) / 16);
    (from..=to.min(3)).fold(0, |bits, word| bits | 1 << word)
}

/// The architecture registers that a source reads.
fn read_by(src: &Src) -> u8 {
    match src.location {
        SourceLocation::Indirect { .. } => 1 << ADDRESS_REGISTER,
        SourceLocation::Packed(_)
        | SourceLocation::Scalar(_)
        | SourceLocation::Constant(_)
        | SourceLocation::Constants(_)
        | SourceLocation::Scattered(_)
        | SourceLocation::None => src.offset().map_or(0, architecture),
    }
}

/// The architecture register at an offset in the register file.
fn architecture(offset: usize) -> u8 {
    let register = |base: usize| (offset - base) / GRF_SIZE;
    match offset {
        ADDRESS..ACCUMULATOR => 1 << ADDRESS_REGISTER,
        ACCUMULATOR..FLAG => 1 << (FIRST_ACCUMULATOR + register(ACCUMULATOR).min(1)),
        // A whole flag register is two words.
        _ if (FLAG..FLAG + 4).contains(&offset) => 0b0011,
        _ if (FLAG + 4..FLAG + 8).contains(&offset) => 0b1100,
        _ => 0,
    }
}

//! Which registers an instruction reads and writes, as far as others wait for them.

use gencl_isa::{Generation, Opcode};

use crate::cycles::{self, Cost};
use crate::dispatch::GRF_SIZE;
use crate::file::{ACCUMULATOR, ADDRESS, FLAG};
use crate::op::{Action, Op};
use crate::operand::{Place, Src, Target};

/// Architecture registers as bits: four flag words (`f0.0`, `f0.1`, `f1.0`, `f1.1`), `acc0`, `acc1` and
/// further ones, `a0`.
pub const ARCHITECTURE_REGISTERS: usize = 7;
/// First accumulator.
pub const FIRST_ACCUMULATOR: usize = 4;
/// `a0`
pub const ADDRESS_REGISTER: usize = 6;

/// What an instruction needs, whatever the thread.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// General registers that it reads; of a message that is known when it is sent.
    pub reads: u128,
    /// General registers that it writes.
    pub writes: u128,
    /// Architecture registers that it reads.
    pub arf_reads: u8,
    /// Architecture registers that it writes.
    pub arf_writes: u8,
    /// Its cost.
    pub cost: Cost,
}

impl Needs {
    /// Those of an instruction. A register that is found through `a0` counts as that only.
    pub fn of(generation: Generation, op: &Op) -> Needs {
        let flags = flag_words(op.flag_bit, op.lanes);
        let accumulators: u8 = 3 << FIRST_ACCUMULATOR;
        let mut needs = Needs {
            reads: op.reads,
            writes: op.writes,
            arf_reads: 0,
            arf_writes: 0,
            cost: cycles::cost(generation, op),
        };
        needs.arf_reads |= op.src.iter().map(read_by).fold(0, |all, bits| all | bits);
        match op.dst.target {
            Target::Direct { offset, .. } => needs.arf_writes |= architecture(offset),
            Target::Indirect { .. } => needs.arf_reads |= 1 << ADDRESS_REGISTER,
            Target::Null => {}
        }
        if op.predicate.is_some() {
            needs.arf_reads |= flags;
        }
        // `sel` chooses by its condition and leaves the flag.
        if op.condition.is_some() && op.opcode != Opcode::Sel {
            needs.arf_writes |= flags;
        }
        if matches!(op.opcode, Opcode::Mac | Opcode::Mach | Opcode::Sada2) {
            needs.arf_reads |= accumulators;
        }
        if op.accumulator_write || op.opcode == Opcode::Mach {
            needs.arf_writes |= accumulators;
        }
        if matches!(&op.action, Action::Message(message) if message.kind.is_none()) {
            needs.arf_reads |= 1 << ADDRESS_REGISTER;
        }
        needs
    }
}

/// The words of flags that lanes from a flag bit on use.
fn flag_words(first: u8, lanes: u8) -> u8 {
    let (from, to) = (first / 16, (first + lanes.max(1) - 1) / 16);
    (from..=to.min(3)).fold(0, |bits, word| bits | 1 << word)
}

/// The architecture registers that a source reads.
fn read_by(src: &Src) -> u8 {
    match src.place {
        Place::Indirect { .. } => 1 << ADDRESS_REGISTER,
        _ => src.offset().map_or(0, architecture),
    }
}

/// The register at an offset of the register file.
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

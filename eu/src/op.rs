//! Lowered instructions: the form in which they are executed.

use gencl_isa::{Allows, Condition, Opcode, PredicateControl, Type};

use crate::fault::Fault;
use crate::message::Message;
use crate::operand::{Dst, Src};
use crate::thread::Thread;

/// A fault of a thread, boxed, as it is rare and large.
pub type Trap = Box<Fault>;

/// Executes an arithmetic instruction for the channels of a mask (bit 0: the instruction's first
/// channel).
pub type Execute = fn(&mut Thread, &Op, u32) -> Result<(), Trap>;

/// A resolved predicate.
#[derive(Clone, Copy, Debug)]
pub struct Pred {
    /// How bits are combined.
    pub control: PredicateControl,
    /// Invert.
    pub inverse: bool,
}

/// A branch. Targets are indices of instructions: the thread jumps to `jip` when no channel is left at the
/// next instruction; channels that take the branch are parked at `uip`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the targets are explained above")]
pub enum Branch {
    /// `jmpi` to a known target.
    Jump(usize),
    /// `jmpi` by the bytes in source 0, from the next instruction.
    JumpIndirect,
    /// `if`
    If { jip: usize },
    /// `else`
    Else { jip: usize, uip: usize },
    /// `endif` and `join`.
    Join { jip: usize },
    /// `while`
    While { jip: usize },
    /// `break`, `cont`, `halt` and `brc`.
    Leave { jip: usize, uip: usize },
    /// `goto` without `BranchCtrl`: as [`Branch::Leave`], but taken by the channels whose predicate is false.
    GotoForward { jip: usize, uip: usize },
    /// `goto` with `BranchCtrl`: channels that do not take it are parked at `jip`; the thread jumps to `uip`
    /// if any channel takes it.
    GotoBackward { jip: usize, uip: usize },
    /// `brd`
    Diverge { jip: usize },
    /// `call`: writes the byte offset of the next instruction to the destination.
    Call { target: usize },
    /// `ret`
    Return,
}

/// What an instruction does.
#[derive(Debug)]
pub enum Action {
    /// Computes.
    Execute(Execute),
    /// Branches.
    Branch(Branch),
    /// Sends a message.
    Message(Box<Message>),
    /// `wait` on a notification counter.
    Wait(u8),
    /// `nop`, and instructions without an effect in the simulation.
    Nop,
    /// Cannot be executed: raises a fault.
    Refused(Box<Fault>),
}

/// The exponent registers of destination and sources (0 to 7), if they have any.
pub type ExponentRegisters = [Option<u8>; 4];

/// A lowered instruction.
#[derive(Debug)]
pub struct Op {
    /// What it does.
    pub action: Action,
    /// Arithmetic: which operation, for the general path.
    pub opcode: Opcode,
    /// `math`: its function.
    pub function: Option<gencl_isa::MathFunction>,
    /// Execution size.
    pub lanes: u8,
    /// First channel.
    pub channel: u8,
    /// `WE_all`
    pub no_mask: bool,
    /// The predicate does not disable channels: it selects between sources (`sel`) or is the condition of a
    /// branch.
    pub predicate_is_operand: bool,
    /// Whether channels may be parked here.
    pub is_target: bool,
    /// Whether it accesses an architecture register that is computed when it is read, or has side effects
    /// when it is written.
    pub special: bool,
    /// A source is register-indirect.
    pub indirect_source: bool,
    /// Channels that align16's write mask enables.
    pub write_lanes: u32,
    /// Predicate.
    pub predicate: Option<Pred>,
    /// Flag bit of the instruction's first channel: register * 32 + half * 16 + channel.
    pub flag_bit: u8,
    /// First bit of its flag subregister, for channel 0 of the thread.
    pub flag_base: u8,
    /// Conditional modifier.
    pub condition: Option<Condition>,
    /// Saturate.
    pub saturate: bool,
    /// Update the accumulator.
    pub accumulator_write: bool,
    /// A multiplication that uses only the low word of the dword source 1.
    pub low_multiplier: bool,
    /// Execution type ("Execution Data Type").
    pub execution_type: Type,
    /// Math macros: the exponent registers of destination and sources.
    pub exponents: ExponentRegisters,
    /// Destination.
    pub dst: Dst,
    /// Sources.
    pub src: [Src; 3],
    /// Bit set of general registers that it reads, which must have been written before in strict mode.
    pub reads: u128,
    /// Bit set of general registers that it writes.
    pub writes: u128,
    /// For plain copies between general registers: the distance in registers.
    pub copies_by: Option<i32>,
    /// EU clocks for which it occupies its thread, in the cycle model.
    pub cycles: u32,
    /// Byte offset from the kernel's first instruction.
    pub offset: u32,
    /// Bytes of its encoding.
    pub size: u8,
}

/// Whether the conditional modifier of an opcode selects the operation; such instructions write no flags.
pub fn condition_is_operation(opcode: Opcode) -> bool {
    opcode.info().allows.contains(Allows::CONDITION_WITHOUT_FLAG)
}

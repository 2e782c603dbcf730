//! An instruction in the form in which it is executed.

use gencl_isa::{Condition, PredicateControl, Type};

use super::message::Message;
use super::operand::{Dst, Src};
use super::thread::Thread;
use crate::fault::Fault;

/// What stops a thread before its end. Boxed, as it is rare and large.
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

/// Where a branch goes; the targets are indices of instructions. `jip` is where the thread goes when no
/// channel is left at the next instruction, `uip` where channels go that take the branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the targets are explained above")]
pub enum Branch {
    /// `jmpi` to a known place.
    Jump(usize),
    /// `jmpi` by the bytes in source 0, from the next instruction.
    JumpIndirect,
    /// `if`
    If { jip: usize },
    /// `else`
    Else { jip: usize, uip: usize },
    /// `endif` and `join`: go to `jip` when no channel is enabled.
    Join { jip: usize },
    /// `while`
    While { jip: usize },
    /// `break`, `cont`, `halt` and `brc`: channels go to `uip`; the thread to `jip` when none is left.
    Leave { jip: usize, uip: usize },
    /// `goto` without `BranchCtrl`: as [`Branch::Leave`], but the channels go for which the predicate is
    /// false.
    GotoForward { jip: usize, uip: usize },
    /// `goto` with `BranchCtrl`: channels that do not take it wait at `jip`, the thread goes to `uip` if one
    /// does.
    GotoBackward { jip: usize, uip: usize },
    /// `brd`
    Diverge { jip: usize },
    /// `call`: the byte offset of the next instruction goes to the destination.
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
    /// `nop`, and what has no effect in a simulation.
    Nop,
    /// Cannot be executed; the text says why.
    Refused(Box<Fault>),
}

/// An instruction, ready to be executed.
#[derive(Debug)]
pub struct Op {
    /// What it does.
    pub action: Action,
    /// Arithmetic: which operation, for the general path.
    pub opcode: gencl_isa::Opcode,
    /// `math`: its function.
    pub function: Option<gencl_isa::MathFunction>,
    /// Channels.
    pub lanes: u8,
    /// First channel.
    pub channel: u8,
    /// `WE_all`
    pub no_mask: bool,
    /// The predicate selects between sources (`sel`) or is the branch's condition instead of disabling
    /// channels.
    pub predicate_is_operand: bool,
    /// Is it a place where disabled channels wait to be enabled again?
    pub is_target: bool,
    /// Does it read or write an architecture register that is computed when it is read, or has effects when
    /// written?
    pub special: bool,
    /// A source is register-indirect.
    pub indirect_source: bool,
    /// Channels that align16's write mask leaves.
    pub write_lanes: u32,
    /// Predicate.
    pub predicate: Option<Pred>,
    /// First bit of the flag register for this instruction: register * 32 + half * 16 + channel.
    pub flag_bit: u8,
    /// First bit of the flag register without the channel.
    pub flag_base: u8,
    /// Conditional modifier.
    pub condition: Option<Condition>,
    /// Saturate.
    pub saturate: bool,
    /// Update the accumulator.
    pub accumulator_write: bool,
    /// A multiplication that reads the low word of source 1, a dword.
    pub low_multiplier: bool,
    /// Type in which it computes ("Execution Data Type").
    pub execution_type: Type,
    /// Math macros: the registers with the rest of the exponents of destination and sources.
    pub exponents: super::ieee_macro::Registers,
    /// Destination.
    pub dst: Dst,
    /// Sources.
    pub src: [Src; 3],
    /// General registers that must have been written before.
    pub reads: u128,
    /// General registers that it writes.
    pub writes: u128,
    /// A plain copy of whole general registers: how many registers further.
    pub copies_by: Option<i32>,
    /// Cycles that it occupies the EU, by the cycle model.
    pub cycles: u32,
    /// Byte offset from the kernel's first instruction.
    pub offset: u32,
    /// Bytes of its encoding.
    pub size: u8,
}

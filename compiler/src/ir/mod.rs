//! Gen IR: scalar, typed instructions on untyped registers.
//!
//! One instruction of the IR describes the operation of one work-item (one SIMD lane). There are no vectors,
//! structures or pointers: a vector load has many destinations, a pointer is an integer. Registers have a
//! size but no type, and may be written more than once (the IR is not SSA; LLVM has done the SSA
//! optimisations). There are no immediates or modifiers either: constants are defined by [`Op::Immediate`],
//! and selection folds them.
//!
//! A function is in one of three forms, each with its own rules of the validator:
//! - *per lane* (as built): each block ends with `jump`, `branch` or `return`; a branch decides for each
//!   lane;
//! - *linear* (after control flow is lowered): blocks run in layout order, lanes are masked by predicates,
//!   and blocks end with `jump`, `vote` or `return`, which decide for the whole thread;
//! - *masked* (the other way to lower it): blocks run in layout order with the lanes that the hardware
//!   enables. `leave` parks lanes at a later block, where `join` activates them.

pub mod analysis;
mod arithmetic;
mod build;
pub mod cross_lane;
pub mod fold;
pub mod image;
pub mod interpret;
pub mod location;
pub(crate) mod names;
pub mod passes;
mod query;
#[cfg(test)]
pub(crate) mod random;
pub mod signature;
pub mod text;
pub mod validate;
pub mod variable;

pub use arithmetic::{BinaryOp, TernaryOp, UnaryOp};
pub use build::Builder;
pub use cross_lane::{CrossLane, GroupOp};
pub use image::{ImageAccess, ImageOp};
pub use location::Location;

use gencl_ir_support::entity_impl;
use smallvec::SmallVec;

/// Size class of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// One truth value per lane: a flag bit. After lowering never live across blocks.
    Bool,
    /// 8 bits.
    Byte,
    /// 16 bits.
    Word,
    /// 32 bits.
    Dword,
    /// 64 bits.
    Qword,
}

/// The type in which an instruction works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "signed, unsigned, float and a width in bits")]
pub enum Type {
    Bool,
    S8,
    U8,
    S16,
    U16,
    S32,
    U32,
    S64,
    U64,
    F16,
    F32,
    F64,
}

/// The formats of floats (IEEE 754 binary16, binary32, binary64).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain words")]
pub enum FloatFormat {
    Half,
    Single,
    Double,
}

/// A virtual register: an index into [`Function::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

/// A block: an index into [`Function::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);
entity_impl!(BlockId);

/// The properties of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterInfo {
    /// Its size.
    pub family: Family,
    /// All lanes hold the same value whenever it is read: one scalar is enough.
    /// Set by the uniformity analysis, false before.
    pub uniform: bool,
}

/// Address spaces, and with them what an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// `__global`: the GPU virtual address, a Qword or, where the target has narrow pointers, a Dword.
    Global,
    /// `__constant` and the argument block: the same; never written by a kernel.
    Constant,
    /// `__local`: a Dword, byte offset in the work-group's shared local memory.
    Local,
    /// Private: a Dword, byte offset in the work-item's own area of [`Function::private_size`] bytes.
    Private,
}

/// Comparisons. The float forms are ordered (false with a NaN), but for `NotEqual`, which is unordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "plain words")]
pub enum Condition {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// How a conversion rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To nearest even where the result is a float, toward zero where it is an integer.
    Default,
    /// `_rte`
    NearestEven,
    /// `_rtz`
    TowardZero,
    /// `_rtp`
    Up,
    /// `_rtn`
    Down,
}

/// Atomic operations. All but `Load` return the value before, when they have a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named as in OpenCL")]
pub enum AtomicOp {
    Add,
    Sub,
    Inc,
    Dec,
    Xchg,
    /// Sources: address, new value, comparand... in this order: address, comparand, new value.
    CmpXchg,
    And,
    Or,
    Xor,
    /// Signed or unsigned by the type.
    Min,
    Max,
}

/// A value that the launch provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Cross-thread constants: the push's size fits the destination's register family.
    Push(gencl_program::PushSource),
    /// `get_local_id`: a Word, one value per lane.
    LocalId(u8),
    /// `get_group_id`: a Dword, uniform.
    GroupId(u8),
    /// The lane's number in the thread, from 0: a Word.
    LaneId,
    /// `get_sub_group_id`: a Dword, uniform.
    SubgroupId,
    /// Lanes of a thread: a Dword, uniform. Known when code is generated.
    SimdWidth,
}

/// The condition on the lanes' truth values for a jump of the whole thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vote {
    /// Jump when at least one lane holds true.
    Any,
    /// Jump when every lane of the dispatch holds true.
    All,
    /// Jump when no lane holds true.
    None,
}

/// The machine's instruction by which lanes leave. All forward ones have the same semantics; which ones are
/// possible depends on the structure around it ([`analysis::structure`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leave {
    /// Forward to anywhere.
    Goto,
    /// From the head of an if to its else side, or to its end.
    If,
    /// From the end of the first side to the end of the if.
    Else,
    /// From a loop's body to what follows the loop.
    Break,
    /// From a loop's body to its last block.
    Continue,
    /// Back, from a loop's last block to its first: the thread jumps with the lanes that leave, the others
    /// wait after it.
    While,
    /// Back to anywhere, as `While`.
    Back,
}

impl Leave {
    /// Whether the thread jumps with the lanes that leave.
    pub fn is_backward(self) -> bool {
        match self {
            Leave::While | Leave::Back => true,
            Leave::Goto | Leave::If | Leave::Else | Leave::Break | Leave::Continue => false,
        }
    }

    /// Whether it is the machine's `goto`.
    pub fn is_goto(self) -> bool {
        match self {
            Leave::Goto | Leave::Back => true,
            Leave::If | Leave::Else | Leave::Break | Leave::Continue | Leave::While => false,
        }
    }

    /// Whether it decides which lanes execute another iteration of a loop.
    pub fn decides_on_iterations(self) -> bool {
        match self {
            Leave::Break | Leave::Continue | Leave::While | Leave::Back => true,
            Leave::Goto | Leave::If | Leave::Else => false,
        }
    }
}

/// The machine's instruction at which lanes reconverge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Join {
    /// Of lanes that went by `goto`.
    Goto,
    /// Of the sides of an if.
    If,
}

/// An operation with its attributes, without registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// dst = constant; its bits in the low bits, zero above.
    Immediate {
        /// Type.
        ty: Type,
        /// Value.
        bits: u64,
    },
    /// dst = input
    Input(Input),
    /// dsts = undefined: their previous values are dead. Ends the live range of a register before it is
    /// written under a predicate; emits no machine instruction.
    Undefined,
    /// dst = op src
    Unary(UnaryOp, Type),
    /// dst = src0 op src1
    Binary(BinaryOp, Type),
    /// dst = op(src0, src1, src2)
    Ternary(TernaryOp, Type),
    /// dst (Bool) = src0 ? src1
    Compare(Condition, Type),
    /// dst = src0 (Bool) ? src1 : src2
    Select(Type),
    /// dst = src converted
    Convert {
        /// Type of the result.
        to: Type,
        /// Type of the source. Bool: true is 1.
        from: Type,
        /// Rounding.
        rounding: Rounding,
        /// Clamp to the range of `to`; NaN gives 0.
        saturate: bool,
    },
    /// dst (Qword) = src0 (Dword) below src1 (Dword)
    Pair,
    /// dst (Dword) = the upper or the lower half of src (Qword)
    Half {
        /// Which.
        upper: bool,
    },
    /// dst0.. = consecutive elements of type `ty` at address src0
    Load {
        /// Where.
        space: Space,
        /// Type of one element.
        ty: Type,
        /// Known alignment of the address in bytes, a power of two.
        align: u32,
    },
    /// consecutive elements of type `ty` at address src0 = src1..
    Store {
        /// Where.
        space: Space,
        /// Type of one element.
        ty: Type,
        /// Known alignment of the address in bytes, a power of two.
        align: u32,
    },
    /// dst? = previous value; memory at address src0 op= src1 (src2)
    Atomic {
        /// Operation.
        op: AtomicOp,
        /// Global or Local.
        space: Space,
        /// Type, 32 or 64 bits.
        ty: Type,
    },
    /// Access to a texel of an image.
    Image(ImageAccess),
    /// dst = a function of the sources of all active lanes
    CrossLane(CrossLane),
    /// Work-group barrier; memory of the named spaces is consistent after it.
    Barrier {
        /// `CLK_LOCAL_MEM_FENCE`
        local: bool,
        /// `CLK_GLOBAL_MEM_FENCE`
        global: bool,
    },
    /// The first half of a work-group barrier: memory of the named spaces that was written before it is consistent after
    /// the other half.
    BarrierArrive {
        /// `CLK_LOCAL_MEM_FENCE`
        local: bool,
        /// `CLK_GLOBAL_MEM_FENCE`
        global: bool,
    },
    /// The second half: waits until all work-items have come to the first.
    BarrierWait,
    /// dst0, dst1 = lower and upper dword of the thread's clock
    Clock,
    /// Has the simulator check an access for data races: sources as in the message's payload
    /// ([`gencl_eu::message::RaceCheck`]).
    RaceCheck {
        /// Index of the [site](gencl_program::finding::Site).
        site: u32,
        /// How many granules each lane accesses.
        granules: u32,
        /// What is accessed, and how.
        control: u8,
    },
    /// Sub-group barrier: lanes execute in lockstep, so it only orders memory.
    SubgroupBarrier {
        /// `CLK_LOCAL_MEM_FENCE`
        local: bool,
        /// `CLK_GLOBAL_MEM_FENCE`
        global: bool,
    },
    /// Memory fence of the work-item.
    Fence {
        /// `CLK_LOCAL_MEM_FENCE`
        local: bool,
        /// `CLK_GLOBAL_MEM_FENCE`
        global: bool,
    },
    /// Terminator, both forms: go to a block.
    Jump(BlockId),
    /// Terminator, per-lane form: lanes with src0 (Bool) true go to one block, the others to another.
    Branch {
        /// Where lanes with true go.
        then: BlockId,
        /// Where the others go.
        otherwise: BlockId,
    },
    /// Terminator, linear form: the thread jumps to `target` if the vote on src0 (Bool) succeeds, else
    /// continues with `next`, which is the next block in layout order.
    Vote {
        /// The condition.
        vote: Vote,
        /// Where to jump.
        target: BlockId,
        /// The next block in layout order.
        next: BlockId,
    },
    /// Terminator, masked form: the active lanes for which the predicate is true (all, without one) are
    /// parked at `target`, the others continue with `next`, the next block in layout order. When no lane is
    /// left for `next`, the thread jumps to `empty`. For backward kinds: if lanes leave, the thread jumps to
    /// `target` with them and the others are parked at `next`; `empty` is `next`.
    Leave {
        /// By which instruction.
        by: Leave,
        /// Where the lanes that leave go.
        target: BlockId,
        /// The next block in layout order.
        next: BlockId,
        /// The first block after this one where lanes may be parked.
        empty: BlockId,
    },
    /// Terminator, masked form, of a block with only `undefined` otherwise: lanes that are parked at this
    /// block become active. When there is none, the thread jumps to `empty`, else it continues with `next`,
    /// the next block in layout order.
    Join {
        /// By which instruction.
        by: Join,
        /// The next block in layout order.
        next: BlockId,
        /// The first block after this one where lanes may be parked; `next` if there is always an active
        /// lane.
        empty: BlockId,
    },
    /// Terminator: the end of the kernel. In the linear and masked forms once, in the last block.
    Return,
}

/// Only lanes whose register is true (or false, when inverse) execute the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// A Bool.
    pub reg: Reg,
    /// Execute where it is false.
    pub inverse: bool,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Operation and attributes.
    pub op: Op,
    /// Linear form only: masking.
    pub predicate: Option<Predicate>,
    /// Registers written.
    pub dsts: SmallVec<[Reg; 2]>,
    /// Registers read (without the predicate).
    pub srcs: SmallVec<[Reg; 4]>,
    /// Where it is in the source.
    pub location: Location,
}

/// A basic block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The last one is the terminator, and only the last one.
    pub instructions: Vec<Instruction>,
    /// Masked form: lanes may be parked elsewhere while the block is executed. Writes to registers that are
    /// not uniform then only write the active lanes.
    pub masked: bool,
}

/// Which of the forms a function is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Branches decide for each lane.
    PerLane,
    /// Branches decide for the thread, predicates mask; layout order matters.
    Linear,
    /// The hardware enables lanes; layout order matters.
    Masked,
}

/// A kernel (calls have been inlined).
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Form.
    pub form: Form,
    /// Registers.
    pub registers: Vec<RegisterInfo>,
    /// Blocks. The first in `layout` is the entry.
    pub blocks: Vec<Block>,
    /// Order of the blocks in memory. A block that is not in it does not exist.
    pub layout: Vec<BlockId>,
    /// Bytes of private memory per work-item.
    pub private_size: u32,
    /// Bytes of static local memory per work-group.
    pub local_size: u32,
    /// The metadata for the launch that does not depend on code generation: name, arguments, attributes. Code
    /// generation fills in the rest.
    pub kernel: gencl_program::Kernel,
}

/// A program: kernels and variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unit {
    /// Kernels in source order.
    pub functions: Vec<Function>,
    /// Program-scope variables, addressed from `Input::Push(PushSource::ConstantBase)` and `VariableBase`.
    pub data: gencl_program::Data,
    /// Formats of `printf`. The text form does not have them: no instruction refers to them but by number.
    pub formats: Vec<gencl_program::printf::PrintfFormat>,
    /// Places that are checked.
    pub sites: Vec<gencl_program::finding::Site>,
    /// Positions of the instructions in the source. The text form does not have them either.
    pub locations: location::Locations,
    /// Variables of the source, if it was compiled for debugging.
    pub variables: variable::Variables,
}

//! The tables of the cycle model: how long instructions occupy a pipe, and the latency of their results.
//!
//! All figures are EU clocks. Each row has a column for each generation, in the order of [`Generation::ALL`]:
//! Gen7, Gen7.5, Gen8, Gen9. `docs/statistics.md` explains the model; sources:
//! - \[Mesa\]: `brw_ir_performance.cpp` (`instruction_desc`), measured on hardware unless noted there;
//! - \[IGC\]: `visa/LocalScheduler/LatencyTable.cpp` and `.h`;
//! - \[Gen9\]: Intel, "The Compute Architecture of Intel Processor Graphics Gen9", "EU Architecture";
//!   \[Gen8\] likewise.

use gencl_isa::{Format, Generation, MathFunction, Opcode, Type};

use crate::op::Op;
use crate::operand::SourceLocation;

/// A number of clocks for each generation.
type Row = [u32; Generation::ALL.len()];

// Clocks for which eight channels occupy a pipe.

/// 32-bit types: four lanes for each clock. [Gen9], [Mesa], [IGC].
const SINGLE: Row = [2, 2, 2, 2];
/// Packed 16-bit types. [Gen8] and [Gen9]: eight lanes for each clock; [IGC] `isFastHFInstruction`.
const HALF: Row = [2, 2, 1, 1];
/// `DF`: a quarter of the rate that both pipes have for `F`, on one of them [Gen9].
const DOUBLE: Row = [4, 4, 4, 4];
/// 64-bit integers and moves. [Mesa].
const QUAD: Row = [8, 8, 8, 8];
/// Multiplication of two 32-bit integers: half rate. [Mesa].
const MULTIPLY: Row = [4, 4, 4, 4];
/// The instructions of [`is_half_rate`]. [IGC].
const HALF_RATE: Row = [4, 4, 4, 4];
/// A source with an address for each channel: one lane for each clock. [IGC] (`isVxHIndirect`).
const INDIRECT: Row = [8, 8, 8, 8];
/// Extended math. [Mesa], [IGC].
const MATH: Row = [2, 2, 4, 4];
/// `math` `pow` and `fdiv`. [Mesa], [IGC].
const POWER: Row = [4, 4, 8, 8];
/// `math` integer division. [Mesa].
const DIVIDE: Row = [26, 26, 26, 26];

/// Minimum for which an instruction occupies a pipe. [Mesa], [IGC]: at least a whole register.
const MIN_OCCUPANCY: u32 = 2;

// Clocks from the end of that until the result can be read.

/// A general or address register. [Mesa]; [IGC] counts 14 from the beginning, for all generations.
const RESULT: Row = [14, 12, 8, 8];
/// The same for 64-bit types. [Mesa].
const WIDE_RESULT: Row = [14, 12, 12, 12];
/// A flag. [Mesa].
const FLAG: Row = [20, 18, 12, 12];
/// An accumulator. [Mesa].
const ACCUMULATOR: Row = [10, 8, 4, 4];
/// Extended math. [Mesa]; [IGC] counts 22 from the beginning.
const MATH_RESULT: Row = [14, 12, 16, 16];
/// `pow` and `fdiv`. [Mesa]; [IGC] has 30.
const POWER_RESULT: Row = [22, 20, 24, 24];
/// Integer division. [Mesa].
const DIVIDE_RESULT: Row = [28, 28, 28, 28];

/// A branch holds its thread. [Mesa].
const BRANCH: Row = [2, 6, 8, 8];

/// Number of pipes with integer arithmetic: until Gen7.5 only the first one. [Gen8], [Gen9].
const INTEGER_PIPES: Row = [1, 1, 2, 2];

/// Clocks for which a `send` holds its thread. [Mesa].
pub const SEND: u32 = 2;
/// Clocks until the payload's first register has been read; each further register takes one more. Until then
/// they must not be overwritten. [Mesa] (`ls`); [IGC] `getSendSrcReadLatency` has 8 on later generations.
pub const PAYLOAD_READ: u32 = 10;
/// `nop`, `wait`.
const IDLE: u32 = 1;

/// Classes of messages with the same latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum MessageClass {
    /// Shared local memory.
    Slm,
    /// Memory that the data port reaches through the L3 cache.
    Memory,
    /// Atomic operations in shared local memory.
    SlmAtomic,
    /// Atomic operations in memory, which the L3 cache performs.
    Atomic,
    /// Images through the sampler.
    Sampler,
    /// Fences.
    Fence,
    /// The barrier message.
    Barrier,
    /// The end of the thread.
    End,
}

impl MessageClass {
    /// All classes.
    pub const ALL: [MessageClass; 8] = [
        MessageClass::Slm,
        MessageClass::Memory,
        MessageClass::SlmAtomic,
        MessageClass::Atomic,
        MessageClass::Sampler,
        MessageClass::Fence,
        MessageClass::Barrier,
        MessageClass::End,
    ];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            MessageClass::Slm => "slm",
            MessageClass::Memory => "memory",
            MessageClass::SlmAtomic => "slm atomic",
            MessageClass::Atomic => "atomic",
            MessageClass::Sampler => "sampler",
            MessageClass::Fence => "fence",
            MessageClass::Barrier => "barrier",
            MessageClass::End => "end",
        }
    }

    /// Clocks from a message's service to its response when it misses no cache.
    pub const fn latency(self) -> u32 {
        match self {
            // [Mesa]: messages of the data cache. Until Gen10 shared local memory is a part of the L3 cache
            // [Gen9].
            MessageClass::Slm | MessageClass::SlmAtomic | MessageClass::Fence => 100,
            // [IGC] `DP_L3`, of the next generation with the same data port.
            MessageClass::Memory | MessageClass::Atomic => 146,
            // [IGC], `SFID_SAMPLER` of Gen9.
            MessageClass::Sampler => 300,
            // [IGC] `BARRIER`, from the arrival of the last thread on.
            MessageClass::Barrier => 30,
            MessageClass::End => 0,
        }
    }
}

/// Latency of a message that misses the L3 cache, in clocks. [IGC], all data port messages of Gen9.
pub const MISS: u32 = 400;

/// Which of an EU's two pipes can execute an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipe {
    /// Any.
    Either,
    /// The one with all integer instructions (until Gen7.5).
    First,
    /// The one with extended math and `DF` [Gen9].
    Second,
}

/// The cost of an instruction in EU clocks; of a message, the part that its thread notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionCost {
    /// The pipe that it occupies, if any.
    pub pipe: Option<Pipe>,
    /// Clocks for which it occupies the pipe, and its thread issues nothing else.
    pub issue: u32,
    /// Latency after that of general and address registers.
    pub result: u32,
    /// Latency after that of flags.
    pub flag: u32,
    /// Latency after that of accumulators.
    pub accumulator: u32,
}

impl InstructionCost {
    /// The cost of an instruction that occupies no pipe.
    const fn of_thread(issue: u32) -> InstructionCost {
        InstructionCost { pipe: None, issue, result: 0, flag: 0, accumulator: 0 }
    }
}

/// The cost of an instruction; its [`Op::action`] is not used.
pub fn cost(generation: Generation, op: &Op) -> InstructionCost {
    let column = Generation::ALL.iter().position(|g| *g == generation).unwrap_or(0);
    match op.opcode.info().format {
        Format::Branch(_) | Format::Jump | Format::Call | Format::Return | Format::RegisterBranch(_) => {
            return InstructionCost::of_thread(BRANCH[column]);
        }
        Format::Send | Format::SplitSend => return InstructionCost::of_thread(SEND),
        Format::Bare | Format::Wait => return InstructionCost::of_thread(IDLE),
        Format::Basic | Format::Ternary | Format::Math => {}
    }
    let (rate, result) = rate(op);
    let float = op.execution_type.is_float() || op.dst.ty.is_float();
    let double = op.execution_type == Type::DF || op.dst.ty == Type::DF;
    let pipe = if op.opcode == Opcode::Math || double {
        Pipe::Second
    } else if !float && INTEGER_PIPES[column] == 1 {
        Pipe::First
    } else {
        Pipe::Either
    };
    InstructionCost {
        pipe: Some(pipe),
        issue: (u32::from(op.lanes) * rate[column]).div_ceil(8).max(MIN_OCCUPANCY),
        result: result[column],
        flag: FLAG[column],
        accumulator: ACCUMULATOR[column],
    }
}

/// The rows for an instruction's rate and the latency of its result.
fn rate(op: &Op) -> (&'static Row, &'static Row) {
    use MathFunction as M;
    if op.opcode == Opcode::Math {
        return match op.function {
            Some(M::Pow | M::Fdiv) => (&POWER, &POWER_RESULT),
            Some(M::IntDivQuotient | M::IntDivRemainder | M::IntDivQuotientRemainder) => {
                (&DIVIDE, &DIVIDE_RESULT)
            }
            None
            | Some(M::Inv | M::Log | M::Exp | M::Sqrt | M::Rsq | M::Sin | M::Cos | M::Invm | M::Rsqrtm) => {
                (&MATH, &MATH_RESULT)
            }
        };
    }
    let widest = op.execution_type.size().max(op.dst.ty.size());
    let float = op.execution_type == Type::DF || op.dst.ty == Type::DF;
    let lanes = usize::from(op.lanes);
    let gathers = op
        .src
        .iter()
        .any(|s| matches!(&s.location, SourceLocation::Indirect { rows, .. } if rows[..lanes].iter().any(|r| *r > 0)));
    let dwords = op.src.iter().filter(|s| s.is_some() && !s.ty.is_float() && s.ty.size() >= 4).count();
    let multiplies = matches!(op.opcode, Opcode::Mul | Opcode::Mad | Opcode::Mac | Opcode::Mach);
    match widest {
        8 if float => (&DOUBLE, &WIDE_RESULT),
        8 => (&QUAD, &WIDE_RESULT),
        _ if gathers => (&INDIRECT, &RESULT),
        _ if multiplies && dwords >= 2 => (&MULTIPLY, &RESULT),
        _ if is_half_rate(op.opcode) => (&HALF_RATE, &RESULT),
        2 | 1 => (&HALF, &RESULT),
        _ => (&SINGLE, &RESULT),
    }
}

/// Whether an instruction executes at half rate. [IGC] `getOccupancy`.
fn is_half_rate(opcode: Opcode) -> bool {
    use Opcode as O;
    matches!(
        opcode,
        O::Bfe
            | O::Bfi1
            | O::Bfi2
            | O::Bfrev
            | O::Cbit
            | O::Dp2
            | O::Dp3
            | O::Dp4
            | O::Dph
            | O::Fbh
            | O::Fbl
            | O::Lrp
            | O::Mac
            | O::Mach
            | O::Pln
    )
}

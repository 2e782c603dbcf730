//! The cycle model: how long an instruction occupies its thread, in EU clocks.
//!
//! First version: no overlap between threads and no waiting for operands; a thread's instructions are simply added up.
//! Figures from "The Compute Architecture of Intel Processor Graphics Gen9" (two four-wide FPUs, of which one
//! does integers and the other extended math) and Mesa's `brw_ir_performance.cpp` (issue and message latency).

use gencl_isa::{MathFunction, Opcode, SharedFunction, Type};

/// Channels of 32 bits that issue in one clock.
const FPU_WIDTH: u32 = 4;
/// Clocks that a taken branch costs.
const BRANCH: u32 = 8;

/// Clocks of an instruction that is no message.
pub fn instruction(opcode: Opcode, function: Option<MathFunction>, ty: Type, lanes: u32) -> u32 {
    let width_factor = match ty.size() {
        8 => 4,
        _ => 1,
    };
    let base = (lanes * width_factor).div_ceil(FPU_WIDTH).max(1);
    match opcode {
        Opcode::Math => base * math_factor(function),
        // A 32x32 multiplication takes the multiplier twice.
        Opcode::Mul | Opcode::Mach if !ty.is_float() && ty.size() == 4 => base * 2,
        Opcode::Jmpi
        | Opcode::If
        | Opcode::Else
        | Opcode::Endif
        | Opcode::While
        | Opcode::Break
        | Opcode::Cont
        | Opcode::Halt
        | Opcode::Goto
        | Opcode::Join
        | Opcode::Brd
        | Opcode::Brc
        | Opcode::Call
        | Opcode::Calla
        | Opcode::Ret => BRANCH,
        Opcode::Nop => 1,
        _ => base,
    }
}

/// How often a function passes the extended math unit.
fn math_factor(function: Option<MathFunction>) -> u32 {
    use MathFunction as M;
    match function {
        Some(M::Pow | M::Fdiv) => 8,
        Some(M::IntDivQuotient | M::IntDivRemainder) => 16,
        Some(M::IntDivQuotientRemainder) => 26,
        _ => 4,
    }
}

/// Clocks of a message: until its response is there.
pub fn message(target: SharedFunction, local: bool, response: bool) -> u32 {
    match target {
        SharedFunction::ThreadSpawner => 2,
        SharedFunction::Gateway => 10,
        _ if !response => 20,
        _ if local => 60,
        _ => 200,
    }
}

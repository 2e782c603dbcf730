//! The command streamer's 64-bit arithmetic: MI_MATH.

use super::Streamer;
use super::command::Flow;
use super::field::{Field, Packet, from75};
use gencl_eu::fault::Fault;

/// Fields of an ALU instruction (MI_MATH_ALU_INSTRUCTION).
const OPERAND_2: Field = Field { name: "Operand 2", positions: from75(0, 9) };
const OPERAND_1: Field = Field { name: "Operand 1", positions: from75(10, 19) };
const OPCODE: Field = Field { name: "ALU Opcode", positions: from75(20, 31) };

/// Operand codes other than the general purpose registers 0 to 15 (Volume 2a, MI_MATH).
const SRCA: u32 = 0x20;
const SRCB: u32 = 0x21;
const ACCU: u32 = 0x31;
const ZF: u32 = 0x32;
const CF: u32 = 0x33;

/// The ALU's own registers, which are cleared by each command.
#[derive(Default)]
struct Alu {
    a: u64,
    b: u64,
    accumulator: u64,
    zero: bool,
    carry: bool,
}

impl Alu {
    fn operand(&mut self, code: u32) -> Result<&mut u64, Fault> {
        match code {
            SRCA => Ok(&mut self.a),
            SRCB => Ok(&mut self.b),
            _ => Err(Fault::illegal(format!("MI_MATH: load to operand 0x{code:x}"))),
        }
    }

    fn compute(&mut self, result: u64, carry: bool) {
        (self.accumulator, self.zero, self.carry) = (result, result == 0, carry);
    }
}

/// Executes the ALU instructions of MI_MATH.
pub fn execute(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    let registers = &mut streamer.state.registers;
    let mut state = Alu::default();
    for dwords in packet.dwords[1..].chunks(1) {
        let instruction = Packet { dwords, ..packet };
        let (to, from) = (instruction.get32(OPERAND_1), instruction.get32(OPERAND_2));
        let (a, b) = (state.a, state.b);
        match instruction.get32(OPCODE) {
            0x000 => {}
            opcode @ (0x080 | 0x480) => {
                if from > 15 {
                    return Err(Fault::illegal(format!("MI_MATH: load from operand 0x{from:x}")));
                }
                let value = registers.gpr(from);
                *state.operand(to)? = if opcode == 0x480 { !value } else { value };
            }
            0x081 => *state.operand(to)? = 0,
            0x481 => *state.operand(to)? = u64::MAX,
            0x100 => {
                let (sum, carry) = a.overflowing_add(b);
                state.compute(sum, carry);
            }
            0x101 => {
                let (difference, borrow) = a.overflowing_sub(b);
                state.compute(difference, borrow);
            }
            0x102 => state.compute(a & b, false),
            0x103 => state.compute(a | b, false),
            0x104 => state.compute(a ^ b, false),
            opcode @ (0x180 | 0x580) => {
                // The flags are stored as all ones or all zeroes.
                let value = match from {
                    ACCU => state.accumulator,
                    ZF => u64::from(state.zero).wrapping_neg(),
                    CF => u64::from(state.carry).wrapping_neg(),
                    _ => return Err(Fault::illegal(format!("MI_MATH: store from operand 0x{from:x}"))),
                };
                if to > 15 {
                    return Err(Fault::illegal(format!("MI_MATH: store to operand 0x{to:x}")));
                }
                registers.set_gpr(to, if opcode == 0x580 { !value } else { value });
            }
            opcode => return Err(Fault::illegal(format!("MI_MATH: ALU opcode 0x{opcode:03x} is unknown"))),
        }
    }
    Ok(Flow::Next)
}

//! The instructions of the macros for division and square roots by IEEE 754: `math invm`, `math rsqrtm` and
//! `madm`.
//!
//! Their operands have two more bits of exponent than their type. These are in one of eight registers (`acc2`
//! to `acc9`, "mme0" to "mme7") that each operand names, or none, in the encoding of align16's write mask and
//! swizzle (Volume 7, "Math", "madm"; IGA, `MathMacroExt`). How the hardware splits a value between both
//! registers is not documented. Here the general register holds the value if its type can represent it, else
//! the mantissa, and the other register holds the missing exponent.
//!
//! `invm` and `rsqrtm` return an initial approximation with the precision of `F`, and clear the flag. Where
//! iterations would not converge (zeros, infinities, NaN) they return the macro's final result and set the
//! flag: IGC then skips the iterations.

use gencl_isa::{Extra, Instruction, MathFunction, Opcode, Operand, Region, Type};

use super::general::gather;
use super::value::Value;
use super::wide::{FloatFormat, WideFloat};
use crate::dispatch::{GRF_SIZE, Rounding};
use crate::fault::Fault;
use crate::file::{ACCUMULATOR, set_element};
use crate::op::{ExponentRegisters, Op, Trap};
use crate::operand::{MAX_LANES, Target};
use crate::thread::Thread;

/// Whether an instruction is one of these.
pub fn is_macro(instruction: &Instruction) -> bool {
    let function = match instruction.extra {
        Extra::Math(function) => Some(function),
        Extra::None | Extra::Send(_) | Extra::Branch(_) => None,
    };
    instruction.opcode == Opcode::Madm || matches!(function, Some(MathFunction::Invm | MathFunction::Rsqrtm))
}

/// Decodes an exponent register: 0 to 7, or 8 for none.
fn register(code: u8) -> Option<u8> {
    (code < 8).then_some(code)
}

/// Splits an instruction into one with plain operands, and its exponent registers.
pub fn plain(instruction: &Instruction) -> (Instruction, ExponentRegisters) {
    const IDENTITY: u8 = 0b11_10_01_00;
    let mut plain = *instruction;
    let mut registers = [register(instruction.destination.writemask & 0xf), None, None, None];
    plain.destination.writemask = 0xf;
    for (n, operand) in plain.sources.iter_mut().enumerate() {
        if let Operand::Register(source) = operand {
            registers[n + 1] = register(source.swizzle & 0xf);
            source.swizzle = IDENTITY;
            source.region = Region { vstride: 4, ..source.region };
        }
    }
    (plain, registers)
}

/// A source operand: finite with an unbounded exponent, or an infinity or NaN.
#[derive(Clone, Copy)]
enum MacroOperand {
    Finite(WideFloat),
    Special(f64),
}

impl MacroOperand {
    /// A double of the same sign and class: finite values other than zeros become 1 or -1.
    fn classify(self) -> f64 {
        match self {
            MacroOperand::Special(value) => value,
            MacroOperand::Finite(WideFloat { mantissa: 0, negative, .. }) => {
                if negative {
                    -0.0
                } else {
                    0.0
                }
            }
            MacroOperand::Finite(WideFloat { negative, .. }) => {
                if negative {
                    -1.0
                } else {
                    1.0
                }
            }
        }
    }
}

/// Byte offset of a channel's element in an exponent register, an `i16`.
fn exponent_offset(register: u8, lane: usize) -> usize {
    ACCUMULATOR + (2 + usize::from(register)) * GRF_SIZE + lane * 2
}

fn source(thread: &Thread, op: &Op, index: usize, lane: usize, bits: u64) -> MacroOperand {
    let src = &op.src[index];
    let mut value = Value::from_bits(bits, src.ty, thread.float);
    if src.abs {
        value = value.absolute();
    }
    if src.negate {
        value = value.negated();
    }
    let value = value.float();
    if !value.is_finite() {
        return MacroOperand::Special(value);
    }
    let power = op.exponents[index + 1].map_or(0, |register| {
        let at = exponent_offset(register, lane);
        i32::from(i16::from_le_bytes([thread.file[at], thread.file[at + 1]]))
    });
    MacroOperand::Finite(WideFloat::from_f64(value).scaled(power))
}

/// Executes one of the instructions for the channels of `mask`.
pub fn execute(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
    let Target::Direct { offset, stride } = op.dst.target else {
        return Err(Box::new(Fault::illegal("a math macro needs a direct destination")));
    };
    let mut raw = [[0; MAX_LANES]; 3];
    for (bits, src) in raw.iter_mut().zip(&op.src) {
        if src.is_some() {
            gather(thread, op, src, mask, bits)?;
        }
    }
    let mut flags = 0;
    for lane in (0..usize::from(op.lanes)).filter(|lane| mask >> lane & 1 != 0) {
        let number = |k: usize| source(thread, op, k, lane, raw[k][lane]);
        let result = match op.function {
            Some(MathFunction::Invm) => reciprocal(number(0), number(1)),
            Some(MathFunction::Rsqrtm) => inverse_root(number(0)),
            _ => Ok(multiply_add(number(0), number(1), number(2), thread.float.rounding)),
        };
        flags |= u32::from(result.is_err()) << lane;
        let result = result.unwrap_or_else(MacroOperand::Special);
        let (value, power) = split_exponent(result, op, thread.float.rounding);
        let bits = Value::Float(value).to_bits(op.dst.ty, op.saturate, thread.float);
        let size = op.dst.ty.size() as usize;
        let at = offset + lane * stride;
        set_element(&mut thread.file[at..at + size], bits);
        if let Some(register) = op.exponents[0] {
            let at = exponent_offset(register, lane);
            thread.file[at..at + 2].copy_from_slice(&(power as i16).to_le_bytes());
        }
    }
    if op.opcode == Opcode::Math {
        thread.set_flags(op.flag_bit, mask, flags);
    }
    Ok(())
}

/// Splits a result into the contents of the general register, and the exponent that is missing there. Without
/// an exponent register the value is rounded to its type.
fn split_exponent(number: MacroOperand, op: &Op, rounding: Rounding) -> (f64, i32) {
    let format = FloatFormat::of(op.dst.ty);
    let wide = match number {
        MacroOperand::Special(value) => return (value, 0),
        MacroOperand::Finite(wide) => wide,
    };
    if op.exponents[0].is_none() {
        return (wide.to_format(format, rounding), 0);
    }
    let wide = wide.rounded(format.precision, rounding);
    let fits = (format.minimum..=format.maximum).contains(&wide.magnitude()) || wide.mantissa == 0;
    let power = if fits { 0 } else { wide.magnitude() };
    (wide.scaled(-power).to_format(format, rounding), power)
}

/// `madm`: `a + b * c`, to be rounded to the destination.
fn multiply_add(a: MacroOperand, b: MacroOperand, c: MacroOperand, rounding: Rounding) -> MacroOperand {
    match (a, b, c) {
        (MacroOperand::Finite(a), MacroOperand::Finite(b), MacroOperand::Finite(c)) => {
            MacroOperand::Finite(WideFloat::multiply_add(a, b, c, rounding))
        }
        _ => MacroOperand::Special(b.classify().mul_add(c.classify(), a.classify())),
    }
}

/// `invm`: an approximation of `1 / b`; as an `Err` the quotient `a / b`, where iterations would not
/// converge.
fn reciprocal(a: MacroOperand, b: MacroOperand) -> Result<MacroOperand, f64> {
    match (a, b) {
        (MacroOperand::Finite(a), MacroOperand::Finite(b)) if a.mantissa != 0 && b.mantissa != 0 => {
            let magnitude = b.magnitude();
            let mantissa = b.scaled(-magnitude).to_format(FloatFormat::of(Type::DF), Rounding::Zero);
            Ok(MacroOperand::Finite(
                WideFloat::from_f64(f64::from((1.0 / mantissa) as f32)).scaled(-magnitude),
            ))
        }
        _ => Err(a.classify() / b.classify()),
    }
}

/// `rsqrtm`: an approximation of `1 / sqrt(a)`; as an `Err` the square root, where iterations would not
/// converge.
fn inverse_root(a: MacroOperand) -> Result<MacroOperand, f64> {
    match a {
        MacroOperand::Finite(a) if a.mantissa != 0 && !a.negative => {
            let magnitude = a.magnitude();
            let even = magnitude & !1;
            let mantissa = a.scaled(-even).to_format(FloatFormat::of(Type::DF), Rounding::Zero);
            Ok(MacroOperand::Finite(
                WideFloat::from_f64(f64::from((1.0 / mantissa.sqrt()) as f32)).scaled(-even / 2),
            ))
        }
        a => Err(a.classify().sqrt()),
    }
}

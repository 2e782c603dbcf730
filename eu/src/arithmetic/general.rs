//! The general path: executes any arithmetic instruction on any operands, element by element.
//!
//! It is the reference that the fast paths are compared with. Semantics: Volume 7, "Instruction Set
//! Reference"; conditional modifiers: "Assigning Conditional Modifiers".

use gencl_isa::{MathFunction, Opcode, Type};

use super::compute::{self, Inputs};
use super::condition::condition_holds;
use super::math;
use super::value::Value;
use crate::dispatch::GRF_SIZE;
use crate::fault::Fault;
use crate::file::{ACCUMULATOR, GRF_BYTES, GRF_COUNT, element, grf_mask, set_element};
use crate::op::{Op, Trap, condition_is_operation};
use crate::operand::{
    MAX_LANES, SourceLocation, Src, Target, address_word, full_mask, is_accumulator, low_bits,
};
use crate::thread::Thread;

/// The bits of the elements of all channels.
pub type RawBits = [u64; MAX_LANES];

/// Executes an instruction for the channels of `mask`.
pub fn execute(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
    let mut raw = [[0; MAX_LANES]; 3];
    // Dot products read other channels, enabled or not.
    let read = if is_dot(op.opcode) { full_mask(usize::from(op.lanes)) } else { mask };
    for (bits, src) in raw.iter_mut().zip(&op.src) {
        if src.is_some() {
            gather(thread, op, src, read, bits)?;
        }
    }
    if op.opcode == Opcode::Math && matches!(op.function, Some(MathFunction::IntDivQuotientRemainder)) {
        return divide(thread, op, mask, &raw);
    }
    let selected = match op.predicate {
        Some(p) if op.predicate_is_operand => thread.predicate(op, p),
        _ => u32::MAX,
    };
    let Some(compute) = compute::of(op.opcode) else {
        return Err(Box::new(Fault::unsupported(format!("instruction {:?}", op.opcode))));
    };
    let mut results = [0; MAX_LANES];
    let mut wide = [0; MAX_LANES];
    let mut conditions = 0;
    for lane in 0..usize::from(op.lanes) {
        if mask >> lane & 1 == 0 {
            continue;
        }
        if let Some(copied) = copied_bits(op, &raw, lane, selected >> lane & 1 != 0) {
            results[lane] = copied;
            let value = Value::from_bits(copied, op.dst.ty, thread.float);
            wide[lane] = match value {
                Value::Integer(value) => value as i64,
                Value::Float(_) => copied as i64,
            };
            conditions |= u32::from(condition(op, value, copied)) << lane;
            if op.accumulator_write {
                set_accumulator(thread, op, lane, wide[lane], copied, false);
            }
            continue;
        }
        let inputs = Inputs {
            sources: std::array::from_fn(|k| source_value(thread, &op.src[k], raw[k][lane])),
            element: &|k, lane| source_value(thread, &op.src[k], raw[k][lane]),
            lane,
            accumulator: accumulator(thread, op, lane),
            selected: selected >> lane & 1 != 0,
            mode: thread.float,
        };
        let output = compute(op, &inputs);
        let bits = output.bits.unwrap_or_else(|| finish(thread, op, output.value));
        results[lane] = bits;
        wide[lane] = output.accumulator.unwrap_or(match output.value {
            Value::Integer(value) => value as i64,
            Value::Float(_) => bits as i64,
        });
        let condition_holds = output.condition.unwrap_or_else(|| condition(op, output.value, bits));
        conditions |= u32::from(condition_holds) << lane;
        if output.accumulator.is_some() || op.accumulator_write {
            set_accumulator(thread, op, lane, wide[lane], bits, output.accumulator.is_some());
        }
    }
    scatter(thread, op, mask, &results, &wide)?;
    if op.condition.is_some() && !condition_is_operation(op.opcode) {
        thread.set_flags(op.flag_bit, mask, conditions);
    }
    Ok(())
}

/// Whether an opcode is a dot product over groups of four channels.
fn is_dot(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Dp4 | Opcode::Dph | Opcode::Dp3 | Opcode::Dp2)
}

/// The unchanged bits of a raw move ("mov", "sel": same types, no modifier, no saturation); `None` for other
/// instructions.
fn copied_bits(op: &Op, raw: &[RawBits; 3], lane: usize, selected: bool) -> Option<u64> {
    let index = match op.opcode {
        Opcode::Mov => 0,
        Opcode::Sel if op.condition.is_none() => usize::from(!selected),
        _ => return None,
    };
    let src = &op.src[index];
    let same = src.ty.size() == op.dst.ty.size() && src.ty.is_float() == op.dst.ty.is_float();
    let raw = raw[index][lane];
    let plain =
        same && !op.saturate && !src.modified() && (op.opcode == Opcode::Mov || op.src[0].ty == op.src[1].ty);
    plain.then_some(raw)
}

/// Converts a result to the destination's type.
fn finish(thread: &Thread, op: &Op, value: Value) -> u64 {
    let ty = op.dst.ty;
    match value {
        // A result is rounded to the execution type before it is converted to an integer.
        Value::Float(_) if !ty.is_float() && op.execution_type != Type::DF => {
            let rounded = value.to_bits(op.execution_type, false, thread.float);
            Value::from_bits(rounded, op.execution_type, thread.float).to_bits(ty, op.saturate, thread.float)
        }
        _ => value.to_bits(ty, op.saturate, thread.float),
    }
}

/// Whether the conditional modifier holds for a result. Zero is tested on the final bits, the sign on the
/// result before saturation and conversion.
fn condition(op: &Op, value: Value, bits: u64) -> bool {
    let Some(condition) = op.condition else { return false };
    let magnitude = if op.dst.ty.is_float() { bits & low_bits(op.dst.ty.size() * 8 - 1) } else { bits };
    condition_holds(
        condition,
        magnitude == 0,
        value.is_negative(),
        value.is_nan(),
        value.overflows(op.dst.ty),
    )
}

/// An element with its modifiers applied.
fn source_value(thread: &Thread, src: &Src, bits: u64) -> Value {
    let mut value = Value::from_bits(bits, src.ty, thread.float);
    if src.abs {
        value = value.absolute();
    }
    if src.complement {
        // Of the value in the execution type, as the other modifiers.
        value = Value::Integer(!value.integer());
    } else if src.negate {
        value = value.negated();
    }
    value
}

/// Reads the elements of a source for the channels of `mask`.
pub fn gather(thread: &Thread, op: &Op, src: &Src, mask: u32, out: &mut RawBits) -> Result<(), Trap> {
    let size = src.ty.size() as usize;
    let file = &thread.file;
    let read = |at: usize| element(&file[at..at + size]);
    for lane in 0..usize::from(op.lanes) {
        if mask >> lane & 1 == 0 {
            continue;
        }
        out[lane] = match &src.location {
            SourceLocation::Packed(at) => read(at + lane * size),
            SourceLocation::Scalar(at) => read(*at),
            SourceLocation::Constant(bits) => *bits,
            SourceLocation::Constants(bits) => bits[lane],
            SourceLocation::Scattered(offsets) => read(usize::from(offsets[lane])),
            SourceLocation::Indirect { word, offset, rows, steps } => {
                let word = usize::from(*word) + usize::from(rows[lane]);
                let at = indirect(thread, word, *offset, usize::from(steps[lane]), size)
                    .map_err(|fault| Box::new(fault.in_lane(lane as u32)))?;
                read(at)
            }
            SourceLocation::None => 0,
        };
    }
    Ok(())
}

/// The byte offset of an element of an indirect operand.
fn indirect(thread: &Thread, word: usize, offset: i16, step: usize, size: usize) -> Result<usize, Fault> {
    let base = i64::from(address_word(&thread.file, word)) + i64::from(offset) + step as i64;
    let at = usize::try_from(base).ok().filter(|at| at + size <= GRF_BYTES);
    at.ok_or_else(|| {
        Fault::illegal(format!("the indirect operand's address {base} is outside of the registers"))
    })
}

/// The first general register that an indirect source reads and that has never been written, if any.
pub fn unwritten_indirect(thread: &Thread, op: &Op, mask: u32) -> Option<usize> {
    for src in &op.src {
        let SourceLocation::Indirect { word, offset, rows, steps } = &src.location else { continue };
        for lane in (0..usize::from(op.lanes)).filter(|lane| mask >> lane & 1 != 0) {
            let word = usize::from(*word) + usize::from(rows[lane]);
            let size = src.ty.size() as usize;
            if let Ok(at) = indirect(thread, word, *offset, usize::from(steps[lane]), size)
                && thread.written >> (at / GRF_SIZE) & 1 == 0
            {
                return Some(at / GRF_SIZE);
            }
        }
    }
    None
}

/// Writes results to the destination.
fn scatter(
    thread: &mut Thread,
    op: &Op,
    mask: u32,
    results: &RawBits,
    wide: &[i64; MAX_LANES],
) -> Result<(), Trap> {
    let size = op.dst.ty.size() as usize;
    let (base, stride) = match op.dst.target {
        Target::Null => return Ok(()),
        Target::Direct { offset, stride } => (offset, stride),
        Target::Indirect { word, offset, stride } => {
            let channels = low_bits(u32::from(op.lanes)) & u64::from(op.write_lanes);
            let last = stride * channels.checked_ilog2().map_or(0, |lane| lane as usize);
            let base = indirect(thread, usize::from(word), offset, 0, last + size)?;
            thread.written |= grf_mask(base, base + last + size) & (u128::MAX >> (128 - GRF_COUNT));
            (base, stride)
        }
    };
    for lane in 0..usize::from(op.lanes) {
        if mask >> lane & 1 != 0 {
            let at = base + lane * stride;
            set_element(&mut thread.file[at..at + size], results[lane]);
            if is_accumulator(at) {
                thread.wide_accumulator[(at - ACCUMULATOR) / 2] = wide[lane];
            }
        }
    }
    Ok(())
}

/// Byte offset of a channel's element in the accumulators that an instruction uses implicitly ("Accumulator
/// Registers"). Floats of the second eight (`HF`: sixteen) channels of the thread are in `acc1`. Integers
/// have no `acc1`: their elements begin in `acc0`, whatever the instruction's first channel (Mesa,
/// `lower_mulh_inst`; IGC relies on it for the upper channels).
fn implicit_accumulator(op: &Op, lane: usize) -> usize {
    let size = op.execution_type.size().clamp(2, 8) as usize;
    let first = if op.execution_type.is_float() { usize::from(op.channel) } else { 0 };
    ACCUMULATOR + (first + lane) * size % (2 * GRF_SIZE)
}

/// The accumulator's value for a channel.
fn accumulator(thread: &Thread, op: &Op, lane: usize) -> Value {
    let at = implicit_accumulator(op, lane);
    if op.execution_type.is_float() {
        let bits = element(&thread.file[at..at + op.execution_type.size() as usize]);
        return Value::from_bits(bits, op.execution_type, thread.float);
    }
    Value::Integer(i128::from(thread.wide_accumulator[(at - ACCUMULATOR) / 2]))
}

/// Writes the accumulator of a channel: with `explicit`, the operation defines it as `wide`, else it is the
/// result.
fn set_accumulator(thread: &mut Thread, op: &Op, lane: usize, wide: i64, bits: u64, explicit: bool) {
    let at = implicit_accumulator(op, lane);
    let size = op.execution_type.size().clamp(2, 8) as usize;
    let visible = if explicit { wide as u64 } else { bits };
    set_element(&mut thread.file[at..at + size], visible);
    thread.wide_accumulator[(at - ACCUMULATOR) / 2] = wide;
}

/// `math` with quotient and remainder: writes the quotient to the destination, and the remainder to the
/// registers after those of the quotient.
fn divide(thread: &mut Thread, op: &Op, mask: u32, raw: &[RawBits; 3]) -> Result<(), Trap> {
    let Target::Direct { offset, stride } = op.dst.target else {
        return Err(Box::new(Fault::illegal("the integer division needs a direct destination")));
    };
    let registers = (usize::from(op.lanes) * stride).next_multiple_of(GRF_SIZE);
    for lane in (0..usize::from(op.lanes)).filter(|lane| mask >> lane & 1 != 0) {
        let [a, b] = [0, 1].map(|k| source_value(thread, &op.src[k], raw[k][lane]).integer());
        let (quotient, remainder) = math::divide(a, b, op.src[0].ty.is_signed());
        let at = offset + lane * stride;
        thread.file[at..at + 4].copy_from_slice(&(quotient as u32).to_le_bytes());
        let at = at + registers;
        thread.file[at..at + 4].copy_from_slice(&(remainder as u32).to_le_bytes());
    }
    thread.written |= grf_mask(offset + registers, offset + 2 * registers);
    Ok(())
}

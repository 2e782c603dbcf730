//! Fast paths of `mov`: copies and conversions.

use gencl_isa::{Condition, Opcode, Type};

use super::elements::{
    by_width, finish_f32, finish_u32, finish_u64, is_small_integer, load_f32, load_u32, load_u64,
};
use crate::arithmetic::general;
use crate::op::{Execute, Op, Trap};
use crate::operand::{Lane, load, store};
use crate::thread::Thread;

/// The fast path of a move.
pub fn select(op: &Op) -> Option<Execute> {
    let lanes = op.lanes;
    let src = &op.src[0];
    let (from, to) = (src.ty, op.dst.ty);
    if op.opcode != Opcode::Mov {
        return None;
    }
    let same = from.size() == to.size() && from.is_float() == to.is_float();
    if same && !src.modified() && !op.saturate && op.condition.is_none() {
        return Some(match from.size() {
            1 => by_width!(lanes, copy<u8>),
            2 => by_width!(lanes, copy<u16>),
            4 => by_width!(lanes, copy<u32>),
            _ => by_width!(lanes, copy<u64>),
        });
    }
    let zero_test = matches!(op.condition, None | Some(Condition::Equal | Condition::NotEqual));
    if !from.is_float() && !to.is_float() {
        return match (from.size().max(to.size()), op.saturate || !zero_test) {
            (_, true) => None,
            (8, _) if src.modified() && from.size() < 8 => None,
            (8, _) => Some(by_width!(lanes, integer_64)),
            _ => Some(by_width!(lanes, integer_32)),
        };
    }
    if op.condition.is_some() && (from != Type::F || to != Type::F) {
        return None;
    }
    match (from, to) {
        // Without modifier and saturation it is a raw move, which keeps denormals: left to the general path.
        (Type::F, Type::F) if !src.modified() && !op.saturate => None,
        (Type::F, Type::F) if op.condition != Some(Condition::Overflow) => Some(by_width!(lanes, float)),
        (_, Type::F) if is_small_integer(from) && !src.modified() => Some(if from == Type::UD {
            by_width!(lanes, unsigned_to_float)
        } else {
            by_width!(lanes, signed_to_float)
        }),
        (Type::F, Type::D) => Some(by_width!(lanes, float_to_signed)),
        (Type::F, Type::UD) => Some(by_width!(lanes, float_to_unsigned)),
        _ => None,
    }
}

fn copy<T: Lane, const N: usize>(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
    let values = load::<T, N>(&thread.file, &op.src[0]);
    store(&mut thread.file, op.dst.target, mask, &values);
    Ok(())
}

fn integer_32<const N: usize>(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
    let values = load_u32::<N>(thread, &op.src[0]);
    finish_u32(thread, op, mask, &values);
    Ok(())
}

fn integer_64<const N: usize>(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
    let values = load_u64::<N>(thread, &op.src[0]);
    finish_u64(thread, op, mask, &values);
    Ok(())
}

fn float<const N: usize>(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
    let values = load_f32::<N>(thread, &op.src[0]);
    finish_f32(thread, op, mask, &values);
    Ok(())
}

fn signed_to_float<const N: usize>(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
    if !thread.float.rounds_as_host() {
        return general::execute(thread, op, mask);
    }
    // Unsigned words and bytes have been zero-extended.
    let values = load_u32::<N>(thread, &op.src[0]).map(|v| v as i32 as f32);
    finish_f32(thread, op, mask, &values);
    Ok(())
}

fn unsigned_to_float<const N: usize>(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
    if !thread.float.rounds_as_host() {
        return general::execute(thread, op, mask);
    }
    let values = load_u32::<N>(thread, &op.src[0]).map(|v| v as f32);
    finish_f32(thread, op, mask, &values);
    Ok(())
}

fn float_to_signed<const N: usize>(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
    let values = load_f32::<N>(thread, &op.src[0]).map(|v| v as i32);
    store(&mut thread.file, op.dst.target, mask, &values);
    Ok(())
}

fn float_to_unsigned<const N: usize>(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
    let values = load_f32::<N>(thread, &op.src[0]).map(|v| v as u32);
    store(&mut thread.file, op.dst.target, mask, &values);
    Ok(())
}

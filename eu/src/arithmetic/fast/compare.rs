//! Fast paths of `cmp` and `sel`.

use gencl_isa::{Condition, Opcode, Type};

use super::elements::{by_width, is_small_integer, lane_bits, load_f32, load_u32};
use crate::op::{Execute, Op, Trap};
use crate::operand::{Lane, Src, Target, load, store};
use crate::thread::Thread;

/// The fast path of a comparison or selection.
pub fn select(op: &Op) -> Option<Execute> {
    let lanes = op.lanes;
    let (a, b) = (op.src[0].ty, op.src[1].ty);
    // The negation of a signed value can exceed its type, which only the general path can represent.
    let plain = !op.src.iter().any(Src::modified);
    let unsigned = is_small_integer(a) && is_small_integer(b) && !a.is_signed() && !b.is_signed() && plain;
    let as_signed = |ty: Type| is_small_integer(ty) && ty != Type::UD;
    let signed = as_signed(a) && as_signed(b) && plain;
    let float = a == Type::F && b == Type::F;
    match op.opcode {
        Opcode::Cmp if matches!(op.condition, Some(Condition::Overflow | Condition::Unordered) | None) => {
            None
        }
        Opcode::Cmp if op.dst.ty.size() != 4 && op.dst.target != Target::Null => None,
        Opcode::Cmp if float => Some(by_width!(lanes, compare_float)),
        Opcode::Cmp if unsigned => Some(by_width!(lanes, compare_unsigned)),
        Opcode::Cmp if signed => Some(by_width!(lanes, compare_signed)),
        Opcode::Sel if op.condition.is_none() && a == b && a == op.dst.ty && plain && !op.saturate => {
            Some(match a.size() {
                1 => by_width!(lanes, choose<u8>),
                2 => by_width!(lanes, choose<u16>),
                4 => by_width!(lanes, choose<u32>),
                _ => by_width!(lanes, choose<u64>),
            })
        }
        Opcode::Sel if op.saturate => None,
        Opcode::Sel if float && op.dst.ty == Type::F => match op.condition {
            Some(Condition::GreaterEqual) => Some(by_width!(lanes, maximum_float)),
            Some(Condition::Less) => Some(by_width!(lanes, minimum_float)),
            _ => None,
        },
        Opcode::Sel if op.dst.ty.size() == 4 && !op.dst.ty.is_float() => match op.condition {
            Some(Condition::GreaterEqual) if unsigned => Some(by_width!(lanes, maximum_unsigned)),
            Some(Condition::Less) if unsigned => Some(by_width!(lanes, minimum_unsigned)),
            Some(Condition::GreaterEqual) if signed => Some(by_width!(lanes, maximum_signed)),
            Some(Condition::Less) if signed => Some(by_width!(lanes, minimum_signed)),
            _ => None,
        },
        _ => None,
    }
}

/// A mask of the channels for which the comparison holds.
#[inline(always)]
fn compare<T: PartialOrd + Copy, const N: usize>(condition: Condition, a: &[T; N], b: &[T; N]) -> u32 {
    let pairs: [(T, T); N] = std::array::from_fn(|n| (a[n], b[n]));
    match condition {
        Condition::Equal => lane_bits(&pairs, |(a, b)| a == b),
        Condition::NotEqual => lane_bits(&pairs, |(a, b)| a != b),
        Condition::Greater => lane_bits(&pairs, |(a, b)| a > b),
        Condition::GreaterEqual => lane_bits(&pairs, |(a, b)| a >= b),
        Condition::Less => lane_bits(&pairs, |(a, b)| a < b),
        Condition::LessEqual => lane_bits(&pairs, |(a, b)| a <= b),
        Condition::Overflow | Condition::Unordered => 0,
    }
}

/// Writes the flags, and all ones or zeros to the destination.
#[inline(always)]
fn finish<const N: usize>(thread: &mut Thread, op: &Op, mask: u32, bits: u32) {
    thread.set_flags(op.flag_bit, mask, bits);
    let result: [u32; N] = std::array::from_fn(|n| (bits >> n & 1).wrapping_neg());
    store(&mut thread.file, op.dst.target, mask, &result);
}

/// The condition, which [`select`] requires for comparisons.
#[inline(always)]
fn condition(op: &Op) -> Condition {
    op.condition.unwrap_or(Condition::NotEqual)
}

fn compare_float<const N: usize>(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
    let (a, b) = (load_f32::<N>(thread, &op.src[0]), load_f32::<N>(thread, &op.src[1]));
    let bits = compare(condition(op), &a, &b);
    finish::<N>(thread, op, mask, bits);
    Ok(())
}

fn compare_unsigned<const N: usize>(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
    let (a, b) = (load_u32::<N>(thread, &op.src[0]), load_u32::<N>(thread, &op.src[1]));
    let bits = compare(condition(op), &a, &b);
    finish::<N>(thread, op, mask, bits);
    Ok(())
}

fn compare_signed<const N: usize>(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
    let [a, b] = [0, 1].map(|k| load_u32::<N>(thread, &op.src[k]).map(|v| v as i32));
    let bits = compare(condition(op), &a, &b);
    finish::<N>(thread, op, mask, bits);
    Ok(())
}

fn choose<T: Lane, const N: usize>(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
    let selected = thread.predicate_or_all(op);
    let (a, b) = (load::<T, N>(&thread.file, &op.src[0]), load::<T, N>(&thread.file, &op.src[1]));
    let result: [T; N] = std::array::from_fn(|n| if selected >> n & 1 != 0 { a[n] } else { b[n] });
    store(&mut thread.file, op.dst.target, mask, &result);
    Ok(())
}

macro_rules! extremes {
    ($($name:ident = |$a:ident: $ty:ty, $b:ident| $first:expr;)*) => {
        $(fn $name<const N: usize>(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
            let [a, b] = [0, 1].map(|k| load_u32::<N>(thread, &op.src[k]));
            let result: [u32; N] = std::array::from_fn(|n| {
                let ($a, $b) = (a[n] as $ty, b[n] as $ty);
                if $first { a[n] } else { b[n] }
            });
            store(&mut thread.file, op.dst.target, mask, &result);
            Ok(())
        })*
    };
}

extremes! {
    maximum_unsigned = |a: u32, b| a >= b;
    minimum_unsigned = |a: u32, b| a < b;
    maximum_signed = |a: i32, b| a >= b;
    minimum_signed = |a: i32, b| a < b;
}

fn maximum_float<const N: usize>(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
    extreme_float::<N>(thread, op, mask, |a, b| a >= b)
}

fn minimum_float<const N: usize>(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
    extreme_float::<N>(thread, op, mask, |a, b| a < b)
}

/// Minimum or maximum, where NaN loses against a number.
#[inline(always)]
fn extreme_float<const N: usize>(
    thread: &mut Thread,
    op: &Op,
    mask: u32,
    first: impl Fn(f32, f32) -> bool,
) -> Result<(), Trap> {
    let (a, b) = (load_f32::<N>(thread, &op.src[0]), load_f32::<N>(thread, &op.src[1]));
    let result: [f32; N] =
        std::array::from_fn(|n| if first(a[n], b[n]) | b[n].is_nan() { a[n] } else { b[n] });
    // The conditional modifier of `sel` sets no flags.
    store(&mut thread.file, op.dst.target, mask, &result);
    Ok(())
}

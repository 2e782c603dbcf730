//! Fast paths of integer arithmetic.

use gencl_isa::{Condition, MathFunction, Opcode, Type};

use super::elements::{by_width, finish_u32, finish_u64, load_u32, load_u64};
use crate::arithmetic::compute::shifts_qwords;
use crate::op::{Execute, Op, Trap};
use crate::operand::Src;
use crate::thread::Thread;

/// The fast path of an instruction with integer operands.
pub fn select(op: &Op) -> Option<Execute> {
    use Opcode as O;
    let conditions = matches!(op.condition, None | Some(Condition::Equal | Condition::NotEqual));
    if !integer_sources(op) || op.dst.ty.is_float() || op.saturate || !conditions {
        return None;
    }
    let lanes = op.lanes;
    // Shifting a negated or extended operand would depend on bits beyond its type.
    let unsigned = !op.src[0].ty.is_signed() && !op.src[0].modified();
    let signed = op.src[0].ty.is_signed();
    if op.execution_type.size() <= 4 && op.dst.ty.size() <= 4 {
        return Some(match (op.opcode, op.function) {
            (O::Add, _) => by_width!(lanes, integer_32<Add>),
            (O::Mul, _) if op.low_multiplier => by_width!(lanes, integer_32<MultiplyLow>),
            (O::Mul, _) => by_width!(lanes, integer_32<Multiply>),
            (O::And, _) => by_width!(lanes, integer_32<And>),
            (O::Or, _) => by_width!(lanes, integer_32<Or>),
            (O::Xor, _) => by_width!(lanes, integer_32<Xor>),
            (O::Not, _) => by_width!(lanes, integer_32<Not>),
            (O::Shl, _) => by_width!(lanes, integer_32<ShiftLeft>),
            (O::Shr, _) if unsigned || op.src[0].ty == Type::D && !op.src[0].modified() => {
                by_width!(lanes, integer_32<ShiftRight>)
            }
            (O::Asr, _) if unsigned => by_width!(lanes, integer_32<ShiftRight>),
            (O::Asr, _) if signed && !op.src[0].modified() => by_width!(lanes, integer_32<ShiftRightSigned>),
            (O::Math, Some(f)) if op.dst.ty.size() == 4 => return division(op, f),
            _ => return None,
        });
    }
    if op.src.iter().any(|s| s.modified() && s.ty.size() < 8) {
        return None;
    }
    let wide = op.src[0].ty.size() == 8;
    Some(match op.opcode {
        O::Add => by_width!(lanes, integer_64<Add>),
        O::Mul => by_width!(lanes, integer_64<Multiply>),
        O::And => by_width!(lanes, integer_64<And>),
        O::Or => by_width!(lanes, integer_64<Or>),
        O::Xor => by_width!(lanes, integer_64<Xor>),
        O::Not => by_width!(lanes, integer_64<Not>),
        O::Shl if shifts_qwords(op) => by_width!(lanes, integer_64<ShiftLeft>),
        O::Shr if wide && !op.src[0].modified() => by_width!(lanes, integer_64<ShiftRight>),
        O::Asr if wide && unsigned => by_width!(lanes, integer_64<ShiftRight>),
        O::Asr if wide && !op.src[0].modified() => by_width!(lanes, integer_64<ShiftRightSigned>),
        _ => return None,
    })
}

/// Whether all sources have integer types.
fn integer_sources(op: &Op) -> bool {
    op.src.iter().filter(|s| s.is_some()).all(|s| !s.ty.is_float())
}

fn division(op: &Op, function: MathFunction) -> Option<Execute> {
    let same = op.src[0].ty == op.src[1].ty && !op.src.iter().any(Src::modified);
    let lanes = op.lanes;
    match (function, op.src[0].ty) {
        _ if !same => None,
        (MathFunction::IntDivQuotient, Type::UD) => Some(by_width!(lanes, integer_32<Quotient>)),
        (MathFunction::IntDivRemainder, Type::UD) => Some(by_width!(lanes, integer_32<Remainder>)),
        (MathFunction::IntDivQuotient, Type::D) => Some(by_width!(lanes, integer_32<QuotientSigned>)),
        (MathFunction::IntDivRemainder, Type::D) => Some(by_width!(lanes, integer_32<RemainderSigned>)),
        _ => None,
    }
}

/// A function of two integers.
trait Binary<T> {
    /// Computes it.
    fn apply(a: T, b: T) -> T;
}

macro_rules! binary {
    ($($name:ident($a:ident, $b:ident) { $($ty:ty => $value:expr),* })*) => {
        $(
            struct $name;
            $(impl Binary<$ty> for $name {
                #[inline(always)]
                fn apply($a: $ty, $b: $ty) -> $ty {
                    $value
                }
            })*
        )*
    };
}

binary! {
    Add(a, b) { u32 => a.wrapping_add(b), u64 => a.wrapping_add(b) }
    Multiply(a, b) { u32 => a.wrapping_mul(b), u64 => a.wrapping_mul(b) }
    MultiplyLow(a, b) { u32 => a.wrapping_mul(b & 0xffff) }
    And(a, b) { u32 => a & b, u64 => a & b }
    Or(a, b) { u32 => a | b, u64 => a | b }
    Xor(a, b) { u32 => a ^ b, u64 => a ^ b }
    Not(a, _b) { u32 => !a, u64 => !a }
    ShiftLeft(a, b) { u32 => a.wrapping_shl(b), u64 => a.wrapping_shl(b as u32) }
    ShiftRight(a, b) { u32 => a.wrapping_shr(b), u64 => a.wrapping_shr(b as u32) }
    ShiftRightSigned(a, b) {
        u32 => (a as i32).wrapping_shr(b) as u32,
        u64 => (a as i64).wrapping_shr(b as u32) as u64
    }
    Quotient(a, b) { u32 => a.checked_div(b).unwrap_or(u32::MAX) }
    Remainder(a, b) { u32 => a.checked_rem(b).unwrap_or(u32::MAX) }
    QuotientSigned(a, b) {
        u32 => match (a as i32, b as i32) {
            (a, 0) => if a < 0 { i32::MIN as u32 } else { i32::MAX as u32 },
            (a, b) => a.wrapping_div(b) as u32,
        }
    }
    RemainderSigned(a, b) {
        u32 => if b == 0 { a } else { (a as i32).wrapping_rem(b as i32) as u32 }
    }
}

fn integer_32<F: Binary<u32>, const N: usize>(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
    let a = load_u32::<N>(thread, &op.src[0]);
    let b = load_u32::<N>(thread, &op.src[1]);
    let mut result = [0; N];
    for n in 0..N {
        result[n] = F::apply(a[n], b[n]);
    }
    finish_u32(thread, op, mask, &result);
    Ok(())
}

fn integer_64<F: Binary<u64>, const N: usize>(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
    let a = load_u64::<N>(thread, &op.src[0]);
    let b = load_u64::<N>(thread, &op.src[1]);
    let mut result = [0; N];
    for n in 0..N {
        result[n] = F::apply(a[n], b[n]);
    }
    finish_u64(thread, op, mask, &result);
    Ok(())
}

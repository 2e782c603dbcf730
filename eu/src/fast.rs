//! The fast paths: loops over an instruction's channels as an array of host values, which the host compiler
//! vectorises. [`select`] chooses one for an instruction; others take the general path.
//!
//! Integers up to 32 bits are computed as `u32` (sources extended by their type, results truncated to
//! theirs), with 64-bit operands as `u64`, floats as `f32` if the rounding mode is the host's.

use gencl_isa::{Condition, MathFunction, Opcode, Type};

use super::compute::shifts_qwords;
use super::float::flush_32;
use super::general;
use super::op::{Execute, Op, Trap};
use super::operand::{Lane, SourceLocation, Src, Target, full_mask, load, store};
use super::thread::Thread;
use super::{fast_compare, fast_float, fast_move};

/// Selects the instance of a function for an execution size; the last generic parameter is the number of
/// channels.
macro_rules! by_width {
    ($lanes:expr, $($function:ident)::+ $(<$($generic:ty),*>)?) => {
        match $lanes {
            1 => $($function)::+::<$($($generic,)*)? 1> as $crate::op::Execute,
            2 => $($function)::+::<$($($generic,)*)? 2>,
            4 => $($function)::+::<$($($generic,)*)? 4>,
            8 => $($function)::+::<$($($generic,)*)? 8>,
            16 => $($function)::+::<$($($generic,)*)? 16>,
            _ => $($function)::+::<$($($generic,)*)? 32>,
        }
    };
}
pub(super) use by_width;

/// The fast path of an arithmetic instruction, or the general path if it has none.
pub fn select(op: &Op) -> Execute {
    let sources = op.src.iter().filter(|s| s.is_some());
    let direct = sources
        .clone()
        .all(|s| !matches!(s.location, SourceLocation::Indirect { .. }) && !s.is_accumulator())
        && !matches!(op.dst.target, Target::Indirect { .. })
        && !op.dst.is_accumulator();
    if !direct || op.accumulator_write || op.special {
        return general::execute;
    }
    fast_move::select(op)
        .or_else(|| fast_compare::select(op))
        .or_else(|| select_integer(op))
        .or_else(|| fast_float::select(op))
        .unwrap_or(general::execute)
}

/// Whether it is an integer type of at most 32 bits.
pub fn is_small_integer(ty: Type) -> bool {
    !ty.is_float() && ty.size() <= 4
}

/// Whether all sources have integer types.
fn integer_sources(op: &Op) -> bool {
    op.src.iter().filter(|s| s.is_some()).all(|s| !s.ty.is_float())
}

/// A function of two integers.
pub trait Binary<T> {
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

fn select_integer(op: &Op) -> Option<Execute> {
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

/// Loads integers of up to 32 bits, extended by their type, with modifiers.
#[inline(always)]
pub fn load_u32<const N: usize>(thread: &Thread, src: &Src) -> [u32; N] {
    let mut values = load_extended::<N>(thread, src);
    if src.modified() {
        modify(src, &mut values, |v| v as i32 >= 0, u32::wrapping_neg, |v| !v);
    }
    values
}

#[inline(always)]
fn load_extended<const N: usize>(thread: &Thread, src: &Src) -> [u32; N] {
    let file = &thread.file;
    match src.ty {
        Type::UW => load::<u16, N>(file, src).map(u32::from),
        Type::W => load::<i16, N>(file, src).map(|v| v as u32),
        Type::UB => load::<u8, N>(file, src).map(u32::from),
        Type::B => load::<i8, N>(file, src).map(|v| v as u32),
        _ => load::<u32, N>(file, src),
    }
}

/// As [`load_u32`], extended to 64 bits.
#[inline(always)]
pub fn load_u64<const N: usize>(thread: &Thread, src: &Src) -> [u64; N] {
    let mut values: [u64; N] = match src.ty {
        Type::Q | Type::UQ => load::<u64, N>(&thread.file, src),
        ty => {
            let narrow = load_extended::<N>(thread, src);
            if ty.is_signed() { narrow.map(|v| v as i32 as u64) } else { narrow.map(u64::from) }
        }
    };
    if src.modified() {
        modify(src, &mut values, |v| v as i64 >= 0, u64::wrapping_neg, |v| !v);
    }
    values
}

#[inline(always)]
fn modify<T: Lane, const N: usize>(
    src: &Src,
    values: &mut [T; N],
    positive: impl Fn(T) -> bool,
    negate: impl Fn(T) -> T,
    complement: impl Fn(T) -> T,
) {
    if src.complement {
        values.iter_mut().for_each(|v| *v = complement(*v));
        return;
    }
    if src.abs && src.ty.is_signed() {
        values.iter_mut().for_each(|v| *v = if positive(*v) { *v } else { negate(*v) });
    }
    if src.negate {
        values.iter_mut().for_each(|v| *v = negate(*v));
    }
}

/// Stores results truncated to the destination's type, and sets the flags of `.z` and `.nz`.
#[inline(always)]
pub fn finish_u32<const N: usize>(thread: &mut Thread, op: &Op, mask: u32, result: &[u32; N]) {
    match op.dst.ty.size() {
        4 => {
            store(&mut thread.file, op.dst.target, mask, result);
            zero_flags(thread, op, mask, result);
        }
        2 => {
            let narrow = result.map(|v| v as u16);
            store(&mut thread.file, op.dst.target, mask, &narrow);
            zero_flags(thread, op, mask, &narrow);
        }
        _ => {
            let narrow = result.map(|v| v as u8);
            store(&mut thread.file, op.dst.target, mask, &narrow);
            zero_flags(thread, op, mask, &narrow);
        }
    }
}

/// As [`finish_u32`].
#[inline(always)]
pub fn finish_u64<const N: usize>(thread: &mut Thread, op: &Op, mask: u32, result: &[u64; N]) {
    if op.dst.ty.size() == 8 {
        store(&mut thread.file, op.dst.target, mask, result);
        zero_flags(thread, op, mask, result);
    } else {
        finish_u32(thread, op, mask, &result.map(|v| v as u32));
    }
}

#[inline(always)]
fn zero_flags<T: Lane, const N: usize>(thread: &mut Thread, op: &Op, mask: u32, result: &[T; N]) {
    if let Some(condition) = op.condition {
        let zeros = lane_bits(result, |v| v == T::default());
        let bits = if condition == Condition::Equal { zeros } else { !zeros };
        thread.set_flags(op.flag_bit, mask, bits);
    }
}

/// A mask of the channels for which `holds` is true.
#[inline(always)]
pub fn lane_bits<T: Copy, const N: usize>(values: &[T; N], holds: impl Fn(T) -> bool) -> u32 {
    let mut bits = 0;
    for (n, value) in values.iter().enumerate() {
        bits |= u32::from(holds(*value)) << n;
    }
    bits
}

/// Loads floats with modifiers, and flushes denormals if the mode says so.
#[inline(always)]
pub fn load_f32<const N: usize>(thread: &Thread, src: &Src) -> [f32; N] {
    let mut values = load::<f32, N>(&thread.file, src);
    if src.modified() {
        let keep = if src.abs { 0x7fff_ffff } else { u32::MAX };
        let flip = if src.negate { 0x8000_0000 } else { 0 };
        values.iter_mut().for_each(|v| *v = f32::from_bits(v.to_bits() & keep ^ flip));
    }
    if thread.float.flush_32 {
        values.iter_mut().for_each(|v| *v = flush_32(*v));
    }
    values
}

/// Saturates, flushes and stores results, and sets the flags.
#[inline(always)]
pub fn finish_f32<const N: usize>(thread: &mut Thread, op: &Op, mask: u32, exact: &[f32; N]) {
    let mut result = *exact;
    if op.saturate {
        // NaN becomes 0.
        result.iter_mut().for_each(|v| *v = if *v > 0.0 { if *v < 1.0 { *v } else { 1.0 } } else { 0.0 });
    }
    if thread.float.flush_32 {
        result.iter_mut().for_each(|v| *v = flush_32(*v));
    }
    store(&mut thread.file, op.dst.target, mask, &result);
    if let Some(condition) = op.condition {
        let zero = lane_bits(&result, |v| v == 0.0);
        let negative = lane_bits(exact, |v| v < 0.0) & !zero;
        let unordered = lane_bits(exact, f32::is_nan);
        let all = full_mask(N);
        let bits = match condition {
            Condition::Equal => zero,
            Condition::NotEqual => !zero,
            Condition::Greater => all & !(zero | negative | unordered),
            Condition::GreaterEqual => (all & !negative | zero) & !unordered,
            Condition::Less => negative,
            Condition::LessEqual => (negative | zero) & !unordered,
            Condition::Unordered => unordered,
            Condition::Overflow => 0,
        };
        thread.set_flags(op.flag_bit, mask, bits);
    }
}

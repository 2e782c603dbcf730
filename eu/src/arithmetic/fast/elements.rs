//! Loads and stores of elements of all channels, with modifiers.

use gencl_isa::{Condition, Type};

use crate::float::flush_32;
use crate::op::Op;
use crate::operand::{Lane, Src, full_mask, load, store};
use crate::thread::Thread;

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

/// Whether it is an integer type of at most 32 bits.
pub fn is_small_integer(ty: Type) -> bool {
    !ty.is_float() && ty.size() <= 4
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

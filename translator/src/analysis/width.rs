//! In how many bits integers are computed.
//!
//! `eu::compute` has exact values, which are limited or cut to the destination only then. Host code computes in the fewest bits with which it
//! leaves the same.

use gencl_eu::compute::shifts_qwords;
use gencl_eu::op::Op;
use gencl_eu::operand::{SourceLocation, Src};
use gencl_isa::{Condition, MathFunction, Opcode, Type};

use crate::analysis::native::{self, Native};

/// What an integer may be.
#[derive(Clone, Copy)]
struct Range {
    low: i128,
    high: i128,
}

impl Range {
    const ZERO: Range = Range { low: 0, high: 0 };

    fn signed(bits: u32) -> Range {
        Range { low: -1 << (bits - 1), high: (1 << (bits - 1)) - 1 }
    }

    fn unsigned(bits: u32) -> Range {
        Range { low: 0, high: (1 << bits) - 1 }
    }

    fn of(ty: Type) -> Range {
        if ty.is_signed() { Range::signed(ty.size() * 8) } else { Range::unsigned(ty.size() * 8) }
    }

    /// Of a source with its modifiers.
    fn source(src: &Src) -> Range {
        let mut range = Range::of(src.ty);
        if let SourceLocation::Constant(bits) = src.location {
            let unused = 128 - src.ty.size() * 8;
            let bits = u128::from(bits) << unused;
            let value = if src.ty.is_signed() { bits as i128 >> unused } else { (bits >> unused) as i128 };
            range = Range { low: value, high: value };
        }
        if src.abs {
            range = Range { low: 0, high: range.high.max(-range.low) };
        }
        match (src.complement, src.negate) {
            (true, _) => Range { low: !range.high, high: !range.low },
            (false, true) => range.negated(),
            (false, false) => range,
        }
    }

    fn negated(self) -> Range {
        Range { low: -self.high, high: -self.low }
    }

    /// All between the values of both.
    fn hull(self, other: Range) -> Range {
        Range { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// What a function of two operands gives whose extremes are those of its operands.
    fn combine(self, other: Range, function: fn(i128, i128) -> i128) -> Range {
        let mut extremes = [
            function(self.low, other.low),
            function(self.low, other.high),
            function(self.high, other.low),
            function(self.high, other.high),
        ];
        extremes.sort_unstable();
        Range { low: extremes[0], high: extremes[3] }
    }

    fn plus(self, other: Range) -> Range {
        self.combine(other, i128::saturating_add)
    }

    fn times(self, other: Range) -> Range {
        self.combine(other, i128::saturating_mul)
    }

    /// Whether all of it is between two numbers.
    fn within(self, low: i128, high: i128) -> bool {
        low <= self.low && self.high <= high
    }

    /// Whether all of it has so many bits, unsigned if nothing is negative.
    fn fits(self, bits: u32) -> bool {
        let all = if self.low < 0 { Range::signed(bits) } else { Range::unsigned(bits) };
        all.low <= self.low && self.high <= all.high
    }
}

/// What an operation takes to be computed.
struct Needs {
    /// What bits must hold exactly, whatever becomes of the result.
    operands: Range,
    /// The exact result.
    result: Range,
    /// Bits that the operation itself takes.
    bits: u32,
}

/// The host code for integers; `floats`: a result may be converted to floats.
pub fn select(op: &Op, floats: bool) -> Option<Native> {
    let Needs { operands, result, bits } = needs(op)?;
    let all = operands.hull(result);
    let compares = matches!(op.opcode, Opcode::Cmp | Opcode::Cmpn);
    let to_float = op.dst.ty.is_float() && !compares;
    // Doubles hold what is converted.
    if to_float && !(floats && all.fits(53)) {
        return None;
    }
    // All else looks at the low bits alone.
    let exact = to_float
        || op.saturate
        || !matches!(op.condition, None | Some(Condition::Equal | Condition::NotEqual));
    let range = if exact { all } else { operands };
    let destination = if op.dst.ty.is_float() || compares { 0 } else { op.dst.ty.size() * 8 };
    let accumulator = if native::writes_accumulator(op) { 64 } else { 0 };
    // The absolute value of low bits is not that of all.
    let absolute = op.src.iter().filter(|src| src.abs).map(|src| src.ty.size() * 8).max().unwrap_or(0);
    let least = bits.max(destination).max(accumulator).max(absolute);
    let bits = [8, 16, 32, 64].into_iter().find(|bits| *bits >= least && range.fits(*bits)).unwrap_or(128);
    // The interpreter's own integers have 128 bits, and a sign.
    Some(Native::Integer { bits, signed: range.low < 0 || bits == 128 })
}

fn needs(op: &Op) -> Option<Needs> {
    use Opcode as O;
    let sources = || op.src.iter().filter(|src| src.is_some());
    if sources().any(|src| src.ty.is_float()) {
        return None;
    }
    let [a, mut b, c] = [0, 1, 2].map(|n| Range::source(&op.src[n]));
    if op.low_multiplier {
        b = Range::unsigned(16);
    }
    let all = sources().map(Range::source).reduce(Range::hull)?;
    let (dword, qword) = (Range::unsigned(32), Range::signed(64));
    if native::is_logic(op.opcode) && op.dst.ty.is_float() {
        return None;
    }
    let modular = |result: Range| (Range::ZERO, result);
    let (operands, result) = match op.opcode {
        // Of these the result is a number of the destination's type.
        O::And | O::Or | O::Xor | O::Not => modular(Range::of(op.dst.ty)),
        O::Mov if native::copies(op) => modular(Range::of(op.dst.ty)),
        O::Mov => modular(a),
        O::Sel if op.condition.is_none() => modular(a.hull(b)),
        O::Sel | O::Cmp | O::Cmpn => (all, all),
        O::Csel => (all.hull(Range::ZERO), all),
        // Sums of which one is signed have no more bits than a qword.
        O::Add if op.execution_type == Type::Q => modular(qword),
        O::Add => modular(a.plus(b)),
        O::Mul => modular(a.times(b)),
        O::Mad => modular(b.times(c).plus(a)),
        O::Mac => modular(a.times(b).plus(qword)),
        O::Mach | O::Addc | O::Subb => (qword, dword),
        O::Avg => (a.plus(b).plus(Range { low: 0, high: 1 }), Range::ZERO),
        O::Shl => modular(a.times(Range { low: 1, high: if shifts_qwords(op) { 1 << 63 } else { 1 << 31 } })),
        O::Shr => (Range::unsigned(op.src[0].ty.size() * 8), Range::ZERO),
        O::Asr => (a, Range::ZERO),
        O::Cbit => (Range::unsigned(op.src[0].ty.size() * 8), Range::ZERO),
        O::Lzd | O::Bfrev | O::Fbl | O::Bfi1 | O::Bfi2 => modular(dword),
        // The first bit is that which differs from the sign.
        O::Fbh => (a, dword),
        O::Bfe => modular(if op.src[2].ty.is_signed() { Range::signed(32) } else { dword }),
        O::Math => division(op, a, b)?,
        _ => return None,
    };
    let bits = match op.opcode {
        O::Shl | O::Shr | O::Asr if shifts_qwords(op) => 64,
        O::Shl | O::Shr | O::Asr if Range::source(&op.src[1]).within(0, 15) => 16,
        // Hosts multiply and shift no bytes.
        O::Mul | O::Mad | O::Avg => 16,
        O::Mov | O::Sel | O::Cmp | O::Cmpn | O::Csel | O::Add | O::And | O::Or | O::Xor | O::Not => 8,
        _ => 32,
    };
    Some(Needs { operands, result, bits })
}

/// Doubles hold dwords, and the quotients of what they hold.
fn division(op: &Op, a: Range, b: Range) -> Option<(Range, Range)> {
    let quotient = matches!(op.function, Some(MathFunction::IntDivQuotient));
    let known = quotient || matches!(op.function, Some(MathFunction::IntDivRemainder));
    let by_zero = if op.src[0].ty.is_signed() { Range::signed(32) } else { Range::unsigned(32) };
    let operands = a.hull(b).hull(by_zero);
    let negated = if operands.low < 0 { a.negated() } else { a };
    (known && operands.fits(34)).then_some((operands, a.hull(negated)))
}

//! Arithmetic, logic, shifts and counting of 64-bit integers.

use super::compare::high_type;
use super::{Halves, Lowering};
use crate::ir::{BinaryOp, Condition, Family, Op, Reg, Type, UnaryOp};

impl Lowering<'_> {
    /// Operations with one source; `None` for those that integers do not have.
    pub fn integer_unary(&mut self, op: UnaryOp, ty: Type, a: Halves) -> Option<Halves> {
        Some(match op {
            UnaryOp::Mov => a,
            UnaryOp::Not => {
                Halves { low: self.unary32(UnaryOp::Not, a.low), high: self.unary32(UnaryOp::Not, a.high) }
            }
            UnaryOp::Neg => self.negate(a),
            UnaryOp::Abs if ty.is_signed() => {
                let sign = self.sign(a.high);
                self.negate_by(a, sign)
            }
            UnaryOp::Abs => a,
            UnaryOp::LeadingZeros => {
                let count = self.leading_zeros(a);
                self.extended(count)
            }
            UnaryOp::TrailingZeros => {
                let count = self.first_of(UnaryOp::TrailingZeros, a.low, a.high);
                self.extended(count)
            }
            UnaryOp::PopCount => {
                let low = self.unary32(op, a.low);
                let high = self.unary32(op, a.high);
                let count = self.binary32(BinaryOp::Add, low, high);
                self.extended(count)
            }
            UnaryOp::BitReverse => Halves { low: self.unary32(op, a.high), high: self.unary32(op, a.low) },
            UnaryOp::Floor
            | UnaryOp::Ceil
            | UnaryOp::Trunc
            | UnaryOp::RoundEven
            | UnaryOp::Rcp
            | UnaryOp::Rsqrt
            | UnaryOp::Sqrt
            | UnaryOp::Exp2
            | UnaryOp::Log2
            | UnaryOp::Sin
            | UnaryOp::Cos
            | UnaryOp::Canonicalize => return None,
        })
    }

    /// Operations with two sources; `amount` is the second when it is a constant. `None` for those that
    /// floats have alone, and for division, which calls of the library are put in place of (`llvm/lower.rs`).
    pub fn binary(
        &mut self,
        op: BinaryOp,
        ty: Type,
        a: Halves,
        b: Halves,
        amount: Option<u64>,
    ) -> Option<Halves> {
        Some(match op {
            BinaryOp::Add => self.add(a, b),
            BinaryOp::Sub => self.sub(a, b),
            BinaryOp::Mul => self.mul(a, b),
            BinaryOp::MulHigh => self.mul_high(ty, a, b),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                Halves { low: self.binary32(op, a.low, b.low), high: self.binary32(op, a.high, b.high) }
            }
            BinaryOp::Shl | BinaryOp::Shr => match amount {
                Some(amount) => self.shift_by_constant(op, ty, a, amount as u32 % 64),
                None => self.shift(op, ty, a, b.low),
            },
            BinaryOp::Min | BinaryOp::Max => self.extreme(op, ty, a, b),
            BinaryOp::AddSat => self.add_saturating(ty, a, b),
            BinaryOp::SubSat => self.sub_saturating(ty, a, b),
            BinaryOp::Avg => self.average(ty, a, b),
            BinaryOp::Div | BinaryOp::Rem | BinaryOp::Pow | BinaryOp::FastDiv => return None,
        })
    }

    /// An unsigned dword as 64 bits.
    pub fn extended(&mut self, low: Reg) -> Halves {
        Halves { low, high: self.dword(0) }
    }

    /// a + b. The low sum is less than either addend when it has wrapped.
    pub fn add(&mut self, a: Halves, b: Halves) -> Halves {
        let low = self.binary32(BinaryOp::Add, a.low, b.low);
        let wrapped = self.compare(Condition::Less, Type::U32, low, a.low);
        let carry = self.number(wrapped);
        let high = self.binary32(BinaryOp::Add, a.high, b.high);
        Halves { low, high: self.binary32(BinaryOp::Add, high, carry) }
    }

    /// a + b of a dword b.
    fn add_dword(&mut self, a: Halves, b: Reg) -> Halves {
        let b = self.extended(b);
        self.add(a, b)
    }

    pub fn sub(&mut self, a: Halves, b: Halves) -> Halves {
        let borrows = self.compare(Condition::Less, Type::U32, a.low, b.low);
        let borrow = self.number(borrows);
        let low = self.binary32(BinaryOp::Sub, a.low, b.low);
        let high = self.binary32(BinaryOp::Sub, a.high, b.high);
        Halves { low, high: self.binary32(BinaryOp::Sub, high, borrow) }
    }

    fn negate(&mut self, a: Halves) -> Halves {
        let zero = self.constant(0);
        self.sub(zero, a)
    }

    /// -a where `sign` is all ones, a where it is 0.
    pub fn negate_by(&mut self, a: Halves, sign: Reg) -> Halves {
        let low = self.binary32(BinaryOp::Xor, a.low, sign);
        let high = self.binary32(BinaryOp::Xor, a.high, sign);
        self.sub(Halves { low, high }, Halves { low: sign, high: sign })
    }

    /// The product of two dwords.
    fn mul_dwords(&mut self, a: Reg, b: Reg) -> Halves {
        Halves { low: self.binary32(BinaryOp::Mul, a, b), high: self.binary32(BinaryOp::MulHigh, a, b) }
    }

    pub fn mul(&mut self, a: Halves, b: Halves) -> Halves {
        let Halves { low, high } = self.mul_dwords(a.low, b.low);
        let cross = self.binary32(BinaryOp::Mul, a.high, b.low);
        let other = self.binary32(BinaryOp::Mul, a.low, b.high);
        let cross = self.binary32(BinaryOp::Add, cross, other);
        Halves { low, high: self.binary32(BinaryOp::Add, high, cross) }
    }

    /// The high half of the product. No sum of the unsigned partial products wraps: (2^32 - 1)^2 + 2 (2^32 -
    /// 1) < 2^64.
    fn mul_high(&mut self, ty: Type, a: Halves, b: Halves) -> Halves {
        let lowest = self.binary32(BinaryOp::MulHigh, a.low, b.low);
        let middle = self.mul_dwords(a.low, b.high);
        let middle = self.add_dword(middle, lowest);
        let other = self.mul_dwords(a.high, b.low);
        let other = self.add_dword(other, middle.low);
        let high = self.mul_dwords(a.high, b.high);
        let high = self.add_dword(high, middle.high);
        let mut high = self.add_dword(high, other.high);
        if ty.is_signed() {
            // Read as unsigned, a negative factor is larger by 2^64.
            for (factor, other) in [(a, b), (b, a)] {
                let sign = self.sign(factor.high);
                let excess = Halves {
                    low: self.binary32(BinaryOp::And, other.low, sign),
                    high: self.binary32(BinaryOp::And, other.high, sign),
                };
                high = self.sub(high, excess);
            }
        }
        high
    }

    /// Shifts of the high half, and what a right shift fills up with.
    fn shift_high(&mut self, op: BinaryOp, ty: Type, a: Reg, amount: Reg) -> Reg {
        self.emit(Op::Binary(op, high_type(ty)), Family::Dword, &[a, amount])
    }

    fn filling(&mut self, ty: Type, a: Halves) -> Reg {
        if ty.is_signed() { self.sign(a.high) } else { self.dword(0) }
    }

    fn shift_by_constant(&mut self, op: BinaryOp, ty: Type, a: Halves, amount: u32) -> Halves {
        let left = op == BinaryOp::Shl;
        match amount {
            0 => a,
            1..32 => {
                let (source, fills) = if left { (a.low, BinaryOp::Shr) } else { (a.high, BinaryOp::Shl) };
                let crossing = self.with_constant(fills, source, 32 - amount);
                let count = self.dword(amount);
                if left {
                    let high = self.binary32(op, a.high, count);
                    Halves {
                        low: self.binary32(op, a.low, count),
                        high: self.binary32(BinaryOp::Or, high, crossing),
                    }
                } else {
                    let low = self.binary32(op, a.low, count);
                    Halves {
                        low: self.binary32(BinaryOp::Or, low, crossing),
                        high: self.shift_high(op, ty, a.high, count),
                    }
                }
            }
            _ => {
                let count = self.dword(amount - 32);
                if left {
                    Halves { low: self.dword(0), high: self.binary32(op, a.low, count) }
                } else {
                    let high = self.filling(ty, a);
                    Halves { low: self.shift_high(op, ty, a.high, count), high }
                }
            }
        }
    }

    /// Shifts by the low 6 bits of a dword. Those of dwords take 5 bits; what crosses from one half to the
    /// other is shifted by 31 less the amount, after one step the other way, so that no amount is 32.
    pub fn shift(&mut self, op: BinaryOp, ty: Type, a: Halves, amount: Reg) -> Halves {
        let left = op == BinaryOp::Shl;
        let far = self.with_constant(BinaryOp::And, amount, 32);
        let far = self.compare_constant(Condition::NotEqual, Type::U32, far, 0);
        let rest = self.unary32(UnaryOp::Not, amount);
        let (source, fills) = if left { (a.low, BinaryOp::Shr) } else { (a.high, BinaryOp::Shl) };
        let crossing = self.with_constant(fills, source, 1);
        let crossing = self.binary32(fills, crossing, rest);
        if left {
            let low = self.binary32(op, a.low, amount);
            let high = self.binary32(op, a.high, amount);
            let high = self.binary32(BinaryOp::Or, high, crossing);
            let zero = self.dword(0);
            self.choose(far, Halves { low: zero, high: low }, Halves { low, high })
        } else {
            let low = self.binary32(op, a.low, amount);
            let low = self.binary32(BinaryOp::Or, low, crossing);
            let high = self.shift_high(op, ty, a.high, amount);
            let filling = self.filling(ty, a);
            self.choose(far, Halves { low: high, high: filling }, Halves { low, high })
        }
    }

    /// The largest number, or the smallest where `sign` is all ones.
    pub fn limit(&mut self, sign: Reg) -> Halves {
        Halves {
            low: self.unary32(UnaryOp::Not, sign),
            high: self.with_constant(BinaryOp::Xor, sign, 0x7fff_ffff),
        }
    }

    fn add_saturating(&mut self, ty: Type, a: Halves, b: Halves) -> Halves {
        let sum = self.add(a, b);
        if !ty.is_signed() {
            let wrapped = self.compare64(Condition::Less, ty, sum, a);
            let most = self.constant(u64::MAX);
            return self.choose(wrapped, most, sum);
        }
        // Overflow: the sum has neither addend's sign.
        let x = self.binary32(BinaryOp::Xor, a.high, sum.high);
        let y = self.binary32(BinaryOp::Xor, b.high, sum.high);
        self.limited(x, y, a, sum)
    }

    fn sub_saturating(&mut self, ty: Type, a: Halves, b: Halves) -> Halves {
        let difference = self.sub(a, b);
        if !ty.is_signed() {
            let wrapped = self.compare64(Condition::Less, ty, a, b);
            let zero = self.constant(0);
            return self.choose(wrapped, zero, difference);
        }
        let x = self.binary32(BinaryOp::Xor, a.high, b.high);
        let y = self.binary32(BinaryOp::Xor, a.high, difference.high);
        self.limited(x, y, a, difference)
    }

    /// The limit on the side of `a` where both `x` and `y` are negative, else the result.
    fn limited(&mut self, x: Reg, y: Reg, a: Halves, result: Halves) -> Halves {
        let both = self.binary32(BinaryOp::And, x, y);
        let over = self.compare_constant(Condition::Less, Type::S32, both, 0);
        let sign = self.sign(a.high);
        let limit = self.limit(sign);
        self.choose(over, limit, result)
    }

    /// (a + b + 1) / 2, rounded down, without the carry: (a | b) - ((a ^ b) >> 1).
    fn average(&mut self, ty: Type, a: Halves, b: Halves) -> Halves {
        let mut each =
            |op| Halves { low: self.binary32(op, a.low, b.low), high: self.binary32(op, a.high, b.high) };
        let (either, differ) = (each(BinaryOp::Or), each(BinaryOp::Xor));
        let half = self.shift_by_constant(BinaryOp::Shr, ty, differ, 1);
        self.sub(either, half)
    }

    /// The number of leading zeros, a dword.
    pub fn leading_zeros(&mut self, a: Halves) -> Reg {
        self.first_of(UnaryOp::LeadingZeros, a.high, a.low)
    }

    /// Counts zeros in `first`, and in `second` if `first` is 0.
    fn first_of(&mut self, op: UnaryOp, first: Reg, second: Reg) -> Reg {
        let empty = self.compare_constant(Condition::Equal, Type::U32, first, 0);
        let here = self.unary32(op, first);
        let there = self.unary32(op, second);
        let there = self.with_constant(BinaryOp::Add, there, 32);
        self.select(empty, there, here)
    }
}

//! 64-bit integer operations that need several instructions.

use super::{Failure, Selector};
use crate::codegen::operand::{Dest, Operation, Val};
use gencl_isa::{Opcode, Type};

/// Counting and reversing bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    /// The number of ones.
    Count,
    LeadingZeros,
    TrailingZeros,
    Reverse,
}

/// Low and high dwords.
fn halves(v: Val) -> (Val, Val) {
    (v.part(0, Type::UD), v.part(4, Type::UD))
}

impl Selector<'_> {
    pub fn op2(&mut self, opcode: Opcode, d: Dest, a: Val, b: Val) {
        self.b.op(Operation::new(opcode), d, &[a, b]);
    }

    /// A new register of one quadword, for each lane or for all.
    fn wide(&mut self, scalar: bool) -> Dest {
        self.b.temporary(scalar, Type::UQ)
    }

    /// d = a * b: the low product, plus the low halves of both cross products shifted by 32.
    pub fn mul64(&mut self, d: Dest, a: Val, b: Val) {
        let ((al, ah), (bl, bh)) = (halves(a), halves(b));
        let low = self.wide(d.scalar());
        self.op2(Opcode::Mul, low, al, bl);
        let cross = self.b.temporary(d.scalar(), Type::UD);
        self.multiply(cross, ah, bl);
        let other = self.b.temporary(d.scalar(), Type::UD);
        self.multiply(other, al, bh);
        self.op2(Opcode::Add, cross, cross.val(), other.val());
        let high = low.part(4, Type::UD);
        self.op2(Opcode::Add, high, high.val(), cross.val());
        self.b.mov(d.cast(Type::UQ), low.val());
    }

    /// d = high half of a * b.
    pub fn mul_high64(&mut self, d: Dest, a: Val, b: Val) {
        let scalar = d.scalar();
        let signed = d.ty == Type::Q;
        let ((al, ah), (bl, bh)) = (halves(a), halves(b));
        let low = self.wide(scalar);
        self.op2(Opcode::Mul, low, al, bl);
        let middle = self.wide(scalar);
        self.op2(Opcode::Mul, middle, al, bh);
        // Cannot wrap: (2^32 - 1)^2 + 2^32 - 1 < 2^64.
        self.op2(Opcode::Add, middle, middle.val(), low.val().part(4, Type::UD));
        let other = self.wide(scalar);
        self.op2(Opcode::Mul, other, ah, bl);
        self.op2(Opcode::Add, other, other.val(), middle.val().part(0, Type::UD));
        let high = self.wide(scalar);
        self.op2(Opcode::Mul, high, ah, bh);
        self.op2(Opcode::Add, high, high.val(), middle.val().part(4, Type::UD));
        self.op2(Opcode::Add, high, high.val(), other.val().part(4, Type::UD));
        if signed {
            // Read as unsigned, a negative factor is larger by 2^64.
            for (sign, factor) in [(a, b), (b, a)] {
                let mask = self.wide(scalar).cast(Type::Q);
                self.op2(Opcode::Asr, mask, sign.cast(Type::Q), Val::imm(63, Type::UW));
                self.op2(Opcode::And, mask, mask.val(), factor.cast(Type::Q));
                self.op2(Opcode::Add, high, high.val(), mask.val().negated());
            }
        }
        self.b.mov(d.cast(Type::UQ), high.val());
    }

    /// Counting and reversing bits of quadwords.
    pub fn bits64(&mut self, op: Bits, d: Dest, v: Val) {
        let scalar = d.scalar();
        let (low, high) = halves(v);
        let first = self.b.temporary(scalar, Type::UD);
        let second = self.b.temporary(scalar, Type::UD);
        match op {
            Bits::Reverse => {
                self.b.op(Operation::new(Opcode::Bfrev), first, &[high]);
                self.b.op(Operation::new(Opcode::Bfrev), second, &[low]);
                self.b.mov(d.part(0, Type::UD), first.val());
                self.b.mov(d.part(4, Type::UD), second.val());
                return;
            }
            Bits::Count => {
                self.b.op(Operation::new(Opcode::Cbit), first, &[low]);
                self.b.op(Operation::new(Opcode::Cbit), second, &[high]);
            }
            Bits::LeadingZeros => {
                self.b.op(Operation::new(Opcode::Lzd), first, &[high]);
                self.b.op(Operation::new(Opcode::Lzd), second, &[low]);
            }
            Bits::TrailingZeros => {
                self.find_first_set(first, low);
                self.find_first_set(second, high);
            }
        }
        if op != Bits::Count {
            // The second count is added if the first is 32, that is if its bit 5 is set.
            let mask = self.b.temporary(scalar, Type::UD);
            self.op2(Opcode::Shr, mask, first.val(), Val::imm(5, Type::UW));
            self.b.mov(mask, mask.val().cast(Type::D).negated());
            self.op2(Opcode::And, second, second.val(), mask.val());
        }
        self.op2(Opcode::Add, first, first.val(), second.val());
        self.b.mov(d.cast(Type::UQ), first.val());
    }

    /// d = a + b or a - b, clamped.
    pub fn saturating64(&mut self, subtract: bool, d: Dest, a: Val, b: Val) -> Result<(), Failure> {
        let scalar = d.scalar();
        let r = self.wide(scalar);
        let second = if subtract { b.negated() } else { b };
        self.op2(Opcode::Add, r.cast(d.ty), a, second);
        let over = self.wide(scalar);
        if d.ty == Type::Q {
            // Overflow: the operands have the same sign (for subtraction, different ones), and the result has
            // the other.
            let (a, b, sum) = (a.cast(Type::UQ), b.cast(Type::UQ), r.val());
            let differs = self.wide(scalar);
            self.op2(Opcode::Xor, over, a, sum);
            self.op2(Opcode::Xor, differs, a, b);
            let other = if subtract { differs.val() } else { differs.val().negated() };
            self.op2(Opcode::And, over, over.val(), other);
            self.op2(Opcode::Asr, over.cast(Type::Q), over.val().cast(Type::Q), Val::imm(63, Type::UW));
            // The limit with the sign of a: the maximum, complemented when a is negative.
            let limit = self.wide(scalar);
            self.op2(Opcode::Asr, limit.cast(Type::Q), a.cast(Type::Q), Val::imm(63, Type::UW));
            let most = self.materialize(Val::imm(i64::MAX as u64, Type::UQ));
            self.op2(Opcode::Xor, limit, limit.val(), most);
            // r = r ^ (over & (r ^ limit))
            self.op2(Opcode::Xor, limit, limit.val(), r.val());
            self.op2(Opcode::And, limit, limit.val(), over.val());
            self.op2(Opcode::Xor, d.cast(Type::UQ), r.val(), limit.val());
            return Ok(());
        }
        // The carry or borrow out of bit 63, from the carries' majority form.
        let (x, y) = (a.cast(Type::UQ), b.cast(Type::UQ));
        let either = self.wide(scalar);
        if subtract {
            // borrow = (~a & b) | (~(a ^ b) & r)
            self.op2(Opcode::And, over, y, x.negated());
            self.op2(Opcode::Xor, either, x, y);
            self.op2(Opcode::And, either, r.val(), either.val().negated());
        } else {
            // carry = (a & b) | ((a | b) & ~r)
            self.op2(Opcode::And, over, x, y);
            self.op2(Opcode::Or, either, x, y);
            self.op2(Opcode::And, either, either.val(), r.val().negated());
        }
        self.op2(Opcode::Or, over, over.val(), either.val());
        self.op2(Opcode::Asr, over.cast(Type::Q), over.val().cast(Type::Q), Val::imm(63, Type::UW));
        let d = d.cast(Type::UQ);
        if subtract {
            self.op2(Opcode::And, d, r.val(), over.val().negated());
        } else {
            self.op2(Opcode::Or, d, r.val(), over.val());
        }
        Ok(())
    }
}

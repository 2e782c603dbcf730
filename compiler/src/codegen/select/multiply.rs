//! Multiplication of 32-bit integers.
//!
//! Broadwell and later multiply two dwords (the Atom line if they are aligned alike:
//! [`crate::codegen::aligned`]). On earlier generations `mul` reads 16 bits of source 1 (Ivy Bridge PRM,
//! Volume 4 Part 3, "mul - Multiply"; Mesa, `lower_mul_dword_inst`), so that products are computed from
//! 16-bit partial products. For the high half the manuals use `mach` and the accumulator, eight lanes at a
//! time; partial products need neither.

use super::{Failure, Selector, unsigned};
use crate::codegen::operand::{Dest, Operation, Val};
use crate::ir::Reg;
use gencl_isa::{Opcode, Type};

/// Low and high words, the high one with the sign.
fn words(v: Val, signed: bool) -> (Val, Val) {
    (v.part(0, Type::UW), v.part(2, if signed { Type::W } else { Type::UW }))
}

impl Selector<'_> {
    fn product(&mut self, d: Dest, a: Val, b: Val) {
        self.binary_op(Operation::new(Opcode::Mul), true, d, a, b);
    }

    /// d = a * b, the low dword.
    pub fn multiply(&mut self, d: Dest, a: Val, b: Val) {
        if self.target.execution.dword_multiply {
            return self.product(d, a, b);
        }
        // A constant must be source 1, and can be a word.
        let (a, b) = if a.constant().is_some() { (b, a) } else { (a, b) };
        let a = self.materialize(a).cast(Type::UD);
        let small = b.extended().and_then(|value| {
            let signed = i16::try_from(value).ok().map(|word| Val::imm(word as u16 as u64, Type::W));
            signed.or(u16::try_from(value).ok().map(|word| Val::imm(word.into(), Type::UW)))
        });
        if let Some(word) = small {
            let ty = if word.ty == Type::W { Type::D } else { Type::UD };
            return self.product(d.cast(ty), a.cast(ty), word);
        }
        let (low, high) = words(b, false);
        let cross = self.b.temporary(d.scalar(), Type::UD);
        self.product(cross, a, high);
        // The high words can be written in place only if the stride is that of dwords.
        let packed = d.stride <= 4;
        let result = if packed { d.cast(Type::UD) } else { self.b.temporary(false, Type::UD) };
        self.product(result, a, low);
        let upper = result.part(2, Type::UW);
        self.op2(Opcode::Add, upper, upper.val(), cross.val().part(0, Type::UW));
        if !packed {
            self.b.mov(d.cast(Type::UD), result.val());
        }
    }

    /// The high half of a product of at most 32 bits.
    pub fn mul_high(&mut self, ty: Type, dst: Reg, a: Val, b: Val) -> Result<(), Failure> {
        let (product, word) = match (ty.size(), ty.is_signed()) {
            (1, true) => (Type::W, Type::B),
            (1, false) => (Type::UW, Type::UB),
            (2, true) => (Type::D, Type::W),
            (2, false) => (Type::UD, Type::UW),
            (_, true) => (Type::Q, Type::D),
            (_, false) => (Type::UQ, Type::UD),
        };
        let d = self.dest(dst, unsigned(ty.size()))?;
        if ty.size() == 4 && !(self.target.execution.dword_multiply && self.target.execution.int64) {
            self.high_product(d, a, b, ty.is_signed());
            return Ok(());
        }
        let t = self.b.temporary(d.scalar(), product);
        self.product(t, a.cast(word), b.cast(word));
        self.b.mov(d, t.val().part(ty.size(), unsigned(ty.size())));
        Ok(())
    }

    /// d = the high dword of a * b, by 16-bit partial products. No sum wraps: (2^16 - 1)^2 + 2^16 - 1 < 2^32.
    fn high_product(&mut self, d: Dest, a: Val, b: Val, signed: bool) {
        let scalar = d.scalar();
        let ty = if signed { Type::D } else { Type::UD };
        let ((al, ah), (bl, bh)) = (words(a, signed), words(b, signed));
        let lowest = self.b.temporary(scalar, Type::UD);
        self.product(lowest, al, bl);
        let middle = self.b.temporary(scalar, ty);
        self.product(middle, ah, bl);
        self.op2(Opcode::Add, middle, middle.val(), lowest.val().part(2, Type::UW));
        let other = self.b.temporary(scalar, ty);
        self.product(other, al, bh);
        self.op2(Opcode::Add, other, other.val(), middle.val().part(0, Type::UW));
        let high = self.b.temporary(scalar, ty);
        self.product(high, ah, bh);
        let (_, above) = words(middle.val(), signed);
        self.op2(Opcode::Add, high, high.val(), above);
        let (_, above) = words(other.val(), signed);
        self.op2(Opcode::Add, d.cast(ty), high.val(), above);
    }
}

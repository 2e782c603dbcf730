//! The instructions on dwords of which the rest is made. Each makes a new register.

use super::{Halves, Lowering};
use crate::ir::{
    BinaryOp, Condition, CrossLane, Family, GroupOp, Instruction, Op, Reg, Rounding, Type, UnaryOp,
};

impl Lowering<'_> {
    pub fn emit(&mut self, op: Op, family: Family, srcs: &[Reg]) -> Reg {
        let dst = self.function.new_register(family);
        self.out.push(Instruction::new(op, [dst], srcs.iter().copied()));
        dst
    }

    /// A constant.
    pub fn dword(&mut self, bits: u32) -> Reg {
        self.emit(Op::Immediate { ty: Type::U32, bits: bits.into() }, Family::Dword, &[])
    }

    /// The halves of a constant.
    pub fn constant(&mut self, bits: u64) -> Halves {
        Halves { low: self.dword(bits as u32), high: self.dword((bits >> 32) as u32) }
    }

    pub fn unary32(&mut self, op: UnaryOp, a: Reg) -> Reg {
        self.emit(Op::Unary(op, Type::U32), Family::Dword, &[a])
    }

    /// Of unsigned numbers.
    pub fn binary32(&mut self, op: BinaryOp, a: Reg, b: Reg) -> Reg {
        self.emit(Op::Binary(op, Type::U32), Family::Dword, &[a, b])
    }

    /// Of a number and a constant.
    pub fn with_constant(&mut self, op: BinaryOp, a: Reg, constant: u32) -> Reg {
        let constant = self.dword(constant);
        self.binary32(op, a, constant)
    }

    /// All ones where a number is negative, else 0.
    pub fn sign(&mut self, a: Reg) -> Reg {
        let last = self.dword(31);
        self.emit(Op::Binary(BinaryOp::Shr, Type::S32), Family::Dword, &[a, last])
    }

    pub fn binary_f32(&mut self, op: BinaryOp, a: Reg, b: Reg) -> Reg {
        self.emit(Op::Binary(op, Type::F32), Family::Dword, &[a, b])
    }

    pub fn logic(&mut self, op: BinaryOp, a: Reg, b: Reg) -> Reg {
        self.emit(Op::Binary(op, Type::Bool), Family::Bool, &[a, b])
    }

    pub fn not(&mut self, truth: Reg) -> Reg {
        self.emit(Op::Unary(UnaryOp::Not, Type::Bool), Family::Bool, &[truth])
    }

    pub fn compare(&mut self, condition: Condition, ty: Type, a: Reg, b: Reg) -> Reg {
        self.emit(Op::Compare(condition, ty), Family::Bool, &[a, b])
    }

    pub fn compare_constant(&mut self, condition: Condition, ty: Type, a: Reg, constant: u32) -> Reg {
        let constant = self.dword(constant);
        self.compare(condition, ty, a, constant)
    }

    /// 1 for true, 0 for false.
    pub fn number(&mut self, truth: Reg) -> Reg {
        self.convert(Type::U32, Type::Bool, truth)
    }

    pub fn select(&mut self, truth: Reg, a: Reg, b: Reg) -> Reg {
        self.emit(Op::Select(Type::U32), Family::Dword, &[truth, a, b])
    }

    /// `a` where the truth value holds, else `b`.
    pub fn choose(&mut self, truth: Reg, a: Halves, b: Halves) -> Halves {
        Halves { low: self.select(truth, a.low, b.low), high: self.select(truth, a.high, b.high) }
    }

    /// A conversion that rounds as usual and does not clamp.
    pub fn convert(&mut self, to: Type, from: Type, a: Reg) -> Reg {
        self.convert_with(to, from, Rounding::Default, false, a)
    }

    pub fn convert_with(&mut self, to: Type, from: Type, rounding: Rounding, saturate: bool, a: Reg) -> Reg {
        self.emit(Op::Convert { to, from, rounding, saturate }, to.family(), &[a])
    }

    pub fn shuffle32(&mut self, a: Reg, lane: Reg) -> Reg {
        self.emit(Op::CrossLane(CrossLane::Shuffle(Type::U32)), Family::Dword, &[a, lane])
    }

    pub fn reduce32(&mut self, op: GroupOp, ty: Type, a: Reg) -> Reg {
        self.emit(Op::CrossLane(CrossLane::Reduce(op, ty)), Family::Dword, &[a])
    }
}

//! Comparisons, and what is made of them.

use super::{Halves, Lowering};
use crate::ir::{BinaryOp, Condition, Reg, Type};

/// The type of the high half: the sign is there.
pub(super) fn high_type(ty: Type) -> Type {
    if ty.is_signed() { Type::S32 } else { Type::U32 }
}

impl Lowering<'_> {
    /// The truth value of a comparison of 64-bit integers.
    pub fn compare64(&mut self, condition: Condition, ty: Type, a: Halves, b: Halves) -> Reg {
        match condition {
            Condition::Equal | Condition::NotEqual => {
                let low = self.binary32(BinaryOp::Xor, a.low, b.low);
                let high = self.binary32(BinaryOp::Xor, a.high, b.high);
                let differs = self.binary32(BinaryOp::Or, low, high);
                self.compare_constant(condition, Type::U32, differs, 0)
            }
            Condition::Less => self.less(ty, a, b),
            Condition::Greater => self.less(ty, b, a),
            Condition::LessEqual => {
                let greater = self.less(ty, b, a);
                self.not(greater)
            }
            Condition::GreaterEqual => {
                let less = self.less(ty, a, b);
                self.not(less)
            }
        }
    }

    /// The high halves decide, unless they are equal.
    fn less(&mut self, ty: Type, a: Halves, b: Halves) -> Reg {
        let high = self.compare(Condition::Less, high_type(ty), a.high, b.high);
        let equal = self.compare(Condition::Equal, Type::U32, a.high, b.high);
        let low = self.compare(Condition::Less, Type::U32, a.low, b.low);
        let low = self.logic(BinaryOp::And, equal, low);
        self.logic(BinaryOp::Or, high, low)
    }

    /// The smaller or the larger of two numbers.
    pub fn extreme(&mut self, op: BinaryOp, ty: Type, a: Halves, b: Halves) -> Halves {
        let (first, second) = if op == BinaryOp::Min { (a, b) } else { (b, a) };
        let takes_a = self.less(ty, first, second);
        self.choose(takes_a, a, b)
    }
}

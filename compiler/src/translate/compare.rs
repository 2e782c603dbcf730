//! Comparisons.

use super::Failure;
use super::translator::{Regs, Translator};
use super::types::Scalar;
use crate::ir::{BinaryOp, Condition, Reg, Type, UnaryOp};
use crate::llvm::view::{IntPredicate, RealPredicate, Value};

impl<'m> Translator<'_, 'm> {
    pub fn integer_compare(&mut self, value: Value<'m>) -> Result<Regs, Failure> {
        let (condition, signed) = match value.int_predicate() {
            IntPredicate::LLVMIntEQ => (Condition::Equal, false),
            IntPredicate::LLVMIntNE => (Condition::NotEqual, false),
            IntPredicate::LLVMIntUGT => (Condition::Greater, false),
            IntPredicate::LLVMIntUGE => (Condition::GreaterEqual, false),
            IntPredicate::LLVMIntULT => (Condition::Less, false),
            IntPredicate::LLVMIntULE => (Condition::LessEqual, false),
            IntPredicate::LLVMIntSGT => (Condition::Greater, true),
            IntPredicate::LLVMIntSGE => (Condition::GreaterEqual, true),
            IntPredicate::LLVMIntSLT => (Condition::Less, true),
            IntPredicate::LLVMIntSLE => (Condition::LessEqual, true),
        };
        let scalars = self.scalars(value.operand(0))?;
        let (a, b) = (self.value(value.operand(0))?, self.value(value.operand(1))?);
        let mut result = Regs::new();
        for (i, scalar) in scalars.into_iter().enumerate() {
            result.push(self.compare_integers(condition, signed, scalar, a[i], b[i]));
        }
        Ok(result)
    }

    fn compare_integers(
        &mut self,
        condition: Condition,
        signed: bool,
        scalar: Scalar,
        a: Reg,
        b: Reg,
    ) -> Reg {
        if scalar == Scalar::Bool {
            return self.compare_bools(condition, signed, a, b);
        }
        let a = self.extended(scalar, a, signed);
        let b = self.extended(scalar, b, signed);
        self.compare(condition, if signed { scalar.signed() } else { scalar.unsigned() }, a, b)
    }

    /// True counts as 1, signed as -1.
    fn compare_bools(&mut self, condition: Condition, signed: bool, a: Reg, b: Reg) -> Reg {
        let (a, b) = if signed { (b, a) } else { (a, b) };
        let not = |this: &mut Self, a| this.unary(UnaryOp::Not, Type::Bool, a);
        match condition {
            Condition::NotEqual => self.binary(BinaryOp::Xor, Type::Bool, a, b),
            Condition::Equal => {
                let different = self.binary(BinaryOp::Xor, Type::Bool, a, b);
                not(self, different)
            }
            Condition::Greater => {
                let b = not(self, b);
                self.binary(BinaryOp::And, Type::Bool, a, b)
            }
            Condition::GreaterEqual => {
                let b = not(self, b);
                self.binary(BinaryOp::Or, Type::Bool, a, b)
            }
            Condition::Less => {
                let a = not(self, a);
                self.binary(BinaryOp::And, Type::Bool, a, b)
            }
            Condition::LessEqual => {
                let a = not(self, a);
                self.binary(BinaryOp::Or, Type::Bool, a, b)
            }
        }
    }

    pub fn float_compare(&mut self, value: Value<'m>) -> Result<Regs, Failure> {
        let predicate = value.real_predicate();
        let scalars = self.scalars(value.operand(0))?;
        let (a, b) = (self.value(value.operand(0))?, self.value(value.operand(1))?);
        let mut result = Regs::new();
        for (i, scalar) in scalars.into_iter().enumerate() {
            result.push(self.compare_floats(predicate, scalar.arithmetic(), a[i], b[i]));
        }
        Ok(result)
    }

    /// The IR's comparisons are ordered, except `NotEqual`; the others are composed of these.
    fn compare_floats(&mut self, predicate: RealPredicate, ty: Type, a: Reg, b: Reg) -> Reg {
        use RealPredicate as P;
        let negated = |this: &mut Self, condition| {
            let opposite = this.compare(condition, ty, a, b);
            this.unary(UnaryOp::Not, Type::Bool, opposite)
        };
        match predicate {
            P::LLVMRealPredicateFalse => self.immediate(Type::Bool, 0),
            P::LLVMRealPredicateTrue => self.immediate(Type::Bool, 1),
            P::LLVMRealOEQ => self.compare(Condition::Equal, ty, a, b),
            P::LLVMRealOGT => self.compare(Condition::Greater, ty, a, b),
            P::LLVMRealOGE => self.compare(Condition::GreaterEqual, ty, a, b),
            P::LLVMRealOLT => self.compare(Condition::Less, ty, a, b),
            P::LLVMRealOLE => self.compare(Condition::LessEqual, ty, a, b),
            P::LLVMRealUNE => self.compare(Condition::NotEqual, ty, a, b),
            P::LLVMRealUGT => negated(self, Condition::LessEqual),
            P::LLVMRealUGE => negated(self, Condition::Less),
            P::LLVMRealULT => negated(self, Condition::GreaterEqual),
            P::LLVMRealULE => negated(self, Condition::Greater),
            P::LLVMRealONE => self.less_or_greater(ty, a, b),
            P::LLVMRealUEQ => {
                let different = self.less_or_greater(ty, a, b);
                self.unary(UnaryOp::Not, Type::Bool, different)
            }
            // Only a NaN differs from itself.
            P::LLVMRealORD => {
                let a = self.compare(Condition::Equal, ty, a, a);
                let b = self.compare(Condition::Equal, ty, b, b);
                self.binary(BinaryOp::And, Type::Bool, a, b)
            }
            P::LLVMRealUNO => {
                let a = self.compare(Condition::NotEqual, ty, a, a);
                let b = self.compare(Condition::NotEqual, ty, b, b);
                self.binary(BinaryOp::Or, Type::Bool, a, b)
            }
        }
    }

    fn less_or_greater(&mut self, ty: Type, a: Reg, b: Reg) -> Reg {
        let less = self.compare(Condition::Less, ty, a, b);
        let greater = self.compare(Condition::Greater, ty, a, b);
        self.binary(BinaryOp::Or, Type::Bool, less, greater)
    }
}

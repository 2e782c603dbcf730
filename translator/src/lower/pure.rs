//! Operations that compute their results of their operands alone.

use super::masks::widened;
use super::{Lowering, llvm};
use crate::ir::{BIT, Ty, Value as LlvmValue};
use crate::middle::function::Value;
use crate::middle::op::{Binary, Convert, Op, Unary};
use crate::middle::types::{Scalar, Type};

impl Lowering<'_> {
    /// A pure operation.
    pub fn pure(&mut self, op: &Op, operands: &[Value], ty: Type) -> LlvmValue {
        let to = llvm(ty);
        let is_mask = ty.scalar == Scalar::Mask;
        match op {
            Op::Binary(binary) if is_mask => self.mask_binary(*binary, operands),
            Op::Select if is_mask => self.mask_select(operands),
            Op::Shuffle(order) if is_mask => self.shuffled_mask(order, operands),
            Op::Splat if is_mask => {
                let bit = self.value(operands[0]);
                self.f.convert("sext", &bit, Ty::int(to.lanes, 1))
            }
            Op::ICmp(relation) => self.compared(&format!("icmp {relation}"), operands),
            Op::FCmp(relation) => self.compared(&format!("fcmp {relation}"), operands),
            Op::Mask => self.value(operands[0]),
            Op::Bits => self.value(operands[0]),
            _ => self.plain(op, operands, to),
        }
    }

    fn plain(&mut self, op: &Op, operands: &[Value], to: Ty) -> LlvmValue {
        match op {
            Op::Binary(binary) => {
                let [a, b] = [0, 1].map(|n| self.value(operands[n]));
                self.binary(*binary, &a, &b)
            }
            Op::Unary(unary) => {
                let a = self.value(operands[0]);
                self.unary(*unary, &a)
            }
            Op::Convert(convert) => {
                let a = match self.function.ty(operands[0]).scalar {
                    Scalar::Mask => self.vector(operands[0]),
                    _ => self.value(operands[0]),
                };
                self.converted(*convert, &a, to)
            }
            Op::Fma => {
                let [a, b, c] = [0, 1, 2].map(|n| self.value(operands[n]));
                self.f.fma(&a, &b, &c)
            }
            Op::Select => {
                let mask = self.vector(operands[0]);
                let [a, b] = [1, 2].map(|n| self.value(operands[n]));
                self.f.select(&mask, &a, &b)
            }
            Op::Fence => {
                let a = self.value(operands[0]);
                self.f.function_of("arithmetic.fence", &a)
            }
            Op::Splat => {
                let a = self.value(operands[0]);
                self.f.splat(&a, to.lanes)
            }
            Op::Shuffle(order) => {
                let first = self.function.ty(operands[0]).lanes;
                let (a, b) = self.shuffle_operands(operands);
                self.f.shuffle(&a, b.as_ref(), &widened(order, first, &a))
            }
            Op::Input(input) => self.input(*input, to),
            _ => unreachable!("{op} is not pure, or not lowered here"),
        }
    }

    fn binary(&mut self, binary: Binary, a: &LlvmValue, b: &LlvmValue) -> LlvmValue {
        match binary {
            Binary::SMin | Binary::SMax | Binary::UMin | Binary::UMax => {
                let suffix = format!(".{}", a.ty.mangled());
                self.f.intrinsic(binary.name(), &suffix, a.ty, &[a, b])
            }
            Binary::AddNuw => self.f.binary("add nuw", a, b),
            Binary::Add | Binary::Sub | Binary::Mul | Binary::SDiv | Binary::SRem => {
                self.f.binary(binary.name(), a, b)
            }
            Binary::And | Binary::Or | Binary::Xor | Binary::Shl | Binary::LShr | Binary::AShr => {
                self.f.binary(binary.name(), a, b)
            }
            Binary::FAdd | Binary::FSub | Binary::FMul | Binary::FDiv => self.f.binary(binary.name(), a, b),
        }
    }

    fn unary(&mut self, unary: Unary, a: &LlvmValue) -> LlvmValue {
        match unary {
            Unary::FNeg => self.f.negated(a),
            Unary::Ctlz | Unary::Cttz => {
                let suffix = format!(".{}", a.ty.mangled());
                self.f.intrinsic(unary.name(), &suffix, a.ty, &[a, &LlvmValue::int(BIT, 0)])
            }
            Unary::Trunc => self.f.function_of("trunc", a),
            Unary::FAbs | Unary::Sqrt | Unary::Floor | Unary::Ceil | Unary::RoundEven => {
                self.f.function_of(unary.name(), a)
            }
            Unary::Ctpop | Unary::BitReverse => self.f.function_of(unary.name(), a),
        }
    }

    fn converted(&mut self, convert: Convert, a: &LlvmValue, to: Ty) -> LlvmValue {
        let value = self.f.convert(convert.name(), a, to);
        match convert {
            // What is too large or too small is any number, and the same for all who look.
            Convert::FPToSI | Convert::FPToUI => self.f.value(to, &format!("freeze {}", value.typed())),
            Convert::Trunc | Convert::ZExt | Convert::SExt | Convert::Bitcast => value,
            Convert::FPExt | Convert::FPTrunc | Convert::SIToFP | Convert::UIToFP => value,
        }
    }

    fn compared(&mut self, operation: &str, operands: &[Value]) -> LlvmValue {
        let [a, b] = [0, 1].map(|n| self.value(operands[n]));
        let holds = self.f.compare(operation, &a, &b);
        self.f.mask_bits(&holds)
    }

    fn mask_binary(&mut self, binary: Binary, operands: &[Value]) -> LlvmValue {
        let [a, b] = [0, 1].map(|n| self.value(operands[n]));
        self.f.binary(binary.name(), &a, &b)
    }

    /// One mask or another: as numbers, unless lanes choose.
    fn mask_select(&mut self, operands: &[Value]) -> LlvmValue {
        let [chosen, a, b] = [0, 1, 2].map(|n| self.value(operands[n]));
        if chosen.ty == BIT {
            return self.f.select(&chosen, &a, &b);
        }
        let ones = LlvmValue::int(chosen.ty, u64::MAX);
        let others = self.f.binary("xor", &chosen, &ones);
        let a = self.f.binary("and", &a, &chosen);
        let b = self.f.binary("and", &b, &others);
        self.f.binary("or", &a, &b)
    }
}

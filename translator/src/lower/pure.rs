//! Operations that compute their results of their operands alone; binary ones are in `ir/operations.rs`.

use super::masks::widened;
use super::{Lowering, llvm};
use crate::ir::{BIT, Ty, Value as LlvmValue};
use crate::middle::function::Value;
use crate::middle::op::{Convert, Op, Unary};
use crate::middle::types::{Scalar, Type};

impl<'c> Lowering<'_, 'c> {
    /// A pure operation.
    pub fn pure(&mut self, op: &Op, operands: &[Value], ty: Type) -> LlvmValue<'c> {
        let (to, is_mask) = (llvm(ty), ty.scalar == Scalar::Mask);
        match op {
            Op::Select if is_mask => return self.mask_select(operands),
            Op::Select => {
                let mask = self.vector(operands[0]);
                let [a, b] = [1, 2].map(|n| self.value(operands[n]));
                return self.f.select(mask, a, b);
            }
            Op::Shuffle(order) if is_mask => return self.shuffled_mask(order, operands),
            Op::Shuffle(order) => {
                let first = self.function.ty(operands[0]).lanes;
                let (a, b) = self.shuffle_operands(operands);
                return self.f.shuffle(a, b, &widened(order, first, a));
            }
            Op::Convert(convert) if self.function.ty(operands[0]).scalar == Scalar::Mask => {
                let mask = self.vector(operands[0]);
                return self.converted(*convert, mask, to);
            }
            Op::Input(input) => return self.input(*input, to),
            _ => {}
        }
        let own: Vec<LlvmValue<'c>> = operands.iter().map(|value| self.value(*value)).collect();
        match (op, &own[..]) {
            (Op::Binary(binary), &[a, b]) => self.f.binary(*binary, a, b),
            (Op::Unary(unary), &[a]) => self.unary(*unary, a),
            (Op::Convert(convert), &[a]) => self.converted(*convert, a, to),
            (Op::Fma, _) => self.f.intrinsic("fma", &[to], to, &own),
            (Op::ICmp(relation), &[a, b]) => self.f.mask_bits(self.f.compare(*relation, a, b)),
            (Op::FCmp(relation), &[a, b]) => self.f.mask_bits(self.f.compare_floats(*relation, a, b)),
            (Op::Fence, &[a]) => self.f.function_of("arithmetic.fence", a),
            (Op::Splat, &[bit]) if is_mask => self.f.convert(Convert::SExt, bit, Ty::int(to.lanes, 1)),
            (Op::Splat, &[a]) => self.f.splat(a, to.lanes),
            (Op::Mask | Op::Bits, &[bits]) => bits,
            _ => unreachable!("{op} is not pure, or not lowered here"),
        }
    }

    fn unary(&self, unary: Unary, a: LlvmValue<'c>) -> LlvmValue<'c> {
        match unary {
            Unary::FNeg => self.f.negated(a),
            Unary::Ctlz | Unary::Cttz => {
                self.f.intrinsic(unary.name(), &[a.ty], a.ty, &[a, self.f.int(BIT, 0)])
            }
            Unary::Trunc => self.f.function_of("trunc", a),
            Unary::FAbs | Unary::Sqrt | Unary::Floor | Unary::Ceil | Unary::RoundEven => {
                self.f.function_of(unary.name(), a)
            }
            Unary::Ctpop | Unary::BitReverse => self.f.function_of(unary.name(), a),
        }
    }

    fn converted(&self, convert: Convert, a: LlvmValue<'c>, to: Ty) -> LlvmValue<'c> {
        let value = self.f.convert(convert, a, to);
        match convert {
            // What is too large or too small is any number, and the same for all who look.
            Convert::FPToSI | Convert::FPToUI => self.f.freeze(value),
            Convert::Trunc | Convert::ZExt | Convert::SExt | Convert::Bitcast => value,
            Convert::FPExt | Convert::FPTrunc | Convert::SIToFP | Convert::UIToFP => value,
        }
    }

    /// One mask or another: as numbers, unless lanes choose.
    fn mask_select(&mut self, operands: &[Value]) -> LlvmValue<'c> {
        let [chosen, a, b] = [0, 1, 2].map(|n| self.value(operands[n]));
        if chosen.ty == BIT {
            return self.f.select(chosen, a, b);
        }
        let others = self.f.xor(chosen, self.f.int(chosen.ty, u64::MAX));
        let a = self.f.and(a, chosen);
        self.f.or(a, self.f.and(b, others))
    }
}

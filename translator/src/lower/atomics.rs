//! Atomic operations as LLVM IR: which are the host's, and what becomes of a value by the others.

use gencl_eu::message::AtomicOperation as Operation;

use inkwell::AtomicRMWBinOp;

use super::Lowering;
use crate::ir::{Scalar, Value as LlvmValue};
use crate::middle::op::{FloatRelation, Relation};

/// How the operands of all channels become one.
pub struct Reduction {
    /// LLVM's name; `None` counts the channels.
    pub combine: Option<&'static str>,
    /// What changes nothing.
    pub neutral: u64,
    /// What is done with the one.
    pub then: AtomicRMWBinOp,
    /// Bits of the values.
    pub bits: u32,
}

/// The operations that can be done at once for all channels.
pub fn reduction(operation: Operation, bits: u32) -> Option<Reduction> {
    let lowest = 1 << (bits - 1);
    let (combine, neutral, then) = match operation {
        Operation::Add => (Some("add"), 0, AtomicRMWBinOp::Add),
        Operation::Subtract => (Some("add"), 0, AtomicRMWBinOp::Sub),
        Operation::Increment => (None, 0, AtomicRMWBinOp::Add),
        Operation::Decrement | Operation::PreDecrement => (None, 0, AtomicRMWBinOp::Sub),
        Operation::And => (Some("and"), u64::MAX, AtomicRMWBinOp::And),
        Operation::Or => (Some("or"), 0, AtomicRMWBinOp::Or),
        Operation::Xor => (Some("xor"), 0, AtomicRMWBinOp::Xor),
        Operation::SignedMaximum => (Some("smax"), lowest, AtomicRMWBinOp::Max),
        Operation::SignedMinimum => (Some("smin"), lowest - 1, AtomicRMWBinOp::Min),
        Operation::UnsignedMaximum => (Some("umax"), 0, AtomicRMWBinOp::UMax),
        Operation::UnsignedMinimum => (Some("umin"), u64::MAX, AtomicRMWBinOp::UMin),
        Operation::Move
        | Operation::ReverseSubtract
        | Operation::CompareWrite
        | Operation::FloatMaximum
        | Operation::FloatMinimum
        | Operation::FloatCompareWrite => return None,
    };
    Some(Reduction { combine, neutral, then, bits })
}

/// LLVM's `atomicrmw` for an operation with one operand, or with 1.
pub fn host_operation(operation: Operation) -> Option<AtomicRMWBinOp> {
    match operation {
        Operation::Move => Some(AtomicRMWBinOp::Xchg),
        other => reduction(other, 32).map(|reduction| reduction.then),
    }
}

impl<'c> Lowering<'_, 'c> {
    /// What a value is replaced by: itself, where it is to stay.
    pub fn new_value(
        &self,
        operation: Operation,
        old: LlvmValue<'c>,
        a: LlvmValue<'c>,
        b: LlvmValue<'c>,
    ) -> LlvmValue<'c> {
        let pick = |relation, yes, no| {
            let holds = self.f.compare(relation, old, a);
            self.f.select(holds, yes, no)
        };
        match operation {
            Operation::And => self.f.and(old, a),
            Operation::Or => self.f.or(old, a),
            Operation::Xor => self.f.xor(old, a),
            Operation::Move => a,
            Operation::Increment | Operation::Add => self.f.add(old, a),
            Operation::Decrement | Operation::PreDecrement | Operation::Subtract => self.f.sub(old, a),
            Operation::ReverseSubtract => self.f.sub(a, old),
            Operation::SignedMaximum => pick(Relation::Sge, old, a),
            Operation::SignedMinimum => pick(Relation::Sle, old, a),
            Operation::UnsignedMaximum => pick(Relation::Uge, old, a),
            Operation::UnsignedMinimum => pick(Relation::Ule, old, a),
            Operation::CompareWrite => pick(Relation::Eq, b, old),
            Operation::FloatMaximum => self.float_extreme(FloatRelation::Oge, old, a),
            Operation::FloatMinimum => self.float_extreme(FloatRelation::Ole, old, a),
            Operation::FloatCompareWrite => {
                let [x, y] = [old, a].map(|v| self.f.cast(v, Scalar::Float));
                let equal = self.f.compare_floats(FloatRelation::Oeq, x, y);
                self.f.select(equal, b, old)
            }
        }
    }

    /// The old value where the comparison holds, or the operand is no number.
    fn float_extreme(
        &self,
        comparison: FloatRelation,
        old: LlvmValue<'c>,
        a: LlvmValue<'c>,
    ) -> LlvmValue<'c> {
        let [x, y] = [old, a].map(|v| self.f.cast(v, Scalar::Float));
        let stays = self.f.compare_floats(comparison, x, y);
        let nan = self.f.compare_floats(FloatRelation::Uno, y, y);
        let stays = self.f.or(stays, nan);
        self.f.select(stays, old, a)
    }
}

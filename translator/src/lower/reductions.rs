//! Atomic operations as LLVM IR: reductions across lanes, operations of the host, and the new values of all others.

use gencl_eu::message::AtomicOperation as Operation;
use inkwell::AtomicRMWBinOp;

use super::Lowering;
use crate::ir::{Scalar, Value as LlvmValue};
use crate::middle::op::{FloatRelation, Relation};

/// A reduction of the operands of all lanes, and the operation with the reduced operand.
pub struct Reduction {
    /// LLVM's name of the reduction; `None` counts the lanes.
    pub combine: Option<&'static str>,
    /// The neutral element.
    pub neutral: u64,
    /// The host's operation.
    pub then: AtomicRMWBinOp,
    /// Bits of the values.
    pub bits: u32,
}

/// The reduction for an operation, if there is one.
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
    /// The new value in memory; the old one, where it stays.
    pub fn new_value(
        &self,
        operation: Operation,
        old: LlvmValue<'c>,
        a: LlvmValue<'c>,
        b: LlvmValue<'c>,
    ) -> LlvmValue<'c> {
        let pick = |relation, yes, no| self.f.select(self.f.compare(relation, old, a), yes, no);
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
                self.f.select(self.f.compare_floats(FloatRelation::Oeq, x, y), b, old)
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
        self.f.select(self.f.or(stays, nan), old, a)
    }
}

//! Masks are integers with a bit for each lane, and where lanes meet vectors of bits.

use super::{Lowering, llvm};
use crate::ir::{BIT, I32, Ty, Value as LlvmValue};
use crate::middle::function::{Constant, Value};
use crate::middle::types::{Scalar, Type};

impl<'c> Lowering<'_, 'c> {
    /// A constant.
    pub fn constant_value(&self, ty: Type, constant: &Constant) -> LlvmValue<'c> {
        if ty.scalar == Scalar::Mask {
            let bits = (0..ty.lanes.into()).fold(0, |bits, lane| bits | (constant.lane(lane) as u64) << lane);
            return self.f.int(Ty::int(ty.lanes.into(), 1), bits);
        }
        self.f.constant(llvm(ty), |lane| constant.lane(lane as usize))
    }

    /// A mask as a vector.
    pub fn vector(&mut self, mask: Value) -> LlvmValue<'c> {
        let bits = self.value(mask);
        self.f.mask(bits)
    }

    /// A bit of a mask.
    pub fn lane_of_mask(&self, bits: LlvmValue<'c>, lane: u32) -> LlvmValue<'c> {
        if bits.ty == BIT {
            return bits;
        }
        self.f.to(self.f.lshr(bits, self.f.int(bits.ty, lane.into())), BIT)
    }

    /// A mask as 32 bits.
    pub fn dword_of_mask(&mut self, mask: Value) -> LlvmValue<'c> {
        let bits = self.value(mask);
        self.f.to(bits, I32)
    }

    /// Lanes of masks. Those that follow each other are bits that do.
    pub fn shuffled_mask(&mut self, order: &[u16], operands: &[Value]) -> LlvmValue<'c> {
        let lanes = self.function.ty(operands[0]).lanes;
        let runs = runs(order, lanes);
        if runs.len() > 4 {
            let (a, b) = self.shuffle_operands(operands);
            return self.f.mask_bits(self.f.shuffle(a, b, &widened(order, lanes, a)));
        }
        let ty = Ty::int(order.len() as u32, 1);
        let mut all = self.f.int(ty, 0);
        for run in runs {
            let bits = self.value(operands[run.operand]);
            // What is moved has to have room for all of them.
            let wide = if bits.ty.scalar.bits() > ty.scalar.bits() { bits.ty } else { ty };
            let down = self.f.lshr(self.f.to(bits, wide), self.f.int(wide, run.from.into()));
            let own = self.f.to(down, ty);
            let own = match order.len() - usize::from(run.count) {
                0 => own,
                unused => self.f.and(own, self.f.int(ty, u64::MAX >> (64 - order.len() + unused))),
            };
            let up = self.f.shl(own, self.f.int(ty, run.to.into()));
            all = self.f.or(all, up);
        }
        all
    }

    /// Both operands of a shuffle with as many lanes, as LLVM has it.
    pub fn shuffle_operands(&mut self, operands: &[Value]) -> (LlvmValue<'c>, Option<LlvmValue<'c>>) {
        let mut all: Vec<LlvmValue<'c>> = operands
            .iter()
            .map(|operand| match self.function.ty(*operand).scalar {
                Scalar::Mask => self.vector(*operand),
                _ => self.value(*operand),
            })
            .collect();
        let most = all.iter().map(|value| value.ty.lanes).max().unwrap_or(1);
        if all.len() > 1 {
            for value in &mut all {
                *value = self.extended(*value, most);
            }
        }
        let second = if all.len() > 1 { all.pop() } else { None };
        let Some(first) = all.pop() else { unreachable!("a shuffle of nothing") };
        (first, second)
    }

    /// A vector with more lanes, of which the others are anything.
    fn extended(&self, value: LlvmValue<'c>, lanes: u32) -> LlvmValue<'c> {
        if value.ty.lanes == lanes {
            return value;
        }
        if value.ty.lanes == 1 {
            let ty = Ty { lanes, ..value.ty };
            return self.f.insert(self.f.poison(ty), value, 0);
        }
        let last = value.ty.lanes;
        let order: Vec<u32> = (0..lanes).map(|lane| if lane < last { lane } else { last }).collect();
        // Lanes of the second operand, which is poison.
        self.f.shuffle(value, None, &order)
    }
}

/// The order of a shuffle whose operands have been extended.
pub fn widened(order: &[u16], first: u16, extended: LlvmValue<'_>) -> Vec<u32> {
    let more = extended.ty.lanes - u32::from(first);
    order.iter().map(|at| u32::from(*at) + if *at >= first { more } else { 0 }).collect()
}

/// Lanes that follow each other in an operand and in the result.
struct Run {
    operand: usize,
    from: u16,
    to: u16,
    count: u16,
}

fn runs(order: &[u16], first: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (to, at) in order.iter().enumerate() {
        let (operand, from) = if *at < first { (0, *at) } else { (1, at - first) };
        match runs.last_mut() {
            Some(run) if run.operand == operand && run.from + run.count == from => run.count += 1,
            _ => runs.push(Run { operand, from, to: to as u16, count: 1 }),
        }
    }
    runs
}

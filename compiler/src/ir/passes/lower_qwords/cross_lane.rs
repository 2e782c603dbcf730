//! Operations across lanes on 64-bit integers.
//!
//! Sums are made of sums of 16 bits, which do not wrap for 32 lanes, and minima and maxima of those of the
//! halves. What is left - products, and scans of minima and maxima - is a scan in five steps: each lane has
//! the number of an active lane before it, puts together what both hold, and takes over that lane's number,
//! so that the distance doubles. Active lanes lead to active lanes only.

use super::compare::high_type;
use super::{Halves, Lowering};
use crate::ir::{BinaryOp, Condition, CrossLane, Family, GroupOp, Input, Op, Reg, Type, UnaryOp};

/// Steps until each of 32 lanes has what all before it hold.
const STEPS: usize = 5;

impl Lowering<'_> {
    pub fn shuffle(&mut self, a: Halves, lane: Reg) -> Halves {
        Halves { low: self.shuffle32(a.low, lane), high: self.shuffle32(a.high, lane) }
    }

    /// The reduction of the values of all active lanes.
    pub fn reduce(&mut self, op: GroupOp, ty: Type, a: Halves) -> Halves {
        match op {
            GroupOp::And | GroupOp::Or | GroupOp::Xor | GroupOp::Add => {
                self.by_parts(op, a, &|op| CrossLane::Reduce(op, Type::U32))
            }
            GroupOp::Min | GroupOp::Max => {
                let high = self.reduce32(op, high_type(ty), a.high);
                // The low half counts where the high half is the one that was found.
                let counts = self.compare(Condition::Equal, Type::U32, a.high, high);
                let other = self.dword(op.identity(Type::U32) as u32);
                let low = self.select(counts, a.low, other);
                Halves { low: self.reduce32(op, Type::U32, low), high }
            }
            GroupOp::Mul => {
                let active = self.active_lanes();
                let before = self.lane_before(active);
                let products = self.doubling_scan(op, ty, before, a);
                let last = self.last_lane(active);
                self.shuffle(products, last)
            }
        }
    }

    /// The reduction of the values of the active lanes up to this one; `exclusive`: those before it.
    pub fn scan(&mut self, op: GroupOp, ty: Type, exclusive: bool, a: Halves) -> Halves {
        match op {
            GroupOp::And | GroupOp::Or | GroupOp::Xor | GroupOp::Add => {
                self.by_parts(op, a, &|op| CrossLane::Scan { op, ty: Type::U32, exclusive })
            }
            GroupOp::Min | GroupOp::Max | GroupOp::Mul => {
                let active = self.active_lanes();
                let before = self.lane_before(active);
                let inclusive = self.doubling_scan(op, ty, before, a);
                if !exclusive {
                    return inclusive;
                }
                let others = self.shuffle(inclusive, before);
                let some = self.compare_constant(Condition::GreaterEqual, Type::S32, before, 0);
                let identity = self.constant(op.identity(ty));
                self.choose(some, others, identity)
            }
        }
    }

    /// Bit operations are independent for each bit; a sum is computed from the sums of its parts.
    fn by_parts(&mut self, op: GroupOp, a: Halves, across: &dyn Fn(GroupOp) -> CrossLane) -> Halves {
        let part = |lowering: &mut Self, a| lowering.emit(Op::CrossLane(across(op)), Family::Dword, &[a]);
        if op != GroupOp::Add {
            return Halves { low: part(self, a.low), high: part(self, a.high) };
        }
        let lowest = self.with_constant(BinaryOp::And, a.low, 0xffff);
        let lowest = part(self, lowest);
        let middle = self.with_constant(BinaryOp::Shr, a.low, 16);
        let middle = part(self, middle);
        let high = part(self, a.high);
        let middle = Halves {
            low: self.with_constant(BinaryOp::Shl, middle, 16),
            high: self.with_constant(BinaryOp::Shr, middle, 16),
        };
        self.add(middle, Halves { low: lowest, high })
    }

    /// The numbers of active lanes as bits, the same in all.
    fn active_lanes(&mut self) -> Reg {
        let truth = self.emit(Op::Immediate { ty: Type::Bool, bits: 1 }, Family::Bool, &[]);
        self.emit(Op::CrossLane(CrossLane::Ballot), Family::Dword, &[truth])
    }

    /// The highest bit that is one; -1 when there is none.
    fn last_lane(&mut self, lanes: Reg) -> Reg {
        let zeros = self.unary32(UnaryOp::LeadingZeros, lanes);
        let most = self.dword(31);
        self.binary32(BinaryOp::Sub, most, zeros)
    }

    /// The active lane before this one; -1 when there is none.
    fn lane_before(&mut self, active: Reg) -> Reg {
        let lane = self.emit(Op::Input(Input::LaneId), Family::Word, &[]);
        let lane = self.convert(Type::U32, Type::U16, lane);
        let one = self.dword(1);
        let bit = self.binary32(BinaryOp::Shl, one, lane);
        let below = self.binary32(BinaryOp::Sub, bit, one);
        let below = self.binary32(BinaryOp::And, below, active);
        self.last_lane(below)
    }

    fn doubling_scan(&mut self, op: GroupOp, ty: Type, before: Reg, a: Halves) -> Halves {
        let mut before = before;
        let mut value = a;
        for _ in 0..STEPS {
            let some = self.compare_constant(Condition::GreaterEqual, Type::S32, before, 0);
            let other = self.shuffle(value, before);
            let further = self.shuffle32(before, before);
            let both = if op == GroupOp::Mul {
                self.mul(other, value)
            } else {
                self.extreme(op.binary(), ty, other, value)
            };
            value = self.choose(some, both, value);
            before = self.select(some, further, before);
        }
        value
    }
}

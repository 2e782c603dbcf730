//! Execution masks, predicates and flags. All are integers with a bit for each channel.

use gencl_eu::op::Pred;
use gencl_isa::PredicateControl;

use super::{Emitter, FILE};
use crate::ir::{I32, Ty, Value};

impl Emitter<'_> {
    /// The channels of an instruction that the execution mask enables; `None` for all.
    pub(super) fn enabled(&mut self, index: usize) -> Option<Value> {
        let op = &self.plan.ops[index];
        if op.no_mask {
            return None;
        }
        let place = self.active.clone();
        let active = self.dword(&place);
        Some(self.channels(&active, u32::from(op.channel), u32::from(op.lanes)))
    }

    /// Bits of a dword as an integer of as many bits.
    pub(super) fn channels(&mut self, bits: &Value, first: u32, count: u32) -> Value {
        let moved = match first {
            0 => bits.clone(),
            _ => self.f.binary("lshr", bits, &Value::int(I32, u64::from(first))),
        };
        self.f.convert("trunc", &moved, Ty::int(count, 1))
    }

    /// The channels for which an instruction executes; `None` for all.
    pub(super) fn mask(&mut self, index: usize) -> Option<Value> {
        let op = &self.plan.ops[index];
        let enabled = if self.lane.is_some() { None } else { self.enabled(index) };
        let mut mask = match op.predicate {
            Some(predicate) if !op.predicate_is_operand => {
                let bits = self.predicate(index, predicate);
                Some(match enabled {
                    Some(enabled) => self.f.binary("and", &enabled, &bits),
                    None => bits,
                })
            }
            _ => enabled,
        };
        let lanes = u32::from(op.lanes);
        if op.write_lanes & (u32::MAX >> (32 - lanes)) != u32::MAX >> (32 - lanes) {
            let written = Value::int(Ty::int(lanes, 1), u64::from(op.write_lanes));
            mask = Some(match mask {
                Some(mask) => self.f.binary("and", &mask, &written),
                None => written,
            });
        }
        mask
    }

    /// The channels of an instruction for which a predicate holds.
    pub(super) fn predicate(&mut self, index: usize, predicate: Pred) -> Value {
        let bits = match self.lane_flag(u32::from(self.plan.ops[index].flag_bit)) {
            Some(place) => self.lane_bit(&place),
            None => self.predicate_bits(index, predicate.control),
        };
        if predicate.inverse {
            let ones = Value::int(bits.ty, u64::MAX);
            return self.f.binary("xor", &bits, &ones);
        }
        bits
    }

    /// The flags of an instruction's channels, combined.
    fn predicate_bits(&mut self, index: usize, control: PredicateControl) -> Value {
        use PredicateControl as P;
        let op = &self.plan.ops[index];
        let (lanes, channel) = (u32::from(op.lanes), u32::from(op.channel));
        match control {
            P::Any2H | P::Any4H | P::Align16Any4H | P::Any8H | P::Any16H | P::Any32H => {
                self.grouped(index, control, false)
            }
            P::All2H | P::All4H | P::Align16All4H | P::All8H | P::All16H | P::All32H => {
                self.grouped(index, control, true)
            }
            P::AnyV | P::AllV => {
                let both = self.vertical(control == P::AnyV, u32::from(op.flag_base & 31));
                self.channels(&both, channel, lanes)
            }
            P::ReplicateX => self.replicated(index, 0),
            P::ReplicateY => self.replicated(index, 1),
            P::ReplicateZ => self.replicated(index, 2),
            P::ReplicateW => self.replicated(index, 3),
            P::Normal => {
                let bits = self.flags_from(u32::from(op.flag_base));
                self.channels(&bits, channel, lanes)
            }
        }
    }

    /// The flag of one channel of each four, for all of them.
    fn replicated(&mut self, index: usize, component: u32) -> Value {
        let op = &self.plan.ops[index];
        let bits = self.flags_from(u32::from(op.flag_base));
        let moved = Value::int(I32, u64::from(u32::from(op.channel) + component));
        let bits = self.f.binary("lshr", &bits, &moved);
        let bits = self.f.binary("and", &bits, &Value::int(I32, 0x1111_1111));
        let bits = self.f.binary("mul", &bits, &Value::int(I32, 0xf));
        self.channels(&bits, 0, u32::from(op.lanes))
    }

    /// Bits of both flag registers, combined, from a bit on; `f1` has nothing beside it, as it is behind `f0`.
    fn vertical(&mut self, any: bool, first: u32) -> Value {
        let operation = if any { "or" } else { "and" };
        let places = self.flags.clone();
        let [a, b] = [self.dword(&places[0]), self.dword(&places[1])];
        let both = self.f.binary(operation, &a, &b);
        if first == 0 {
            return both;
        }
        let low = self.f.binary("lshr", &both, &Value::int(I32, u64::from(first)));
        if !any {
            return low;
        }
        let high = self.f.binary("shl", &b, &Value::int(I32, u64::from(32 - first)));
        self.f.binary("or", &low, &high)
    }

    /// A predicate that is the same for all channels of a group.
    fn grouped(&mut self, index: usize, control: PredicateControl, all: bool) -> Value {
        use PredicateControl as P;
        let op = &self.plan.ops[index];
        let size: u32 = match control {
            P::Any2H | P::All2H => 2,
            P::Any4H | P::All4H | P::Align16Any4H | P::Align16All4H => 4,
            P::Any8H | P::All8H => 8,
            P::Any16H | P::All16H => 16,
            _ => 32,
        };
        let bits = self.flags_from(u32::from(op.flag_base));
        let (channel, lanes) = (u32::from(op.channel), u32::from(op.lanes));
        let mut result = Value::int(I32, 0);
        for first in (0..32).step_by(size as usize) {
            // Groups of other channels than the instruction's do not matter.
            if first + size <= channel || first >= channel + lanes {
                continue;
            }
            let group = u64::from(u32::MAX >> (32 - size)) << first;
            let own = self.f.binary("and", &bits, &Value::int(I32, group));
            let holds = if all {
                self.f.compare("icmp eq", &own, &Value::int(I32, group))
            } else {
                self.f.compare("icmp ne", &own, &Value::int(I32, 0))
            };
            let ones = self.f.select(&holds, &Value::int(I32, group), &Value::int(I32, 0));
            result = self.f.binary("or", &result, &ones);
        }
        self.channels(&result, channel, lanes)
    }

    /// 32 bits of the flag registers from a bit on.
    pub(super) fn flags_from(&mut self, first: u32) -> Value {
        let places = self.flags.clone();
        let register = (first / 32) as usize;
        let low = self.dword(&places[register]);
        let shift = first % 32;
        if shift == 0 {
            return low;
        }
        let low = self.f.binary("lshr", &low, &Value::int(I32, u64::from(shift)));
        if register == 1 {
            return low;
        }
        let high = self.dword(&places[1]);
        let high = self.f.binary("shl", &high, &Value::int(I32, u64::from(32 - shift)));
        self.f.binary("or", &low, &high)
    }

    /// Sets flags from a bit on to `bits`, where the mask (`None`: everywhere) says so. They are all in one register.
    pub(super) fn set_flags(&mut self, first: u32, bits: &Value, mask: Option<&Value>) {
        if let Some(place) = self.lane_flag(first) {
            self.set_lane_flag(&place, bits, mask);
            return;
        }
        let place = self.flags[(first / 32) as usize].clone();
        let shift = Value::int(I32, u64::from(first % 32));
        let wide = |emitter: &mut Self, value: &Value| {
            let value = emitter.f.convert("zext", value, I32);
            emitter.f.binary("shl", &value, &shift)
        };
        let all = Value::int(bits.ty, u64::MAX);
        let where_to = wide(self, mask.unwrap_or(&all));
        let bits = match mask {
            Some(mask) => self.f.binary("and", bits, mask),
            None => bits.clone(),
        };
        let bits = wide(self, &bits);
        self.merge_flags(&place, &where_to, &bits);
    }

    /// Makes flags `bits` where they are to change; the others of the register stay.
    pub(super) fn merge_flags(&mut self, place: &Value, changed: &Value, bits: &Value) {
        let old = self.dword(place);
        let others = self.f.binary("xor", changed, &Value::int(I32, u64::MAX));
        let kept = self.f.binary("and", &old, &others);
        let new = self.f.binary("or", &kept, bits);
        self.f.store(&new, place, FILE);
    }
}

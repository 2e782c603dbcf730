//! The channels for which a thread executes an instruction.

use gencl_isa::PredicateControl;

use crate::op::{Op, Pred};
use crate::operand::full_mask;
use crate::thread::Thread;

impl Thread {
    /// The channels of an instruction that the execution mask enables; bit 0 is its first channel.
    #[inline(always)]
    pub fn enabled(&self, op: &Op) -> u32 {
        let all = full_mask(usize::from(op.lanes));
        if op.no_mask { all } else { self.active >> op.channel & all }
    }

    /// The channels for which an instruction is executed; bit 0 is its first channel.
    #[inline(always)]
    pub fn mask(&self, op: &Op) -> u32 {
        let enabled = self.enabled(op);
        match op.predicate {
            Some(predicate) if !op.predicate_is_operand => enabled & self.predicate(op, predicate),
            _ => enabled,
        }
    }

    /// The channels of an instruction whose predicate is true, or all of them when it has none.
    #[inline(always)]
    pub fn predicate_or_all(&self, op: &Op) -> u32 {
        op.predicate.map_or(u32::MAX, |p| self.predicate(op, p))
    }

    /// Evaluates a predicate for each channel of an instruction (Volume 7, "Predication").
    #[inline(always)]
    pub fn predicate(&self, op: &Op, predicate: Pred) -> u32 {
        let bits = match predicate.control {
            PredicateControl::Normal => (self.flags() >> op.flag_bit) as u32,
            _ => self.combined_predicate(op, predicate.control),
        };
        if predicate.inverse { !bits } else { bits }
    }

    fn combined_predicate(&self, op: &Op, control: PredicateControl) -> u32 {
        use PredicateControl as P;
        let flags = self.flags();
        let own = (flags >> op.flag_base) as u32;
        let grouped = |size: u32, all: bool| {
            let mut result = 0;
            let group = full_mask(size as usize);
            for base in (0..32).step_by(size as usize) {
                let bits = own >> base & group;
                if if all { bits == group } else { bits != 0 } {
                    result |= group << base;
                }
            }
            result >> op.channel
        };
        let component = |c: u32| {
            let spread = (own >> op.channel) >> c & 0x1111_1111;
            spread * 0xf
        };
        match control {
            P::Normal => own >> op.channel,
            P::AnyV => ((flags | flags >> 32) >> (op.flag_base & 31) >> op.channel) as u32,
            P::AllV => ((flags & flags >> 32) >> (op.flag_base & 31) >> op.channel) as u32,
            P::Any2H => grouped(2, false),
            P::All2H => grouped(2, true),
            P::Any4H | P::Align16Any4H => grouped(4, false),
            P::All4H | P::Align16All4H => grouped(4, true),
            P::Any8H => grouped(8, false),
            P::All8H => grouped(8, true),
            P::Any16H => grouped(16, false),
            P::All16H => grouped(16, true),
            P::Any32H => grouped(32, false),
            P::All32H => grouped(32, true),
            P::ReplicateX => component(0),
            P::ReplicateY => component(1),
            P::ReplicateZ => component(2),
            P::ReplicateW => component(3),
        }
    }
}

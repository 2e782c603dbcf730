//! Execution masks, predicates and flags.

use gencl_eu::op::Pred;
use gencl_isa::PredicateControl;

use super::ssa::Variable;
use super::{Lift, THREAD_LANES};
use crate::middle::function::Value;
use crate::middle::op::{Binary, Relation};
use crate::middle::types::Type;

/// Bits of both flag registers.
const FLAG_BITS: usize = 64;
/// Bits of one.
const FLAG_REGISTER: usize = 32;

/// The flags that instructions access together, as ranges of bits.
pub fn flag_pieces(accesses: impl Iterator<Item = (usize, usize)>) -> Vec<std::ops::Range<usize>> {
    let (mut joined, mut named) = ([false; FLAG_BITS], [false; FLAG_BITS + 1]);
    // Flags that do not exist are the interpreter's affair.
    for (first, count) in accesses.filter(|(first, _)| *first < FLAG_BITS) {
        let end = (first + count).min(FLAG_BITS);
        joined[first..end - 1].fill(true);
        named[first..end].fill(true);
    }
    named[FLAG_BITS] = true;
    let mut pieces = Vec::new();
    let mut start = 0;
    for bit in 0..FLAG_BITS {
        // No piece is in both registers.
        let goes_on = joined[bit] || !named[bit] && !named[bit + 1];
        if bit == FLAG_REGISTER - 1 || !goes_on {
            pieces.push(start..bit + 1);
            start = bit + 1;
        }
    }
    pieces
}

impl Lift<'_> {
    /// The enabled channels of the thread.
    pub fn active(&mut self) -> Value {
        self.read_variable(Variable::Active, Type::mask(THREAD_LANES))
    }

    /// The channels of an instruction that the execution mask enables.
    fn enabled(&mut self, index: usize) -> Value {
        let op = &self.plan.ops[index];
        let (first, count) = (usize::from(op.channel), usize::from(op.lanes));
        if op.no_mask {
            return self.builder.mask(count, true);
        }
        let active = self.active();
        self.builder.slice(active, first, count)
    }

    /// The channels for which an instruction executes.
    pub fn mask(&mut self, index: usize) -> Value {
        let op = &self.plan.ops[index];
        let mut mask = self.enabled(index);
        if let Some(predicate) = op.predicate.filter(|_| !op.predicate_is_operand) {
            let own = self.predicate(index, predicate);
            mask = self.builder.binary(Binary::And, mask, own);
        }
        let lanes = usize::from(op.lanes);
        let written = self.builder.ints(Type::mask(lanes), |lane| u64::from(op.write_lanes >> lane & 1));
        self.builder.binary(Binary::And, mask, written)
    }

    /// The channels of an instruction for which a predicate holds.
    pub fn predicate(&mut self, index: usize, predicate: Pred) -> Value {
        let mask = self.predicate_mask(index, predicate.control);
        if predicate.inverse { self.builder.not(mask) } else { mask }
    }

    /// The flags of an instruction's channels, combined.
    fn predicate_mask(&mut self, index: usize, control: PredicateControl) -> Value {
        use PredicateControl as P;
        let op = &self.plan.ops[index];
        let (lanes, channel, base) =
            (usize::from(op.lanes), usize::from(op.channel), usize::from(op.flag_base));
        match control {
            P::Normal => self.read_flags(base + channel, lanes),
            P::Any2H | P::Any4H | P::Align16Any4H | P::Any8H | P::Any16H | P::Any32H => {
                self.grouped(index, control, false)
            }
            P::All2H | P::All4H | P::Align16All4H | P::All8H | P::All16H | P::All32H => {
                self.grouped(index, control, true)
            }
            P::AnyV | P::AllV => {
                // `f1` has nothing beside it, as it is behind `f0`.
                let all = self.read_flags(0, FLAG_REGISTER);
                let second = self.read_flags(FLAG_REGISTER, FLAG_REGISTER);
                let binary = if control == P::AnyV { Binary::Or } else { Binary::And };
                let both = self.builder.binary(binary, all, second);
                let first = base % FLAG_REGISTER;
                let none = self.builder.mask(FLAG_REGISTER, false);
                let beyond = if control == P::AnyV { second } else { none };
                let moved = self.builder.shuffle(both, Some(beyond), first..first + FLAG_REGISTER);
                self.builder.slice(moved, channel, lanes)
            }
            P::ReplicateX | P::ReplicateY | P::ReplicateZ | P::ReplicateW => {
                let component = match control {
                    P::ReplicateX => 0,
                    P::ReplicateY => 1,
                    P::ReplicateZ => 2,
                    _ => 3,
                };
                let own = self.read_flags(base + channel, lanes.next_multiple_of(4));
                self.builder.shuffle(
                    own,
                    None,
                    (0..lanes).map(|lane| lane / 4 * 4 + component).collect::<Vec<_>>(),
                )
            }
        }
    }

    /// A predicate that is the same for all channels of a group.
    fn grouped(&mut self, index: usize, control: PredicateControl, all: bool) -> Value {
        use PredicateControl as P;
        let op = &self.plan.ops[index];
        let size = match control {
            P::Any2H | P::All2H => 2,
            P::Any4H | P::All4H | P::Align16Any4H | P::Align16All4H => 4,
            P::Any8H | P::All8H => 8,
            P::Any16H | P::All16H => 16,
            _ => 32,
        };
        let (channel, lanes) = (usize::from(op.channel), usize::from(op.lanes));
        let bits = self.read_flags(usize::from(op.flag_base), FLAG_REGISTER);
        let mut result: Option<Value> = None;
        // Groups of other channels than the instruction's do not matter.
        for first in (channel / size * size..channel + lanes).step_by(size) {
            let group = self.builder.slice(bits, first, size);
            let group = self.builder.bits(group);
            let limit = self.builder.signed(self.builder.ty(group), if all { -1 } else { 0 });
            let holds = self.builder.compare(if all { Relation::Eq } else { Relation::Ne }, group, limit);
            let holds = self.builder.splat(holds, size);
            result = Some(match result {
                Some(before) => self.concatenated(before, holds),
                None => holds,
            });
        }
        let result = result.unwrap_or_else(|| self.builder.mask(lanes, false));
        self.builder.slice(result, channel % size, lanes)
    }

    /// Flags from a bit on, counted through both registers, zero-extended.
    pub fn read_flags(&mut self, first: usize, count: usize) -> Value {
        let mut parts: Option<Value> = None;
        let end = first + count;
        for number in 0..self.flags.len() {
            let piece = self.flags[number].clone();
            let (from, to) = (first.max(piece.start), end.min(piece.end));
            if from >= to {
                continue;
            }
            let all = self.read_variable(Variable::Flag(number as u32), Type::mask(piece.len()));
            let own = self.builder.slice(all, from - piece.start, to - from);
            parts = Some(parts.map_or(own, |before| self.concatenated(before, own)));
        }
        if end > FLAG_BITS {
            let beyond = self.builder.mask(end - FLAG_BITS.max(first), false);
            parts = Some(parts.map_or(beyond, |before| self.concatenated(before, beyond)));
        }
        parts.unwrap_or_else(|| self.builder.mask(count, false))
    }

    /// Sets flags from a bit on.
    pub fn write_flags(&mut self, first: usize, new: Value) {
        let end = first + usize::from(self.builder.ty(new).lanes);
        for number in 0..self.flags.len() {
            let piece = self.flags[number].clone();
            let (from, to) = (first.max(piece.start), end.min(piece.end));
            if from >= to {
                continue;
            }
            let name = Variable::Flag(number as u32);
            let own = self.builder.slice(new, from - first, to - from);
            let old = self.read_variable(name, Type::mask(piece.len()));
            let inside = from - piece.start..to - piece.start;
            let count = piece.len();
            let order =
                (0..count).map(|bit| if inside.contains(&bit) { count + bit - inside.start } else { bit });
            let all = self.builder.shuffle(old, Some(own), order.collect::<Vec<_>>());
            self.write_variable(name, all);
        }
    }

    /// Sets flags from a bit on where a mask says so.
    pub fn merge_flags(&mut self, first: usize, new: Value, mask: Value) {
        let old = self.read_flags(first, self.builder.ty(new).lanes.into());
        // What is compared for channels that are not enabled may be anything, but `mask` lanes are bits.
        let new = self.builder.select(mask, new, old);
        self.write_flags(first, new);
    }
}

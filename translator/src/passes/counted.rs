//! Counted loops: trip counts, and values of induction variables in the first and in the last iteration, computed in the preheader.

use super::natural::Loop;
use super::sums::{Evolution, Evolutions};
use crate::middle::function::{Block, Constant, End, Function, Value};
use crate::middle::op::{Binary, Op, Relation};
use crate::middle::types::{Scalar, Type};

pub const I64: Type = Type { scalar: Scalar::Int(64), lanes: 1 };

/// A loop whose last iteration is known before the first.
pub struct Counted<'a> {
    pub evolutions: Evolutions<'a>,
    /// The number of the last iteration, 64 bits.
    pub last: Value,
    /// What has to hold so that the rest is true.
    pub obligations: Vec<Value>,
}

impl<'a> Counted<'a> {
    /// A loop, with a block before it and what the header's parameters are there. One iteration until [`Counted::ends_by`].
    pub fn new(mut function: Function, own: &'a Loop, entry: (Block, Vec<Value>)) -> Counted<'a> {
        let last = function.constant(I64, Constant::All(0));
        let evolutions = Evolutions::new(function, own, entry, false);
        Counted { evolutions, last, obligations: Vec::new() }
    }

    /// Finds the last iteration.
    pub fn ends_by(&mut self, exit: &Exit) -> Option<()> {
        self.last = self.last_iteration(exit)?;
        Some(())
    }

    /// Whether all that has to hold does, and this besides, in all lanes.
    pub fn condition(&mut self, more: Vec<Value>) -> Value {
        let mut all = Vec::new();
        for (number, extend, narrow) in std::mem::take(&mut self.evolutions.extended) {
            for last in self.ends(number).into_iter().skip(1) {
                all.push(self.evolutions.builder.fits(last, extend, narrow));
            }
        }
        all.append(&mut self.obligations);
        all.extend(more);
        let builder = &mut self.evolutions.builder;
        let one = builder.mask(1, true);
        all.into_iter().fold(one, |all, own| {
            let own = builder.in_all_lanes(own);
            builder.binary(Binary::And, all, own)
        })
    }

    /// A value in the first and in the last iteration.
    pub fn ends(&mut self, evolution: Evolution) -> Vec<Value> {
        let Evolution { first, step } = evolution;
        let Some(step) = step else { return vec![first] };
        let builder = &mut self.evolutions.builder;
        let ty = builder.ty(first);
        let last = builder.resize(self.last, ty.scalar.bits(), false);
        let last = builder.splat(last, ty.lanes.into());
        let distance = builder.binary(Binary::Mul, step, last);
        vec![first, builder.binary(Binary::Add, first, distance)]
    }

    /// The number of the last iteration, 64 bits, if the loop ends where it seems to.
    fn last_iteration(&mut self, exit: &Exit) -> Option<Value> {
        let [counter, bound] = [exit.counter, exit.bound].map(|value| self.evolutions.of(value));
        let (counter, bound) = (counter?, bound?);
        let builder = &mut self.evolutions.builder;
        let ty = builder.ty(counter.first);
        let Scalar::Int(bits @ 8..=32) = ty.scalar else { return None };
        if ty.lanes > 1 || bound.step.is_some() {
            return None;
        }
        let Some(Constant::All(step)) = builder.function.as_constant(counter.step?) else { return None };
        let step = *step as u64;
        let (mut first, mut bound) = (counter.first, bound.first);
        if exit.relation == Relation::Slt {
            let sign = builder.int(ty, 1 << (bits - 1));
            [first, bound] = [first, bound].map(|value| builder.binary(Binary::Xor, value, sign));
        }
        let is_negative = step >> (bits - 1) != 0;
        let size = if is_negative { (1 << bits) - step } else { step };
        if !size.is_power_of_two() || is_negative && exit.relation != Relation::Ne {
            return None;
        }
        let (from, to) = if is_negative { (bound, first) } else { (first, bound) };
        let distance = builder.binary(Binary::Sub, to, from);
        let [shift, rest, zero] =
            [size.trailing_zeros().into(), size - 1, 0].map(|bits| builder.int(ty, bits));
        let mut whole = distance;
        if exit.relation == Relation::Ne {
            let left = builder.binary(Binary::And, distance, rest);
            self.obligations.push(builder.compare(Relation::Eq, left, zero));
        } else {
            // It ends where the counter is not below the bound any more, unless it wraps around before.
            let most = builder.int(ty, (1 << bits) - size);
            self.obligations.push(builder.compare(Relation::Ule, bound, most));
            let more = builder.binary(Binary::Add, distance, rest);
            let goes_on = builder.compare(Relation::Ult, first, bound);
            whole = builder.select(goes_on, more, zero);
        }
        let count = builder.binary(Binary::LShr, whole, shift);
        Some(builder.resize(count, 64, false))
    }
}

/// The exit of a loop: it iterates while a counter has a relation to a bound.
pub struct Exit {
    relation: Relation,
    counter: Value,
    bound: Value,
}

impl Exit {
    /// The end of a loop that is left where an iteration ends.
    pub fn of(function: &Function, own: &Loop) -> Option<Exit> {
        let latches = own.blocks.iter().filter(|block| {
            let mut targets = function.block(**block).end.targets();
            targets.any(|target| target.block == own.header)
        });
        let latches: Vec<&Block> = latches.collect();
        let End::Branch { condition, yes, no } = &function.block(own.exiting).end else { return None };
        if latches != [&own.exiting] || yes.block == no.block {
            return None;
        }
        let mut condition = *condition;
        let mut goes_on = yes.block == own.header;
        let is_one = |value: Value| function.as_constant(value) == Some(&Constant::All(1));
        while let Some((Op::Binary(Binary::Xor), [inner, one])) = function.source(condition)
            && is_one(*one)
        {
            condition = *inner;
            goes_on = !goes_on;
        }
        let (Op::ICmp(relation), [a, b]) = function.source(condition)? else { return None };
        let defined = own.defined(function);
        let (relation, counter, bound) =
            if defined.contains(b) { (relation.swapped(), *b, *a) } else { (*relation, *a, *b) };
        let relation = if goes_on { relation } else { relation.negated() };
        let is_known = matches!(relation, Relation::Ne | Relation::Ult | Relation::Slt);
        is_known.then_some(Exit { relation, counter, bound })
    }
}

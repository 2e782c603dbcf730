//! Loop predication: a guard whose addresses change by the same number with each iteration holds in all iterations if it holds in the first and in the last.
//! That is asked before the loop, which is there twice: without such guards, and with what they guard as it was.

use rustc_hash::FxHashSet;

use super::natural::{Loop, loops};
use super::sums::{Evolution, Evolutions, conjuncts, fitting};
use crate::middle::function::{Block, Constant, End, Function, Target, Value};
use crate::middle::op::{Binary, Convert, Inside, LOCAL_OFFSET, Op, Relation, Space, Window};
use crate::middle::types::{Scalar, Type};

/// The same function with such loops.
pub fn predicate(function: &Function) -> Function {
    let mut result = function.clone();
    let mut done: FxHashSet<Block> = FxHashSet::default();
    while let Some(own) = loops(&result).into_iter().find(|own| !done.contains(&own.header)) {
        done.insert(own.header);
        let guards = guards(&result, &own);
        if guards.is_empty() {
            continue;
        }
        if let Some(copy) = Predication::write(&mut result, &own, guards) {
            done.insert(copy);
        }
    }
    result
}

/// A branch to where accesses are known to be inside.
struct Guard {
    block: Block,
    /// Conditions that all have to hold.
    leaves: Vec<Value>,
    fast: Target,
    slow: Target,
}

/// The guards of a loop.
fn guards(function: &Function, own: &Loop) -> Vec<Guard> {
    let guard = |block: &Block| {
        let End::Branch { condition, yes, no } = &function.block(*block).end else { return None };
        let leaves = conjuncts(function, *condition);
        let is_guard = leaves.iter().any(|leaf| matches!(function.source(*leaf), Some((Op::Inside(_), _))))
            && own.blocks.contains(&yes.block)
            && own.blocks.contains(&no.block);
        is_guard.then(|| Guard { block: *block, leaves, fast: yes.clone(), slow: no.clone() })
    };
    own.order(function).iter().filter_map(guard).collect()
}

struct Predication<'a> {
    own: &'a Loop,
    evolutions: Evolutions<'a>,
    /// The number of the last iteration, 64 bits.
    last: Value,
    /// What has to hold, besides.
    obligations: Vec<Value>,
}

impl Predication<'_> {
    /// Gives the header of the copy.
    fn write(function: &mut Function, own: &Loop, guards: Vec<Guard>) -> Option<Block> {
        let outputs = own.outputs(function);
        let exit = exit(function, own)?;
        let (entry, given) = own.enter_by(function);
        let last = function.constant(I64, Constant::All(0));
        let evolutions = Evolutions::new(std::mem::take(function), own, (entry, given.clone()), false);
        let mut pass = Predication { own, evolutions, last, obligations: Vec::new() };
        let chosen = pass.chosen(&exit, guards);
        *function = pass.evolutions.builder.function;
        let to = |block: Block| Target { block, arguments: given.clone() };
        function.block_mut(entry).end = End::Jump(to(own.header));
        let (condition, chosen) = chosen?;
        let join = own.leave_by(function, &outputs);
        let copy = own.copied(function, join, &[]);
        for guard in &chosen {
            function.block_mut(guard.block).end = End::Jump(guard.slow.clone());
            let block = copy.blocks[&guard.block];
            function.block_mut(block).end = End::Jump(copy.target(&guard.fast));
        }
        let header = copy.blocks[&own.header];
        function.block_mut(entry).end = End::Branch { condition, yes: to(header), no: to(own.header) };
        Some(header)
    }

    /// The guards that can be asked before the loop, and the condition under which they hold.
    fn chosen(&mut self, exit: &Exit, guards: Vec<Guard>) -> Option<(Value, Vec<Guard>)> {
        self.last = self.last_iteration(exit)?;
        let mut chosen: Vec<(Guard, Vec<Value>)> = Vec::new();
        for guard in guards {
            let conditions: Option<Vec<_>> = guard.leaves.iter().map(|leaf| self.conditions(*leaf)).collect();
            chosen.extend(conditions.map(|conditions| (guard, conditions.concat())));
        }
        // A window may be another one after an access that is not guarded.
        loop {
            let (before, changed) = (chosen.len(), self.changed_windows(&chosen));
            let function = &self.evolutions.builder.function;
            let is_changed = |leaf: &Value| match function.source(*leaf) {
                Some((Op::Inside(inside), _)) => {
                    inside.window.is_some_and(|window| changed.contains(&window))
                }
                _ => false,
            };
            chosen.retain(|(guard, _)| !guard.leaves.iter().any(is_changed));
            if chosen.len() == before {
                break;
            }
        }
        if chosen.is_empty() {
            return None;
        }
        let mut all = Vec::new();
        for (number, extend, narrow) in std::mem::take(&mut self.evolutions.extended) {
            let last = self.ends(number)[1];
            all.push(self.evolutions.builder.fits(last, extend, narrow));
        }
        all.append(&mut self.obligations);
        let (chosen, conditions): (Vec<Guard>, Vec<Vec<Value>>) = chosen.into_iter().unzip();
        all.extend(conditions.concat());
        let one = self.evolutions.builder.mask(1, true);
        let condition =
            all.iter().fold(one, |all, own| self.evolutions.builder.binary(Binary::And, all, *own));
        Some((condition, chosen))
    }

    /// The windows of accesses that may find another buffer while guards are taken to hold.
    fn changed_windows(&self, chosen: &[(Guard, Vec<Value>)]) -> FxHashSet<Window> {
        let left_out: FxHashSet<Block> = chosen.iter().map(|(guard, _)| guard.slow.block).collect();
        let blocks = self.own.blocks.iter().filter(|block| !left_out.contains(block));
        let function = &self.evolutions.builder.function;
        let accesses = blocks.flat_map(|block| &function.block(*block).instructions);
        let windows = accesses.filter_map(|instruction| match &function.instruction(*instruction).op {
            Op::Load(access) | Op::Store(access) if !access.is_guarded => access.window,
            _ => None,
        });
        windows.collect()
    }

    /// What has to hold before the loop so that a leaf does in all iterations: in the first and in the last.
    fn conditions(&mut self, leaf: Value) -> Option<Vec<Value>> {
        if let Some(Evolution { first, step: None }) = self.evolutions.of(leaf) {
            return Some(vec![first]);
        }
        let function = &self.evolutions.builder.function;
        if let Some((number, extend, narrow)) = fitting(function, leaf) {
            let number =
                self.evolutions.of(number).filter(|own| self.evolutions.builder.ty(own.first) == I64)?;
            let ends = self.ends(number);
            return Some(ends.iter().map(|end| self.evolutions.builder.fits(*end, extend, narrow)).collect());
        }
        let (Op::Inside(inside), [address]) = function.source(leaf)? else { return None };
        let (inside, address) = (*inside, *address);
        let address = self.evolutions.of(address)?;
        self.bounded(&inside, address);
        let (op, ends) = (Op::Inside(inside), self.ends(address));
        let builder = &mut self.evolutions.builder;
        Some(ends.iter().flat_map(|end| builder.effect(op.clone(), &[*end], &[Type::mask(1)])).collect())
    }

    /// A value in the first and in the last iteration.
    fn ends(&mut self, evolution: Evolution) -> Vec<Value> {
        let Evolution { first, step } = evolution;
        let Some(step) = step else { return vec![first] };
        let builder = &mut self.evolutions.builder;
        let last = builder.resize(self.last, builder.ty(first).scalar.bits(), false);
        let distance = builder.binary(Binary::Mul, step, last);
        vec![first, builder.binary(Binary::Add, first, distance)]
    }

    /// Addresses do not wrap around on their way from the first to the last.
    fn bounded(&mut self, inside: &Inside, address: Evolution) {
        let Some(step) = address.step else { return };
        let ty = self.evolutions.builder.ty(address.first);
        if ty == I64 {
            // Steps of 32 bits, at most 2^32 times.
            self.obligations.push(self.evolutions.builder.fits(step, Convert::SExt, Scalar::Int(32)));
            return;
        }
        self.evolutions.extend(Convert::ZExt, address);
        if inside.space == Space::Local {
            for end in self.ends(address) {
                let builder = &mut self.evolutions.builder;
                let most = builder.int(ty, LOCAL_OFFSET);
                self.obligations.push(builder.compare(Relation::Ule, end, most));
            }
        }
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

const I64: Type = Type { scalar: Scalar::Int(64), lanes: 1 };

/// How a loop ends: it goes on while a counter has a relation to a bound.
struct Exit {
    relation: Relation,
    counter: Value,
    bound: Value,
}

/// The end of a loop that is left where an iteration ends.
fn exit(function: &Function, own: &Loop) -> Option<Exit> {
    let latches = own.blocks.iter().filter(|block| {
        let mut targets = function.block(**block).end.targets();
        targets.any(|target| target.block == own.header)
    });
    let latches: Vec<&Block> = latches.collect();
    let End::Branch { condition, yes, no } = &function.block(own.last).end else { return None };
    if latches != [&own.last] || yes.block == no.block {
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

//! Loop predication: a guard whose addresses are induction variables holds in all iterations if it holds in the first and in the last. That is checked in the
//! preheader of a version without such guards; the generic version has only their slow paths.

use rustc_hash::FxHashSet;

use super::counted::{Counted, Exit, I64};
use super::natural::{Loop, loops};
use super::sums::{Evolution, conjuncts, fitting};
use crate::middle::function::{Block, End, Function, Target, Value};
use crate::middle::op::{Convert, Inside, LOCAL_OFFSET, Op, Relation, Space, Window};
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
    counted: Counted<'a>,
}

impl Predication<'_> {
    /// Gives the header of the copy.
    fn write(function: &mut Function, own: &Loop, guards: Vec<Guard>) -> Option<Block> {
        let outputs = own.outputs(function);
        let exit = Exit::of(function, own)?;
        let (entry, given) = own.insert_preheader(function);
        let counted = Counted::new(std::mem::take(function), own, (entry, given.clone()));
        let mut pass = Predication { own, counted };
        let chosen = pass.chosen(&exit, guards);
        *function = pass.counted.evolutions.builder.function;
        let to = |block: Block| Target { block, arguments: given.clone() };
        function.block_mut(entry).end = End::Jump(to(own.header));
        let (condition, chosen) = chosen?;
        let join = own.insert_exit(function, &outputs);
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

    /// The guards that can be hoisted to the preheader, and the condition under which they hold.
    fn chosen(&mut self, exit: &Exit, guards: Vec<Guard>) -> Option<(Value, Vec<Guard>)> {
        self.counted.ends_by(exit)?;
        let mut chosen: Vec<(Guard, Vec<Value>)> = Vec::new();
        for guard in guards {
            let conditions: Option<Vec<_>> = guard.leaves.iter().map(|leaf| self.conditions(*leaf)).collect();
            chosen.extend(conditions.map(|conditions| (guard, conditions.concat())));
        }
        // A window may be another one after an access that is not guarded.
        loop {
            let (before, changed) = (chosen.len(), self.changed_windows(&chosen));
            let function = &self.counted.evolutions.builder.function;
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
        let (chosen, conditions): (Vec<Guard>, Vec<Vec<Value>>) = chosen.into_iter().unzip();
        let condition = self.counted.condition(conditions.concat());
        Some((condition, chosen))
    }

    /// The windows of accesses that may find another buffer while guards are taken to hold.
    fn changed_windows(&self, chosen: &[(Guard, Vec<Value>)]) -> FxHashSet<Window> {
        let left_out: FxHashSet<Block> = chosen.iter().map(|(guard, _)| guard.slow.block).collect();
        let blocks = self.own.blocks.iter().filter(|block| !left_out.contains(block));
        let function = &self.counted.evolutions.builder.function;
        let accesses = blocks.flat_map(|block| &function.block(*block).instructions);
        let windows = accesses.filter_map(|instruction| match &function.instruction(*instruction).op {
            Op::Load(access) | Op::Store(access) if !access.is_guarded => access.window,
            _ => None,
        });
        windows.collect()
    }

    /// The conditions in the preheader under which a leaf holds in all iterations: in the first and in the last.
    fn conditions(&mut self, leaf: Value) -> Option<Vec<Value>> {
        if let Some(Evolution { first, step: None }) = self.counted.evolutions.of(leaf) {
            return Some(vec![first]);
        }
        let function = &self.counted.evolutions.builder.function;
        if let Some((number, extend, narrow)) = fitting(function, leaf) {
            let number = self
                .counted
                .evolutions
                .of(number)
                .filter(|own| self.counted.evolutions.builder.ty(own.first) == I64)?;
            let ends = self.counted.ends(number);
            return Some(
                ends.iter().map(|end| self.counted.evolutions.builder.fits(*end, extend, narrow)).collect(),
            );
        }
        let (Op::Inside(inside), [address]) = function.source(leaf)? else { return None };
        let (inside, address) = (*inside, *address);
        let address = self.counted.evolutions.of(address)?;
        self.bounded(&inside, address);
        let (op, ends) = (Op::Inside(inside), self.counted.ends(address));
        let builder = &mut self.counted.evolutions.builder;
        Some(ends.iter().flat_map(|end| builder.effect(op.clone(), &[*end], &[Type::mask(1)])).collect())
    }

    /// Addresses do not wrap around between the first and the last iteration.
    fn bounded(&mut self, inside: &Inside, address: Evolution) {
        let Some(step) = address.step else { return };
        let ty = self.counted.evolutions.builder.ty(address.first);
        if ty == I64 {
            // Steps of 32 bits, at most 2^32 times.
            self.counted.obligations.push(self.counted.evolutions.builder.fits(
                step,
                Convert::SExt,
                Scalar::Int(32),
            ));
            return;
        }
        self.counted.evolutions.extend(Convert::ZExt, address);
        if inside.space == Space::Local {
            for end in self.counted.ends(address) {
                let builder = &mut self.counted.evolutions.builder;
                let most = builder.int(ty, LOCAL_OFFSET);
                self.counted.obligations.push(builder.compare(Relation::Ule, end, most));
            }
        }
    }
}

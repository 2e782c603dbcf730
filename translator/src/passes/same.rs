//! Parameters that always have one value: all edges to their blocks say so, around loops as well.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::middle::function::{Block, Definition, Function, Value};
use crate::middle::op::{Binary, Op};
use crate::middle::types::Scalar;

/// How many operations a value that is computed again is made of at most.
const MAX_OPERATIONS: usize = 12;

/// How often what a parameter is taken for may change before it only may be found to be none else.
const FREE_ROUNDS: usize = 16;

/// What parameters are instead.
#[derive(Default)]
pub struct Same {
    /// Those that are a value which is known in their blocks.
    pub known: FxHashMap<Value, Value>,
    /// Those that are a value of the thread's inputs alone, computed elsewhere: it is the same at any time, and takes little to compute again, less than to keep it
    /// over barriers.
    pub again: FxHashMap<Value, Value>,
}

impl Same {
    /// Finds them.
    pub fn new(function: &Function) -> Same {
        let dominators = function.dominators();
        let mut homes: FxHashMap<Value, Block> = FxHashMap::default();
        for block in function.block_numbers() {
            let data = function.block(block);
            homes.extend(data.parameters.iter().map(|own| (*own, block)));
            let results = data.instructions.iter().flat_map(|own| &function.instruction(*own).results);
            homes.extend(results.map(|own| (*own, block)));
        }
        let mut same = Same::default();
        for (parameter, value) in always(function) {
            let (at, home) = (homes[&parameter], homes.get(&value));
            let is_known = home.is_none_or(|home| *home != at && dominators.dominates(*home, at));
            if is_known {
                same.known.insert(parameter, value);
            } else if is_of_inputs(function, value) {
                same.again.insert(parameter, value);
            }
        }
        same
    }

    /// Whether a parameter stays one.
    pub fn is_kept(&self, parameter: &Value) -> bool {
        !self.known.contains_key(parameter) && !self.again.contains_key(parameter)
    }
}

/// The parameters that always are another value. Each is taken for what the first edges say until another one says something else.
fn always(function: &Function) -> Vec<(Value, Value)> {
    let mut incoming: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
    let mut order = Vec::new();
    for block in function.block_numbers() {
        order.extend(function.block(block).parameters.iter().map(|own| (*own, block)));
        for target in function.block(block).end.targets() {
            let parameters = &function.block(target.block).parameters;
            for (own, argument) in parameters.iter().zip(&target.arguments) {
                incoming.entry(*own).or_default().push(*argument);
            }
        }
    }
    let is_parameter = |value: Value| matches!(function.values[value].definition, Definition::Parameter(_));
    let mut found: FxHashMap<Value, Value> = FxHashMap::default();
    for round in 0.. {
        let mut is_new = false;
        for (own, block) in &order {
            let before = found.get(own).copied().filter(|_| round >= FREE_ROUNDS);
            if before == Some(*own) {
                continue;
            }
            let mut joined = before;
            for argument in incoming.get(own).into_iter().flatten() {
                let argument = if is_parameter(*argument) { found.get(argument) } else { Some(argument) };
                let Some(argument) = argument else { continue };
                joined = Some(if joined.is_none_or(|one| one == *argument) { *argument } else { *own });
            }
            // What a thread keeps while it has yielded may have changed meanwhile.
            let Some(mut joined) = joined else { continue };
            if function.resumed.contains(block) && !is_of_inputs(function, joined) {
                joined = *own;
            }
            is_new |= found.insert(*own, joined) != Some(joined);
        }
        if !is_new {
            break;
        }
    }
    found.into_iter().filter(|(own, value)| own != value).collect()
}

/// Whether a value is a constant, or is made of a few operations on the thread's inputs: integers and masks, without division.
fn is_of_inputs(function: &Function, value: Value) -> bool {
    let (mut open, mut seen) = (vec![value], FxHashSet::default());
    while let Some(value) = open.pop() {
        if function.as_constant(value).is_some() || !seen.insert(value) {
            continue;
        }
        let Some((op, operands)) = function.source(value) else { return false };
        let is_cheap = op.is_pure()
            && !matches!(op, Op::Binary(Binary::SDiv | Binary::SRem) | Op::Fence)
            && matches!(function.ty(value).scalar, Scalar::Int(_) | Scalar::Mask);
        if !is_cheap || seen.len() > MAX_OPERATIONS {
            return false;
        }
        open.extend(operands);
    }
    true
}

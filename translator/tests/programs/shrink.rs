//! Makes a program that fails smaller while it still fails.

use gencl_translator::middle::function::{Constant, End, Function, Instruction, Value};

use crate::verify::verify;

/// The smallest function that is found, and for which `fails` says so.
pub fn shrunk(function: &Function, fails: impl Fn(&Function) -> bool) -> Function {
    let mut best = function.clone();
    let is_smaller = |best: &mut Function, candidate: Function| {
        let is_one = verify(&candidate).is_ok() && fails(&candidate);
        if is_one {
            *best = candidate;
        }
        is_one
    };
    for block in best.block_numbers() {
        if let End::Branch { yes, no, .. } = best.block(block).end.clone() {
            for target in [no, yes] {
                let mut candidate = best.clone();
                candidate.block_mut(block).end = End::Jump(target);
                if is_smaller(&mut best, candidate) {
                    break;
                }
            }
        }
    }
    for size in [64, 16, 4, 1, 1] {
        let all: Vec<Instruction> =
            best.block_numbers().flat_map(|block| best.block(block).instructions.clone()).collect();
        for chunk in all.rchunks(size) {
            let mut candidate = best.clone();
            chunk.iter().for_each(|instruction| remove(&mut candidate, *instruction, 0));
            if is_smaller(&mut best, candidate) || size > 1 {
                continue;
            }
            for choice in 1..4 {
                let mut candidate = best.clone();
                remove(&mut candidate, chunk[0], choice);
                if is_smaller(&mut best, candidate) {
                    break;
                }
            }
        }
    }
    for block in best.block_numbers() {
        for number in 0..best.block(block).end.targets().map(|target| target.arguments.len()).sum() {
            let mut candidate = best.clone();
            let mut all = candidate.block(block).end.targets().flat_map(|target| target.arguments.clone());
            let Some(argument) = all.nth(number) else { break };
            drop(all);
            let zero = candidate.constant(best.ty(argument), Constant::All(0));
            let mut end = candidate.block(block).end.clone();
            if let Some(argument) = end.targets_mut().flat_map(|target| &mut target.arguments).nth(number) {
                *argument = zero;
            }
            candidate.block_mut(block).end = end;
            is_smaller(&mut best, candidate);
        }
    }
    best
}

/// Removes an instruction: instead of its results there are zeros, ones, or one of its operands of the same type.
fn remove(function: &mut Function, instruction: Instruction, choice: usize) {
    let data = function.instruction(instruction).clone();
    for result in &data.results {
        let ty = function.ty(*result);
        let alike: Vec<Value> =
            data.operands.iter().rev().copied().filter(|operand| function.ty(*operand) == ty).collect();
        let new = match choice.checked_sub(2).and_then(|n| alike.get(n)) {
            Some(operand) => *operand,
            None => function.constant(ty, Constant::All(if choice == 1 { u128::MAX } else { 0 })),
        };
        replace(function, *result, new);
    }
    for block in function.block_numbers() {
        function.block_mut(block).instructions.retain(|own| *own != instruction);
    }
}

fn replace(function: &mut Function, old: Value, new: Value) {
    let change = |value: &mut Value| {
        if *value == old {
            *value = new;
        }
    };
    function.instructions.values_mut().for_each(|data| data.operands.iter_mut().for_each(change));
    for block in function.blocks.values_mut() {
        if let End::Branch { condition, .. } = &mut block.end {
            change(condition);
        }
        block.end.targets_mut().for_each(|target| target.arguments.iter_mut().for_each(change));
    }
}

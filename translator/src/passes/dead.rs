//! Dead code elimination: pure values and parameters of blocks without uses.

use gencl_ir_support::EntitySet;
use rustc_hash::FxHashMap;

use super::simplify::Rebuild;
use crate::middle::function::{Definition, End, Function, Value};
use crate::middle::op::Op;

/// The same function without what is not used.
pub fn remove(function: &Function) -> Function {
    let used = used(function);
    let is_used = |value: &Value| used.contains(*value);
    Rebuild::new(function).map(is_used, |rebuild, instruction| {
        let data = function.instruction(instruction);
        // A bounds check has no side effect.
        let is_silent = data.op.is_pure() || matches!(data.op, Op::Inside(_));
        if !is_silent || is_used(&data.results[0]) {
            rebuild.copy(instruction);
        }
    })
}

/// The values on which effects and control flow depend.
fn used(function: &Function) -> EntitySet<Value> {
    let mut used = EntitySet::new();
    let mut incoming: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
    let mut open: Vec<Value> = Vec::new();
    for block in function.block_numbers() {
        let data = function.block(block);
        for instruction in &data.instructions {
            let own = function.instruction(*instruction);
            if !own.op.is_pure() {
                open.extend(&own.operands);
            }
        }
        if let End::Branch { condition, .. } = data.end {
            open.push(condition);
        }
        for target in data.end.targets() {
            let parameters = &function.block(target.block).parameters;
            parameters
                .iter()
                .zip(&target.arguments)
                .for_each(|(own, value)| incoming.entry(*own).or_default().push(*value));
        }
    }
    while let Some(value) = open.pop() {
        if !used.insert(value) {
            continue;
        }
        match function.values[value].definition {
            Definition::Constant(_) => {}
            Definition::Parameter(_) => open.extend(incoming.get(&value).into_iter().flatten()),
            Definition::Result(instruction, _) => {
                let own = function.instruction(instruction);
                if own.op.is_pure() {
                    open.extend(&own.operands);
                }
            }
        }
    }
    used
}

//! Innermost natural loops with a single entry and a single exit, and their versioning.

use gencl_ir_support::{Dominators, NaturalLoop, natural_loops};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::middle::function::{Block, End, Function, Target, Value};
use crate::middle::types::Type;

/// An innermost loop with one entering edge and one exit edge. Edges to a fault do not count.
pub struct Loop {
    /// Its header.
    pub header: Block,
    /// All of its blocks.
    pub blocks: FxHashSet<Block>,
    /// The block that enters it.
    pub entering: Block,
    /// Its exiting block.
    pub exiting: Block,
    /// Its exit block.
    pub exit: Block,
}

/// The loops of a function.
pub fn loops(function: &Function) -> Vec<Loop> {
    let graph = function.graph();
    let dominators = Dominators::new(&graph);
    let mut found: Vec<Loop> = Vec::new();
    for NaturalLoop { header, entering, blocks: all } in natural_loops(&graph, &dominators) {
        let [entering] = entering[..] else { continue };
        if function.resumed.contains(&header) {
            continue;
        }
        let mut blocks = FxHashSet::default();
        all.into_iter().for_each(|block| _ = blocks.insert(block));
        let leaves = blocks.iter().flat_map(|block| {
            let targets = function.block(*block).end.targets();
            targets.map(move |target| (*block, target.block))
        });
        let leaves: Vec<(Block, Block)> =
            leaves.filter(|(_, to)| !blocks.contains(to) && !function.is_fault(*to)).collect();
        if let [(exiting, exit)] = leaves[..] {
            found.push(Loop { header, blocks, entering, exiting, exit });
        }
    }
    let is_innermost =
        |own: &Loop| found.iter().filter(|other| own.blocks.contains(&other.header)).count() == 1;
    let innermost: Vec<bool> = found.iter().map(is_innermost).collect();
    found.into_iter().zip(innermost).filter(|(_, is_innermost)| *is_innermost).map(|(own, _)| own).collect()
}

impl Loop {
    /// Its blocks in reverse post-order.
    pub fn order(&self, function: &Function) -> Vec<Block> {
        function.dominators().order().filter(|block| self.blocks.contains(block)).collect()
    }

    /// The values that it defines.
    pub fn defined(&self, function: &Function) -> FxHashSet<Value> {
        let mut defined: FxHashSet<Value> = FxHashSet::default();
        for block in &self.blocks {
            let data = function.block(*block);
            defined.extend(&data.parameters);
            data.instructions.iter().for_each(|n| defined.extend(&function.instruction(*n).results));
        }
        defined
    }

    /// Its live-out values.
    pub fn outputs(&self, function: &Function) -> Vec<Value> {
        let defined = self.defined(function);
        let mut outputs = Vec::new();
        let mut seen = FxHashSet::default();
        let mut note = |value: Value| {
            if defined.contains(&value) && seen.insert(value) {
                outputs.push(value);
            }
        };
        for block in function.block_numbers() {
            let data = function.block(block);
            if self.blocks.contains(&block) {
                let leaving = data.end.targets().filter(|target| target.block == self.exit);
                leaving.for_each(|target| target.arguments.iter().for_each(|value| note(*value)));
                continue;
            }
            data.instructions
                .iter()
                .for_each(|n| function.instruction(*n).operands.iter().for_each(|value| note(*value)));
            data.end.values().for_each(|value| note(*value));
        }
        outputs
    }

    /// Inserts a dedicated exit block, whose parameters replace the live-out values, so that another version can leave to it, too.
    pub fn insert_exit(&self, function: &mut Function, outputs: &[Value]) -> Block {
        let join = function.add_block();
        let merged: Vec<Value> =
            outputs.iter().map(|value| function.add_parameter(join, function.ty(*value))).collect();
        let arguments = function.block(self.exiting).end.targets().find(|target| target.block == self.exit);
        let arguments = arguments.map(|target| target.arguments.clone()).unwrap_or_default();
        self.replace_live_out(function, outputs, &merged);
        let renamed: FxHashMap<Value, Value> = outputs.iter().copied().zip(merged).collect();
        let behind = arguments.iter().map(|value| renamed.get(value).copied().unwrap_or(*value)).collect();
        function.block_mut(join).end = End::Jump(Target { block: self.exit, arguments: behind });
        for target in function.block_mut(self.exiting).end.targets_mut() {
            if target.block == self.exit {
                *target = Target { block: join, arguments: outputs.to_vec() };
            }
        }
        join
    }

    /// Inserts a preheader; the block, with the header's parameters there.
    pub fn insert_preheader(&self, function: &mut Function) -> (Block, Vec<Value>) {
        let entry = function.add_block();
        let header = function.block(self.header).parameters.clone();
        let given = header.iter().map(|value| function.add_parameter(entry, function.ty(*value))).collect();
        for target in function.block_mut(self.entering).end.targets_mut() {
            if target.block == self.header {
                target.block = entry;
            }
        }
        (entry, given)
    }

    /// Copies it, with some of its values renamed; the copy leaves to the same exit block.
    pub fn copied(&self, function: &mut Function, join: Block, renamed: &[(Value, Value)]) -> Copy {
        let order = self.order(function);
        debug_assert!(!order.contains(&join), "the block behind a loop is in it");
        let mut copy = Copy { blocks: FxHashMap::default(), values: FxHashMap::default() };
        for block in &order {
            let new = function.add_block();
            copy.blocks.insert(*block, new);
            for parameter in function.block(*block).parameters.clone() {
                let own = function.add_parameter(new, function.ty(parameter));
                copy.values.insert(parameter, own);
            }
        }
        copy.values.extend(renamed.iter().copied());
        for block in &order {
            let new = copy.blocks[block];
            for instruction in function.block(*block).instructions.clone() {
                let data = function.instruction(instruction).clone();
                let operands: Vec<Value> = data.operands.iter().map(|value| copy.value(*value)).collect();
                let types: Vec<Type> = data.results.iter().map(|value| function.ty(*value)).collect();
                let own = function.add_instruction(new, data.op, &operands, &types, data.origin);
                copy.values.extend(data.results.iter().copied().zip(own));
            }
            let mut end = function.block(*block).end.clone();
            end.values_mut().for_each(|value| *value = copy.value(*value));
            end.targets_mut().for_each(|target| target.block = copy.block(target.block));
            function.block_mut(new).end = end;
        }
        copy
    }

    /// Replaces its values by others wherever they are live-out.
    fn replace_live_out(&self, function: &mut Function, old: &[Value], new: &[Value]) {
        let renamed: FxHashMap<Value, Value> = old.iter().copied().zip(new.iter().copied()).collect();
        let put = |value: &mut Value| {
            if let Some(other) = renamed.get(value) {
                *value = *other;
            }
        };
        for block in function.block_numbers().filter(|block| !self.blocks.contains(block)) {
            let instructions = function.block(block).instructions.clone();
            instructions.iter().for_each(|n| function.instructions[*n].operands.iter_mut().for_each(put));
            function.block_mut(block).end.values_mut().for_each(put);
        }
    }
}

/// A copy of a loop.
pub struct Copy {
    /// The new block of each block.
    pub blocks: FxHashMap<Block, Block>,
    /// The new value of each value.
    pub values: FxHashMap<Value, Value>,
}

impl Copy {
    /// The new value of a value.
    pub fn value(&self, value: Value) -> Value {
        self.values.get(&value).copied().unwrap_or(value)
    }

    /// Where it goes instead of to a block.
    pub fn block(&self, block: Block) -> Block {
        self.blocks.get(&block).copied().unwrap_or(block)
    }

    /// The new target of a target.
    pub fn target(&self, target: &Target) -> Target {
        let arguments = target.arguments.iter().map(|value| self.value(*value)).collect();
        Target { block: self.block(target.block), arguments }
    }
}

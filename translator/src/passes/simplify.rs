//! Simplifies: what a builder simplifies, now that blocks' parameters are known; parameters that are always one value.

use rustc_hash::FxHashMap;

use super::same::Same;
use crate::middle::builder::Builder;
use crate::middle::function::{Block, Constant, End, Function, Instruction, Target, Value};
use crate::middle::op::{Access, Op};

/// The same function, simplified.
pub fn simplify(function: &Function) -> Function {
    let same = Same::new(function);
    let mut rebuild = Rebuild { same: same.known.clone(), ..Rebuild::new(function) };
    for block in rebuild.order.clone() {
        rebuild.begin(block);
        let data = function.block(block);
        for own in &data.parameters {
            if let Some(value) = same.again.get(own) {
                let value = rebuild.again(*value);
                rebuild.values.insert(*own, value);
            } else if same.is_kept(own) {
                rebuild.add_parameter(block, *own);
            }
        }
        data.instructions.iter().for_each(|instruction| rebuild.copy(*instruction));
        rebuild.end(block);
    }
    rebuild.finish_kept(|own| same.is_kept(own))
}

/// What a value is.
fn resolved(same: &FxHashMap<Value, Value>, mut value: Value) -> Value {
    while let Some(other) = same.get(&value) {
        value = *other;
    }
    value
}

/// A function that is made of another one.
pub struct Rebuild<'a> {
    old: &'a Function,
    /// The new function.
    pub builder: Builder,
    /// The new value of each old one.
    pub values: FxHashMap<Value, Value>,
    /// Old values that are other old ones.
    same: FxHashMap<Value, Value>,
    blocks: FxHashMap<Block, Block>,
    /// The reachable blocks, in reverse post-order.
    pub order: Vec<Block>,
    /// The ends of new blocks, with old values.
    ends: Vec<(Block, End)>,
}

impl<'a> Rebuild<'a> {
    /// Begins with blocks.
    pub fn new(old: &'a Function) -> Rebuild<'a> {
        let dominators = old.dominators();
        let mut order: Vec<Block> = dominators.order().collect();
        let mut builder = Builder::default();
        // Blocks keep their order, as those of loops follow each other so.
        order.sort_unstable();
        let blocks = order.iter().map(|block| (*block, builder.function.add_block())).collect();
        let order = dominators.order().collect();
        let (values, same) = Default::default();
        Rebuild { old, builder, values, same, blocks, order, ends: Vec::new() }
    }

    /// Goes on in a block.
    pub fn begin(&mut self, block: Block) {
        self.builder.begin(self.blocks[&block]);
    }

    /// The new block of an old one.
    pub fn block(&self, block: Block) -> Block {
        self.blocks[&block]
    }

    /// The same parameter.
    pub fn add_parameter(&mut self, block: Block, parameter: Value) {
        let new = self.builder.function.add_parameter(self.blocks[&block], self.old.ty(parameter));
        self.values.insert(parameter, new);
    }

    /// The new value of an old one, which is known by now.
    pub fn value(&mut self, value: Value) -> Value {
        let value = resolved(&self.same, value);
        match self.old.as_constant(value) {
            Some(constant) => self.builder.function.constant(self.old.ty(value), constant.clone()),
            None => self.values[&value],
        }
    }

    /// The same instruction.
    pub fn copy(&mut self, instruction: Instruction) {
        let data = self.old.instruction(instruction);
        let operands: Vec<Value> = data.operands.iter().map(|value| self.value(*value)).collect();
        self.builder.origin = data.origin;
        if data.op.is_pure() {
            let new = self.builder.pure(data.op.clone(), &operands, self.old.ty(data.results[0]));
            self.values.insert(data.results[0], new);
            return;
        }
        let types: Vec<_> = data.results.iter().map(|value| self.old.ty(*value)).collect();
        let found = self.builder.effect(data.op.clone(), &operands, &types);
        self.values.extend(data.results.iter().copied().zip(found));
    }

    /// An old value that is pure, computed here.
    fn again(&mut self, value: Value) -> Value {
        let Some((op, operands)) = self.old.source(value) else { return self.value(value) };
        let operands: Vec<Value> = operands.iter().map(|operand| self.again(*operand)).collect();
        self.builder.pure(op.clone(), &operands, self.old.ty(value))
    }

    /// The same access to memory with something changed, and with other operands that say where it is (`Addressing`). If all lanes read one value, that is read once.
    pub fn copy_access(
        &mut self,
        instruction: Instruction,
        told: &[Value],
        is_one: bool,
        change: impl FnOnce(&mut Access),
    ) {
        let data = self.old.instruction(instruction);
        let mut operands: Vec<Value> = data.operands.iter().map(|value| self.value(*value)).collect();
        let mut op = data.op.clone();
        if let Op::Load(access) | Op::Store(access) = &mut op {
            operands.splice(2..access.first_datum(), told.iter().copied());
            change(access);
        }
        let types: Vec<_> = data.results.iter().map(|value| self.old.ty(*value)).collect();
        let read = types.iter().map(|ty| if is_one { ty.with_lanes(1) } else { *ty }).collect::<Vec<_>>();
        self.builder.origin = data.origin;
        let found = self.builder.effect(op, &operands, &read);
        for ((result, value), ty) in data.results.iter().zip(found).zip(types) {
            let all = if is_one { self.builder.splat(value, ty.lanes.into()) } else { value };
            self.values.insert(*result, all);
        }
    }

    /// Notes how a block ends, which some values that come are not known for yet.
    pub fn end(&mut self, block: Block) {
        let end = self.old.block(block).end.clone();
        let end = match end {
            End::Branch { condition, yes, no } => {
                let condition = self.value(condition);
                match self.builder.function.as_constant(condition).map(|constant| constant.lane(0) != 0) {
                    Some(taken) => End::Jump(if taken { yes } else { no }),
                    None => End::Branch { condition, yes, no },
                }
            }
            end => end,
        };
        self.ends.push((self.builder.current(), end));
    }

    /// Makes all blocks: the parameters that are kept, and what is made of each instruction.
    pub fn map(
        mut self,
        is_kept: impl Fn(&Value) -> bool,
        mut each: impl FnMut(&mut Self, Instruction),
    ) -> Function {
        let old = self.old;
        for block in self.order.clone() {
            self.begin(block);
            let parameters = old.block(block).parameters.iter().filter(|own| is_kept(own));
            parameters.for_each(|own| self.add_parameter(block, *own));
            old.block(block).instructions.iter().for_each(|instruction| each(&mut self, *instruction));
            self.end(block);
        }
        self.finish_kept(is_kept)
    }

    /// Gives blocks their ends.
    pub fn finish(self) -> Function {
        self.finish_kept(|_| true)
    }

    /// Gives blocks their ends, with the arguments of those parameters that are kept.
    pub fn finish_kept(self, is_kept: impl Fn(&Value) -> bool) -> Function {
        let old = self.old;
        self.finish_with(|rebuild, target| {
            let parameters = &old.block(target.block).parameters;
            let kept = parameters.iter().zip(&target.arguments).filter(|(own, _)| is_kept(own));
            kept.map(|(_, argument)| rebuild.value(*argument)).collect()
        })
    }

    /// Gives blocks their ends, with the new arguments of targets.
    pub fn finish_with(mut self, mut arguments: impl FnMut(&mut Self, &Target) -> Vec<Value>) -> Function {
        for (block, mut end) in std::mem::take(&mut self.ends) {
            for target in end.targets_mut() {
                let arguments = arguments(&mut self, target);
                *target = Target { block: self.blocks[&target.block], arguments };
            }
            self.builder.function.block_mut(block).end = end;
        }
        self.builder.function.resumed = self.old.resumed.iter().map(|block| self.blocks[block]).collect();
        self.builder.function
    }

    /// The first lane of an old constant.
    pub fn constant_lane(&mut self, value: Value) -> Value {
        let lane = self.old.as_constant(value).map_or(0, |constant| constant.lane(0));
        self.builder.function.constant(self.old.ty(value).with_lanes(1), Constant::All(lane))
    }
}

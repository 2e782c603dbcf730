//! SSA form while blocks are still being lifted (Braun et al., "Simple and Efficient Construction of Static Single Assignment Form").

use rustc_hash::{FxHashMap, FxHashSet};

use crate::middle::builder::Builder;
use crate::middle::function::{Block, End, Value};
use crate::middle::types::Type;

/// Something that has a value at each place of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// Bytes of the general registers ([`super::registers`]).
    Register(u32),
    /// Bits of the flags.
    Flag(u32),
    /// The enabled channels.
    Active,
    /// The channels that wait at a target.
    Waiting(u32),
    /// The whole values in the accumulators.
    Accumulator,
    /// The registers that have been written, of those that are noted.
    Written,
    /// How many more iterations the thread executes before it yields.
    Rounds,
}

/// The values of variables at the ends of blocks.
#[derive(Default)]
pub struct Construction {
    values: FxHashMap<(Block, Variable), Value>,
    /// Where control comes from, of each block, as far as blocks have ends.
    predecessors: FxHashMap<Block, Vec<Block>>,
    /// Blocks to which no more predecessors are added.
    sealed: FxHashSet<Block>,
    /// Parameters whose values from other blocks are not known yet.
    open: FxHashMap<Block, Vec<(Variable, Value)>>,
    /// The value of each parameter, by predecessor.
    incoming: FxHashMap<Value, Vec<Value>>,
    /// Parameters that are another value.
    same: FxHashMap<Value, Value>,
}

impl Construction {
    /// What a variable becomes in a block.
    pub fn write(&mut self, block: Block, variable: Variable, value: Value) {
        self.values.insert((block, variable), value);
    }

    /// What a variable is at the end of what a block has so far.
    pub fn read(&mut self, builder: &mut Builder, block: Block, variable: Variable, ty: Type) -> Value {
        if let Some(value) = self.values.get(&(block, variable)) {
            return self.resolved(*value);
        }
        let value = match (self.sealed.contains(&block), self.predecessors.get(&block).map(|all| &all[..])) {
            (true, Some([only])) if !builder.function.resumed.contains(&block) => {
                let only = *only;
                self.read(builder, only, variable, ty)
            }
            (is_sealed, _) => {
                let parameter = builder.function.add_parameter(block, ty);
                self.values.insert((block, variable), parameter);
                if is_sealed {
                    self.fill(builder, block, variable, parameter)
                } else {
                    self.open.entry(block).or_default().push((variable, parameter));
                    parameter
                }
            }
        };
        self.values.insert((block, variable), value);
        value
    }

    /// Finds the arguments of a parameter; the only one, if there is only one.
    fn fill(&mut self, builder: &mut Builder, block: Block, variable: Variable, parameter: Value) -> Value {
        let ty = builder.ty(parameter);
        let before = self.predecessors.get(&block).cloned().unwrap_or_default();
        let values: Vec<Value> = before.iter().map(|from| self.read(builder, *from, variable, ty)).collect();
        self.incoming.insert(parameter, values);
        self.simplified(builder, block, parameter)
    }

    /// The value that a parameter always is, or the parameter.
    fn simplified(&mut self, builder: &Builder, block: Block, parameter: Value) -> Value {
        let values: Vec<Value> =
            self.incoming[&parameter].iter().map(|value| self.resolved(*value)).collect();
        let mut others = values.iter().filter(|value| **value != parameter);
        let Some(first) = others.next() else { return parameter };
        let is_constant = builder.function.as_constant(*first).is_some();
        if others.any(|other| other != first) || builder.function.resumed.contains(&block) && !is_constant {
            return parameter;
        }
        let first = *first;
        self.same.insert(parameter, first);
        first
    }

    /// What a value is by now.
    pub fn resolved(&self, mut value: Value) -> Value {
        while let Some(other) = self.same.get(&value) {
            value = *other;
        }
        value
    }

    /// Notes where a block goes, which has its end now.
    pub fn note_end(&mut self, builder: &Builder, block: Block) {
        for target in builder.function.block(block).end.targets() {
            self.predecessors.entry(target.block).or_default().push(block);
        }
    }

    /// All predecessors of a block are known.
    pub fn seal(&mut self, builder: &mut Builder, block: Block) {
        self.sealed.insert(block);
        for (variable, parameter) in self.open.remove(&block).unwrap_or_default() {
            self.fill(builder, block, variable, parameter);
        }
    }

    /// All predecessors of all blocks are known.
    pub fn seal_all(&mut self, builder: &mut Builder) {
        for block in builder.function.block_numbers() {
            if !self.sealed.contains(&block) {
                self.seal(builder, block);
            }
        }
    }

    /// Gives all targets their arguments, and puts values in the places of parameters that are always those.
    pub fn finish(mut self, builder: &mut Builder) {
        // A parameter may have become another value's since it was looked at.
        let parameters: Vec<(Block, Value)> = builder
            .function
            .block_numbers()
            .flat_map(|block| {
                builder
                    .function
                    .block(block)
                    .parameters
                    .iter()
                    .map(move |value| (block, *value))
                    .collect::<Vec<_>>()
            })
            .collect();
        let mut changed = true;
        while changed {
            changed = false;
            for (block, parameter) in &parameters {
                if !self.same.contains_key(parameter) && self.incoming.contains_key(parameter) {
                    changed |= self.simplified(builder, *block, *parameter) != *parameter;
                }
            }
        }
        for block in builder.function.block_numbers() {
            let parameters = builder.function.block(block).parameters.clone();
            let kept: Vec<Value> =
                parameters.into_iter().filter(|value| !self.same.contains_key(value)).collect();
            for (position, from) in
                self.predecessors.get(&block).cloned().unwrap_or_default().into_iter().enumerate()
            {
                let arguments: Vec<Value> =
                    kept.iter().map(|parameter| self.resolved(self.incoming[parameter][position])).collect();
                let targets = builder.function.block_mut(from).end.targets_mut();
                targets
                    .filter(|target| target.block == block)
                    .for_each(|target| target.arguments.clone_from(&arguments));
            }
            builder.function.block_mut(block).parameters = kept;
        }
        let same = &self;
        for data in builder.function.instructions.values_mut() {
            data.operands.iter_mut().for_each(|value| *value = same.resolved(*value));
        }
        for block in builder.function.blocks.values_mut() {
            if let End::Branch { condition, .. } = &mut block.end {
                *condition = same.resolved(*condition);
            }
        }
    }
}

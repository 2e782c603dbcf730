//! Functions in SSA form: blocks with parameters, instructions with results.

use gencl_ir_support::{Dominators, FlowGraph, PrimaryMap, entity_impl};
use rustc_hash::FxHashMap;

use super::op::Op;
use super::types::Type;

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub u32);
entity_impl!(Value);

/// A block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block(pub u32);
entity_impl!(Block);

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instruction(pub u32);
entity_impl!(Instruction);

/// The lanes of a constant, as bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// The same in all lanes.
    All(u128),
    /// Not all are the same.
    Each(Box<[u128]>),
}

impl Constant {
    /// Of a lane.
    pub fn lane(&self, lane: usize) -> u128 {
        match self {
            Constant::All(bits) => *bits,
            Constant::Each(lanes) => lanes[lane],
        }
    }

    /// All lanes.
    pub fn lanes(&self, count: usize) -> Vec<u128> {
        (0..count).map(|lane| self.lane(lane)).collect()
    }
}

/// Where a value is from.
#[derive(Clone, Debug)]
pub enum Definition {
    /// A constant: the same in all blocks.
    Constant(Constant),
    /// A parameter of a block.
    Parameter(Block),
    /// A result of an instruction, of several that of a number.
    Result(Instruction, u8),
}

/// What is known of a value.
#[derive(Clone, Debug)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// Where it is from.
    pub definition: Definition,
}

/// An operation with its operands and results.
#[derive(Clone, Debug)]
pub struct InstructionData {
    /// Which.
    pub op: Op,
    /// What it is applied to.
    pub operands: Vec<Value>,
    /// What it gives.
    pub results: Vec<Value>,
    /// The index of the Gen instruction that it is from.
    pub origin: u32,
}

/// Where control goes, with the values that the block's parameters get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The block.
    pub block: Block,
    /// A value for each of its parameters.
    pub arguments: Vec<Value>,
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// A jump to a block.
    Jump(Target),
    /// By a mask of one lane.
    Branch {
        /// The mask.
        condition: Value,
        /// Where it holds.
        yes: Target,
        /// Where it does not.
        no: Target,
    },
    /// The thread ends.
    Return,
    /// The thread has a fault.
    Fault,
    /// The thread is suspended, and resumed in a block whose live-ins are its parameters.
    Suspend {
        /// Where it is resumed.
        resume: Target,
        /// It waits for nothing, but yields.
        yields: bool,
    },
}

impl End {
    /// Where control may go.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        let (a, b) = match self {
            End::Jump(target) | End::Suspend { resume: target, .. } => (Some(target), None),
            End::Branch { yes, no, .. } => (Some(yes), Some(no)),
            End::Return | End::Fault => (None, None),
        };
        a.into_iter().chain(b)
    }

    /// The values that it uses.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        let condition = match self {
            End::Branch { condition, .. } => Some(condition),
            _ => None,
        };
        self.targets().flat_map(|target| &target.arguments).chain(condition)
    }

    /// The same, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        let (condition, targets) = match self {
            End::Jump(target) | End::Suspend { resume: target, .. } => (None, [Some(target), None]),
            End::Branch { condition, yes, no } => (Some(condition), [Some(yes), Some(no)]),
            End::Return | End::Fault => (None, [None, None]),
        };
        targets.into_iter().flatten().flat_map(|target| &mut target.arguments).chain(condition)
    }

    /// Where control may go, to be changed.
    pub fn targets_mut(&mut self) -> impl Iterator<Item = &mut Target> {
        let (a, b) = match self {
            End::Jump(target) | End::Suspend { resume: target, .. } => (Some(target), None),
            End::Branch { yes, no, .. } => (Some(yes), Some(no)),
            End::Return | End::Fault => (None, None),
        };
        a.into_iter().chain(b)
    }
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct BlockData {
    /// What comes in.
    pub parameters: Vec<Value>,
    /// In their order.
    pub instructions: Vec<Instruction>,
    /// How it ends.
    pub end: End,
}

/// A function: what one thread executes. It begins in block 0.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// All values.
    pub values: PrimaryMap<Value, ValueData>,
    /// All instructions, those among them that no block has any more.
    pub instructions: PrimaryMap<Instruction, InstructionData>,
    /// All blocks.
    pub blocks: PrimaryMap<Block, BlockData>,
    /// The blocks where suspended threads are resumed.
    pub resumed: Vec<Block>,
    constants: FxHashMap<(Type, Constant), Value>,
}

impl Function {
    /// A new block, which ends the thread with a fault until it has another end.
    pub fn add_block(&mut self) -> Block {
        self.blocks.push(BlockData { parameters: Vec::new(), instructions: Vec::new(), end: End::Fault })
    }

    /// A new parameter of a block.
    pub fn add_parameter(&mut self, block: Block, ty: Type) -> Value {
        let value = self.add_value(ty, Definition::Parameter(block));
        self.block_mut(block).parameters.push(value);
        value
    }

    /// A new instruction at the end of a block; its results.
    pub fn add_instruction(
        &mut self,
        block: Block,
        op: Op,
        operands: &[Value],
        results: &[Type],
        origin: u32,
    ) -> Vec<Value> {
        let instruction = self.instructions.next_key();
        let types = results.iter().enumerate();
        let results: Vec<Value> =
            types.map(|(n, ty)| self.add_value(*ty, Definition::Result(instruction, n as u8))).collect();
        let operands = operands.to_vec();
        self.instructions.push(InstructionData { op, operands, results: results.clone(), origin });
        self.block_mut(block).instructions.push(instruction);
        results
    }

    fn add_value(&mut self, ty: Type, definition: Definition) -> Value {
        self.values.push(ValueData { ty, definition })
    }

    /// A constant.
    pub fn constant(&mut self, ty: Type, constant: Constant) -> Value {
        let bits = ty.scalar.bits();
        let cut = |value: u128| if bits == 128 { value } else { value & ((1 << bits) - 1) };
        let constant = match constant {
            Constant::All(value) => Constant::All(cut(value)),
            Constant::Each(lanes) if lanes.iter().all(|lane| cut(*lane) == cut(lanes[0])) => {
                Constant::All(cut(lanes[0]))
            }
            Constant::Each(lanes) => Constant::Each(lanes.iter().map(|lane| cut(*lane)).collect()),
        };
        let key = (ty, constant);
        if let Some(value) = self.constants.get(&key) {
            return *value;
        }
        let value = self.add_value(ty, Definition::Constant(key.1.clone()));
        self.constants.insert(key, value);
        value
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value].ty
    }

    /// What a value is, if it is a constant.
    pub fn as_constant(&self, value: Value) -> Option<&Constant> {
        match &self.values[value].definition {
            Definition::Constant(constant) => Some(constant),
            _ => None,
        }
    }

    /// The operation and operands of which a value is the only result.
    pub fn source(&self, value: Value) -> Option<(&Op, &[Value])> {
        match &self.values[value].definition {
            Definition::Result(instruction, 0) => {
                let data = self.instruction(*instruction);
                (data.results.len() == 1).then_some((&data.op, &data.operands[..]))
            }
            _ => None,
        }
    }

    /// The instruction that computes a value.
    pub fn instruction_of(&self, value: Value) -> Option<Instruction> {
        match self.values[value].definition {
            Definition::Result(instruction, _) => Some(instruction),
            _ => None,
        }
    }

    /// Gives an instruction another result.
    pub fn add_result(&mut self, instruction: Instruction, ty: Type) -> Value {
        let number = self.instruction(instruction).results.len() as u8;
        let value = self.add_value(ty, Definition::Result(instruction, number));
        self.instructions[instruction].results.push(value);
        value
    }

    /// A block.
    pub fn block(&self, block: Block) -> &BlockData {
        &self.blocks[block]
    }

    /// A block, to be changed.
    pub fn block_mut(&mut self, block: Block) -> &mut BlockData {
        &mut self.blocks[block]
    }

    /// An instruction.
    pub fn instruction(&self, instruction: Instruction) -> &InstructionData {
        &self.instructions[instruction]
    }

    /// All blocks by number.
    pub fn block_numbers(&self) -> impl Iterator<Item = Block> + use<> {
        self.blocks.keys()
    }

    /// Whether a block does nothing but fault.
    pub fn is_fault(&self, block: Block) -> bool {
        self.block(block).end == End::Fault && self.block(block).instructions.is_empty()
    }

    /// The control-flow graph. Its entries are the first block and those where threads are resumed. Suspension has no successor.
    pub fn graph(&self) -> FlowGraph<Block> {
        // Last first: the order of the blocks in LLVM's text, which code layout follows, has been tuned with that.
        let entries = self.resumed.iter().rev().copied().chain([Block(0)]);
        let blocks = self.block_numbers().map(|block| {
            let end = &self.block(block).end;
            let is_left = !matches!(end, End::Suspend { .. });
            let targets: Vec<Block> = end.targets().map(|target| target.block).collect();
            (block, targets.into_iter().rev().filter(move |_| is_left))
        });
        FlowGraph::new(entries, blocks)
    }

    /// The dominator tree.
    pub fn dominators(&self) -> Dominators<Block> {
        Dominators::new(&self.graph())
    }
}

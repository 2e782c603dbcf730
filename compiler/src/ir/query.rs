//! Structural queries: sizes of types, operands, terminators and successors.

use super::signature::Class;
use super::{
    Block, BlockId, Family, FloatFormat, Function, Instruction, Location, Op, Reg, RegisterInfo, Space, Type,
    UnaryOp,
};
use smallvec::{SmallVec, smallvec};

impl Family {
    /// Bytes of one lane's value; 0 for a truth value, which is a flag bit.
    pub fn bytes(self) -> u32 {
        match self {
            Family::Bool => 0,
            Family::Byte => 1,
            Family::Word => 2,
            Family::Dword => 4,
            Family::Qword => 8,
        }
    }

    /// The type of its values as bits, without sign: what they are copied as.
    pub fn bits_type(self) -> Type {
        match self {
            Family::Bool => Type::Bool,
            Family::Byte => Type::U8,
            Family::Word => Type::U16,
            Family::Dword => Type::U32,
            Family::Qword => Type::U64,
        }
    }
}

impl Type {
    /// The family of registers that hold a value of this type.
    pub fn family(self) -> Family {
        match self {
            Type::Bool => Family::Bool,
            Type::S8 | Type::U8 => Family::Byte,
            Type::S16 | Type::U16 | Type::F16 => Family::Word,
            Type::S32 | Type::U32 | Type::F32 => Family::Dword,
            Type::S64 | Type::U64 | Type::F64 => Family::Qword,
        }
    }

    /// Width in bits; 1 for a truth value.
    pub fn bits(self) -> u32 {
        match self.family() {
            Family::Bool => 1,
            family => family.bytes() * 8,
        }
    }

    /// A float type?
    pub fn is_float(self) -> bool {
        self.float_format().is_some()
    }

    /// The format of a float type's values.
    pub fn float_format(self) -> Option<FloatFormat> {
        match self {
            Type::F16 => Some(FloatFormat::Half),
            Type::F32 => Some(FloatFormat::Single),
            Type::F64 => Some(FloatFormat::Double),
            Type::Bool
            | Type::S8
            | Type::U8
            | Type::S16
            | Type::U16
            | Type::S32
            | Type::U32
            | Type::S64
            | Type::U64 => None,
        }
    }

    /// A signed integer type?
    pub fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }

    /// An integer type, signed or not?
    pub fn is_integer(self) -> bool {
        !self.is_float() && self != Type::Bool
    }

    /// The bits that a value of this type can have, as a mask of the low bits.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }
}

impl Space {
    /// May an address of this space and one of the other lead to the same memory, of which a kernel writes
    /// something?
    pub fn overlaps(self, other: Space) -> bool {
        match self {
            Space::Global | Space::Constant | Space::Local | Space::Private => self == other,
        }
    }
}

impl Op {
    /// What kind of operation it is.
    pub fn class(&self) -> Class {
        self.signature().class
    }

    /// Whether it ends a block.
    pub fn is_terminator(&self) -> bool {
        self.class() == Class::Terminator
    }

    /// Whether it does anything besides writing its destinations. Such an instruction must not be removed,
    /// repeated or moved over another of the kind.
    pub fn has_effect(&self) -> bool {
        matches!(self.class(), Class::Write | Class::Order | Class::Terminator)
    }

    /// Whether it reads or writes memory. Only lanes that are active may do so.
    pub fn touches_memory(&self) -> bool {
        matches!(self.class(), Class::Read | Class::Write)
    }

    /// Whether its result is a function of its sources alone: no memory, no launch.
    pub fn is_pure(&self) -> bool {
        self.class() == Class::Pure
    }

    /// The blocks that a terminator names: of a branch the true side first, of a vote the jump first. The
    /// same block may stand there twice. Empty for all other operations.
    pub fn targets(&self) -> SmallVec<[BlockId; 3]> {
        // A copy, so that one function knows where they stand.
        let mut op = *self;
        op.targets_mut().into_iter().map(|target| *target).collect()
    }

    /// The same, to be changed.
    pub fn targets_mut(&mut self) -> SmallVec<[&mut BlockId; 3]> {
        match self {
            Op::Jump(target) => smallvec![target],
            Op::Branch { then, otherwise } => smallvec![then, otherwise],
            Op::Vote { target, next, .. } => smallvec![target, next],
            Op::Leave { target, next, empty, .. } => smallvec![target, next, empty],
            Op::Join { next, empty, .. } => smallvec![next, empty],
            Op::Immediate { .. }
            | Op::Input(_)
            | Op::Undefined
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Ternary(..)
            | Op::Compare(..)
            | Op::Select(_)
            | Op::Convert { .. }
            | Op::Pair
            | Op::Half { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Atomic { .. }
            | Op::Image(_)
            | Op::CrossLane(_)
            | Op::Barrier { .. }
            | Op::BarrierArrive { .. }
            | Op::BarrierWait
            | Op::Clock
            | Op::RaceCheck { .. }
            | Op::SubgroupBarrier { .. }
            | Op::Fence { .. }
            | Op::Return => SmallVec::new(),
        }
    }

    /// Where control of the thread goes after a terminator. Lanes that leave forward wait where they go, and
    /// the thread comes there in its own time.
    pub fn successors(&self) -> SmallVec<[BlockId; 2]> {
        if let Op::Leave { by, target, next, empty } = *self {
            return if by.is_backward() { smallvec![target, next] } else { smallvec![next, empty] };
        }
        self.targets().into_iter().collect()
    }
}

impl Instruction {
    /// An instruction without predicate.
    pub fn new(op: Op, dsts: impl IntoIterator<Item = Reg>, srcs: impl IntoIterator<Item = Reg>) -> Self {
        Instruction {
            op,
            predicate: None,
            dsts: dsts.into_iter().collect(),
            srcs: srcs.into_iter().collect(),
            location: Location::NONE,
        }
    }

    /// The same instruction at a location in the source.
    #[must_use]
    pub fn at(self, location: Location) -> Self {
        Instruction { location, ..self }
    }

    /// All registers that it reads, the predicate's among them.
    pub fn reads(&self) -> impl Iterator<Item = Reg> + '_ {
        self.srcs.iter().copied().chain(self.predicate.iter().map(|p| p.reg))
    }

    /// The register written by an operation that has one result.
    ///
    /// # Panics
    /// When there is none. This and the following expect what [`Op::signature`] says, which the validator
    /// checks.
    pub fn result(&self) -> Reg {
        self.dsts[0]
    }

    /// The sources of an operation with `N` of them.
    ///
    /// # Panics
    /// When there are fewer.
    pub fn sources<const N: usize>(&self) -> [Reg; N] {
        std::array::from_fn(|index| self.srcs[index])
    }

    /// The Bool by which a branch, a vote or a selection decides.
    ///
    /// # Panics
    /// When there is no source.
    pub fn condition(&self) -> Reg {
        self.srcs[0]
    }

    /// The address of an access to memory.
    ///
    /// # Panics
    /// When there is no source.
    pub fn address(&self) -> Reg {
        self.srcs[0]
    }

    /// What an access to memory takes besides its address: the elements stored, the operands of an atomic
    /// operation.
    ///
    /// # Panics
    /// When there is no source.
    pub fn values(&self) -> &[Reg] {
        &self.srcs[1..]
    }

    /// A plain copy: `Some((destination, source))`.
    pub fn as_move(&self) -> Option<(Reg, Reg)> {
        match self.op {
            Op::Unary(UnaryOp::Mov, _) if self.predicate.is_none() => {
                let [src] = self.sources();
                Some((self.result(), src))
            }
            _ => None,
        }
    }
}

impl Block {
    /// The last instruction. None only while the block is being built.
    pub fn terminator(&self) -> Option<&Instruction> {
        self.instructions.last().filter(|i| i.op.is_terminator())
    }

    /// Everything but the terminator.
    pub fn body(&self) -> &[Instruction] {
        match self.terminator() {
            Some(_) => &self.instructions[..self.instructions.len() - 1],
            None => &self.instructions,
        }
    }

    /// Where control goes from here; see [`Op::successors`].
    pub fn successors(&self) -> SmallVec<[BlockId; 2]> {
        self.terminator().map(|t| t.op.successors()).unwrap_or_default()
    }
}

impl Function {
    /// The first block.
    ///
    /// # Panics
    /// When the layout is empty, which the validator refuses.
    pub fn entry(&self) -> BlockId {
        self.layout[0]
    }

    /// A block by its id.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.0 as usize]
    }

    /// A block by its id, to be changed.
    pub fn block_mut(&mut self, id: BlockId) -> &mut Block {
        &mut self.blocks[id.0 as usize]
    }

    /// What is known of a register.
    pub fn register(&self, reg: Reg) -> RegisterInfo {
        self.registers[reg.0 as usize]
    }

    /// A new register, not uniform.
    pub fn new_register(&mut self, family: Family) -> Reg {
        self.registers.push(RegisterInfo { family, uniform: false });
        Reg(self.registers.len() as u32 - 1)
    }

    /// Whether an unpredicated write in `block` kills the register's previous value for all lanes.
    pub fn writes_whole(&self, block: &Block, instruction: &Instruction, dst: Reg) -> bool {
        instruction.predicate.is_none()
            && (!block.masked || instruction.op == Op::Undefined || self.register(dst).uniform)
    }

    /// A new empty block, not yet in the layout.
    pub fn new_block(&mut self) -> BlockId {
        self.blocks.push(Block::default());
        BlockId(self.blocks.len() as u32 - 1)
    }

    /// The blocks in layout order.
    pub fn blocks_in_layout(&self) -> impl Iterator<Item = (BlockId, &Block)> {
        self.layout.iter().map(|&id| (id, self.block(id)))
    }

    /// The instructions of all blocks in layout order.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.blocks_in_layout().flat_map(|(_, block)| &block.instructions)
    }

    /// Empties the blocks that are not in the layout, so that nothing of them remains.
    pub fn clear_unused_blocks(&mut self) {
        let mut used = fixedbitset::FixedBitSet::with_capacity(self.blocks.len());
        used.extend(self.layout.iter().map(|b| b.0 as usize));
        for (index, block) in self.blocks.iter_mut().enumerate() {
            if !used.contains(index) {
                block.instructions = Vec::new();
            }
        }
    }
}

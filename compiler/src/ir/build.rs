//! Building functions instruction by instruction.

use super::{
    AtomicOp, BinaryOp, BlockId, Condition, Family, Form, Function, Input, Instruction, Op, Predicate, Reg,
    Rounding, Space, TernaryOp, Type, UnaryOp, Vote,
};

impl Function {
    /// A function in per-lane form with one empty block, the entry.
    pub fn new(name: &str) -> Function {
        let mut function = Function {
            name: name.to_owned(),
            form: Form::PerLane,
            registers: Vec::new(),
            blocks: Vec::new(),
            layout: Vec::new(),
            private_size: 0,
            local_size: 0,
            kernel: gencl_program::Kernel { name: name.to_owned(), ..Default::default() },
        };
        let entry = function.new_block();
        function.layout.push(entry);
        function
    }
}

/// Appends instructions to one block of a function. Each method with a result creates a register for it; the
/// `_to` forms write an existing one.
pub struct Builder<'f> {
    /// The function.
    pub function: &'f mut Function,
    /// Where instructions go.
    pub block: BlockId,
    /// Goes to every instruction appended but [`Builder::push`]'s.
    pub predicate: Option<Predicate>,
}

impl<'f> Builder<'f> {
    /// Builds at the end of `block`.
    pub fn new(function: &'f mut Function, block: BlockId) -> Self {
        Builder { function, block, predicate: None }
    }

    /// A new block at the end of the layout; the current block stays the same.
    pub fn new_block(&mut self) -> BlockId {
        let block = self.function.new_block();
        self.function.layout.push(block);
        block
    }

    /// Changes the current block.
    pub fn switch_to(&mut self, block: BlockId) {
        self.block = block;
    }

    /// Appends an instruction as it is.
    pub fn push(&mut self, instruction: Instruction) {
        self.function.block_mut(self.block).instructions.push(instruction);
    }

    /// Appends an instruction with any operands.
    pub fn emit(&mut self, op: Op, dsts: &[Reg], srcs: &[Reg]) {
        let mut instruction = Instruction::new(op, dsts.iter().copied(), srcs.iter().copied());
        instruction.predicate = self.predicate;
        self.push(instruction);
    }

    fn value(&mut self, family: Family, op: Op, srcs: &[Reg]) -> Reg {
        let dst = self.function.new_register(family);
        self.emit(op, &[dst], srcs);
        dst
    }

    /// A constant; bits above the type's width are dropped.
    pub fn immediate(&mut self, ty: Type, bits: u64) -> Reg {
        self.value(ty.family(), Op::Immediate { ty, bits: bits & ty.mask() }, &[])
    }

    /// An F32 constant.
    pub fn immediate_f32(&mut self, value: f32) -> Reg {
        self.immediate(Type::F32, value.to_bits().into())
    }

    /// A value of the launch.
    pub fn input(&mut self, input: Input, family: Family) -> Reg {
        self.value(family, Op::Input(input), &[])
    }

    /// dst = op src
    pub fn unary(&mut self, op: UnaryOp, ty: Type, src: Reg) -> Reg {
        self.value(ty.family(), Op::Unary(op, ty), &[src])
    }

    /// dst = src, to a register that exists.
    pub fn mov_to(&mut self, ty: Type, dst: Reg, src: Reg) {
        self.emit(Op::Unary(UnaryOp::Mov, ty), &[dst], &[src]);
    }

    /// dst = a op b
    pub fn binary(&mut self, op: BinaryOp, ty: Type, a: Reg, b: Reg) -> Reg {
        self.value(ty.family(), Op::Binary(op, ty), &[a, b])
    }

    /// dst = op(a, b, c)
    pub fn ternary(&mut self, op: TernaryOp, ty: Type, a: Reg, b: Reg, c: Reg) -> Reg {
        self.value(ty.family(), Op::Ternary(op, ty), &[a, b, c])
    }

    /// dst (Bool) = a ? b
    pub fn compare(&mut self, condition: Condition, ty: Type, a: Reg, b: Reg) -> Reg {
        self.value(Family::Bool, Op::Compare(condition, ty), &[a, b])
    }

    /// dst = condition ? a : b
    pub fn select(&mut self, ty: Type, condition: Reg, a: Reg, b: Reg) -> Reg {
        self.value(ty.family(), Op::Select(ty), &[condition, a, b])
    }

    /// dst = src converted, default rounding, no saturation
    pub fn convert(&mut self, to: Type, from: Type, src: Reg) -> Reg {
        self.value(
            to.family(),
            Op::Convert { to, from, rounding: Rounding::Default, saturate: false },
            &[src],
        )
    }

    /// One element.
    pub fn load(&mut self, space: Space, ty: Type, address: Reg) -> Reg {
        self.value(ty.family(), Op::Load { space, ty, align: ty.family().bytes() }, &[address])
    }

    /// One element.
    pub fn store(&mut self, space: Space, ty: Type, address: Reg, value: Reg) {
        self.emit(Op::Store { space, ty, align: ty.family().bytes() }, &[], &[address, value]);
    }

    /// An atomic operation that returns the previous value.
    pub fn atomic(&mut self, op: AtomicOp, space: Space, ty: Type, srcs: &[Reg]) -> Reg {
        self.value(ty.family(), Op::Atomic { op, space, ty }, srcs)
    }

    /// Terminator.
    pub fn jump(&mut self, target: BlockId) {
        self.push(Instruction::new(Op::Jump(target), [], []));
    }

    /// Terminator of the per-lane form.
    pub fn branch(&mut self, condition: Reg, then: BlockId, otherwise: BlockId) {
        self.push(Instruction::new(Op::Branch { then, otherwise }, [], [condition]));
    }

    /// Terminator of the linear form.
    pub fn vote(&mut self, vote: Vote, condition: Reg, target: BlockId, next: BlockId) {
        self.push(Instruction::new(Op::Vote { vote, target, next }, [], [condition]));
    }

    /// Terminator.
    pub fn ret(&mut self) {
        self.push(Instruction::new(Op::Return, [], []));
    }
}

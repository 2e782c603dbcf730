//! Random kernels for tests: arbitrary control flow, reducible or not, that always ends.

use super::analysis::values::Values;
use super::{
    AtomicOp, BinaryOp, BlockId, Builder, Condition, Family, Function, Input, Instruction, Op, Reg, Space,
    Type, UnaryOp,
};
use gencl_ir_support::Dominators;
use gencl_program::PushSource;

/// Work-item variables, and as many truth values as [`BOOLS`].
const VARIABLES: usize = 7;
const BOOLS: usize = 3;
/// Elements of the input buffer.
pub const INPUT_ELEMENTS: u32 = 64;
/// Elements of the output that each work-item writes at most.
pub const OUTPUT_ELEMENTS: u32 = VARIABLES as u32 + 1;

/// Choices read from a list of numbers; when it ends, zeros.
struct Choices<'c>(std::slice::Iter<'c, u32>);

impl Choices<'_> {
    fn below(&mut self, count: usize) -> usize {
        self.0.next().copied().unwrap_or(0) as usize % count
    }
}

struct Generator<'f, 'c> {
    builder: Builder<'f>,
    choices: Choices<'c>,
    variables: Vec<Reg>,
    bools: Vec<Reg>,
    fuel: Reg,
    input: Reg,
    /// Where this work-item's output begins.
    output: Reg,
    counter: Reg,
}

/// A kernel of `blocks` blocks besides guards, made from the choices. Its arguments: input buffer, output
/// buffer with one more element at its beginning, which work-items add to.
///
/// A block has edges to any later block; an edge to an earlier one passes through a guard that consumes fuel,
/// of which each work-item has a limited amount. So every kernel ends, and forward edges into loops make
/// graphs irreducible.
pub fn random_kernel(blocks: usize, choices: &[u32]) -> Function {
    let mut function = Function::new("random");
    let entry = function.entry();
    let mut generator = Generator::begin(&mut function, entry, Choices(choices.iter()));
    let ids: Vec<BlockId> = (0..blocks).map(|_| generator.builder.new_block()).collect();
    let end = generator.builder.new_block();
    let first = generator.later(&ids, 0, end);
    generator.builder.jump(first);
    for (index, &id) in ids.iter().enumerate() {
        generator.builder.switch_to(id);
        for _ in 0..generator.choices.below(5) {
            generator.statement();
        }
        generator.terminator(&ids, index, end);
    }
    generator.builder.switch_to(end);
    generator.write_output();
    generator.builder.ret();
    generator.values();
    function
}

/// A kernel of `items` statements, ifs and loops nested in each other, with `break`, `continue`, `return` and
/// ways out of several loops at once. Arguments and end as those of [`random_kernel`].
pub fn random_structured_kernel(items: usize, choices: &[u32]) -> Function {
    let mut function = Function::new("random");
    let entry = function.entry();
    let mut generator = Generator::begin(&mut function, entry, Choices(choices.iter()));
    let mut items = items;
    while items > 0 {
        generator.items(&mut items, &mut Vec::new());
    }
    generator.write_output();
    generator.builder.ret();
    generator.values();
    function
}

/// The targets of lanes that leave a loop's body: the block after the loop, and its last block.
#[derive(Clone, Copy)]
struct Loop {
    after: BlockId,
    last: BlockId,
}

impl<'f, 'c> Generator<'f, 'c> {
    fn begin(function: &'f mut Function, entry: BlockId, choices: Choices<'c>) -> Self {
        let mut b = Builder::new(function, entry);
        let push = |b: &mut Builder, source, family| b.input(Input::Push(source), family);
        let input = push(&mut b, PushSource::Pointer { argument: 0 }, Family::Qword);
        let counter = push(&mut b, PushSource::Pointer { argument: 1 }, Family::Qword);
        let local = b.input(Input::LocalId(0), Family::Word);
        let local = b.convert(Type::U32, Type::U16, local);
        let group = b.input(Input::GroupId(0), Family::Dword);
        let size = push(&mut b, PushSource::EnqueuedLocalSize(0), Family::Dword);
        let base = b.binary(BinaryOp::Mul, Type::U32, group, size);
        let id = b.binary(BinaryOp::Add, Type::U32, base, local);
        let stride = b.immediate(Type::U32, u64::from(OUTPUT_ELEMENTS) * 4);
        let offset = b.binary(BinaryOp::Mul, Type::U32, id, stride);
        let offset = b.convert(Type::U64, Type::U32, offset);
        let output = b.binary(BinaryOp::Add, Type::U64, counter, offset);
        let four = b.immediate(Type::U64, 4);
        let output = b.binary(BinaryOp::Add, Type::U64, output, four);
        let variables = (0..VARIABLES)
            .map(|index| match index {
                0 => id,
                1 => b.unary(UnaryOp::Not, Type::U32, local),
                2 => b.unary(UnaryOp::Mov, Type::U32, group),
                _ => b.immediate(Type::U32, 0x9e37 * index as u64),
            })
            .collect();
        let one = b.immediate(Type::U32, 1);
        let bools = (0..BOOLS)
            .map(|index| {
                let bit = b.binary(BinaryOp::And, Type::U32, if index == 0 { group } else { local }, one);
                b.compare(Condition::Equal, Type::U32, bit, one)
            })
            .collect();
        let fuel = b.immediate(Type::S32, 6);
        Generator { builder: b, choices, variables, bools, fuel, input, output, counter }
    }

    fn variable(&mut self) -> Reg {
        self.variables[self.choices.below(VARIABLES)]
    }

    fn boolean(&mut self) -> Reg {
        self.bools[self.choices.below(BOOLS)]
    }

    /// A block after `index`.
    fn later(&mut self, ids: &[BlockId], index: usize, end: BlockId) -> BlockId {
        let rest = ids.len() - index;
        // Near ones more often.
        let step = self.choices.below(rest + 1).min(self.choices.below(rest + 1));
        ids.get(index + step).copied().unwrap_or(end)
    }

    fn statement(&mut self) {
        let dst = self.variable();
        let (a, b) = (self.variable(), self.variable());
        match self.choices.below(12) {
            0 => self.builder.emit(Op::Binary(BinaryOp::Add, Type::U32), &[dst], &[a, b]),
            1 => self.builder.emit(Op::Binary(BinaryOp::Xor, Type::U32), &[dst], &[a, b]),
            2 => self.builder.emit(Op::Binary(BinaryOp::Mul, Type::U32), &[dst], &[a, b]),
            3 => self.builder.mov_to(Type::U32, dst, a),
            4 => {
                let bits = self.choices.below(100) as u64;
                self.builder.emit(Op::Immediate { ty: Type::U32, bits }, &[dst], &[]);
            }
            5 => {
                let address = self.input_address(a);
                let space = if self.choices.below(2) == 0 { Space::Global } else { Space::Constant };
                self.builder.emit(Op::Load { space, ty: Type::U32, align: 4 }, &[dst], &[address]);
            }
            6 => {
                let flag = self.boolean();
                self.builder.emit(Op::Compare(Condition::Less, Type::U32), &[flag], &[a, b]);
            }
            7 => {
                let flag = self.boolean();
                self.builder.emit(Op::Select(Type::U32), &[dst], &[flag, a, b]);
            }
            8 => {
                let op = Op::Atomic { op: AtomicOp::Add, space: Space::Global, ty: Type::U32 };
                let counter = self.counter;
                self.builder.emit(op, &[], &[counter, a]);
            }
            9 if dst != b => {
                self.builder.emit(Op::Undefined, &[dst], &[]);
                self.builder.mov_to(Type::U32, dst, b);
            }
            10 => {
                let slot = self.builder.immediate(Type::U32, 4 * (a.0 as u64 % 4));
                self.builder.store(Space::Private, Type::U32, slot, b);
                let other = self.builder.immediate(Type::U32, 0);
                let load = Op::Load { space: Space::Private, ty: Type::U32, align: 4 };
                self.builder.emit(load, &[dst], &[other]);
            }
            _ => {
                let address = self.output;
                self.builder.store(Space::Global, Type::U32, address, a);
            }
        }
    }

    fn input_address(&mut self, index: Reg) -> Reg {
        let b = &mut self.builder;
        let mask = b.immediate(Type::U32, u64::from(INPUT_ELEMENTS - 1));
        let index = b.binary(BinaryOp::And, Type::U32, index, mask);
        let two = b.immediate(Type::U32, 2);
        let offset = b.binary(BinaryOp::Shl, Type::U32, index, two);
        let offset = b.convert(Type::U64, Type::U32, offset);
        b.binary(BinaryOp::Add, Type::U64, self.input, offset)
    }

    fn condition(&mut self) -> Reg {
        match self.choices.below(4) {
            0 => self.boolean(),
            kind => {
                let a = self.variable();
                let mask = self.builder.immediate(Type::U32, [1, 3, 7][kind - 1]);
                let low = self.builder.binary(BinaryOp::And, Type::U32, a, mask);
                let limit = self.builder.immediate(Type::U32, kind as u64 - 1);
                self.builder.compare(Condition::Greater, Type::U32, low, limit)
            }
        }
    }

    fn terminator(&mut self, ids: &[BlockId], index: usize, end: BlockId) {
        let onward = self.later(ids, index + 1, end);
        match self.choices.below(8) {
            0 => self.builder.jump(onward),
            1 => {
                self.write_output();
                self.builder.ret();
            }
            2..=4 => {
                let other = self.later(ids, index + 1, end);
                let condition = self.condition();
                self.builder.branch(condition, onward, other);
            }
            kind => {
                let back = ids[self.choices.below(index + 1)];
                let condition = self.condition();
                let guard = self.builder.new_block();
                let other = if kind == 7 { self.later(ids, index + 1, end) } else { onward };
                if self.choices.below(2) == 0 {
                    self.builder.branch(condition, guard, other);
                } else {
                    self.builder.branch(condition, other, guard);
                }
                self.builder.switch_to(guard);
                let one = self.builder.immediate(Type::S32, 1);
                let fuel = self.fuel;
                self.builder.emit(Op::Binary(BinaryOp::Sub, Type::S32), &[fuel], &[fuel, one]);
                let zero = self.builder.immediate(Type::S32, 0);
                if self.choices.below(2) == 0 {
                    let left = self.builder.compare(Condition::Greater, Type::S32, fuel, zero);
                    self.builder.branch(left, back, onward);
                } else {
                    let gone = self.builder.compare(Condition::LessEqual, Type::S32, fuel, zero);
                    self.builder.branch(gone, onward, back);
                }
            }
        }
    }

    /// A few items one after the other, at least one while there are some left to make.
    fn items(&mut self, left: &mut usize, loops: &mut Vec<Loop>) {
        for _ in 0..=self.choices.below(3) {
            if *left == 0 {
                break;
            }
            *left -= 1;
            match self.choices.below(10) {
                0..=2 => self.if_item(left, loops),
                3 | 4 => self.loop_item(left, loops),
                5 | 6 if !loops.is_empty() => {
                    // Mostly of the innermost loop.
                    let depth = self.choices.below(loops.len() + 2).saturating_sub(2);
                    let Loop { after, last } = loops[loops.len() - 1 - depth];
                    let target = if self.choices.below(2) == 0 { after } else { last };
                    self.leave_for(target);
                }
                7 => {
                    let end = self.builder.new_block();
                    let next = self.leave_for(end);
                    self.builder.switch_to(end);
                    self.write_output();
                    self.builder.ret();
                    self.builder.switch_to(next);
                }
                _ => self.statement(),
            }
        }
    }

    /// Some lanes go to `target`, the others on in the block that is returned.
    fn leave_for(&mut self, target: BlockId) -> BlockId {
        let condition = self.condition();
        let next = self.builder.new_block();
        self.builder.branch(condition, target, next);
        self.builder.switch_to(next);
        next
    }

    fn if_item(&mut self, left: &mut usize, loops: &mut Vec<Loop>) {
        let condition = self.condition();
        let [then, join] = [self.builder.new_block(), self.builder.new_block()];
        let otherwise = if self.choices.below(2) == 0 { join } else { self.builder.new_block() };
        if self.choices.below(2) == 0 {
            self.builder.branch(condition, then, otherwise);
        } else {
            self.builder.branch(condition, otherwise, then);
        }
        for side in [then, otherwise] {
            if side != join {
                self.builder.switch_to(side);
                self.statement();
                self.items(left, loops);
                self.builder.jump(join);
            }
        }
        self.builder.switch_to(join);
    }

    fn loop_item(&mut self, left: &mut usize, loops: &mut Vec<Loop>) {
        let [header, last, after] = std::array::from_fn(|_| self.builder.new_block());
        self.builder.jump(header);
        self.builder.switch_to(header);
        self.statement();
        if self.choices.below(2) == 0 {
            // Tested where it begins, so that `continue` goes back.
            let fueled = self.burn();
            self.builder.branch(fueled, last, after);
            self.builder.switch_to(last);
            self.loop_body(left, loops, Loop { after, last: header });
            self.builder.jump(header);
        } else {
            self.loop_body(left, loops, Loop { after, last });
            self.builder.jump(last);
            self.builder.switch_to(last);
            let fueled = self.burn();
            let test = self.builder.new_block();
            self.builder.branch(fueled, test, after);
            self.builder.switch_to(test);
            let again = self.condition();
            self.builder.branch(again, header, after);
        }
        self.builder.switch_to(after);
    }

    fn loop_body(&mut self, left: &mut usize, loops: &mut Vec<Loop>, around: Loop) {
        loops.push(around);
        self.items(left, loops);
        loops.pop();
    }

    /// Consumes fuel; the result is whether there is some left.
    fn burn(&mut self) -> Reg {
        let one = self.builder.immediate(Type::S32, 1);
        let fuel = self.fuel;
        self.builder.emit(Op::Binary(BinaryOp::Sub, Type::S32), &[fuel], &[fuel, one]);
        let zero = self.builder.immediate(Type::S32, 0);
        self.builder.compare(Condition::Greater, Type::S32, fuel, zero)
    }

    /// Registers that are written once, in one block, and read in another that only comes after it.
    fn values(&mut self) {
        let cfg = self.builder.function.cfg();
        let dominators = Dominators::new(&cfg);
        let reached = cfg.reverse_post_order();
        for _ in 0..reached.len() {
            let writer = reached[self.choices.below(reached.len())];
            let reader = reached[self.choices.below(reached.len())];
            if writer == reader || !dominators.dominates(writer, reader) {
                continue;
            }
            let source = if self.choices.below(2) == 0 { self.fuel } else { self.variable() };
            let dst = self.variable();
            let value = self.builder.function.new_register(Family::Dword);
            let double = Instruction::new(Op::Binary(BinaryOp::Add, Type::U32), [value], [source, source]);
            let read = Instruction::new(Op::Binary(BinaryOp::Xor, Type::U32), [dst], [dst, value]);
            let block = &mut self.builder.function.block_mut(writer).instructions;
            block.insert(block.len() - 1, double);
            self.builder.function.block_mut(reader).instructions.insert(0, read);
        }
    }

    fn write_output(&mut self) {
        let values: Vec<Reg> = std::iter::once(self.output).chain(self.variables.iter().copied()).collect();
        self.builder.emit(Op::Store { space: Space::Global, ty: Type::U32, align: 4 }, &[], &values);
    }
}

/// An odd number and its inverse modulo 2^64.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const INVERSE: u64 = 0xf1de_83e1_9937_733d;

/// Keeps what dword registers that are written more than once hold in quadwords, multiplied by [`FACTOR`].
/// The function does what it did.
pub fn widen(function: &mut Function) {
    let values = Values::new(function);
    let wide: Vec<Option<Reg>> = (0..function.registers.len() as u32)
        .map(Reg)
        .map(|reg| {
            let chosen = function.register(reg).family == Family::Dword && values.writes(reg).len() > 1;
            chosen.then(|| function.new_register(Family::Qword))
        })
        .collect();
    let wide_of = |reg: Reg| wide.get(reg.0 as usize).copied().flatten();
    for block in function.layout.clone() {
        let old = std::mem::take(&mut function.block_mut(block).instructions);
        let mut b = Builder::new(function, block);
        for mut instruction in old {
            for src in &mut instruction.srcs {
                if let Some(wide) = wide_of(*src) {
                    let factor = b.immediate(Type::U64, INVERSE);
                    let value = b.binary(BinaryOp::Mul, Type::U64, wide, factor);
                    *src = b.convert(Type::U32, Type::U64, value);
                }
            }
            let dsts = instruction.dsts.clone();
            b.push(instruction);
            for dst in dsts {
                if let Some(wide) = wide_of(dst) {
                    let value = b.convert(Type::U64, Type::U32, dst);
                    let factor = b.immediate(Type::U64, FACTOR);
                    b.emit(Op::Binary(BinaryOp::Mul, Type::U64), &[wide], &[value, factor]);
                }
            }
        }
    }
}

//! From Gen instructions to the middle IR: each is lifted alone; SSA construction.

mod accumulator;
mod control;
mod entry;
mod float;
mod image;
mod integer;
mod masks;
mod math;
mod message;
mod operand;
pub mod registers;
mod rounding;
mod ssa;

use gencl_eu::ImageUse;
use gencl_eu::abi::{Counted, Interpreted};
use gencl_eu::file::FLAG;
use gencl_eu::operand::{SourceLocation, Target};
use gencl_isa::PredicateControl;

use crate::analysis::access::is_flag;
use crate::analysis::flow::Flow;
use crate::analysis::message::Message;
use crate::analysis::native::Native;
use crate::analysis::plan::{Plan, Step};
use crate::analysis::variables::Variables;
use crate::middle::builder::Builder;
use crate::middle::function::{Block, End, Function, Value};
use crate::middle::op::{Convert, Op};
use crate::middle::types::{Scalar, Type};
use registers::Pieces;
use rounding::Direction;
use ssa::{Construction, Variable};

/// Channels that masks of a thread have bits for.
pub const THREAD_LANES: usize = 32;

/// What is lifted of a kernel.
pub struct Lifted {
    /// What a thread executes.
    pub function: Function,
    /// The instructions that the interpreter executes.
    pub interpreted: Vec<Interpreted>,
    /// How many counters there are, and what they count ([`crate::passes::counters`]).
    pub counters: u32,
    /// See `counters`.
    pub counted: Vec<Counted>,
}

/// A kernel that is being lifted.
pub struct Lift<'a> {
    plan: &'a Plan<'a>,
    flow: &'a Flow,
    variables: Option<Variables>,
    pieces: Pieces,
    /// The bits of each piece of the flags.
    flags: Vec<std::ops::Range<usize>>,
    builder: Builder,
    construction: Construction,
    /// The block of each block of [`Flow`].
    blocks: Vec<Block>,
    /// Where faults end.
    fault: Block,
    rounds: u32,
    interpreted: Vec<Interpreted>,
    image_uses: Vec<ImageUse>,
}

/// Lifts a kernel. In loops in which threads may wait for each other, a thread yields after `rounds` iterations.
pub fn lift(plan: &Plan<'_>, flow: &Flow, rounds: u32) -> Lifted {
    let variables = (!plan.in_memory).then(|| Variables::new(plan, flow));
    let pieces = variables.as_ref().map_or_else(Pieces::default, |variables| Pieces::new(plan, variables));
    let mut builder = Builder::default();
    builder.emulates_fma = !plan.host.fuses;
    let entry = builder.function.add_block();
    let blocks: Vec<Block> = flow.blocks.iter().map(|_| builder.function.add_block()).collect();
    let fault = builder.function.add_block();
    let mut lift = Lift {
        plan,
        flow,
        variables,
        pieces,
        flags: masks::flag_pieces(flag_accesses(plan)),
        builder,
        construction: Construction::default(),
        blocks,
        fault,
        rounds,
        interpreted: Vec::new(),
        image_uses: ImageUse::all(plan.ops),
    };
    lift.entry(entry);
    lift.all_blocks();
    lift.finish()
}

/// The first bit and the number of flags that each instruction accesses for its channels.
fn flag_accesses<'a>(plan: &'a Plan<'_>) -> impl Iterator<Item = (usize, usize)> + 'a {
    let operand = |at: usize, size: u32| is_flag(at).then(|| ((at - FLAG) * 8, size as usize * 8));
    plan.ops.iter().flat_map(move |op| {
        let own = (usize::from(op.flag_bit), usize::from(op.lanes));
        let is_plain = op.predicate.is_some_and(|predicate| predicate.control == PredicateControl::Normal);
        let channels = (is_plain || op.condition.is_some()).then_some(own);
        let target = match op.dst.target {
            Target::Direct { offset, .. } => operand(offset, op.dst.ty.size()),
            Target::Null | Target::Indirect { .. } => None,
        };
        let sources = op.src.iter().filter_map(move |src| match src.location {
            SourceLocation::Packed(at) | SourceLocation::Scalar(at) => operand(at, src.ty.size()),
            _ => None,
        });
        channels.into_iter().chain(target).chain(sources)
    })
}

impl Lift<'_> {
    fn read_variable(&mut self, variable: Variable, ty: Type) -> Value {
        let block = self.builder.current();
        self.construction.read(&mut self.builder, block, variable, ty)
    }

    fn write_variable(&mut self, variable: Variable, value: Value) {
        self.construction.write(self.builder.current(), variable, value);
    }

    /// Ends the current block, and notes where it goes.
    fn end(&mut self, end: End) {
        let block = self.builder.current();
        self.builder.end(end);
        self.construction.note_end(&self.builder, block);
    }

    fn jump(&mut self, to: Block) {
        let block = self.builder.current();
        self.builder.jump(to);
        self.construction.note_end(&self.builder, block);
    }

    fn branch(&mut self, condition: Value, yes: Block, no: Block) {
        let block = self.builder.current();
        self.builder.branch(condition, yes, no);
        self.construction.note_end(&self.builder, block);
    }

    /// A block to which nothing goes yet but what goes there next.
    fn add_block(&mut self) -> Block {
        self.builder.function.add_block()
    }

    /// Begins a block whose predecessors are all known.
    fn begin_sealed(&mut self, block: Block) {
        self.construction.seal(&mut self.builder, block);
        self.builder.begin(block);
    }

    /// The block that begins at an instruction.
    fn block_at(&self, index: usize) -> Block {
        self.flow.block_at(index).map_or(self.fault, |block| self.blocks[block])
    }

    fn all_blocks(&mut self) {
        // Of each block, the last one from which a thread comes.
        let mut last = vec![0; self.flow.blocks.len()];
        for (number, block) in self.flow.blocks.iter().enumerate() {
            block.thread.iter().for_each(|next| last[*next] = last[*next].max(number + 1));
        }
        let resumed: Vec<usize> = self.flow.resumed().collect();
        for (number, from) in last.iter().enumerate() {
            let block = self.blocks[number];
            // Back edges and resumptions are not known yet.
            let is_known = *from <= number && !resumed.contains(&number) && number > 0;
            if is_known {
                self.construction.seal(&mut self.builder, block);
            }
            self.builder.begin(block);
            self.block(number);
        }
    }

    /// Lifts a block.
    fn block(&mut self, number: usize) {
        let (start, end) = (self.flow.blocks[number].start, self.flow.blocks[number].end);
        self.builder.origin = start as u32;
        if self.flow.blocks.iter().skip(number).any(|block| block.thread.contains(&number)) {
            self.stop_if_cancelled();
        }
        if let Some(turn) = self.flow.turns.iter().position(|turn| *turn == number) {
            self.give_turn(self.flow.waits.len() + turn);
        }
        if let Some(target) = self.flow.target(number) {
            self.enable_waiting(target);
        }
        let mut is_open = true;
        for index in start..end {
            self.builder.origin = index as u32;
            self.look_for_unwritten(index);
            if self.plan.variant.counted {
                let mask = self.mask(index);
                self.builder.effect(Op::Executed, &[mask], &[]);
            }
            is_open = self.step(index);
            if is_open {
                self.note_written(index);
            }
        }
        if is_open {
            self.jump(self.block_at(end));
        }
    }

    /// Lifts an instruction. Whether the block continues.
    fn step(&mut self, index: usize) -> bool {
        let plan = self.plan;
        match &plan.steps[index] {
            Step::Nothing => {}
            Step::Native(native) => self.native(index, *native),
            Step::Message(Message::Lanes(message)) => self.lanes(index, message),
            Step::Message(Message::Block(message)) => self.data_block(index, message),
            Step::Message(Message::Atomic(message)) => self.atomic(index, message),
            Step::Message(Message::Image(message)) => self.image(index, message),
            Step::Message(Message::Fence { answer }) => {
                self.builder.effect(Op::MemoryFence, &[], &[]);
                if let Some((_, bytes)) = answer {
                    let zero = self.builder.int(registers::bytes_of(*bytes), 0);
                    self.write_elements(index, 0, zero, None);
                }
            }
            Step::Message(Message::Barrier) => _ = self.builder.effect(Op::Arrive, &[], &[]),
            Step::Message(Message::End) => {
                self.end(End::Return);
                return false;
            }
            Step::Control(bits) => self.set_control(*bits),
            Step::Interpret(reason) => self.interpret(index, reason),
            Step::Branch(branch) => {
                self.lift_branch(index, *branch);
                return false;
            }
            Step::Wait => {
                self.wait(index);
                return false;
            }
        }
        true
    }

    /// Lifts an arithmetic instruction.
    fn native(&mut self, index: usize, native: Native) {
        self.check_destination(index);
        let mask = self.mask(index);
        match native {
            Native::Copy => {
                let bits = self.source_bits(index, 0);
                self.result(index, bits, mask);
            }
            Native::Choose => {
                let [a, b] = [0, 1].map(|n| self.source_bits(index, n));
                let bits = self.chosen(index, a, b);
                self.result(index, bits, mask);
            }
            Native::Convert => self.conversion(index, mask),
            Native::Integer { bits, signed } => self.integer(index, bits, signed, mask),
            Native::Float { double } => self.float(index, double, mask),
            Native::Exact => self.exact(index, mask),
            Native::SelectFloats { double } => self.float_choice(index, double, mask),
            Native::CompareFloats { double } => self.float_comparison(index, double, mask),
            Native::ToHalf => {
                let value = self.float_source(index, 0, false);
                let rounding = Direction::To(self.plan.modes[index].rounding);
                let half = self.narrowed(value, Scalar::Half, rounding);
                let bits = self.builder.cast(half, Scalar::Int(16));
                self.result(index, bits, mask);
            }
            Native::FromHalf => {
                let bits = self.source_bits(index, 0);
                let half = self.builder.cast(bits, Scalar::Half);
                let value = self.builder.convert(Convert::FPExt, half, Scalar::Float);
                self.finish_float(index, value, mask);
            }
        }
    }

    fn finish(self) -> Lifted {
        let Lift { mut construction, mut builder, interpreted, .. } = self;
        construction.seal_all(&mut builder);
        construction.finish(&mut builder);
        Lifted { function: builder.function, interpreted, counters: 0, counted: Vec::new() }
    }
}

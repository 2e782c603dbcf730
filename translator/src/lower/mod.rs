//! From the middle IR to LLVM IR.
//!
//! One function executes the threads of a work-group, until each has ended or all are suspended. Slow paths are out of line.

mod arrays;
mod atomic;
mod calls;
mod entry;
mod masks;
mod memory;
mod outlined;
mod pure;
mod reductions;
mod rows;
mod scattered;
mod slow_path;
mod transpose;
mod windows;

use std::collections::BTreeMap;

use gencl_eu::abi::{ENDED, ENTRY, FAULT, Frame, Tier, Translation, YIELD};
use gencl_ir_support::{Dominators, EntitySet, PrimaryMap};
use inkwell::AtomicOrdering;
use inkwell::context::Context;
use inkwell::module::Module;
use rustc_hash::FxHashMap;

use crate::analysis::plan::Plan;
use crate::ir::{
    BIT, Class, Function as Builder, I32, I64, Label, Mark, POINTER, Scalar as LlvmScalar, Ty,
    Value as LlvmValue,
};
use crate::lift::Lifted;
use crate::middle::function::{Block, Definition, End, Function, Instruction, Target, Value};
use crate::middle::op::{Addressing, Op, Space};
use crate::middle::types::{Scalar, Type};
use windows::Windows;

/// Accesses to fields of the frame that do not change while a work-group runs.
const CONSTANT: Mark = Mark::invariant(4, Class::Frame);
/// Accesses to windows and to fields of the frame that change.
const FRAME: Mark = Mark::new(4, Class::Frame);
/// Accesses to register files and variables.
const FILE: Mark = Mark::new(1, Class::Registers);

/// Attributes of functions with vectors.
const WIDE: [&str; 3] = ["nounwind", "prefer-vector-width=512", "min-legal-vector-width=512"];

/// A function that is being lowered.
struct Lowering<'a, 'c> {
    plan: &'a Plan<'a>,
    function: &'a Function,
    module: &'a Module<'c>,
    /// Builds the current LLVM function.
    f: Builder<'a, 'c>,
    values: FxHashMap<Value, LlvmValue<'c>>,
    /// Values with a use that is not on a slow path.
    used_eagerly: EntitySet<Value>,
    control: Control<'c>,
    thread: Thread<'c>,
    windows: Windows<'c>,
    outlined: Outlined<'c>,
    arrays: FxHashMap<u16, LlvmValue<'c>>,
}

/// The blocks of the function that executes threads.
struct Control<'c> {
    /// Of the middle IR's blocks where they begin, and those where they end.
    labels: PrimaryMap<Block, Label<'c>>,
    exits: BTreeMap<Block, Label<'c>>,
    /// Returns [`FAULT`].
    fault: Label<'c>,
    /// The header of the loop over threads, and its latch.
    threads: Label<'c>,
    next: Label<'c>,
    /// Where threads stop or end, as in [`Frame::resume`].
    stopped: Vec<(u32, Label<'c>)>,
}

/// Values of the loop over threads.
struct Thread<'c> {
    /// The current thread's number, and its register file (a placeholder until the loop is built).
    number: LlvmValue<'c>,
    file: LlvmValue<'c>,
    /// Where it is resumed, and where all before it have stopped, or 0. `None`: threads never stop.
    resumed: Option<[LlvmValue<'c>; 2]>,
}

/// The out-of-line functions that the function for threads calls, each once for all accesses that do the same.
#[derive(Default)]
struct Outlined<'c> {
    partial_rows: Vec<outlined::PartialRow>,
    /// Atomic operations, and where their functions find lanes.
    atomics: Vec<atomic::OneByOne>,
    lanes_of_atomics: Option<LlvmValue<'c>>,
}

/// LLVM IR and what else is known of a kernel.
pub struct Written<'c> {
    /// The LLVM IR.
    pub module: Module<'c>,
    /// The translation but for its object.
    pub translation: Translation,
    /// What a thread executes.
    pub middle: Function,
}

/// LLVM IR of what was lifted of a kernel, for one of the tiers.
pub fn lower<'c>(context: &'c Context, plan: &Plan<'_>, lifted: Lifted, tier: Tier) -> Written<'c> {
    let module = context.create_module("kernel");
    let function = &lifted.function;
    let stops = !function.resumed.is_empty();
    let f = Builder::new(&module, ENTRY, Some(I32), &[POINTER, I32, I32, I32], &WIDE);
    ["noalias", "nonnull"].iter().for_each(|text| f.mark_parameter(0, text));
    let [fault, threads, next] = [(); 3].map(|()| f.label());
    f.begin(threads);
    let thread = Thread {
        number: f.phi(I32),
        file: f.placeholder(),
        resumed: stops.then(|| [(); 2].map(|()| f.phi(I32))),
    };
    f.leave();
    let mut lowering = Lowering {
        plan,
        function,
        module: &module,
        values: FxHashMap::default(),
        used_eagerly: used_eagerly(function),
        control: Control {
            labels: function.block_numbers().map(|_| f.label()).collect(),
            exits: BTreeMap::new(),
            fault,
            threads,
            next,
            stopped: Vec::new(),
        },
        thread,
        windows: Windows::new(&f, tier == Tier::Baseline),
        outlined: Outlined::default(),
        arrays: FxHashMap::default(),
        f,
    };
    lowering.threads();
    let translation = Translation {
        windows: lowering.windows.count(),
        saved: lowering.saved() as u32,
        yields: stops,
        interpreted: lifted.interpreted,
        counters: lifted.counters,
        counted: lifted.counted,
        ..Translation::default()
    };
    Written { module, translation, middle: lifted.function }
}

/// The values with a use that is not on a slow path.
fn used_eagerly(function: &Function) -> EntitySet<Value> {
    let mut used = EntitySet::new();
    let mut open = Vec::new();
    for block in function.block_numbers() {
        let data = function.block(block);
        for instruction in &data.instructions {
            let own = function.instruction(*instruction);
            if !own.op.is_pure() {
                open.extend(
                    own.operands
                        .iter()
                        .enumerate()
                        .filter(|(n, _)| !is_lazy(&own.op, *n))
                        .map(|(_, value)| *value),
                );
            }
        }
        open.extend(data.end.values());
    }
    while let Some(value) = open.pop() {
        if !used.insert(value) {
            continue;
        }
        if let Definition::Result(instruction, _) = function.values[value].definition {
            let own = function.instruction(instruction);
            if own.op.is_pure() {
                open.extend(&own.operands);
            }
        }
    }
    used
}

/// Whether an operand is used on the slow path only.
fn is_lazy(op: &Op, number: usize) -> bool {
    match op {
        Op::Load(access) | Op::Store(access) => {
            let is_other = access.addressing != Addressing::Varying && access.space != Space::Image;
            let is_row = matches!(access.addressing, Addressing::Affine(_));
            is_other && (number == 1 || is_row && access.is_guarded && number == 3)
        }
        Op::LoadBlock(..) | Op::StoreBlock(..) => number == 0,
        _ => false,
    }
}

/// The LLVM type; of masks that of a vector of bits.
fn llvm(ty: Type) -> Ty {
    let scalar = match ty.scalar {
        Scalar::Mask => LlvmScalar::Int(1),
        Scalar::Int(bits) => LlvmScalar::Int(bits.into()),
        Scalar::Half => LlvmScalar::Half,
        Scalar::Float => LlvmScalar::Float,
        Scalar::Double => LlvmScalar::Double,
    };
    Ty { scalar, lanes: ty.lanes.into() }
}

impl<'c> Lowering<'_, 'c> {
    /// Builds the function that executes threads of a work-group, and the functions that it calls.
    fn threads(&mut self) {
        let graph = self.function.graph();
        let dominators = Dominators::new(&graph);
        let entry = self.f.label();
        let order: Vec<Block> = dominators.order().collect();
        for block in &order {
            self.block(*block);
        }
        self.f.begin(self.control.fault);
        self.f.ret(Some(self.f.int(I32, FAULT.into())));
        for block in order {
            let predecessors = graph.predecessors(block).iter().copied();
            let reached: Vec<Block> = predecessors.filter(|from| dominators.is_reached(*from)).collect();
            self.add_arguments(block, &reached);
        }
        self.outlined_functions();
        self.copy_found();
        self.loop_over_threads(entry);
        self.f.finish(entry);
    }

    fn block(&mut self, block: Block) {
        self.f.begin(self.control.labels[block]);
        let data = self.function.block(block);
        if self.function.resumed.contains(&block) {
            self.restore(block);
        } else {
            for parameter in &data.parameters {
                let ty = self.function.ty(*parameter);
                let own = if ty.scalar == Scalar::Mask { Ty::int(ty.lanes.into(), 1) } else { llvm(ty) };
                self.values.insert(*parameter, self.f.phi(own));
            }
        }
        for instruction in &data.instructions {
            self.instruction(*instruction);
        }
        self.control.exits.insert(block, self.f.current());
        self.end(block);
    }

    fn end(&mut self, block: Block) {
        let fault = self.control.fault;
        match &self.function.block(block).end {
            End::Jump(target) => self.f.jump(self.label(target)),
            End::Branch { condition, yes, no } => {
                let condition = self.value(*condition);
                let (yes, no) = (self.label(yes), self.label(no));
                match (yes == fault, no == fault) {
                    (true, _) => {
                        let holds = self.f.xor(condition, self.f.int(condition.ty, 1));
                        self.f.branch_likely(holds, no, yes);
                    }
                    (_, true) => self.f.branch_likely(condition, yes, no),
                    _ => self.f.branch(condition, yes, no),
                }
            }
            End::Return => self.stop(ENDED),
            End::Fault => self.f.jump(fault),
            End::Suspend { resume, yields } => {
                self.save(resume);
                let number = self.function.resumed.iter().position(|block| *block == resume.block);
                let number = number.map_or(0, |number| number as u32 + 1);
                self.stop(number | if *yields { YIELD } else { 0 });
            }
        }
    }

    fn label(&self, target: &Target) -> Label<'c> {
        match self.function.is_fault(target.block) {
            true => self.control.fault,
            false => self.control.labels[target.block],
        }
    }

    /// Gives the `phi`s of a block's parameters the arguments of its predecessors.
    fn add_arguments(&mut self, block: Block, before: &[Block]) {
        if self.function.resumed.contains(&block) {
            return;
        }
        for (number, parameter) in self.function.block(block).parameters.iter().enumerate() {
            let mut incoming = Vec::new();
            for from in before {
                let targets = self.function.block(*from).end.targets().filter(|target| target.block == block);
                for target in targets {
                    incoming.push((self.value(target.arguments[number]), self.control.exits[from]));
                }
            }
            self.f.add_incoming(self.values[parameter], &incoming);
        }
    }

    /// A value. Of masks the bits.
    fn value(&mut self, value: Value) -> LlvmValue<'c> {
        if let Some(constant) = self.function.as_constant(value) {
            return self.constant_value(self.function.ty(value), constant);
        }
        match self.values.get(&value) {
            Some(own) => *own,
            None => self.computed_here(value),
        }
    }

    /// A pure value that only slow paths use: each computes it.
    fn computed_here(&mut self, value: Value) -> LlvmValue<'c> {
        let Definition::Result(instruction, 0) = self.function.values[value].definition else {
            unreachable!("a parameter of a block that nothing goes to")
        };
        let data = self.function.instruction(instruction);
        self.pure(&data.op, &data.operands, self.function.ty(value))
    }

    fn instruction(&mut self, instruction: Instruction) {
        let data = self.function.instruction(instruction);
        if data.op.is_pure() {
            let result = data.results[0];
            if self.used_eagerly.contains(result) {
                let value = self.pure(&data.op, &data.operands, self.function.ty(result));
                self.values.insert(result, value);
            }
            return;
        }
        let found = self.effect(instruction);
        self.values.extend(data.results.iter().copied().zip(found));
    }

    /// An instruction that does more than compute its results.
    fn effect(&mut self, instruction: Instruction) -> Vec<LlvmValue<'c>> {
        let data = self.function.instruction(instruction);
        let operands = &data.operands;
        match &data.op {
            Op::Load(access) | Op::Store(access) => return self.access(instruction, access),
            Op::Inside(inside) => return vec![self.is_inside(inside, operands[0])],
            Op::LoadBlock(space, alignment) | Op::StoreBlock(space, alignment) => {
                return self.block_access(instruction, *space, *alignment);
            }
            Op::Atomic(operation, space, size) => return self.atomic(instruction, *operation, *space, *size),
            Op::Image(registers) => return self.image(instruction, registers),
            Op::Interpret(registers) => return self.interpret(instruction, registers),
            Op::Unwritten(registers) => self.unwritten(instruction, registers),
            Op::MemoryFence => self.f.fence(),
            // Where nothing is counted there are none.
            Op::Executed => {}
            Op::Count(counter) => {
                let number = self.value(operands[0]);
                let all = self.field(POINTER, std::mem::offset_of!(Frame, counters));
                let at = self.f.at(all, 8 * *counter as usize);
                self.f.store(self.f.add(self.f.load(I64, at, FILE), number), at, FILE);
            }
            Op::Arrive => self.arrive(),
            Op::Get(place) => {
                let at = self.f.at(self.thread.file, (*place).into());
                let ty = llvm(self.function.ty(data.results[0]));
                return vec![self.f.load(ty, at, FILE)];
            }
            Op::Put(place) => {
                let value = self.value(operands[0]);
                let at = self.f.at(self.thread.file, (*place).into());
                self.f.store(value, at, FILE);
            }
            Op::Gather => {
                let (offsets, ty) = (self.value(operands[0]), llvm(self.function.ty(data.results[0])));
                let file = self.thread.file;
                return vec![self.each_lane_loaded(file, offsets, ty, FILE)];
            }
            Op::Scatter => self.scatter_in_file(operands),
            Op::Cancelled => return vec![self.cancelled(data.origin)],
            Op::SetArray(number) => {
                let value = self.array_value(operands[0]);
                let place = self.array(*number, value.ty);
                self.f.store(value, place, FILE);
            }
            Op::SetElement(number) => {
                let value = self.array_value(operands[1]);
                let at = self.array_element(*number, operands[0], value.ty);
                self.f.store(value, at, FILE);
            }
            Op::GetArray(number) | Op::GetElement(number) => {
                let ty = self.function.ty(data.results[0]);
                let own = arrays::array_type(ty);
                let place = match operands.first() {
                    Some(element) => self.array_element(*number, *element, own),
                    None => self.array(*number, own),
                };
                let value = self.f.load(own, place, FILE);
                return vec![self.of_array(value, ty)];
            }
            _ => unreachable!("{} is pure, or not lowered here", data.op),
        }
        Vec::new()
    }

    /// The thread's own element of an array.
    fn element_at(&self, array: LlvmValue<'c>, size: usize) -> LlvmValue<'c> {
        let bytes = self.f.mul(self.f.to(self.thread.number, I64), self.f.int(I64, size as u64));
        self.f.offset(array, bytes)
    }

    /// The frame, the first parameter of each function that has one.
    fn frame(&self) -> LlvmValue<'c> {
        self.f.parameter(0)
    }

    /// Counts a thread that arrives at the barrier.
    fn arrive(&mut self) {
        let at = self.f.at(self.frame(), std::mem::offset_of!(Frame, arrived));
        let count = self.f.load(I32, at, FRAME);
        self.f.store(self.f.add(count, self.f.int(I32, 1)), at, FRAME);
    }

    /// Has the simulator look, at an instruction, if the launch may be cancelled: the thread faults if it is. What is left is
    /// not.
    fn cancelled(&mut self, instruction: u32) -> LlvmValue<'c> {
        // Not in the first block: the address would have a register in all loops, or be spilled in the innermost.
        let at = self.f.at(self.frame(), std::mem::offset_of!(Frame, cancel));
        let flag = self.f.load(POINTER, at, CONSTANT);
        // "acquire": what other threads of the host write is seen in the next iteration.
        let raised = self.f.load_atomic(Ty::int(8, 1), flag, AtomicOrdering::Acquire);
        let [look, on] = [(); 2].map(|()| self.f.label());
        self.f.branch_likely(self.f.is(raised, 0), on, look);
        self.f.begin(look);
        self.call_cancelled(instruction);
        self.f.jump(on);
        self.f.begin(on);
        self.f.int(BIT, 0)
    }
}

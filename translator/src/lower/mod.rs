//! From the middle IR to LLVM IR.
//!
//! One function executes the threads of a work-group, each until it ends or all have to stop; what they rarely do is in functions of its own.

mod anywhere;
mod arrays;
mod atomic;
mod atomics;
mod calls;
mod elsewhere;
mod entry;
mod masks;
mod memory;
mod pure;
mod rare;
mod rows;
mod transpose;
mod windows;

use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;
use gencl_eu::abi::{ENDED, ENTRY, FAULT, Frame, Tier, Translation, YIELD};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::analysis::plan::Plan;
use crate::ir::{
    BIT, Function as Text, I32, I64, Label, Module, POINTER, Scalar as LlvmScalar, Ty, Value as LlvmValue,
};
use crate::lift::Lifted;
use crate::middle::function::{Block, Definition, End, Function, Instruction, Target, Value};
use crate::middle::op::{Addressing, Op, Space};
use crate::middle::types::{Scalar, Type};
use windows::Windows;

/// How accesses to the frame, which nobody changes meanwhile, are marked.
const CONSTANT: &str = "align 4, !tbaa !2, !invariant.load !5";
/// How accesses to windows and to what else changes in the frame are marked.
const FRAME: &str = "align 4, !tbaa !2";
/// How accesses to register files are marked.
const FILE: &str = "align 1, !tbaa !4";

/// What the marks mean: kinds of memory of which none overlaps another; how likely a branch is.
const METADATA: &str = r#"
attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }
attributes #1 = { cold nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }
attributes #2 = { cold nounwind }
attributes #3 = { cold nounwind "no_caller_saved_registers" }
attributes #4 = { nounwind "no_caller_saved_registers" }

!1 = !{!"branch_weights", i32 1000, i32 1}
!2 = !{!11, !11, i64 0}
!3 = !{!12, !12, i64 0}
!4 = !{!13, !13, i64 0}
!5 = !{}
!6 = !{!14, !14, i64 0}
!10 = !{!"gencl"}
!11 = !{!"frame", !10, i64 0}
!12 = !{!"memory", !10, i64 0}
!13 = !{!"registers", !10, i64 0}
!14 = !{!"shared local memory", !10, i64 0}
"#;

/// A function that is being lowered.
struct Lowering<'a> {
    plan: &'a Plan<'a>,
    function: &'a Function,
    module: Module,
    /// The function that is written now.
    f: Text,
    frame: LlvmValue,
    thread: LlvmValue,
    file: LlvmValue,
    values: FxHashMap<Value, LlvmValue>,
    /// Values that are wanted elsewhere than where something rare is done.
    wanted: FixedBitSet,
    labels: Vec<Label>,
    /// Where the text of each block's parameters goes, and where each block ends.
    holes: BTreeMap<Block, usize>,
    exits: BTreeMap<Block, Label>,
    /// Returns [`FAULT`].
    fault: Label,
    /// Where a thread begins or goes on, and what is behind it.
    threads: Label,
    next: Label,
    /// Where threads stop or end, as in [`Frame::resume`].
    stopped: Vec<(u32, Label)>,
    /// What the function's first block has read.
    hoisted: FxHashSet<String>,
    windows: Windows,
    /// What each function does that accesses to rows call rarely.
    partial_rows: Vec<rare::PartialRow>,
    /// The same of functions for atomic operations, and where these find lanes.
    atomics: Vec<atomic::OneByOne>,
    lanes_of_atomics: Option<LlvmValue>,
    arrays: FxHashMap<u16, LlvmValue>,
    stops: bool,
}

/// LLVM IR and what else is known of a kernel.
pub struct Written {
    /// The module's text.
    pub ir: String,
    /// The translation but for its object.
    pub translation: Translation,
    /// What a thread executes.
    pub middle: Function,
}

/// LLVM IR of what was lifted of a kernel, for one of the tiers.
pub fn lower(plan: &Plan<'_>, lifted: Lifted, tier: Tier) -> Written {
    let function = &lifted.function;
    let stops = !function.resumed.is_empty();
    let mut lowering = Lowering {
        plan,
        function,
        module: Module::default(),
        f: Text::default(),
        frame: LlvmValue::named(POINTER, "%frame"),
        thread: LlvmValue::named(I32, "%thread"),
        file: LlvmValue::named(POINTER, "%file"),
        values: FxHashMap::default(),
        wanted: wanted(function),
        labels: Vec::new(),
        holes: BTreeMap::new(),
        exits: BTreeMap::new(),
        fault: Label::default(),
        threads: Label::default(),
        next: Label::default(),
        stopped: Vec::new(),
        hoisted: FxHashSet::default(),
        windows: Windows::new(tier == Tier::Baseline),
        partial_rows: Vec::new(),
        atomics: Vec::new(),
        lanes_of_atomics: None,
        arrays: FxHashMap::default(),
        stops,
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
    let ir = lowering.module.finish(METADATA);
    Written { ir, translation, middle: lifted.function }
}

/// The values that are used elsewhere than in rare calls.
fn wanted(function: &Function) -> FixedBitSet {
    let mut wanted = FixedBitSet::with_capacity(function.values.len());
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
                        .filter(|(n, _)| !is_rare(&own.op, *n))
                        .map(|(_, value)| *value),
                );
            }
        }
        open.extend(data.end.values());
    }
    while let Some(value) = open.pop() {
        if wanted.put(value.0 as usize) {
            continue;
        }
        if let Definition::Result(instruction, _) = function.values[value.0 as usize].definition {
            let own = function.instruction(instruction);
            if own.op.is_pure() {
                open.extend(&own.operands);
            }
        }
    }
    wanted
}

/// Whether an operand is used by rare calls only.
fn is_rare(op: &Op, number: usize) -> bool {
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

impl Lowering<'_> {
    /// Writes the function that executes threads of a work-group.
    fn threads(&mut self) {
        let dominators = self.function.dominators();
        self.labels = self.function.block_numbers().map(|_| self.f.label()).collect();
        let entry = self.f.label();
        (self.fault, self.next, self.threads) = (self.f.label(), self.f.label(), self.f.label());
        let order: Vec<Block> = dominators.order().collect();
        for block in &order {
            self.block(*block);
        }
        self.f.begin(self.fault);
        self.f.ret(&LlvmValue::int(I32, u64::from(FAULT)));
        let predecessors = self.function.predecessors();
        for block in order {
            let before = &predecessors[block.0 as usize];
            let before: Vec<Block> =
                before.iter().copied().filter(|from| dominators.is_reached(*from)).collect();
            self.fill_parameters(block, &before);
        }
        let (own, hoisted) = (std::mem::take(&mut self.f), std::mem::take(&mut self.hoisted));
        self.rare_functions();
        self.atomic_functions();
        (self.f, self.hoisted) = (own, hoisted);
        self.fill_taken();
        self.around(entry);
        let header =
            format!("define i32 @{ENTRY}(ptr noalias nonnull %frame, i32 %first, i32 %end, i32 %resume) #0");
        self.module.add(std::mem::take(&mut self.f), &header, entry);
    }

    fn block(&mut self, block: Block) {
        self.f.begin(self.labels[block.0 as usize]);
        let data = self.function.block(block);
        if self.function.resumed.contains(&block) {
            self.restore(block);
        } else {
            self.holes.insert(block, self.f.hole());
            for parameter in &data.parameters {
                let ty = self.function.ty(*parameter);
                let name = format!("%p{}", parameter.0);
                let own = if ty.scalar == Scalar::Mask { Ty::int(ty.lanes.into(), 1) } else { llvm(ty) };
                self.values.insert(*parameter, LlvmValue::named(own, &name));
            }
        }
        for instruction in &data.instructions {
            self.instruction(*instruction);
        }
        self.exits.insert(block, self.f.current());
        self.end(block);
    }

    fn end(&mut self, block: Block) {
        match &self.function.block(block).end {
            End::Jump(target) => self.f.jump(self.label(target)),
            End::Branch { condition, yes, no } => {
                let condition = self.value(*condition);
                let (yes, no) = (self.label(yes), self.label(no));
                match (yes == self.fault, no == self.fault) {
                    (true, _) => {
                        let ones = LlvmValue::int(condition.ty, 1);
                        let holds = self.f.binary("xor", &condition, &ones);
                        self.f.branch_likely(&holds, no, yes);
                    }
                    (_, true) => self.f.branch_likely(&condition, yes, no),
                    _ => self.f.branch(&condition, yes, no),
                }
            }
            End::Return => self.stop(ENDED),
            End::Fault => self.f.jump(self.fault),
            End::Suspend { resume, yields } => {
                self.save(resume);
                let number = self.function.resumed.iter().position(|block| *block == resume.block);
                let number = number.map_or(0, |number| number as u32 + 1);
                self.stop(number | if *yields { YIELD } else { 0 });
            }
        }
    }

    fn label(&self, target: &Target) -> Label {
        let is_fault = |block: Block| {
            let data = self.function.block(block);
            data.end == End::Fault && data.instructions.is_empty()
        };
        if is_fault(target.block) { self.fault } else { self.labels[target.block.0 as usize] }
    }

    /// Writes the parameters of a block as `phi`s.
    fn fill_parameters(&mut self, block: Block, before: &[Block]) {
        let Some(hole) = self.holes.get(&block).copied() else { return };
        let parameters = self.function.block(block).parameters.clone();
        let mut text = String::new();
        for (number, parameter) in parameters.iter().enumerate() {
            let name = self.values[parameter].clone();
            let mut pairs = Vec::new();
            for from in before {
                let targets = self.function.block(*from).end.targets().filter(|target| target.block == block);
                let label = self.exits[from];
                for target in targets {
                    let argument = self.value(target.arguments[number]);
                    pairs.push(format!("[ {}, {} ]", argument.name(), label.operand()));
                }
            }
            text.push_str(&format!("  {} = phi {} {}\n", name.name(), name.ty.text(), pairs.join(", ")));
        }
        self.f.fill(hole, text);
    }

    /// A value. Of masks the bits.
    fn value(&mut self, value: Value) -> LlvmValue {
        if let Some(constant) = self.function.as_constant(value) {
            return masks::constant(self.function.ty(value), constant);
        }
        match self.values.get(&value) {
            Some(own) => own.clone(),
            None => self.computed_here(value),
        }
    }

    /// A pure value that has not been wanted where it is computed first.
    fn computed_here(&mut self, value: Value) -> LlvmValue {
        let Definition::Result(instruction, 0) = self.function.values[value.0 as usize].definition else {
            unreachable!("a parameter of a block that nothing goes to")
        };
        let data = self.function.instruction(instruction);
        self.pure(&data.op, &data.operands, self.function.ty(value))
    }

    fn instruction(&mut self, instruction: Instruction) {
        let data = self.function.instruction(instruction);
        if data.op.is_pure() {
            let result = data.results[0];
            if self.wanted.contains(result.0 as usize) {
                let value = self.pure(&data.op, &data.operands, self.function.ty(result));
                self.values.insert(result, value);
            }
            return;
        }
        let found = self.effect(instruction);
        self.values.extend(data.results.iter().copied().zip(found));
    }

    /// An instruction that does more than compute its results.
    fn effect(&mut self, instruction: Instruction) -> Vec<LlvmValue> {
        let data = self.function.instruction(instruction);
        let operands = &data.operands;
        match &data.op {
            Op::Load(access) => self.load(instruction, access),
            Op::Store(access) => {
                self.store(instruction, access);
                Vec::new()
            }
            Op::Inside(inside) => vec![self.is_inside(inside, operands[0])],
            Op::LoadBlock(space, alignment) => self.block_access(instruction, *space, *alignment, false),
            Op::StoreBlock(space, alignment) => self.block_access(instruction, *space, *alignment, true),
            Op::Atomic(operation, space, size) => self.atomic(instruction, *operation, *space, *size),
            Op::Image(registers) => self.image(instruction, registers),
            Op::Interpret(registers) => self.interpret(instruction, registers),
            Op::Unwritten(registers) => {
                self.unwritten(instruction, registers);
                Vec::new()
            }
            Op::MemoryFence => {
                self.f.line("fence seq_cst");
                Vec::new()
            }
            // Where nothing is counted there are none.
            Op::Executed => Vec::new(),
            Op::Count(counter) => {
                let number = self.value(operands[0]);
                let all = self.constant(POINTER, std::mem::offset_of!(Frame, counters));
                let at = self.f.at(&all, 8 * *counter as usize);
                let sum = self.f.load(I64, &at, FILE);
                let sum = self.f.binary("add", &sum, &number);
                self.f.store(&sum, &at, FILE);
                Vec::new()
            }
            Op::Arrive => {
                self.arrive();
                Vec::new()
            }
            Op::Get(place) => {
                let at = self.f.at(&self.file.clone(), (*place).into());
                let ty = llvm(self.function.ty(data.results[0]));
                vec![self.f.load(ty, &at, FILE)]
            }
            Op::Put(place) => {
                let value = self.value(operands[0]);
                let at = self.f.at(&self.file.clone(), (*place).into());
                self.f.store(&value, &at, FILE);
                Vec::new()
            }
            Op::Gather => {
                let (offsets, ty) = (self.value(operands[0]), llvm(self.function.ty(data.results[0])));
                let file = self.file.clone();
                vec![self.each_lane_loaded(&file, &offsets, ty, FILE)]
            }
            Op::Scatter => {
                self.scatter_in_file(operands);
                Vec::new()
            }
            Op::Cancelled => vec![self.cancelled(data.origin)],
            Op::SetArray(number) => {
                let value = self.array_value(operands[0]);
                let place = self.array(*number, value.ty);
                self.f.store(&value, &place, FILE);
                Vec::new()
            }
            Op::GetArray(number) => {
                let ty = self.function.ty(data.results[0]);
                let own = arrays::array_type(ty);
                let place = self.array(*number, own);
                let all = self.f.load(own, &place, FILE);
                vec![self.of_array(&all, ty)]
            }
            Op::SetElement(number) => {
                let value = self.array_value(operands[1]);
                let at = self.array_element(*number, operands[0], value.ty);
                self.f.store(&value, &at, FILE);
                Vec::new()
            }
            Op::GetElement(number) => {
                let ty = self.function.ty(data.results[0]);
                let own = arrays::array_type(ty);
                let at = self.array_element(*number, operands[0], own);
                let value = self.f.load(own, &at, FILE);
                vec![self.of_array(&value, ty)]
            }
            _ => unreachable!("{} is pure, or not lowered here", data.op),
        }
    }

    /// The thread's own element of an array.
    fn element_at(&mut self, array: &LlvmValue, size: usize) -> LlvmValue {
        let wide = self.f.convert("zext", &self.thread.clone(), I64);
        let bytes = self.f.binary("mul", &wide, &LlvmValue::int(I64, size as u64));
        self.f.offset(array, &bytes)
    }

    /// One more thread has come to the barrier.
    fn arrive(&mut self) {
        let at = self.f.at(&self.frame.clone(), std::mem::offset_of!(Frame, arrived));
        let count = self.f.load(I32, &at, FRAME);
        let count = self.f.binary("add", &count, &LlvmValue::int(I32, 1));
        self.f.store(&count, &at, FRAME);
    }

    /// Has the simulator look, at an instruction, if the launch may be cancelled: the thread faults if it is. What is left is
    /// not.
    fn cancelled(&mut self, instruction: u32) -> LlvmValue {
        // Not in the first block: the address would have a register in all loops, or be spilled in the innermost.
        let at = self.f.at(&self.frame.clone(), std::mem::offset_of!(Frame, cancel));
        let flag = self.f.load(POINTER, &at, CONSTANT);
        // "acquire": what other threads of the host write is seen on the next round.
        let byte = Ty::int(8, 1);
        let raised = self.f.value(byte, &format!("load atomic i8, {} acquire, align 1", flag.typed()));
        let calm = self.f.compare("icmp eq", &raised, &LlvmValue::int(byte, 0));
        let [look, on] = [(); 2].map(|()| self.f.label());
        self.f.branch_likely(&calm, on, look);
        self.f.begin(look);
        self.call_look(instruction);
        self.f.jump(on);
        self.f.begin(on);
        LlvmValue::int(BIT, 0)
    }
}

//! Writes LLVM IR for a kernel.
//!
//! One function executes a thread. Registers are variables on the stack, which LLVM makes values of; flags and execution masks are integers
//! with a bit for each channel. Channels that wait for the thread at a target are bits in a variable of that target.

mod addresses;
mod arithmetic;
mod atomic;
mod block;
mod branch;
mod call;
mod entry;
mod exact;
mod float;
mod known;
mod lane_reads;
mod mask;
mod math;
mod memory;
mod operand;
mod rounding;
mod rounds;
mod rows;
mod scatter;
mod serial;
mod whole;

use std::collections::BTreeMap;
use std::mem::offset_of;

pub use call::RARE;
use gencl_simulator::eu::file::CONTROL;
use gencl_simulator::translated::abi::{FAULT, Frame, GROUP, Interpreted, THREAD, Translation};

use crate::affine::{self, Affine};
use crate::flow::Flow;
use crate::hints::{self, Stride};
use crate::ir::{Function, I8, I32, I64, Label, POINTER, Ty, Value};
use crate::message::Message;
use crate::native;
use crate::order;
use crate::plan::{Plan, Step};
use crate::serial as serials;
use crate::split::{self, Base, Sums};
use crate::variables::Variables;
use crate::{Refused, Written, host};

/// How accesses to the frame, which nobody changes meanwhile, are marked.
const CONSTANT: &str = "align 4, !tbaa !2, !invariant.load !5";
/// How accesses to windows and to what else changes in the frame are marked.
const FRAME: &str = "align 4, !tbaa !2";
/// How accesses to register files, and to the variables that stand for what is in them, are marked.
const FILE: &str = "align 1, !tbaa !4";

/// What the marks mean: kinds of memory of which none overlaps another; how likely a branch is.
const METADATA: &str = r#"
attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }
attributes #1 = { alwaysinline nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }
attributes #2 = { cold nounwind }
attributes #3 = { cold nounwind "no_caller_saved_registers" }

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

/// Targets at which channels may wait; more have no place in the register file while the thread waits itself.
const MAX_TARGETS: usize = 36;

/// Writes a kernel.
pub struct Emitter<'a> {
    plan: &'a Plan<'a>,
    flow: &'a Flow,
    variables: Option<Variables>,
    f: Function,
    frame: Value,
    thread: Value,
    file: Value,
    /// Of each variable.
    places: Vec<Value>,
    /// How each variable changes from lane to lane.
    strides: Vec<Stride>,
    /// The variables that are kept as scalars.
    affine: Vec<Option<Affine>>,
    /// What is written now is for the first lane only.
    scalar: bool,
    /// What is written now is for one lane of a loop that is executed lane by lane.
    lane: Option<serial::Lane>,
    sums: Sums,
    /// Base and offsets of each part of a sum.
    parts: Vec<[Value; 2]>,
    /// `f0`, `f1`
    flags: [Value; 2],
    /// `acc0`, `acc1`: the whole value of each dword.
    accumulators: Value,
    /// Enabled channels.
    active: Value,
    /// Channels that wait, of each target.
    waiting: Vec<Value>,
    /// Of each block.
    labels: Vec<Label>,
    /// Returns [`FAULT`].
    fault: Label,
    windows: u32,
    /// Of messages whose addresses are sums with a scalar.
    shared_windows: BTreeMap<Base, u32>,
    /// Of which more is known.
    known: BTreeMap<u32, known::KnownWindow>,
    /// Where that is kept.
    known_place: Value,
    /// That of the scratch memory.
    scratch_window: Option<u32>,
    interpreted: Vec<Interpreted>,
}

/// Writes the module of a kernel.
///
/// # Errors
/// Why that is not possible.
pub fn emit(plan: &Plan<'_>, flow: &Flow) -> Result<Written, Refused> {
    if flow.targets.len() > MAX_TARGETS && plan.waits() {
        return Err(Refused(format!("{} places where channels wait", flow.targets.len())));
    }
    let variables = (!plan.in_memory).then(|| Variables::new(plan, flow));
    let mut f = Function::default();
    let pointer = |f: &mut Function, bytes| f.variable(bytes);
    let flags = [pointer(&mut f, 4), pointer(&mut f, 4)];
    let accumulators = pointer(&mut f, native::ACCUMULATOR_DWORDS * 8);
    let active = pointer(&mut f, 4);
    let waiting = flow.targets.iter().map(|_| pointer(&mut f, 4)).collect();
    let all = variables.as_ref().map_or(&[][..], |v| &v.all);
    let places = all.iter().map(|v| f.variable((v.end - v.start).next_multiple_of(4))).collect();
    let mut serial = Vec::new();
    let (strides, affine, sums) = match &variables {
        Some(variables) => {
            let strides = hints::of_variables(plan, variables);
            serial = serials::find(plan, flow, variables, &strides);
            let by_lane = serials::written(&serial);
            let affine = affine::of_variables(plan, variables, &strides, &by_lane);
            let sums = Sums::new(plan, flow, variables, &affine, &by_lane);
            (strides, affine, sums)
        }
        None => (Vec::new(), Vec::new(), Sums { sums: vec![None; plan.ops.len()], ..Sums::default() }),
    };
    let parts = sums.parts.iter().map(|_| [pointer(&mut f, 8), pointer(&mut f, 4 * split::LANES)]).collect();
    let labels = flow.blocks.iter().map(|_| f.label()).collect();
    let fault = f.label();
    let mut emitter = Emitter {
        plan,
        flow,
        variables,
        f,
        frame: Value::named(POINTER, "%frame"),
        thread: Value::named(I32, "%thread"),
        file: Value::named(POINTER, "%frame"),
        places,
        strides,
        affine,
        scalar: false,
        lane: None,
        sums,
        parts,
        flags,
        accumulators,
        active,
        waiting,
        labels,
        fault,
        windows: 0,
        shared_windows: BTreeMap::new(),
        known: BTreeMap::new(),
        known_place: Value::named(POINTER, "%known"),
        scratch_window: None,
        interpreted: Vec::new(),
    };
    let entry = emitter.entry();
    let mut block = 0;
    while block < flow.blocks.len() {
        block = match serial.iter().find(|serial| serial.blocks.start == block) {
            Some(serial) => {
                emitter.serial_loop(serial);
                serial.blocks.end
            }
            None => {
                emitter.block(block);
                block + 1
            }
        };
    }
    emitter.f.begin(fault);
    emitter.f.ret(&Value::int(I32, u64::from(FAULT)));
    Ok(emitter.finish(entry))
}

impl Emitter<'_> {
    fn finish(mut self, entry: Label) -> Written {
        let waits = self.plan.waits();
        let arguments = "ptr noalias nonnull %frame, i32 %thread, i32 %resume";
        let header = format!("define internal i32 @thread({arguments}, ptr noalias nonnull %known) #1");
        let blocks = self.f.blocks();
        let mut ir = std::mem::take(&mut self.f).finish(&header, entry, METADATA);
        let header = match waits {
            true => format!("define i32 @{THREAD}({arguments}) #0"),
            false => format!("define i32 @{GROUP}(ptr noalias nonnull %frame) #0"),
        };
        ir.push_str(&self.around(&header));
        ir.push_str(&self.rare_calls());
        let translation =
            Translation { object: Vec::new(), windows: self.windows, waits, interpreted: self.interpreted };
        Written { ir, blocks, translation }
    }

    /// A field of the frame that does not change while the thread runs.
    fn constant(&mut self, ty: Ty, offset: usize) -> Value {
        let at = self.f.at(&self.frame.clone(), offset);
        self.f.load(ty, &at, CONSTANT)
    }

    /// Writes a block.
    fn block(&mut self, block: usize) {
        let (start, end) = (self.flow.blocks[block].start, self.flow.blocks[block].end);
        self.f.begin(self.labels[block]);
        if self.is_loop_header(block) {
            self.stop_if_cancelled();
        }
        if let Some(target) = self.flow.target(block) {
            self.enable_waiting(target);
        }
        let order = match &self.variables {
            Some(variables) => order::of_block(self.plan, variables, start..end, host::vectors()),
            None => (start..end).collect(),
        };
        for index in order {
            self.step(index);
        }
        if !self.f.is_terminated() {
            let next = self.flow.block_at(end).map_or(self.fault, |next| self.labels[next]);
            self.f.jump(next);
        }
    }

    fn step(&mut self, index: usize) {
        let plan = self.plan;
        match &plan.steps[index] {
            Step::Nothing => {}
            Step::Native(native) => self.native(index, *native),
            Step::Message(Message::Lanes(message)) => self.lanes(index, message),
            Step::Message(Message::Block(message)) => self.data_block(index, message),
            Step::Message(Message::Atomic(message)) => self.atomic(index, message),
            Step::Message(Message::Fence { answer }) => {
                self.f.line("fence seq_cst");
                if let Some((_, bytes)) = answer {
                    let zero = Value::int(Ty::int(32, *bytes as u32 / 4), 0);
                    let at = self.definition_place(index, 0);
                    self.f.store(&zero, &at, FILE);
                }
            }
            Step::Message(Message::Barrier) => self.arrive(),
            Step::Message(Message::End) => self.f.ret(&Value::int(I32, 0)),
            Step::Control(bits) => self.set_control(*bits),
            Step::Interpret(reason) => self.interpret(index, reason),
            Step::Branch(branch) if self.lane.is_some() => self.lane_branch(index, *branch),
            Step::Branch(branch) => self.branch(index, *branch),
            Step::Wait => self.wait(index),
        }
    }

    /// What the interpreter finds in `cr0`.
    fn set_control(&mut self, bits: u32) {
        let at = self.f.at(&self.file.clone(), CONTROL);
        self.f.store(&Value::int(I32, u64::from(bits)), &at, FILE);
    }

    fn is_loop_header(&self, block: usize) -> bool {
        self.flow.blocks[block..].iter().any(|other| other.thread.contains(&block))
    }

    /// Ends the thread when the launch is cancelled.
    fn stop_if_cancelled(&mut self) {
        let flag = self.constant(POINTER, offset_of!(Frame, cancel));
        // "acquire": what other threads of the host write is seen on the next round.
        let cancelled = self.f.value(I8, &format!("load atomic i8, {} acquire, align 1", flag.typed()));
        let run = self.f.compare("icmp eq", &cancelled, &Value::int(I8, 0));
        let on = self.f.label();
        self.f.branch_likely(&run, on, self.fault);
        self.f.begin(on);
    }

    /// One more thread has come to the barrier.
    fn arrive(&mut self) {
        let at = self.f.at(&self.frame.clone(), offset_of!(Frame, arrived));
        let count = self.f.load(I32, &at, FRAME);
        let count = self.f.binary("add", &count, &Value::int(I32, 1));
        self.f.store(&count, &at, FRAME);
    }

    /// A pointer in an array of the frame, at a number.
    fn indexed(&mut self, array: usize, index: &Value) -> Value {
        let array = self.constant(POINTER, array);
        let wide = self.f.convert("zext", index, I64);
        let bytes = self.f.binary("mul", &wide, &Value::int(I64, 8));
        let at = self.f.offset(&array, &bytes);
        self.f.load(POINTER, &at, CONSTANT)
    }
}

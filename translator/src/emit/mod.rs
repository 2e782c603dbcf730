//! Writes LLVM IR for a kernel.
//!
//! One function executes a thread. Registers are variables on the stack, which LLVM makes values of; flags and execution masks are integers
//! with a bit for each channel. Channels that wait for the thread at a target are bits in a variable of that target.

mod addresses;
mod ahead;
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
mod own_memory;
mod rounding;
mod rounds;
mod rows;
mod scatter;
mod segment;
mod serial;
mod together;
mod whole;
mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::mem::offset_of;

pub use call::RARE;
use gencl_eu::abi::{FAULT, Frame, GROUP, Interpreted, THREAD, Translation};
use gencl_eu::file::CONTROL;

use crate::affine::{self, Affine};
use crate::flow::Flow;
use crate::hints::{self, Stride};
use crate::ir::{Function, I8, I32, I64, Label, Module, POINTER, Ty, Value};
use crate::message::Message;
use crate::native;
use crate::plan::{Plan, Step};
use crate::segment::Segment;
use crate::serial::{self as serials, Serial};
use crate::split::{self, Base, Sums};
use crate::variables::Variables;
use crate::{Choices, Refused, Second, Written};

/// How accesses to the frame, which nobody changes meanwhile, are marked.
const CONSTANT: &str = "align 4, !tbaa !2, !invariant.load !5";
/// How accesses to windows and to what else changes in the frame are marked.
const FRAME: &str = "align 4, !tbaa !2";
/// How accesses to register files, and to the variables that stand for what is in them, are marked.
const FILE: &str = "align 1, !tbaa !4";

/// What the marks mean: kinds of memory of which none overlaps another; how likely a branch is.
pub(crate) const METADATA: &str = r#"
attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }
attributes #1 = { alwaysinline nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }
attributes #2 = { cold nounwind }
attributes #3 = { cold nounwind "no_caller_saved_registers" }
attributes #4 = { cold noinline nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }
attributes #5 = { noinline nounwind memory(read) "prefer-vector-width"="512" "min-legal-vector-width"="512" }

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

/// The argument that all functions have.
const FRAME_ARGUMENT: &str = "ptr noalias nonnull %frame";
/// What a function is told that executes a thread.
const ARGUMENTS: &str = "ptr noalias nonnull %frame, i32 %thread, i32 %resume";

/// The function that executes a thread and has all ways through its messages.
const EVERY_WAY: &str = "every_way";
/// The one that has nothing but rows for messages in segments.
const ROWS_ALONE: &str = "rows_alone";
/// The one that executes a thread from its beginning on, when a row is not inside.
const ANEW: &str = "anew";

/// A second function is worth its translation if it has no more instructions than those in segments, as many others, and so many that every kernel begins with.
const MOST_BESIDE: usize = 64;

/// Most bytes of IR that is written for a second function, too.
const MOST_TWICE: usize = 1 << 20;

/// Writes a kernel.
pub struct Emitter<'a> {
    plan: &'a Plan<'a>,
    flow: &'a Flow,
    variables: Option<Variables>,
    module: Module,
    /// The function that is written now.
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
    /// Registers that have been written, of those that are noted.
    written: Value,
    /// Channels that wait, of each target.
    waiting: Vec<Value>,
    /// Threads stop before they end.
    stops: bool,
    /// How often a thread may still come to where others have their turn before they have it.
    rounds: Value,
    /// How often from then on.
    rounds_each: u32,
    /// Of each block.
    labels: Vec<Label>,
    /// Returns [`FAULT`].
    fault: Label,
    windows: u32,
    /// Of messages whose addresses are sums with a scalar.
    shared_windows: BTreeMap<Base, u32>,
    /// Of other messages.
    own_windows: BTreeMap<usize, u32>,
    /// Messages that are certainly rows.
    rows: BTreeMap<usize, rows::Row>,
    /// Set while the function is written that has nothing but rows in segments.
    quick: Option<segment::Quick>,
    /// Messages whose lanes go along rows of their own, and the blocks that are their loops.
    walks: BTreeMap<usize, usize>,
    /// What is kept for them.
    ahead: BTreeMap<usize, ahead::Kept>,
    /// Rows ask for what comes behind them.
    prefetches: bool,
    /// Of which more is known.
    known: BTreeMap<u32, known::KnownWindow>,
    /// Where that is kept.
    known_place: Value,
    /// That of the scratch memory.
    scratch_window: Option<u32>,
    interpreted: Vec<Interpreted>,
    /// The functions that gather, where they are to.
    gathers: Option<BTreeSet<scatter::Gather>>,
}

/// Writes the module of a kernel.
///
/// # Errors
/// Why that is not possible.
pub fn emit(plan: &Plan<'_>, flow: &Flow, choices: &Choices) -> Result<Written, Refused> {
    let stops = flow.resumed().next().is_some() || plan.steps.iter().any(|step| matches!(step, Step::Wait));
    let variables = (!plan.in_memory).then(|| Variables::new(plan, flow));
    let mut serials = Vec::new();
    let (strides, affine, sums) = match &variables {
        Some(variables) => {
            let strides = hints::of_variables(plan, variables);
            serials = serials::find(plan, flow, variables, &strides);
            let concerned = |index: usize| plan.doubts.concern(index, &plan.ops[index]);
            serials.retain(|serial| !serial.instructions(flow).any(concerned));
            let by_lane = serials::written(&serials);
            let affine = affine::of_variables(plan, variables, &strides, &by_lane);
            let sums = Sums::new(plan, flow, variables, &affine, &by_lane);
            (strides, affine, sums)
        }
        None => (Vec::new(), Vec::new(), Sums { sums: vec![None; plan.ops.len()], ..Sums::default() }),
    };
    let nowhere = Value::poison(POINTER);
    let mut emitter = Emitter {
        plan,
        flow,
        variables,
        module: Module::default(),
        f: Function::default(),
        frame: Value::named(POINTER, "%frame"),
        thread: Value::named(I32, "%thread"),
        file: Value::named(POINTER, "%frame"),
        places: Vec::new(),
        strides,
        affine,
        scalar: false,
        lane: None,
        sums,
        parts: Vec::new(),
        flags: [nowhere.clone(), nowhere.clone()],
        accumulators: nowhere.clone(),
        active: nowhere.clone(),
        written: nowhere.clone(),
        waiting: Vec::new(),
        stops,
        rounds: nowhere,
        rounds_each: choices.rounds,
        labels: Vec::new(),
        fault: Label::default(),
        windows: 0,
        shared_windows: BTreeMap::new(),
        own_windows: BTreeMap::new(),
        rows: BTreeMap::new(),
        walks: BTreeMap::new(),
        ahead: BTreeMap::new(),
        quick: None,
        prefetches: true,
        known: BTreeMap::new(),
        known_place: Value::named(POINTER, known::KNOWN),
        scratch_window: None,
        interpreted: Vec::new(),
        gathers: choices.gathers_apart.then(BTreeSet::new),
    };
    Ok(emitter.all(&serials, choices.second))
}

impl Emitter<'_> {
    /// Writes all functions.
    fn all(&mut self, serials: &[Serial], second: Second) -> Written {
        let segments = self.segments_that_pay(second);
        self.walks = self.walks(serials);
        // Where it is for threads that begin anew, nothing comes behind them soon.
        self.prefetches = segments.is_empty();
        self.function(EVERY_WAY, serials);
        let interpreted = std::mem::take(&mut self.interpreted);
        let mut thread = EVERY_WAY;
        if !segments.is_empty() && self.module.bytes() < MOST_TWICE {
            thread = ROWS_ALONE;
            self.prefetches = true;
            self.anew(EVERY_WAY, &format!("define internal i32 @{ANEW}({FRAME_ARGUMENT}, i32 %thread) #4"));
            self.quick = Some(segment::Quick::new(segments));
            self.function(ROWS_ALONE, serials);
        }
        let header = match self.stops {
            true => format!("define i32 @{THREAD}({ARGUMENTS}) #0"),
            false => format!("define i32 @{GROUP}({FRAME_ARGUMENT}) #0"),
        };
        self.around(thread, &header);
        self.rare_calls();
        self.gathers_apart();
        let module = std::mem::take(&mut self.module);
        let saved = if self.stops { self.kept_bytes() as u32 } else { 0 };
        let translation = Translation {
            windows: self.windows,
            saved,
            yields: self.stops,
            interpreted,
            ..Translation::default()
        };
        Written { ir: module.finish(METADATA), translation, middle: None }
    }

    /// The segments, if a second function for them pays.
    fn segments_that_pay(&mut self, second: Second) -> Vec<Segment> {
        let segments = self.segments();
        let covered: usize = segments.iter().map(|segment| segment.instructions.len()).sum();
        let pays = self.plan.ops.len() <= covered * 2 + MOST_BESIDE;
        if pays || second == Second::Always { segments } else { Vec::new() }
    }

    /// Writes a function that executes a thread.
    fn function(&mut self, name: &str, serials: &[Serial]) {
        self.begin_function();
        let entry = self.entry();
        let mut block = 0;
        while block < self.flow.blocks.len() {
            block = match serials.iter().find(|serial| serial.blocks.start == block) {
                Some(serial) => {
                    self.serial_loop(serial);
                    serial.blocks.end
                }
                None => {
                    self.block(block);
                    block + 1
                }
            };
        }
        self.f.begin(self.fault);
        self.f.ret(&Value::int(I32, u64::from(FAULT)));
        self.end_quick();
        let header =
            format!("define internal i32 @{name}({ARGUMENTS}, ptr noalias nonnull {}) #1", known::KNOWN);
        self.module.add(std::mem::take(&mut self.f), &header, entry);
    }

    /// The variables and labels of a function.
    fn begin_function(&mut self) {
        let f = &mut self.f;
        self.flags = [f.variable(4), f.variable(4)];
        self.accumulators = f.variable(native::ACCUMULATOR_DWORDS * 8);
        self.active = f.variable(4);
        self.written = f.variable(16);
        self.rounds = f.variable(4);
        self.waiting = self.flow.targets.iter().map(|_| f.variable(4)).collect();
        let all = self.variables.as_ref().map_or(&[][..], |v| &v.all);
        self.places = all.iter().map(|v| f.variable((v.end - v.start).next_multiple_of(4))).collect();
        self.parts = self.sums.parts.iter().map(|_| [f.variable(8), f.variable(4 * split::LANES)]).collect();
        self.labels = self.flow.blocks.iter().map(|_| f.label()).collect();
        self.fault = f.label();
        self.begin_ahead();
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
        self.forget_ahead(Some(block));
        if self.is_loop_header(block) {
            self.stop_if_cancelled();
        }
        if self.flow.turns.contains(&block) {
            self.give_turn(block);
        }
        if let Some(target) = self.flow.target(block) {
            self.enable_waiting(target);
        }
        let mut next = start;
        for segment in self.segments_in(start..end) {
            self.in_order(next..segment.instructions.start);
            self.segment(&segment);
            next = segment.instructions.end;
        }
        self.in_order(next..end);
        if !self.f.is_terminated() {
            let next = self.flow.block_at(end).map_or(self.fault, |next| self.labels[next]);
            self.f.jump(next);
        }
    }

    fn step(&mut self, index: usize) {
        self.look_for_unwritten(index);
        self.execute_step(index);
        self.note_written(index);
    }

    fn execute_step(&mut self, index: usize) {
        let plan = self.plan;
        match &plan.steps[index] {
            Step::Nothing => {}
            Step::Native(native) => self.native(index, *native),
            Step::Message(Message::Lanes(message)) => self.lanes(index, message),
            Step::Message(Message::Block(message)) => self.data_block(index, message),
            Step::Message(Message::Atomic(message)) => self.atomic(index, message),
            Step::Message(Message::Image(message)) => self.image(index, message),
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
        self.flow.loops().any(|blocks| *blocks.start() == block)
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

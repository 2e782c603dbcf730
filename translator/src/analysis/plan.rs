//! What is to become of each instruction.

use std::collections::BTreeMap;

use gencl_eu::Kernel;
use gencl_eu::abi::Variant;
use gencl_eu::file::{self, NOTIFICATION};
use gencl_eu::message::MessageOperation;
use gencl_eu::op::{Action, Branch, Op};
use gencl_eu::operand::{SourceLocation, Src, Target};
use gencl_isa::{Generation, Opcode};

use crate::analysis::Refused;
use crate::analysis::access::{Access, Definition, Effects, writes_flags};
use crate::analysis::message::{self, Message};
use crate::analysis::modes::{self, Control, Mode};
use crate::analysis::native::{self, Native};
use crate::analysis::selection;
use crate::host::Host;

/// What becomes of an instruction.
#[derive(Clone, Debug)]
pub enum Step {
    /// Nothing: it has no effect here.
    Nothing,
    /// Arithmetic in host code.
    Native(Native),
    /// A message in host code.
    Message(Message),
    /// `cr0.0` becomes these bits.
    Control(u32),
    /// The interpreter executes it, for this reason.
    Interpret(String),
    /// A branch.
    Branch(Branch),
    /// The thread stops until the others have come to the barrier.
    Wait,
}

/// Reads of registers that may not have been written.
#[derive(Default)]
pub struct Doubts {
    /// Of each instruction that has some, the registers.
    pub reads: BTreeMap<usize, u128>,
    /// Registers of which a thread notes whether they have been written.
    pub noted: u128,
}

/// A kernel, and what becomes of its instructions.
pub struct Plan<'a> {
    /// The instructions.
    pub ops: &'a [Op],
    /// What becomes of each.
    pub steps: Vec<Step>,
    /// What each reads and writes.
    pub effects: Vec<Effects>,
    /// How each computes with floats. Of those for which that is not known nothing depends on it.
    pub modes: Vec<Mode>,
    /// What the code is for.
    pub variant: &'a Variant,
    /// The host that it is for.
    pub host: &'a Host,
    /// The generation that the kernel is for.
    pub generation: Generation,
    /// Registers stay in the thread's register file, because which of them is accessed is known at run time only.
    pub in_memory: bool,
    /// Host code uses the accumulators, and the interpreter does not.
    pub accumulators: bool,
    /// There are half floats.
    pub halves: bool,
    /// Reads that strict mode has to look at.
    pub doubts: Doubts,
}

impl<'a> Plan<'a> {
    /// Decides for all instructions.
    ///
    /// # Errors
    /// The reason why the kernel cannot be translated.
    pub fn new(kernel: &'a Kernel, variant: &'a Variant, host: &'a Host) -> Result<Plan<'a>, Refused> {
        let ops = kernel.ops();
        let controls = modes::of_kernel(ops, variant.control);
        let accumulators =
            selection::accumulators_fit(ops.iter().zip(controls.iter().map(|control| control.mode)), host);
        let mut steps = Vec::with_capacity(ops.len());
        for (index, op) in ops.iter().enumerate() {
            let step = step(op, controls[index], variant, accumulators, host)
                .map_err(|why| Refused(format!("{} at {:#x}: {why}", kernel.text(index), op.offset)))?;
            steps.push(step);
        }
        let effects = ops.iter().zip(&steps).map(|(op, step)| effects(op, step)).collect();
        let in_memory = ops.iter().any(is_indirect);
        let accumulators = accumulators && ops.iter().any(native::uses_accumulator);
        let modes = controls.iter().map(|control| control.mode.unwrap_or(modes::HOST)).collect();
        let halves = ops.iter().any(native::has_halves);
        let doubts = Doubts::default();
        let generation = kernel.generation();
        let mut plan = Plan {
            ops,
            steps,
            effects,
            modes,
            variant,
            host,
            generation,
            in_memory,
            accumulators,
            halves,
            doubts,
        };
        plan.check_barriers()?;
        if variant.single_thread {
            plan.forget_barriers();
        }
        Ok(plan)
    }

    /// Whether an instruction may write flags.
    pub fn changes_flags(&self, index: usize) -> bool {
        let op = &self.ops[index];
        let unknown = matches!(self.steps[index], Step::Interpret(_) | Step::Control(_));
        op.condition.is_some() || writes_flags(op) || unknown
    }

    /// Barriers have no effect on a thread that is alone.
    fn forget_barriers(&mut self) {
        for (step, effects) in self.steps.iter_mut().zip(&mut self.effects) {
            if matches!(step, Step::Wait | Step::Message(Message::Barrier)) {
                (*step, *effects) = (Step::Nothing, Effects::default());
            }
        }
    }

    /// A thread counts as waiting from its barrier message on, so nothing but what has no effect may come between the
    /// message and its wait.
    fn check_barriers(&self) -> Result<(), Refused> {
        for (index, step) in self.steps.iter().enumerate() {
            if !matches!(step, Step::Message(Message::Barrier)) {
                continue;
            }
            let waits = self.steps[index + 1..]
                .iter()
                .take_while(|step| {
                    matches!(
                        step,
                        Step::Nothing | Step::Native(_) | Step::Message(Message::Fence { .. }) | Step::Wait
                    )
                })
                .any(|step| matches!(step, Step::Wait));
            if !waits {
                return Err(Refused("a barrier message that no wait follows".into()));
            }
        }
        let [barriers, waits] = [
            self.steps.iter().filter(|s| matches!(s, Step::Message(Message::Barrier))).count(),
            self.steps.iter().filter(|s| matches!(s, Step::Wait)).count(),
        ];
        if barriers == waits { Ok(()) } else { Err(Refused("waits without barrier messages".into())) }
    }
}

/// Whether an operand is register-indirect.
fn is_indirect(op: &Op) -> bool {
    op.indirect_source
        || matches!(op.dst.target, Target::Indirect { .. })
        || matches!(&op.action, Action::Message(m) if m.kind.is_none())
}

fn step(
    op: &Op,
    control: Control,
    variant: &Variant,
    accumulators: bool,
    host: &Host,
) -> Result<Step, String> {
    Ok(match &op.action {
        Action::Nop => Step::Nothing,
        Action::Refused(fault) => return Err(fault.to_string()),
        Action::Wait(0) => Step::Wait,
        Action::Wait(_) => return Err("waits for another notification than the barrier's".into()),
        Action::Branch(Branch::JumpIndirect | Branch::Call { .. } | Branch::Return) => {
            return Err("where it goes is known at run time only".into());
        }
        Action::Branch(branch) => Step::Branch(*branch),
        Action::Message(m) => match message::select(op, m, variant) {
            Some(message) => Step::Message(message),
            None if m.end_of_thread || matches!(m.kind, Some(MessageOperation::Barrier)) => {
                return Err("not a message that can end a thread or wait".into());
            }
            None => Step::Interpret(format!("{}: no such message in host code", mnemonic(op))),
        },
        Action::Execute(_) if clears_notifications(op) => Step::Nothing,
        Action::Execute(_) if touches(op, &[file::FLOW_CONTROL, file::IP, file::TIMESTAMP]) => {
            return Err("a register that only the interpreter has".into());
        }
        Action::Execute(_) => match (control.set, selection::select(op, control.mode, accumulators, host)) {
            (Some(bits), _) => Step::Control(bits),
            (None, Ok(native)) => Step::Native(native),
            (None, Err(reason)) => Step::Interpret(format!("{}: {reason}", mnemonic(op))),
        },
    })
}

/// What an instruction is called, with what makes another of it.
fn mnemonic(op: &Op) -> String {
    let function = op.function.map(|function| format!(" {function:?}").to_lowercase()).unwrap_or_default();
    let saturate = if op.saturate { ".sat" } else { "" };
    format!("{}{function}{saturate}", op.opcode.info().mnemonic)
}

/// Whether it is the reset of the notification counter that compilers write before a barrier. It is 0 there.
fn clears_notifications(op: &Op) -> bool {
    op.opcode == Opcode::Mov
        && matches!(op.src[0].location, SourceLocation::Constant(0))
        && matches!(op.dst.target, Target::Direct { offset, .. } if (NOTIFICATION..NOTIFICATION + 12).contains(&offset))
}

/// Whether it accesses architecture registers that begin at one of these bytes.
fn touches(op: &Op, registers: &[usize]) -> bool {
    let inside = |at: usize| registers.iter().any(|first| (*first..first + 5 * 32).contains(&at));
    op.src.iter().filter_map(Src::offset).any(inside)
        || matches!(op.dst.target, Target::Direct { offset, .. } if inside(offset))
}

fn effects(op: &Op, step: &Step) -> Effects {
    match step {
        Step::Native(_) => {
            let mut sources: Vec<_> = op.src.iter().map(|src| Access::of_source(op, src)).collect();
            if native::is_dot(op.opcode) {
                // Read across channels.
                sources.iter_mut().flatten().for_each(|access| access.owner = None);
            }
            let partial = op.predicate.is_some() && !op.predicate_is_operand || op.write_lanes != u32::MAX;
            let written = Access::of_destination(op, &op.dst);
            let definitions = written.into_iter().map(|access| Definition { access, partial }).collect();
            Effects { uses: sources, definitions }
        }
        Step::Message(message) => message.effects(op),
        Step::Interpret(_) => {
            let written = op.writes | native::second_destination(op);
            let partial = |access| Definition { access, partial: true };
            Effects {
                uses: Access::registers(op.reads | written).into_iter().map(Some).collect(),
                definitions: Access::registers(written).into_iter().map(partial).collect(),
            }
        }
        Step::Nothing | Step::Control(_) | Step::Branch(_) | Step::Wait => Effects::default(),
    }
}

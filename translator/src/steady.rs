//! What changes by the same number in each round of a loop that is executed lane by lane, so that what rounds ask can be asked for many of
//! them before they begin.

use std::collections::BTreeMap;
use std::ops::Range;

use gencl_eu::op::{Branch, Op};
use gencl_eu::operand::Src;
use gencl_isa::{Condition, PredicateControl};

use crate::flow::Flow;
use crate::hints::constant;
use crate::message::Message;
use crate::native::{Integer, Native, Number};
use crate::plan::{Plan, Step};
use crate::serial::{Column, Serial, has_channel, is_scalar};
use crate::variables::Variables;
use crate::words::Word;

/// What a number is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// The element that a column has for the lane when a round begins.
    Column(Column),
    /// What a message has read in the round.
    Read(usize),
    /// 0
    Nothing,
}

/// `(element << shift) + more` in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// The element.
    pub root: Root,
    /// By how much the element is shifted to the left.
    pub shift: u32,
    /// What is added.
    pub more: u32,
}

impl Form {
    fn of(root: Root) -> Form {
        Form { root, shift: 0, more: 0 }
    }
}

/// The last round is the one in which two numbers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The numbers, as they are in the round that begins.
    pub numbers: [Form; 2],
    /// By what the first comes nearer to the second with each round: a power of two.
    pub step: u32,
}

/// A loop of one block.
#[derive(Clone, Debug)]
pub struct Steady {
    /// Sources of instructions, by instruction and number: what they are in the round that begins, and by what that grows with each.
    pub sources: BTreeMap<(usize, usize), (Form, u32)>,
    /// Sources that are made of what a message has read, and the message.
    pub gathered: BTreeMap<(usize, usize), (Form, usize)>,
    /// Where it is known before how many rounds there are.
    pub ending: Option<Ending>,
}

/// What columns hold while a round is followed: `None` is something else than a [`Form`]; what is not there is as it was.
#[derive(Default)]
struct Held(BTreeMap<Column, Option<Form>>);

impl Held {
    fn of(&self, column: Column) -> Option<Form> {
        self.0.get(&column).copied().unwrap_or(Some(Form::of(Root::Column(column))))
    }

    /// By what an element grows with each round, asked when a round has been followed to its end.
    fn step(&self, column: Column) -> Option<u32> {
        let same = Form::of(Root::Column(column));
        self.of(column).filter(|form| Form { more: 0, ..*form } == same).map(|form| form.more)
    }

    /// By what a number grows with each round.
    fn step_of(&self, form: Form) -> Option<u32> {
        match form.root {
            Root::Column(column) => self.step(column).map(|step| step << form.shift),
            Root::Read(_) => None,
            Root::Nothing => Some(0),
        }
    }
}

/// Looks at a loop for the lanes from `channel` on; `None` when it is not like that.
pub fn find(
    plan: &Plan<'_>,
    flow: &Flow,
    variables: &Variables,
    serial: &Serial,
    channel: u32,
) -> Option<Steady> {
    if serial.blocks.len() != 1 {
        return None;
    }
    let block = &flow.blocks[serial.blocks.start];
    let mut held = Held::default();
    let mut sources: BTreeMap<(usize, usize), Form> = BTreeMap::new();
    for index in block.start..block.end {
        let op = &plan.ops[index];
        let done = matches!(plan.steps[index], Step::Nothing) || serial.operations.contains_key(&index);
        if done || is_scalar(op) || !has_channel(op, channel) {
            continue;
        }
        let effects = &plan.effects[index];
        for (number, access) in effects.uses.iter().enumerate() {
            let column = access
                .as_ref()
                .and_then(|access| Column::of(access, variables.uses[index].get(number).copied()??));
            if let Some(form) = column.and_then(|column| held.of(column)) {
                sources.insert((index, number), form);
            }
        }
        let value = match &plan.steps[index] {
            Step::Message(Message::Lanes(read))
                if read.components.len() == 1 && read.size == 4 && op.predicate.is_none() =>
            {
                Some(Form::of(Root::Read(index)))
            }
            step => form(step, op, |number| sources.get(&(index, number)).copied()),
        };
        for (definition, variable) in effects.definitions.iter().zip(&variables.definitions[index]) {
            if let Some(column) = Column::of(&definition.access, *variable) {
                held.0.insert(column, value);
            }
        }
    }
    let gathered = sources.iter().filter_map(|(at, form)| match form.root {
        Root::Read(message) => Some((*at, (*form, message))),
        Root::Column(_) | Root::Nothing => None,
    });
    let gathered = gathered.collect();
    let steps = sources.into_iter().filter_map(|(at, form)| Some((at, (form, held.step_of(form)?))));
    let sources: BTreeMap<_, _> = steps.collect();
    let ending = ending(plan, serial, block.start..block.end, channel, &sources);
    goes_back(plan, block.start, block.end - 1).then_some(Steady { sources, gathered, ending })
}

/// How a loop ends whose last instruction goes back to the first one, if one comparison decides that.
fn ending(
    plan: &Plan<'_>,
    serial: &Serial,
    block: Range<usize>,
    channel: u32,
    sources: &BTreeMap<(usize, usize), (Form, u32)>,
) -> Option<Ending> {
    let back = &plan.ops[block.end - 1];
    let predicate = back.predicate.filter(|predicate| predicate.control == PredicateControl::Normal)?;
    let flag = Word::Flag(back.flag_base);
    let is_own = |index: &usize| {
        let op = &plan.ops[*index];
        op.condition.is_some() && op.flag_base == back.flag_base && has_channel(op, channel)
    };
    let mut writers = block.filter(is_own);
    let (Some(writer), None) = (writers.next(), writers.next()) else { return None };
    // What goes on while numbers differ.
    let goes_on = if predicate.inverse { Condition::Equal } else { Condition::NotEqual };
    let Step::Native(Native::Compare { number: Number::Unsigned | Number::Signed, condition }) =
        plan.steps[writer]
    else {
        return None;
    };
    let op = &plan.ops[writer];
    if condition != goes_on
        || op.predicate.is_some()
        || serial.operations.values().any(|operation| operation.to == flag)
    {
        return None;
    }
    let number = |number: usize| {
        let src = &op.src[number];
        let constant =
            constant(src).map(|value| (Form { root: Root::Nothing, shift: 0, more: value as u32 }, 0));
        let changing = || sources.get(&(writer, number)).filter(|_| src.ty.size() == 4 && !src.modified());
        constant.or_else(|| changing().copied())
    };
    let ((a, a_step), (b, b_step)) = number(0).zip(number(1))?;
    let step = a_step.wrapping_sub(b_step);
    let ending = if step.is_power_of_two() {
        Ending { numbers: [a, b], step }
    } else {
        Ending { numbers: [b, a], step: step.wrapping_neg() }
    };
    ending.step.is_power_of_two().then_some(ending)
}

/// What an instruction makes of its sources.
fn form(step: &Step, op: &Op, source: impl Fn(usize) -> Option<Form>) -> Option<Form> {
    let is_dword = |src: &Src| src.ty.size() == 4 && !src.modified();
    let constant = |number: usize| constant(&op.src[number]).map(|value| value as u32);
    if op.predicate.is_some() || op.saturate || op.dst.ty.size() != 4 {
        return None;
    }
    let of = |number: usize| source(number).filter(|_| is_dword(&op.src[number]));
    match step {
        Step::Native(Native::Copy) => of(0),
        Step::Native(Native::Integer { function: Integer::Add, bits: 32 }) => {
            let (form, more) = of(0).zip(constant(1)).or_else(|| of(1).zip(constant(0)))?;
            Some(Form { more: form.more.wrapping_add(more), ..form })
        }
        Step::Native(Native::Integer { function: Integer::ShiftLeft, bits: 32 }) => {
            let (form, count) = of(0).zip(constant(1))?;
            let count = count & 31;
            let shift = form.shift + count;
            (shift < 32).then_some(Form { shift, more: form.more << count, ..form })
        }
        _ => None,
    }
}

/// Does an instruction go back to the first one, if a channel's flag says so?
fn goes_back(plan: &Plan<'_>, first: usize, last: usize) -> bool {
    let target = match plan.steps[last] {
        Step::Branch(Branch::While { jip }) => jip,
        Step::Branch(Branch::GotoBackward { uip, .. }) => uip,
        _ => return false,
    };
    target == first && plan.ops[last].predicate.is_some()
}

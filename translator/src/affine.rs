//! Variables whose value in a lane is that of the first lane and a number of equal steps: local ids, what is computed of them
//! and of constants, and all that is the same in all lanes, which may be what was read at one address. A scalar is enough for them.

use std::collections::BTreeSet;

use gencl_eu::abi::Pattern;
use gencl_eu::operand::SourceLocation;
use gencl_isa::Type;

use crate::access::Access;
use crate::hints::{self, Stride};
use crate::message::Message;
use crate::native::{self, Integer, Native};
use crate::plan::{Plan, Step};
use crate::variables::{Variable, Variables};

/// How a variable is kept as a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine {
    /// From lane to lane.
    pub step: i64,
    /// Bytes of an element: 2 or 4.
    pub size: usize,
}

/// Which variables can be kept so. Those that are written lane `by_lane` cannot.
pub fn of_variables(
    plan: &Plan<'_>,
    variables: &Variables,
    strides: &[Stride],
    by_lane: &BTreeSet<usize>,
) -> Vec<Option<Affine>> {
    let mut found: Vec<Option<Affine>> = Vec::with_capacity(strides.len());
    for (number, stride) in strides.iter().enumerate() {
        let step = match stride {
            Stride::Known(step) if !by_lane.contains(&number) => Some(*step),
            _ => None,
        };
        let size = if variables.all[number].initial.is_empty() { 4 } else { 2 };
        found.push(step.map(|step| Affine { step, size }));
    }
    let drop = |found: &mut Vec<Option<Affine>>, variable: usize| -> bool {
        found.get_mut(variable).is_some_and(|affine| affine.take().is_some())
    };
    for (index, effects) in plan.effects.iter().enumerate() {
        for (access, variable) in effects.uses.iter().zip(&variables.uses[index]) {
            if let (Some(access), Some(variable)) = (access, variable)
                && !is_row(access, *variable, variables, found[*variable])
            {
                drop(&mut found, *variable);
            }
        }
        for (number, definition) in effects.definitions.iter().enumerate() {
            let variable = variables.definitions[index][number];
            let Some(all) = variables.all.get(variable) else { continue };
            let whole = definition.access.extent() == (all.start, all.end) && definition.access.at.len() > 1;
            if !whole
                || variables.merging[index][number]
                || !is_row(&definition.access, variable, variables, found[variable])
                || !matches!(plan.steps[index], Step::Native(_)) && !is_narrow_read(&plan.steps[index])
            {
                drop(&mut found, variable);
            }
        }
    }
    for (number, variable) in variables.all.iter().enumerate() {
        if !variable.initial.is_empty() && !is_row_of_words(plan, variable) {
            drop(&mut found, number);
        }
    }
    // Exact sums of what turns out not to be affine are not affine either.
    loop {
        let mut changed = false;
        for (index, step) in plan.steps.iter().enumerate() {
            let is_exact = match step {
                Step::Native(native) => is_exact(plan, variables, &found, index, *native),
                step if is_narrow_read(step) => is_at_one_address(variables, &found, index),
                _ => continue,
            };
            for variable in &variables.definitions[index] {
                if found.get(*variable).is_some_and(Option::is_some) && !is_exact {
                    changed |= drop(&mut found, *variable);
                }
            }
        }
        if !changed {
            return found;
        }
    }
}

/// Are the words that the thread begins with those of lanes that follow each other?
fn is_row_of_words(plan: &Plan<'_>, variable: &Variable) -> bool {
    let bytes = variable.end - variable.start;
    if variable.initial.len() != bytes || !matches!(bytes, 16 | 32) {
        return false;
    }
    let Some(first) = hints::pattern_at(plan, variable.start) else { return false };
    let alone = bytes == 16;
    let second = hints::pattern_at(plan, variable.start + 16);
    match first {
        Pattern::Uniform | Pattern::Repeats => alone || second == Some(Pattern::Repeats),
        Pattern::Consecutive | Pattern::Continues => alone || second == Some(Pattern::Continues),
        Pattern::Any => false,
    }
}

/// Are an access's elements those of lanes that follow each other?
fn is_row(access: &Access, variable: usize, variables: &Variables, affine: Option<Affine>) -> bool {
    let Some(Affine { size, .. }) = affine else { return false };
    let start = variables.all[variable].start;
    usize::from(access.size) == size
        && (usize::from(access.at[0]) - start).is_multiple_of(size)
        && access.at.windows(2).all(|pair| usize::from(pair[1]) == usize::from(pair[0]) + size)
}

/// Does it read dwords at addresses of 32 bits? What is a sum of 64 bits is known later only.
fn is_narrow_read(step: &Step) -> bool {
    matches!(step, Step::Message(Message::Lanes(m)) if !m.write && m.slot == 4 && m.memory.address_size() == 4)
}

/// Is a message's address certainly the same for all lanes?
fn is_at_one_address(variables: &Variables, found: &[Option<Affine>], index: usize) -> bool {
    let affine = variables.uses[index][0].and_then(|variable| found[variable]);
    affine.is_some_and(|affine| affine.step == 0)
}

/// Is the result affine because the sources are, without an exception?
fn is_exact(
    plan: &Plan<'_>,
    variables: &Variables,
    found: &[Option<Affine>],
    index: usize,
    native: Native,
) -> bool {
    let op = &plan.ops[index];
    if !native::is_by_channel(op) {
        return false;
    }
    if op.condition.is_some() && !matches!(native, Native::Extreme { .. }) || op.predicate.is_some() {
        return false;
    }
    // The step of each source; none for what is not affine.
    let step = |number: usize| -> Option<i64> {
        match (&op.src[number].location, variables.uses[index].get(number).copied().flatten()) {
            (SourceLocation::Scalar(_) | SourceLocation::Constant(_), _) => Some(0),
            (SourceLocation::Packed(_), Some(variable)) => Some(found[variable]?.step),
            _ => None,
        }
    };
    let steps: Option<Vec<i64>> = (0..3).filter(|n| op.src[*n].is_some()).map(step).collect();
    let Some(steps) = steps else { return false };
    if steps.iter().all(|step| *step == 0) {
        return true;
    }
    // Sums modulo 2^32. Words are extended exactly when they have no sign; those of the payload do not wrap.
    let sizes = op.dst.ty.size() == 4
        && op.src.iter().filter(|s| s.is_some()).all(|s| s.ty.size() == 4 || s.ty == Type::UW)
        && !op.src.iter().any(|s| s.abs);
    let constant = matches!(op.src[1].location, SourceLocation::Constant(_));
    sizes
        && match native {
            Native::Copy => true,
            Native::Convert { from, to } => !from.is_float() && !to.is_float(),
            Native::Integer { function: Integer::Add, bits: 32 } => true,
            Native::Integer { function: Integer::Xor | Integer::Not, bits: 32 } => hints::is_not(native, op),
            Native::Integer { function: Integer::ShiftLeft | Integer::Multiply, bits: 32 } => {
                constant && !op.src[1].modified()
            }
            _ => false,
        }
}

//! How values change from lane to lane: by nothing, by a number, or in a way that only run time knows.
//!
//! These are guesses. They decide which ways of accessing memory are tried; whether one is right is found out each time. So sums may
//! overflow here, and what disabled channels hold does not matter.

use gencl_eu::abi::Pattern;
use gencl_eu::op::Op;
use gencl_eu::operand::{SourceLocation, Src};
use gencl_isa::Type;

use crate::message::Message;
use crate::native::{Integer, Native};
use crate::plan::{Plan, Step};
use crate::variables::Variables;

/// How a value changes from lane to lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stride {
    /// Nothing is known yet.
    Unset,
    /// By a number.
    Known(i64),
    /// As something that was read from memory.
    Loaded,
    /// Somehow.
    Any,
}

impl Stride {
    /// That of a value which is one or the other.
    pub fn join(self, other: Stride) -> Stride {
        match (self, other) {
            (Stride::Unset, known) | (known, Stride::Unset) => known,
            (a, b) if a == b => a,
            _ => Stride::Any,
        }
    }

    /// That of a value of which the number is a function of this one's.
    pub fn map(self, function: impl FnOnce(i64) -> i64) -> Stride {
        match self {
            Stride::Known(step) => Stride::Known(function(step)),
            other => other,
        }
    }

    fn plus(self, other: Stride) -> Stride {
        match (self, other) {
            (Stride::Known(a), Stride::Known(b)) => Stride::Known(a.wrapping_add(b)),
            _ => self.mixed(other),
        }
    }

    /// Of a function of two values that keeps no steps.
    fn mixed(self, other: Stride) -> Stride {
        match (self, other) {
            (Stride::Unset, _) | (_, Stride::Unset) => Stride::Unset,
            (Stride::Known(0), Stride::Known(0)) => Stride::Known(0),
            (Stride::Loaded, _) | (_, Stride::Loaded) => Stride::Loaded,
            _ => Stride::Any,
        }
    }
}

/// The stride of each variable.
pub fn of_variables(plan: &Plan<'_>, variables: &Variables) -> Vec<Stride> {
    let mut hints = Hints { plan, variables, strides: vec![Stride::Unset; variables.all.len()] };
    for (number, variable) in variables.all.iter().enumerate() {
        hints.strides[number] =
            variable.initial.iter().fold(Stride::Unset, |all, byte| all.join(initial(plan, *byte)));
    }
    while hints.round() {}
    hints.strides
}

/// The stride of what a thread begins with.
fn initial(plan: &Plan<'_>, byte: usize) -> Stride {
    match pattern_at(plan, byte) {
        None | Some(Pattern::Uniform | Pattern::Repeats) => Stride::Known(0),
        Some(Pattern::Consecutive | Pattern::Continues) => Stride::Known(1),
        Some(Pattern::Any) => Stride::Any,
    }
}

/// The pattern of the half register of a thread's own constants in which a byte of the payload is.
pub fn pattern_at(plan: &Plan<'_>, byte: usize) -> Option<Pattern> {
    let variant = plan.variant;
    let before = if variant.indirect_data { 32 } else { 32 + variant.cross_thread as usize };
    variant.per_thread.get(byte.checked_sub(before)? / 16).copied()
}

/// Where the row of words begins that goes on in a half register of a thread's own constants, and how much more than the word there the first one here is.
pub fn row_begin(plan: &Plan<'_>, half: usize) -> (usize, u32) {
    let (mut begin, mut more) = (half, 0);
    loop {
        match pattern_at(plan, begin) {
            Some(Pattern::Repeats) => {}
            Some(Pattern::Continues) => more += 8,
            _ => return (begin, more),
        }
        begin -= 16;
    }
}

struct Hints<'a> {
    plan: &'a Plan<'a>,
    variables: &'a Variables,
    strides: Vec<Stride>,
}

impl Hints<'_> {
    /// Looks at all instructions once. Has anything changed?
    fn round(&mut self) -> bool {
        let mut changed = false;
        for (index, step) in self.plan.steps.iter().enumerate() {
            let stride = match step {
                Step::Native(native) => self.native(index, *native),
                Step::Message(Message::Block(_) | Message::Fence { .. }) => Stride::Known(0),
                Step::Message(Message::Lanes(_)) => match self.address(index) {
                    Stride::Known(0) => Stride::Known(0),
                    Stride::Unset => Stride::Unset,
                    _ => Stride::Loaded,
                },
                Step::Message(Message::Atomic(_) | Message::Image(_)) | Step::Interpret(_) => Stride::Any,
                _ => continue,
            };
            for variable in &self.variables.definitions[index] {
                let Some(known) = self.strides.get_mut(*variable) else { continue };
                let joined = known.join(stride);
                changed |= joined != *known;
                *known = joined;
            }
        }
        changed
    }

    /// The stride of a message's addresses.
    fn address(&self, index: usize) -> Stride {
        self.variables.uses[index][0].map_or(Stride::Any, |variable| self.strides[variable])
    }

    fn source(&self, index: usize, number: usize) -> Stride {
        let op = &self.plan.ops[index];
        let src: &Src = &op.src[number];
        let variable = self.variables.uses[index][number];
        let stride = match (&src.location, variable) {
            (SourceLocation::Constants(list), _) => {
                let step = list[1].wrapping_sub(list[0]) as i64;
                let even = list.windows(2).take(usize::from(op.lanes) - 1);
                let all = even.clone().all(|pair| pair[1].wrapping_sub(pair[0]) as i64 == step);
                if all { Stride::Known(step) } else { Stride::Any }
            }
            (SourceLocation::Packed(_), Some(variable)) => self.strides[variable],
            (SourceLocation::Scattered(offsets), Some(variable)) => match self.strides[variable] {
                Stride::Known(step)
                    if step != 0 && !are_low_halves(src, &offsets[..usize::from(op.lanes)]) =>
                {
                    Stride::Any
                }
                other => other,
            },
            _ => Stride::Known(0),
        };
        if src.abs {
            stride.mixed(stride)
        } else if src.negate {
            stride.map(i64::wrapping_neg)
        } else {
            stride
        }
    }

    fn native(&self, index: usize, native: Native) -> Stride {
        let op = &self.plan.ops[index];
        let a = self.source(index, 0);
        let others = || {
            (1..3)
                .filter(|n| op.src[*n].is_some())
                .fold(a.mixed(a), |all, n| all.mixed(self.source(index, n)))
        };
        match native {
            Native::Copy => a,
            Native::Convert { from, to } if !from.is_float() && !to.is_float() => a,
            Native::Integer { function: Integer::Add, .. } => a.plus(self.source(index, 1)),
            Native::Integer { function: Integer::ShiftLeft, .. } => match constant(&op.src[1]) {
                Some(count) => a.map(|step| step << (count & 31)),
                None => others(),
            },
            Native::Integer { function: Integer::Multiply, .. } => match constant(&op.src[1]) {
                Some(factor) => a.map(|step| step.wrapping_mul(factor)),
                None => others(),
            },
            Native::Integer { function: Integer::Xor | Integer::Not, .. } if is_not(native, op) => {
                a.map(i64::wrapping_neg)
            }
            _ => others(),
        }
    }
}

/// Are elements the low dwords of qwords?
fn are_low_halves(src: &Src, offsets: &[u16]) -> bool {
    src.ty.size() == 4 && offsets.first().is_some_and(|first| first % 8 == 0) && {
        offsets.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == 8)
    }
}

/// Are all bits of dwords changed? Then the result is -1 less the number.
pub fn is_not(native: Native, op: &Op) -> bool {
    let all = match native {
        Native::Integer { function: Integer::Not, .. } => true,
        Native::Integer { function: Integer::Xor, .. } => {
            constant(&op.src[1]).is_some_and(|bits| bits as u32 == u32::MAX)
        }
        _ => false,
    };
    all && op.dst.ty.size() == 4
}

/// The integer that a source is for all lanes, as it is without modifiers.
pub fn constant(src: &Src) -> Option<i64> {
    let SourceLocation::Constant(bits) = src.location else { return None };
    match src.ty {
        _ if src.modified() => None,
        Type::D => Some(i64::from(bits as i32)),
        Type::UD | Type::UQ | Type::Q => Some(bits as i64),
        Type::W => Some(i64::from(bits as i16)),
        Type::UW => Some(bits as i64),
        _ => None,
    }
}

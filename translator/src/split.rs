//! Addresses that are a scalar of 64 bits and a signed number of 32 bits for each lane.
//!
//! Compilers add an offset of each lane to a pointer that is the same for all. The sums are what a message is sent; for host code the
//! two parts are better: lanes are compared and bounds are checked with half the bits, and gathers take offsets of 32.

use std::collections::{BTreeMap, BTreeSet};

use gencl_eu::op::Op;
use gencl_eu::operand::{SourceLocation, Src};
use gencl_isa::Type;

use crate::affine::Affine;
use crate::flow::Flow;
use crate::hints::{Stride, constant};
use crate::native::{Integer, Native};
use crate::plan::{Plan, Step};
use crate::variables::Variables;

/// Lanes of a part: more qwords than these one instruction does not write.
pub const LANES: usize = 8;

/// How a write makes addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// Of two sources.
    Of {
        /// The source that is the same for all lanes.
        base: usize,
        /// The one that is not; `None` where all lanes have the base.
        offset: Option<usize>,
    },
    /// So many bytes behind another sum, source 0. Never before it: the scalar of such parts has to be inside of a buffer.
    Behind(i64),
}

/// Bytes of a line of the host's caches.
pub const LINE: usize = 64;

/// The sums of a kernel.
#[derive(Default)]
pub struct Sums {
    /// Of each instruction whose result is kept in parts too.
    pub sums: Vec<Option<Sum>>,
    /// The parts of variables, by variable and first byte; the number is the part's.
    pub parts: BTreeMap<(usize, usize), usize>,
    /// Of each part, the steps of its offsets from lane to lane, where that is always the same.
    pub steps: Vec<Option<i64>>,
    /// Of each part: is it always less than a line behind another, so that whoever reads that one asks for its lines, too?
    pub follows: Vec<bool>,
    /// Of each part, the scalar that its sums begin with, if they all begin with the same: the variable and its first byte.
    pub bases: Vec<Option<Base>>,
    /// Of each part, how far behind that scalar its own is, where that is always the same.
    pub behind: Vec<Option<i64>>,
}

/// A scalar of 64 bits: the variable and its first byte.
pub type Base = (usize, usize);

/// What sums begin with.
#[derive(Clone, Copy, PartialEq)]
enum Begin {
    /// Nothing is known yet.
    Unset,
    One(Base),
    Several,
}

impl Begin {
    fn join(self, other: Begin) -> Begin {
        match (self, other) {
            (Begin::Unset, known) | (known, Begin::Unset) => known,
            (a, b) if a == b => a,
            _ => Begin::Several,
        }
    }
}

impl Sums {
    /// Finds the variables that are only ever written as such sums, in whole parts, and not lane `by_lane`.
    pub fn new(
        plan: &Plan<'_>,
        flow: &Flow,
        variables: &Variables,
        affine: &[Option<Affine>],
        by_lane: &BTreeSet<usize>,
    ) -> Sums {
        let sums: Vec<Option<Sum>> =
            plan.steps.iter().zip(plan.ops).map(|(step, op)| sum(step, op)).collect();
        let mut whole: Vec<bool> = variables.all.iter().map(|v| v.initial.is_empty()).collect();
        by_lane.iter().for_each(|variable| whole[*variable] = false);
        // While a thread has stopped, nothing but its registers is kept.
        for block in flow.resumed() {
            variables.live[block].iter().for_each(|(variable, _)| whole[*variable] = false);
        }
        for (index, definitions) in variables.definitions.iter().enumerate() {
            for (number, variable) in definitions.iter().enumerate() {
                let Some(fits) = whole.get_mut(*variable) else { continue };
                *fits &= sums[index].is_some() && !variables.merging[index][number];
            }
        }
        // Parts that overlap would have to be kept apart: all begin at multiples of their size.
        let mut starts: Vec<(usize, usize, Sum, usize)> = Vec::new();
        for (index, definitions) in variables.definitions.iter().enumerate() {
            for (number, variable) in definitions.iter().enumerate() {
                if let (Some(true), Some(sum)) = (whole.get(*variable), sums[index]) {
                    let start = plan.effects[index].definitions[number].access.extent().0;
                    starts.push((*variable, start, sum, index));
                    whole[*variable] &= (start - variables.all[*variable].start).is_multiple_of(LANES * 8);
                }
            }
        }
        let defined: BTreeSet<(usize, usize)> = starts.iter().map(|(v, start, ..)| (*v, *start)).collect();
        let source = |index| source_part(plan, variables, index);
        // What is behind something that is not kept in parts is not either.
        while let Some((variable, ..)) = starts.iter().find(|(variable, _, sum, index)| {
            let kept = |at: (usize, usize)| whole[at.0] && defined.contains(&at);
            whole[*variable] && matches!(sum, Sum::Behind(_)) && !source(*index).is_some_and(kept)
        }) {
            whole[*variable] = false;
        }
        starts.retain(|(variable, ..)| whole[*variable]);
        let mut found = Sums { sums: vec![None; sums.len()], ..Sums::default() };
        for (variable, start, sum, index) in &starts {
            let next = found.parts.len();
            let part = *found.parts.entry((*variable, *start)).or_insert(next);
            found.sums[*index] = Some(*sum);
            found.follows.resize(found.parts.len(), true);
            found.follows[part] &= matches!(sum, Sum::Behind(bytes) if (1..LINE as i64).contains(bytes));
        }
        let unset = (Stride::Unset, Begin::Unset, Stride::Unset);
        let mut known = vec![unset; found.parts.len()];
        let mut before = Vec::new();
        while before != known {
            before.clone_from(&known);
            for (variable, start, sum, index) in &starts {
                let (step, begin, behind) = match sum {
                    Sum::Behind(bytes) => {
                        let of_source = source(*index).map(|at| known[found.parts[&at]]);
                        let (step, begin, behind) =
                            of_source.unwrap_or((Stride::Any, Begin::Several, Stride::Any));
                        (step, begin, behind.map(|behind| behind.wrapping_add(*bytes)))
                    }
                    Sum::Of { base, offset } => {
                        let affine = |offset: usize| affine[variables.uses[*index][offset]?];
                        let step = offset.map_or(Some(0), |offset| affine(offset).map(|affine| affine.step));
                        let base = scalar(plan, variables, *index, *base);
                        let begin = base.map_or(Begin::Several, Begin::One);
                        (step.map_or(Stride::Any, Stride::Known), begin, Stride::Known(0))
                    }
                };
                let own = &mut known[found.parts[&(*variable, *start)]];
                *own = (own.0.join(step), own.1.join(begin), own.2.join(behind));
            }
        }
        let step = |stride| if let Stride::Known(step) = stride { Some(step) } else { None };
        let base = |begin| if let Begin::One(base) = begin { Some(base) } else { None };
        for (stride, begin, behind) in known {
            found.steps.push(step(stride));
            found.bases.push(base(begin));
            found.behind.push(step(behind));
        }
        found
    }
}

/// The variable and the first byte of source 0.
pub fn source_part(plan: &Plan<'_>, variables: &Variables, index: usize) -> Option<(usize, usize)> {
    scalar(plan, variables, index, 0)
}

/// The variable and the first byte of a source.
fn scalar(plan: &Plan<'_>, variables: &Variables, index: usize, number: usize) -> Option<Base> {
    Some((variables.uses[index][number]?, plan.effects[index].uses[number].as_ref()?.extent().0))
}

/// The sum that an instruction is.
pub fn sum(step: &Step, op: &Op) -> Option<Sum> {
    let plain = usize::from(op.lanes) == LANES
        && op.condition.is_none()
        && op.dst.ty.size() == 8
        && !op.dst.ty.is_float()
        && op.predicate.is_none();
    if !plain {
        return None;
    }
    let is_base = |src: &Src| {
        matches!(src.location, SourceLocation::Scalar(_)) && src.ty.size() == 8 && !src.modified()
    };
    let is_offset =
        |src: &Src| matches!(src.location, SourceLocation::Packed(_)) && src.ty == Type::D && !src.modified();
    let is_sum = |src: &Src| {
        matches!(src.location, SourceLocation::Packed(_)) && src.ty.size() == 8 && !src.modified()
    };
    match step {
        Step::Native(Native::Integer { function: Integer::Add, bits: 64 }) => {
            if let (true, Some(bytes @ 0..)) = (is_sum(&op.src[0]), constant(&op.src[1])) {
                return Some(Sum::Behind(bytes));
            }
            let pairs = [(0, 1), (1, 0)];
            let pair = pairs.into_iter().find(|(a, b)| is_base(&op.src[*a]) && is_offset(&op.src[*b]));
            pair.map(|(base, offset)| Sum::Of { base, offset: Some(offset) })
        }
        Step::Native(Native::Copy) if is_base(&op.src[0]) => Some(Sum::Of { base: 0, offset: None }),
        _ => None,
    }
}

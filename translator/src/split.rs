//! Addresses that are a scalar of 64 bits and a signed number of 32 bits for each lane.
//!
//! Compilers add an offset of each lane to a pointer that is the same for all. The sums are what a message is sent; for host code the
//! two parts are better: lanes are compared and bounds are checked with half the bits, and gathers take offsets of 32.

use std::collections::{BTreeMap, BTreeSet};

use gencl_isa::Type;
use gencl_simulator::eu::op::Op;
use gencl_simulator::eu::operand::{Place, Src};

use crate::affine::Affine;
use crate::flow::Flow;
use crate::native::{Integer, Native};
use crate::plan::{Plan, Step};
use crate::variables::Variables;

/// Lanes of a part: more qwords than these one instruction does not write.
pub const LANES: usize = 8;

/// How a write makes addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    /// The source that is the same for all lanes.
    pub base: usize,
    /// The one that is not; `None` where all lanes have the base.
    pub offset: Option<usize>,
}

/// The sums of a kernel.
#[derive(Default)]
pub struct Sums {
    /// Of each instruction whose result is kept in parts too.
    pub sums: Vec<Option<Sum>>,
    /// The parts of variables, by variable and first byte; the number is the part's.
    pub parts: BTreeMap<(usize, usize), usize>,
    /// Of each part, the steps of its offsets from lane to lane, where that is always the same.
    pub steps: Vec<Option<i64>>,
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
        // While a thread waits, nothing but its registers is kept.
        let waits = plan.steps.iter().enumerate().filter(|(_, step)| matches!(step, Step::Wait));
        for block in waits.filter_map(|(index, _)| flow.block_at(index + 1)) {
            variables.live[block].iter().for_each(|(variable, _)| whole[*variable] = false);
        }
        for (index, definitions) in variables.definitions.iter().enumerate() {
            for (number, variable) in definitions.iter().enumerate() {
                let Some(fits) = whole.get_mut(*variable) else { continue };
                *fits &= sums[index].is_some() && !variables.merging[index][number];
            }
        }
        let mut found = Sums { sums: vec![None; sums.len()], ..Sums::default() };
        // Parts that overlap would have to be kept apart: all begin at multiples of their size.
        let mut starts: Vec<(usize, usize, usize)> = Vec::new();
        for (index, definitions) in variables.definitions.iter().enumerate() {
            for (number, variable) in definitions.iter().enumerate() {
                if whole.get(*variable) == Some(&true) {
                    let start = plan.effects[index].definitions[number].access.extent().0;
                    starts.push((*variable, start, index));
                    whole[*variable] &= (start - variables.all[*variable].start).is_multiple_of(LANES * 8);
                }
            }
        }
        for (variable, start, index) in starts {
            if whole[variable] {
                let next = found.parts.len();
                let part = *found.parts.entry((variable, start)).or_insert(next);
                found.sums[index] = sums[index];
                let step = match sums[index].and_then(|sum| sum.offset) {
                    Some(source) => variables.uses[index][source].and_then(|v| Some(affine[v]?.step)),
                    None => Some(0),
                };
                match found.steps.get_mut(part) {
                    Some(known) => *known = known.filter(|known| Some(*known) == step),
                    None => found.steps.push(step),
                }
            }
        }
        found
    }
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
    let is_base = |src: &Src| matches!(src.place, Place::Scalar(_)) && src.ty.size() == 8 && !src.modified();
    let is_offset = |src: &Src| matches!(src.place, Place::Packed(_)) && src.ty == Type::D && !src.modified();
    match step {
        Step::Native(Native::Integer { function: Integer::Add, bits: 64 }) => {
            let pairs = [(0, 1), (1, 0)];
            let pair = pairs.into_iter().find(|(a, b)| is_base(&op.src[*a]) && is_offset(&op.src[*b]));
            pair.map(|(base, offset)| Sum { base, offset: Some(offset) })
        }
        Step::Native(Native::Copy) if is_base(&op.src[0]) => Some(Sum { base: 0, offset: None }),
        _ => None,
    }
}

//! Control-flow graphs of a kernel.
//!
//! A thread executes instructions for the channels that are enabled; the others are parked where a branch has sent them. So there are
//! two graphs on the same blocks: that of the thread, which also passes code without its channels, and that of a single channel.

use std::ops::{Range, RangeInclusive};

use fixedbitset::FixedBitSet;
use gencl_eu::file::FLAG;
use gencl_eu::op::{Action, Branch, Op};
use gencl_eu::operand::{SourceLocation, Target};
use gencl_eu::thread_successors;
use gencl_ir_support::dataflow;
use gencl_isa::PredicateControl;

use crate::analysis::branches::{parks_at, without_channels};
use crate::analysis::native::Native;
use crate::analysis::plan::{Plan, Step};

/// Successors of a block in the graph of a channel.
fn channel_successors(plan: &Plan<'_>, block: Range<usize>) -> Vec<usize> {
    let (ops, index, next) = (plan.ops, block.end - 1, block.end);
    if let (Action::Branch(branch), Some(holds)) = (&ops[index].action, certain_predicate(plan, block)) {
        match *branch {
            Branch::If { jip } | Branch::Diverge { jip } => {
                let goes_on = holds == matches!(branch, Branch::If { .. });
                return vec![if goes_on { next } else { jip }];
            }
            Branch::GotoForward { uip, .. } => return vec![if holds { next } else { uip }],
            _ => {}
        }
    }
    match &ops[index].action {
        Action::Branch(branch) => match *branch {
            Branch::If { jip } | Branch::While { jip } | Branch::Diverge { jip } => vec![next, jip],
            Branch::Else { uip, .. } => vec![uip],
            Branch::Join { .. } => vec![next],
            Branch::Leave { uip, .. } | Branch::GotoForward { uip, .. } => vec![next, uip],
            _ => thread_successors(ops, index),
        },
        _ => thread_successors(ops, index),
    }
}

/// What the predicate of a block's last instruction is for all channels, if a constant was moved to its flags in the block: where compilers have no branch
/// without a predicate.
fn certain_predicate(plan: &Plan<'_>, block: Range<usize>) -> Option<bool> {
    let op = &plan.ops[block.end - 1];
    let predicate = op.predicate.filter(|predicate| predicate.control == PredicateControl::Normal)?;
    let last = (block.start..block.end - 1).rev().find(|index| plan.changes_flags(*index))?;
    let (setter, Step::Native(Native::Copy)) = (&plan.ops[last], &plan.steps[last]) else { return None };
    let (SourceLocation::Constant(bits), Target::Direct { offset, .. }) =
        (&setter.src[0].location, setter.dst.target)
    else {
        return None;
    };
    let plain =
        setter.lanes == 1 && setter.no_mask && setter.predicate.is_none() && setter.condition.is_none();
    let first = usize::from(op.flag_bit).checked_sub(offset.checked_sub(FLAG)? * 8)?;
    let (all, lanes) = (setter.dst.ty.size() as usize * 8, usize::from(op.lanes));
    if !plain || first + lanes > all {
        return None;
    }
    let full = u64::from(u32::MAX >> (32 - lanes));
    match bits >> first & full {
        0 => Some(predicate.inverse),
        own if own == full => Some(!predicate.inverse),
        _ => None,
    }
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct Block {
    /// First instruction.
    pub start: usize,
    /// Behind the last.
    pub end: usize,
    /// Successors in the graph of the thread.
    pub thread: Vec<usize>,
    /// Successors in the graph of a channel.
    pub channel: Vec<usize>,
    /// Channels may be parked at these targets ([`Flow::targets`]) while the thread is in the block.
    pub parked: FixedBitSet,
}

impl Block {
    /// Successors in the graph of a channel, or else of the thread.
    pub fn successors(&self, by_channel: bool) -> &[usize] {
        if by_channel { &self.channel } else { &self.thread }
    }
}

/// The control flow of a kernel. Only blocks that a thread can reach are there; the first one is the kernel's first.
pub struct Flow {
    /// In the order of their instructions.
    pub blocks: Vec<Block>,
    /// The block that begins at an instruction.
    block_at: Vec<Option<usize>>,
    /// The blocks at whose beginning channels may wait.
    pub targets: Vec<usize>,
    /// The blocks after `wait`, where threads resume when a barrier opens.
    pub waits: Vec<usize>,
    /// The blocks at whose beginning a thread may yield (`spin::turns`).
    pub turns: Vec<usize>,
}

impl Flow {
    /// Finds the blocks.
    pub fn new(plan: &Plan<'_>) -> Flow {
        let ops = plan.ops;
        let reached = reach(ops);
        let mut leaders = FixedBitSet::with_capacity(ops.len() + 1);
        leaders.insert(0);
        for index in reached.ones() {
            let next = index + 1;
            match &plan.steps[index] {
                Step::Branch(branch) => {
                    leaders.extend(thread_successors(ops, index));
                    leaders.extend(parks_at(index, branch));
                    leaders.insert(next);
                }
                Step::Wait => leaders.insert(next),
                _ if thread_successors(ops, index).is_empty() => leaders.insert(next),
                _ => {}
            }
        }
        let starts: Vec<usize> = leaders.ones().filter(|n| *n < ops.len() && reached.contains(*n)).collect();
        let mut block_at = vec![None; ops.len() + 1];
        for (block, start) in starts.iter().enumerate() {
            block_at[*start] = Some(block);
        }
        let to_blocks = |targets: Vec<usize>| -> Vec<usize> {
            let mut blocks: Vec<usize> = targets.into_iter().filter_map(|t| block_at[t]).collect();
            blocks.sort_unstable();
            blocks.dedup();
            blocks
        };
        let mut blocks = Vec::with_capacity(starts.len());
        for start in &starts {
            let end = (start + 1..=ops.len()).find(|n| leaders.contains(*n)).unwrap_or(ops.len());
            blocks.push(Block {
                start: *start,
                end,
                thread: to_blocks(thread_successors(ops, end - 1)),
                channel: to_blocks(channel_successors(plan, *start..end)),
                parked: FixedBitSet::new(),
            });
        }
        let mut targets: Vec<usize> = starts
            .iter()
            .enumerate()
            .filter(|(_, start)| ops[**start].is_target)
            .map(|(block, _)| block)
            .collect();
        targets.dedup();
        let waits = (0..ops.len()).filter(|index| matches!(plan.steps[*index], Step::Wait));
        let waits = waits.filter_map(|wait| block_at[wait + 1]).collect();
        let mut flow = Flow { blocks, block_at, targets, waits, turns: Vec::new() };
        flow.find_parked(plan);
        flow
    }

    /// The blocks at which suspended threads resume.
    pub fn resumed(&self) -> impl Iterator<Item = usize> {
        self.waits.iter().chain(&self.turns).copied()
    }

    /// The ranges of blocks under a back edge. Natural loops are those of the middle IR (`passes/natural.rs`).
    pub fn loops(&self) -> impl Iterator<Item = RangeInclusive<usize>> {
        self.blocks.iter().enumerate().flat_map(|(last, block)| {
            block.thread.iter().filter(move |header| **header <= last).map(move |header| *header..=last)
        })
    }

    /// The block that begins at an instruction.
    pub fn block_at(&self, index: usize) -> Option<usize> {
        self.block_at.get(index).copied().flatten()
    }

    /// The number of the target that a block is.
    pub fn target(&self, block: usize) -> Option<usize> {
        self.targets.binary_search(&block).ok()
    }

    /// Solves which targets may have parked channels: a forward analysis.
    fn find_parked(&mut self, plan: &Plan<'_>) {
        let count = self.targets.len();
        let mut entry = vec![FixedBitSet::with_capacity(count); self.blocks.len()];
        let mut parked = entry.clone();
        dataflow::propagate(0..self.blocks.len(), &mut entry, dataflow::union, |block, state, arrivals| {
            if let Some(target) = self.target(block) {
                state.remove(target);
            }
            parked[block].clone_from(state);
            let last = self.blocks[block].end - 1;
            let mut behind = None;
            if let Step::Branch(branch) = &plan.steps[last] {
                let places = parks_at(last, branch).into_iter();
                state.extend(places.filter_map(|at| self.target(self.block_at(at)?)));
                behind = without_channels(branch).and_then(|_| self.block_at(last + 1));
            }
            for &next in &self.blocks[block].thread {
                let mut arriving = state.clone();
                if let Some(target) = behind.filter(|behind| *behind != next).and_then(|at| self.target(at)) {
                    arriving.remove(target);
                }
                arrivals.send(next, &arriving);
            }
        });
        for (block, parked) in self.blocks.iter_mut().zip(parked) {
            block.parked = parked;
        }
    }
}

/// The instructions that a thread can reach.
fn reach(ops: &[Op]) -> FixedBitSet {
    let mut reached = FixedBitSet::with_capacity(ops.len());
    let mut open = vec![0];
    while let Some(index) = open.pop() {
        if index < ops.len() && !reached.put(index) {
            open.extend(thread_successors(ops, index));
        }
    }
    reached
}

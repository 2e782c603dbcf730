//! Definite assignment, for strict mode: no general register is read that has not been written. The interpreter detects it when it
//! happens. Most reads are proved; where one is not, translated code tracks which registers its thread has written, and checks.

use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;
use gencl_eu::op::{Action, Op};
use gencl_ir_support::dataflow;

use crate::analysis::branches::without_channels;
use crate::analysis::flow::{Block, Flow};
use crate::analysis::plan::Doubts;

/// Finds the reads whose registers are not written on every path; `payload`: the registers that the thread begins with.
///
/// Whatever is on a channel's path has been executed by its thread, for that channel or not. So where channels are enabled, the paths of
/// channels prove as much as those of the thread, which also passes code without enabled channels. An instruction without enabled
/// channels reads nothing, but for the message that ends the thread.
pub fn doubts(ops: &[Op], flow: &Flow, payload: u128) -> Doubts {
    let of_thread = at_entries(ops, flow, payload, |block| &block.thread);
    let of_channels = at_entries(ops, flow, payload, |block| &block.channel);
    let vacant = vacant(ops, flow);
    let mut reads = BTreeMap::new();
    for (number, block) in flow.blocks.iter().enumerate() {
        let (mut by_thread, mut by_channels) = (of_thread[number], of_channels[number]);
        for (index, op) in (block.start..).zip(&ops[block.start..block.end]) {
            let ends = matches!(&op.action, Action::Message(message) if message.end_of_thread);
            let alone = (op.no_mask || ends) && vacant.contains(number);
            let written = if alone { by_thread } else { by_thread | by_channels };
            let missing = op.reads & !written;
            if missing != 0 && !matches!(op.action, Action::Branch(_)) {
                reads.insert(index, missing);
            }
            (by_thread, by_channels) = (after(op, by_thread), after(op, by_channels));
        }
    }
    // A copy propagates undefinedness; it is not a use.
    let copies: Vec<(i32, u128)> =
        reads.iter().filter_map(|(index, read)| Some((ops[*index].copies_by?, *read))).collect();
    let uses = reads.iter().filter(|(index, _)| ops[**index].copies_by.is_none());
    let mut noted = uses.fold(0, |all, (_, read)| all | read);
    let mut before = 0;
    while noted != before {
        before = noted;
        for (distance, read) in &copies {
            noted |= read & moved(noted, -distance);
        }
    }
    reads.retain(|_, read| {
        *read &= noted;
        *read != 0
    });
    Doubts { reads, noted }
}

/// Registers, so much further.
pub fn moved(registers: u128, distance: i32) -> u128 {
    if distance >= 0 { registers << distance } else { registers >> -distance }
}

/// Definitely assigned registers at the beginning of each block, along the edges of `next`.
fn at_entries(ops: &[Op], flow: &Flow, payload: u128, next: impl Fn(&Block) -> &Vec<usize>) -> Vec<u128> {
    let mut entries = vec![u128::MAX; flow.blocks.len()];
    entries[0] = payload;
    let transfer = |block: usize, written: &mut u128| {
        for op in &ops[flow.blocks[block].start..flow.blocks[block].end] {
            *written = after(op, *written);
        }
    };
    let join =
        |known: &mut u128, arriving: &u128| std::mem::replace(known, *known & arriving) & !arriving != 0;
    let successors = |block: usize| next(&flow.blocks[block]).iter().copied();
    dataflow::solve(0..flow.blocks.len(), successors, &mut entries, transfer, join);
    entries
}

/// The blocks in which a thread may have no enabled channel: where branches send it then, up to the next branch that tests for it.
fn vacant(ops: &[Op], flow: &Flow) -> FixedBitSet {
    let without_channels = |block: &Block| match &ops[block.end - 1].action {
        Action::Branch(branch) => without_channels(branch),
        _ => None,
    };
    let jumps = flow.blocks.iter().filter_map(without_channels);
    let mut open: Vec<usize> = jumps.filter_map(|jip| flow.block_at(jip)).collect();
    let mut vacant = FixedBitSet::with_capacity(flow.blocks.len());
    while let Some(block) = open.pop() {
        if !vacant.put(block) && without_channels(&flow.blocks[block]).is_none() {
            open.extend(&flow.blocks[block].thread);
        }
    }
    vacant
}

/// The transfer function of an instruction. A copy of an unassigned register leaves its destination unassigned.
fn after(op: &Op, written: u128) -> u128 {
    let missing = op.reads & !written;
    let undefined = op.copies_by.map_or(0, |distance| moved(missing, distance));
    written | op.writes & !undefined
}

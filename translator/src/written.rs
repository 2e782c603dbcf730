//! Strict mode: no general register is read that has not been written. The interpreter finds out when it happens. Of most reads it is impossible; where that is not
//! certain, translated code notes what its thread has written, and looks.

use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;
use gencl_eu::op::{Action, Op};

use crate::branches::without_channels;
use crate::flow::{Block, Flow};
use crate::plan::Doubts;

/// Looks whether all registers that are read have been written, on every way there; `payload` are those that the thread begins with.
///
/// What a channel has come past has been executed by its thread, whether for that channel or not. So where channels are enabled the ways of channels are
/// proof as well as those of the thread, which may pass code that nobody was there for. An instruction that is executed for no channel reads nothing, but
/// for the message that ends the thread.
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
    // What a copy copies it does not use, but its result is not written either. That matters if the result does.
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

/// The registers that have been written at the beginning of each block, on all ways along `next`.
fn at_entries(ops: &[Op], flow: &Flow, payload: u128, next: impl Fn(&Block) -> &Vec<usize>) -> Vec<u128> {
    let mut entries = vec![u128::MAX; flow.blocks.len()];
    entries[0] = payload;
    let mut open: Vec<usize> = (0..flow.blocks.len()).rev().collect();
    while let Some(block) = open.pop() {
        let mut written = entries[block];
        for op in &ops[flow.blocks[block].start..flow.blocks[block].end] {
            written = after(op, written);
        }
        for next in next(&flow.blocks[block]) {
            if entries[*next] & written != entries[*next] {
                entries[*next] &= written;
                open.push(*next);
            }
        }
    }
    entries
}

/// The blocks in which a thread may be without an enabled channel: where it goes when none is left at the next instruction, up to the next branch that
/// looks whether there is one.
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

/// The registers that have been written after an instruction. A copy of what has not been written leaves its result unwritten.
fn after(op: &Op, written: u128) -> u128 {
    let missing = op.reads & !written;
    let undefined = op.copies_by.map_or(0, |distance| moved(missing, distance));
    written | op.writes & !undefined
}

//! Merges blocks with their only successor, and removes empty blocks.

use crate::ir::{BlockId, Form, Function, Instruction, Op};
use fixedbitset::FixedBitSet;

/// Sends jumps to a block that only jumps on to where it jumps, drops what is not reached, and appends a
/// block to its only predecessor when that ends with a jump to it. In the linear form a vote's other side
/// stays the next block, and the last block stays even if nothing reaches it.
pub fn opt_merge_blocks(function: &mut Function) {
    skip_empty_blocks(function);
    drop_unreached(function);
    append_to_only_predecessor(function);
    function.clear_unused_blocks();
}

/// Where a block with nothing but a jump leads.
fn leads_to(function: &Function, block: BlockId) -> Option<BlockId> {
    match function.block(block).instructions.as_slice() {
        [Instruction { op: Op::Jump(target), .. }] if *target != block => Some(*target),
        _ => None,
    }
}

fn skip_empty_blocks(function: &mut Function) {
    let final_target = |function: &Function, mut block: BlockId| {
        // Bounded: a ring of empty blocks is an endless loop and stays one.
        for _ in 0..function.blocks.len() {
            let Some(target) = leads_to(function, block) else { break };
            block = target;
        }
        block
    };
    let cfg = function.cfg();
    let old = std::mem::take(&mut function.layout);
    let mut dropped = FixedBitSet::with_capacity(function.blocks.len());
    for (index, &block) in old.iter().enumerate() {
        if dropped.contains(block.0 as usize) {
            continue;
        }
        function.layout.push(block);
        let Some(mut op) = function.block(block).terminator().map(|t| t.op) else { continue };
        match &mut op {
            Op::Vote { target, next, .. } => {
                *target = final_target(function, *target);
                // The next block must stay next; empty ones in between that only this vote uses are dropped.
                let mut following = old[index + 1..].iter().copied().skip(1);
                while let Some(onward) = leads_to(function, *next)
                    && following.next() == Some(onward)
                    && cfg.predecessors(*next).len() == 1
                {
                    dropped.insert(next.0 as usize);
                    *next = onward;
                }
                if *target == *next {
                    op = Op::Jump(*next);
                }
            }
            _ => {
                for target in op.targets_mut() {
                    *target = final_target(function, *target);
                }
                if let Op::Branch { then, otherwise } = op
                    && then == otherwise
                {
                    op = Op::Jump(then);
                }
            }
        }
        if let Some(terminator) = function.block_mut(block).instructions.last_mut() {
            terminator.op = op;
            if let Op::Jump(_) = op {
                terminator.srcs.clear();
            }
        }
    }
}

fn drop_unreached(function: &mut Function) {
    let mut reached = FixedBitSet::with_capacity(function.blocks.len());
    reached.extend(function.cfg().post_order().iter().map(|b| b.0 as usize));
    if function.form == Form::Linear
        && let Some(last) = function.layout.last()
    {
        reached.insert(last.0 as usize);
    }
    function.layout.retain(|b| reached.contains(b.0 as usize));
}

fn append_to_only_predecessor(function: &mut Function) {
    let cfg = function.cfg();
    let linear = function.form == Form::Linear;
    let mut appended = FixedBitSet::with_capacity(function.blocks.len());
    for index in 0..function.layout.len() {
        let block = function.layout[index];
        if appended.contains(block.0 as usize) {
            continue;
        }
        let mut following = index + 1;
        while let Some(Op::Jump(next)) = function.block(block).terminator().map(|t| t.op) {
            let in_order = !linear || function.layout.get(following) == Some(&next);
            if next == block || next == function.entry() || cfg.predecessors(next).len() != 1 || !in_order {
                break;
            }
            let mut tail = std::mem::take(&mut function.block_mut(next).instructions);
            let instructions = &mut function.block_mut(block).instructions;
            instructions.pop();
            instructions.append(&mut tail);
            appended.insert(next.0 as usize);
            following += 1;
        }
    }
    function.layout.retain(|b| !appended.contains(b.0 as usize));
}

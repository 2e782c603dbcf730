//! The layout: loops contiguous, blocks after their predecessors otherwise, the return block last.
//!
//! The thread executes the lowest block that has lanes. So divergent lanes reconverge at a block that the
//! layout has after the blocks of their separate paths, and a loop is executed to its end before the blocks
//! that follow it, if none of these is between its blocks. The order is Bourdoncle's weak topological order
//! ("Efficient chaotic iteration strategies with widenings", 1993), by strongly connected components: the
//! components in topological order, and in each, its first block and then the rest ordered in the same way
//! without the edges to the first. It needs no reducibility.

use crate::ir::analysis::cfg::Cfg;
use crate::ir::{BlockId, Function, Instruction, Op};

/// Orders the blocks and drops unreachable ones, except the return block. Expects [`super::lower_returns`] to
/// have run. The entry gets no predecessor: a loop to it gets a new first block before it.
pub fn arrange_blocks(function: &mut Function) {
    let mut cfg = function.cfg();
    let entry = function.entry();
    if !cfg.predecessors(entry).is_empty() {
        let first = function.new_block();
        function.layout.insert(0, first);
        function.block_mut(first).instructions.push(Instruction::new(Op::Jump(entry), [], []));
        cfg = function.cfg();
    }
    let last = return_block(function);
    let mut order = Vec::with_capacity(function.layout.len());
    let mut nodes = cfg.reverse_post_order();
    nodes.retain(|&block| block != last);
    arrange(&cfg, &nodes, &mut order);
    order.push(last);
    function.layout = order;
    function.clear_unused_blocks();
}

/// The block that returns. A function that never does gets one: a thread must end its code somewhere.
fn return_block(function: &mut Function) -> BlockId {
    let found = function
        .blocks_in_layout()
        .find(|(_, block)| block.terminator().is_some_and(|t| t.op == Op::Return))
        .map(|(id, _)| id);
    found.unwrap_or_else(|| {
        let block = function.new_block();
        function.block_mut(block).instructions.push(Instruction::new(Op::Return, [], []));
        block
    })
}

/// Appends `nodes` (in reverse post-order of the whole graph) to `order`. Recurses as deep as loops nest.
fn arrange(cfg: &Cfg, nodes: &[BlockId], order: &mut Vec<BlockId>) {
    let components = cfg.components(nodes);
    for component in components.into_iter().rev() {
        order.push(component[0]);
        if component.len() > 1 {
            arrange(cfg, &component[1..], order);
        }
    }
}

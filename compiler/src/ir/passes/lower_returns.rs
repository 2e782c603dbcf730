//! One return block: all others jump to it (docs/branches.md).

use crate::ir::{Function, Instruction, Op};

/// Where several blocks return, makes them jump to a new one that does.
pub fn lower_returns(function: &mut Function) {
    let returning: Vec<_> = function
        .blocks_in_layout()
        .filter(|(_, block)| block.terminator().is_some_and(|t| t.op == Op::Return))
        .map(|(id, _)| id)
        .collect();
    if returning.len() < 2 {
        return;
    }
    let last = function.new_block();
    function.layout.push(last);
    function.block_mut(last).instructions.push(Instruction::new(Op::Return, [], []));
    for block in returning {
        if let Some(terminator) = function.block_mut(block).instructions.last_mut() {
            terminator.op = Op::Jump(last);
        }
    }
}

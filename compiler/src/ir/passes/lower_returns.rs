//! One return block: all others jump to it (seed "unstructured branches").

use crate::ir::{Function, Instruction, Op};

/// Makes one block, the last of the layout, the only one that returns. A function that never returns gets such a block
/// as well: a thread must end its code somewhere.
pub fn lower_returns(function: &mut Function) {
    let returning: Vec<_> = function
        .blocks_in_layout()
        .filter(|(_, block)| block.terminator().is_some_and(|t| t.op == Op::Return))
        .map(|(id, _)| id)
        .collect();
    let last = match *returning.as_slice() {
        [only] if only != function.entry() && function.block(only).instructions.len() == 1 => only,
        _ => {
            let last = function.new_block();
            function.layout.push(last);
            function.block_mut(last).instructions.push(Instruction::new(Op::Return, [], []));
            for block in returning {
                if let Some(terminator) = function.block_mut(block).instructions.last_mut() {
                    terminator.op = Op::Jump(last);
                }
            }
            last
        }
    };
    function.layout.retain(|&block| block != last);
    function.layout.push(last);
}

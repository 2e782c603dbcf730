//! Strict mode: no general register is read that has not been written. The interpreter finds out when it happens; translated code does
//! not look, so that it must be impossible.

use gencl_simulator::eu::op::{Action, Op};

use crate::Refused;
use crate::flow::Flow;

/// Proves that all registers that are read have been written, on every way there; `payload` are those that the thread begins with.
///
/// # Errors
/// The instruction of which this is not known.
pub fn check(ops: &[Op], flow: &Flow, payload: u128) -> Result<(), Refused> {
    let mut entries = vec![u128::MAX; flow.blocks.len()];
    entries[0] = payload;
    let mut open: Vec<usize> = (0..flow.blocks.len()).rev().collect();
    while let Some(block) = open.pop() {
        let mut written = entries[block];
        for op in &ops[flow.blocks[block].start..flow.blocks[block].end] {
            written = after(op, written);
        }
        for next in &flow.blocks[block].thread {
            if entries[*next] & written != entries[*next] {
                entries[*next] &= written;
                open.push(*next);
            }
        }
    }
    for (block, entry) in flow.blocks.iter().zip(entries) {
        let mut written = entry;
        for op in &ops[block.start..block.end] {
            let missing = op.reads & !written;
            if missing != 0 && op.copies_by.is_none() && !matches!(op.action, Action::Branch(_)) {
                let text = format!(
                    "g{} may be read at {:#x} before it is written",
                    missing.trailing_zeros(),
                    op.offset
                );
                return Err(Refused(text));
            }
            written = after(op, written);
        }
    }
    Ok(())
}

/// The registers that have been written after an instruction. A copy of what has not been written leaves its result unwritten.
fn after(op: &Op, written: u128) -> u128 {
    let missing = op.reads & !written;
    let undefined = match op.copies_by {
        Some(distance) if distance >= 0 => missing << distance,
        Some(distance) => missing >> -distance,
        None => 0,
    };
    written | op.writes & !undefined
}

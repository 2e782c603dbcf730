//! The order of blocks in which each value comes before its uses.
//!
//! SPIR-V 1.6, 2.4 demands such an order of modules, but not all producers keep it.

use rspirv::spirv::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Result;
use crate::module::{Block, Function};
use crate::walk::Id;

/// The blocks that control reaches, in reverse post-order. `literal_words` gives the words of a literal like a value.
pub(crate) fn blocks<'f, 'm>(
    function: &'f Function<'m>,
    literal_words: impl Fn(Id) -> usize,
) -> Result<Vec<&'f Block<'m>>> {
    let successors = |block: &Block<'_>| successors(block, &literal_words);
    let by_label: FxHashMap<Id, &Block<'m>> =
        function.blocks.iter().map(|block| (block.label, block)).collect();
    let Some(entry) = function.blocks.first() else { return Ok(Vec::new()) };
    let mut seen = FxHashSet::from_iter([entry.label]);
    let mut order = Vec::new();
    // Each block with the successors that are still to be looked at. No recursion: functions may be long.
    let mut open = vec![(entry, successors(entry)?)];
    while let Some((block, rest)) = open.last_mut() {
        let Some(next) = rest.pop() else {
            order.push(*block);
            open.pop();
            continue;
        };
        if seen.insert(next) {
            let last = block.instructions.last().expect("it has successors");
            let found = by_label.get(&next).ok_or_else(|| last.error(format!("there is no block {next}")))?;
            open.push((found, successors(found)?));
        }
    }
    order.reverse();
    Ok(order)
}

/// The labels that the end of a block names.
fn successors(block: &Block<'_>, literal_words: &impl Fn(Id) -> usize) -> Result<Vec<Id>> {
    let Some(last) = block.instructions.last() else { return Ok(Vec::new()) };
    match last.op {
        Op::Branch => Ok(vec![last.operand(0)?]),
        Op::BranchConditional => Ok(vec![last.operand(1)?, last.operand(2)?]),
        Op::Switch => {
            let cases = last.operands_from(2)?.chunks(literal_words(last.operand(0)?) + 1);
            Ok(cases.filter_map(|case| case.last().copied()).chain([last.operand(1)?]).collect())
        }
        _ => Ok(Vec::new()),
    }
}

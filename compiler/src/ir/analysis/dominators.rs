//! Dominators: the blocks on every path to a block.

use super::cfg::Cfg;
use crate::ir::BlockId;

/// The dominator tree of the reachable blocks (Cooper, Harvey and Kennedy, "A simple, fast dominance
/// algorithm", 2001).
#[derive(Clone, Debug)]
pub struct Dominators {
    /// Immediate dominator by block id; the entry's is itself. None for blocks not reached.
    immediate: Vec<Option<BlockId>>,
    /// Position in reverse post-order by block id.
    order: Vec<u32>,
}

impl Dominators {
    /// Linear in practice: iterates over reverse post-order until nothing changes, twice for reducible
    /// graphs.
    pub fn new(cfg: &Cfg) -> Dominators {
        let blocks = cfg.reverse_post_order();
        let mut order = vec![u32::MAX; cfg.len()];
        for (position, block) in blocks.iter().enumerate() {
            order[block.0 as usize] = position as u32;
        }
        let mut immediate: Vec<Option<BlockId>> = vec![None; cfg.len()];
        immediate[cfg.entry().0 as usize] = Some(cfg.entry());
        let mut changed = true;
        while changed {
            changed = false;
            for &block in blocks.iter().skip(1) {
                let mut common: Option<BlockId> = None;
                for &predecessor in cfg.predecessors(block) {
                    if immediate[predecessor.0 as usize].is_some() {
                        common = Some(match common {
                            Some(other) => meet(&immediate, &order, other, predecessor),
                            None => predecessor,
                        });
                    }
                }
                if immediate[block.0 as usize] != common {
                    immediate[block.0 as usize] = common;
                    changed = true;
                }
            }
        }
        Dominators { immediate, order }
    }

    /// The immediate dominator. None for the entry and for unreachable blocks.
    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        self.immediate[block.0 as usize].filter(|&dominator| dominator != block)
    }

    /// Whether `dominator` is on every path to `block`. Each block dominates itself.
    pub fn dominates(&self, dominator: BlockId, mut block: BlockId) -> bool {
        while self.order[block.0 as usize] > self.order[dominator.0 as usize] {
            match self.immediate(block) {
                Some(next) => block = next,
                None => return false,
            }
        }
        block == dominator
    }
}

/// The closest common dominator.
fn meet(immediate: &[Option<BlockId>], order: &[u32], mut a: BlockId, mut b: BlockId) -> BlockId {
    let up = |block: BlockId| immediate[block.0 as usize].unwrap_or(block);
    while a != b {
        while order[a.0 as usize] > order[b.0 as usize] {
            a = up(a);
        }
        while order[b.0 as usize] > order[a.0 as usize] {
            b = up(b);
        }
    }
    a
}

//! The control-flow graph: predecessors, reachability, orders.

use crate::ir::{BlockId, Function};
use fixedbitset::FixedBitSet;
use smallvec::SmallVec;

/// Edges of a function's blocks, indexed by block id. Parallel edges are kept once.
#[derive(Clone, Debug)]
pub struct Cfg {
    entry: BlockId,
    successors: Vec<SmallVec<[BlockId; 2]>>,
    predecessors: Vec<SmallVec<[BlockId; 4]>>,
}

impl Cfg {
    /// The graph of the blocks in the layout.
    pub fn new(function: &Function) -> Cfg {
        let count = function.blocks.len();
        let mut successors = vec![SmallVec::new(); count];
        let mut predecessors: Vec<SmallVec<[BlockId; 4]>> = vec![SmallVec::new(); count];
        for (id, block) in function.blocks_in_layout() {
            let mut targets = block.successors();
            if targets.len() == 2 && targets[0] == targets[1] {
                targets.pop();
            }
            for target in &targets {
                predecessors[target.0 as usize].push(id);
            }
            successors[id.0 as usize] = targets;
        }
        Cfg { entry: function.entry(), successors, predecessors }
    }

    /// The first block.
    pub fn entry(&self) -> BlockId {
        self.entry
    }

    /// Number of block ids, including those that are not in the layout.
    pub fn len(&self) -> usize {
        self.successors.len()
    }

    /// Whether there is no block, which is not valid.
    pub fn is_empty(&self) -> bool {
        self.successors.is_empty()
    }

    /// Successors of `block`.
    pub fn successors(&self, block: BlockId) -> &[BlockId] {
        &self.successors[block.0 as usize]
    }

    /// Predecessors of `block`.
    pub fn predecessors(&self, block: BlockId) -> &[BlockId] {
        &self.predecessors[block.0 as usize]
    }

    /// The reachable blocks in depth-first post-order. The true side of a branch is visited last, so that in
    /// the reverse order it comes before the other.
    pub fn post_order(&self) -> Vec<BlockId> {
        let mut order = Vec::with_capacity(self.len());
        let mut seen = FixedBitSet::with_capacity(self.len());
        let mut stack = vec![(self.entry, 0)];
        seen.insert(self.entry.0 as usize);
        while let Some((block, next)) = stack.last_mut() {
            match self.successors[block.0 as usize].iter().rev().nth(*next) {
                Some(&successor) => {
                    *next += 1;
                    if !seen.put(successor.0 as usize) {
                        stack.push((successor, 0));
                    }
                }
                None => {
                    order.push(*block);
                    stack.pop();
                }
            }
        }
        order
    }

    /// The reachable blocks in reverse post-order.
    pub fn reverse_post_order(&self) -> Vec<BlockId> {
        let mut order = self.post_order();
        order.reverse();
        order
    }

    /// Whether there is no cycle among these blocks.
    pub fn is_acyclic(&self, blocks: &[BlockId]) -> bool {
        let mut rest = blocks.to_vec();
        let is_first = |rest: &[BlockId], block: &BlockId| {
            !self.predecessors(*block).iter().any(|before| rest.contains(before))
        };
        while let Some(index) = rest.iter().position(|block| is_first(&rest, block)) {
            rest.swap_remove(index);
        }
        rest.is_empty()
    }
}

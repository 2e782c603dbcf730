//! Dominators: the blocks on every path to a block.

use cranelift_entity::{EntityRef, SecondaryMap};

use crate::FlowGraph;

/// The dominator tree of the reachable blocks. Where control begins in several blocks, none of them dominates another one that is
/// entered from outside: all hang from a virtual root.
#[derive(Clone, Debug)]
pub struct Dominators<B: EntityRef> {
    /// The reachable blocks in reverse post-order.
    order: Vec<B>,
    /// The position of each in `order`, counted from 1 on; 0 of those that are not reachable.
    positions: SecondaryMap<B, u32>,
    /// By position the immediate dominator's; 0 is the virtual root.
    immediate: Vec<u32>,
}

impl<B: EntityRef> Dominators<B> {
    /// Iterates over reverse post-order until nothing changes, twice for reducible graphs (Cooper, Harvey and Kennedy, "A simple,
    /// fast dominance algorithm", 2001).
    pub fn new(graph: &FlowGraph<B>) -> Dominators<B> {
        const UNKNOWN: u32 = u32::MAX;
        let order = graph.reverse_post_order();
        let mut positions = SecondaryMap::new();
        for (&block, position) in order.iter().zip(1..) {
            positions[block] = position;
        }
        let mut immediate = vec![UNKNOWN; order.len() + 1];
        immediate[0] = 0;
        let is_entry = |block: &B| graph.entries().contains(block);
        let mut changed = true;
        while changed {
            changed = false;
            for (block, position) in order.iter().zip(1..) {
                let mut common = if is_entry(block) { 0 } else { UNKNOWN };
                for &predecessor in graph.predecessors(*block) {
                    let before = positions[predecessor];
                    if before != 0 && immediate[before as usize] != UNKNOWN {
                        common = if common == UNKNOWN { before } else { meet(&immediate, common, before) };
                    }
                }
                changed |= std::mem::replace(&mut immediate[position], common) != common;
            }
        }
        Dominators { order, positions, immediate }
    }

    /// Whether control may get to a block.
    pub fn is_reached(&self, block: B) -> bool {
        self.positions[block] != 0
    }

    /// The reachable blocks in reverse post-order: each behind those that dominate it.
    pub fn order(&self) -> impl Iterator<Item = B> + '_ {
        self.order.iter().copied()
    }

    /// The immediate dominator. None for entries, for blocks that only several of them together dominate, and for
    /// unreachable ones.
    pub fn immediate(&self, block: B) -> Option<B> {
        let position = self.immediate[self.positions[block] as usize];
        position.checked_sub(1).map(|index| self.order[index as usize])
    }

    /// Whether `dominator` is on every path to `block`. Each block dominates itself.
    pub fn dominates(&self, dominator: B, block: B) -> bool {
        let (dominator, mut block) = (self.positions[dominator], self.positions[block]);
        while block > dominator {
            block = self.immediate[block as usize];
        }
        block == dominator && block != 0
    }
}

/// The closest common dominator.
fn meet(immediate: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        // What is further behind cannot dominate the other.
        if a > b {
            a = immediate[a as usize];
        } else {
            b = immediate[b as usize];
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Dominators;
    use crate::FlowGraph;
    use crate::flow_graph::tests::{Block, graph};

    /// The blocks that are reachable without one.
    fn reached(graph: &FlowGraph<Block>, without: Option<Block>) -> Vec<Block> {
        let (mut found, mut work) = (Vec::new(), graph.entries().to_vec());
        while let Some(block) = work.pop() {
            if Some(block) != without && !found.contains(&block) {
                found.push(block);
                work.extend(graph.successors(block));
            }
        }
        found
    }

    proptest! {
        /// Against the definition, with one and with several entries.
        #[test]
        fn dominators_are_on_every_path(
            successors in proptest::collection::vec(proptest::collection::vec(0u32..12, 0..3), 12),
            entries in proptest::collection::vec(0u32..12, 1..4),
        ) {
            let graph = graph(&entries, &successors);
            let dominators = Dominators::new(&graph);
            let all = reached(&graph, None);
            for block in (0..12).map(Block) {
                prop_assert_eq!(dominators.is_reached(block), all.contains(&block));
            }
            for &a in &all {
                let around = reached(&graph, Some(a));
                for &b in &all {
                    prop_assert_eq!(dominators.dominates(a, b), !around.contains(&b), "{:?} {:?}", a, b);
                }
                // The immediate dominator is another block, which all others dominate.
                let others: Vec<Block> = all.iter().copied().filter(|&b| b != a && dominators.dominates(b, a)).collect();
                match dominators.immediate(a) {
                    Some(immediate) => {
                        prop_assert!(others.contains(&immediate));
                        prop_assert!(others.iter().all(|&b| dominators.dominates(b, immediate)));
                    }
                    None => prop_assert!(others.is_empty()),
                }
            }
        }
    }
}

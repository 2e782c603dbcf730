//! Control-flow graphs: edges, reachability, orders.

use cranelift_entity::{EntityRef, SecondaryMap};
use fixedbitset::FixedBitSet;
use smallvec::SmallVec;

/// The edges between blocks. Parallel edges are kept once.
#[derive(Clone, Debug)]
pub struct FlowGraph<B: EntityRef> {
    entries: SmallVec<[B; 1]>,
    successors: SecondaryMap<B, SmallVec<[B; 2]>>,
    predecessors: SecondaryMap<B, SmallVec<[B; 4]>>,
}

impl<B: EntityRef> FlowGraph<B> {
    /// The graph of some blocks, each with its successors. Control begins in one of `entries`.
    pub fn new<S: IntoIterator<Item = B>>(
        entries: impl IntoIterator<Item = B>,
        blocks: impl IntoIterator<Item = (B, S)>,
    ) -> FlowGraph<B> {
        let mut graph = FlowGraph {
            entries: entries.into_iter().collect(),
            successors: SecondaryMap::new(),
            predecessors: SecondaryMap::new(),
        };
        for (block, successors) in blocks {
            for successor in successors {
                let own = &mut graph.successors[block];
                if !own.contains(&successor) {
                    own.push(successor);
                    graph.predecessors[successor].push(block);
                }
            }
        }
        graph
    }

    /// The block where control begins, or the first one of them.
    ///
    /// # Panics
    /// Without any.
    pub fn entry(&self) -> B {
        self.entries[0]
    }

    /// All blocks where control begins.
    pub fn entries(&self) -> &[B] {
        &self.entries
    }

    /// Where control may go from a block.
    pub fn successors(&self, block: B) -> &[B] {
        &self.successors[block]
    }

    /// Where control may come from to a block.
    pub fn predecessors(&self, block: B) -> &[B] {
        &self.predecessors[block]
    }

    /// The reachable blocks in depth-first post-order. The first successor is visited last, so that in the reverse order it comes
    /// before the others; so are entries.
    pub fn post_order(&self) -> Vec<B> {
        let mut order = Vec::new();
        let mut is_visited = SecondaryMap::new();
        for &entry in self.entries.iter().rev() {
            if std::mem::replace(&mut is_visited[entry], true) {
                continue;
            }
            let mut stack = vec![(entry, self.successors(entry).iter().rev())];
            while let Some((block, rest)) = stack.last_mut() {
                match rest.next() {
                    Some(&next) if std::mem::replace(&mut is_visited[next], true) => {}
                    Some(&next) => stack.push((next, self.successors(next).iter().rev())),
                    None => {
                        order.push(*block);
                        stack.pop();
                    }
                }
            }
        }
        order
    }

    /// The reachable blocks in reverse post-order: each before its successors, but for loops.
    pub fn reverse_post_order(&self) -> Vec<B> {
        let mut order = self.post_order();
        order.reverse();
        order
    }

    /// Whether there is no cycle among these blocks.
    pub fn is_acyclic(&self, blocks: &[B]) -> bool {
        let mut rest = blocks.to_vec();
        let is_first =
            |rest: &[B], block: &B| !self.predecessors(*block).iter().any(|before| rest.contains(before));
        while let Some(index) = rest.iter().position(|block| is_first(&rest, block)) {
            rest.swap_remove(index);
        }
        rest.is_empty()
    }

    /// Strongly connected components of the subgraph of `nodes`, in reverse topological order; within each, the
    /// nodes in the order of `nodes` (Tarjan's algorithm with a stack of its own).
    pub fn components(&self, nodes: &[B]) -> Vec<Vec<B>> {
        const UNSEEN: u32 = u32::MAX;
        let mut rank = SecondaryMap::with_default(UNSEEN);
        for (&node, index) in nodes.iter().zip(0..) {
            rank[node] = index;
        }
        let mut number = vec![UNSEEN; nodes.len()];
        let mut low = vec![0u32; nodes.len()];
        let mut on_stack = FixedBitSet::with_capacity(nodes.len());
        let (mut stack, mut result, mut counter) = (Vec::new(), Vec::new(), 0);
        for root in 0..nodes.len() {
            if number[root] != UNSEEN {
                continue;
            }
            let mut calls = vec![(root, 0)];
            while let Some((node, edge)) = calls.last_mut() {
                let node = *node;
                if *edge == 0 && number[node] == UNSEEN {
                    number[node] = counter;
                    low[node] = counter;
                    counter += 1;
                    stack.push(node);
                    on_stack.insert(node);
                }
                match self.successors(nodes[node]).iter().rev().nth(*edge) {
                    Some(&successor) => {
                        *edge += 1;
                        let next = rank[successor];
                        if next == UNSEEN {
                            continue;
                        }
                        let next = next as usize;
                        if number[next] == UNSEEN {
                            calls.push((next, 0));
                        } else if on_stack.contains(next) {
                            low[node] = low[node].min(number[next]);
                        }
                    }
                    None => {
                        calls.pop();
                        if let Some(&(caller, _)) = calls.last() {
                            low[caller] = low[caller].min(low[node]);
                        }
                        if low[node] == number[node] {
                            let mut component = Vec::new();
                            while let Some(member) = stack.pop() {
                                on_stack.set(member, false);
                                component.push(member);
                                if member == node {
                                    break;
                                }
                            }
                            component.sort_unstable();
                            result.push(component.into_iter().map(|m| nodes[m]).collect());
                        }
                    }
                }
            }
        }
        result
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::FlowGraph;
    use cranelift_entity::entity_impl;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Block(pub u32);
    entity_impl!(Block);

    /// A graph by the successors of its blocks.
    pub fn graph(entries: &[u32], successors: &[Vec<u32>]) -> FlowGraph<Block> {
        let blocks =
            successors.iter().zip(0..).map(|(all, block)| (Block(block), all.iter().copied().map(Block)));
        FlowGraph::new(entries.iter().copied().map(Block), blocks)
    }

    fn numbers(blocks: &[Block]) -> Vec<u32> {
        blocks.iter().map(|block| block.0).collect()
    }

    #[test]
    fn the_first_successor_comes_first() {
        let diamond = graph(&[0], &[vec![1, 2], vec![3], vec![3], vec![]]);
        assert_eq!(numbers(&diamond.reverse_post_order()), [0, 1, 2, 3]);
        assert_eq!(numbers(diamond.predecessors(Block(3))), [1, 2]);
    }

    #[test]
    fn parallel_edges_are_one() {
        let graph = graph(&[0], &[vec![1, 1], vec![]]);
        assert_eq!(numbers(graph.successors(Block(0))), [1]);
        assert_eq!(numbers(graph.predecessors(Block(1))), [0]);
    }

    #[test]
    fn entries_come_before_what_follows_them() {
        let graph = graph(&[2, 0], &[vec![1], vec![], vec![1], vec![0]]);
        assert_eq!(numbers(&graph.reverse_post_order()), [2, 0, 1], "nothing leads to 3");
    }

    #[test]
    fn components_are_loops() {
        // 1 <-> 2 within 0 -> 3.
        let graph = graph(&[0], &[vec![1], vec![2], vec![1, 3], vec![]]);
        let all: Vec<Block> = (0..4).map(Block).collect();
        let components: Vec<Vec<u32>> = graph.components(&all).iter().map(|blocks| numbers(blocks)).collect();
        assert_eq!(components, [vec![3], vec![1, 2], vec![0]]);
        assert_eq!(graph.components(&[Block(1), Block(3)]).len(), 2, "2 is not among them");
    }

    #[test]
    fn cycles() {
        let graph = graph(&[0], &[vec![1], vec![2], vec![1, 3], vec![]]);
        let blocks = |numbers: &[u32]| numbers.iter().copied().map(Block).collect::<Vec<_>>();
        assert!(graph.is_acyclic(&blocks(&[0, 1, 3])));
        assert!(!graph.is_acyclic(&blocks(&[0, 1, 2])));
    }
}

//! Natural loops, for the passes of the translator.

use cranelift_entity::{EntityRef, EntitySet};

use crate::{Dominators, FlowGraph};

/// A natural loop: the blocks from which a back edge to the header can be reached without it.
#[derive(Clone, Debug)]
pub struct NaturalLoop<B> {
    /// The header, which dominates all blocks of the loop.
    pub header: B,
    /// The predecessors of the header that are not in the loop.
    pub entering: Vec<B>,
    /// All blocks, the header first.
    pub blocks: Vec<B>,
}

/// The natural loops of a graph, by header in reverse post-order. Loops with one header are one loop.
pub fn natural_loops<B: EntityRef>(graph: &FlowGraph<B>, dominators: &Dominators<B>) -> Vec<NaturalLoop<B>> {
    let mut loops = Vec::new();
    for header in dominators.order() {
        let is_back = |from: &B| dominators.is_reached(*from) && dominators.dominates(header, *from);
        let (mut open, entering): (Vec<B>, Vec<B>) =
            graph.predecessors(header).iter().copied().partition(is_back);
        if open.is_empty() {
            continue;
        }
        let (mut known, mut blocks) = (EntitySet::new(), vec![header]);
        known.insert(header);
        while let Some(block) = open.pop() {
            if known.insert(block) {
                blocks.push(block);
                open.extend(graph.predecessors(block));
            }
        }
        loops.push(NaturalLoop { header, entering, blocks });
    }
    loops
}

#[cfg(test)]
mod tests {
    use super::natural_loops;
    use crate::Dominators;
    use crate::flow_graph::tests::{Block, graph};

    /// 0 -> 1 -> 2 -> 3 -> 4, and back 2 -> 2, 3 -> 1.
    #[test]
    fn nested_loops_have_their_own_headers() {
        let graph = graph(&[0], &[vec![1], vec![2], vec![2, 3], vec![1, 4], vec![]]);
        let loops = natural_loops(&graph, &Dominators::new(&graph));
        let sorted = |blocks: &[Block]| {
            let mut blocks = blocks.to_vec();
            blocks.sort_unstable_by_key(|block| block.0);
            blocks
        };
        let found = loops.iter().map(|own| (own.header, own.entering.clone(), sorted(&own.blocks)));
        let outer = (Block(1), vec![Block(0)], [1, 2, 3].map(Block).to_vec());
        let inner = (Block(2), vec![Block(1)], [2].map(Block).to_vec());
        assert_eq!(found.collect::<Vec<_>>(), [outer, inner]);
    }
}

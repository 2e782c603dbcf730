//! The control-flow tree: structural analysis of ifs and loops.
//!
//! The tree describes the graph of blocks (as in NIR; docs/branches.md). Its leaves are blocks; an
//! [`Node::If`] has a head block, whose branch decides, and one or two sides; a [`Node::Loop`] has a body
//! whose first block is the only one that is entered from outside. Other regions are a plain list of blocks:
//! the analysis never fails.
//!
//! It is derived from the layout, in which the blocks of a loop and of the sides of an if are contiguous
//! ([`arrange_blocks`](crate::ir::passes::arrange_blocks)): a list of blocks is scanned, and where a loop or
//! an if begins, its range becomes a node, whose lists are scanned recursively. A range becomes a node only
//! if it has
//!
//! - one entry, and
//! - one exit: the block after it. Within a loop, lanes may also `break` to the block after the loop, and
//!   `continue` at its last block.
//!
//! Every construct gets its own join: if an if ends where the list around it ends, an empty block is
//! inserted, and likewise after loops and at the end of a then side. A loop with several back edges gets an
//! empty last block. So building the tree edits the graph; on a graph that it has edited the analysis edits
//! nothing.

use super::cfg::Cfg;
use crate::ir::{BlockId, Function, Instruction, Leave, Op};
use fixedbitset::FixedBitSet;

/// A region of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// One block.
    Block(BlockId),
    /// `head` ends with a branch to the first block of `then` and to that of `otherwise`, or to what follows
    /// when that is empty.
    If {
        /// The block with the branch.
        head: BlockId,
        /// The then side, which is next in the layout.
        then: Vec<Node>,
        /// The other side.
        otherwise: Vec<Node>,
    },
    /// A loop.
    Loop {
        /// From the only block that is entered from outside to the only block with a back edge to it.
        body: Vec<Node>,
    },
}

/// The tree of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlTree {
    /// The function's regions in layout order.
    pub nodes: Vec<Node>,
    /// By block id: the construct by which lanes leave at the end of the block. None: not by a construct.
    kinds: Vec<Option<Leave>>,
}

impl ControlTree {
    /// Builds the tree, and inserts missing joins into the function and its layout.
    pub fn build(function: &mut Function) -> ControlTree {
        let cfg = function.cfg();
        let mut places = vec![usize::MAX; function.blocks.len()];
        for (place, block) in function.layout.iter().enumerate() {
            places[block.0 as usize] = place;
        }
        let kinds = vec![None; function.blocks.len()];
        let blocks = function.layout.clone();
        let mut builder = TreeBuilder { function, cfg, places, kinds };
        let nodes = builder.list(&blocks, None, None, false);
        let kinds = builder.kinds;
        let mut layout = Vec::with_capacity(blocks.len());
        flatten(&nodes, &mut layout);
        function.layout = layout;
        ControlTree { nodes, kinds }
    }

    /// The construct by which lanes leave at the end of a block.
    pub fn kind(&self, block: BlockId) -> Option<Leave> {
        self.kinds.get(block.0 as usize).copied().flatten()
    }
}

fn flatten(nodes: &[Node], layout: &mut Vec<BlockId>) {
    for node in nodes {
        match node {
            Node::Block(block) => layout.push(*block),
            Node::If { head, then, otherwise } => {
                layout.push(*head);
                flatten(then, layout);
                flatten(otherwise, layout);
            }
            Node::Loop { body } => flatten(body, layout),
        }
    }
}

/// The targets in an enclosing loop: of `break` and `continue`.
#[derive(Clone, Copy)]
struct EnclosingLoop {
    /// The block after the loop.
    after: BlockId,
    /// The block with the back edge, unless it is the first.
    last: Option<BlockId>,
}

impl EnclosingLoop {
    fn takes(&self, block: BlockId) -> bool {
        block == self.after || Some(block) == self.last
    }
}

/// An if in a list of blocks: the sides as ranges of the list.
struct IfRegion {
    then: std::ops::Range<usize>,
    otherwise: std::ops::Range<usize>,
    join: BlockId,
}

struct TreeBuilder<'f> {
    function: &'f mut Function,
    /// The original graph.
    cfg: Cfg,
    /// By block id: index in the original layout.
    places: Vec<usize>,
    kinds: Vec<Option<Leave>>,
}

impl TreeBuilder<'_> {
    /// The nodes of a list of blocks that continues with `follow`. `inside`: the list is the body of the loop
    /// that its first block begins.
    fn list(
        &mut self,
        blocks: &[BlockId],
        follow: Option<BlockId>,
        around: Option<EnclosingLoop>,
        inside: bool,
    ) -> Vec<Node> {
        let mut nodes = Vec::new();
        let mut index = 0;
        while index < blocks.len() {
            let is_body = inside && index == 0;
            if !is_body && let Some(end) = self.loop_end(blocks, index) {
                index = self.add_loop(blocks, index..end, follow, &mut nodes).unwrap_or(index);
                if index == end {
                    continue;
                }
            }
            match self.find_if(blocks, index, follow, around) {
                Some(found) => index = self.add_if(blocks, index, found, follow, around, &mut nodes),
                None => {
                    nodes.push(Node::Block(blocks[index]));
                    index += 1;
                }
            }
        }
        nodes
    }

    fn successors(&self, block: BlockId) -> impl Iterator<Item = BlockId> + use<> {
        self.function.block(block).successors().into_iter()
    }

    fn set(&self, blocks: &[BlockId]) -> FixedBitSet {
        let mut set = FixedBitSet::with_capacity(self.function.blocks.len());
        set.extend(blocks.iter().map(|b| b.0 as usize));
        set
    }

    /// The exits of a region, each once.
    fn exits(&self, part: &[BlockId], around: Option<EnclosingLoop>) -> Vec<BlockId> {
        let set = self.set(part);
        let mut exits = Vec::new();
        for target in part.iter().flat_map(|&block| self.successors(block)) {
            let leaves = !set.contains(target.0 as usize) && !around.is_some_and(|a| a.takes(target));
            if leaves && !exits.contains(&target) {
                exits.push(target);
            }
        }
        exits
    }

    /// Whether the first block of a region is the only one that is entered from outside, and only from
    /// `head`, if given.
    fn has_one_entry(&self, part: &[BlockId], head: Option<BlockId>) -> bool {
        let set = self.set(part);
        part.iter().enumerate().all(|(index, &block)| {
            self.cfg
                .predecessors(block)
                .iter()
                .all(|&p| set.contains(p.0 as usize) || (index == 0 && head.is_none_or(|head| head == p)))
        })
    }

    /// The end in the list of the loop that a block begins.
    fn loop_end(&self, blocks: &[BlockId], index: usize) -> Option<usize> {
        let header = blocks[index];
        let goes_back = |b: &&BlockId| self.places[b.0 as usize] >= self.places[header.0 as usize];
        let last = self.cfg.predecessors(header).iter().filter(goes_back);
        let last = *last.max_by_key(|b| self.places[b.0 as usize])?;
        let end = blocks[index..].iter().position(|&b| b == last)?;
        Some(index + end + 1)
    }

    /// Adds a range of a list as a loop, and the join after it, if it is one construct. Returns the range's
    /// end.
    fn add_loop(
        &mut self,
        blocks: &[BlockId],
        range: std::ops::Range<usize>,
        follow: Option<BlockId>,
        nodes: &mut Vec<Node>,
    ) -> Option<usize> {
        let end = range.end;
        let header = blocks[range.start];
        let mut body = blocks[range].to_vec();
        let exits = self.exits(&body, None);
        let [exit] = exits.as_slice() else { return None };
        if !self.has_one_entry(&body, None) {
            return None;
        }
        let mut after = *exit;
        let adjacent = blocks.get(end) == Some(&after);
        let join = (!adjacent || Some(after) == follow).then(|| self.insert(&body, after));
        after = join.unwrap_or(after);
        let ways_back: Vec<BlockId> =
            body.iter().copied().filter(|&b| self.successors(b).any(|s| s == header)).collect();
        let last = match ways_back.as_slice() {
            [one] if *one != header => body.pop(),
            [_] => None,
            _ => Some(self.insert(&body, header)),
        };
        let around = EnclosingLoop { after, last };
        let mut list = self.list(&body, last, Some(around), true);
        list.extend(last.map(Node::Block));
        // `cont` enables lanes at the `while` itself, after all other instructions of the last block.
        let empty_last = last.filter(|&last| self.function.block(last).instructions.len() == 1);
        body.clear();
        flatten(&list, &mut body);
        for &block in &body {
            let successors: Vec<BlockId> = self.successors(block).collect();
            let kind = &mut self.kinds[block.0 as usize];
            if successors.contains(&header) {
                *kind = Some(Leave::While);
            } else if kind.is_none() && successors.contains(&after) {
                *kind = Some(Leave::Break);
            } else if kind.is_none() && successors.iter().any(|&s| Some(s) == empty_last) {
                *kind = Some(Leave::Continue);
            }
        }
        nodes.push(Node::Loop { body: list });
        nodes.extend(join.map(Node::Block));
        Some(end)
    }

    /// The if that a block of a list begins.
    fn find_if(
        &self,
        blocks: &[BlockId],
        index: usize,
        follow: Option<BlockId>,
        around: Option<EnclosingLoop>,
    ) -> Option<IfRegion> {
        let head = blocks[index];
        let Some(Op::Branch { then, otherwise }) = self.function.block(head).terminator().map(|t| t.op)
        else {
            return None;
        };
        let near = *blocks.get(index + 1)?;
        let far = match (then == near, otherwise == near) {
            (true, false) => otherwise,
            (false, true) => then,
            _ => return None,
        };
        if around.is_some_and(|a| a.takes(far)) {
            return None;
        }
        // A block of the list, or what comes after it.
        let place = |target: BlockId, from: usize| {
            let rest = blocks.get(from..).unwrap_or_default();
            let within = rest.iter().position(|&b| b == target).map(|p| from + p);
            within.or((Some(target) == follow).then_some(blocks.len()))
        };
        let middle = place(far, index + 2)?;
        let side = index + 1..middle;
        if !self.has_one_entry(&blocks[side.clone()], Some(head)) {
            return None;
        }
        let exits = self.exits(&blocks[side.clone()], around);
        if exits.iter().all(|&exit| exit == far) {
            return Some(IfRegion { then: side, otherwise: middle..middle, join: far });
        }
        let [join] = exits.as_slice() else { return None };
        let end = place(*join, middle + 1)?;
        let other = middle..end;
        let closed = middle < blocks.len()
            && self.has_one_entry(&blocks[other.clone()], Some(head))
            && self.exits(&blocks[other.clone()], around).iter().all(|exit| exit == join);
        closed.then_some(IfRegion { then: side, otherwise: other, join: *join })
    }

    /// Adds an if, and its join if one must be inserted. Returns the index in the list after it.
    fn add_if(
        &mut self,
        blocks: &[BlockId],
        index: usize,
        found: IfRegion,
        follow: Option<BlockId>,
        around: Option<EnclosingLoop>,
        nodes: &mut Vec<Node>,
    ) -> usize {
        let head = blocks[index];
        let (end, mut join) = (found.otherwise.end, found.join);
        let own = (Some(join) == follow).then(|| self.insert(&blocks[index..end], join));
        join = own.unwrap_or(join);
        let then = &blocks[found.then];
        let otherwise = &blocks[found.otherwise];
        self.kinds[head.0 as usize] = Some(Leave::If);
        let (mut side, mut side_end) = (Vec::new(), None);
        if !otherwise.is_empty() {
            let ends: Vec<BlockId> =
                then.iter().copied().filter(|&b| self.successors(b).any(|s| s == join)).collect();
            let last = then.last().copied();
            let jumps =
                |b: BlockId| self.function.block(b).terminator().is_some_and(|t| t.op == Op::Jump(join));
            let else_block = match ends.as_slice() {
                [one] if Some(*one) == last && jumps(*one) => *one,
                _ => *side_end.insert(self.insert(then, join)),
            };
            self.kinds[else_block.0 as usize] = Some(Leave::Else);
        }
        side.extend(self.list(then, Some(side_end.unwrap_or(join)), around, false));
        side.extend(side_end.map(Node::Block));
        let other = self.list(otherwise, Some(join), around, false);
        nodes.push(Node::If { head, then: side, otherwise: other });
        nodes.extend(own.map(Node::Block));
        end
    }

    /// Inserts a block between a region and `target`.
    fn insert(&mut self, part: &[BlockId], target: BlockId) -> BlockId {
        let new = self.function.new_block();
        for &block in part {
            if let Some(terminator) = self.function.block_mut(block).instructions.last_mut() {
                terminator.op.targets_mut().into_iter().filter(|t| **t == target).for_each(|t| *t = new);
            }
        }
        self.function.block_mut(new).instructions.push(Instruction::new(Op::Jump(target), [], []));
        self.kinds.push(None);
        new
    }
}

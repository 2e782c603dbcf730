//! The control-flow graph of a function.

use crate::ir::{BlockId, Function};
use gencl_ir_support::FlowGraph;

/// The edges between the blocks of a function. The first successor of a branch is its true side.
pub type Cfg = FlowGraph<BlockId>;

impl Function {
    /// The control-flow graph of the blocks in the layout.
    pub fn cfg(&self) -> Cfg {
        let blocks = self.blocks_in_layout().map(|(id, block)| (id, block.successors()));
        FlowGraph::new([self.entry()], blocks)
    }
}

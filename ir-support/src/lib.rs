//! What the intermediate representations of the compiler and of the translator have in common: control-flow graphs,
//! dominators, loops, dataflow analysis, union-find, and names in the text form.
//!
//! Blocks and values are entities: 32-bit indices with a type of their own (`cranelift-entity`).

pub mod dataflow;
mod dominators;
mod flow_graph;
mod loops;
mod names;
mod union_find;

pub use cranelift_entity::{EntitySet, PrimaryMap, SecondaryMap, entity_impl};
pub use dominators::Dominators;
pub use flow_graph::FlowGraph;
pub use loops::{NaturalLoop, natural_loops};
pub use union_find::UnionFind;

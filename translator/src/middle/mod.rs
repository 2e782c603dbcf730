//! The translator's middle IR: typed, in SSA form, between Gen instructions and LLVM.

pub mod builder;
pub mod evaluate;
pub mod function;
pub mod op;
mod print;
pub mod types;

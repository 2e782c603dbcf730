//! The translator's middle IR: typed, in SSA form, between Gen instructions and LLVM.

pub mod builder;
pub mod evaluate;
pub mod function;
pub mod interpret;
pub mod op;
pub mod parse;
mod print;
pub mod types;
pub mod verify;

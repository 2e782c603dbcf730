//! The engine that executes kernels as host machine code.

pub mod abi;

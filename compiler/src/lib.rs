//! The compiler: OpenCL C to Gen machine code.

pub mod ir;

//! Code generation: Gen IR to machine code.

//! `gencl-debug`: debugs the OpenCL kernels that a program runs on the simulated GPU, also backwards.

pub mod breakpoint;
pub mod checks;
pub mod dap;
pub mod expression;
pub mod gdb;
pub mod info;
pub mod interrupt;
pub mod launch;
pub mod link;
pub mod program;
pub mod prompt;
pub mod session;
pub mod step;
pub mod value;
pub mod work_item;

//! Programs, and requests through real descriptors and `ioctl`, on the node of `gencl-sim`.

mod errors;
mod fuzz;
mod processes;
mod program;
mod support;
#[path = "../common/under_gencl_sim.rs"]
mod under_gencl_sim;

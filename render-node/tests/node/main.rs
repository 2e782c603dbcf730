//! Programs, and requests through real descriptors and `ioctl`, on the node that `gencl-sim` shows.

mod errors;
mod fuzz;
mod gl;
mod processes;
mod program;
mod support;

//! The simulated render node, used as a driver uses the kernel's.

mod debug;
mod endless;
mod errors;
mod hangs;
mod kernels;
mod order;
mod queries;
mod random;
mod setup;
mod statistics;
mod translated;

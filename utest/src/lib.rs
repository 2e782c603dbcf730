//! The test-suite's harness.
//!
//! Tests load the driver through the ICD loader, as any application does: the one of this build, or what
//! `OCL_ICD_VENDORS` says (any other OpenCL driver can be put to the same tests, which is how the tests
//! themselves are tested). Kernels are `.cl` files in `utest/kernels`, results are compared with what the
//! host computes.

mod case;
mod device;
mod driver;
mod need;
pub mod random_kernel;
pub mod raw;
mod witness;

pub use case::{Case, Outcome, all_control_flows, all_needing, all_widths, main_with};
pub use device::{Arg, Buffer, Gpu, Launch, Program, enqueue, run};
pub use driver::library;
pub use gencl_testing::Random;
pub use need::{DOUBLE, HALF, Need};

/// A number from the environment, for tests that can do more of the same.
///
/// # Errors
/// It is no number.
pub fn setting(name: &str, otherwise: u64) -> Result<u64, String> {
    let Ok(text) = std::env::var(name) else { return Ok(otherwise) };
    text.parse().map_err(|_| format!("{name}={text} is no number"))
}

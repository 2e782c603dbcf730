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

pub use case::{Case, Outcome, all_control_flows, all_needing, all_widths, all_with_images, main_with};
pub use device::{Arg, Buffer, Gpu, Launch, Program, run};
pub use driver::library;
pub use need::{DOUBLE, HALF, Need};

/// A pseudo random sequence, the same in every run (xorshift64*).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A sequence; different seeds give different ones.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next 32 bits.
    pub fn next_u32(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.next_u32() as usize % limit
    }

    /// A float in `low..high`.
    pub fn float(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * (self.next_u32() >> 8) as f32 / (1 << 24) as f32
    }
}

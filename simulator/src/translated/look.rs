//! Whether a thread in translated code can ever end, while its batch is suspected to hang.
//!
//! Registers of a thread are values of the translated function: in the host's registers and on its stack. Where a thread that
//! nothing from outside can change comes back to an instruction, and both are the same as before, it never ends.

use gencl_eu::{Cycle, Kernel};
use rustc_hash::FxHashMap;

/// What has been observed of the threads of a launch.
#[derive(Default)]
pub struct Looks {
    cycle: Cycle,
    /// [`Kernel::is_silent`] of instructions at which threads have looked.
    silent: FxHashMap<u32, bool>,
}

impl Looks {
    /// Whether a thread's state repeats. `place`: its number, its instruction, and its work-group; `stack`: that of the translated
    /// function, with the registers that callees keep, empty where it is unknown; `file`: its register file, which has the registers of
    /// kernels with indirect accesses.
    pub fn repeats(&mut self, kernel: &Kernel, place: [u32; 5], stack: &[u8], file: &[u8]) -> bool {
        let instruction = place[1];
        let is_silent =
            *self.silent.entry(instruction).or_insert_with(|| kernel.is_silent(instruction as usize));
        if !is_silent || stack.is_empty() {
            self.cycle.restart();
            return false;
        }
        self.cycle.repeats(&[bytemuck::bytes_of(&place), stack, file])
    }
}

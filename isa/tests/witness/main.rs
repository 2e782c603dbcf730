//! What this crate encodes, read by Intel's own disassembler; what Intel's own compiler emits, read by this
//! crate.
//!
//! Needs `iga64` (Debian package `libigc-tools`) and `ocloc` (`intel-opencl-icd`).

mod golden;
#[path = "../golden_lines/mod.rs"]
mod golden_lines;
mod intel;

use gencl_isa::{Generation, witness};
use gencl_testing::harness::{self, Outcome};

fn main() -> ! {
    harness::run([golden::tests(), intel::tests()].into_iter().flatten().collect())
}

/// Compares a program with what `iga64` reads.
fn agree(generation: Generation, code: &[u8]) -> Outcome {
    let differences =
        witness::compare(generation, code).map_err(|error| format!("{generation:?}: {error}"))?;
    let lines: Vec<String> = differences
        .iter()
        .map(|d| format!("{generation:?} {:#x}: {}\n  {}\n  {}", d.offset, d.what, d.ours, d.theirs))
        .collect();
    if lines.is_empty() { Ok(()) } else { Err(lines.join("\n")) }
}

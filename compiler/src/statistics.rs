//! What was counted of machine code, as a table that people and scripts read.
//!
//! Columns are separated by blanks, and a name that may contain some stands last.

use std::fmt::Write;

use gencl_program::Kernel;

/// The first line of a table.
pub const HEADER: &str =
    "simd  instr   per-lane  sends spills  fills   regs  scratch    bytes  kernel                file\n";

/// The line of one kernel. `instr` are instructions, `per-lane` these by the number of lanes; `spills` and
/// `fills` are instructions that store to and load from scratch memory what had no register; `regs` the most
/// registers in use at once; `scratch` bytes of scratch memory for a thread; `bytes` those of the code.
#[must_use]
pub fn line(kernel: &Kernel, file: &str) -> String {
    let s = &kernel.statistics;
    let per_lane = f64::from(s.instructions) / f64::from(kernel.simd_width.max(1));
    format!(
        "{:4} {:6} {per_lane:10.3} {:6} {:6} {:6} {:6} {:8} {:8}  {:<20}  {file}\n",
        kernel.simd_width,
        s.instructions,
        s.sends,
        s.spills,
        s.fills,
        s.registers,
        kernel.scratch_size,
        kernel.code.len(),
        kernel.name,
    )
}

/// The table of one file's kernels.
#[must_use]
pub fn table(kernels: &[Kernel], file: &str) -> String {
    let mut text = HEADER.to_owned();
    for kernel in kernels {
        let _ = text.write_str(&line(kernel, file));
    }
    text
}

//! Statistics of machine code as a text table.
//!
//! Columns are separated by blanks; the file name, which can contain blanks, is the last.

use std::fmt::Write;

use gencl_program::Kernel;

/// The first line of a table.
pub const HEADER: &str =
    "simd  instr   per-lane  sends spills  fills   regs  scratch    bytes  kernel                file\n";

/// The line of one kernel. `instr` is the number of instructions, `per-lane` the same divided by the SIMD
/// width; `spills` and `fills` are stores and loads of spilled registers; `regs` is the number of general
/// registers used; `scratch` the size of a thread's scratch memory and `bytes` that of the code, in bytes.
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

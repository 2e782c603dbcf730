//! The Gen instruction set as tables.
//!
//! One row per opcode and one row per field; encoding, decoding, printing, parsing and validation
//! are derived from them. This crate knows nothing of compilers or simulators.
//!
//! Sources for every table: Intel's programmer's reference manuals, "Volume 7: 3D-Media-GPGPU",
//! chapters "EU Overview" and "Instruction Set Reference" (Skylake), and the same chapters of the
//! manuals for Ivy Bridge, Haswell and Broadwell.

mod instruction;

pub use instruction::*;

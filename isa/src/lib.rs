//! The Gen instruction set as tables.
//!
//! One row per opcode and one row per field; encoding, decoding, printing, parsing and validation
//! are derived from them. This crate is independent of compilers and simulators.
//!
//! Sources for every table: Intel's programmer's reference manuals, "Volume 7: 3D-Media-GPGPU",
//! chapters "EU Overview" and "Instruction Set Reference" (Skylake), and the same chapters of the
//! manuals for Ivy Bridge, Haswell and Broadwell.

mod codec;
mod codes;
mod compact;
mod construct;
mod encoding;
mod field;
mod generation;
mod instruction;
mod layout;
pub mod message;
mod opcode;
mod register;
mod text;
mod validate;
pub mod witness;

pub use codec::{DecodeError, EncodeError};
pub use compact::compact;
pub use encoding::{Stream, decode, decode_first, decode_stream, encode};
pub use field::{Bits, FIELDS, Field, FieldGroup, FieldInfo};
pub use generation::{Capabilities, Generations};
pub use instruction::*;
pub use opcode::{Allows, BranchLayout, Format, Implied, OPCODES, OpcodeInfo};
pub use text::{ParseError, Printed, parse, parse_program, print, print_program};
pub use validate::{Rule, Violation, ViolationSite, atom_rules, rules, validate, validate_atom};

//! The text form of Gen IR, for dumps and tests.
//!
//! ```text
//! constants 00010203                        ; hex bytes, any number of such lines
//! kernel "scale" per_lane                   ; form: per_lane or linear
//!     private_size 16                       ; these two when not zero
//!     local_size 64
//!     meta arguments [{"name":"a", ...}]    ; fields of the kernel's metadata that are not the default, as JSON
//!     register dword %0 %2                  ; every register once
//!     register uniform qword %1
//! @0:                                       ; blocks in layout order
//!     %1 = input.push.pointer 0
//!     %0 = load.global.f32.align4 %1
//!     (%7) store.global.f32.align4 %1, %2   ; under a predicate; (!%7) under its inverse
//!     return
//! end
//! ```
//!
//! Printing and parsing again gives the same unit, with two exceptions: machine code in the metadata is not
//! part of the text, and blocks outside the layout are forgotten.

mod operation;
mod parse;
mod print;

pub use parse::{ParseError, parse, parse_function};
pub use print::{print, print_function, print_instruction};

#[cfg(test)]
mod tests;

use gencl_program::{DataSection, Kernel};
use serde_json::{Map, Value};

/// The name of a data section.
fn section_name(section: DataSection) -> &'static str {
    match section {
        DataSection::Constants => "constants",
        DataSection::Variables => "variables",
    }
}

/// The default metadata of a function.
fn default_metadata(name: &str) -> Map<String, Value> {
    let kernel = Kernel { name: name.to_owned(), ..Kernel::default() };
    match serde_json::to_value(kernel) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

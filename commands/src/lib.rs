//! The command lines of gencl's tools; `gencl_cli` has that of `gencl`, which runs them.
//!
//! A tool parses its arguments with its module's `Arguments`. They are apart from the tools because `gencl-manual` makes
//! manual pages and completions of them, and one of the tools' crates cannot be linked to it: the render node replaces
//! functions of the C library.

pub mod check;
pub mod child;
pub mod debug;
pub mod genclc;
pub mod objdump;
pub mod profile;
pub mod sim;
pub mod stats;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Command, CommandFactory};
use gencl_eu::device::Device;

/// The tools that are installed.
#[must_use]
pub fn all() -> Vec<Command> {
    vec![
        check::Arguments::command(),
        debug::Arguments::command(),
        genclc::command(),
        objdump::Arguments::command(),
        profile::Arguments::command(),
        sim::Arguments::command(),
        stats::Arguments::command(),
    ]
}

/// The name of a simulated device.
fn device_name() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(Device::all().iter().map(|device| device.name()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn commands_are_consistent() {
        for command in super::all() {
            command.debug_assert();
        }
    }
}

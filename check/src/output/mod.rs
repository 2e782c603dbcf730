//! The forms of reports.

mod json;
mod junit;
mod sarif;
mod text;

pub use json::schema;

use gencl_commands::check::Format;
use gencl_program::found::Found;

/// A report on a program, in a format.
///
/// # Errors
/// What the format cannot express.
pub fn report(findings: &[Found], program: &str, format: Format) -> Result<String, String> {
    match format {
        Format::Text => Ok(text::report(findings)),
        Format::Json => json::report(findings),
        Format::Sarif => sarif::report(findings),
        Format::Junit => junit::report(findings, program),
    }
}

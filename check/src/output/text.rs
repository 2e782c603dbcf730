//! For the terminal.

use std::fmt::Write;

use gencl_program::found::Found;

pub(super) fn report(findings: &[Found]) -> String {
    let mut text = String::new();
    for finding in findings {
        // A string takes everything.
        let _ = writeln!(text, "{finding}\n    {}\n", finding.times());
    }
    let count = findings.len();
    let _ = writeln!(text, "gencl-check: {count} finding{}", if count == 1 { "" } else { "s" });
    text
}

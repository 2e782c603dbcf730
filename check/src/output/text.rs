//! For the terminal.

use std::fmt::Write;

use gencl_program::finding::Finding;

use super::counted;

pub(super) fn report(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let Finding { count, launches, .. } = *finding;
        let times = format!(
            "{} in {}",
            counted(count, "time"),
            if launches == 1 { "1 launch".to_owned() } else { format!("{launches} launches") }
        );
        // A string takes everything.
        let _ = writeln!(text, "{finding}\n    {times}\n");
    }
    let _ = writeln!(text, "gencl-check: {}", counted(findings.len() as u64, "finding"));
    text
}

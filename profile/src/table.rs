//! The text that is printed when the program ends.

use std::fmt::Write;

use gencl_simulator::statistics::report::{Kernel, LineInformation};

use crate::advice;
use crate::analysis::{Analysis, Line, kernel_name, ratio};
pub use crate::columns::{Table, percent};
use crate::launches;
use crate::lines::LineKey;

/// Number of lines that are printed.
const HOTTEST: usize = 10;
/// Number of things to do that are printed.
const ADVICE: usize = 8;
/// The smallest share that is printed.
const LEAST: f64 = 0.0005;
/// Characters of a line's text that are printed.
const TEXT_WIDTH: usize = 60;

/// The table of kernels, and the hottest lines with the reasons for their time.
pub fn summary(analysis: &Analysis<'_>) -> String {
    let report = analysis.report;
    let clocks = match report.fast {
        false => "clocks of the cycle model",
        true => "clocks for which instructions issue (--fast)",
    };
    let mut text = format!("{} on {}: {clocks}\n\n", report.program, report.device);
    for note in &report.notes {
        let _ = writeln!(text, "incomplete: {note}");
    }
    text.push_str(&kernels(analysis));
    for fault in launches::faults(analysis) {
        let _ = writeln!(text, "{fault}");
    }
    for reason in without_lines(&report.kernels) {
        let _ = writeln!(text, "{reason}");
    }
    text.push_str(&to_do(analysis));
    let _ = write!(text, "\n{}\n{}", launches::resources(analysis), launches::launches(analysis));
    let hottest = analysis.hottest_lines();
    if !hottest.is_empty() {
        text.push('\n');
        text.push_str(&lines(analysis, &hottest));
    }
    text
}

/// The columns of the table of kernels.
const HEAD: [&str; 11] = [
    "time",
    "launches",
    "clocks",
    "thread clocks",
    "waiting",
    "SIMD",
    "lanes",
    "spills",
    "occupancy",
    "limit",
    "kernel",
];

fn kernels(analysis: &Analysis<'_>) -> String {
    let mut table = Table::new(2, HEAD.map(str::to_owned).to_vec());
    for number in analysis.hottest_kernels() {
        let (kernel, cost) = (&analysis.report.kernels[number], &analysis.kernels[number]);
        let occupancy = kernel.occupancy / f64::from(kernel.threads_per_eu.max(1));
        table.rows.push(vec![
            percent(analysis.shares[number]),
            (kernel.launches + kernel.faults).to_string(),
            kernel.cycles.to_string(),
            cost.clocks.to_string(),
            percent(ratio(cost.wait, cost.clocks)),
            kernel.simd_width.to_string(),
            percent(cost.enabled()),
            kernel.spill_bytes.to_string(),
            if kernel.threads_per_eu == 0 || kernel.launches == 0 {
                "-".to_owned()
            } else {
                percent(occupancy)
            },
            if kernel.launches == 0 { "fault" } else { analysis.limits[number] }.to_owned(),
            kernel_name(kernel).to_owned(),
        ]);
    }
    table.text()
}

/// The kernels that have no source lines, by reason.
fn without_lines(kernels: &[Kernel]) -> Vec<String> {
    let reason = |kernel: &Kernel| match &kernel.line_information {
        LineInformation::Missing(reason) => Some(reason.clone()),
        LineInformation::Unknown => Some("not joined with the program".to_owned()),
        LineInformation::Present => None,
    };
    let with =
        |kernel: &Kernel| Some(format!("{}: no source lines, {}", kernel_name(kernel), reason(kernel)?));
    kernels.iter().filter_map(with).collect()
}

/// What to do, that first which saves most.
fn to_do(analysis: &Analysis<'_>) -> String {
    let advice = advice::of(analysis);
    let mut text = String::new();
    if !advice.is_empty() {
        text.push_str("\nwhat to do, by the time that it saves at most\n");
    }
    for (number, advice) in advice.iter().take(ADVICE).enumerate() {
        let _ = writeln!(text, "{:>4}. {}", number + 1, advice.text(analysis));
        let _ = writeln!(text, "        {}", advice.reason);
    }
    text
}

fn lines(analysis: &Analysis<'_>, hottest: &[(LineKey, &Line)]) -> String {
    let mut text =
        String::from("hottest lines: their parts of what limits the kernels, and of the threads' time\n");
    let is_shown = |line: &Line| line.limit_share.max(line.share) >= LEAST;
    for (key, line) in hottest.iter().take(HOTTEST).filter(|(_, line)| is_shown(line)) {
        let name = analysis.line_name(*key);
        let code: String = analysis.line_text(*key).chars().take(TEXT_WIDTH).collect();
        let [limit, time] = [line.limit_share, line.share].map(percent);
        let _ = writeln!(text, "{limit:>6} {time:>6}  {name}  {code}");
        let reasons = analysis.reasons(Some(*key), line).join("; ");
        if !reasons.is_empty() {
            let _ = writeln!(text, "               {reasons}");
        }
    }
    text
}

//! The source lines of instructions.

use gencl_simulator::statistics::Report;
use gencl_simulator::statistics::report::{Frame, Instruction};

/// A line of a source: index in [`Report::sources`], and number from 1.
pub type LineKey = (usize, u32);

/// The location that an instruction's counts are shown at: that in the innermost inlined function.
pub fn shown_frame<'a>(report: &'a Report, instruction: &Instruction) -> Option<&'a Frame> {
    let frames = instruction.frames.iter().map(|frame| &report.frames[*frame]);
    frames.into_iter().find(|frame| frame.line > 0)
}

/// The line of that location.
pub fn line_of(report: &Report, instruction: &Instruction) -> Option<LineKey> {
    shown_frame(report, instruction).map(|frame| (frame.source, frame.line))
}

/// The text of a line, without the blanks around it.
pub fn line_text(report: &Report, (source, line): LineKey) -> &str {
    let text = report.sources[source].text.as_deref().unwrap_or_default();
    text.lines().nth(line as usize - 1).unwrap_or_default().trim()
}

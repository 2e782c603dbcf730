//! Folded stacks, which `flamegraph.pl` and `inferno-flamegraph` read: a line for each stack, with its clocks.

use std::collections::BTreeMap;

use gencl_simulator::statistics::report::{Instruction, Kernel};

use crate::analysis::{Analysis, Cost, kernel_name};

/// The functions of an instruction, the kernel first, and the line in the innermost one: `FILE:LINE`.
pub fn stack(analysis: &Analysis<'_>, kernel: &Kernel, instruction: &Instruction) -> Vec<String> {
    let frames = || instruction.frames.iter().map(|frame| &analysis.report.frames[*frame]);
    // The outermost function is the kernel.
    let inlined = frames().rev().skip(1).map(|frame| frame.function.clone());
    let line = frames().next().filter(|frame| frame.line > 0);
    let line = line.map(|frame| analysis.line_name((frame.source, frame.line)));
    std::iter::once(kernel_name(kernel).to_owned()).chain(inlined).chain(line).collect()
}

/// The file's text.
pub fn write(analysis: &Analysis<'_>) -> String {
    let mut stacks: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for kernel in &analysis.report.kernels {
        for instruction in &kernel.instructions {
            let clocks = Cost::of(instruction).clocks;
            if clocks > 0 {
                *stacks.entry(stack(analysis, kernel, instruction)).or_default() += clocks;
            }
        }
    }
    // A semicolon separates frames, and a blank the count.
    let name = |frame: &String| frame.replace([';', '\n'], "_");
    let line = |(stack, clocks): (&Vec<String>, &u64)| {
        format!("{} {clocks}\n", stack.iter().map(name).collect::<Vec<_>>().join(";"))
    };
    stacks.iter().map(line).collect()
}

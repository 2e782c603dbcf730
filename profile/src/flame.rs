//! Stacks of instructions: kernel, inlined functions and line; as a tree for the page's flame graph, and as folded stacks,
//! which `flamegraph.pl` and `inferno-flamegraph` read.

use std::collections::BTreeMap;

use gencl_simulator::statistics::report::{Instruction, Kernel};
use serde::Serialize;

use crate::analysis::{Analysis, Cost, kernel_name};
use crate::lines::LineKey;

/// A frame of a flame graph.
#[derive(Debug, PartialEq, Serialize)]
pub struct Node {
    /// A kernel, an inlined function, or a line.
    pub name: String,
    /// That line.
    pub line: Option<LineKey>,
    /// Part of the time of all kernels, 0 to 1.
    pub value: f64,
    /// Those inside it, by name.
    pub children: Vec<Node>,
}

/// A name of a stack, and the line if it is one.
type Level = (String, Option<LineKey>);

/// The functions of an instruction, the kernel first, and the line in the innermost one: `FILE:LINE`.
fn stack(analysis: &Analysis<'_>, kernel: &Kernel, instruction: &Instruction) -> Vec<Level> {
    let frames = || instruction.frames.iter().map(|frame| &analysis.report.frames[*frame]);
    // The outermost function is the kernel.
    let inlined = frames().rev().skip(1).map(|frame| (frame.function.clone(), None));
    let line = frames().next().filter(|frame| frame.line > 0).map(|frame| (frame.source, frame.line));
    let line = line.map(|line| (analysis.line_name(line), Some(line)));
    std::iter::once((kernel_name(kernel).to_owned(), None)).chain(inlined).chain(line).collect()
}

/// The text of a file with folded stacks: a line for each stack, with its clocks.
pub fn folded(analysis: &Analysis<'_>) -> String {
    let mut stacks: BTreeMap<Vec<Level>, u64> = BTreeMap::new();
    for kernel in &analysis.report.kernels {
        for instruction in &kernel.instructions {
            let clocks = Cost::of(instruction).clocks;
            if clocks > 0 {
                *stacks.entry(stack(analysis, kernel, instruction)).or_default() += clocks;
            }
        }
    }
    // A semicolon separates frames, and a blank the count.
    let name = |(frame, _): &Level| frame.replace([';', '\n'], "_");
    let line = |(stack, clocks): (&Vec<Level>, &u64)| {
        format!("{} {clocks}\n", stack.iter().map(name).collect::<Vec<_>>().join(";"))
    };
    stacks.iter().map(line).collect()
}

/// The root of the flame graph.
pub fn tree(analysis: &Analysis<'_>) -> Node {
    let mut root = Node { name: "all kernels".to_owned(), line: None, value: 0.0, children: Vec::new() };
    for (number, kernel) in analysis.report.kernels.iter().enumerate() {
        for instruction in kernel.instructions.iter().filter(|i| i.counter.executions > 0) {
            let share = analysis.share_of(number, instruction);
            let mut node = &mut root;
            node.value += share;
            for (name, line) in stack(analysis, kernel, instruction) {
                let index = match node.children.binary_search_by(|child| child.name.cmp(&name)) {
                    Ok(index) => index,
                    Err(index) => {
                        node.children.insert(index, Node { name, line, value: 0.0, children: Vec::new() });
                        index
                    }
                };
                node = &mut node.children[index];
                node.value += share;
            }
        }
    }
    root
}

//! Callgrind's format, which `callgrind_annotate` and KCachegrind read ("Callgrind Format Specification" in Valgrind's
//! manual). Inlined functions are functions that are called at the place where they are inlined, so that their inclusive
//! costs are those of the source. Kernels follow each other in one address space, [`kernel_address`].

use std::collections::BTreeMap;
use std::fmt::Write;

use gencl_simulator::statistics::report::{Frame, Instruction, Kernel};

use crate::analysis::{Analysis, Cost, EVENTS, kernel_name};

/// A function: the source that it is in, if that is known, and its name.
type Function<'a> = (Option<usize>, &'a str);

/// Where an instruction is: its address, and its line or 0.
type Position = (u64, u32);

/// Calls of a function at a line of its caller.
#[derive(Default)]
struct Call {
    /// The first instruction, with the line of the call.
    at: Position,
    /// The first instruction, with its line in the callee.
    target: Position,
    /// Executions of the first instruction.
    count: u64,
    /// The inclusive cost.
    cost: Cost,
}

#[derive(Default)]
struct Costs<'a> {
    own: BTreeMap<Position, Cost>,
    /// By kernel, line of the call and callee.
    calls: BTreeMap<(usize, u32, Function<'a>), Call>,
}

/// The address that a kernel's first instruction has.
pub fn kernel_address(number: usize) -> u64 {
    (number as u64 + 1) << 24
}

/// The functions of an instruction with its line in each, innermost first.
fn stack<'a>(
    analysis: &Analysis<'a>,
    kernel: &'a Kernel,
    instruction: &Instruction,
) -> Vec<(Function<'a>, u32)> {
    if instruction.frames.is_empty() {
        return vec![((None, kernel_name(kernel)), 0)];
    }
    let function = |frame: &'a Frame| ((Some(frame.source), frame.function.as_str()), frame.line);
    instruction.frames.iter().map(|frame| function(&analysis.report.frames[*frame])).collect()
}

/// The file's text.
pub fn write(analysis: &Analysis<'_>) -> String {
    let mut functions: BTreeMap<Function<'_>, Costs<'_>> = BTreeMap::new();
    let mut total = Cost::default();
    for (number, kernel) in analysis.report.kernels.iter().enumerate() {
        for instruction in kernel.instructions.iter().filter(|i| i.counter.executions > 0) {
            let (cost, address) =
                (Cost::of(instruction), kernel_address(number) + u64::from(instruction.offset));
            total.add(&cost);
            let stack = stack(analysis, kernel, instruction);
            let (innermost, line) = stack[0];
            functions.entry(innermost).or_default().own.entry((address, line)).or_default().add(&cost);
            for pair in stack.windows(2) {
                let [(callee, target), (caller, line)] = pair else { continue };
                let calls = &mut functions.entry(*caller).or_default().calls;
                let call = calls.entry((number, *line, *callee)).or_insert_with(|| Call {
                    at: (address, *line),
                    target: (address, *target),
                    count: cost.executed,
                    cost: Cost::default(),
                });
                call.cost.add(&cost);
            }
        }
    }
    let mut text = format!(
        "# callgrind format\nversion: 1\ncreator: gencl-profile\ncmd: {}\npositions: instr line\nevents: {}\n",
        analysis.report.program,
        EVENTS.map(|event| event.name).join(" "),
    );
    let _ = writeln!(text, "summary: {}\n", numbers(&total));
    for (function, costs) in &functions {
        let _ = writeln!(text, "fl={}\nfn={}", file(analysis, *function), function.1);
        for (position, cost) in &costs.own {
            let _ = writeln!(text, "{} {}", place(*position), numbers(cost));
        }
        for ((_, _, callee), call) in &costs.calls {
            let _ = writeln!(text, "cfi={}\ncfn={}", file(analysis, *callee), callee.1);
            let _ = writeln!(text, "calls={} {}", call.count, place(call.target));
            let _ = writeln!(text, "{} {}", place(call.at), numbers(&call.cost));
        }
        text.push('\n');
    }
    let _ = writeln!(text, "totals: {}", numbers(&total));
    text
}

fn file<'a>(analysis: &Analysis<'a>, function: Function<'_>) -> &'a str {
    function.0.map_or("???", |source| &analysis.report.sources[source].name)
}

fn place((address, line): Position) -> String {
    format!("{address:#x} {line}")
}

fn numbers(cost: &Cost) -> String {
    EVENTS.map(|event| (event.count)(cost).to_string()).join(" ")
}

//! Prints a report as tables.

use std::fmt::Write;

use super::report::{Instruction, Kernel, Report};

/// A table with a line for each kernel.
pub fn table(report: &Report) -> String {
    let mut text = format!("{} on {}\n", report.program, report.device);
    text.push_str(
        "kernel            SIMD  static  launches  threads   executed  lanes   sends  thread cycles  waits  \
         occupancy     cycles  full cycles  limit\n",
    );
    for kernel in &report.kernels {
        let waits = 100.0 * kernel.wait_cycles as f64 / kernel.thread_cycles.max(1) as f64;
        let _ = writeln!(
            text,
            "{}  {:>4} {:>7} {:>9} {:>8} {:>10} {:>6.1} {:>7} {:>14} {waits:>5.0}% {:>10.1} {:>10} {:>12}  {}",
            kernel.hash,
            kernel.simd_width,
            kernel.instructions.len(),
            kernel.launches,
            kernel.threads,
            kernel.executed,
            kernel.lanes_per_instruction(),
            kernel.sends(),
            kernel.thread_cycles,
            kernel.occupancy,
            kernel.cycles,
            kernel.full_cycles,
            kernel.limit,
        );
    }
    for kernel in &report.kernels {
        for line in untranslated(kernel) {
            let _ = writeln!(text, "{}  {:>4} {line}", kernel.hash, kernel.simd_width);
        }
    }
    text
}

/// Lines about what the translation leaves to the interpreter; none when that is nothing or not known.
fn untranslated(kernel: &Kernel) -> Vec<String> {
    let refused = kernel.refused.iter().map(|reason| format!("stays interpreted: {reason}"));
    let parts = kernel.interpreted.iter().map(|(reason, left)| {
        format!("{} instructions interpreted, {} executions: {reason}", left.instructions, left.executed)
    });
    refused.chain(parts).collect()
}

/// A kernel's instructions with their average counts per thread.
pub fn listing(kernel: &Kernel) -> String {
    let mut text = format!("kernel {} SIMD{}, {} threads\n", kernel.hash, kernel.simd_width, kernel.threads);
    for (bound, clocks) in &kernel.bounds {
        let _ = writeln!(text, "  {bound:<10} {clocks:>10} clocks of the full device");
    }
    for (class, count) in &kernel.messages {
        let _ = writeln!(text, "  {class:<10} {count:>10} messages");
    }
    if kernel.texels > 0 {
        let _ = writeln!(text, "  {:<10} {:>10} read or written", "texels", kernel.texels);
    }
    for line in untranslated(kernel) {
        let _ = writeln!(text, "  {line}");
    }
    text.push_str("executed, and clocks of issue, wait (before it) and awaited (for its result): per thread; lines: per execution\n");
    text.push_str(" executed  lanes    issue     wait  awaited  lines  offset  instruction\n");
    for instruction in &kernel.instructions {
        let _ = writeln!(text, "{}", line(instruction, kernel.threads.max(1) as f64));
    }
    text
}

fn line(instruction: &Instruction, threads: f64) -> String {
    let counter = &instruction.counter;
    let each = |sum: u64| sum as f64 / threads;
    let dash = |value: f64| if value == 0.0 { "-".to_owned() } else { format!("{value:.1}") };
    let executed = counter.executions as f64;
    let enabled = 100.0 * counter.lanes as f64 / (executed * f64::from(instruction.width)).max(1.0);
    let lines = if counter.executions == 0 { 0.0 } else { counter.lines as f64 / executed };
    format!(
        "{:>9.2} {enabled:>5.0}% {:>8.1} {:>8} {:>8} {:>6} {:>#7x}  {}",
        each(counter.executions),
        each(counter.issue),
        dash(each(counter.wait)),
        dash(each(counter.awaited)),
        dash(lines),
        instruction.offset,
        instruction.text.trim(),
    )
}

//! Faults in kernels that their checks find (`GENCL_DEBUG=check`), and programs without a fault, in which they find nothing.
//!
//! A row of [`rows`] is a kernel, which runs in a process of its own at each SIMD width.

mod rows;
mod undefined;

use gencl_utest::{Arg, Buffer, Case, Gpu, Launch, Need, Outcome};
use opencl3::memory::{CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY};

use crate::child::{self, is_child};

/// A kernel, and what is found in it.
#[derive(Clone, Copy)]
pub struct Row {
    /// The name of the case.
    name: &'static str,
    /// The source. `K` stands for the kernel's attributes, result and name.
    source: &'static str,
    /// Arguments of the kernel.
    arguments: &'static [Argument],
    /// Global and local size.
    sizes: (usize, usize),
    /// What the device needs.
    needs: &'static [Need],
    /// What is found, in the order of the source.
    found: &'static [Found],
}

/// An argument.
#[derive(Clone, Copy)]
pub enum Argument {
    /// A buffer with the numbers from 0 on.
    Ints(usize),
    /// One that kernels may only read, and one that they may only write.
    ReadOnly(usize),
    WriteOnly(usize),
    /// A buffer without contents.
    Undefined(usize),
    /// Local memory of so many bytes.
    Local(usize),
    /// A number.
    Int(i32),
    /// A null pointer.
    Null,
}

/// A finding.
#[derive(Clone, Copy)]
pub struct Found {
    /// The beginning of its first line.
    what: &'static str,
    /// The line in the source.
    line: u32,
    /// The work-item and what is said of it.
    work_item: &'static str,
}

pub fn cases() -> Vec<Case> {
    let case = |row: Row| {
        let name = format!("check_{}", row.name);
        let run = move |name: &str| if is_child() { run(&row) } else { test(name, &row) };
        let of_name = name.clone();
        let case = Case::of_gencl("its own checks", name, move || run(&of_name));
        row.needs.iter().fold(case, |case, need| case.needing(*need))
    };
    rows::ROWS.iter().chain(undefined::ROWS).copied().map(case).collect()
}

/// Runs the kernel at each width.
fn run(row: &Row) -> Outcome {
    let gpu = Gpu::get()?;
    for width in gpu.simd_widths() {
        let kernel = format!("k{width}");
        let options = format!(
            "-cl-std=CL3.0 '-DK=__attribute__((intel_reqd_sub_group_size({width}))) kernel void {kernel}'"
        );
        let program = gpu.build_unchecked(row.source, &options)?;
        let buffer = |argument: &Argument| -> Result<Option<Buffer<i32>>, String> {
            let (count, flags) = match *argument {
                Argument::Undefined(count) => return gpu.empty(count).map(Some),
                Argument::Ints(count) => (count, CL_MEM_READ_WRITE),
                Argument::ReadOnly(count) => (count, CL_MEM_READ_ONLY),
                Argument::WriteOnly(count) => (count, CL_MEM_WRITE_ONLY),
                _ => return Ok(None),
            };
            let mut buffer = gpu.empty_with(flags, count)?;
            buffer.write(&(0..count as i32).collect::<Vec<_>>())?;
            Ok(Some(buffer))
        };
        let buffers = row.arguments.iter().map(buffer).collect::<Result<Vec<_>, _>>()?;
        let numbers: Vec<_> = row
            .arguments
            .iter()
            .map(|argument| if let Argument::Int(number) = argument { number.to_le_bytes() } else { [0; 4] })
            .collect();
        let arguments: Vec<_> = (0..row.arguments.len())
            .map(|index| match (row.arguments[index], &buffers[index]) {
                (_, Some(buffer)) => buffer.arg(),
                (Argument::Local(bytes), _) => Arg::Local(bytes),
                (Argument::Int(_), _) => Arg::Bytes(&numbers[index]),
                _ => Arg::Null,
            })
            .collect();
        let (global, local) = row.sizes;
        // An access far beyond all memory ends the launch, behind its record.
        let _ = program.run(&kernel, &arguments, &Launch::linear(global, local));
    }
    Ok(())
}

fn test(name: &str, row: &Row) -> Outcome {
    let output = child::run(name, "check", &[("GENCL_DEBUG", "check")])?;
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{}: {text}", String::from_utf8_lossy(&output.stdout)));
    }
    let is_finding = |report: &&str| report.contains("\n    at ");
    let reports: Vec<_> = text.split("gencl: ").filter(is_finding).collect();
    for width in Gpu::get()?.simd_widths() {
        let ending = format!(" in kernel k{width}\n");
        let of_width: Vec<_> = reports.iter().filter(|report| report.contains(&ending)).collect();
        let is_right = |(report, found): (&&&str, &Found)| {
            report.starts_with(found.what)
                && report.contains(&format!("(<source>:{}:", found.line))
                && report.contains(&format!("work-item {}", found.work_item))
        };
        if of_width.len() != row.found.len() || !of_width.iter().zip(row.found).all(is_right) {
            return Err(format!("at SIMD{width}: {text}"));
        }
    }
    Ok(())
}

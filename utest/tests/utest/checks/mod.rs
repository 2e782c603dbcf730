//! Faults in kernels that their checks find (`GENCL_DEBUG=check`), and programs without a fault, in which they find nothing.
//!
//! A row of [`rows`] is a kernel, which runs in a process of its own at each SIMD width.

mod argument;
mod arithmetic;
mod images;
mod rows;
mod spaces;
mod undefined;

use gencl_utest::{Case, Gpu, Launch, Need, Outcome};

use self::argument::{Argument, Made};
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
    /// Global and local size of each dimension.
    sizes: &'static [(usize, usize)],
    /// The global offset, if there is one.
    offset: &'static [usize],
    /// The checks, as debug options name them.
    tools: &'static str,
    /// What the device needs.
    needs: &'static [Need],
    /// What is found, in the order of the source.
    found: &'static [Found],
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
    [rows::ROWS, arithmetic::ROWS, images::ROWS, spaces::ROWS, undefined::ROWS]
        .concat()
        .into_iter()
        .map(case)
        .collect()
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
        let made = row.arguments.iter().map(|argument| argument.make(gpu));
        let made = made.collect::<Result<Vec<_>, _>>()?;
        let arguments: Vec<_> = made.iter().map(Made::arg).collect();
        let (global, local) = row.sizes.iter().copied().unzip();
        let launch = Launch { offset: row.offset.into(), global, local };
        // An access far beyond all memory ends the launch, behind its record.
        let _ = program.run(&kernel, &arguments, &launch);
    }
    Ok(())
}

fn test(name: &str, row: &Row) -> Outcome {
    let options = format!("check,check-tools={}", row.tools);
    let output = child::run(name, "check", &[("GENCL_DEBUG", options.as_str())])?;
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

//! Compares the kernels of two drivers on the same cycle model.

use std::fmt::Write;

use super::report::{Kernel, Report};

/// The reports of one driver.
#[derive(Debug, Default)]
pub struct Column {
    /// The driver's name.
    pub name: String,
    /// One per program, in the same order in both columns; `None` where the program did not run.
    pub reports: Vec<Option<Report>>,
}

/// The program's main kernel: the one that executed most instructions. Drivers add small ones of their own,
/// for fills and copies.
fn main_kernel(report: &Report) -> Option<&Kernel> {
    report.kernels.iter().max_by_key(|kernel| kernel.executed)
}

/// A table cell with a value of each driver, or a dash.
fn pair(kernels: [Option<&Kernel>; 2], number: impl Fn(&Kernel) -> String) -> String {
    kernels.map(|kernel| kernel.map_or_else(|| "-".to_owned(), &number)).join(" / ")
}

/// A Markdown table with a row for each program, and the geometric mean of the ratios of the clocks: the
/// second driver's by the first's. Clocks are those on a fully loaded device ([`Kernel::full_cycles`]).
pub fn table(programs: &[&str], columns: &[Column; 2]) -> String {
    let [first, second] = columns.each_ref().map(|column| &column.name);
    let mut text = format!("Each cell: {first} / {second}\n\n");
    text.push_str(
        "| kernel | SIMD | instructions | executed | lanes | sends | lines | cycles | ratio | limit |\n",
    );
    text.push_str("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --- |\n");
    let mut ratios = Vec::new();
    for (index, program) in programs.iter().enumerate() {
        let kernels = columns.each_ref().map(|column| column.reports[index].as_ref().and_then(main_kernel));
        let ratio = match kernels {
            [Some(first), Some(second)] => {
                let ratio = second.full_cycles as f64 / first.full_cycles.max(1) as f64;
                ratios.push(ratio);
                format!("{ratio:.2}")
            }
            _ => "-".to_owned(),
        };
        let _ = writeln!(
            text,
            "| {program} | {} | {} | {} | {} | {} | {} | {} | {ratio} | {} |",
            pair(kernels, |kernel| kernel.simd_width.to_string()),
            pair(kernels, |kernel| kernel.instructions.len().to_string()),
            pair(kernels, |kernel| kernel.executed.to_string()),
            pair(kernels, |kernel| format!("{:.1}", kernel.lanes_per_instruction())),
            pair(kernels, |kernel| kernel.sends().to_string()),
            pair(kernels, |kernel| kernel.lines.to_string()),
            pair(kernels, |kernel| kernel.full_cycles.to_string()),
            pair(kernels, |kernel| kernel.limit.clone()),
        );
    }
    if !ratios.is_empty() {
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let _ = writeln!(text, "\nGeometric mean of {} ratios: {mean:.2}", ratios.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(simd_width: u32, full_cycles: u64) -> Report {
        let small = Kernel { executed: 1, full_cycles: 9999, ..Kernel::default() };
        let limit = "pipes".to_owned();
        let main = Kernel { executed: 100, lanes: 250, simd_width, full_cycles, limit, ..Kernel::default() };
        Report { kernels: vec![small, main], ..Report::default() }
    }

    #[test]
    fn the_heaviest_kernels_are_compared() {
        let columns = [
            Column {
                name: "intel".into(),
                reports: vec![Some(report(32, 100)), Some(report(32, 5)), Some(report(8, 50))],
            },
            Column {
                name: "gencl".into(),
                reports: vec![Some(report(16, 200)), None, Some(report(16, 400))],
            },
        ];
        let text = table(&["saxpy", "blur", "sha"], &columns);
        let lines: Vec<&str> = text.lines().skip(4).collect();
        assert_eq!(
            lines[0],
            "| saxpy | 32 / 16 | 0 / 0 | 100 / 100 | 2.5 / 2.5 | 0 / 0 | 0 / 0 | 100 / 200 | 2.00 | pipes / pipes |"
        );
        assert!(lines[1].starts_with("| blur | 32 / - |") && lines[1].ends_with("| 5 / - | - | pipes / - |"));
        assert_eq!(*lines.last().unwrap(), "Geometric mean of 2 ratios: 4.00");
    }
}

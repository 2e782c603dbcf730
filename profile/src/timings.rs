//! What is known of a program on a real GPU: the times of commands, and what the compiler says about kernels.

use std::collections::BTreeMap;

use gencl_program::Kernel;

use crate::analysis::ratio;
use crate::table::{Table, percent};
use crate::trace::{Command, Trace};

/// The columns.
const HEAD: [&str; 10] =
    ["time", "launches", "total ms", "mean us", "SIMD", "instructions", "sends", "spills", "fills", "kernel"];

/// The kernels by their times between start and end of the commands, with the static costs of their code. `None` when no
/// kernel was launched.
pub fn summary(traces: &[Trace], kernels: &[Kernel]) -> Option<String> {
    let mut times: BTreeMap<(&str, u32), (u64, u64)> = BTreeMap::new();
    for Command { launch, start, end, .. } in traces.iter().flat_map(Trace::commands) {
        if let Some(launch) = launch {
            let (count, time) = times.entry((&launch.kernel, launch.simd_width)).or_default();
            (*count, *time) = (*count + 1, *time + end.saturating_sub(*start));
        }
    }
    let total: u64 = times.values().map(|(_, time)| time).sum();
    let mut rows: Vec<_> = times.into_iter().collect();
    rows.sort_by_key(|(_, (_, time))| std::cmp::Reverse(*time));
    let mut table = Table::new(1, HEAD.map(str::to_owned).to_vec());
    for ((name, simd_width), (count, time)) in rows {
        let compiled =
            kernels.iter().find(|kernel| (kernel.name.as_str(), kernel.simd_width) == (name, simd_width));
        let code = |cost: fn(&Kernel) -> u32| {
            compiled.map_or_else(|| "-".to_owned(), |kernel| cost(kernel).to_string())
        };
        table.rows.push(vec![
            percent(ratio(time, total)),
            count.to_string(),
            format!("{:.3}", time as f64 / 1e6),
            format!("{:.1}", time as f64 / 1e3 / count as f64),
            simd_width.to_string(),
            code(|kernel| kernel.statistics.instructions),
            code(|kernel| kernel.statistics.sends),
            code(|kernel| kernel.statistics.spills),
            code(|kernel| kernel.statistics.fills),
            name.to_owned(),
        ]);
    }
    (table.rows.len() > 1).then(|| table.text())
}

#[cfg(test)]
mod tests {
    use super::summary;
    use crate::trace::{Command, Range, Record, Trace};
    use gencl_program::{Kernel, Statistics};

    #[test]
    fn kernels_are_sorted_by_their_times() {
        let command = |kernel: &str, start, end| {
            let (global, local) = ([64, 1, 1], [64, 1, 1]);
            let launch = Some(Range { number: 1, kernel: kernel.to_owned(), simd_width: 16, global, local });
            let (launches, error) = (Vec::new(), None);
            let command = "NdRangeKernel".to_owned();
            Record::Command(Command {
                queue: 1,
                command,
                queued: 0,
                submit: 0,
                start,
                end,
                launch,
                launches,
                error,
            })
        };
        let records =
            vec![command("a", 1_000, 2_000), command("b", 2_000, 9_000), command("a", 9_000, 10_000)];
        let statistics = Statistics { instructions: 12, sends: 3, ..Statistics::default() };
        let kernel = Kernel { name: "a".to_owned(), simd_width: 16, statistics, ..Kernel::default() };
        let text = summary(&[Trace { process: 1, records, ..Trace::default() }], &[kernel]).unwrap();
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[1], ["77.8%", "1", "0.007", "7.0", "16", "-", "-", "-", "-", "b"]);
        assert_eq!(rows[2], ["22.2%", "2", "0.002", "1.0", "16", "12", "3", "0", "0", "a"]);
        assert_eq!(summary(&[], &[]), None);
    }
}

//! The profiles of a program on several devices side by side.

use std::collections::BTreeMap;

use crate::analysis::{Analysis, kernel_name};
use crate::compare::{Moves, pairs};
use crate::lines::LineKey;
use crate::table::{Table, percent};

/// Number of lines that are printed.
const SHOWN: usize = 15;

/// A table of the kernels, and one of the lines whose shares differ most.
pub fn text(devices: &[Analysis<'_>]) -> String {
    format!("{}\n{}", kernels(devices), lines(devices))
}

/// A row for each name, with what each device has for it.
type Rows<T> = BTreeMap<String, Vec<Option<T>>>;

fn insert<T: Clone>(rows: &mut Rows<T>, name: String, device: usize, devices: usize, value: T) {
    rows.entry(name).or_insert_with(|| vec![None; devices])[device] = Some(value);
}

fn kernels(devices: &[Analysis<'_>]) -> String {
    let mut rows: Rows<[String; 4]> = BTreeMap::new();
    for (device, analysis) in devices.iter().enumerate() {
        for (number, kernel) in analysis.report.kernels.iter().enumerate() {
            let cells = [
                kernel.cycles.to_string(),
                percent(analysis.shares[number]),
                kernel.simd_width.to_string(),
                analysis.limits[number].to_owned(),
            ];
            insert(&mut rows, kernel_name(kernel).to_owned(), device, devices.len(), cells);
        }
    }
    let head = devices.iter().flat_map(|analysis| {
        ["clocks on ", "time on ", "SIMD on ", "limit on "]
            .map(|what| format!("{what}{}", analysis.report.device))
    });
    let mut table = Table::new(1, head.chain(["kernel".to_owned()]).collect());
    for (name, cells) in rows {
        let cells = cells.into_iter().flat_map(|cells| cells.unwrap_or_else(|| ["-"; 4].map(str::to_owned)));
        table.rows.push(cells.chain([name]).collect());
    }
    table.text()
}

/// The names of the lines of a device: those of the first device that has the same line in the same kernel. The sources of a program
/// may differ on each, as programs add random names to them.
fn names(earlier: &[(&Analysis<'_>, Names)], analysis: &Analysis<'_>) -> Names {
    let mut names = Names::new();
    for (other, known) in earlier {
        for (own, others) in pairs(analysis.report, other.report) {
            let kernels = [&analysis.report.kernels[own], &other.report.kernels[others]];
            let mut moves = Moves::new((analysis.report, kernels[0]), (other.report, kernels[1]));
            for key in analysis.lines[own].keys().flatten() {
                if let Some(there) = moves.line(*key) {
                    let name = || known.get(&there).cloned().unwrap_or_else(|| other.line_name(there));
                    names.entry(*key).or_insert_with(name);
                }
            }
        }
    }
    for key in analysis.all_lines.keys().flatten() {
        names.entry(*key).or_insert_with(|| analysis.line_name(*key));
    }
    names
}

/// The names of lines.
type Names = BTreeMap<LineKey, String>;

fn lines(devices: &[Analysis<'_>]) -> String {
    let mut rows: Rows<f64> = BTreeMap::new();
    let mut texts = BTreeMap::new();
    let mut known: Vec<(&Analysis<'_>, Names)> = Vec::new();
    for (device, analysis) in devices.iter().enumerate() {
        let names = names(&known, analysis);
        for (key, line) in analysis.hottest_lines() {
            let name = names[&key].clone();
            texts.entry(name.clone()).or_insert_with(|| analysis.line_text(key).to_owned());
            insert(&mut rows, name, device, devices.len(), line.share);
        }
        known.push((analysis, names));
    }
    let shares = |row: &[Option<f64>]| row.iter().map(|share| share.unwrap_or(0.0)).collect::<Vec<f64>>();
    let difference = |row: &[Option<f64>]| {
        let shares = shares(row);
        shares.iter().copied().fold(0.0, f64::max) - shares.iter().copied().fold(1.0, f64::min)
    };
    let mut sorted: Vec<_> = rows.into_iter().collect();
    sorted.sort_by(|(_, a), (_, b)| difference(b).total_cmp(&difference(a)));
    let head = devices.iter().map(|analysis| format!("share on {}", analysis.report.device));
    let mut table = Table::new(2, head.chain(["line".to_owned(), "text".to_owned()]).collect());
    for (name, row) in sorted.into_iter().take(SHOWN) {
        let text = texts.remove(&name).unwrap_or_default();
        let cells = row.into_iter().map(|share| share.map_or_else(|| "-".to_owned(), percent));
        table.rows.push(cells.chain([name, text]).collect());
    }
    table.text()
}

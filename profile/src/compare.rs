//! Compares a profile with an earlier one of the same program, by kernel and line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use gencl_simulator::statistics::report::Kernel;
use gencl_simulator::statistics::{Bound, Report};
use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::analysis::{Analysis, kernel_name};
use crate::lines::LineKey;

/// Number of lines that are printed.
const SHOWN: usize = 20;

/// The clocks of a kernel or line in both profiles, for a launch. A line has those of the kernel by its part of the resource
/// that limits the kernel now, so that the lines' add up to the kernel's, before and after, and compare like with like where
/// something else limited the kernel before.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The kernel's name, or `FILE:LINE`.
    pub name: String,
    /// The line's text.
    pub text: String,
    /// The clocks of the earlier profile.
    pub before: f64,
    /// The same now.
    pub after: f64,
    /// The clocks of its kernel, before and now.
    kernel: [f64; 2],
}

impl Change {
    /// The additional clocks as a part of the kernel's earlier ones: 0.05 when it, or the line, makes the kernel slower by
    /// 5%.
    pub fn slowdown(&self) -> f64 {
        let [whole, _] = self.kernel;
        if whole == 0.0 { 0.0 } else { (self.after - self.before) / whole }
    }

    /// Whether its kernel has become slower.
    fn is_in_slower_kernel(&self) -> bool {
        let [before, after] = self.kernel;
        after > before
    }
}

/// The differences of two profiles.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Kernels that both have.
    pub kernels: Vec<Change>,
    /// Lines of these kernels, by descending slowdown, without those that have not changed.
    pub lines: Vec<Change>,
}

/// The clocks of a launch.
fn per_launch(kernel: &Kernel) -> f64 {
    kernel.cycles as f64 / kernel.launches.max(1) as f64
}

/// The kernels that both have, by their names in display, else by the name in the source: the first of one with the first of the
/// other. Sorted by name.
pub fn pairs(old: &Report, new: &Report) -> Vec<(usize, usize)> {
    let mut left: Vec<usize> = (0..old.kernels.len()).collect();
    let mut order: Vec<usize> = (0..new.kernels.len()).collect();
    order.sort_by_key(|index| kernel_name(&new.kernels[*index]));
    let mut pairs = Vec::new();
    let keys: [fn(&Kernel) -> &str; 2] = [kernel_name, |kernel| &kernel.name];
    for key in keys {
        order.retain(|after| {
            let name = key(&new.kernels[*after]);
            let found = left.iter().position(|before| !name.is_empty() && key(&old.kernels[*before]) == name);
            pairs.extend(found.map(|at| (left.remove(at), *after)));
            found.is_none()
        });
    }
    pairs.sort_by_key(|(_, after)| kernel_name(&new.kernels[*after]));
    pairs
}

/// Compares `new` with `old`.
pub fn compare(old: &Analysis<'_>, new: &Analysis<'_>) -> Comparison {
    let mut comparison = Comparison::default();
    for (before, after) in pairs(old.report, new.report) {
        let (old_kernel, new_kernel) = (&old.report.kernels[before], &new.report.kernels[after]);
        let [cycles, now] = [old_kernel, new_kernel].map(per_launch);
        comparison.kernels.push(Change {
            name: kernel_name(new_kernel).to_owned(),
            text: String::new(),
            before: cycles,
            after: now,
            kernel: [cycles, now],
        });
        comparison.lines.extend(lines((old, before), (new, after)));
    }
    comparison.lines.sort_by(|a, b| b.slowdown().total_cmp(&a.slowdown()));
    comparison
}

/// The lines of a kernel that have changed.
fn lines((old, before): (&Analysis<'_>, usize), (new, after): (&Analysis<'_>, usize)) -> Vec<Change> {
    let (old_kernel, new_kernel) = (&old.report.kernels[before], &new.report.kernels[after]);
    let [whole, now_whole] = [old_kernel, new_kernel].map(per_launch);
    // That of both, so that a line has no other share only because another resource became the limit.
    let [then, since] = [&old.uses[before], &new.uses[after]];
    let is_used = |bound: &Bound| then.total[*bound] > 0.0 && since.total[*bound] > 0.0;
    let limit = since.limit.filter(is_used).unwrap_or(Bound::Latency);
    let mut earlier: BTreeMap<LineKey, f64> = BTreeMap::new();
    let mut moved = Moves::new((old.report, old_kernel), (new.report, new_kernel));
    // Those that are gone keep their names of the old profile.
    let mut gone = Vec::new();
    for (key, line) in &old.lines[before] {
        let Some(key) = key else { continue };
        let clocks = whole * then.part_of(limit, &line.uses);
        match moved.line(*key) {
            Some(now) => *earlier.entry(now).or_default() += clocks,
            None => gone.push((*key, clocks)),
        }
    }
    let keys = new.lines[after].keys().flatten().copied().chain(earlier.keys().copied());
    let all: BTreeSet<LineKey> = keys.collect();
    let now = all.into_iter().map(|key| Change {
        name: new.line_name(key),
        text: new.line_text(key).to_owned(),
        before: earlier.get(&key).copied().unwrap_or(0.0),
        after: new.lines[after]
            .get(&Some(key))
            .map_or(0.0, |line| now_whole * since.part_of(limit, &line.uses)),
        kernel: [whole, now_whole],
    });
    let gone = gone.into_iter().map(|(key, clocks)| Change {
        name: old.line_name(key),
        text: old.line_text(key).to_owned(),
        before: clocks,
        after: 0.0,
        kernel: [whole, now_whole],
    });
    now.chain(gone).filter(|change| change.before != change.after).collect()
}

/// Where the lines of a kernel's old sources are in the new ones.
pub struct Moves<'a> {
    old: (&'a Report, &'a Kernel),
    new: (&'a Report, &'a Kernel),
    /// By old source; `None` for those that the new program does not have.
    sources: BTreeMap<usize, Option<MovedSource>>,
}

/// An old source in the new program.
struct MovedSource {
    /// The new source.
    source: usize,
    /// The new line of each old one that has not been removed, counted from 0; `None` where the texts are not known.
    lines: Option<BTreeMap<usize, usize>>,
}

impl<'a> Moves<'a> {
    /// For a kernel of both reports.
    pub fn new(old: (&'a Report, &'a Kernel), new: (&'a Report, &'a Kernel)) -> Moves<'a> {
        Moves { old, new, sources: BTreeMap::new() }
    }

    /// The line in the new source; `None` when it has been removed.
    pub fn line(&mut self, (source, line): LineKey) -> Option<LineKey> {
        let (old, new) = (self.old, self.new);
        let moved = self.sources.entry(source).or_insert_with(|| moves(old, new, source));
        let MovedSource { source, lines } = moved.as_ref()?;
        match lines {
            None => Some((*source, line)),
            Some(lines) => Some((*source, *lines.get(&(line as usize - 1))? as u32 + 1)),
        }
    }
}

/// The new source of an old one: that of the same name, or that of the program, whose name has the hash of its text; and its
/// moved lines. A changed line is the same line.
fn moves(
    (old, old_kernel): (&Report, &Kernel),
    (new, new_kernel): (&Report, &Kernel),
    source: usize,
) -> Option<MovedSource> {
    let before = &old.sources[source];
    let of_program = before.name == format!("{}.cl", old_kernel.program);
    let name = if of_program { format!("{}.cl", new_kernel.program) } else { before.name.clone() };
    let source = new.sources.iter().position(|source| source.name == name)?;
    let (Some(before), Some(after)) = (&before.text, &new.sources[source].text) else {
        return Some(MovedSource { source, lines: None });
    };
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut moved = BTreeMap::new();
    for part in capture_diff_slices(Algorithm::Myers, &before, &after) {
        let (old_range, new_range) = (part.old_range(), part.new_range());
        match part.tag() {
            DiffTag::Equal => moved.extend(old_range.zip(new_range)),
            DiffTag::Replace => {
                let mut left = new_range;
                for line in old_range {
                    let most_alike =
                        left.clone().rev().max_by_key(|now| common_words(before[line], after[*now]));
                    let Some(now) = most_alike else { break };
                    moved.insert(line, now);
                    left.start = now + 1;
                }
            }
            DiffTag::Delete | DiffTag::Insert => {}
        }
    }
    Some(MovedSource { source, lines: Some(moved) })
}

/// Number of words that two lines have in common.
fn common_words(a: &str, b: &str) -> usize {
    let words = |line| str::split(line, |c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words(a).filter(|word| words(b).any(|other| other == *word)).count()
}

impl Comparison {
    /// Kernels and lines that make a kernel slower by more than a part of its clocks. Lines of a kernel that has not become slower
    /// are none.
    pub fn slower(&self, limit: f64) -> Vec<&Change> {
        let all = self.kernels.iter().chain(&self.lines);
        all.filter(|change| change.is_in_slower_kernel() && change.slowdown() > limit).collect()
    }

    /// The differences as text.
    pub fn text(&self) -> String {
        let mut text = String::from("compared with the earlier profile: clocks of a launch\n");
        let row = |change: &Change| {
            format!(
                "{:>+7.1}%  {:>12.0} -> {:>12.0}  {}  {}",
                100.0 * change.slowdown(),
                change.before,
                change.after,
                change.name,
                change.text
            )
        };
        for kernel in &self.kernels {
            let _ = writeln!(text, "{}", row(kernel).trim_end());
        }
        if self.lines.is_empty() {
            text.push_str("no line has changed\n");
            return text;
        }
        text.push_str("lines: their part of these clocks, by the resource that limits the kernel\n");
        let mut largest: Vec<&Change> = self.lines.iter().collect();
        largest.sort_by(|a, b| b.slowdown().abs().total_cmp(&a.slowdown().abs()));
        for line in largest.into_iter().take(SHOWN) {
            let _ = writeln!(text, "{}", row(line).trim_end());
        }
        text
    }
}

//! What to do: rules that find a known fault in a kernel, with an estimate of what its removal gains.
//!
//! A rule says which use of which resource would go away ([`Uses`]). A launch then takes what the largest of its remaining
//! bounds takes, so that the next limiting resource bounds the gain: "at most 2.4 x" is exact for the cycle model if the
//! fault can be removed without new work.

mod expression;
mod rules;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use gencl_simulator::statistics::Bound;
use gencl_simulator::statistics::report::{Instruction, Kernel};
use serde::Serialize;

use crate::analysis::{Analysis, Cost, kernel_name};
use crate::code::Facts;
use crate::limit::Uses;
use crate::lines::{LineKey, line_of, shown_frame};

/// The least gain that is told.
const LEAST_GAIN: f64 = 1.05;
/// Lines of an advice that are named.
const LINES: usize = 3;

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// Index of the kernel.
    pub kernel: usize,
    /// The lines that it is about, those with the largest effect first. Empty where there are no lines, or it is about the
    /// whole kernel.
    pub lines: Vec<LineKey>,
    /// The fault, in a few words.
    pub fault: &'static str,
    /// What to do.
    pub action: String,
    /// What was found.
    pub reason: String,
    /// How many times as fast the kernel becomes at most.
    pub gain: f64,
    /// Part of the time of all kernels that this saves at most, 0 to 1.
    pub saved: f64,
}

/// A fault in a kernel. The name of a rule is that of the fault.
struct Rule {
    fault: &'static str,
    find: fn(&Subject<'_>) -> Option<Finding>,
    /// It is for kernels in which no other rule finds anything.
    is_last_resort: bool,
}

/// What a rule has found.
struct Finding {
    action: String,
    reason: String,
    effect: Effect,
}

/// What goes away with a fault.
enum Effect {
    /// Use of resources.
    Removed(Removed),
    /// The launches take this part of their time.
    Remaining(f64),
}

/// Use of resources that goes away, with the lines.
#[derive(Default)]
struct Removed {
    uses: Uses,
    lines: BTreeMap<Option<LineKey>, f64>,
}

impl Removed {
    /// The lines, those with the largest effect first.
    fn lines(&self) -> Vec<LineKey> {
        let mut lines: Vec<(LineKey, f64)> =
            self.lines.iter().filter_map(|(line, clocks)| Some(((*line)?, *clocks))).collect();
        lines.sort_by(|a, b| b.1.total_cmp(&a.1));
        lines.into_iter().map(|(line, _)| line).collect()
    }

    fn is_empty(&self) -> bool {
        self.uses == Uses::default()
    }
}

/// A kernel of a report that rules look at.
struct Subject<'a> {
    analysis: &'a Analysis<'a>,
    number: usize,
    kernel: &'a Kernel,
}

/// An executed instruction.
#[derive(Clone, Copy)]
struct Executed<'a> {
    index: usize,
    instruction: &'a Instruction,
    facts: Option<&'a Facts>,
    uses: &'a Uses,
}

impl<'a> Subject<'a> {
    fn instructions(&self) -> impl Iterator<Item = Executed<'a>> + use<'a> {
        let (analysis, number) = (self.analysis, self.number);
        let facts = analysis.facts[number].as_deref();
        let all = analysis.report.kernels[number].instructions.iter().enumerate();
        let executed = all.filter(|(_, instruction)| instruction.counter.executions > 0);
        executed.map(move |(index, instruction)| Executed {
            index,
            instruction,
            facts: facts.map(|facts| &facts[index]),
            uses: &analysis.uses[number].instructions[index],
        })
    }

    fn line(&self, index: usize) -> Option<LineKey> {
        line_of(self.analysis.report, &self.kernel.instructions[index])
    }

    /// What goes away of those instructions for which `part` gives something: parts of what they use, and clocks that
    /// others wait for them.
    fn removed(&self, part: impl Fn(&Executed<'_>) -> Option<Uses>) -> Removed {
        let mut removed = Removed::default();
        for executed in self.instructions() {
            let Some(uses) = part(&executed) else { continue };
            removed.uses.add(&uses, 1.0);
            // The weight of a line: in what limits the kernel, and else in its threads' clocks.
            let weight = self.analysis.uses[self.number].part_of_limit(&uses);
            let clocks =
                uses[Bound::Latency] / self.analysis.uses[self.number].total[Bound::Latency].max(1.0);
            *removed.lines.entry(self.line(executed.index)).or_default() += weight + 1e-3 * clocks;
        }
        removed
    }

    /// How many times as fast the kernel becomes at most.
    fn gain(&self, effect: &Effect) -> f64 {
        match effect {
            Effect::Remaining(part) => 1.0 / part,
            Effect::Removed(removed) => {
                let (now, then) = self.analysis.uses[self.number].without(&removed.uses);
                if then > 0.0 { now / then } else { f64::INFINITY }
            }
        }
    }

    /// What the source has at an instruction: the text of its line from its column on.
    fn text_at(&self, index: usize) -> Option<&'a str> {
        let frame = shown_frame(self.analysis.report, &self.kernel.instructions[index])?;
        let text = self.analysis.report.sources[frame.source].text.as_deref()?;
        let line = text.lines().nth(frame.line.checked_sub(1)? as usize)?;
        line.get(frame.column.checked_sub(1)? as usize..)
    }
}

impl Executed<'_> {
    fn cost(&self) -> Cost {
        Cost::of(self.instruction)
    }

    fn class(&self) -> &str {
        self.instruction.class.as_deref().unwrap_or_default()
    }

    /// Clocks that other instructions wait for its result.
    fn awaited(&self) -> f64 {
        self.instruction.counter.awaited as f64
    }
}

/// What to do, that first which saves most.
pub fn of(analysis: &Analysis<'_>) -> Vec<Advice> {
    let mut found = Vec::new();
    for (number, kernel) in analysis.report.kernels.iter().enumerate() {
        let subject = Subject { analysis, number, kernel };
        let first = found.len();
        for rule in rules::RULES {
            if rule.is_last_resort && found.len() > first {
                continue;
            }
            let Some(Finding { action, reason, effect }) = (rule.find)(&subject) else { continue };
            let gain = subject.gain(&effect);
            if gain < LEAST_GAIN {
                continue;
            }
            let lines = match &effect {
                Effect::Removed(removed) => removed.lines(),
                Effect::Remaining(_) => Vec::new(),
            };
            let saved = analysis.shares[number] * (1.0 - 1.0 / gain);
            found.push(Advice { kernel: number, lines, fault: rule.fault, action, reason, gain, saved });
        }
    }
    // Rules are in the order of preference: that of the cause before that of the effect.
    found.sort_by(|a, b| b.saved.total_cmp(&a.saved));
    found
}

impl Advice {
    /// The advice in one line.
    pub fn text(&self, analysis: &Analysis<'_>) -> String {
        let kernel = kernel_name(&analysis.report.kernels[self.kernel]);
        let numbers: Vec<String> = self.lines.iter().take(LINES).map(|(_, line)| line.to_string()).collect();
        let lines = match numbers.len() {
            0 => String::new(),
            1 => format!(", line {}", numbers[0]),
            _ => format!(", lines {}", numbers.join(", ")),
        };
        format!("{kernel}: {}: {}{lines}: at most {}", self.action, self.fault, factor(self.gain))
    }
}

/// How many times as fast, as text.
pub fn factor(gain: f64) -> String {
    match gain {
        gain if gain >= 99.5 => "100 x and more".to_owned(),
        gain if gain >= 9.95 => format!("{gain:.0} x"),
        gain => format!("{gain:.1} x"),
    }
}

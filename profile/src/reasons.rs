//! Why lines take their time, in a few words.

use std::cmp::Reverse;

use crate::analysis::{Analysis, Cause, Line, ratio};
use crate::faults::described;
use crate::lines::LineKey;

/// Number of things a line spends its clocks on that are told.
const REASONS: usize = 3;

impl Analysis<'_> {
    /// Why a line takes its time, the largest reasons first, each in a few words.
    pub fn reasons(&self, key: Option<LineKey>, line: &Line) -> Vec<String> {
        let mut parts = vec![(line.cost.issue, "issue".to_owned())];
        parts.extend(line.waits.iter().map(|(cause, clocks)| (*clocks, self.wait_reason(key, cause))));
        parts.sort_by_key(|(clocks, _)| Reverse(*clocks));
        let percent = |clocks| (100.0 * ratio(clocks, line.cost.clocks)).round();
        let large = parts.into_iter().filter(|(clocks, _)| percent(*clocks) >= 10.0).take(REASONS);
        let mut reasons: Vec<String> =
            large.map(|(clocks, reason)| format!("{:.0}% {reason}", percent(clocks))).collect();
        let limits = line.limits.iter().filter(|(_, part)| **part >= 0.1);
        reasons.extend(limits.map(|(limit, part)| format!("{:.0}% of the limiting {limit}", 100.0 * part)));
        if line.cost.enabled() < 0.75 && line.cost.executed > 0 {
            let executed = line.cost.executed;
            let (lanes, slots) = (ratio(line.cost.lanes, executed), ratio(line.cost.slots, executed));
            reasons.push(format!("divergence: {lanes:.1} of {slots:.1} lanes enabled"));
        }
        reasons.extend(line.redundant.iter().map(|why| format!("the barrier may be redundant: {why}")));
        reasons.extend(line.messages.iter().filter_map(|(class, cost)| described(class, cost)));
        reasons
    }

    /// What a line waits for.
    fn wait_reason(&self, key: Option<LineKey>, cause: &Cause) -> String {
        let at = match cause.line {
            None => String::new(),
            Some(line) if Some(line) == key => " of this line".to_owned(),
            Some(line) if key.is_some_and(|(source, _)| source == line.0) => format!(" of line {}", line.1),
            Some(line) => format!(" of {}", self.line_name(line)),
        };
        let Some(class) = &cause.class else { return format!("wait for the result{at}") };
        let producer = self.all_lines.get(&cause.line).and_then(|line| line.messages.get(class));
        let fault = producer.filter(|_| cause.line != key).and_then(|cost| described(class, cost));
        format!("wait for {class}{at}{}", fault.map(|fault| format!(" ({fault})")).unwrap_or_default())
    }
}

//! What was counted.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;

/// How often something came to pass, and figures in words.
#[derive(Default)]
pub struct Tally {
    counts: BTreeMap<String, u64>,
    /// By their names; those of the last repetition.
    figures: BTreeMap<String, String>,
}

impl Tally {
    pub fn count(&mut self, what: &str) {
        self.add(what, 1);
    }

    pub fn add(&mut self, what: &str, number: u64) {
        *self.counts.entry(what.to_owned()).or_default() += number;
    }

    pub fn figure(&mut self, what: &str, text: String) {
        self.figures.insert(what.to_owned(), text);
    }

    /// Lines for [`Tally::parse`].
    pub fn lines(&self) -> String {
        let counts = self.counts.iter().map(|(what, number)| format!("{number}\t{what}\n"));
        counts.chain(self.figures.iter().map(|(what, text)| format!("\t{what}\t{text}\n"))).collect()
    }

    /// What a process has written.
    pub fn parse(lines: &str) -> Self {
        let mut tally = Self::default();
        for line in lines.lines() {
            match line.split('\t').collect::<Vec<_>>()[..] {
                ["", what, text] => tally.figure(what, text.to_owned()),
                [number, what] => tally.add(what, number.parse().unwrap_or(0)),
                _ => {}
            }
        }
        tally
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        for (what, number) in other.counts {
            self.add(&what, number);
        }
        self.figures.extend(other.figures);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.counts.iter().map(|(what, number)| format!("{number} {what}"));
        write!(
            f,
            "{}",
            counts
                .chain(self.figures.iter().map(|(what, text)| format!("{what} {text}")))
                .collect::<Vec<_>>()
                .join(", ")
        )
    }
}

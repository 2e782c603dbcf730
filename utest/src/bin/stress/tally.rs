//! What was counted.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;

/// How often something came to pass, and figures in words.
#[derive(Default)]
pub struct Tally {
    counts: BTreeMap<String, u64>,
    /// Those of the last repetition.
    figures: Vec<String>,
}

impl Tally {
    pub fn count(&mut self, what: &str) {
        self.add(what, 1);
    }

    pub fn add(&mut self, what: &str, number: u64) {
        *self.counts.entry(what.to_owned()).or_default() += number;
    }

    pub fn figure(&mut self, text: String) {
        self.figures.push(text);
    }

    /// Lines for [`Tally::parse`].
    pub fn lines(&self) -> String {
        let counts = self.counts.iter().map(|(what, number)| format!("{number}\t{what}\n"));
        counts.chain(self.figures.iter().map(|text| format!("\t{text}\n"))).collect()
    }

    /// What a process has written.
    pub fn parse(lines: &str) -> Self {
        let mut tally = Self::default();
        for (number, what) in lines.lines().filter_map(|line| line.split_once('\t')) {
            match number.parse() {
                Ok(number) => tally.add(what, number),
                Err(_) => tally.figure(what.to_owned()),
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
        if !other.figures.is_empty() {
            self.figures = other.figures;
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.counts.iter().map(|(what, number)| format!("{number} {what}"));
        write!(f, "{}", counts.chain(self.figures.iter().cloned()).collect::<Vec<_>>().join(", "))
    }
}

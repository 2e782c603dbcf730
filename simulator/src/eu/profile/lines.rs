//! Sets of cache lines.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// Spreads line numbers, which are often consecutive. Nobody chooses them to make the table slow.
#[derive(Clone, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, value: u64) {
        // The golden ratio's multiplication; the table takes the upper bits too.
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

/// A set of line numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines(HashSet<u64, BuildHasherDefault<Spread>>);

impl Lines {
    /// Adds a line. Was it not there?
    pub fn insert(&mut self, line: u64) -> bool {
        self.0.insert(line)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds all of another set.
    pub fn merge(&mut self, other: Lines) {
        if self.0.is_empty() {
            *self = other;
        } else {
            self.0.extend(other.0);
        }
    }
}

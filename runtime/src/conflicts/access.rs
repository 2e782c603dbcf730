//! What commands access: ranges of bytes of allocations.

use std::ops::Range;

use crate::memory::PlacedRect;

/// Rows of a rectangle, at most; larger ones are not looked at.
const MAX_ROWS: usize = 1 << 16;

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    Read,
    Write,
    Atomic,
}

impl AccessKind {
    /// By the index of the marks in a launch's buffer (`gencl_program::finding`).
    pub(crate) const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Atomic];

    /// Whether two accesses of these kinds to the same bytes need an order.
    fn conflicts(self, other: Self) -> bool {
        !matches!((self, other), (Self::Read, Self::Read) | (Self::Atomic, Self::Atomic))
    }

    /// `reads`
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::Atomic => "atomically changes",
        }
    }
}

/// An access of a command.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// Number of the allocation.
    pub(crate) memory: u64,
    pub(crate) kind: AccessKind,
    /// Offsets in the allocation in bytes, increasing and apart.
    pub(crate) ranges: Vec<Range<u64>>,
    /// Where the memory object begins in the allocation.
    pub(crate) begin: u64,
    /// The kernel's argument: `argument 0 (p)`.
    pub(crate) argument: Option<String>,
}

impl Access {
    /// An access to a rectangle of an allocation; `None` for one of too many rows.
    pub(crate) fn of_rect(kind: AccessKind, memory: u64, place: PlacedRect) -> Option<Self> {
        let [bytes, rows, slices] = place.region;
        if place.region.contains(&0) || rows.saturating_mul(slices) > MAX_ROWS {
            return None;
        }
        let ranges = joined(place.rows().map(|row| row as u64..(row + bytes) as u64));
        Some(Self { memory, kind, ranges, begin: place.begin as u64, argument: None })
    }

    /// The bytes that another access has, too, if both need an order: the first and behind the last, and how many.
    pub(crate) fn common(&self, other: &Self) -> Option<(Range<u64>, u64)> {
        if self.memory != other.memory || !self.kind.conflicts(other.kind) {
            return None;
        }
        let mut found: Option<(Range<u64>, u64)> = None;
        let (mut own, mut others) = (self.ranges.iter().peekable(), other.ranges.iter().peekable());
        while let (Some(a), Some(b)) = (own.peek(), others.peek()) {
            let (begin, end) = (a.start.max(b.start), a.end.min(b.end));
            if begin < end {
                let (range, count) = found.get_or_insert((begin..end, 0));
                range.end = end;
                *count += end - begin;
            }
            if a.end <= b.end {
                own.next()
            } else {
                others.next()
            };
        }
        found
    }
}

/// Joins ranges that meet. They are in the order of their beginnings.
fn joined(ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut all: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match all.last_mut().filter(|last| range.start <= last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => all.push(range),
        }
    }
    all
}

/// The ranges of bytes that are not 0.
pub(crate) fn marked(marks: &[u8]) -> Vec<Range<u64>> {
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(begin) = marks[at..].iter().position(|mark| *mark != 0) {
        let begin = at + begin;
        let end = marks[begin..].iter().position(|mark| *mark == 0).map_or(marks.len(), |end| begin + end);
        ranges.push(begin as u64..end as u64);
        at = end;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;

    fn access(kind: AccessKind, ranges: &[Range<u64>]) -> Access {
        Access { memory: 1, kind, ranges: ranges.to_vec(), begin: 0, argument: None }
    }

    #[test]
    fn common_bytes_are_counted() {
        let a = access(AccessKind::Write, &[0..4, 8..12, 20..30]);
        let common = |kind, ranges| a.common(&access(kind, ranges));
        assert_eq!(common(AccessKind::Read, &[4..8, 12..20]), None);
        assert_eq!(common(AccessKind::Read, &[2..9, 29..40]), Some((2..30, 4)));
        assert_eq!(common(AccessKind::Atomic, from_ref(&(25..26))), Some((25..26, 1)));
        let read = access(AccessKind::Read, from_ref(&(0..4)));
        assert!(read.common(&read).is_none() && read.common(&a).is_some());
        let atomic = access(AccessKind::Atomic, from_ref(&(0..4)));
        assert!(atomic.common(&atomic).is_none() && atomic.common(&read).is_some());
    }

    #[test]
    fn marks_become_ranges() {
        assert_eq!(marked(&[]), []);
        assert_eq!(marked(&[0, 1, 1, 0, 0, 1]), [1..3, 5..6]);
        assert_eq!(joined([0..2, 2..4, 6..8].into_iter()), [0..4, 6..8]);
    }
}

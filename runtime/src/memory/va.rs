//! Allocation of GPU virtual addresses.

use std::collections::BTreeMap;

/// Bytes of a page.
pub(crate) const PAGE: u64 = 4096;

/// Unused bytes between any two buffers, so that accesses beyond a buffer fault.
pub(crate) const GUARD: u64 = 64 * 1024;

/// A first-fit allocator for one part of the address space.
#[derive(Debug)]
pub(crate) struct RangeAllocator {
    /// Free ranges: begin to end, never adjacent, never empty.
    free: BTreeMap<u64, u64>,
}

impl RangeAllocator {
    /// All addresses from `begin` to below `end`, both multiples of [`GUARD`].
    pub(crate) fn new(begin: u64, end: u64) -> Self {
        Self { free: BTreeMap::from([(begin, end)]) }
    }

    /// Allocates `size` bytes and the guard behind them. Returns the address, a multiple of [`GUARD`], or
    /// `None` when no free range is large enough.
    pub(crate) fn allocate(&mut self, size: u64) -> Option<u64> {
        let taken = Self::taken(size)?;
        let (&begin, &end) = self.free.iter().find(|&(&begin, &end)| end - begin >= taken)?;
        self.free.remove(&begin);
        if begin + taken < end {
            self.free.insert(begin + taken, end);
        }
        Some(begin)
    }

    /// Allocates `size` bytes and the guard behind them at an address, a multiple of [`GUARD`]. False when
    /// they are not free.
    pub(crate) fn allocate_at(&mut self, address: u64, size: u64) -> bool {
        let Some(taken) = Self::taken(size) else { return false };
        let Some((&begin, &end)) = self.free.range(..=address).next_back() else { return false };
        if address.checked_add(taken).is_none_or(|last| last > end) {
            return false;
        }
        self.free.remove(&begin);
        if begin < address {
            self.free.insert(begin, address);
        }
        if address + taken < end {
            self.free.insert(address + taken, end);
        }
        true
    }

    /// Gives back what [`RangeAllocator::allocate`] gave for `size`.
    pub(crate) fn release(&mut self, address: u64, size: u64) {
        let taken = Self::taken(size).expect("it was allocated with this size");
        let mut begin = address;
        let mut end = address + taken;
        if let Some((&before, &before_end)) = self.free.range(..=address).next_back() {
            assert!(before_end <= address, "{address:#x} is released twice");
            if before_end == address {
                begin = before;
            }
        }
        if let Some(after_end) = self.free.remove(&end) {
            end = after_end;
        }
        self.free.insert(begin, end);
    }

    fn taken(size: u64) -> Option<u64> {
        size.checked_add(GUARD)?.checked_next_multiple_of(GUARD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_have_guards() {
        let mut ranges = RangeAllocator::new(0x10_0000, 0x100_0000);
        let first = ranges.allocate(PAGE).unwrap();
        let second = ranges.allocate(GUARD).unwrap();
        let third = ranges.allocate(1).unwrap();
        assert_eq!(first, 0x10_0000);
        assert!(second - (first + PAGE) >= GUARD);
        assert!(third - (second + GUARD) >= GUARD);
    }

    #[test]
    fn released_ranges_join() {
        let begin = 0x10_0000;
        let mut ranges = RangeAllocator::new(begin, begin + 8 * GUARD);
        let all: Vec<_> = (0..4).map(|_| ranges.allocate(GUARD).unwrap()).collect();
        assert_eq!(ranges.allocate(1), None);
        for index in [2, 0, 3, 1] {
            ranges.release(all[index], GUARD);
        }
        assert_eq!(ranges.allocate(7 * GUARD), Some(begin));
    }

    #[test]
    fn an_address_is_taken_once() {
        let begin = 0x10_0000;
        let mut ranges = RangeAllocator::new(begin, begin + 8 * GUARD);
        assert!(ranges.allocate_at(begin + 3 * GUARD, 1));
        assert!(!ranges.allocate_at(begin + 3 * GUARD, 1));
        assert!(!ranges.allocate_at(begin + 2 * GUARD, GUARD), "it would reach into the other");
        assert!(!ranges.allocate_at(begin + 8 * GUARD, 1));
        assert!(!ranges.allocate_at(begin - GUARD, 1));
        assert_eq!(ranges.allocate(2 * GUARD), Some(begin));
        assert!(ranges.allocate_at(begin + 5 * GUARD, 2 * GUARD));
        ranges.release(begin + 3 * GUARD, 1);
        assert!(ranges.allocate_at(begin + 3 * GUARD, 1));
    }

    #[test]
    fn too_large_is_none() {
        let mut ranges = RangeAllocator::new(0x10_0000, 0x20_0000);
        assert_eq!(ranges.allocate(u64::MAX), None);
        assert_eq!(ranges.allocate(0x10_0000), None);
    }

    #[test]
    #[should_panic(expected = "released twice")]
    fn double_release_is_found() {
        let mut ranges = RangeAllocator::new(0x10_0000, 0x20_0000);
        let address = ranges.allocate(1).unwrap();
        ranges.allocate(1).unwrap();
        ranges.release(address, 1);
        ranges.release(address, 1);
    }
}

//! Marks of the bytes that a launch has accessed through each argument, in its buffer for checks
//! (`gencl_program::finding` describes it).

use std::ops::Range;

use gencl_program::finding::MARKS;

use crate::conflicts::{AccessKind, marked};
use crate::memory::Storage;

/// Bytes of marks of a launch, at most: of 85 MiB of memory objects.
const MAX_SIZE: u64 = 1 << 28;

/// Ranges of an argument, at most; more are not looked at.
const MAX_RANGES: usize = 1 << 16;

/// Where they are.
pub(super) struct Marks {
    /// Offset of the table.
    table: u32,
    /// By argument: the offsets of the marks of bytes that were read, written and changed atomically; 0 for none.
    offsets: Vec<[u32; 3]>,
    /// The end of the buffer with them.
    pub(super) end: u32,
}

impl Marks {
    /// Behind `begin`, for arguments whose objects have so many bytes; 0 for those without marks. `None` if they would take
    /// too much memory.
    pub(super) fn new(begin: u32, sizes: &[u64]) -> Option<Self> {
        let table = begin.next_multiple_of(8);
        let mut end = u64::from(table) + 12 * sizes.len() as u64;
        let limit = end + MAX_SIZE;
        let mut place = |size: u64| {
            let at = end.next_multiple_of(8);
            end = at + size;
            at as u32
        };
        let offsets = sizes.iter().map(|size| match size {
            0 => [0; 3],
            size => AccessKind::ALL.map(|_| place(*size)),
        });
        let offsets = offsets.collect();
        (end <= limit && u32::try_from(end).is_ok()).then_some(Self { table, offsets, end: end as u32 })
    }

    /// Writes the table to a buffer.
    pub(super) fn write(&self, storage: &Storage) {
        storage.memory().write(MARKS as usize, &self.table.to_le_bytes());
        let table: Vec<_> = self.offsets.iter().flatten().flat_map(|offset| offset.to_le_bytes()).collect();
        storage.memory().write(self.table as usize, &table);
    }

    /// The bytes of an argument's object, of `size` bytes, that the launch has accessed, by kind.
    pub(super) fn ranges(
        &self,
        storage: &Storage,
        argument: usize,
        size: u64,
    ) -> impl Iterator<Item = (AccessKind, Vec<Range<u64>>)> {
        let kinds = AccessKind::ALL.into_iter().zip(self.offsets[argument]);
        kinds.filter(|(_, offset)| *offset != 0).filter_map(move |(kind, offset)| {
            let mut bytes = vec![0; size as usize];
            storage.memory().read(offset as usize, &mut bytes);
            let ranges = marked(&bytes);
            (1..=MAX_RANGES).contains(&ranges.len()).then_some((kind, ranges))
        })
    }
}

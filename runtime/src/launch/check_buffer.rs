//! The buffer in which a launch with checks leaves records (`gencl_program::finding` describes it).

use std::sync::Arc;

use gencl_program::finding::{
    ARGUMENTS, RECORD_SIZE, RECORDS_OF_SITE, Record, SHARED, UNKNOWN, UNREADABLE, UNWRITABLE,
};

use super::marks::Marks;
use crate::Result;
use crate::memory::{AddressSpace, Storage, Zone};

/// What checks have to know of a launch.
pub(super) struct CheckedLaunch {
    /// By argument.
    pub(super) extents: Vec<Extent>,
    /// Beginning and end of memory that pointers in memory may point to, sorted; `None` if that is not known.
    pub(super) allocations: Option<Vec<[u64; 2]>>,
    /// The addresses of their shadow memory, or 0.
    pub(super) shadows: Vec<u64>,
    /// Sites of the program.
    pub(super) sites: usize,
    /// Which bytes it accesses has to be known.
    pub(super) has_marks: bool,
}

/// Where an argument points to; zeros for null pointers and other arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    /// Bytes of its object in front of the pointer.
    pub(super) before: u64,
    /// Bytes of the object.
    pub(super) size: u64,
    /// Whether accesses leave no marks: those to local memory and images.
    pub(super) is_unmarked: bool,
    /// Whether another argument points into the same allocation.
    pub(super) is_shared: bool,
    /// Whether kernels may not read, or not write, the object.
    pub(super) is_unreadable: bool,
    pub(super) is_unwritable: bool,
}

/// The buffer of a launch.
pub(super) struct CheckBuffer {
    storage: Arc<Storage>,
    layout: Layout,
    extents: Vec<Extent>,
    marks: Option<Marks>,
}

/// Offsets in the buffer in bytes.
#[derive(Clone, Copy)]
struct Layout {
    counters: u32,
    allocations: u32,
    records: u32,
    /// The end of the records.
    end: u32,
}

impl Layout {
    fn new(launch: &CheckedLaunch) -> Self {
        let counters = ARGUMENTS + 16 * launch.extents.len() as u32;
        let allocations = (counters + 4 * launch.sites as u32).next_multiple_of(8);
        let records = allocations + 24 * launch.allocations.as_ref().map_or(0, Vec::len) as u32;
        let end = records + launch.sites as u32 * RECORDS_OF_SITE * RECORD_SIZE;
        Self { counters, allocations, records, end }
    }
}

impl CheckBuffer {
    /// Errors as [`Storage::new`].
    pub(super) fn new(space: &Arc<AddressSpace>, launch: CheckedLaunch) -> Result<Self> {
        let layout = Layout::new(&launch);
        let count = launch.allocations.as_ref().map_or(UNKNOWN, |allocations| allocations.len() as u32);
        let header = [layout.records, layout.end, layout.counters, count, layout.allocations];
        let mut bytes = vec![0; layout.records as usize];
        let mut put = |at: u32, value: &[u8]| bytes[at as usize..][..value.len()].copy_from_slice(value);
        for (value, at) in header.iter().zip((0..).step_by(4)) {
            put(at, &value.to_le_bytes());
        }
        for (extent, at) in launch.extents.iter().zip((ARGUMENTS..).step_by(16)) {
            let flags = [
                (extent.is_shared, SHARED),
                (extent.is_unreadable, UNREADABLE),
                (extent.is_unwritable, UNWRITABLE),
            ];
            let flags = flags.iter().filter(|(is_set, _)| *is_set).fold(0, |flags, (_, flag)| flags | flag);
            put(at, &(extent.before | flags).to_le_bytes());
            put(at + 8, &extent.size.to_le_bytes());
        }
        for ([begin, end], at) in launch.allocations.iter().flatten().zip((layout.allocations..).step_by(16))
        {
            put(at, &begin.to_le_bytes());
            put(at + 8, &end.to_le_bytes());
        }
        let shadows = layout.allocations + 16 * launch.shadows.len() as u32;
        for (shadow, at) in launch.shadows.iter().zip((shadows..).step_by(8)) {
            put(at, &shadow.to_le_bytes());
        }
        let marked = |extent: &Extent| if extent.is_unmarked { 0 } else { extent.size };
        let sizes: Vec<_> = launch.extents.iter().map(marked).collect();
        let marks = launch.has_marks.then(|| Marks::new(layout.end, &sizes)).flatten();
        let end = marks.as_ref().map_or(layout.end, |marks| marks.end);
        let storage = Storage::new(space, Zone::Buffers, end.into())?;
        storage.memory().write(0, &bytes);
        if let Some(marks) = &marks {
            marks.write(&storage);
        }
        Ok(Self { storage: Arc::new(storage), layout, extents: launch.extents, marks })
    }

    pub(super) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    pub(super) fn extents(&self) -> &[Extent] {
        &self.extents
    }

    pub(super) fn marks(&self) -> Option<&Marks> {
        self.marks.as_ref()
    }

    /// How often the check of each site has failed.
    pub(super) fn counts(&self) -> Vec<u32> {
        let mut bytes = vec![0; (self.layout.allocations - self.layout.counters) as usize];
        self.storage.memory().read(self.layout.counters as usize, &mut bytes);
        bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
    }

    /// All records, in the order in which they were made.
    pub(super) fn records(&self) -> Vec<Record> {
        let memory = self.storage.memory();
        let (begin, end) = (self.layout.records, self.layout.end);
        let mut next = [0; 4];
        memory.read(0, &mut next);
        let mut bytes = vec![0; (u32::from_le_bytes(next).clamp(begin, end) - begin) as usize];
        memory.read(begin as usize, &mut bytes);
        bytes.as_chunks().0.iter().map(Record::read).collect()
    }
}

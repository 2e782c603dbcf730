//! The buffer in which a launch with checks leaves records (`gencl_program::finding` describes it).

use std::sync::{Arc, LazyLock};

use gencl_program::debug::{self, Debug};
use gencl_program::finding::{
    ARGUMENTS, ENTRY_SIZE, RECORD_SIZE, RECORDS_OF_SITE, RUN, Record, SHARED, SKIPPED, UNKNOWN, UNREADABLE,
    UNWRITABLE,
};

use super::marks::Marks;
use crate::Result;
use crate::memory::{AddressSpace, Storage, Zone};

/// Entries of local memory in a launch, at most: for 1,024 work-groups with 1 KiB each.
const MAX_LOCAL_ENTRIES: u32 = 1 << 20;

/// Entries of global memory.
const MIN_GLOBAL_ENTRIES: u64 = 1 << 10;
const MAX_GLOBAL_ENTRIES: u64 = 1 << 22;

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
    /// Work-groups.
    pub(super) groups: u64,
    /// Bytes of local memory of each.
    pub(super) local_memory: u64,
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
    races: Races,
}

/// The entries by which races are found.
#[derive(Clone, Copy)]
struct Races {
    /// Offset of the entries of local memory in bytes.
    local: u32,
    /// Number of work-groups that have entries, a power of two.
    groups: u32,
    /// Entries of a work-group.
    each: u32,
    /// Offset of the entries of global memory in bytes.
    global: u32,
    /// Their number, a power of two.
    count: u32,
    /// The end of the buffer.
    end: u32,
}

impl Races {
    /// Entries behind an offset, for local memory of `local_memory` bytes in each of `groups` work-groups, and for
    /// arguments of `global_memory` bytes. Only what a launch touches takes memory.
    fn new(begin: u32, groups: u64, local_memory: u64, global_memory: u64) -> Self {
        // Work-groups run one after the other on each thread, but threads begin with others.
        let each = local_memory as u32;
        let most = MAX_LOCAL_ENTRIES / each.max(1);
        let groups = (groups.min(most.into()) as u32).max(1).next_power_of_two();
        let count = global_memory.clamp(MIN_GLOBAL_ENTRIES, MAX_GLOBAL_ENTRIES).next_power_of_two() as u32;
        let local = begin.next_multiple_of(8);
        let global = local + groups * each * ENTRY_SIZE;
        Self { local, groups, each, global, count, end: global + count * ENTRY_SIZE }
    }
}

impl Layout {
    fn new(launch: &CheckedLaunch) -> Self {
        let counters = ARGUMENTS + 16 * launch.extents.len() as u32;
        let allocations = (counters + 4 * launch.sites as u32).next_multiple_of(8);
        let records = allocations + 24 * launch.allocations.as_ref().map_or(0, Vec::len) as u32;
        let end = records + launch.sites as u32 * RECORDS_OF_SITE * RECORD_SIZE;
        let global_memory = launch.extents.iter().map(|extent| extent.size).sum();
        let races = Races::new(end, launch.groups, launch.local_memory, global_memory);
        Self { counters, allocations, records, end, races }
    }
}

impl CheckBuffer {
    /// Errors as [`Storage::new`].
    pub(super) fn new(space: &Arc<AddressSpace>, launch: CheckedLaunch) -> Result<Self> {
        let layout = Layout::new(&launch);
        let races = layout.races;
        let count = launch.allocations.as_ref().map_or(UNKNOWN, |allocations| allocations.len() as u32);
        let header = [
            layout.records,
            layout.end,
            layout.counters,
            count,
            layout.allocations,
            races.local,
            races.groups - 1,
            races.each,
            races.global,
            races.count - 1,
            races.count.ilog2(),
        ];
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
        let marks = launch.has_marks.then(|| Marks::new(races.end, &sizes)).flatten();
        let end = marks.as_ref().map_or(races.end, |marks| marks.end);
        let storage = Storage::new(space, Zone::Buffers, end.into())?;
        storage.memory().write(0, &bytes);
        if let Some(marks) = &marks {
            marks.write(&storage);
        }
        storage.memory().write(SKIPPED as usize, &skipped(launch.groups, groups_asked()).to_le_bytes());
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

/// How many work-groups of a launch are looked at for races; `None` for all.
fn groups_asked() -> Option<u64> {
    static GROUPS: LazyLock<Option<u64>> = LazyLock::new(|| {
        let (debug, _) = Debug::from_environment();
        debug.value(debug::CHECK_GROUPS).and_then(|groups| groups.parse().ok())
    });
    *GROUPS
}

/// How many runs of work-groups are skipped behind each that is looked at, if so many of all groups are asked for.
fn skipped(groups: u64, asked: Option<u64>) -> u32 {
    let Some(asked) = asked.filter(|asked| *asked < groups) else { return 0 };
    let runs = asked.div_ceil(RUN).max(1);
    (groups.div_ceil(RUN).div_ceil(runs) - 1) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_groups_are_skipped() {
        assert_eq!([skipped(100, None), skipped(100, Some(100)), skipped(100, Some(1000))], [0; 3]);
        // Of 25 runs, each 13th: 8 groups.
        assert_eq!(skipped(100, Some(8)), 12);
        assert_eq!(skipped(100, Some(1)), 24);
        assert_eq!(skipped(5, Some(4)), 1);
    }

    #[test]
    fn entries_are_bounded() {
        let races = Races::new(4, 1 << 30, 48 << 10, 3 << 30);
        assert_eq!((races.local, races.groups, races.count), (8, 32, 1 << 22));
        let races = Races::new(8, 3, 100, 5000);
        assert_eq!((races.groups, races.each, races.count), (4, 100, 8192));
        assert_eq!(races.end, 8 + (400 + 8192) * ENTRY_SIZE);
        assert_eq!(Races::new(0, 1, 0, 0).groups, 1 << 0);
    }
}

//! The table in memory by which accesses are checked for data races.
//!
//! Behind the header are the records of races, a counter for each site, the clocks, and the entries.
//!
//! An entry says who has written a granule of 1, 2 or 4 bytes last, who has read it, and who has changed it atomically: for
//! each of the three a [word](super::Word), the site, with [`UNCHANGED`](super::UNCHANGED), and the time; and when the granule was
//! last released, and the value of the last write. The words of all entries are one after the other for each of the three,
//! then the sites and times likewise, then the releases, then the values.
//!
//! Clocks say when a work-group, or a work-item, has last released anything, and the time of the latest release that it
//! has acquired. An access is ordered before another one if its work-item has released something since, and the other's
//! has acquired something that was released since. This is happens-before, but for releases and acquisitions that have
//! nothing to do with each other: then a race is overlooked, but none is made up.
//!
//! A table serves [several launches](EPOCHS), since pages that the host has to clear take longer than most launches: words of
//! other launches are as those of other granules, and what they have released is older than all accesses.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::race::{RECORD_SIZE, RECORDS_OF_SITE, RUN};

/// How many launches a table serves.
pub const EPOCHS: u32 = 1 << EPOCH_BITS;
const EPOCH_BITS: u32 = 4;

/// Bits of a word that distinguish granules which have the same entry.
const TAG_BITS: u32 = 10;

/// Bytes of an entry.
const ENTRY_SIZE: u32 = 3 * 8 + 3 * 8 + 4 + 4;

/// Clocks of work-groups, and of work-items.
const GROUP_CLOCKS: u32 = 1 << 12;
const ITEM_CLOCKS: u32 = 1 << 13;

/// The sizes of a launch that the table depends on.
#[derive(Clone, Copy, Debug)]
pub struct RaceLaunch {
    /// Sites of the program.
    pub sites: u32,
    /// Work-groups.
    pub groups: u64,
    /// Bytes of local memory of each.
    pub local_memory: u32,
    /// Bytes of global memory that it may access.
    pub global_memory: u64,
    /// Of work-groups in runs of [`RUN`], how many runs are not looked at behind each that is.
    pub skipped: u32,
}

/// Entries of local memory in a launch, at most: for 1,024 work-groups with 1 KiB each.
const MAX_LOCAL_ENTRIES: u32 = 1 << 20;

/// Entries of global memory.
const MIN_GLOBAL_ENTRIES: u64 = 1 << 16;
const MAX_GLOBAL_ENTRIES: u64 = 1 << 22;

/// Its header: where what is in the table. Only what a launch touches takes memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct RaceTable {
    /// How many races were found that a record was asked for.
    pub recorded: u32,
    /// How many may be recorded.
    capacity: u32,
    /// Offset of the records, [`RECORD_SIZE`] bytes each.
    records: u32,
    /// Offset of the counters.
    counters: u32,
    /// Offset of the entries.
    entries: u32,
    /// Number of entries.
    count: u32,
    /// Work-groups that have entries of local memory, a power of two, less 1.
    local_groups: u32,
    /// Entries of each of these.
    local_each: u32,
    /// Index of the first entry of global memory.
    global: u32,
    /// Number of entries of global memory, a power of two, less 1.
    global_mask: u32,
    /// How many bits that has.
    global_bits: u32,
    /// Of work-groups in runs of [`RUN`], how many runs are not looked at behind each that is.
    skipped: u32,
    /// How many releases there were.
    pub time: u32,
    /// How many there were before this launch.
    start: u32,
    /// The number of the launch, below [`EPOCHS`].
    epoch: u32,
    /// Offset of the clocks.
    clocks: u32,
    /// Size of the table in bytes.
    size: u32,
    /// 1 once a message was performed: there is a simulator.
    pub used: u32,
    /// 1 once an atomic operation was.
    pub atomics: u32,
    /// Number of sites.
    sites: u32,
}

impl RaceTable {
    /// Bytes of the header.
    pub const SIZE: usize = size_of::<RaceTable>();

    /// The table of a launch.
    pub fn new(launch: &RaceLaunch) -> RaceTable {
        // Work-groups run one after the other on each thread, but threads begin with others.
        let local_each = launch.local_memory;
        let most = MAX_LOCAL_ENTRIES / local_each.max(1);
        let groups = (launch.groups.min(most.into()) as u32).max(1).next_power_of_two();
        let global =
            launch.global_memory.clamp(MIN_GLOBAL_ENTRIES, MAX_GLOBAL_ENTRIES).next_power_of_two() as u32;
        let records = Self::SIZE as u32;
        let capacity = launch.sites * RECORDS_OF_SITE;
        let counters = records + capacity * RECORD_SIZE;
        let clocks = counters + 4 * launch.sites;
        let entries = (clocks + 8 * (GROUP_CLOCKS + ITEM_CLOCKS)).next_multiple_of(64);
        let local = groups * local_each;
        let count = local + global;
        RaceTable {
            capacity,
            records,
            counters,
            entries,
            count,
            local_groups: groups - 1,
            local_each,
            global: local,
            global_mask: global - 1,
            global_bits: global.ilog2(),
            skipped: launch.skipped,
            clocks,
            size: entries + count * ENTRY_SIZE,
            sites: launch.sites,
            ..RaceTable::zeroed()
        }
    }

    /// The table for another launch that has the table `new`, if this one serves it. The counters have to be cleared.
    pub fn again(&self, new: &RaceTable) -> Option<RaceTable> {
        let next = RaceTable { time: self.time, start: self.time, epoch: self.epoch + 1, ..*new };
        let is_same =
            RaceTable { time: 0, start: 0, epoch: 0, recorded: 0, used: 0, atomics: 0, ..*self } == *new;
        // Later times would be earlier ones.
        (is_same && next.epoch < EPOCHS && next.time < u32::MAX / 2).then_some(next)
    }

    /// Its size in bytes.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// How many races are recorded.
    pub fn recorded(&self) -> u32 {
        self.recorded.min(self.capacity)
    }

    /// How many may be.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Offset of the records.
    pub fn records(&self) -> usize {
        self.records as usize
    }

    /// Offsets of the counters of the sites.
    pub fn counters(&self) -> Range<usize> {
        let first = self.counters as usize;
        first..first + 4 * self.sites as usize
    }

    /// Whether anything was released in this launch.
    #[inline(always)]
    pub fn has_releases(&self) -> bool {
        self.time != self.start
    }

    /// Whether a work-group is looked at.
    #[inline(always)]
    pub fn is_sampled(&self, group: u32) -> bool {
        self.skipped == 0 || (group / RUN).is_multiple_of(self.skipped + 1)
    }

    /// The first entry of `count` granules of local memory, and their tag; `None` beyond that.
    #[inline(always)]
    pub fn local_entry(&self, group: u32, granule: u32, count: u32) -> Option<(u32, u64)> {
        let is_inside = granule.checked_add(count).is_some_and(|end| end <= self.local_each);
        is_inside.then(|| ((group & self.local_groups) * self.local_each + granule, self.tag(0)))
    }

    /// The first entry of `count` granules of global memory, and their tag, which distinguishes them from others that have the
    /// same entries; `None` if these are not one after the other.
    #[inline(always)]
    pub fn global_entry(&self, granule: u64, count: u32) -> Option<(u32, u64)> {
        let above = granule >> self.global_bits;
        let place = (granule as u32).wrapping_add((above as u32).wrapping_mul(0x9e37)) & self.global_mask;
        let is_row = (granule + u64::from(count - 1)) >> self.global_bits == above
            && place + (count - 1) <= self.global_mask;
        is_row.then(|| (self.global + place, self.tag(above)))
    }

    /// Parts of the address space that are far apart differ in the upper bits only.
    #[inline(always)]
    fn tag(&self, above: u64) -> u64 {
        let folded = above ^ above >> TAG_BITS ^ above >> (2 * TAG_BITS) ^ above >> (3 * TAG_BITS);
        folded & ((1 << TAG_BITS) - 1) | u64::from(self.epoch) << TAG_BITS
    }

    /// Offset of the first word of a kind: 0 the last write, 1 read, 2 atomic operation.
    #[inline(always)]
    pub fn words(&self, kind: usize) -> usize {
        self.entries as usize + 8 * kind * self.count as usize
    }

    /// Offset of the first site and time of a kind.
    #[inline(always)]
    pub fn places(&self, kind: usize) -> usize {
        self.words(kind + 3)
    }

    /// Offset of the time when an entry was released.
    #[inline]
    pub fn release(&self, entry: u32) -> usize {
        self.words(6) + 4 * entry as usize
    }

    /// Offset of the value of the last write of an entry.
    #[inline(always)]
    pub fn value(&self, entry: u32) -> usize {
        self.words(6) + 4 * (self.count + entry) as usize
    }

    /// Offset of the clock of a work-group, or of one of its work-items: the times of its last release, and of what it has
    /// acquired.
    #[inline]
    pub fn clock(&self, group: u32, item: Option<u32>) -> usize {
        let index = match item {
            None => group % GROUP_CLOCKS,
            Some(item) => GROUP_CLOCKS + (group.wrapping_mul(977).wrapping_add(item)) % ITEM_CLOCKS,
        };
        (self.clocks + 8 * index) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ITEM;

    const LAUNCH: RaceLaunch =
        RaceLaunch { sites: 3, groups: 1 << 30, local_memory: 48 << 10, global_memory: 3 << 30, skipped: 0 };

    #[test]
    fn tables_are_bounded() {
        let table = RaceTable::new(&LAUNCH);
        assert_eq!(table.local_groups + 1, 32);
        assert_eq!(table.global_mask + 1, 1 << 22);
        let last = table.count - 1;
        assert_eq!(table.value(last) + 4, table.size() as usize);
        assert_eq!(table.release(last) + 4, table.value(0));
        assert_eq!(table.places(2) + 8 * table.count as usize, table.release(0));
        assert!(table.clock(GROUP_CLOCKS - 1, None) < table.clock(0, Some(0)));
        assert!(table.clock(u32::MAX, Some(ITEM)) < table.words(0));
        let none = RaceLaunch { sites: 0, groups: 1, local_memory: 0, global_memory: 0, skipped: 0 };
        assert_eq!(RaceTable::new(&none).local_entry(5, 9, 1), None);
    }

    #[test]
    fn granules_of_a_row_have_entries_one_after_the_other() {
        let table = RaceTable::new(&LAUNCH);
        for granule in [0, 7, (1 << 22) - 8, (1 << 22) - 16, (5 << 22) - 3, (5 << 22) + 100] {
            let each: Vec<_> = (0..16).map(|i| table.global_entry(granule + i, 1).unwrap()).collect();
            let is_row = (0..16).all(|i| each[i as usize] == (each[0].0 + i, each[0].1));
            assert_eq!(table.global_entry(granule, 16), is_row.then_some(each[0]), "{granule:#x}");
        }
        assert_eq!(table.local_entry(33, (48 << 10) - 16, 16), Some((2 * (48 << 10) - 16, 0)));
        assert_eq!(table.local_entry(33, (48 << 10) - 15, 16), None);
    }

    #[test]
    fn a_table_serves_launches_alike() {
        let new = RaceTable::new(&LAUNCH);
        let mut table = RaceTable { time: 7, recorded: 1, used: 1, ..new };
        for _ in 1..EPOCHS {
            let next = table.again(&new).unwrap();
            assert_ne!(next.global_entry(5, 1), table.global_entry(5, 1));
            assert_ne!(next.local_entry(5, 1, 1), table.local_entry(5, 1, 1));
            assert!(!next.has_releases() && next.recorded() == 0);
            table = next;
        }
        assert_eq!(table.again(&new), None);
        assert_eq!(new.again(&RaceTable::new(&RaceLaunch { sites: 4, ..LAUNCH })), None);
    }
}

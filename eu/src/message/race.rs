//! The check of accesses for data races, and the table in memory that it goes by. No hardware has this message: it goes to
//! the null shared function, and programs are compiled with it for a simulator only.
//!
//! Payload: a header (dword 0: the [site](Found::site), 1: how many granules each lane accesses, 2 and 3: the address of
//! the table), then a dword for each lane of: the lower half of the address, all ones for lanes that access nothing; the
//! upper half; the [work-item](ITEM); its group, linear, with [`UNCHANGED`]; the value that it writes, or a hash of that.
//!
//! The table begins with dwords, zero where nothing is said:
//!
//! | dword | contents |
//! | --- | --- |
//! | 0 | how many races were found that are recorded |
//! | 1 | how many are recorded at most |
//! | 2 | offset of the records, [`RECORD_SIZE`] bytes each |
//! | 3 | offset of the counters: a dword for each site |
//! | 4 | offset of the entries |
//! | 5 | number of entries |
//! | 6 | work-groups that have entries of local memory, a power of two, less 1 |
//! | 7 | entries of each of these |
//! | 8 | index of the first entry of global memory |
//! | 9 | number of entries of global memory, a power of two, less 1 |
//! | 10 | how many bits that has |
//! | 11 | of work-groups in runs of [`RUN`], how many runs are not looked at behind each that is |
//! | 12 | the time: how many releases there were |
//! | 13 | offset of the clocks |
//! | 14 | size of the table in bytes |
//! | 15 | 1 once a message was performed |
//!
//! An entry says who has written a granule of 1, 2 or 4 bytes last, who has read it, and who has changed it atomically: for
//! each of the three a [word](Word), the site, with [`UNCHANGED`], and the time; and when the granule was last released, and
//! the value of the last write. The words of all entries are one after the other for each of the three, then the sites and
//! times likewise, then the releases, then the values.
//!
//! Clocks say when a work-group, or a work-item, has last released anything, and the time of the latest release that it
//! has acquired. An access is ordered before another one if its work-item has released something since, and the other's
//! has acquired something that was released since. This is happens-before, but for releases and acquisitions that have
//! nothing to do with each other: then a race is overlooked, but none is made up.

/// Bytes of the table's header.
pub const HEADER_SIZE: u32 = 64;

/// Bytes of a record: site, site of the other access, work-item and group of the one (4 bytes each), the other's word, and
/// the address (8 bytes each).
pub const RECORD_SIZE: u32 = 32;

/// How many races each site may record.
pub const RECORDS_OF_SITE: u32 = 4;

/// Bytes of an entry.
const ENTRY_SIZE: u32 = 3 * 8 + 3 * 8 + 4 + 4;

/// Neighbouring work-groups that are looked at together: groups race with their neighbours most of all.
pub const RUN: u32 = 4;

/// Clocks of work-groups, and of work-items.
const GROUP_CLOCKS: u32 = 1 << 12;
const ITEM_CLOCKS: u32 = 1 << 13;

/// Of a work-item's dword: its number in the group, or [`SEVERAL`] or [`COPY`].
pub const ITEM: u32 = 0x7ff;

/// Of it: how many sub-group barriers the work-item has passed, modulo the field's size; and one.
pub const SUB_GROUP_BARRIERS: u32 = 0x1f << 11;
/// See [`SUB_GROUP_BARRIERS`].
pub const SUB_GROUP_BARRIER: u32 = 1 << 11;

/// Of it: how many barriers of the work-group, likewise; and one.
pub const BARRIERS: u32 = 0xfff << 16;
/// See [`BARRIERS`].
pub const BARRIER: u32 = 1 << 16;

/// Of it: how many times it has waited for copies by the work-group, likewise; and once.
pub const WAITS: u32 = 7 << 28;
/// See [`WAITS`].
pub const WAIT: u32 = 1 << 28;

/// Of it: whether it has passed a fence.
pub const FENCED: u32 = 1 << 31;

/// Instead of a work-item: several have accessed the granule.
pub const SEVERAL: u32 = 0x7ff;

/// Instead of a work-item: a copy by the work-group has.
pub const COPY: u32 = 0x7fe;

/// In a group's dword: a write leaves what was there, which is no race with reads.
pub const UNCHANGED: u32 = 1 << 31;

/// Bits of a word that have the group plus 1.
const GROUP_BITS: u32 = 18;

/// The number of groups that can be told apart.
pub const GROUPS: u32 = (1 << GROUP_BITS) - 1;

/// Who has accessed a granule: the work-item's dword without [`FENCED`], its group plus 1, and what distinguishes granules
/// of global memory that have the same entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Word(pub u64);

impl Word {
    /// That of a work-item.
    pub const fn new(item: u32, group: u32, tag: u64) -> Word {
        let group = (group.wrapping_add(1) & GROUPS) as u64;
        Word((item & !FENCED) as u64 | group << 32 | tag << (32 + GROUP_BITS))
    }

    /// The work-item in its group; `None` if there were several, or it was a copy by the work-group.
    pub const fn item(self) -> Option<u32> {
        let item = self.0 as u32 & ITEM;
        if item >= COPY { None } else { Some(item) }
    }

    /// The work-group, if there are at most [`GROUPS`].
    pub const fn group(self) -> u32 {
        ((self.0 >> 32) as u32 & GROUPS).wrapping_sub(1)
    }

    /// Whether an access and one of the work-item `own`, which is one of a thread of `width`, are not ordered by
    /// barriers.
    #[inline]
    pub const fn races(self, own: Word, width: u32, across_groups: bool) -> bool {
        let differs = self.0 ^ own.0;
        if self.0 == 0 || differs >> (32 + GROUP_BITS) != 0 {
            return false;
        }
        if differs >> 32 != 0 {
            return across_groups;
        }
        let differs = differs as u32;
        if self.0 as u32 & ITEM == COPY {
            // It happens at any time until it is waited for.
            return differs & WAITS == 0;
        }
        if differs & ITEM == 0 || differs & BARRIERS != 0 {
            return false;
        }
        differs & ITEM & !(width - 1) != 0 || differs & SUB_GROUP_BARRIERS == 0
    }
}

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaceAccess {
    /// A read.
    Read,
    /// A write.
    Write,
    /// An atomic operation, in front of it.
    Atomic,
    /// An atomic operation, behind it, or one that has changed nothing.
    Acquire,
}

/// What memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaceSpace {
    /// Global memory.
    Global,
    /// Local memory: addresses are offsets.
    Local,
    /// Either, or private memory: bits 63:61 of addresses are 1 for private memory, 2 for local memory.
    Generic,
}

/// What the descriptor says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaceCheck {
    /// How memory is accessed.
    pub access: RaceAccess,
    /// What memory.
    pub space: RaceSpace,
    /// Bits of an address within a granule: 0 to 2.
    pub shift: u32,
    /// Work-items of a thread: 8, 16 or 32.
    pub width: u32,
    /// Channels of the message: 8 or 16.
    pub simd: usize,
}

const ACCESSES: [RaceAccess; 4] =
    [RaceAccess::Read, RaceAccess::Write, RaceAccess::Atomic, RaceAccess::Acquire];
const SPACES: [RaceSpace; 3] = [RaceSpace::Global, RaceSpace::Local, RaceSpace::Generic];

impl RaceCheck {
    /// Bits 7:0 of the descriptor: bits 1:0 access, 3:2 space, 5:4 shift, 7:6 width (8, 16, 32).
    pub fn control(&self) -> u8 {
        let access = self.access as u8;
        let width = self.width.trailing_zeros() as u8 - 3;
        access | (self.space as u8) << 2 | (self.shift as u8) << 4 | width << 6
    }

    /// Decodes bits 7:0 and 8; `None` if a value is reserved.
    pub fn decode(control: u32, wide: bool) -> Option<RaceCheck> {
        let (shift, width) = (control >> 4 & 3, control >> 6 & 3);
        if shift > 2 || width > 2 {
            return None;
        }
        Some(RaceCheck {
            access: ACCESSES[control as usize & 3],
            space: *SPACES.get(control as usize >> 2 & 3)?,
            shift,
            width: 8 << width,
            simd: if wide { 16 } else { 8 },
        })
    }
}

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
    /// See the table's dword 11.
    pub skipped: u32,
}

/// Entries of local memory in a launch, at most: for 1,024 work-groups with 1 KiB each.
const MAX_LOCAL_ENTRIES: u32 = 1 << 20;

/// Entries of global memory.
const MIN_GLOBAL_ENTRIES: u64 = 1 << 10;
const MAX_GLOBAL_ENTRIES: u64 = 1 << 22;

/// Where what is in a table. Only what a launch touches takes memory.
#[derive(Clone, Copy, Debug)]
pub struct RaceTable {
    /// The header.
    pub dwords: [u32; 16],
}

/// A race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Index of the site in the program.
    pub site: u32,
    /// That of the other access.
    pub other_site: u32,
    /// The work-item in its group, or [`COPY`].
    pub item: u32,
    /// Its group.
    pub group: u32,
    /// Who has made the other access.
    pub other: Word,
    /// The address; in local memory the offset.
    pub address: u64,
}

impl Found {
    /// Its bytes in a record.
    pub fn bytes(&self) -> [u8; RECORD_SIZE as usize] {
        let low = [self.site, self.other_site, self.item, self.group];
        let words = [
            u64::from(low[0]) | u64::from(low[1]) << 32,
            u64::from(low[2]) | u64::from(low[3]) << 32,
            self.other.0,
            self.address,
        ];
        let mut bytes = [0; RECORD_SIZE as usize];
        bytes.chunks_exact_mut(8).zip(words).for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
        bytes
    }

    /// Reads a record.
    pub fn read(bytes: &[u8; RECORD_SIZE as usize]) -> Found {
        let word = |index: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[8 * index + byte]));
        let (sites, who) = (word(0), word(1));
        Found {
            site: sites as u32,
            other_site: (sites >> 32) as u32,
            item: who as u32 & ITEM,
            group: (who >> 32) as u32,
            other: Word(word(2)),
            address: word(3),
        }
    }
}

impl RaceTable {
    /// The table of a launch.
    pub fn new(launch: &RaceLaunch) -> RaceTable {
        // Work-groups run one after the other on each thread, but threads begin with others.
        let each = launch.local_memory;
        let most = MAX_LOCAL_ENTRIES / each.max(1);
        let groups = (launch.groups.min(most.into()) as u32).max(1).next_power_of_two();
        let global =
            launch.global_memory.clamp(MIN_GLOBAL_ENTRIES, MAX_GLOBAL_ENTRIES).next_power_of_two() as u32;
        let records = HEADER_SIZE;
        let capacity = launch.sites * RECORDS_OF_SITE;
        let counters = records + capacity * RECORD_SIZE;
        let clocks = counters + 4 * launch.sites;
        let entries = (clocks + 8 * (GROUP_CLOCKS + ITEM_CLOCKS)).next_multiple_of(64);
        let local = groups * each;
        let count = local + global;
        let size = entries + count * ENTRY_SIZE;
        let (mask, bits) = (global - 1, global.ilog2());
        RaceTable {
            dwords: [
                0,
                capacity,
                records,
                counters,
                entries,
                count,
                groups - 1,
                each,
                local,
                mask,
                bits,
                launch.skipped,
                0,
                clocks,
                size,
                0,
            ],
        }
    }

    /// Its size in bytes.
    pub fn size(&self) -> u32 {
        self.dwords[14]
    }

    /// The bytes of the header.
    pub fn bytes(&self) -> [u8; HEADER_SIZE as usize] {
        let mut bytes = [0; HEADER_SIZE as usize];
        let pairs = bytes.chunks_exact_mut(4).zip(self.dwords);
        pairs.for_each(|(to, dword)| to.copy_from_slice(&dword.to_le_bytes()));
        bytes
    }

    /// The header in memory.
    pub fn read(bytes: &[u8; HEADER_SIZE as usize]) -> RaceTable {
        RaceTable {
            dwords: std::array::from_fn(|index| {
                u32::from_le_bytes(std::array::from_fn(|byte| bytes[4 * index + byte]))
            }),
        }
    }

    /// How many races are recorded.
    pub fn recorded(&self) -> u32 {
        self.dwords[0].min(self.dwords[1])
    }

    /// Offsets of the records and of the counters.
    pub fn records(&self) -> u32 {
        self.dwords[2]
    }

    /// See [`RaceTable::records`].
    pub fn counters(&self) -> u32 {
        self.dwords[3]
    }

    /// How many releases there were.
    pub fn time(&self) -> u32 {
        self.dwords[12]
    }

    /// Whether a message was performed: there is a simulator.
    pub fn is_used(&self) -> bool {
        self.dwords[15] != 0
    }

    /// Whether a work-group is looked at.
    #[inline]
    pub fn is_sampled(&self, group: u32) -> bool {
        let skipped = self.dwords[11];
        skipped == 0 || (group / RUN).is_multiple_of(skipped + 1)
    }

    /// The entry of a granule of local memory; `None` beyond that.
    #[inline]
    pub fn local_entry(&self, group: u32, granule: u32) -> Option<u32> {
        let each = self.dwords[7];
        (granule < each).then(|| (group & self.dwords[6]) * each + granule)
    }

    /// The entry of a granule of global memory, and what distinguishes it from others that have the same.
    #[inline]
    pub fn global_entry(&self, granule: u64) -> (u32, u64) {
        let above = granule >> self.dwords[10];
        let place = (granule as u32).wrapping_add((above as u32).wrapping_mul(0x9e37)) & self.dwords[9];
        // Parts of the address space that are far apart differ in the upper bits only.
        (self.dwords[8] + place, (above ^ above >> 14 ^ above >> 28) & 0x3fff)
    }

    /// Offsets of the word of an entry, and of its site and time; `kind`: 0 the last write, 1 read, 2 atomic operation.
    #[inline]
    pub fn word(&self, kind: u32, entry: u32) -> usize {
        (self.dwords[4] + 8 * (kind * self.dwords[5] + entry)) as usize
    }

    /// See [`RaceTable::word`].
    #[inline]
    pub fn place(&self, kind: u32, entry: u32) -> usize {
        self.word(kind + 3, entry)
    }

    /// Offset of the time when an entry was released.
    #[inline]
    pub fn release(&self, entry: u32) -> usize {
        (self.dwords[4] + 48 * self.dwords[5] + 4 * entry) as usize
    }

    /// Offset of the value of the last write of an entry.
    #[inline]
    pub fn value(&self, entry: u32) -> usize {
        (self.dwords[4] + 52 * self.dwords[5] + 4 * entry) as usize
    }

    /// Offset of the clock of a work-group, or of one of its work-items: the times of its last release, and of what it has
    /// acquired.
    #[inline]
    pub fn clock(&self, group: u32, item: Option<u32>) -> usize {
        let index = match item {
            None => group % GROUP_CLOCKS,
            Some(item) => GROUP_CLOCKS + (group.wrapping_mul(977).wrapping_add(item)) % ITEM_CLOCKS,
        };
        (self.dwords[13] + 8 * index) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_decoded() {
        for control in 0..=0xff {
            for wide in [false, true] {
                let Some(check) = RaceCheck::decode(control, wide) else { continue };
                assert_eq!((u32::from(check.control()), check.simd == 16), (control, wide));
            }
        }
    }

    #[test]
    fn tables_are_bounded() {
        let launch = RaceLaunch {
            sites: 3,
            groups: 1 << 30,
            local_memory: 48 << 10,
            global_memory: 3 << 30,
            skipped: 0,
        };
        let table = RaceTable::new(&launch);
        assert_eq!(table.dwords[6] + 1, 32);
        assert_eq!(table.dwords[9] + 1, 1 << 22);
        let last = table.dwords[5] - 1;
        assert_eq!(table.value(last) + 4, table.size() as usize);
        assert_eq!(table.release(last) + 4, table.value(0));
        assert_eq!(table.place(2, last) + 8, table.release(0));
        assert!(table.clock(GROUP_CLOCKS - 1, None) < table.clock(0, Some(0)));
        assert!(table.clock(u32::MAX, Some(ITEM)) < table.word(0, 0));
        let none = RaceLaunch { sites: 0, groups: 1, local_memory: 0, global_memory: 0, skipped: 0 };
        assert_eq!(RaceTable::new(&none).local_entry(5, 9), None);
    }

    #[test]
    fn records_are_read_again() {
        let found = Found {
            site: 7,
            other_site: 9,
            item: 3,
            group: 70_000,
            other: Word::new(SEVERAL, 8, 3),
            address: 1 << 40,
        };
        assert_eq!(Found::read(&found.bytes()), found);
        assert_eq!((found.other.item(), found.other.group()), (None, 8));
    }

    #[test]
    fn barriers_order_accesses() {
        let word = |item: u32, group| Word::new(item, group, 0);
        assert!(word(1, 0).races(word(2, 0), 8, false));
        assert!(!word(1, 0).races(word(1, 0), 8, false));
        assert!(!word(1, 0).races(word(2 | BARRIER, 0), 8, true));
        // Sub-groups, and others.
        assert!(!word(1, 0).races(word(2 | SUB_GROUP_BARRIER, 0), 8, false));
        assert!(word(1, 0).races(word(9 | SUB_GROUP_BARRIER, 0), 8, false));
        // Work-groups, whatever barriers they have passed, and other granules.
        assert!(word(1, 0).races(word(1 | BARRIER, 1), 8, true));
        assert!(!word(1, 0).races(word(1 | BARRIER, 1), 8, false));
        assert!(!word(1, 0).races(Word::new(2, 0, 1), 8, true));
        assert!(!Word(0).races(word(2, 0), 8, true));
        assert!(word(SEVERAL, 0).races(word(2, 0), 8, false));
        // Copies are ordered by waiting for them, but for what was before them.
        assert!(word(COPY, 0).races(word(2 | BARRIER, 0), 8, false));
        assert!(!word(COPY, 0).races(word(2 | WAIT, 0), 8, false));
        assert!(word(COPY, 0).races(word(COPY, 0), 8, false));
        assert!(!word(2, 0).races(word(COPY | BARRIER, 0), 8, false));
        // What a work-item has passed besides does not matter.
        assert_eq!(word(1 | FENCED, 0), word(1, 0));
    }
}

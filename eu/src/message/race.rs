//! The check of accesses for data races. No hardware has this message: it goes to
//! the null shared function, and programs are compiled with it for a simulator only.
//!
//! Payload: a header (dword 0: the [site](Found::site), 1: how many granules each lane accesses, 2 and 3: the address of
//! the table), then a dword for each lane of: the lower half of the address, all ones for lanes that access nothing; the
//! upper half; the [work-item](ITEM); its group, linear, with [`UNCHANGED`]; the value that it writes, or a hash of that.
//!
//! [`RaceTable`](super::RaceTable) is the table.

/// Bytes of a record: site, site of the other access, work-item and group of the one (4 bytes each), the other's word, and
/// the address (8 bytes each).
pub const RECORD_SIZE: u32 = 32;

/// How many races each site may record.
pub const RECORDS_OF_SITE: u32 = 4;

/// Neighbouring work-groups that are looked at together: groups race with their neighbours most of all.
pub const RUN: u32 = 4;

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
    #[inline(always)]
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

    /// Whether both are of the same work-group, and of granules that are not told apart.
    #[inline(always)]
    pub const fn is_of_same_group(self, own: Word) -> bool {
        self.0 >> 32 == own.0 >> 32
    }

    /// Whether an access and one of the work-item `own`, which is one of a thread of `width`, are not ordered by
    /// barriers.
    #[inline(always)]
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

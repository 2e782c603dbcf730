//! Accesses of lanes, one after the other.

use std::mem::offset_of;

use smallvec::SmallVec;

use super::{ATOMIC, LANES, LOCAL_TAG, PRIVATE_TAG, READ, Rows, Table, WRITE};
use crate::fault::Fault;
use crate::message::{FENCED, Found, ITEM, RaceAccess, RaceSpace, RaceTable, SEVERAL, UNCHANGED, Word};
use crate::operand::lanes;

/// An access of a lane to a granule.
#[derive(Clone, Copy)]
struct Own {
    entry: u32,
    word: Word,
    /// The value that it writes.
    value: u32,
    is_fenced: bool,
    /// Whether that was there.
    is_unchanged: bool,
    across_groups: bool,
}

/// The access that one races with.
#[derive(Clone, Copy)]
struct Other {
    word: Word,
    site: u32,
}

impl Table<'_> {
    /// Checks and enters the accesses of the lanes in `mask`.
    pub(super) fn lanes(&self, mask: u32, rows: &Rows) -> Result<(), Fault> {
        let mut found = SmallVec::<[Found; LANES]>::new();
        for lane in lanes(mask) {
            let lane = lane % LANES;
            let address = u64::from(rows.low[lane]) | u64::from(rows.high[lane]) << 32;
            let (item, group) = (rows.item[lane], rows.group[lane] & !UNCHANGED);
            let tag = address >> 61;
            let is_local = match self.check.space {
                RaceSpace::Global => false,
                RaceSpace::Local => true,
                RaceSpace::Generic if tag == PRIVATE_TAG => continue,
                RaceSpace::Generic => tag == LOCAL_TAG,
            };
            if address == u64::MAX || !self.layout.is_sampled(group) {
                continue;
            }
            let mut own = Own {
                entry: 0,
                word: Word::default(),
                value: rows.value[lane],
                is_fenced: item & FENCED != 0,
                is_unchanged: rows.group[lane] & UNCHANGED != 0,
                across_groups: !is_local,
            };
            let mut other = None;
            for index in 0..self.granules {
                let entry = if is_local {
                    let granule = (rows.low[lane] >> self.check.shift).wrapping_add(index);
                    self.layout.local_entry(group, granule, 1)
                } else {
                    self.layout.global_entry((address >> self.check.shift).wrapping_add(index.into()), 1)
                };
                let Some((entry, tag)) = entry else { break };
                own.entry = entry;
                own.word = Word::new(item, group, tag);
                let raced = match self.check.access {
                    RaceAccess::Read => self.read(own),
                    RaceAccess::Write => self.write(own),
                    RaceAccess::Atomic => self.atomic(own)?,
                    RaceAccess::Acquire => self.acquire(own),
                };
                other = other.or(raced);
            }
            if let Some(other) = other {
                let (site, other_site, item) = (self.site, other.site, item & ITEM);
                found.push(Found { site, other_site, item, group, other: other.word, address });
            }
        }
        if found.is_empty() { Ok(()) } else { self.report(&found) }
    }

    #[inline(always)]
    fn read(&self, own: Own) -> Option<Other> {
        let read = self.word(READ, own.entry);
        let is_same = (read.0 | u64::from(ITEM)) == (own.word.0 | u64::from(ITEM));
        let is_entered = is_same && (read == own.word || read.0 as u32 & ITEM == SEVERAL);
        let other = self.last(WRITE, own).or_else(|| self.last(ATOMIC, own));
        if !is_entered || self.layout.has_releases() {
            self.add(READ, own);
        }
        other
    }

    #[inline(always)]
    fn write(&self, own: Own) -> Option<Other> {
        // Local memory has what earlier work-groups left.
        let is_known = own.across_groups || self.word(WRITE, own.entry).is_of_same_group(own.word);
        let own = Own { is_unchanged: own.is_unchanged && is_known, ..own };
        let other = self.last(WRITE, own).or_else(|| self.last(READ, own)).or_else(|| self.last(ATOMIC, own));
        self.put(WRITE, own.entry, own.word, own.is_unchanged);
        self.put_value(own.entry, own.value);
        other.filter(|_| !own.is_unchanged)
    }

    #[inline(never)]
    fn atomic(&self, own: Own) -> Result<Option<Other>, Fault> {
        let other = self.acquire(own).or_else(|| self.last(READ, own));
        self.add(ATOMIC, own);
        if own.is_fenced {
            self.release(own)?;
        }
        Ok(other)
    }

    /// The last access of a kind, if it races with one.
    #[inline(always)]
    fn last(&self, kind: usize, own: Own) -> Option<Other> {
        if kind == ATOMIC && self.layout.atomics == 0 {
            return None;
        }
        let word = self.word(kind, own.entry);
        if word.races(own.word, self.check.width, own.across_groups) {
            return self.unordered(kind, word, own);
        }
        None
    }

    /// It, unless releases order it, or it makes no difference: a write of what was there for a read, one of the same value
    /// for a write.
    #[inline(never)]
    fn unordered(&self, kind: usize, word: Word, own: Own) -> Option<Other> {
        let at = self.places[kind] + 8 * own.entry as usize;
        let (site, time) = (self.dword(at), self.dword(at + 4));
        let is_same = match self.check.access {
            RaceAccess::Read => site & UNCHANGED != 0,
            RaceAccess::Write => kind == WRITE && self.dword(self.layout.value(own.entry)) == own.value,
            RaceAccess::Atomic | RaceAccess::Acquire => false,
        };
        let other = Other { word, site: site & !UNCHANGED };
        (!is_same && !self.is_ordered(word, time, own)).then_some(other)
    }

    /// Adds a work-item to those that have read or changed a granule.
    #[inline(always)]
    fn add(&self, kind: usize, own: Own) {
        let several = self.last(kind, own).is_some();
        let word = if several { Word(own.word.0 | u64::from(SEVERAL)) } else { own.word };
        self.put(kind, own.entry, word, own.is_unchanged);
    }

    /// Whether releases and acquisitions order an access at a time before one of the work-item.
    fn is_ordered(&self, other: Word, time: u32, own: Own) -> bool {
        if !self.layout.has_releases() {
            return false;
        }
        let (group, is_same_group) = (own.word.group(), other.group() == own.word.group());
        let clock = |group, item: Option<u32>| self.layout.clock(group, item.filter(|_| is_same_group));
        let released = self.dword(clock(other.group(), other.item()));
        let acquired = self.dword(clock(group, own.word.item()) + 4);
        released > time && acquired > time
    }

    /// The clocks of the work-item and of its group.
    fn clocks(&self, own: Own) -> [usize; 2] {
        let group = own.word.group();
        [self.layout.clock(group, None), self.layout.clock(group, own.word.item())]
    }

    /// Acquires what an entry was released with. Returns the last write, if it races with that.
    fn acquire(&self, own: Own) -> Option<Other> {
        let time = self.dword(self.layout.release(own.entry));
        for clock in self.clocks(own) {
            if time > self.dword(clock + 4) {
                self.bytes.store(clock + 4, time.to_le_bytes());
            }
        }
        self.last(WRITE, own)
    }

    fn release(&self, own: Own) -> Result<(), Fault> {
        let time = self.count(offset_of!(RaceTable, time), 1)? + 1;
        self.bytes.store(self.layout.release(own.entry), time.to_le_bytes());
        self.clocks(own).into_iter().for_each(|clock| self.bytes.store(clock, time.to_le_bytes()));
        Ok(())
    }
}

//! The check of accesses for data races (`message/race.rs` describes message and table).
//!
//! Work-groups on other host threads change the table at the same time, and a granule replaces another one that has the
//! same entry: each word is complete by itself, so a race can be overlooked, but none is made up.

use std::sync::atomic::Ordering::Relaxed;

use smallvec::SmallVec;

use super::call::Call;
use crate::dispatch::GRF_SIZE;
use crate::fault::Fault;
use crate::memory::{Access, AddressSpace, Cursor, HostRange, PageFault};
use crate::message::{
    FENCED, Found, HEADER_SIZE, ITEM, RECORD_SIZE, RECORDS_OF_SITE, RaceAccess, RaceCheck, RaceSpace,
    RaceTable, SEVERAL, UNCHANGED, Word,
};
use crate::operand::lanes;

/// Offsets of the time, and of what says that a message was performed.
const TIME: u64 = 48;
const USED: usize = 60;

/// The kinds of accesses in an entry.
const WRITE: u32 = 0;
const READ: u32 = 1;
const ATOMIC: u32 = 2;

/// Of tags of generic pointers, those of private and of local memory.
const PRIVATE_TAG: u64 = 1;
const LOCAL_TAG: u64 = 2;

/// The table in memory.
struct Table<'a> {
    layout: RaceTable,
    bytes: HostRange<'a>,
    memory: &'a AddressSpace,
    address: u64,
    check: RaceCheck,
    site: u32,
    /// How many releases there were at the beginning.
    time: u32,
}

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

/// The rows of a payload, a dword for each lane.
struct Rows {
    low: [u32; 16],
    high: [u32; 16],
    item: [u32; 16],
    group: [u32; 16],
    value: [u32; 16],
}

/// Checks the accesses of all lanes, and enters them.
pub fn perform(call: &mut Call<'_, '_>, check: &RaceCheck) -> Result<(), Fault> {
    let mask = call.channels(check.simd)?;
    let (site, granules) = (call.header(0)?, call.header(1)?);
    let address = u64::from(call.header(2)?) | u64::from(call.header(3)?) << 32;
    let registers = Call::registers(check.simd, 4);
    let payload = call.payload_range(call.first(), 5 * registers)?;
    let memory = call.context.memory;
    let cursor = &mut call.context.caches[call.thread.ip].cursor;
    let range = |cursor: &mut Cursor, size| {
        let fault = PageFault { address, access: Access::Atomic };
        memory.range(cursor, address, size).ok_or(fault)
    };
    let layout = RaceTable::read(&range(cursor, HEADER_SIZE.into())?.load(0));
    let bytes = range(cursor, layout.size().into())?;
    if !layout.is_used() {
        bytes.store(USED, 1u32.to_le_bytes());
    }
    let row = |index: usize| {
        let mut row = [0; 16];
        let begin = payload + index * registers * GRF_SIZE;
        let dwords = call.thread.file[begin..begin + 4 * check.simd].as_chunks().0;
        row.iter_mut().zip(dwords).for_each(|(dword, bytes)| *dword = u32::from_le_bytes(*bytes));
        row
    };
    let rows = Rows { low: row(0), high: row(1), item: row(2), group: row(3), value: row(4) };
    let table = Table { layout, bytes, memory, address, check: *check, site, time: layout.time() };
    match check.access {
        RaceAccess::Read => table.lanes(mask, granules, &rows, |table, own| Ok(table.read(own))),
        RaceAccess::Write => table.lanes(mask, granules, &rows, |table, own| Ok(table.write(own))),
        RaceAccess::Atomic => table.lanes(mask, granules, &rows, Table::atomic),
        RaceAccess::Acquire => table.lanes(mask, granules, &rows, |table, own| {
            table.acquire(own);
            Ok(table.last(WRITE, own))
        }),
    }
}

impl Table<'_> {
    /// Checks accesses of lanes, each of so many granules, by the function for a granule.
    #[inline(always)]
    fn lanes(
        &self,
        mask: u32,
        granules: u32,
        rows: &Rows,
        access: impl Fn(&Self, Own) -> Result<Option<Other>, Fault>,
    ) -> Result<(), Fault> {
        let mut found = SmallVec::<[Found; 16]>::new();
        for lane in lanes(mask) {
            let lane = lane & 15;
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
            let place = |index: u32| {
                if is_local {
                    let granule = (rows.low[lane] >> self.check.shift).wrapping_add(index);
                    return Some((self.layout.local_entry(group, granule)?, 0));
                }
                Some(self.layout.global_entry((address >> self.check.shift).wrapping_add(index.into())))
            };
            let own = Own {
                entry: 0,
                word: Word::default(),
                value: rows.value[lane],
                is_fenced: item & FENCED != 0,
                is_unchanged: rows.group[lane] & UNCHANGED != 0,
                across_groups: !is_local,
            };
            let mut other = None;
            for (entry, tag) in (0..granules).map_while(place) {
                let own = Own { entry, word: Word::new(item, group, tag), ..own };
                other = other.or(access(self, own)?);
            }
            if let Some(other) = other {
                let (site, other_site, item) = (self.site, other.site, item & ITEM);
                found.push(Found { site, other_site, item, group, other: other.word, address });
            }
        }
        self.report(&found)
    }

    #[inline(always)]
    fn read(&self, own: Own) -> Option<Other> {
        let read = self.word(READ, own.entry);
        let is_entered = self.time == 0 && (read.0 | u64::from(SEVERAL)) == (own.word.0 | u64::from(SEVERAL));
        let is_entered = is_entered && (read == own.word || read.item().is_none());
        if !(is_entered && self.is_clear(WRITE, own) && self.is_clear(ATOMIC, own)) {
            return self.enter_read(own);
        }
        None
    }

    #[inline(never)]
    fn enter_read(&self, own: Own) -> Option<Other> {
        let other = self.last(WRITE, own).or_else(|| self.last(ATOMIC, own));
        self.add(READ, own);
        other
    }

    /// Whether the last access of a kind does not race with one, whatever releases there were.
    #[inline(always)]
    fn is_clear(&self, kind: u32, own: Own) -> bool {
        !self.word(kind, own.entry).races(own.word, self.check.width, own.across_groups)
    }

    #[inline(always)]
    fn write(&self, own: Own) -> Option<Other> {
        // Local memory has what earlier work-groups left.
        let is_known = own.across_groups || self.word(WRITE, own.entry).group() == own.word.group();
        let own = Own { is_unchanged: own.is_unchanged && is_known, ..own };
        let other = self.last(WRITE, own).or_else(|| self.last(READ, own)).or_else(|| self.last(ATOMIC, own));
        self.put(WRITE, own, own.word);
        self.bytes.store(self.layout.value(own.entry), own.value.to_le_bytes());
        other.filter(|_| !own.is_unchanged)
    }

    #[inline(never)]
    fn atomic(&self, own: Own) -> Result<Option<Other>, Fault> {
        self.acquire(own);
        let other = self.last(WRITE, own).or_else(|| self.last(READ, own));
        self.add(ATOMIC, own);
        if own.is_fenced {
            self.release(own)?;
        }
        Ok(other)
    }

    #[inline(always)]
    fn dword(&self, offset: usize) -> u32 {
        u32::from_le_bytes(self.bytes.load(offset))
    }

    #[inline(always)]
    fn word(&self, kind: u32, entry: u32) -> Word {
        Word(u64::from_le_bytes(self.bytes.load(self.layout.word(kind, entry))))
    }

    /// The last access of a kind, if it races with one.
    #[inline(always)]
    fn last(&self, kind: u32, own: Own) -> Option<Other> {
        let word = self.word(kind, own.entry);
        if word.races(own.word, self.check.width, own.across_groups) {
            return self.unordered(kind, word, own);
        }
        None
    }

    /// It, unless releases order it, or it makes no difference: a write of what was there for a read, one of the same value
    /// for a write.
    #[cold]
    #[inline(never)]
    fn unordered(&self, kind: u32, word: Word, own: Own) -> Option<Other> {
        let at = self.layout.place(kind, own.entry);
        let (site, time) = (self.dword(at), self.dword(at + 4));
        let is_same = match self.check.access {
            RaceAccess::Read => site & UNCHANGED != 0,
            RaceAccess::Write => kind == WRITE && self.dword(self.layout.value(own.entry)) == own.value,
            RaceAccess::Atomic | RaceAccess::Acquire => false,
        };
        let other = Other { word, site: site & !UNCHANGED };
        (!is_same && !self.is_ordered(word, time, own)).then_some(other)
    }

    /// Makes an access the last one of its kind.
    #[inline(always)]
    fn put(&self, kind: u32, own: Own, word: Word) {
        self.bytes.store(self.layout.word(kind, own.entry), word.0.to_le_bytes());
        let site = if own.is_unchanged { self.site | UNCHANGED } else { self.site };
        let place = u64::from(site) | u64::from(self.time) << 32;
        self.bytes.store(self.layout.place(kind, own.entry), place.to_le_bytes());
    }

    /// Adds a work-item to those that have read or changed a granule.
    #[inline(always)]
    fn add(&self, kind: u32, own: Own) {
        let several = self.last(kind, own).is_some();
        let word = if several { Word(own.word.0 | u64::from(SEVERAL)) } else { own.word };
        self.put(kind, own, word);
    }

    /// Whether releases and acquisitions order an access at a time before one of the work-item.
    fn is_ordered(&self, other: Word, time: u32, own: Own) -> bool {
        if self.time == 0 {
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

    fn acquire(&self, own: Own) {
        let time = self.dword(self.layout.release(own.entry));
        for clock in self.clocks(own) {
            if time > self.dword(clock + 4) {
                self.bytes.store(clock + 4, time.to_le_bytes());
            }
        }
    }

    fn release(&self, own: Own) -> Result<(), Fault> {
        let time =
            self.memory.atomic_u32(&mut Cursor::default(), self.address + TIME)?.fetch_add(1, Relaxed) + 1;
        self.bytes.store(self.layout.release(own.entry), time.to_le_bytes());
        self.clocks(own).into_iter().for_each(|clock| self.bytes.store(clock, time.to_le_bytes()));
        Ok(())
    }

    /// Counts races, and records the first ones.
    fn report(&self, found: &[Found]) -> Result<(), Fault> {
        if found.is_empty() {
            return Ok(());
        }
        let (memory, cursor) = (self.memory, &mut Cursor::default());
        let counter = self.address + u64::from(self.layout.counters() + 4 * self.site);
        let before = memory.atomic_u32(cursor, counter)?.fetch_add(found.len() as u32, Relaxed);
        for found in found.iter().take(RECORDS_OF_SITE.saturating_sub(before) as usize) {
            let index = memory.atomic_u32(cursor, self.address)?.fetch_add(1, Relaxed);
            if index < self.layout.dwords[1] {
                let at = self.layout.records() + index * RECORD_SIZE;
                self.bytes.write(at as usize, &found.bytes());
            }
        }
        Ok(())
    }
}

//! The check of accesses for data races (`message/race.rs` describes the message, `message/race_table.rs` the table).
//!
//! Work-groups on other host threads change the table at the same time, and a granule replaces another one that has the
//! same entry: each word is complete by itself, so a race can be overlooked, but none is made up.

mod lane;
mod row;

use std::mem::offset_of;
use std::sync::atomic::Ordering::Relaxed;

use super::call::Call;
use crate::dispatch::GRF_SIZE;
use crate::fault::Fault;
use crate::memory::{Access, AddressSpace, Cursor, HostRange, PageFault};
use crate::message::{
    Found, RECORD_SIZE, RECORDS_OF_SITE, RaceAccess, RaceCheck, RaceTable, UNCHANGED, Word,
};

/// The kinds of accesses in an entry.
const WRITE: usize = 0;
const READ: usize = 1;
const ATOMIC: usize = 2;

/// Of tags of generic pointers, those of private and of local memory.
const PRIVATE_TAG: u64 = 1;
const LOCAL_TAG: u64 = 2;

/// The most lanes of a message.
const LANES: usize = 16;

/// The table in memory, and the message that it is asked by.
struct Table<'a> {
    layout: RaceTable,
    bytes: HostRange<'a>,
    memory: &'a AddressSpace,
    address: u64,
    check: RaceCheck,
    site: u32,
    /// Granules that each lane accesses.
    granules: u32,
    /// Offsets of words, and of sites and times, by kind.
    words: [usize; 3],
    places: [usize; 3],
}

/// The rows of a payload, a dword for each lane.
struct Rows {
    low: [u32; LANES],
    high: [u32; LANES],
    item: [u32; LANES],
    group: [u32; LANES],
    value: [u32; LANES],
}

/// Checks the accesses of all lanes, and enters them.
pub fn perform(call: &mut Call<'_, '_>, check: &RaceCheck) -> Result<(), Fault> {
    let mask = call.channels(check.simd)?;
    let (site, granules) = (call.header(0)?, call.header(1)?.max(1));
    let address = u64::from(call.header(2)?) | u64::from(call.header(3)?) << 32;
    let registers = Call::registers(check.simd, 4);
    let payload = call.payload_range(call.first(), 5 * registers)?;
    let row = |index: usize| {
        let mut row = [0; LANES];
        let begin = payload + index * registers * GRF_SIZE;
        let dwords = call.thread.file[begin..begin + 4 * check.simd].as_chunks().0;
        row.iter_mut().zip(dwords).for_each(|(dword, bytes)| *dword = u32::from_le_bytes(*bytes));
        row
    };
    let rows = Rows { low: row(0), high: row(1), item: row(2), group: row(3), value: row(4) };
    let memory = call.context.memory;
    let cursor = &mut call.context.caches[call.thread.ip].cursor;
    let range = |cursor: &mut Cursor, size| {
        let fault = PageFault { address, access: Access::Atomic };
        memory.range(cursor, address, size).ok_or(fault)
    };
    let header = range(cursor, RaceTable::SIZE as u64)?;
    let mut layout: RaceTable = bytemuck::cast(header.load::<{ RaceTable::SIZE }>(0));
    let bytes = range(cursor, layout.size().into())?;
    let set = |flag: u32, offset| {
        // It is another thread's as well.
        if flag == 0 {
            bytes.store(offset, 1u32.to_le_bytes());
        }
    };
    set(layout.used, offset_of!(RaceTable, used));
    if matches!(check.access, RaceAccess::Atomic) {
        set(layout.atomics, offset_of!(RaceTable, atomics));
        layout.atomics = 1;
    }
    let (words, places) =
        ([0, 1, 2].map(|kind| layout.words(kind)), [0, 1, 2].map(|kind| layout.places(kind)));
    let table = Table { layout, bytes, memory, address, check: *check, site, granules, words, places };
    if mask.count_ones() as usize == check.simd && table.row(&rows) {
        return Ok(());
    }
    table.lanes(mask, &rows)
}

impl Table<'_> {
    #[inline(always)]
    fn dword(&self, offset: usize) -> u32 {
        u32::from_le_bytes(self.bytes.load(offset))
    }

    #[inline(always)]
    fn word(&self, kind: usize, entry: u32) -> Word {
        Word(u64::from_le_bytes(self.bytes.load(self.words[kind] + 8 * entry as usize)))
    }

    /// Makes an access the last one of its kind.
    #[inline(always)]
    fn put(&self, kind: usize, entry: u32, word: Word, is_unchanged: bool) {
        self.bytes.store(self.words[kind] + 8 * entry as usize, word.0.to_le_bytes());
        let site = if is_unchanged { self.site | UNCHANGED } else { self.site };
        let place = u64::from(site) | u64::from(self.layout.time) << 32;
        self.bytes.store(self.places[kind] + 8 * entry as usize, place.to_le_bytes());
    }

    /// Keeps the value of a write.
    #[inline(always)]
    fn put_value(&self, entry: u32, value: u32) {
        self.bytes.store(self.layout.value(entry), value.to_le_bytes());
    }

    /// A counter in the table, which other threads change at the same time: adds to it. Returns the number before.
    fn count(&self, offset: usize, number: u32) -> Result<u32, Fault> {
        let counter = self.memory.atomic_u32(&mut Cursor::default(), self.address + offset as u64)?;
        Ok(counter.fetch_add(number, Relaxed))
    }

    /// Counts races, and records the first ones.
    #[cold]
    fn report(&self, found: &[Found]) -> Result<(), Fault> {
        let counter = self.layout.counters().start + 4 * self.site as usize;
        let before = self.count(counter, found.len() as u32)?;
        for found in found.iter().take(RECORDS_OF_SITE.saturating_sub(before) as usize) {
            let index = self.count(offset_of!(RaceTable, recorded), 1)?;
            if index < self.layout.capacity() {
                let at = self.layout.records() + (index * RECORD_SIZE) as usize;
                self.bytes.write(at, &found.bytes());
            }
        }
        Ok(())
    }
}

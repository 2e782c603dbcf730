//! Accesses of all lanes at once, where these access granules one after the other, or the same ones. Most accesses do, and
//! of most the words say without looking at each lane that they do not race: what does not is left to `lane.rs`.

use super::{ATOMIC, LANES, LOCAL_TAG, READ, Rows, Table, WRITE};
use crate::message::{COPY, FENCED, ITEM, RaceAccess, RaceSpace, SEVERAL, UNCHANGED, Word};

/// Words that are looked at together.
const CHUNK: usize = 8;

/// The bits of words that differ between work-items of a group.
const ITEMS: u64 = ITEM as u64;

/// A work-item of another thread than the first one.
const OTHER_THREAD: u64 = 0x400;

/// The accesses of a row of lanes.
struct Row {
    /// Words of the lanes.
    own: [Word; LANES],
    /// The first entry.
    entry: u32,
    /// Granules of each lane, logarithm.
    granules: u32,
    across_groups: bool,
}

/// What the words of a row's entries have in common.
#[derive(Default)]
struct Seen {
    first: u64,
    /// All bits that are set.
    any: u64,
    /// All bits that differ from those of the first, but for the work-items.
    differ: u64,
    /// All bits that differ from those of the lane that accesses the entry.
    foreign: u64,
    /// Bits that are not set in the work-items.
    single: u64,
    /// Not 0 if a copy has accessed one of them.
    copies: u64,
}

/// Whether all are equal.
fn are_equal(dwords: &[u32], mask: u32) -> bool {
    dwords.iter().fold(0, |sum, dword| sum | (dword ^ dwords[0]) & mask) == 0
}

impl Table<'_> {
    /// Checks and enters the accesses of all lanes of a message, if they can be seen not to race. Returns whether that was
    /// so; otherwise nothing is entered.
    #[inline(always)]
    pub(super) fn row(&self, rows: &Rows) -> bool {
        let lanes = self.check.simd;
        let (low, high) = (&rows.low[..lanes], &rows.high[..lanes]);
        let is_same = are_equal(low, !0) && are_equal(high, !0);
        if is_same && (low[0], high[0]) == (u32::MAX, u32::MAX) {
            return true;
        }
        let access = self.check.access;
        let is_plain = matches!(access, RaceAccess::Read | RaceAccess::Write);
        if !is_plain || self.layout.has_releases() || !self.granules.is_power_of_two() {
            return false;
        }
        let stride = self.granules << self.check.shift;
        let expected = (0..).map(|lane: u32| low[0].wrapping_add(lane.wrapping_mul(stride)));
        let gaps = low.iter().zip(expected).fold(0, |sum, (low, expected)| sum | (low ^ expected));
        let is_row = gaps == 0 && are_equal(high, !0) && low[0].checked_add(lanes as u32 * stride).is_some();
        if !(is_row || is_same && access == RaceAccess::Read) {
            return false;
        }
        let count = if is_same { self.granules } else { self.granules * lanes as u32 };
        match self.begin(rows, count) {
            None => false,
            Some(row) if is_same => self.read_same(&row),
            Some(row) if access == RaceAccess::Read => self.read_row(&row, count),
            Some(row) => self.write_row(&row, count, rows),
        }
    }

    /// The row that begins at the first lane's address; `None` if lanes differ in more than the work-item, or the granules'
    /// entries are not one after the other.
    #[inline(always)]
    fn begin(&self, rows: &Rows, count: u32) -> Option<Row> {
        let lanes = self.check.simd;
        let (item, group) = (&rows.item[..lanes], rows.group[0] & !UNCHANGED);
        let is_copy = item[0] & ITEM == COPY;
        if is_copy || !are_equal(item, !(ITEM | FENCED)) || !are_equal(&rows.group[..lanes], !UNCHANGED) {
            return None;
        }
        let address = u64::from(rows.low[0]) | u64::from(rows.high[0]) << 32;
        let is_local = match self.check.space {
            RaceSpace::Global => false,
            RaceSpace::Local => true,
            RaceSpace::Generic if address >> 61 > LOCAL_TAG || address >> 61 == 0 => false,
            RaceSpace::Generic if address >> 61 == LOCAL_TAG => true,
            RaceSpace::Generic => return None,
        };
        if !self.layout.is_sampled(group) {
            return None;
        }
        let (entry, tag) = if is_local {
            self.layout.local_entry(group, rows.low[0] >> self.check.shift, count)?
        } else {
            self.layout.global_entry(address >> self.check.shift, count)?
        };
        let own = rows.item.map(|item| Word::new(item, group, tag));
        Some(Row { own, entry, granules: self.granules.ilog2(), across_groups: !is_local })
    }

    /// The granules of a row in chunks: the index of the first, and the words of a kind and of the lanes.
    #[inline(always)]
    fn chunks<'r>(
        &'r self,
        kind: usize,
        row: &'r Row,
        count: u32,
    ) -> impl Iterator<Item = (u32, [u64; CHUNK], [u64; CHUNK])> + 'r {
        let at = self.words[kind] + 8 * row.entry as usize;
        (0..count).step_by(CHUNK).map(move |first| {
            let words = bytemuck::cast(self.bytes.load::<{ 8 * CHUNK }>(at + 8 * first as usize));
            (first, words, row.of_lanes(first))
        })
    }

    #[inline(always)]
    fn see(&self, kind: usize, row: &Row, count: u32) -> Seen {
        let mut seen = Seen { first: self.word(kind, row.entry).0, ..Seen::default() };
        for (_, words, own) in self.chunks(kind, row, count) {
            for (word, own) in words.into_iter().zip(own) {
                seen.add(word, own);
            }
        }
        seen
    }

    /// Whether no access of a kind races with those of a row.
    #[inline(always)]
    fn is_clear(&self, kind: usize, row: &Row, count: u32) -> bool {
        kind == ATOMIC && self.layout.atomics == 0 || self.see(kind, row, count).is_clear(row)
    }

    #[inline(always)]
    fn read_row(&self, row: &Row, count: u32) -> bool {
        if !(self.is_clear(WRITE, row, count) && self.is_clear(ATOMIC, row, count)) {
            return false;
        }
        let seen = self.see(READ, row, count);
        let is_again = seen.differ == 0 && (seen.first ^ row.own[0].0) & !ITEMS == 0;
        if seen.foreign == 0 || is_again && seen.single == 0 {
            // The words are there.
            return true;
        }
        if !(is_again || seen.is_clear(row)) {
            return false;
        }
        let several = if is_again { ITEMS } else { 0 };
        for (first, words, own) in self.chunks(READ, row, count) {
            for (index, (word, own)) in (first..).zip(words.into_iter().zip(own)) {
                let several = if word == own { 0 } else { several };
                self.put(READ, row.entry + index, Word(own | several), false);
            }
        }
        true
    }

    #[inline(always)]
    fn read_same(&self, row: &Row) -> bool {
        for entry in row.entry..row.entry + (1 << row.granules) {
            let see = |kind| {
                let word = self.word(kind, entry).0;
                let mut seen = Seen { first: word, ..Seen::default() };
                // At most one of the lanes is the one that has accessed it.
                seen.add(word, !word);
                seen
            };
            let is_clear = |kind| kind == ATOMIC && self.layout.atomics == 0 || see(kind).is_clear(row);
            if !(is_clear(WRITE) && is_clear(ATOMIC)) {
                return false;
            }
            let several = row.own[0].0 | u64::from(SEVERAL);
            let read = self.word(READ, entry).0;
            if read == several {
                continue;
            }
            if !((read ^ several) & !ITEMS == 0 || is_clear(READ)) {
                return false;
            }
            self.put(READ, entry, Word(several), false);
        }
        true
    }

    #[inline(always)]
    fn write_row(&self, row: &Row, count: u32, rows: &Rows) -> bool {
        if ![WRITE, READ, ATOMIC].iter().all(|kind| self.is_clear(*kind, row, count)) {
            return false;
        }
        for (first, words, own) in self.chunks(WRITE, row, count) {
            for (index, (word, own)) in (first..).zip(words.into_iter().zip(own)) {
                let lane = (index >> row.granules) as usize % LANES;
                // Local memory has what earlier work-groups left.
                let is_known = row.across_groups || Word(word).is_of_same_group(Word(own));
                let is_unchanged = is_known && rows.group[lane] & UNCHANGED != 0;
                self.put(WRITE, row.entry + index, Word(own), is_unchanged);
                self.put_value(row.entry + index, rows.value[lane]);
            }
        }
        true
    }
}

impl Row {
    /// Words of the lanes that access a chunk of granules.
    #[inline(always)]
    fn of_lanes(&self, first: u32) -> [u64; CHUNK] {
        std::array::from_fn(|index| self.own[((first as usize + index) >> self.granules) % LANES].0)
    }
}

impl Seen {
    #[inline(always)]
    fn add(&mut self, word: u64, own: u64) {
        self.any |= word;
        self.differ |= (word ^ self.first) & !ITEMS;
        self.foreign |= word ^ own;
        self.single |= !word & ITEMS;
        self.copies |= ((word & ITEMS) ^ u64::from(COPY)).wrapping_sub(1) >> 63;
    }

    /// Whether none races with the row: nobody has accessed the granules, or each lane itself has, or all have been accessed at
    /// the same time and a barrier was since.
    #[inline(always)]
    fn is_clear(&self, row: &Row) -> bool {
        let of = |word: u64, item: u64| Word(word & !ITEMS | item);
        let (first, own) = (of(self.first, 0), of(row.own[0].0, OTHER_THREAD));
        self.any == 0
            || self.foreign == 0
            || self.differ == 0 && self.copies == 0 && !first.races(own, 1, row.across_groups)
    }
}

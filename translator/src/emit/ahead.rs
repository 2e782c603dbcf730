//! Reads of loops in which each lane goes along a row of its own, dword after dword, as when a work-item sums up a row of a matrix.
//!
//! What a lane reads next is beside what it has just read, but what lanes read together is far apart, often by a power of two, so that it has to share few lines of the host's caches: each
//! round would gather from as many lines as there are lanes. So some rounds are read at once, [`DWORDS`] of each lane, transposed and kept. A round finds out whether its lanes are where they
//! are expected, and takes what was kept. Which messages are worth it is a guess (`crate::linear::walks`); nothing is kept before lanes have gone on once as expected.
//!
//! The loop must not write, nor wait for others; what was kept is forgotten behind it.

use std::collections::BTreeMap;

use super::memory::LaneAccess;
use super::{Emitter, FILE};
use crate::ir::{BIT, I32, Label, POINTER, Scalar, Ty, Value};
use crate::linear;
use crate::message::Lanes;
use crate::serial::Serial;

/// Dwords of each lane that are read at once: hosts with AVX2 read and transpose those of eight lanes with 32 instructions.
const DWORDS: u32 = 8;

/// Lanes that are transposed together.
const LANES: u32 = 8;

/// What is kept for a message.
#[derive(Clone)]
pub(super) struct Kept {
    /// Where lanes are expected: 32 bits from the beginning of the window.
    offsets: Value,
    /// What that window is in the host's memory.
    host: Value,
    /// How many of the dwords were taken; all of them: none are left.
    taken: Value,
    /// Were lanes where they were expected when it was asked last?
    trusted: Value,
    /// The dwords: the first of each lane, the second of each, and so on.
    dwords: Value,
}

/// May a message be read so?
fn is_possible(message: &Lanes, lanes: u32) -> bool {
    !message.write
        && message.components.len() == 1
        && message.components[0].0 == 0
        && message.size == 4
        && message.slot == 4
        && lanes.is_multiple_of(LANES)
}

impl Emitter<'_> {
    /// The messages that are worth it, and the blocks that are their loops.
    pub(super) fn walks(&self, serials: &[Serial]) -> BTreeMap<usize, usize> {
        let Some(variables) = &self.variables else { return BTreeMap::new() };
        let known = linear::Known { plan: self.plan, variables, affine: &self.affine, sums: &self.sums };
        let mut walks = linear::walks(&known, self.flow);
        let alone = |block: usize| serials.iter().any(|serial| serial.blocks.contains(&block));
        walks.retain(|index, block| {
            let possible = |message| is_possible(message, u32::from(self.plan.ops[*index].lanes));
            // Blocks of loops that are executed lane by lane do not say where they begin.
            let left = &self.flow.blocks[*block].thread;
            self.certain_step(*index).is_none()
                && self.message_of_lanes(*index).is_some_and(possible)
                && !alone(*block)
                && !self.flow.turns.contains(block)
                && !left.iter().any(|next| alone(*next))
        });
        walks
    }

    /// Places for what is kept.
    pub(super) fn begin_ahead(&mut self) {
        let Emitter { walks, f, plan, .. } = self;
        let own = walks.keys().map(|index| {
            let bytes = usize::from(plan.ops[*index].lanes) * 4;
            let [offsets, host, taken, trusted] = [bytes, 8, 4, 1].map(|bytes| f.variable(bytes));
            (*index, Kept { offsets, host, taken, trusted, dwords: f.variable(bytes * DWORDS as usize) })
        });
        self.ahead = own.collect();
    }

    /// Nothing is kept, of loops that may have been left for a block, or of all.
    pub(super) fn forget_ahead(&mut self, behind: Option<usize>) {
        let left = |loops: usize| match behind {
            Some(block) => loops != block && self.flow.blocks[loops].thread.contains(&block),
            None => true,
        };
        let walks = self.walks.iter().filter(|(_, block)| left(**block));
        let kept: Vec<(usize, Kept)> = walks.map(|(index, _)| (*index, self.ahead[index].clone())).collect();
        for (index, Kept { offsets, host, taken, trusted, .. }) in kept {
            self.f.store(&Value::int(I32, u64::from(DWORDS)), &taken, FILE);
            if behind.is_none() {
                let nowhere = Value::int(Ty::int(32, u32::from(self.plan.ops[index].lanes)), 0);
                self.f.store(&nowhere, &offsets, FILE);
                self.f.store(&Value::named(POINTER, "null"), &host, FILE);
                self.f.store(&Value::int(BIT, 0), &trusted, FILE);
            }
        }
    }

    /// The way of a message whose lanes are where they were expected. Is there one?
    pub(super) fn expected(&mut self, index: usize, access: &mut LaneAccess<'_>) -> bool {
        let Some(kept) = self.ahead.get(&index).cloned() else { return false };
        let LaneAccess { message, reach, addresses, mask, .. } = &*access;
        let all = self.all_of(message, addresses);
        if all.ty.scalar != Scalar::Int(32) {
            return false;
        }
        let start = self.f.splat(&reach.start, addresses.lanes());
        let offsets = self.f.binary("sub", &all, &start);
        let expected = self.f.load(offsets.ty, &kept.offsets, FILE);
        let same = self.f.compare("icmp eq", &offsets, &expected);
        let same = self.all_where_enabled(&same, mask.as_ref());
        let taken = self.f.load(I32, &kept.taken, FILE);
        let left = self.f.compare("icmp ult", &taken, &Value::int(I32, u64::from(DWORDS)));
        let host = self.f.load(POINTER, &kept.host, FILE);
        let there = self.f.compare("icmp eq", &host, &reach.host);
        let trusted = self.f.load(BIT, &kept.trusted, FILE);
        let [walk, fresh, here, read, elsewhere] = [(); 5].map(|()| self.f.label());
        self.f.branch_likely(&same, walk, fresh);

        self.f.begin(walk);
        self.f.store(&Value::int(BIT, 1), &kept.trusted, FILE);
        let holds = self.f.binary("and", &left, &there);
        self.f.branch_likely(&holds, here, read);

        self.f.begin(here);
        self.take(access, &kept, &taken, &expected);

        self.f.begin(fresh);
        self.f.store(&Value::int(BIT, 0), &kept.trusted, FILE);
        self.f.branch(&trusted, read, elsewhere);

        self.f.begin(read);
        self.read_ahead(access, &kept, &offsets, elsewhere);

        self.f.begin(elsewhere);
        self.expect_next(&kept, &Value::int(I32, u64::from(DWORDS)), &offsets);
        true
    }

    /// So many dwords of each lane were taken; the next one is behind these offsets.
    fn expect_next(&mut self, kept: &Kept, taken: &Value, offsets: &Value) {
        let next = self.f.binary("add", offsets, &Value::int(offsets.ty, 4));
        self.f.store(&next, &kept.offsets, FILE);
        self.f.store(taken, &kept.taken, FILE);
    }

    /// The end of a way: so many dwords of each lane are taken, and now those at these offsets.
    fn take(&mut self, access: &mut LaneAccess<'_>, kept: &Kept, taken: &Value, offsets: &Value) {
        let lanes = offsets.ty.lanes;
        let more = self.f.binary("add", taken, &Value::int(I32, 1));
        self.expect_next(kept, &more, offsets);
        let taken = self.f.resize(taken, 64, false);
        let row = self.f.binary("mul", &taken, &Value::int(taken.ty, u64::from(lanes * 4)));
        let at = self.f.offset(&kept.dwords, &row);
        let value = self.f.load(Ty::int(32, lanes), &at, FILE);
        access.ways.add(self, vec![value]);
    }

    /// Reads and keeps the next dwords of all lanes, if they are inside.
    fn read_ahead(&mut self, access: &mut LaneAccess<'_>, kept: &Kept, offsets: &Value, elsewhere: Label) {
        let (reach, lanes) = (access.reach.clone(), offsets.ty.lanes);
        let end = self.end_inside(&reach, DWORDS as usize * 4);
        let end = self.f.resize(&end, 32, false);
        let last = self.f.splat(&end, lanes);
        let inside = self.f.compare("icmp ult", offsets, &last);
        let aligned = self.aligned(offsets, access.message.alignment);
        let start = self.aligned(&reach.start, access.message.alignment);
        let inside = self.both(&inside, aligned.as_ref());
        let mut holds = self.f.all(&inside);
        holds = self.both(&holds, start.as_ref());
        let here = self.f.label();
        self.f.branch_likely(&holds, here, elsewhere);
        self.f.begin(here);
        for first in (0..lanes).step_by(LANES as usize) {
            for half in 0..DWORDS / 4 {
                self.keep_transposed(kept, &reach.host, offsets, first, half * 4);
            }
        }
        self.f.store(&reach.host, &kept.host, FILE);
        self.take(access, kept, &Value::int(I32, 0), offsets);
    }

    /// Four dwords, from the number `dword` on, of eight lanes. Registers have two or more parts of 16 bytes within which hosts interleave.
    fn keep_transposed(&mut self, kept: &Kept, host: &Value, offsets: &Value, lane: u32, dword: u32) {
        let place = self.f.at(host, dword as usize * 4);
        let four = |emitter: &mut Self, lane: u32| {
            let at = emitter.place_of_lane(&place, offsets, lane);
            emitter.f.load(Ty::int(32, 4), &at, "align 1")
        };
        let rows: Vec<Value> = (lane..lane + 4)
            .map(|lane| {
                let [low, high] = [lane, lane + 4].map(|lane| four(self, lane));
                self.f.shuffle(&low, Some(&high), &[0, 1, 2, 3, 4, 5, 6, 7])
            })
            .collect();
        const LOW: [u32; 8] = [0, 8, 1, 9, 4, 12, 5, 13];
        const HIGH: [u32; 8] = [2, 10, 3, 11, 6, 14, 7, 15];
        const LOW_PAIRS: [u32; 8] = [0, 1, 8, 9, 4, 5, 12, 13];
        const HIGH_PAIRS: [u32; 8] = [2, 3, 10, 11, 6, 7, 14, 15];
        let pairs = [LOW, HIGH]
            .map(|order| [0, 2].map(|row: usize| self.f.shuffle(&rows[row], Some(&rows[row + 1]), &order)));
        let columns = pairs.iter().flat_map(|[a, b]| [LOW_PAIRS, HIGH_PAIRS].map(|order| (a, b, order)));
        for ((a, b, order), number) in columns.zip(dword..) {
            let column = self.f.shuffle(a, Some(b), &order);
            let at = self.f.at(&kept.dwords, (number * offsets.ty.lanes + lane) as usize * 4);
            self.f.store(&column, &at, FILE);
        }
    }
}

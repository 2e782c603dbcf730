//! Components of lanes: in memory those of a lane are side by side, in registers each is a vector of all lanes.

use super::Lowering;
use crate::ir::{Ty, Value as LlvmValue};

/// Components of a lane that are transposed with interleaving instructions.
const FOUR: u32 = 4;

/// The half of each 16 bytes of two vectors that is interleaved: its first dword.
const LOW: u32 = 0;
const HIGH: u32 = 2;

impl<'c> Lowering<'_, 'c> {
    /// Deinterleaves a row: each component of all lanes.
    pub(super) fn components(&self, row: LlvmValue<'c>, count: u32) -> Vec<LlvmValue<'c>> {
        let lanes = row.ty.lanes / count;
        if count == 1 {
            return vec![row];
        }
        let Some(side) = self.tiles(row.ty, lanes, count) else {
            let order = |number| (0..lanes).map(|lane| lane * count + number).collect::<Vec<_>>();
            return (0..count).map(|number| self.f.shuffle(row, None, &order(number))).collect();
        };
        let mut components = [const { Vec::new() }; FOUR as usize];
        for first in (0..lanes).step_by((FOUR * side) as usize) {
            let order = |number| {
                let lanes = (0..side).map(move |tile| first + tile * FOUR + number);
                lanes.flat_map(|lane| lane * FOUR..(lane + 1) * FOUR).collect::<Vec<_>>()
            };
            let rows = [0, 1, 2, 3].map(|number| self.f.shuffle(row, None, &order(number)));
            for (component, part) in components.iter_mut().zip(self.transposed(&rows)) {
                component.push(part);
            }
        }
        components.map(|parts| self.concatenated(parts)).into()
    }

    /// Interleaves components of all lanes.
    pub(super) fn interleaved(&self, components: &[LlvmValue<'c>]) -> LlvmValue<'c> {
        let (one, count) = (components[0].ty, components.len() as u32);
        if count == 1 {
            return components[0];
        }
        if one.lanes == 1 {
            let ty = Ty { lanes: count, ..one };
            let lanes = (0..).zip(components);
            return lanes.fold(self.f.poison(ty), |all, (lane, own)| self.f.insert(all, *own, lane));
        }
        let Some(side) = self.tiles(one, one.lanes, count) else {
            let mut parts = components.to_vec();
            parts.resize(components.len().next_power_of_two(), self.f.poison(one));
            let all = self.concatenated(parts);
            let order = (0..one.lanes * count).map(|n| n % count * one.lanes + n / count);
            return self.f.shuffle(all, None, &order.collect::<Vec<_>>());
        };
        let mut lanes = Vec::with_capacity(one.lanes as usize);
        for first in (0..one.lanes).step_by((FOUR * side) as usize) {
            let parts = [0, 1, 2, 3].map(|number: usize| self.slice(components[number], first, FOUR * side));
            let rows = self.transposed(&parts);
            lanes.extend((0..FOUR * side).map(|lane| {
                let (tile, row) = (lane / FOUR, lane % FOUR);
                self.slice(rows[row as usize], tile * FOUR, FOUR)
            }));
        }
        self.concatenated(lanes)
    }

    /// Concatenates vectors of one type; their number is a power of two.
    pub(super) fn concatenated(&self, mut parts: Vec<LlvmValue<'c>>) -> LlvmValue<'c> {
        while parts.len() > 1 {
            let order: Vec<u32> = (0..2 * parts[0].ty.lanes).collect();
            parts = parts.chunks(2).map(|pair| self.f.shuffle(pair[0], Some(pair[1]), &order)).collect();
        }
        parts.remove(0)
    }

    /// So many elements of a vector, which follow each other.
    pub(super) fn slice(&self, all: LlvmValue<'c>, first: u32, count: u32) -> LlvmValue<'c> {
        let order: Vec<u32> = (first..first + count).collect();
        self.f.shuffle(all, None, &order)
    }

    /// How many tiles of 4 x 4 dwords a register of the host has side by side. `None` when the host has shorter sequences
    /// (those with registers of 64 bytes pick dwords from two registers with one instruction, `vpermt2d`), or
    /// components are not four dwords.
    ///
    /// Two rows of instructions that interleave two registers within each 16 bytes (`unpcklps`, `unpckhpd` and their
    /// like) transpose as many as that. A single shuffle is lowered to twice as many instructions.
    fn tiles(&self, ty: Ty, lanes: u32, count: u32) -> Option<u32> {
        let side = (self.plan.host.vectors.bytes as u32 / 16).min(lanes / FOUR);
        (ty.scalar.bits() == 32 && count == FOUR && matches!(side, 1 | 2)).then_some(side)
    }

    /// Each tile of four vectors, transposed.
    fn transposed(&self, rows: &[LlvmValue<'c>; 4]) -> [LlvmValue<'c>; 4] {
        let pairs = [LOW, HIGH].map(|half| [0, 2].map(|row| self.halves(rows[row], rows[row + 1], half, 1)));
        let [[a, b], [c, d]] = pairs.map(|[a, b]| [LOW, HIGH].map(|half| self.halves(a, b, half, 2)));
        [a, b, c, d]
    }

    /// In each 16 bytes: pieces of `dwords` of one half of `a` and `b`, by turns.
    fn halves(&self, a: LlvmValue<'c>, b: LlvmValue<'c>, half: u32, dwords: u32) -> LlvmValue<'c> {
        let lanes = a.ty.lanes;
        let order = |lane: u32| {
            let (tile, at) = (lane / 4 * 4, lane % 4);
            let (piece, inner) = (at / dwords, at % dwords);
            tile + half + piece / 2 * dwords + inner + piece % 2 * lanes
        };
        self.f.shuffle(a, Some(b), &(0..lanes).map(order).collect::<Vec<_>>())
    }
}

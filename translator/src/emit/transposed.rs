//! Four dwords of each lane as four registers with a dword of each lane, and back.
//!
//! Hosts with registers of 16 or 32 bytes have instructions that interleave two registers within each 16 bytes (`unpcklps`, `unpckhpd`
//! and their like): two rows of them transpose as many 4 x 4 dwords as a register holds. LLVM takes other ways, twice as long, when it is told the
//! whole order at once. Hosts with registers of 64 bytes pick dwords from two registers with one instruction (`vpermt2d`).

use super::Emitter;
use crate::host;
use crate::ir::Value;
use crate::message::Lanes;

/// Components of a lane.
const FOUR: usize = 4;

/// Which half of each 16 bytes of two registers is interleaved.
#[derive(Clone, Copy)]
enum Half {
    Low,
    High,
}

impl Emitter<'_> {
    /// How many 4 x 4 dwords a register of the host has side by side. `None` when the host has better ways, or lanes have other
    /// components than four dwords.
    pub(super) fn transposed_at_once(&self, message: &Lanes, lanes: u32) -> Option<usize> {
        let fours = message.components.len() == FOUR && message.size == 4;
        let side = (host::vectors().bytes / 16).min(lanes as usize / FOUR);
        (fours && matches!(side, 1 | 2)).then_some(side)
    }

    /// The components of lanes, of which each has its four: four vectors of all lanes.
    pub(super) fn components_of_fours(&mut self, lanes: &[Value], side: usize) -> Vec<Value> {
        let mut components = vec![Vec::new(); FOUR];
        for block in lanes.chunks(FOUR * side) {
            let row = |row| self.concatenated(block.iter().skip(row).step_by(FOUR).cloned().collect());
            let rows: Vec<Value> = (0..FOUR).map(row).collect();
            for (component, part) in components.iter_mut().zip(self.transposed(&rows)) {
                component.push(part);
            }
        }
        components.into_iter().map(|parts| self.concatenated(parts)).collect()
    }

    /// Each lane's four of four vectors of components.
    pub(super) fn fours_of_components(&mut self, components: &[Value], side: usize) -> Vec<Value> {
        let lanes = components[0].ty.lanes;
        let mut fours = Vec::with_capacity(lanes as usize);
        for first in (0..lanes).step_by(FOUR * side) {
            let parts: Vec<Value> =
                components.iter().map(|all| self.part(all, first, (FOUR * side) as u32)).collect();
            let rows = self.transposed(&parts);
            for group in 0..side as u32 {
                fours.extend(rows.iter().map(|row| self.part(row, FOUR as u32 * group, FOUR as u32)));
            }
        }
        fours
    }

    /// Some lanes of a vector that follow each other.
    pub(super) fn part(&mut self, all: &Value, first: u32, lanes: u32) -> Value {
        let order: Vec<u32> = (first..first + lanes).collect();
        self.f.shuffle(all, None, &order)
    }

    /// Four registers' rows of 16 bytes, each group of four transposed.
    fn transposed(&mut self, rows: &[Value]) -> Vec<Value> {
        let mut pairs = Vec::new();
        for half in [Half::Low, Half::High] {
            pairs.push([0, 2].map(|row| self.interleaved_halves(&rows[row], &rows[row + 1], half, 1)));
        }
        let halves =
            |[a, b]: &[Value; 2]| [Half::Low, Half::High].map(|half| self.interleaved_halves(a, b, half, 2));
        pairs.iter().flat_map(halves).collect()
    }

    /// In each 16 bytes: pieces of `dwords` of one half of `a` and `b`, by turns.
    fn interleaved_halves(&mut self, a: &Value, b: &Value, half: Half, dwords: u32) -> Value {
        let lanes = a.ty.lanes;
        let from = match half {
            Half::Low => 0,
            Half::High => 2,
        };
        let order: Vec<u32> = (0..lanes)
            .map(|lane| {
                let (group, at) = (lane / 4 * 4, lane % 4);
                let (piece, inner) = (at / dwords, at % dwords);
                group + from + piece / 2 * dwords + inner + piece % 2 * lanes
            })
            .collect();
        self.f.shuffle(a, Some(b), &order)
    }
}

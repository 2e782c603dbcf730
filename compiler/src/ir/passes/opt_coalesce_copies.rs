//! Copy coalescing: merges source and destination of copies whose live ranges do not interfere.
//!
//! Most of the two copies of phis (of the incoming value on each edge, and from the edge's register to the
//! phi's) are removed by it (Chaitin, "Register Allocation and Spilling via Graph Coloring", 1982: aggressive
//! coalescing). Per-lane form, after [`super::mark_uniform`]: interference is computed per lane. Writes of
//! divergent registers do not affect parked lanes; a uniform register is written for all lanes, so it must
//! not be merged with one that a parked lane will read.

use crate::ir::analysis::liveness::Liveness;
use crate::ir::analysis::parking::Parking;
use crate::ir::{Family, Function, Op, Reg};
use fixedbitset::FixedBitSet;
use gencl_ir_support::UnionFind;

/// Maximum number of candidates: there is a set of them for each.
const LIMIT: usize = 8192;

/// Merges registers and removes the copies between them.
pub fn opt_coalesce_copies(function: &mut Function) {
    let mut candidates = Candidates::new(function);
    if candidates.registers.is_empty() {
        return;
    }
    let mut interference = interference(function, &candidates);
    for (a, b) in std::mem::take(&mut candidates.copies) {
        let (a, b) = (candidates.representative(a), candidates.representative(b));
        if a != b && !interference[a].contains(b) {
            let row = std::mem::take(&mut interference[b]);
            candidates.merged.unite(a as u32, b as u32);
            for other in row.ones() {
                if candidates.representative(other) == other {
                    interference[other].insert(a);
                }
            }
            interference[a].union_with(&row);
        }
    }
    candidates.apply(function);
}

/// The registers between which there are copies, numbered densely.
struct Candidates {
    registers: Vec<Reg>,
    /// By register.
    numbers: Vec<Option<u32>>,
    /// Destination and source of each copy.
    copies: Vec<(usize, usize)>,
    /// Of numbers.
    merged: UnionFind,
}

impl Candidates {
    fn new(function: &Function) -> Candidates {
        // Constants are operands where they have a register of their own, and what the thread is given stays
        // where it is put.
        let mut fixed = FixedBitSet::with_capacity(function.registers.len());
        for instruction in function.instructions() {
            if matches!(instruction.op, Op::Input(_)) {
                fixed.extend(instruction.dsts.iter().map(|reg| reg.0 as usize));
            }
        }
        let values = crate::ir::analysis::values::Values::new(function);
        let is_constant = |reg: Reg| {
            values
                .single_write(reg)
                .is_some_and(|at| matches!(at.instruction(function).op, Op::Immediate { .. }))
        };
        let mut candidates = Candidates {
            registers: Vec::new(),
            numbers: vec![None; function.registers.len()],
            copies: Vec::new(),
            merged: UnionFind::default(),
        };
        for instruction in function.instructions() {
            let Some((dst, src)) = instruction.as_move() else { continue };
            let (d, s) = (function.register(dst), function.register(src));
            if dst == src
                || d != s
                || d.family == Family::Bool
                || fixed.contains(dst.0 as usize)
                || fixed.contains(src.0 as usize)
                || is_constant(src)
                || candidates.registers.len() + 2 > LIMIT
            {
                continue;
            }
            let copy = (candidates.number(dst), candidates.number(src));
            candidates.copies.push(copy);
        }
        candidates.merged = UnionFind::new(candidates.registers.len());
        candidates
    }

    fn number(&mut self, reg: Reg) -> usize {
        let number = self.numbers[reg.0 as usize].get_or_insert_with(|| {
            self.registers.push(reg);
            self.registers.len() as u32 - 1
        });
        *number as usize
    }

    /// The candidate that stands for a number and what it was merged with.
    fn representative(&mut self, number: usize) -> usize {
        self.merged.find(number as u32) as usize
    }

    fn slot(&self, reg: Reg) -> Option<usize> {
        self.numbers[reg.0 as usize].map(|n| n as usize)
    }

    /// Puts one register in place of those that were merged.
    fn apply(&mut self, function: &mut Function) {
        let mut stands_for = |reg: Reg| match self.slot(reg) {
            Some(number) => {
                let other = self.representative(number);
                self.registers[other]
            }
            None => reg,
        };
        for block in function.layout.clone() {
            let instructions = &mut function.block_mut(block).instructions;
            for instruction in instructions.iter_mut() {
                for reg in instruction.srcs.iter_mut().chain(instruction.dsts.iter_mut()) {
                    *reg = stands_for(*reg);
                }
            }
            instructions.retain(|i| i.as_move().is_none_or(|(dst, src)| dst != src));
        }
    }
}

/// For each candidate those that are live where it is written (a symmetric relation).
fn interference(function: &Function, candidates: &Candidates) -> Vec<FixedBitSet> {
    let count = candidates.registers.len();
    let cfg = function.cfg();
    let liveness = Liveness::new(function, &cfg);
    let parking = Parking::new(function, &cfg);
    let numbers = |set: &FixedBitSet, into: &mut FixedBitSet| {
        into.extend(liveness.crossing.registers(set).filter_map(|reg| candidates.slot(reg)));
    };
    let mut rows = vec![FixedBitSet::with_capacity(count); count];
    for (id, block) in function.blocks_in_layout() {
        let mut live = FixedBitSet::with_capacity(count);
        numbers(liveness.live_out(id), &mut live);
        let mut kept = FixedBitSet::with_capacity(count);
        if !parking.is_convergent(id) {
            numbers(&parking.kept(id, &liveness), &mut kept);
        }
        for instruction in block.instructions.iter().rev() {
            let written = instruction.dsts.iter().filter_map(|&dst| candidates.slot(dst));
            // The source of a copy has the same value, so it does not interfere.
            let copied = instruction.as_move().and_then(|(_, src)| candidates.slot(src));
            for dst in written.clone() {
                let row = &mut rows[dst];
                let known = copied.is_some_and(|src| row.contains(src));
                row.union_with(&live);
                if function.register(candidates.registers[dst]).uniform {
                    row.union_with(&kept);
                }
                if let Some(src) = copied {
                    row.set(src, known);
                }
                // All results of one instruction are there at once.
                row.extend(written.clone());
            }
            written.for_each(|dst| live.set(dst, false));
            live.extend(instruction.srcs.iter().filter_map(|&src| candidates.slot(src)));
        }
    }
    for number in 0..count {
        rows[number].set(number, false);
        for other in rows[number].clone().ones() {
            rows[other].insert(number);
        }
    }
    rows
}

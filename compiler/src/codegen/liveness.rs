//! Live intervals of virtual registers.
//!
//! A register is live where a definition reaches and a use follows. Writes under a predicate, or of a part of
//! a register, do not kill the previous value unless [`Inst::kills`] is set. As reads of lanes that were
//! never written do not matter, a live range begins at the first possible write.

use super::lir::{Inst, Program, Vreg};
use fixedbitset::FixedBitSet;
use gencl_ir_support::dataflow::{live_sets, solve, union};
use smallvec::SmallVec;

/// The positions from the first to the last at which a register is live. Instruction `n` in layout order
/// reads at `2 n` and writes at `2 n + 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// First position.
    pub start: u32,
    /// Last position.
    pub end: u32,
}

/// Registers that an instruction reads.
pub fn reads(inst: &Inst) -> impl Iterator<Item = Vreg> + '_ {
    inst.srcs.iter().flatten().map(|v| v.vreg)
}

/// Register pressure: the maximum number of bytes that are live at once.
pub fn peak(program: &Program) -> u32 {
    let intervals = intervals(program);
    let end = intervals.iter().flatten().map(|i| i.end as usize).max().unwrap_or(0);
    let mut changes = vec![0i64; end + 2];
    for (interval, vreg) in intervals.iter().zip(&program.vregs) {
        if let Some(interval) = interval {
            changes[interval.start as usize] += i64::from(vreg.size);
            changes[interval.end as usize + 1] -= i64::from(vreg.size);
        }
    }
    let sums = changes.iter().scan(0, |now, change| {
        *now += change;
        Some(*now)
    });
    sums.max().unwrap_or(0) as u32
}

/// The interval of each register that is used; those of the payload start at position 0.
pub fn intervals(program: &Program) -> Vec<Option<Interval>> {
    let count = program.vregs.len();
    // Only registers used in several blocks, and those read before they are written in their block, take part
    // in the dataflow analysis.
    let mut home = vec![usize::MAX; count];
    let mut global = vec![false; count];
    for (index, block) in program.blocks.iter().enumerate() {
        let mut see = |v: Vreg, write: bool| {
            let i = v.0 as usize;
            if home[i] == usize::MAX {
                home[i] = index;
                global[i] |= !write;
            } else if home[i] != index {
                global[i] = true;
            }
        };
        for inst in &block.insts {
            reads(inst).for_each(|v| see(v, false));
            if let Some(d) = inst.dst {
                see(d.vreg, inst.kills);
            }
        }
    }
    let mut number = vec![usize::MAX; count];
    let mut globals = Vec::new();
    for (i, is_global) in global.iter().enumerate() {
        if *is_global {
            number[i] = globals.len();
            globals.push(i);
        }
    }
    let [live_in, live_out, before, after] = flow(program, &number, globals.len());
    let mut result: Vec<Option<Interval>> = vec![None; count];
    let mut extend = |v: usize, position: u32| {
        let interval = result[v].get_or_insert(Interval { start: position, end: position });
        interval.start = interval.start.min(position);
        interval.end = interval.end.max(position);
    };
    let mut position = 0u32;
    for (index, block) in program.blocks.iter().enumerate() {
        let first = 2 * position;
        for inst in &block.insts {
            reads(inst).for_each(|v| extend(v.0 as usize, 2 * position));
            if let (Some(d), true) = (inst.dst, inst.kind != super::lir::InstKind::Undef) {
                let at = 2 * position + u32::from(!inst.early_clobber());
                extend(d.vreg.0 as usize, at);
                extend(d.vreg.0 as usize, 2 * position + 1);
            }
            position += 1;
        }
        for g in live_in[index].intersection(&before[index]) {
            extend(globals[g], first);
        }
        for g in live_out[index].intersection(&after[index]) {
            extend(globals[g], (2 * position).saturating_sub(1).max(first));
        }
    }
    for (v, info) in program.vregs.iter().enumerate() {
        if let (Some(_), Some(interval)) = (info.fixed, &mut result[v]) {
            interval.start = 0;
        }
    }
    result
}

/// Live-in and live-out sets of each block, and the registers possibly written before its beginning and end.
fn flow(program: &Program, number: &[usize], count: usize) -> [Vec<FixedBitSet>; 4] {
    let blocks = program.blocks.len();
    let empty = || vec![FixedBitSet::with_capacity(count); blocks];
    let (mut used, mut ended, mut written) = (empty(), empty(), empty());
    for (index, block) in program.blocks.iter().enumerate() {
        for inst in block.insts.iter().rev() {
            if let Some(d) = inst.dst {
                let n = number[d.vreg.0 as usize];
                if n != usize::MAX {
                    if inst.kind != super::lir::InstKind::Undef {
                        written[index].insert(n);
                    }
                    if inst.kills {
                        used[index].remove(n);
                        ended[index].insert(n);
                    }
                }
            }
            for v in reads(inst) {
                let n = number[v.0 as usize];
                if n != usize::MAX {
                    used[index].insert(n);
                    ended[index].remove(n);
                }
            }
        }
    }
    let successors =
        |block: usize| program.blocks[block].successors.iter().copied().filter(move |&next| next < blocks);
    let mut predecessors: Vec<SmallVec<[usize; 4]>> = vec![SmallVec::new(); blocks];
    for block in 0..blocks {
        successors(block).for_each(|next| predecessors[next].push(block));
    }
    let (live_in, live_out) = live_sets(0..blocks, |block| predecessors[block].iter().copied(), used, &ended);
    let mut before = empty();
    for (v, info) in program.vregs.iter().enumerate() {
        if info.fixed.is_some() && number[v] != usize::MAX {
            before[0].insert(number[v]);
        }
    }
    solve(0..blocks, successors, &mut before, |block, set| set.union_with(&written[block]), union);
    for (after, before) in written.iter_mut().zip(&before) {
        after.union_with(before);
    }
    [live_in, live_out, before, written]
}

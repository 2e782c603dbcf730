//! Register allocation: linear scan with first fit, at byte granularity.
//!
//! Intervals are visited in order of their start. Each takes the lowest free bytes of its alignment, except
//! the destination of a copy, which takes the place of the source if that ends there. If one does not fit,
//! allocation fails with the registers that could be spilled, cheapest first.

use super::lir::{Fixup, GRF, Inst, InstKind, Program, Vreg};
use super::liveness::{Interval, intervals};
use super::spill;
use gencl_isa::{Opcode, Operand};

/// The first byte in the register file of each virtual register, `None` for unused ones.
pub type Locations = Vec<Option<u32>>;

/// Allocation failed: there are not enough registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// Registers that can be spilled, cheapest first.
    pub candidates: Vec<Vreg>,
}

/// An interval that has been allocated and has not ended.
struct Active {
    vreg: usize,
    at: u32,
    size: u32,
    end: u32,
}

/// Assigns a location to each virtual register.
///
/// # Errors
/// The `registers` general registers do not suffice.
pub fn allocate(program: &Program, registers: u32) -> Result<Locations, Shortage> {
    let intervals = intervals(program);
    let hints = hints(program);
    let weights = weights(program);
    let mut order: Vec<usize> = (0..program.vregs.len()).filter(|v| intervals[*v].is_some()).collect();
    order.sort_by_key(|v| {
        let start = intervals[*v].map_or(0, |i| i.start);
        (start, program.vregs[*v].fixed.is_none(), std::cmp::Reverse(program.vregs[*v].size), *v)
    });
    let mut locations: Locations = vec![None; program.vregs.len()];
    let mut file = RegisterFile::new(registers * GRF);
    let mut active: Vec<Active> = Vec::new();
    for v in order {
        let Some(interval) = intervals[v] else { continue };
        active.retain(|a| {
            let stays = a.end >= interval.start;
            if !stays {
                file.set(a.at, a.size, false);
            }
            stays
        });
        let info = &program.vregs[v];
        let hinted = hints[v].and_then(|(other, offset)| {
            let at = locations[other.0 as usize]?.checked_add_signed(offset)?;
            (at % info.align == 0 && file.is_free(at, info.size)).then_some(at)
        });
        let found = match info.fixed {
            Some(at) => Some(at),
            None => hinted.or_else(|| file.first_fit(info.size, info.align)),
        };
        let Some(at) = found else {
            return Err(Shortage { candidates: candidates(program, &intervals, &weights, &active, v) });
        };
        file.set(at, info.size, true);
        locations[v] = Some(at);
        active.push(Active { vreg: v, at, size: info.size, end: interval.end });
    }
    Ok(locations)
}

/// The bytes of the register file that are allocated.
struct RegisterFile {
    taken: Vec<bool>,
}

impl RegisterFile {
    fn new(bytes: u32) -> RegisterFile {
        RegisterFile { taken: vec![false; bytes as usize] }
    }

    fn is_free(&self, at: u32, size: u32) -> bool {
        self.taken.get(at as usize..(at + size) as usize).is_some_and(|r| r.iter().all(|t| !t))
    }

    fn set(&mut self, at: u32, size: u32, taken: bool) {
        if let Some(range) = self.taken.get_mut(at as usize..(at + size) as usize) {
            range.fill(taken);
        }
    }

    fn first_fit(&self, size: u32, align: u32) -> Option<u32> {
        let end = self.taken.len() as u32;
        let mut at = 0;
        while at + size <= end {
            match self.taken[at as usize..(at + size) as usize].iter().rposition(|t| *t) {
                None => return Some(at),
                Some(last) => at = (at + last as u32 + 1).next_multiple_of(align),
            }
        }
        None
    }
}

/// Destination and source, each with its offset, of a copy that keeps the layout: it is redundant when both
/// are at the same location.
pub fn plain_copy(inst: &Inst) -> Option<(Vreg, u32, Vreg, u32)> {
    let isa = &inst.isa;
    if isa.opcode != Opcode::Mov || isa.saturate || isa.condition.is_some() {
        return None;
    }
    let (dst, src) = (inst.dst?, inst.srcs[0]?);
    let Operand::Register(s) = &isa.sources[0] else { return None };
    if s.negate || s.abs || s.indirect.is_some() || s.ty != isa.destination.ty {
        return None;
    }
    let mut written = Vec::new();
    inst.written(|at, _| written.push(at));
    let mut read = Vec::new();
    inst.read(0, |at, _| read.push(at));
    (written == read).then_some((dst.vreg, dst.offset, src.vreg, src.offset))
}

/// Whether it is a copy whose source and destination have the same location.
pub fn is_redundant_copy(inst: &Inst, locations: &Locations) -> bool {
    let Some((dst, d, src, s)) = plain_copy(inst) else { return false };
    match (locations[dst.0 as usize], locations[src.0 as usize]) {
        (Some(a), Some(b)) => a + d == b + s,
        _ => false,
    }
}

/// For each register of a copy, the other one, and the distance from it at which the copy is redundant.
fn hints(program: &Program) -> Vec<Option<(Vreg, i32)>> {
    let mut hints = vec![None; program.vregs.len()];
    for inst in program.blocks.iter().flat_map(|b| &b.insts) {
        if let Some((dst, d, src, s)) = plain_copy(inst) {
            if program.info(dst).fixed.is_none() {
                hints[dst.0 as usize].get_or_insert((src, s as i32 - d as i32));
            }
            if program.info(src).fixed.is_none() {
                hints[src.0 as usize].get_or_insert((dst, d as i32 - s as i32));
            }
        }
    }
    hints
}

/// The number of accesses to each register, times ten for each loop around them.
fn weights(program: &Program) -> Vec<u64> {
    let mut weights = vec![0u64; program.vregs.len()];
    for block in &program.blocks {
        let weight = 10u64.pow(block.depth.min(6));
        for inst in block.insts.iter().filter(|i| i.kind != InstKind::Undef) {
            for v in inst.srcs.iter().flatten().map(|s| s.vreg).chain(inst.dst.map(|d| d.vreg)) {
                weights[v.0 as usize] += weight;
            }
        }
    }
    weights
}

/// Cost of an access to scratch, relative to rematerialisation.
const SCRATCH_COST: u64 = 8;

/// The registers that are live where `wanted` starts and can be spilled, by weighted accesses per byte and
/// length of the interval.
fn candidates(
    program: &Program,
    intervals: &[Option<Interval>],
    weights: &[u64],
    active: &[Active],
    wanted: usize,
) -> Vec<Vreg> {
    // Registers that are accessed indirectly must be in the register file.
    let addressed: Vec<u32> = program
        .blocks
        .iter()
        .flat_map(|b| &b.insts)
        .filter_map(|inst| match inst.fixup {
            Some(Fixup::AddressOf(v)) => Some(v.vreg.0),
            _ => None,
        })
        .collect();
    let rematerialisable = spill::rematerialisable(program);
    let mut list: Vec<(u64, usize)> = active
        .iter()
        .map(|a| a.vreg)
        .chain([wanted])
        .filter(|v| {
            let info = &program.vregs[*v];
            let here = info.piece_of.is_some() || info.fixed.is_some() || addressed.contains(&(*v as u32));
            !here && info.size >= 8
        })
        .map(|v| {
            let cost = if rematerialisable.contains_key(&Vreg(v as u32)) { 1 } else { SCRATCH_COST };
            let length = intervals[v].map_or(1, |i| u64::from(i.end - i.start + 1));
            let size = u64::from(program.vregs[v].size);
            (weights[v] * cost * 1_000_000 / (length * size).max(1), v)
        })
        .collect();
    // Spilling an interval of a few instructions frees nothing.
    list.retain(|(_, v)| intervals[*v].is_some_and(|i| i.end - i.start > 8));
    list.sort_unstable();
    list.into_iter().map(|(_, v)| Vreg(v as u32)).collect()
}

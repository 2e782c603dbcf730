//! Register allocation: first fit over intervals, byte by byte of the register file.
//!
//! Intervals are visited by their beginning; each takes the lowest free bytes of its alignment, but for the
//! destination of a copy, which is put where its source ends if it can be. What does not fit is reported
//! with the registers that were in the way, cheapest to spill first.

use super::lir::{Fixup, GRF, Inst, Kind, Program, Vreg};
use super::liveness::{Interval, intervals};
use super::spill;
use gencl_isa::{Opcode, Operand};

/// The register file's first byte of each virtual register that is used.
pub type Locations = Vec<Option<u32>>;

/// What to do when registers do not suffice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// Registers that could live in scratch instead, best first.
    pub candidates: Vec<Vreg>,
}

/// A register that occupies part of the file for now.
struct Active {
    vreg: usize,
    at: u32,
    size: u32,
    end: u32,
}

/// Assigns registers.
///
/// # Errors
/// They do not suffice.
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
    let mut file = File::new(registers * GRF);
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

/// Which bytes of the register file are taken.
struct File {
    taken: Vec<bool>,
}

impl File {
    fn new(bytes: u32) -> File {
        File { taken: vec![false; bytes as usize] }
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

/// A copy between registers of the same layout, which is nothing when both are in the same place.
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

/// Is it a copy to where the source is?
pub fn is_nothing(inst: &Inst, locations: &Locations) -> bool {
    let Some((dst, d, src, s)) = plain_copy(inst) else { return false };
    match (locations[dst.0 as usize], locations[src.0 as usize]) {
        (Some(a), Some(b)) => a + d == b + s,
        _ => false,
    }
}

/// For destinations of copies the source and the distance at which the copy would be none; for sources the
/// same.
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

/// How often a register is accessed, with loops counted ten times.
fn weights(program: &Program) -> Vec<u64> {
    let mut weights = vec![0u64; program.vregs.len()];
    for block in &program.blocks {
        let weight = 10u64.pow(block.depth.min(6));
        for inst in block.insts.iter().filter(|i| i.kind != Kind::Undefined) {
            for v in inst.srcs.iter().flatten().map(|s| s.vreg).chain(inst.dst.map(|d| d.vreg)) {
                weights[v.0 as usize] += weight;
            }
        }
    }
    weights
}

/// How many times cheaper an access to what is computed anew is than one to scratch.
const COMPUTABLE: u64 = 8;

/// Registers that are alive where `wanted` begins and may be spilled, by accesses per byte and length of
/// life.
fn candidates(
    program: &Program,
    intervals: &[Option<Interval>],
    weights: &[u64],
    active: &[Active],
    wanted: usize,
) -> Vec<Vreg> {
    // What is read by its address stays where the address says.
    let addressed: Vec<u32> = program
        .blocks
        .iter()
        .flat_map(|b| &b.insts)
        .filter_map(|inst| match inst.fixup {
            Some(Fixup::AddressOf(v)) => Some(v.vreg.0),
            _ => None,
        })
        .collect();
    let computable = spill::computable(program);
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
            let cost = if computable.contains_key(&Vreg(v as u32)) { 1 } else { COMPUTABLE };
            let length = intervals[v].map_or(1, |i| u64::from(i.end - i.start + 1));
            let size = u64::from(program.vregs[v].size);
            (weights[v] * cost * 1_000_000 / (length * size).max(1), v)
        })
        .collect();
    // What lives for a few instructions only gives no room.
    list.retain(|(_, v)| intervals[*v].is_some_and(|i| i.end - i.start > 8));
    list.sort_unstable();
    list.into_iter().map(|(_, v)| Vreg(v as u32)).collect()
}

//! Checks a register allocation symbolically.
//!
//! A forward dataflow analysis: for each byte of the register file and of scratch, the bytes of virtual
//! registers that it holds (as in regalloc2's checker). Each byte that is read must hold the operand's byte,
//! unless that has not been written on any path to the instruction. A write of some lanes must find the
//! register's other bytes in place if they have been written. Which bytes have been written is tracked per
//! byte, because a value is often assembled by several writes under the same predicate.
//!
//! At a control-flow join a byte can hold bytes of several registers: on a path that has not written a byte,
//! its contents do not matter. But each register that is read must have a write or an `undef`.

use super::allocate::Locations;
use super::lir::{Inst, InstKind, Program, VRef};
use fixedbitset::FixedBitSet;
use gencl_ir_support::dataflow::{solve, union};
use smallvec::SmallVec;

/// The bytes of virtual registers, as (register, byte), that a byte holds. Temporaries of spilled registers
/// count as the spilled register.
type Contents = SmallVec<[(u32, u32); 1]>;

#[derive(Clone, PartialEq, Eq)]
struct State {
    file: Vec<Contents>,
    /// From the first byte of the spill area; bytes beyond the end hold nothing.
    scratch: Vec<Contents>,
    /// Bytes of virtual registers written on some path, by their index in [`ByteNumbers`].
    written: FixedBitSet,
}

/// Indices for the bytes of all virtual registers: the index of each register's first byte.
struct ByteNumbers(Vec<usize>);

impl ByteNumbers {
    fn new(program: &Program) -> (ByteNumbers, usize) {
        let mut count = 0;
        let first = |size: u32| {
            count += size as usize;
            count - size as usize
        };
        (ByteNumbers(program.vregs.iter().map(|v| v.size).map(first).collect()), count)
    }

    fn number(&self, (vreg, byte): (u32, u32)) -> usize {
        self.0[vreg as usize] + byte as usize
    }
}

impl State {
    fn is_written(&self, bytes: &ByteNumbers, tag: (u32, u32)) -> bool {
        self.written.contains(bytes.number(tag))
    }

    fn set_written(&mut self, bytes: &ByteNumbers, tag: (u32, u32), written: bool) {
        self.written.set(bytes.number(tag), written);
    }
}

/// Checks an allocation.
///
/// # Errors
/// The first instruction that reads a byte that does not hold its operand, or a register that is read and
/// never written.
pub fn check(program: &Program, locations: &Locations) -> Result<(), String> {
    if let Some(v) = never_written(program) {
        return Err(format!("v{v} is read and never written"));
    }
    let (bytes, count) = ByteNumbers::new(program);
    let ends = program.vregs.iter().zip(locations).filter_map(|(v, at)| at.map(|at| at + v.size));
    let mut first = State {
        file: vec![Contents::new(); ends.max().unwrap_or(0) as usize],
        scratch: Vec::new(),
        written: FixedBitSet::with_capacity(count),
    };
    for (v, info) in program.vregs.iter().enumerate() {
        if let (Some(at), Some(_)) = (info.fixed, locations[v]) {
            for byte in 0..info.size {
                first.set_written(&bytes, (v as u32, byte), true);
                first.file[(at + byte) as usize].push((v as u32, byte));
            }
        }
    }
    // `None` for blocks that have not been reached.
    let mut entry: Vec<Option<State>> = vec![None; program.blocks.len()];
    if let Some(e) = entry.first_mut() {
        *e = Some(first);
    }
    let blocks = program.blocks.len();
    for (index, block) in program.blocks.iter().enumerate() {
        if let Some(next) = block.successors.iter().find(|&&next| next >= blocks) {
            return Err(format!("block {index} has the successor {next}, which does not exist"));
        }
    }
    let mut fault = None;
    solve(
        0..blocks,
        |index| program.blocks[index].successors.iter().copied(),
        &mut entry,
        |index, known| {
            // Blocks behind a fault are not checked.
            if fault.is_some() {
                *known = None;
            }
            let Some(state) = known else { return };
            let block = &program.blocks[index];
            for (number, inst) in block.insts.iter().enumerate() {
                if let Err(e) = step(program, &bytes, locations, block.masked, inst, state) {
                    let inst = super::lir::text(inst);
                    fault = Some(format!("block {index} instruction {number} `{inst}`: {e}"));
                    *known = None;
                    return;
                }
            }
        },
        |known, new| match (known, new) {
            (_, None) => false,
            (known @ None, new) => {
                known.clone_from(new);
                true
            }
            (Some(known), Some(new)) => meet(&bytes, known, new),
        },
    );
    fault.map_or(Ok(()), Err)
}

/// A register that is read without any write or `undef`: a pass has removed its only write.
fn never_written(program: &Program) -> Option<u32> {
    let insts = || program.blocks.iter().flat_map(|block| &block.insts);
    let original = |v: VRef| origin(program, v, 0).0;
    let mut known = FixedBitSet::with_capacity(program.vregs.len());
    known.extend((0..program.vregs.len()).filter(|&v| program.vregs[v].fixed.is_some()));
    known.extend(insts().filter_map(|inst| inst.dst).map(|v| original(v) as usize));
    insts()
        .filter(|inst| !matches!(inst.kind, InstKind::Spill(_) | InstKind::Copy))
        .flat_map(|inst| inst.srcs.iter().flatten())
        .map(|v| original(*v))
        .find(|&v| !known.contains(v as usize))
}

/// Merges the state of another path into `known`; returns whether it changed.
fn meet(bytes: &ByteNumbers, known: &mut State, other: &State) -> bool {
    let mut changed = false;
    let mut file = std::mem::take(&mut known.file);
    for (a, b) in file.iter_mut().zip(&other.file) {
        changed |= merge(bytes, a, b, known, other);
    }
    known.file = file;
    let mut scratch = std::mem::take(&mut known.scratch);
    let none = Contents::new();
    scratch.resize(scratch.len().max(other.scratch.len()), Contents::new());
    for (slot, a) in scratch.iter_mut().enumerate() {
        changed |= merge(bytes, a, other.scratch.get(slot).unwrap_or(&none), known, other);
    }
    known.scratch = scratch;
    union(&mut known.written, &other.written) | changed
}

fn merge(bytes: &ByteNumbers, a: &mut Contents, b: &Contents, known: &State, other: &State) -> bool {
    if a == b {
        return false;
    }
    let mut both: Contents =
        a.iter().copied().filter(|t| b.contains(t) || !other.is_written(bytes, *t)).collect();
    both.extend(b.iter().copied().filter(|t| !a.contains(t) && !known.is_written(bytes, *t)));
    let changed = both != *a;
    *a = both;
    changed
}

/// The byte that byte `offset` of an operand represents: of the spilled register, if the operand is a
/// temporary of one.
fn origin(program: &Program, v: VRef, offset: u32) -> (u32, u32) {
    match program.info(v.vreg).piece_of {
        Some((of, first)) => (of.0, first + v.offset + offset),
        None => (v.vreg.0, v.offset + offset),
    }
}

fn step(
    program: &Program,
    bytes: &ByteNumbers,
    locations: &Locations,
    masked: bool,
    inst: &Inst,
    state: &mut State,
) -> Result<(), String> {
    let place = |v: VRef| -> Result<u32, String> {
        let at = locations[v.vreg.0 as usize].ok_or_else(|| format!("v{} has no location", v.vreg.0))?;
        Ok(at + v.offset)
    };
    if inst.kind == InstKind::Undef {
        if let Some(v) = inst.dst {
            let register = VRef { vreg: v.vreg, offset: 0 };
            for byte in 0..program.info(v.vreg).size {
                state.set_written(bytes, origin(program, register, byte), false);
            }
        }
        return Ok(());
    }
    let mut fault = None;
    for index in 0..3 {
        let Some(v) = inst.srcs[index] else { continue };
        let base = place(v)?;
        inst.read(index, |at, size| {
            for byte in at..at + size {
                let expected = origin(program, v, byte);
                let held = state.file.get((base + byte) as usize);
                // Spills store whole registers, with bytes that hold nothing.
                let whole = matches!(inst.kind, InstKind::Spill(_) | InstKind::Copy);
                let fine = held.is_some_and(|h| h.contains(&expected)) || !state.is_written(bytes, expected);
                if !fine && !whole && fault.is_none() {
                    fault = Some(format!("source {index} byte {byte} at {} holds {held:?}", base + byte));
                }
            }
        });
    }
    if let Some(fault) = fault {
        return Err(fault);
    }
    if let InstKind::Spill(slot) = inst.kind {
        let (data, bytes) = inst.spilled().ok_or("a spill without data")?;
        let (from, to, bytes) = (place(data)? as usize, slot as usize, bytes as usize);
        state.scratch.resize(state.scratch.len().max(to + bytes), Contents::new());
        state.scratch[to..to + bytes].clone_from_slice(&state.file[from..from + bytes]);
        return Ok(());
    }
    let Some(v) = inst.dst else { return Ok(()) };
    let base = place(v)?;
    let end = base + inst.dst_span();
    if end as usize > state.file.len() || v.offset + inst.dst_span() > program.info(v.vreg).size {
        return Err(format!("v{} is written beyond its end", v.vreg.0));
    }
    if let (InstKind::Copy, Some(from)) = (inst.kind, inst.srcs[0]) {
        let (from, to, span) = (place(from)? as usize, base as usize, inst.dst_span() as usize);
        let held = state.file[from..from + span].to_vec();
        state.file[to..to + span].clone_from_slice(&held);
        return Ok(());
    }
    let some_lanes = inst.isa.predicate.is_some() || masked && !inst.isa.no_mask;
    let keeps = some_lanes && !inst.kills && inst.target.is_none();
    inst.written(|at, size| {
        for byte in at..at + size {
            let tag = origin(program, v, byte);
            let before = state.is_written(bytes, tag);
            let cell = &mut state.file[(base + byte) as usize];
            if let InstKind::Fill(slot) = inst.kind {
                *cell = state.scratch.get((slot + byte) as usize).cloned().unwrap_or_default();
            } else if keeps && before && !cell.contains(&tag) {
                // Disabled lanes still hold the previous contents.
                cell.clear();
            } else {
                cell.clear();
                cell.push(tag);
            }
            if inst.kind == InstKind::Normal {
                state.set_written(bytes, tag, true);
            }
        }
    });
    Ok(())
}

//! Checks a register allocation symbolically.
//!
//! Follows every path and notes for each byte of the register file and of scratch which byte of which virtual
//! register it holds (after the idea of regalloc2's checker). Each byte read must hold what the instruction
//! means; each write under a predicate, which keeps some lanes, must find its own register's bytes in place.

use super::allocate::Locations;
use super::lir::{Inst, Kind, Program, VRef, GRF};
use std::collections::HashMap;

/// Which byte of which virtual register. Pieces of spilled registers count as these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    /// Nothing was written on any path.
    Nothing,
    /// A byte.
    Byte(u32, u32),
    /// Different things on different paths.
    Mixed,
}

#[derive(Clone, PartialEq, Eq)]
struct State {
    file: Vec<Held>,
    scratch: HashMap<u32, Held>,
}

/// Checks.
///
/// # Errors
/// The first instruction that reads something else than it should.
pub fn check(program: &Program, locations: &Locations) -> Result<(), String> {
    let bytes = program
        .vregs
        .iter()
        .zip(locations)
        .filter_map(|(v, at)| at.map(|at| at + v.size))
        .max()
        .unwrap_or(0) as usize;
    let mut entry: Vec<Option<State>> = vec![None; program.blocks.len()];
    let mut first = State { file: vec![Held::Nothing; bytes], scratch: HashMap::new() };
    for (v, info) in program.vregs.iter().enumerate() {
        if let (Some(at), Some(_)) = (info.fixed, locations[v]) {
            for byte in 0..info.size {
                first.file[(at + byte) as usize] = Held::Byte(v as u32, byte);
            }
        }
    }
    if let Some(e) = entry.first_mut() {
        *e = Some(first);
    }
    let mut work = vec![0usize];
    while let Some(index) = work.pop() {
        let Some(mut state) = entry.get(index).cloned().flatten() else { continue };
        for (number, inst) in program.blocks[index].insts.iter().enumerate() {
            step(program, locations, inst, &mut state)
                .map_err(|e| format!("block {index} instruction {number} `{}`: {e}", super::lir::text(inst)))?;
        }
        for next in &program.blocks[index].successors {
            let Some(slot) = entry.get_mut(*next) else {
                return Err(format!("block {index} goes to block {next}, which does not exist"));
            };
            match slot {
                None => {
                    *slot = Some(state.clone());
                    work.push(*next);
                }
                Some(known) => {
                    if meet(known, &state) {
                        work.push(*next);
                    }
                }
            }
        }
    }
    Ok(())
}

/// What both states agree on. A byte written on one path only counts as written: a register that some lanes
/// or paths have not written may be read, and gives anything there.
fn meet(known: &mut State, other: &State) -> bool {
    let mut changed = false;
    for (a, b) in known.file.iter_mut().zip(&other.file) {
        changed |= merge(a, *b);
    }
    for (slot, b) in &other.scratch {
        changed |= merge(known.scratch.entry(*slot).or_insert(Held::Nothing), *b);
    }
    changed
}

fn merge(a: &mut Held, b: Held) -> bool {
    let both = match (*a, b) {
        (x, y) if x == y => x,
        (Held::Nothing, y) => y,
        (x, Held::Nothing) => x,
        _ => Held::Mixed,
    };
    let changed = both != *a;
    *a = both;
    changed
}

/// The byte of the original register that byte `offset` of a virtual register stands for.
fn origin(program: &Program, v: VRef, offset: u32) -> (u32, u32) {
    match program.info(v.vreg).piece_of {
        Some((of, first)) => (of.0, first + v.offset + offset),
        None => (v.vreg.0, v.offset + offset),
    }
}

fn step(program: &Program, locations: &Locations, inst: &Inst, state: &mut State) -> Result<(), String> {
    let place = |v: VRef| -> Result<u32, String> {
        let at = locations[v.vreg.0 as usize].ok_or_else(|| format!("v{} has no place", v.vreg.0))?;
        Ok(at + v.offset)
    };
    if inst.kind == Kind::Undefined {
        return Ok(());
    }
    for index in 0..3 {
        let Some(v) = inst.srcs[index] else { continue };
        let base = place(v)?;
        let mut fault = None;
        inst.read(index, |at, size| {
            for byte in at..at + size {
                let expected = origin(program, v, byte);
                let held = state.file.get((base + byte) as usize).copied().unwrap_or(Held::Nothing);
                let fine = match held {
                    Held::Byte(r, b) => (r, b) == expected,
                    Held::Nothing => true,
                    Held::Mixed => !written_somewhere(state, expected),
                };
                // A register none of whose bytes is anywhere was not written on this path.
                if !fine && written_somewhere(state, expected) && fault.is_none() {
                    fault = Some(format!("source {index} byte {byte} at {} holds {held:?}", base + byte));
                }
                if !fine && fault.is_none() && held != Held::Mixed && inst.kind == Kind::Normal {
                    fault = Some(format!("source {index} byte {byte} at {} holds {held:?}", base + byte));
                }
            }
        });
        if let Some(fault) = fault {
            return Err(fault);
        }
    }
    transfer(program, inst, state, &place)
}

fn written_somewhere(state: &State, what: (u32, u32)) -> bool {
    state.file.contains(&Held::Byte(what.0, what.1))
}

fn transfer(
    program: &Program,
    inst: &Inst,
    state: &mut State,
    place: &dyn Fn(VRef) -> Result<u32, String>,
) -> Result<(), String> {
    if let Kind::Spill(slot) = inst.kind {
        if let Some(v) = inst.srcs[1] {
            let base = place(v)?;
            for byte in 0..inst.src_span(1) {
                state.scratch.insert(slot + byte, state.file[(base + byte) as usize]);
            }
        }
        return Ok(());
    }
    let Some(v) = inst.dst else { return Ok(()) };
    let base = place(v)?;
    let mut fault = None;
    inst.written(|at, size| {
        for byte in at..at + size {
            let (r, b) = origin(program, v, byte);
            let cell = &mut state.file[(base + byte) as usize];
            if let Kind::Fill(slot) = inst.kind {
                *cell = state.scratch.get(&(slot + byte)).copied().unwrap_or(Held::Nothing);
                continue;
            }
            *cell = Held::Byte(r, b);
        }
    });
    if fault.is_none() && v.offset + inst.dst_span() > program.info(v.vreg).size.next_multiple_of(GRF) {
        fault = Some(format!("v{} is written beyond its end", v.vreg.0));
    }
    fault.map_or(Ok(()), Err)
}

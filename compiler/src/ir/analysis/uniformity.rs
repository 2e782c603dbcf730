//! Uniformity: which registers have the same value in all lanes whenever they are read.
//!
//! Such a register can be one scalar, and a branch on it does not diverge. The analysis begins with
//! everything uniform and removes registers until nothing changes:
//!
//! - sources of divergence: local ids, lane ids, private memory, results of atomics;
//! - registers computed from divergent ones;
//! - temporal divergence: a register that is written while lanes are parked that will read its previous value
//!   ([`Parking`]): values merged at joins of divergent paths, and values of a loop that are read after it by
//!   lanes that left it in different iterations.
//!
//! A load with a uniform address is uniform in all address spaces but the private one. The result is valid
//! for the current layout.

use super::liveness::Liveness;
use super::parking::Parking;
use crate::ir::{Function, Instruction, Op, Reg};
use fixedbitset::FixedBitSet;

/// The set of uniform registers of a function in per-lane form.
pub fn uniform_registers(function: &Function) -> FixedBitSet {
    let count = function.registers.len();
    let cfg = function.cfg();
    let liveness = Liveness::new(function, &cfg);
    let mut scratch = function.clone();
    let mut uniform = FixedBitSet::with_capacity(count);
    uniform.insert_range(..);
    loop {
        for (index, info) in scratch.registers.iter_mut().enumerate() {
            info.uniform = uniform.contains(index);
        }
        let parking = Parking::new(&scratch, &cfg);
        let before = uniform.count_ones(..);
        for &block in &function.layout {
            if parking.is_convergent(block) {
                continue;
            }
            let kept = parking.kept(block, &liveness);
            for &dst in function.block(block).instructions.iter().flat_map(|i| &i.dsts) {
                if liveness.crossing.contains(&kept, dst) {
                    uniform.set(dst.0 as usize, false);
                }
            }
        }
        remove_dependent(function, &mut uniform);
        if uniform.count_ones(..) == before {
            return uniform;
        }
    }
}

/// The registers that are uniform by data dependence alone: a superset of [`uniform_registers`], at a
/// fraction of the cost.
pub fn uniform_by_data(function: &Function) -> FixedBitSet {
    let mut uniform = FixedBitSet::with_capacity(function.registers.len());
    uniform.insert_range(..);
    remove_dependent(function, &mut uniform);
    uniform
}

/// Removes registers that are computed from divergent ones.
fn remove_dependent(function: &Function, uniform: &mut FixedBitSet) {
    let mut readers: Vec<Vec<&[Reg]>> = vec![Vec::new(); function.registers.len()];
    let mut work = Vec::new();
    for instruction in function.instructions() {
        if !instruction.op.signature().uniform {
            for dst in &instruction.dsts {
                uniform.set(dst.0 as usize, false);
            }
        }
        for src in decisive_sources(instruction) {
            readers[src.0 as usize].push(&instruction.dsts);
        }
        // One message writes all destinations of a load: as scalars or as vectors.
        if instruction.dsts.len() > 1 && !matches!(instruction.op, Op::Undefined) {
            for dst in &instruction.dsts {
                readers[dst.0 as usize].push(&instruction.dsts);
            }
        }
    }
    work.extend((0..function.registers.len()).filter(|&r| !uniform.contains(r)));
    while let Some(reg) = work.pop() {
        for dst in readers[reg].iter().copied().flatten() {
            if uniform.contains(dst.0 as usize) {
                uniform.set(dst.0 as usize, false);
                work.push(dst.0 as usize);
            }
        }
    }
}

/// The sources that must be uniform for the results to be: all, except those that are reduced across lanes.
pub fn decisive_sources(instruction: &Instruction) -> impl Iterator<Item = &Reg> {
    let chosen = instruction.op.signature().decisive;
    let decides = move |index: &usize| chosen.is_none_or(|chosen| chosen.contains(index));
    instruction.srcs.iter().enumerate().filter(move |(index, _)| decides(index)).map(|(_, src)| src)
}

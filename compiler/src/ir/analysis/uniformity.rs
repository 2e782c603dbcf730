//! Which registers hold the same value in all lanes whenever they are read.
//!
//! Such a register can be one scalar, and a branch on it does not part lanes. The analysis begins with
//! everything uniform and takes back what is not, until nothing changes:
//!
//! - what differs by nature: local ids, lane numbers, private memory, results of atomics;
//! - what is computed from that;
//! - a register that is written while lanes are parked that will read its former value
//!   ([`Parking`]): values merged where lanes of different paths meet, and values of a loop read
//!   after it by lanes that left it in different rounds.
//!
//! A load from one address by all active lanes gives one value in all memories but the private one, as it is
//! one access. The answer holds for the layout of the blocks at that time.

use super::cfg::Cfg;
use super::liveness::Liveness;
use super::parking::Parking;
use crate::ir::{Function, Instruction, Op, Reg};
use fixedbitset::FixedBitSet;

/// The set of uniform registers of a function in per-lane form.
pub fn uniform_registers(function: &Function) -> FixedBitSet {
    let count = function.registers.len();
    let cfg = Cfg::new(function);
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
        spread(function, &mut uniform);
        if uniform.count_ones(..) == before {
            return uniform;
        }
    }
}

/// The registers that are computed from what is uniform alone, whatever lanes do: at least those of
/// [`uniform_registers`], at a small part of the cost.
pub fn uniform_by_data(function: &Function) -> FixedBitSet {
    let mut uniform = FixedBitSet::with_capacity(function.registers.len());
    uniform.insert_range(..);
    spread(function, &mut uniform);
    uniform
}

/// Takes back what is computed from registers that are not uniform.
fn spread(function: &Function, uniform: &mut FixedBitSet) {
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

/// The sources that must be the same in all lanes for the results to be: all, but for what is put together of
/// all lanes.
pub fn decisive_sources(instruction: &Instruction) -> impl Iterator<Item = &Reg> {
    let chosen = match instruction.op {
        Op::CrossLane(op) => Some(op.decisive_sources()),
        _ => None,
    };
    let decides = move |index: &usize| chosen.is_none_or(|chosen| chosen.contains(index));
    instruction.srcs.iter().enumerate().filter(move |(index, _)| decides(index)).map(|(_, src)| src)
}

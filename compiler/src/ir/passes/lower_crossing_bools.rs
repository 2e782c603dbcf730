//! Lowers truth values that are live across blocks to words: there are few flag registers, and a masked write
//! keeps the words of inactive lanes, but not their flag bits.

use crate::ir::analysis::liveness::Liveness;
use crate::ir::{Condition, Family, Function, Instruction, Op, Reg, Type};

/// Gives every Bool that is live-in at a block a Word with 1 for true and 0 for false: written after the last
/// write of the Bool in a block where it is live-out, read back before the first read in a block where it is
/// live-in.
pub fn lower_crossing_bools(function: &mut Function) {
    let cfg = function.cfg();
    let liveness = Liveness::new(function, &cfg);
    let mut crossing = liveness.crossing.empty_set();
    for &block in &function.layout {
        crossing.union_with(liveness.live_in(block));
    }
    let bools: Vec<Reg> = liveness
        .crossing
        .registers(&crossing)
        .filter(|&reg| function.register(reg).family == Family::Bool)
        .collect();
    let mut words = vec![None; function.registers.len()];
    for &reg in &bools {
        words[reg.0 as usize] = Some(function.new_register(Family::Word));
    }
    let word_of = |reg: Reg| words[reg.0 as usize];
    for block in function.layout.clone() {
        let old = std::mem::take(&mut function.block_mut(block).instructions);
        let mut new = Vec::with_capacity(old.len());
        // Crossing Bools that hold their value in this block: written here or read back.
        let mut present: Vec<Reg> = Vec::new();
        let last_writes = last_writes(&old, |reg| word_of(reg).is_some());
        for (index, instruction) in old.into_iter().enumerate() {
            let reads: Vec<Reg> = instruction.reads().collect();
            for reg in reads {
                let Some(word) = word_of(reg) else { continue };
                if !present.contains(&reg) {
                    present.push(reg);
                    let zero = immediate(function, &mut new, 0);
                    new.push(Instruction::new(
                        Op::Compare(Condition::NotEqual, Type::U16),
                        [reg],
                        [word, zero],
                    ));
                }
            }
            let (dsts, location) = (instruction.dsts.clone(), instruction.location);
            new.push(instruction);
            let first = new.len();
            for reg in dsts {
                let Some(word) = word_of(reg) else { continue };
                if !present.contains(&reg) {
                    present.push(reg);
                }
                if last_writes.contains(&(index, reg)) && liveness.is_live_out(block, reg) {
                    let one = immediate(function, &mut new, 1);
                    let zero = immediate(function, &mut new, 0);
                    new.push(Instruction::new(Op::Select(Type::U16), [word], [reg, one, zero]));
                }
            }
            new[first..].iter_mut().for_each(|added| added.location = location);
        }
        function.block_mut(block).instructions = new;
    }
}

/// The last instruction of a block that writes each of the `wanted` registers.
fn last_writes(instructions: &[Instruction], wanted: impl Fn(Reg) -> bool) -> Vec<(usize, Reg)> {
    let mut writes: Vec<(usize, Reg)> = Vec::new();
    for (index, instruction) in instructions.iter().enumerate().rev() {
        for &dst in instruction.dsts.iter().filter(|&&dst| wanted(dst)) {
            if !writes.iter().any(|&(_, reg)| reg == dst) {
                writes.push((index, dst));
            }
        }
    }
    writes
}

fn immediate(function: &mut Function, instructions: &mut Vec<Instruction>, bits: u64) -> Reg {
    let reg = function.new_register(Family::Word);
    instructions.push(Instruction::new(Op::Immediate { ty: Type::U16, bits }, [reg], []));
    reg
}

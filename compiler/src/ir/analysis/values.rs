//! Def-use chains: which instructions write and read each register.
//!
//! Registers may be written more than once; [`Values::single_write`] tells whether one is a single value. The
//! chains are two flat arrays each, built in two passes over the code.

use crate::ir::{BlockId, Function, Instruction, Op, Reg};

/// The location of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstructionLocation {
    /// Block.
    pub block: BlockId,
    /// Index in the block.
    pub index: u32,
}

impl InstructionLocation {
    /// The instruction there.
    pub fn instruction(self, function: &Function) -> &Instruction {
        &function.block(self.block).instructions[self.index as usize]
    }
}

/// For each register a list of instructions, in layout order.
#[derive(Clone, Debug)]
struct Chains {
    /// The beginning of each register's list, and the end of the last.
    begins: Vec<u32>,
    places: Vec<InstructionLocation>,
}

impl Chains {
    fn new(function: &Function, registers: impl Fn(&Instruction, &mut dyn FnMut(Reg))) -> Chains {
        let mut begins = vec![0u32; function.registers.len() + 1];
        for instruction in function.instructions() {
            registers(instruction, &mut |reg| begins[reg.0 as usize + 1] += 1);
        }
        for index in 1..begins.len() {
            begins[index] += begins[index - 1];
        }
        let total = begins.last().copied().unwrap_or(0) as usize;
        let mut places = vec![InstructionLocation { block: BlockId(0), index: 0 }; total];
        let mut next = begins.clone();
        for (block, instructions) in function.blocks_in_layout() {
            for (index, instruction) in instructions.instructions.iter().enumerate() {
                registers(instruction, &mut |reg| {
                    let slot = &mut next[reg.0 as usize];
                    places[*slot as usize] = InstructionLocation { block, index: index as u32 };
                    *slot += 1;
                });
            }
        }
        Chains { begins, places }
    }

    fn of(&self, reg: Reg) -> &[InstructionLocation] {
        let index = reg.0 as usize;
        &self.places[self.begins[index] as usize..self.begins[index + 1] as usize]
    }
}

/// Writes and reads of all registers of a function.
#[derive(Clone, Debug)]
pub struct Values {
    writes: Chains,
    reads: Chains,
}

impl Values {
    /// O(instructions + registers).
    pub fn new(function: &Function) -> Values {
        Values {
            writes: Chains::new(function, |i, found| i.dsts.iter().for_each(|&reg| found(reg))),
            reads: Chains::new(function, |i, found| i.reads().for_each(found)),
        }
    }

    /// Instructions that write the register, in layout order.
    pub fn writes(&self, reg: Reg) -> &[InstructionLocation] {
        self.writes.of(reg)
    }

    /// Instructions that read the register, in layout order, with an entry for each operand.
    pub fn reads(&self, reg: Reg) -> &[InstructionLocation] {
        self.reads.of(reg)
    }

    /// The only write of a register that is written once.
    pub fn single_write(&self, reg: Reg) -> Option<InstructionLocation> {
        match self.writes(reg) {
            [place] => Some(*place),
            _ => None,
        }
    }

    /// By register: the constant that it holds wherever it is read.
    pub fn constants(&self, function: &Function) -> Vec<Option<u64>> {
        let constant = |reg| match self.single_write(reg)?.instruction(function).op {
            Op::Immediate { bits, .. } => Some(bits),
            _ => None,
        };
        (0..function.registers.len() as u32).map(|reg| constant(Reg(reg))).collect()
    }
}

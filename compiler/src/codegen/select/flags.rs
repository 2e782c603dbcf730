//! Truth values in flags.
//!
//! There are four flags of 16 lanes, or two of 32. The live ranges of truth values are within one block of
//! the IR, so flags are allocated during selection; a flag that is evicted is saved in a scalar (its *home*).
//!
//! Flag bits of lanes that were not dispatched are always zero: flags start as zero, comparisons do not write
//! such bits, and logic on whole flags cannot set them.

use super::{Failure, Selector};
use crate::codegen::operand::{Operation, Val};
use crate::ir::Reg;
use gencl_isa::{Arf, Condition, Flag, Opcode, Type};
use rustc_hash::FxHashMap;

/// Number of 16-bit flags. With 32 lanes each pair is one flag.
const FLAGS: usize = 4;

/// The truth values of one block.
#[derive(Default)]
pub struct Flags {
    /// The contents of each flag.
    slots: [Option<Owner>; FLAGS],
    /// Flags that the current instruction uses and that cannot be evicted.
    locked: [bool; FLAGS],
    /// Truth values that have a valid copy in a scalar.
    homes: FxHashMap<Reg, Val>,
    /// Positions in the block where a truth value is read, ascending.
    reads: FxHashMap<Reg, Vec<usize>>,
    /// The position of the instruction being selected.
    position: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Value(Reg),
    Temporary,
}

fn flag(slot: usize) -> Flag {
    Flag { register: slot as u8 / 2, subregister: slot as u8 % 2 }
}

impl Flags {
    /// Records that a truth value is read at a position. Positions must be in ascending order.
    pub fn note_read(&mut self, reg: Reg, position: usize) {
        self.reads.entry(reg).or_default().push(position);
    }

    fn next_read(&self, reg: Reg, from: usize) -> Option<usize> {
        let reads = self.reads.get(&reg)?;
        reads.get(reads.partition_point(|p| *p < from)).copied()
    }

    /// Begins the selection of the instruction at a position, which unlocks all flags.
    pub fn at(&mut self, position: usize) {
        self.position = position;
        self.locked = [false; FLAGS];
    }

    fn slot(&self, reg: Reg) -> Option<usize> {
        self.slots.iter().position(|s| *s == Some(Owner::Value(reg)))
    }
}

impl Selector<'_> {
    /// Bits of a flag in a scalar: one for each lane.
    pub fn flag_type(&self) -> Type {
        if self.b.simd == 32 { Type::UD } else { Type::UW }
    }

    /// A flag as an operand of scalar instructions.
    pub fn flag_value(&self, flag: Flag) -> Val {
        Val::arf(Arf::Flag(flag.register), flag.subregister * 2, self.flag_type())
    }

    /// A flag with a zero for each lane.
    pub fn no_lanes(&self) -> Val {
        Val::imm(0, self.flag_type())
    }

    /// The flags that can be allocated.
    fn flag_slots(&self) -> impl Iterator<Item = usize> + use<> {
        (0..FLAGS).step_by(if self.b.simd == 32 { 2 } else { 1 })
    }

    fn free_flag(&mut self) -> Result<usize, Failure> {
        let flags = &self.flags;
        let usable = |i: &usize| !flags.locked[*i];
        let mut best: Option<(usize, usize)> = None;
        for i in self.flag_slots().filter(usable) {
            let distance = match flags.slots[i] {
                None => usize::MAX,
                Some(Owner::Temporary) => continue,
                Some(Owner::Value(reg)) => flags.next_read(reg, flags.position).unwrap_or(usize::MAX),
            };
            if best.is_none_or(|(d, _)| distance > d) {
                best = Some((distance, i));
            }
        }
        let (distance, slot) =
            best.ok_or_else(|| Failure::internal("all flags are in use by one instruction"))?;
        if let (Some(Owner::Value(reg)), true) = (flags.slots[slot], distance != usize::MAX) {
            self.save_flag(reg, slot);
        }
        self.flags.slots[slot] = None;
        Ok(slot)
    }

    /// Copies a truth value to its home, if that does not have it.
    fn save_flag(&mut self, reg: Reg, slot: usize) {
        if self.flags.homes.contains_key(&reg) {
            return;
        }
        let home = self.b.scalar(self.flag_type());
        self.b.mov(home, self.flag_value(flag(slot)));
        self.flags.homes.insert(reg, home.val());
    }

    fn set_flag(&mut self, slot: usize, value: Val) {
        let f = flag(slot);
        let ty = self.flag_type();
        self.b.scalar_arf(Opcode::Mov, Arf::Flag(f.register), f.subregister * 2, ty, &[value]);
    }

    /// The flag with a truth value, locked until the next instruction.
    pub fn read_flag(&mut self, reg: Reg) -> Result<Flag, Failure> {
        if let Some(slot) = self.flags.slot(reg) {
            self.flags.locked[slot] = true;
            return Ok(flag(slot));
        }
        let value = self.truth(reg)?;
        let slot = self.free_flag()?;
        self.set_flag(slot, value);
        self.flags.slots[slot] =
            Some(if self.constants[reg.0 as usize].is_some() { Owner::Temporary } else { Owner::Value(reg) });
        self.flags.locked[slot] = true;
        if self.constants[reg.0 as usize].is_some() {
            self.temporaries.push(slot);
        }
        Ok(flag(slot))
    }

    /// A truth value as a scalar, wherever it is.
    pub fn truth(&mut self, reg: Reg) -> Result<Val, Failure> {
        if let Some(bits) = self.constants[reg.0 as usize] {
            return Ok(if bits & 1 != 0 { self.dispatch_mask()? } else { self.no_lanes() });
        }
        if let Some(slot) = self.flags.slot(reg) {
            return Ok(self.flag_value(flag(slot)));
        }
        match self.flags.homes.get(&reg) {
            Some(home) => Ok(*home),
            None => Err(Failure::internal(format!("b{} is read before it is written", reg.0))),
        }
    }

    /// The flag for the result of the current instruction, with the previous value for lanes that are not
    /// written. Call [`Selector::flag_written`] afterwards.
    pub fn write_flag(&mut self, reg: Reg) -> Result<Flag, Failure> {
        if let Some(slot) = self.flags.slot(reg) {
            self.flags.locked[slot] = true;
            return Ok(flag(slot));
        }
        let home = self.flags.homes.get(&reg).copied();
        let slot = self.free_flag()?;
        if let Some(home) = home {
            self.set_flag(slot, home);
        }
        self.flags.slots[slot] = Some(Owner::Value(reg));
        self.flags.locked[slot] = true;
        Ok(flag(slot))
    }

    /// Marks a truth value as written to its flag, which makes its home stale.
    pub fn flag_written(&mut self, reg: Reg) {
        self.flags.homes.remove(&reg);
    }

    /// A flag for use within one instruction's expansion.
    pub fn temporary_flag(&mut self) -> Result<Flag, Failure> {
        let slot = self.free_flag()?;
        self.flags.slots[slot] = Some(Owner::Temporary);
        self.flags.locked[slot] = true;
        self.temporaries.push(slot);
        Ok(flag(slot))
    }

    /// Frees the temporary flags of the instruction just selected.
    pub fn release_flags(&mut self) {
        for slot in std::mem::take(&mut self.temporaries) {
            self.flags.slots[slot] = None;
        }
    }

    /// Comparison into a flag under the current mask.
    pub fn compare_into(&mut self, f: Flag, condition: Condition, a: Val, b: Val) {
        let operation = Operation { condition: Some((condition, f)), ..Operation::new(Opcode::Cmp) };
        self.b.compare(operation, &[a, b]);
    }
}

//! Branches.

use super::operand::{Slot, destination, source, type_beside_immediate};
use crate::codec::Codec;
use crate::codes::{self, File};
use crate::field::Field;
use crate::opcode::{BranchLayout, Implied};
use crate::{
    AccessMode, Arf, Branch, Destination, Extra, Instruction, Operand, Region, Register, Source, Type,
};

/// Encodes an implied destination.
fn implied_destination<C: Codec>(c: &mut C, mode: AccessMode, implied: &Implied) -> Result<(), C::Error> {
    if !C::ENCODES {
        return Ok(());
    }
    let mut d = Destination { hstride: implied.hstride, ..Destination::new(implied.register, 0, implied.ty) };
    destination(c, mode, &mut d)
}

/// Encodes an implied source 0.
fn implied_source<C: Codec>(c: &mut C, mode: AccessMode, implied: &Implied) -> Result<(), C::Error> {
    if !C::ENCODES {
        return Ok(());
    }
    let region = match mode {
        AccessMode::Align1 => implied.region,
        // The vertical stride of a row of four.
        AccessMode::Align16 => Region { vstride: implied.region.vstride.min(4), ..implied.region },
    };
    let s = Source::new(implied.register, 0, region, implied.ty);
    source(c, Slot::Source0, mode, false, &mut Operand::Register(s))
}

fn no_operands<C: Codec>(c: &C, i: &Instruction) -> Result<(), C::Error> {
    c.require(i.sources == [Operand::None; 3], "a branch with offsets has no operands")
}

fn branch_of<C: Codec>(c: &C, i: &Instruction) -> Result<Branch, C::Error> {
    match i.extra {
        Extra::Branch(branch) => Ok(branch),
        _ => {
            c.require(!C::ENCODES, "a branch without its offsets")?;
            Ok(Branch::default())
        }
    }
}

/// An offset in bytes; the field is in units of `unit`.
fn offset<C: Codec>(c: &mut C, field: Field, unit: i32, bytes: &mut i32) -> Result<(), C::Error> {
    c.require(*bytes % unit == 0, "a branch offset is not aligned")?;
    let steps = *bytes / unit;
    let width = field.info().width(c.generation());
    let shift = 32u32.saturating_sub(width);
    c.require((steps << shift) >> shift == steps, "a branch offset is too large")?;
    let mut bits = u64::from((steps as u32) << shift >> shift);
    c.number(field, &mut bits)?;
    *bytes = (((bits as u32) << shift) as i32 >> shift).wrapping_mul(unit);
    Ok(())
}

/// File and type of the source whose immediate the offsets are.
fn offset_immediate<C: Codec>(c: &mut C, slot: Slot, ty: Type) -> Result<(), C::Error> {
    if !C::ENCODES {
        return Ok(());
    }
    source(c, slot, AccessMode::Align1, false, &mut Operand::Immediate { bits: 0, ty })
}

/// `if`, `else`, `endif`, `while`, `break`, `cont`, `halt`, `goto`, `join`.
pub(super) fn offsets<C: Codec>(
    c: &mut C,
    layout: &BranchLayout,
    i: &mut Instruction,
) -> Result<(), C::Error> {
    no_operands(c, i)?;
    let mut branch = branch_of(c, i)?;
    let generation = c.generation();
    let unit = generation.capabilities().branch_unit;
    implied_destination(c, i.access_mode, layout.destination(generation))?;
    let has_uip = layout.has_uip(generation);
    if generation.capabilities().wide_branch_offsets {
        offset_immediate(c, Slot::Source0, Type::D)?;
        offset(c, Field::JipWide, unit, &mut branch.jip)?;
        if has_uip {
            offset(c, Field::UipWide, unit, &mut branch.uip)?;
            // Otherwise the offset would overlap the type of source 1.
        } else {
            type_beside_immediate(c, Type::D)?;
        }
    } else {
        match layout.source {
            Some(source) => {
                implied_source(c, i.access_mode, &source)?;
                offset_immediate(c, Slot::Source1, layout.immediate)?;
            }
            None => offset_immediate(c, Slot::Source0, layout.immediate)?,
        }
        offset(c, Field::JipNarrow, unit, &mut branch.jip)?;
        if has_uip {
            offset(c, Field::UipNarrow, unit, &mut branch.uip)?;
        }
    }
    c.require(has_uip || branch.uip == 0, "the branch has no UIP")?;
    i.extra = Extra::Branch(branch);
    Ok(())
}

/// `brd`, `brc`: offsets or a register.
pub(super) fn register_branch<C: Codec>(
    c: &mut C,
    layout: &BranchLayout,
    i: &mut Instruction,
) -> Result<(), C::Error> {
    let mut file = file_of(&i.sources[0]);
    c.coded(Field::Src0File, codes::FILES, &mut file)?;
    if file == File::Immediate {
        return offsets(c, layout, i);
    }
    c.require(matches!(i.extra, Extra::None), "a branch to a register has no offsets")?;
    implied_destination(c, i.access_mode, layout.destination(c.generation()))?;
    source(c, Slot::Source0, i.access_mode, false, &mut i.sources[0])
}

/// The register file of a target in a register, or immediate for offsets.
fn file_of(operand: &Operand) -> File {
    match operand {
        Operand::Register(s) => s.register.file(),
        Operand::None | Operand::Immediate { .. } => File::Immediate,
    }
}

/// The instruction pointer, the implied destination and source 0 of `jmpi`.
const IP: Implied =
    Implied { register: Register::Arf(Arf::Ip), region: Region::SCALAR, ty: Type::UD, hstride: 1 };

/// `jmpi`: destination and source 0 are the instruction pointer.
pub(super) fn jump<C: Codec>(c: &mut C, i: &mut Instruction) -> Result<(), C::Error> {
    implied_destination(c, i.access_mode, &IP)?;
    implied_source(c, i.access_mode, &IP)?;
    offset_or_register(c, i)
}

/// The null register with all other fields zero, the implied source 0 of `call`.
const NULL: Implied = Implied { register: Register::NULL, region: Region::SCALAR, ty: Type::UD, hstride: 1 };

/// `call`, `calla`: the destination gets the return address.
pub(super) fn call<C: Codec>(c: &mut C, i: &mut Instruction) -> Result<(), C::Error> {
    destination(c, i.access_mode, &mut i.destination)?;
    implied_source(c, i.access_mode, &NULL)?;
    offset_or_register(c, i)
}

/// Source 1: an offset of 32 bits, or a register that contains it.
fn offset_or_register<C: Codec>(c: &mut C, i: &mut Instruction) -> Result<(), C::Error> {
    let mut file = file_of(&i.sources[0]);
    c.coded(Field::Src1File, codes::FILES, &mut file)?;
    if file != File::Immediate {
        c.require(matches!(i.extra, Extra::None), "a branch to a register has no offsets")?;
        return source(c, Slot::Source1, i.access_mode, false, &mut i.sources[0]);
    }
    no_operands(c, i)?;
    let mut branch = branch_of(c, i)?;
    c.require(branch.uip == 0, "the branch has no UIP")?;
    offset_immediate(c, Slot::Source1, Type::D)?;
    let unit = c.generation().capabilities().jump_unit;
    offset(c, Field::Immediate32, unit, &mut branch.jip)?;
    i.extra = Extra::Branch(branch);
    Ok(())
}

/// `ret`: source 0 is the result of `call`.
pub(super) fn ret<C: Codec>(c: &mut C, i: &mut Instruction) -> Result<(), C::Error> {
    implied_destination(c, i.access_mode, &NULL)?;
    source(c, Slot::Source0, i.access_mode, false, &mut i.sources[0])
}

//! Doubles on Ivy Bridge, which occupy two channels each.
//!
//! "Each DF operand uses a pair of channels": execution size, width and strides count floats (manual, Volume
//! 4 Part 3, "EU Changes by Processor Generation" and "Special Requirements for Handling Double Precision
//! Data Types"). Masks and flags have one bit for each double, as Mesa's nibbles say
//! (`brw_fs_generator.cpp`). Conversions to doubles read every other channel of their source. Conversions
//! from doubles write every other channel of their destination; the hardware also writes garbage between,
//! which is not simulated.

use gencl_isa::{AccessMode, Format, Instruction, Operand, Region, Source, Type};

use crate::fault::Fault;

/// Rewrites an instruction so that each double counts as one channel.
///
/// # Errors
/// A region that splits pairs of channels.
pub fn as_channels(instruction: &Instruction) -> Result<Instruction, Fault> {
    let types = instruction.sources.iter().filter_map(Operand::ty).chain([instruction.destination.ty]);
    let format = instruction.opcode.info().format;
    if !matches!(format, Format::Basic | Format::Ternary | Format::Math)
        || !types.into_iter().any(|ty| ty == Type::DF)
    {
        return Ok(*instruction);
    }
    let mut i = *instruction;
    if !i.exec_size.is_multiple_of(2) {
        return Err(Fault::illegal("an odd execution size: each double counts as two channels"));
    }
    i.exec_size /= 2;
    if i.access_mode == AccessMode::Align16 {
        return Ok(i);
    }
    for operand in &mut i.sources {
        if let Operand::Register(source) = operand {
            source.region = region(source)?;
        }
    }
    let d = &mut i.destination;
    if d.ty == Type::DF && d.hstride != 1 {
        return Err(Fault::illegal("a destination that splits the halves of doubles"));
    }
    if d.ty != Type::DF {
        d.hstride *= 2;
    }
    Ok(i)
}

/// The region of every other channel.
fn region(source: &Source) -> Result<Region, Fault> {
    let Region { vstride, width, hstride } = source.region;
    if vstride == Region::VXH {
        return Err(Fault::unsupported("VxH regions of instructions with doubles"));
    }
    if source.ty == Type::DF {
        if hstride != 1 || width == 1 || !vstride.is_multiple_of(2) {
            return Err(Fault::illegal("a region that splits the halves of doubles"));
        }
        let step = if width == 2 { 0 } else { 1 };
        return Ok(Region::new(vstride / 2, width / 2, step));
    }
    Ok(match width {
        1 => Region::new(2 * vstride, 1, 0),
        2 => Region::new(vstride, 1, 0),
        _ => Region::new(vstride, width / 2, 2 * hstride),
    })
}

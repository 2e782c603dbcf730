//! The instruction formats, each described once as a walk over its fields.
//!
//! Source: "EU Instruction Formats" of the manuals for Ivy Bridge (Volume 4 Part 3), Haswell, Broadwell and
//! Skylake (Volume 7). Fields without information that must be set nevertheless (`Implied`, types next to
//! immediates) are those that Mesa's assembler emits.

mod branch;
mod operand;
mod send;

use crate::codec::Codec;
use crate::codes;
use crate::field::Field;
use crate::opcode::{Allows, Format, OpcodeInfo};
use crate::{
    AccessMode, Extra, Instruction, MathFunction, Operand, Predicate, Region, Register, Source, Type,
};
use operand::{Slot, destination, source, ternary};

pub(crate) use send::UNKNOWN as NO_MESSAGE;

/// All fields but the opcode.
pub(crate) fn instruction<C: Codec>(
    c: &mut C,
    info: &OpcodeInfo,
    i: &mut Instruction,
) -> Result<(), C::Error> {
    if info.format == Format::Bare {
        return Ok(());
    }
    header(c, info, i)?;
    match info.format {
        Format::Basic | Format::Math => basic(c, info, i),
        Format::Ternary => ternary(c, i),
        Format::Send => send::send(c, i),
        Format::SplitSend => send::split_send(c, i),
        Format::Branch(shape) => branch::offsets(c, &shape, i),
        Format::RegisterBranch(shape) => branch::register_branch(c, &shape, i),
        Format::Jump => branch::jump(c, i),
        Format::Call => branch::call(c, i),
        Format::Return => branch::ret(c, i),
        Format::Wait => wait(c, i),
        Format::Bare => Ok(()),
    }
}

/// The fields that all formats have.
fn header<C: Codec>(c: &mut C, info: &OpcodeInfo, i: &mut Instruction) -> Result<(), C::Error> {
    c.coded(Field::AccessMode, codes::ACCESS_MODES, &mut i.access_mode)?;
    c.flag(Field::NoDDClear, &mut i.no_dd_clear)?;
    c.flag(Field::NoDDCheck, &mut i.no_dd_check)?;
    channels(c, i)?;
    c.coded(Field::ThreadControl, codes::THREAD_CONTROLS, &mut i.thread_control)?;
    predicate(c, i)?;
    c.coded(Field::ExecSize, codes::EXEC_SIZES, &mut i.exec_size)?;
    function(c, info, i)?;
    if info.allows.contains(Allows::BRANCH_CONTROL) && Field::BranchControl.exists(c.generation()) {
        if let Extra::Branch(branch) = &mut i.extra {
            c.flag(Field::BranchControl, &mut branch.control)?;
        }
    } else if matches!(info.format, Format::Branch(_) | Format::RegisterBranch(_)) {
        // Intel's compiler sets the bit on some loops, where its disassembler does not see it.
        c.require(!i.accumulator_write, "a branch writes no accumulator")?;
    } else {
        c.flag(Field::AccumulatorWrite, &mut i.accumulator_write)?;
    }
    c.flag(Field::Debug, &mut i.debug)?;
    c.flag(Field::Saturate, &mut i.saturate)?;
    c.flag(Field::NoMask, &mut i.no_mask)?;
    let (register, subregister) = match info.format {
        Format::Ternary => (Field::TernaryFlagRegister, Field::TernaryFlagSubregister),
        // `dim`'s 64-bit immediate covers the flag fields of the generation that has it.
        _ if info.allows.contains(Allows::WIDE_IMMEDIATE) => return Ok(()),
        _ => (Field::FlagRegister, Field::FlagSubregister),
    };
    c.small(register, &mut i.flag.register)?;
    c.small(subregister, &mut i.flag.subregister)
}

/// Quarter and nibble control: the first channel.
fn channels<C: Codec>(c: &mut C, i: &mut Instruction) -> Result<(), C::Error> {
    c.require(i.channel_offset.is_multiple_of(4), "the first channel is a multiple of 4")?;
    let mut quarter = i.channel_offset / 8;
    let mut nibble = !i.channel_offset.is_multiple_of(8);
    c.small(Field::Quarter, &mut quarter)?;
    c.flag(Field::Nibble, &mut nibble)?;
    i.channel_offset = quarter.wrapping_mul(8).wrapping_add(if nibble { 4 } else { 0 });
    Ok(())
}

fn predicate<C: Codec>(c: &mut C, i: &mut Instruction) -> Result<(), C::Error> {
    let mut control = i.predicate.map(|p| p.control);
    let mut inverse = i.predicate.is_some_and(|p| p.inverse);
    c.coded(Field::PredicateControl, codes::predicates(i.access_mode), &mut control)?;
    c.flag(Field::PredicateInverse, &mut inverse)?;
    i.predicate = control.map(|control| Predicate { control, inverse });
    Ok(())
}

/// Bits 27:24: conditional modifier, math function, or shared function.
fn function<C: Codec>(c: &mut C, info: &OpcodeInfo, i: &mut Instruction) -> Result<(), C::Error> {
    match (info.format, &mut i.extra) {
        (Format::Math, extra) => {
            let mut function = match extra {
                Extra::Math(function) => *function,
                _ => {
                    c.require(!C::ENCODES, "math without a function")?;
                    MathFunction::Inv
                }
            };
            c.coded(Field::MathFunction, codes::MATH_FUNCTIONS, &mut function)?;
            *extra = Extra::Math(function);
            Ok(())
        }
        (Format::Send | Format::SplitSend, Extra::Send(send)) => {
            c.coded(Field::SharedFunction, codes::SHARED_FUNCTIONS, &mut send.target)
        }
        (Format::Send | Format::SplitSend, _) => c.require(false, "a message without its descriptor"),
        _ => c.coded(Field::Condition, codes::CONDITIONS, &mut i.condition),
    }
}

/// One or two sources.
fn basic<C: Codec>(c: &mut C, info: &OpcodeInfo, i: &mut Instruction) -> Result<(), C::Error> {
    destination(c, i.access_mode, &mut i.destination)?;
    let [source0, source1, source2] = &mut i.sources;
    c.require(*source2 == Operand::None, "too many sources")?;
    let wide = info.allows.contains(Allows::WIDE_IMMEDIATE);
    source(c, Slot::Source0, i.access_mode, wide, source0)?;
    if info.sources == 1 {
        c.require(*source1 == Operand::None, "too many sources")?;
        return match source0 {
            Operand::Immediate { ty, .. } => operand::type_beside_immediate(c, *ty),
            _ => Ok(()),
        };
    }
    if matches!(source0, Operand::Immediate { .. }) {
        // Of a function of one argument, in the place of source 1.
        let alone = matches!(i.extra, Extra::Math(function) if function.arguments() == 1);
        c.require(alone, "only the last source of an instruction can be an immediate")?;
        return c.require(*source1 == Operand::None, "too many sources");
    }
    if C::ENCODES && info.format == Format::Math && *source1 == Operand::None {
        // Functions of one argument have the null register as their second source.
        let ty = source0.ty().unwrap_or(Type::F);
        let null = Source::new(Register::NULL, 0, Region::new(8, 8, 1), ty);
        return source(c, Slot::Source1, i.access_mode, false, &mut Operand::Register(null));
    }
    source(c, Slot::Source1, i.access_mode, false, source1)
}

/// `wait`: source 0 is the destination's register, source 1 the null register.
fn wait<C: Codec>(c: &mut C, i: &mut Instruction) -> Result<(), C::Error> {
    destination(c, i.access_mode, &mut i.destination)?;
    if !C::ENCODES {
        return Ok(());
    }
    let d = &i.destination;
    let mut notification = Source::new(d.register, d.subregister, Region::SCALAR, d.ty);
    let mut null = Source::new(Register::NULL, 0, Region::new(8, 8, 1), Type::F);
    if i.access_mode == AccessMode::Align16 {
        notification.swizzle = swizzle_of_mask(d.writemask);
        null.region.vstride = 4;
    }
    source(c, Slot::Source0, i.access_mode, false, &mut Operand::Register(notification))?;
    source(c, Slot::Source1, i.access_mode, false, &mut Operand::Register(null))
}

/// The swizzle that reads the channels of a write mask; a channel that is not in the mask reads the nearest
/// preceding one that is, or the first.
fn swizzle_of_mask(mask: u8) -> u8 {
    let mut channel = mask.trailing_zeros().min(3) as u8;
    (0..4).fold(0, |swizzle, lane| {
        if mask >> lane & 1 != 0 {
            channel = lane;
        }
        swizzle | channel << (2 * lane)
    })
}

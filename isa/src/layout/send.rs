//! Layouts of messages.

use super::operand::{Slot, destination, source};
use crate::codec::Codec;
use crate::codes::{self, File};
use crate::field::Field;
use crate::{
    AccessMode, Arf, Descriptor, Extra, Instruction, Operand, Region, Register, Send, SharedFunction, Source,
    Type,
};

/// A message before its fields have been decoded.
pub(crate) const UNKNOWN: Send = Send {
    target: SharedFunction::Null,
    descriptor: Descriptor::Immediate(0),
    extended: Descriptor::Immediate(0),
    end_of_thread: false,
};

/// The address register as source 1 of a message, which contains the descriptor.
fn address_source(dword: u8) -> Source {
    Source::new(Register::Arf(Arf::Address), dword.wrapping_mul(4), Region::SCALAR, Type::UD)
}

fn message(i: &mut Instruction) -> &mut Send {
    if !matches!(i.extra, Extra::Send(_)) {
        i.extra = Extra::Send(UNKNOWN);
    }
    match &mut i.extra {
        Extra::Send(send) => send,
        _ => unreachable!("set above"),
    }
}

/// `send`, `sendc`.
pub(super) fn send<C: Codec>(c: &mut C, i: &mut Instruction) -> Result<(), C::Error> {
    destination(c, i.access_mode, &mut i.destination)?;
    source(c, Slot::Source0, i.access_mode, false, &mut i.sources[0])?;
    c.require(matches!(i.sources[0], Operand::Register(_)), "a message's payload is a register")?;
    c.require(i.sources[1] == Operand::None && i.sources[2] == Operand::None, "too many payloads")?;
    let send = message(i);
    let mut file = match send.descriptor {
        Descriptor::Immediate(_) => File::Immediate,
        Descriptor::Register(_) => File::Arf,
    };
    c.coded(Field::Src1File, codes::FILES, &mut file)?;
    if file == File::Immediate {
        c.constant(Field::Src1Type, 0)?;
        let mut bits = match send.descriptor {
            Descriptor::Immediate(bits) => u64::from(bits),
            Descriptor::Register(_) => 0,
        };
        c.number(Field::Descriptor, &mut bits)?;
        send.descriptor = Descriptor::Immediate(bits as u32);
    } else {
        let mut operand = match send.descriptor {
            Descriptor::Register(dword) => Operand::Register(address_source(dword)),
            Descriptor::Immediate(_) => Operand::None,
        };
        source(c, Slot::Source1, AccessMode::Align1, false, &mut operand)?;
        match operand {
            Operand::Register(Source { register: Register::Arf(Arf::Address), subregister, .. }) => {
                send.descriptor = Descriptor::Register(subregister / 4);
            }
            _ => c.require(false, "a message's descriptor is an immediate or in a0")?,
        }
    }
    // The high half of Gen9's extended descriptor overlaps the region and subregister of source 0, and is
    // treated as these: no message of these generations uses it.
    c.require(send.extended == Descriptor::Immediate(0), "only split sends have an extended descriptor")?;
    send.extended = Descriptor::Immediate(0);
    c.flag(Field::EndOfThread, &mut send.end_of_thread)
}

/// `sends`, `sendsc`.
pub(super) fn split_send<C: Codec>(c: &mut C, i: &mut Instruction) -> Result<(), C::Error> {
    c.require(i.access_mode == AccessMode::Align1, "split sends are align1")?;
    let d = &mut i.destination;
    c.require(d.indirect.is_none(), "split sends with indirect operands are not supported")?;
    let mut file = d.register.file();
    c.coded(Field::SplitDstFile, codes::SPLIT_FILES, &mut file)?;
    c.coded(Field::SplitDstType, codes::REGISTER_TYPES, &mut d.ty)?;
    let mut indirect = false;
    c.flag(Field::DstMode, &mut indirect)?;
    c.flag(Field::Src0Mode, &mut indirect)?;
    c.require(!indirect, "split sends with indirect operands are not supported")?;
    c.register(Field::DstRegister, file, &mut d.register)?;
    c.scaled(Field::DstSub16, 16, &mut d.subregister)?;

    let mut payload = payload(c, &i.sources[0])?;
    c.register(Field::Src0Register, File::Grf, &mut payload.register)?;
    c.scaled(Field::Src0Sub16, 16, &mut payload.subregister)?;
    i.sources[0] = Operand::Register(payload);

    let mut second = self::payload(c, &i.sources[1])?;
    let mut file = second.register.file();
    c.coded(Field::SplitSrc1File, codes::SPLIT_FILES, &mut file)?;
    c.register(Field::SplitSrc1Register, file, &mut second.register)?;
    c.require(second.subregister == 0, "a split send's second payload starts a register")?;
    i.sources[1] = Operand::Register(second);
    c.require(i.sources[2] == Operand::None, "too many payloads")?;
    split_descriptors(c, message(i))
}

/// A payload of a split send, or one to be decoded. It has neither region nor type; those of a decoded
/// instruction are fixed.
fn payload<C: Codec>(c: &C, operand: &Operand) -> Result<Source, C::Error> {
    let fixed = |register, subregister| Source::new(register, subregister, Region::new(8, 8, 1), Type::UD);
    match operand {
        Operand::Register(s) => {
            c.require(s.indirect.is_none(), "split sends with indirect operands are not supported")?;
            Ok(fixed(s.register, s.subregister))
        }
        _ => {
            c.require(!C::ENCODES, "a message's payload is a register")?;
            Ok(fixed(Register::NULL, 0))
        }
    }
}

fn split_descriptors<C: Codec>(c: &mut C, send: &mut Send) -> Result<(), C::Error> {
    let mut in_register = matches!(send.descriptor, Descriptor::Register(_));
    c.flag(Field::SplitDescriptorInRegister, &mut in_register)?;
    if in_register {
        let dword = if let Descriptor::Register(dword) = send.descriptor { dword } else { 0 };
        c.require(dword == 0, "a split send's descriptor is in a0.0")?;
        send.descriptor = Descriptor::Register(0);
    } else {
        let bits = if let Descriptor::Immediate(bits) = send.descriptor { bits } else { 0 };
        let mut bits = u64::from(bits);
        c.number(Field::Descriptor, &mut bits)?;
        send.descriptor = Descriptor::Immediate(bits as u32);
    }
    let mut in_register = matches!(send.extended, Descriptor::Register(_));
    c.flag(Field::SplitExtendedInRegister, &mut in_register)?;
    if in_register {
        let mut dword = if let Descriptor::Register(dword) = send.extended { dword } else { 0 };
        c.small(Field::SplitExtendedRegister, &mut dword)?;
        send.extended = Descriptor::Register(dword);
    } else {
        let bits = if let Descriptor::Immediate(bits) = send.extended { bits } else { 0 };
        c.require(bits & 0xfc3f == 0, "bits 15:10 and 5:0 of an extended descriptor have no place")?;
        let mut high = u64::from(bits >> 16);
        let mut low = u64::from(bits >> 6 & 0xf);
        c.number(Field::SplitExtendedHigh, &mut high)?;
        c.number(Field::SplitExtendedLow, &mut low)?;
        send.extended = Descriptor::Immediate((high << 16 | low << 6) as u32);
    }
    c.flag(Field::EndOfThread, &mut send.end_of_thread)
}

//! Message descriptors, as tables of message types.

use gencl_isa::SharedFunction;

use super::image::{MediaBlock, RowOverride, Sample, SampleKind, Slots, Typed, TypedAtomic};
use super::{
    Atomic, AtomicOperation, Block, BlockAddress, Element, Kind, Scattered, Scratch, Space, Untyped,
};
use crate::fault::Fault;

/// The sampler's `cache_flush` among its SIMD32/64 messages (Skylake, Volume 7, "Sampling Engine", "Message Types"; IGA's
/// `MessageDecoderOther.cpp`). With other SIMD modes the number is `ld2dss`.
const CACHE_FLUSH: u32 = 31;

/// What a descriptor asks of a shared function.
pub fn decode(target: SharedFunction, descriptor: u32, end_of_thread: bool) -> Result<Kind, Fault> {
    let fields = Fields(descriptor);
    let kind = match target {
        SharedFunction::DataCache if fields.bit(18) => Some(scratch(fields)),
        SharedFunction::DataCache => data_port_0(fields),
        SharedFunction::DataCache1 => data_port_1(fields),
        SharedFunction::ConstantCache => constant_cache(fields),
        SharedFunction::SamplerCache => sampler_cache(fields),
        SharedFunction::Sampler => sample(fields),
        SharedFunction::Gateway => (fields.bits(0, 3) == 4).then_some(Kind::Barrier),
        SharedFunction::ThreadSpawner if end_of_thread => Some(Kind::End),
        _ => None,
    };
    kind.ok_or_else(|| Fault::unsupported(describe(target, fields)))
}

/// A message that is not simulated, with what is needed to find it in the manual.
fn describe(target: SharedFunction, fields: Fields) -> String {
    if target == SharedFunction::Sampler {
        return format!(
            "message to the sampler: type {:#x}, SIMD mode {}, descriptor {:#010x}",
            fields.bits(12, 5),
            fields.bits(17, 2) | fields.bits(29, 1) << 2,
            fields.0
        );
    }
    format!(
        "message to {target:?}: type {:#x}, control {:#x}, surface {}, descriptor {:#010x}",
        fields.message_type(),
        fields.bits(8, 6),
        fields.bits(0, 8),
        fields.0
    )
}

#[derive(Clone, Copy)]
struct Fields(u32);

impl Fields {
    fn bits(self, low: u32, count: u32) -> u32 {
        self.0 >> low & ((1 << count) - 1)
    }

    fn bit(self, bit: u32) -> bool {
        self.bits(bit, 1) != 0
    }

    fn message_type(self) -> u32 {
        self.bits(14, 5)
    }

    /// The surface that the binding table index means.
    fn surface(self) -> Space {
        Space::of_index(self.bits(0, 8))
    }

    /// `MDC_SM2`: 0 is SIMD8, 1 is SIMD16.
    fn simd(self, bit: u32) -> usize {
        if self.bit(bit) { 16 } else { 8 }
    }
}

/// The scratch block messages: bit 17 write, 16 dword mode, 13:12 registers, 11:0 offset in registers.
fn scratch(fields: Fields) -> Kind {
    Kind::Scratch(Scratch {
        write: fields.bit(17),
        per_dword: fields.bit(16),
        registers: 1 << fields.bits(12, 2),
        offset: fields.bits(0, 12) * 32,
    })
}

/// OWords of a block (`MDC_DB_OW`): bytes, and whether it is the upper half of a register.
fn owords(code: u32) -> Option<(usize, bool)> {
    Some(match code {
        0 => (16, false),
        1 => (16, true),
        2 => (32, false),
        3 => (64, false),
        4 => (128, false),
        _ => return None,
    })
}

fn oword_block(fields: Fields, write: bool, address: BlockAddress) -> Option<Kind> {
    let (bytes, high) = owords(fields.bits(8, 3))?;
    Some(Kind::Block(Block { address, write, bytes, high }))
}

fn data_port_0(fields: Fields) -> Option<Kind> {
    let surface = fields.surface();
    let message_type = fields.message_type();
    let write = message_type & 8 != 0;
    match message_type {
        0x0 | 0x8 => oword_block(fields, write, BlockAddress::OWords(surface)),
        0x1 => oword_block(fields, false, BlockAddress::Bytes(surface)),
        0x3 | 0xb => dword_scattered(fields, write),
        0x4 | 0xc => {
            let element = match fields.bits(10, 2) {
                0 => Element::Byte,
                1 => Element::Word,
                2 => Element::Dword,
                _ => return None,
            };
            Some(Kind::Scattered(Scattered {
                space: surface,
                write,
                element,
                count: 1,
                simd: fields.simd(8),
                address_unit: 1,
                alignment: 1,
            }))
        }
        0x7 => Some(Kind::Fence),
        _ => None,
    }
}

/// Dword scattered messages: offsets are in dwords.
fn dword_scattered(fields: Fields, write: bool) -> Option<Kind> {
    Some(Kind::Scattered(Scattered {
        space: fields.surface(),
        write,
        element: Element::Dword,
        count: 1,
        simd: fields.simd(8),
        address_unit: 4,
        alignment: 4,
    }))
}

fn constant_cache(fields: Fields) -> Option<Kind> {
    match fields.message_type() {
        0x0 => oword_block(fields, false, BlockAddress::OWords(fields.surface())),
        0x1 => oword_block(fields, false, BlockAddress::Bytes(fields.surface())),
        0x3 => dword_scattered(fields, false),
        _ => None,
    }
}

fn data_port_1(fields: Fields) -> Option<Kind> {
    let message_type = fields.message_type();
    match message_type {
        0x01 | 0x09 => untyped(fields, fields.surface(), message_type == 0x09),
        0x11 | 0x19 => untyped(fields, Space::Global, message_type == 0x19),
        0x10 | 0x1a => a64_scattered(fields, message_type == 0x1a),
        0x14 | 0x15 => a64_block(fields, message_type == 0x15),
        0x02 => atomic(fields, fields.surface(), false),
        0x12 => atomic(fields, Space::Global, false),
        0x1b => atomic(fields, fields.surface(), true),
        0x1d => atomic(fields, Space::Global, true),
        0x05 | 0x0d => typed(fields, message_type == 0x0d),
        0x06 => typed_atomic(fields),
        0x04 | 0x0a => Some(media_block(fields, message_type == 0x0a)),
        _ => None,
    }
}

fn sampler_cache(fields: Fields) -> Option<Kind> {
    match fields.message_type() {
        0x1 => oword_block(fields, false, BlockAddress::Bytes(fields.surface())),
        0x4 => Some(media_block(fields, false)),
        _ => None,
    }
}

/// The binding table index of a message that takes no other.
fn binding(fields: Fields) -> u8 {
    fields.bits(0, 8) as u8
}

/// `MDC_SG3`: 1 is the low, 2 the high half of the sample mask, 0 SIMD4x2; `MDC_CMASK`: a set bit disables a channel.
fn typed(fields: Fields, write: bool) -> Option<Kind> {
    let slots = match fields.bits(12, 2) {
        1 => Slots::Low,
        2 => Slots::High,
        _ => return None,
    };
    let components = (!fields.bits(8, 4) & 0xf) as u8;
    (components != 0).then_some(Kind::Typed(Typed { surface: binding(fields), write, components, slots }))
}

/// `MDC_SG2` in bit 12, `MDC_AOP` in bits 11:8.
fn typed_atomic(fields: Fields) -> Option<Kind> {
    let slots = if fields.bit(12) { Slots::High } else { Slots::Low };
    let operation = AtomicOperation::integer(fields.bits(8, 4))?;
    Some(Kind::TypedAtomic(TypedAtomic {
        surface: binding(fields),
        operation,
        returns: fields.bit(13),
        slots,
    }))
}

/// `MDC_VLSO` in bits 10:8: bit 10 overrides the surface's "Vertical Line Stride" by bit 9.
fn media_block(fields: Fields, write: bool) -> Kind {
    let rows = match (fields.bit(10), fields.bit(9)) {
        (false, _) => RowOverride::None,
        (true, false) => RowOverride::Frames,
        (true, true) => RowOverride::Fields,
    };
    Kind::MediaBlock(MediaBlock { surface: binding(fields), write, rows })
}

/// Bits 18:17 and 29 are the SIMD mode, bit 30 the return format (`MSD_SAMPLER`).
fn sample(fields: Fields) -> Option<Kind> {
    let simd = match (fields.bits(17, 2), fields.bit(29)) {
        (1, false) => 8,
        (2, false) => 16,
        // SIMD32/64 messages: `cache_flush`. There is no cache here, and everything before it has been performed.
        (3, false) if fields.bits(12, 5) == CACHE_FLUSH => return Some(Kind::Fence),
        _ => return None,
    };
    Some(Kind::Sample(Sample {
        surface: binding(fields),
        sampler: fields.bits(8, 4) as u8,
        kind: SampleKind::of_type(fields.bits(12, 5))?,
        simd,
        half: fields.bit(30),
    }))
}

/// `MDC_SM3`: 1 is SIMD16, 2 is SIMD8; `MDC_CMASK`: a set bit disables a channel.
fn untyped(fields: Fields, space: Space, write: bool) -> Option<Kind> {
    let simd = match fields.bits(12, 2) {
        1 => 16,
        2 => 8,
        _ => return None,
    };
    let components = !fields.bits(8, 4) & 0xf;
    (components != 0).then_some(Kind::Untyped(Untyped { space, write, components: components as u8, simd }))
}

fn a64_scattered(fields: Fields, write: bool) -> Option<Kind> {
    let blocks = fields.bits(10, 2);
    let (element, count) = match (fields.bits(8, 2), blocks) {
        (0, 0) => (Element::Byte, 1),
        (0, 1) => (Element::Word, 1),
        (0, 2) => (Element::Dword, 1),
        (0, _) => (Element::Qword, 1),
        (1, n) => (Element::Dword, 1 << n),
        (2, n) => (Element::Qword, 1 << n),
        _ => return None,
    };
    let simd = fields.simd(12);
    let alignment = if fields.bits(8, 2) == 0 { 1 } else { 4 };
    Some(Kind::Scattered(Scattered {
        space: Space::Global,
        write,
        element,
        count,
        simd,
        address_unit: 1,
        alignment,
    }))
}

/// Bits 12:11: 0 aligned OWords, 1 unaligned OWords, 3 HWords.
fn a64_block(fields: Fields, write: bool) -> Option<Kind> {
    let address = |aligned| BlockAddress::Wide { aligned };
    match fields.bits(11, 2) {
        0 => oword_block(fields, write, address(true)),
        1 => oword_block(fields, write, address(false)),
        3 => {
            let bytes = 32 << fields.bits(8, 3);
            (bytes <= 256).then_some(Kind::Block(Block {
                address: address(false),
                write,
                bytes,
                high: false,
            }))
        }
        _ => None,
    }
}

/// `MDC_AOP` in bits 11:8. Bit 12 is SIMD8 of the surface messages, qwords of the integer A64 ones.
fn atomic(fields: Fields, space: Space, float: bool) -> Option<Kind> {
    let operation = if float {
        AtomicOperation::float(fields.bits(8, 3))
    } else {
        AtomicOperation::integer(fields.bits(8, 4))
    }?;
    let wide = space == Space::Global;
    let simd = if wide || fields.bit(12) { 8 } else { 16 };
    let size = if wide && !float && fields.bit(12) { 8 } else { 4 };
    Some(Kind::Atomic(Atomic { space, operation, size, simd, returns: fields.bit(13) }))
}

//! Message descriptors, as tables of message types.

use gencl_isa::SharedFunction::{
    self, ConstantCache, DataCache, DataCache1, Gateway, RenderCache, Sampler, SamplerCache, ThreadSpawner,
};
use gencl_isa::{Generation, Generations};

use super::image::operations::{MediaBlock, RowOverride, Sample, SlotGroup, Typed, TypedAtomic};
use super::image::sample_kind::SampleKind;
use super::{
    Atomic, AtomicOperation, Block, BlockAddress, Elements, MessageOperation, RaceCheck, Scattered,
    ScratchBlock, Space,
};
use crate::fault::Fault;

/// The sampler's `cache_flush` among its SIMD32/64 messages (Skylake, Volume 7, "Sampling Engine", "Message
/// Types"; IGA's `MessageDecoderOther.cpp`). With other SIMD modes this type is `ld2dss`.
const CACHE_FLUSH: u32 = 31;

/// Generations whose sampler has a third bit of SIMD mode, 16-bit results and `cache_flush`.
const SAMPLER_WIDE: Generations = Generations::GEN8_TO_9;

/// A message type of the data ports, and the function that decodes the rest of the descriptor.
struct Row {
    target: SharedFunction,
    number: u32,
    generations: Generations,
    decode: fn(Fields) -> Option<MessageOperation>,
}

/// Generations: Gen7, Gen7.5, Gen8, Gen9.
const COLUMNS: usize = Generation::ALL.len();
const GEN7_TO_9: Generations = Generations::GEN7_TO_9;
const GEN7: Generations = Generations::GEN7;
const GEN75_TO_9: Generations = Generations::GEN75_TO_9;
const GEN8_TO_9: Generations = Generations::GEN8_TO_9;
const GEN9: Generations = Generations::GEN9;

const fn row(
    target: SharedFunction,
    number: u32,
    generations: Generations,
    decode: fn(Fields) -> Option<MessageOperation>,
) -> Row {
    Row { target, number, generations, decode }
}

/// Message types by shared function and generation: the manuals' "Message Descriptor" of each shared function
/// (Ivy Bridge: Volume 4 Part 1 "Subsystem and Cores - Shared Functions", "Data Port Messages"; Haswell:
/// Volume 7 "3D-Media-GPGPU"), and Mesa's `brw_eu_defines.h` (`GFX7_DATAPORT_DC_*`,
/// `HSW_DATAPORT_DC_PORT1_*`).
#[rustfmt::skip]
const ROWS: &[Row] = &[
    row(DataCache,     0x00, GEN7_TO_9,     |f| oword_block(f, false, BlockAddress::OWords(f.surface()))),
    row(DataCache,     0x08, GEN7_TO_9,     |f| oword_block(f, true, BlockAddress::OWords(f.surface()))),
    row(DataCache,     0x01, GEN7_TO_9,     |f| oword_block(f, false, BlockAddress::Bytes(f.surface()))),
    row(DataCache,     0x03, GEN7_TO_9,     |f| dword_scattered(f, false)),
    row(DataCache,     0x0b, GEN7_TO_9,     |f| dword_scattered(f, true)),
    row(DataCache,     0x04, GEN7_TO_9,     |f| byte_scattered(f, false)),
    row(DataCache,     0x0c, GEN7_TO_9,     |f| byte_scattered(f, true)),
    row(DataCache,     0x05, GEN7,  |f| untyped(f, f.surface(), false)),
    row(DataCache,     0x0d, GEN7,  |f| untyped(f, f.surface(), true)),
    row(DataCache,     0x06, GEN7,  |f| atomic(f, f.surface(), false)),
    row(DataCache,     0x07, GEN7_TO_9,     |_| Some(MessageOperation::Fence)),
    row(RenderCache,   0x07, GEN7_TO_9,     |_| Some(MessageOperation::Fence)),
    row(RenderCache,   0x05, GEN7,  |f| typed(f, slot_bit(f, 13), false)),
    row(RenderCache,   0x0d, GEN7,  |f| typed(f, slot_bit(f, 13), true)),
    row(RenderCache,   0x06, GEN7,  typed_atomic),
    row(ConstantCache, 0x00, GEN7_TO_9,     |f| oword_block(f, false, BlockAddress::OWords(f.surface()))),
    row(ConstantCache, 0x01, GEN7_TO_9,     |f| oword_block(f, false, BlockAddress::Bytes(f.surface()))),
    row(ConstantCache, 0x03, GEN7_TO_9,     |f| dword_scattered(f, false)),
    row(SamplerCache,  0x01, GEN7_TO_9,     |f| oword_block(f, false, BlockAddress::Bytes(f.surface()))),
    row(SamplerCache,  0x04, GEN7_TO_9,     |f| Some(media_block(f, false))),
    row(DataCache1,    0x01, GEN75_TO_9, |f| untyped(f, f.surface(), false)),
    row(DataCache1,    0x09, GEN75_TO_9, |f| untyped(f, f.surface(), true)),
    row(DataCache1,    0x02, GEN75_TO_9, |f| atomic(f, f.surface(), false)),
    row(DataCache1,    0x1b, GEN9,  |f| atomic(f, f.surface(), true)),
    row(DataCache1,    0x05, GEN75_TO_9, |f| typed(f, slot_group(f)?, false)),
    row(DataCache1,    0x0d, GEN75_TO_9, |f| typed(f, slot_group(f)?, true)),
    row(DataCache1,    0x06, GEN75_TO_9, typed_atomic),
    row(DataCache1,    0x04, GEN75_TO_9, |f| Some(media_block(f, false))),
    row(DataCache1,    0x0a, GEN75_TO_9, |f| Some(media_block(f, true))),
    row(DataCache1,    0x11, GEN8_TO_9,  |f| untyped(f, Space::Global, false)),
    row(DataCache1,    0x19, GEN8_TO_9,  |f| untyped(f, Space::Global, true)),
    row(DataCache1,    0x10, GEN8_TO_9,  |f| a64_scattered(f, false)),
    row(DataCache1,    0x1a, GEN8_TO_9,  |f| a64_scattered(f, true)),
    row(DataCache1,    0x14, GEN8_TO_9,  |f| a64_block(f, false)),
    row(DataCache1,    0x15, GEN8_TO_9,  |f| a64_block(f, true)),
    row(DataCache1,    0x12, GEN8_TO_9,  |f| atomic(f, Space::Global, false)),
    row(DataCache1,    0x1d, GEN9,  |f| atomic(f, Space::Global, true)),
];

/// Number of registers of a scratch block by size code (Volume 2d, `MDC_SBS`; Ivy Bridge and Haswell:
/// "Scratch Block Read/Write", "Block Size").
const SCRATCH_REGISTERS: [[Option<usize>; 4]; COLUMNS] = {
    const NUMBERS: [Option<usize>; 4] = [Some(1), Some(2), None, Some(4)];
    const POWERS: [Option<usize>; 4] = [Some(1), Some(2), Some(4), Some(8)];
    [NUMBERS, NUMBERS, POWERS, POWERS]
};

/// Decodes a message descriptor.
///
/// # Errors
/// A message that is not simulated; the fault describes it.
pub fn decode(
    generation: Generation,
    target: SharedFunction,
    descriptor: u32,
    end_of_thread: bool,
) -> Result<MessageOperation, Fault> {
    let fields = Fields(descriptor);
    let column = generation.column();
    let kind = match target {
        DataCache if fields.bit(18) => scratch(fields, &SCRATCH_REGISTERS[column]),
        DataCache | DataCache1 | ConstantCache | SamplerCache | RenderCache => ROWS
            .iter()
            .find(|row| {
                row.target == target && row.number == fields.message_type() && row.generations.has(generation)
            })
            .and_then(|row| (row.decode)(fields)),
        Sampler => sample(fields, SAMPLER_WIDE.has(generation)),
        Gateway => (fields.bits(0, 3) == 4).then_some(MessageOperation::Barrier),
        ThreadSpawner => end_of_thread.then_some(MessageOperation::End),
        SharedFunction::Null => {
            RaceCheck::decode(fields.bits(0, 8), fields.bit(8)).map(MessageOperation::Race)
        }
        SharedFunction::Urb
        | SharedFunction::VideoMotionEstimation
        | SharedFunction::PixelInterpolator
        | SharedFunction::CheckAndRefinement => None,
    };
    kind.ok_or_else(|| Fault::unsupported(describe(target, fields)))
}

/// Describes a message that is not simulated, for looking it up in the manual.
fn describe(target: SharedFunction, fields: Fields) -> String {
    if target == Sampler {
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

    /// The memory that the binding table index refers to.
    fn surface(self) -> Space {
        Space::of_index(self.bits(0, 8))
    }

    /// `MDC_SM2`: 0 is SIMD8, 1 is SIMD16.
    fn simd(self, bit: u32) -> usize {
        if self.bit(bit) { 16 } else { 8 }
    }
}

/// The scratch block messages: bit 17 write, 16 dword mode, 13:12 registers, 11:0 offset in registers.
fn scratch(fields: Fields, registers: &[Option<usize>; 4]) -> Option<MessageOperation> {
    Some(MessageOperation::Scratch(ScratchBlock {
        write: fields.bit(17),
        per_dword: fields.bit(16),
        registers: registers[fields.bits(12, 2) as usize]?,
        offset: fields.bits(0, 12) * 32,
    }))
}

/// Size of an OWord block (`MDC_DB_OW`) in bytes, and whether it is the upper half of a register.
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

fn oword_block(fields: Fields, write: bool, address: BlockAddress) -> Option<MessageOperation> {
    let (bytes, high) = owords(fields.bits(8, 3))?;
    Some(MessageOperation::Block(Block { address, write, bytes, high }))
}

/// Byte scattered messages: an element of one, two or four bytes at any address.
fn byte_scattered(fields: Fields, write: bool) -> Option<MessageOperation> {
    let code = fields.bits(10, 2);
    let elements = (code < 3).then(|| Elements::first(1, 1 << code, 1))?;
    scattered(fields.surface(), write, elements, fields.simd(8), 1)
}

/// Dword scattered messages: offsets are in dwords.
fn dword_scattered(fields: Fields, write: bool) -> Option<MessageOperation> {
    scattered(fields.surface(), write, Elements::first(1, 4, 4), fields.simd(8), 4)
}

fn scattered(
    space: Space,
    write: bool,
    elements: Elements,
    simd: usize,
    address_unit: u64,
) -> Option<MessageOperation> {
    Some(MessageOperation::Scattered(Scattered { space, write, elements, simd, address_unit }))
}

/// The binding table index of a message that only accesses surfaces.
fn binding(fields: Fields) -> u8 {
    fields.bits(0, 8) as u8
}

/// `MDC_SG3`: 1 is the low, 2 the high half of the sample mask, 0 SIMD4x2.
fn slot_group(fields: Fields) -> Option<SlotGroup> {
    match fields.bits(12, 2) {
        1 => Some(SlotGroup::Low),
        2 => Some(SlotGroup::High),
        _ => None,
    }
}

/// `MDC_SG2`: a bit, as there is no SIMD4x2.
fn slot_bit(fields: Fields, bit: u32) -> SlotGroup {
    if fields.bit(bit) { SlotGroup::High } else { SlotGroup::Low }
}

/// `MDC_CMASK`: a set bit disables a channel.
fn typed(fields: Fields, slots: SlotGroup, write: bool) -> Option<MessageOperation> {
    let components = (!fields.bits(8, 4) & 0xf) as u8;
    (components != 0).then_some(MessageOperation::Typed(Typed {
        surface: binding(fields),
        write,
        components,
        slots,
    }))
}

/// `MDC_AOP` in bits 11:8.
fn typed_atomic(fields: Fields) -> Option<MessageOperation> {
    let operation = AtomicOperation::integer(fields.bits(8, 4))?;
    Some(MessageOperation::TypedAtomic(TypedAtomic {
        surface: binding(fields),
        operation,
        returns: fields.bit(13),
        slots: slot_bit(fields, 12),
    }))
}

/// `MDC_VLSO` in bits 10:8: bit 10 overrides the surface's "Vertical Line Stride" by bit 9.
fn media_block(fields: Fields, write: bool) -> MessageOperation {
    let rows = match (fields.bit(10), fields.bit(9)) {
        (false, _) => RowOverride::None,
        (true, false) => RowOverride::Frames,
        (true, true) => RowOverride::Fields,
    };
    MessageOperation::MediaBlock(MediaBlock { surface: binding(fields), write, rows })
}

/// Bits 18:17 are the SIMD mode, and in `wide` descriptors bit 29; bit 30 is their return format
/// (`MSD_SAMPLER`).
fn sample(fields: Fields, wide: bool) -> Option<MessageOperation> {
    if !wide && fields.bits(29, 2) != 0 {
        return None;
    }
    let simd = match (fields.bits(17, 2), fields.bit(29)) {
        (1, false) => 8,
        (2, false) => 16,
        // SIMD32/64 messages: `cache_flush`. There are no caches here, and messages are performed in order.
        (3, false) if wide && fields.bits(12, 5) == CACHE_FLUSH => return Some(MessageOperation::Fence),
        _ => return None,
    };
    Some(MessageOperation::Sample(Sample {
        surface: binding(fields),
        sampler: fields.bits(8, 4) as u8,
        kind: SampleKind::of_type(fields.bits(12, 5))?,
        simd,
        half: fields.bit(30),
    }))
}

/// `MDC_SM3`: 1 is SIMD16, 2 is SIMD8; `MDC_CMASK`: a set bit disables a channel.
fn untyped(fields: Fields, space: Space, write: bool) -> Option<MessageOperation> {
    let simd = match fields.bits(12, 2) {
        1 => 16,
        2 => 8,
        _ => return None,
    };
    let present = (!fields.bits(8, 4) & 0xf) as u8;
    let elements = (present != 0).then_some(Elements { size: 4, present, alignment: 4 })?;
    scattered(space, write, elements, simd, 1)
}

fn a64_scattered(fields: Fields, write: bool) -> Option<MessageOperation> {
    let blocks = fields.bits(10, 2);
    let elements = match fields.bits(8, 2) {
        0 => Elements::first(1, 1 << blocks, 1),
        1 => Elements::first(1 << blocks, 4, 4),
        2 => Elements::first(1 << blocks, 8, 4),
        _ => return None,
    };
    scattered(Space::Global, write, elements, fields.simd(12), 1)
}

/// Bits 12:11: 0 aligned OWords, 1 unaligned OWords, 3 HWords.
fn a64_block(fields: Fields, write: bool) -> Option<MessageOperation> {
    let address = |aligned| BlockAddress::Wide { aligned };
    match fields.bits(11, 2) {
        0 => oword_block(fields, write, address(true)),
        1 => oword_block(fields, write, address(false)),
        3 => {
            let bytes = 32 << fields.bits(8, 3);
            (bytes <= 256).then_some(MessageOperation::Block(Block {
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
fn atomic(fields: Fields, space: Space, float: bool) -> Option<MessageOperation> {
    let operation = if float {
        AtomicOperation::float(fields.bits(8, 3))
    } else {
        AtomicOperation::integer(fields.bits(8, 4))
    }?;
    let wide = space == Space::Global;
    let simd = if wide || fields.bit(12) { 8 } else { 16 };
    let size = if wide && !float && fields.bit(12) { 8 } else { 4 };
    Some(MessageOperation::Atomic(Atomic { space, operation, size, simd, returns: fields.bit(13) }))
}

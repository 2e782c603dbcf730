//! The layout of each message, described once for both directions.

use super::{
    AtomicOperation, BlockSize, ElementSize, FloatAtomicOperation, GatewayFunction, Message, MessageError,
    MessageKind, Operation, SimdMode, SlotGroup, UrbFunction,
};
use crate::generation::COLUMNS;
use crate::message::table::{MESSAGES, MessageNumber};
use crate::{Generation, SharedFunction};

/// Converts between a descriptor and an operation, in one of the directions.
struct Walk {
    bits: u32,
    encodes: bool,
    kind: MessageKind,
}

impl Walk {
    /// The largest value of a field `high:low`.
    fn limit(high: u32, low: u32) -> u32 {
        u32::MAX >> (31 - (high - low))
    }

    fn number(
        &mut self,
        name: &'static str,
        high: u32,
        low: u32,
        value: &mut u32,
    ) -> Result<(), MessageError> {
        let limit = Walk::limit(high, low);
        if self.encodes {
            if *value > limit {
                return Err(MessageError::Value { kind: self.kind, field: name, value: *value });
            }
            self.bits = self.bits & !(limit << low) | *value << low;
        } else {
            *value = self.bits >> low & limit;
        }
        Ok(())
    }

    fn byte(&mut self, name: &'static str, high: u32, low: u32, value: &mut u8) -> Result<(), MessageError> {
        let mut wide = u32::from(*value);
        self.number(name, high, low, &mut wide)?;
        *value = wide as u8;
        Ok(())
    }

    fn flag(&mut self, name: &'static str, bit: u32, value: &mut bool) -> Result<(), MessageError> {
        let mut wide = u32::from(*value);
        self.number(name, bit, bit, &mut wide)?;
        *value = wide != 0;
        Ok(())
    }

    /// A value that is encoded as its index in a table.
    fn choice<T: Copy + PartialEq>(
        &mut self,
        name: &'static str,
        high: u32,
        low: u32,
        values: &[Option<T>],
        value: &mut T,
    ) -> Result<(), MessageError> {
        let position = values.iter().position(|v| *v == Some(*value));
        let mut number = position.map_or(u32::MAX, |p| p as u32);
        self.number(name, high, low, &mut number)?;
        match values.get(number as usize) {
            Some(Some(found)) => {
                *value = *found;
                Ok(())
            }
            _ => Err(MessageError::Value { kind: self.kind, field: name, value: number }),
        }
    }

    /// The mask of transferred channels; the descriptor has its complement.
    fn channels(&mut self, channels: &mut u8) -> Result<(), MessageError> {
        if self.encodes && *channels > 0xf {
            return Err(MessageError::Value {
                kind: self.kind,
                field: "channels",
                value: u32::from(*channels),
            });
        }
        let mut mask = !*channels & 0xf;
        self.byte("channels", 11, 8, &mut mask)?;
        *channels = !mask & 0xf;
        Ok(())
    }

    fn surface(&mut self, surface: &mut u8) -> Result<(), MessageError> {
        self.byte("surface", 7, 0, surface)
    }
}

/// `MDC_SM3`.
const SIMD3: &[Option<SimdMode>] = &[Some(SimdMode::Simd4x2), Some(SimdMode::Simd16), Some(SimdMode::Simd8)];
/// `MDC_SM2`.
const SIMD2: &[Option<SimdMode>] = &[Some(SimdMode::Simd8), Some(SimdMode::Simd16)];
/// `MDC_SM2R`: reversed.
const SIMD2_REVERSED: &[Option<SimdMode>] = &[Some(SimdMode::Simd16), Some(SimdMode::Simd8)];

const ATOMICS: &[Option<AtomicOperation>] = &[
    Some(AtomicOperation::CmpWrite2),
    Some(AtomicOperation::And),
    Some(AtomicOperation::Or),
    Some(AtomicOperation::Xor),
    Some(AtomicOperation::Mov),
    Some(AtomicOperation::Inc),
    Some(AtomicOperation::Dec),
    Some(AtomicOperation::Add),
    Some(AtomicOperation::Sub),
    Some(AtomicOperation::RevSub),
    Some(AtomicOperation::IMax),
    Some(AtomicOperation::IMin),
    Some(AtomicOperation::UMax),
    Some(AtomicOperation::UMin),
    Some(AtomicOperation::CmpWrite),
    Some(AtomicOperation::PreDec),
];

const FLOAT_ATOMICS: &[Option<FloatAtomicOperation>] = &[
    None,
    Some(FloatAtomicOperation::FMax),
    Some(FloatAtomicOperation::FMin),
    Some(FloatAtomicOperation::FCmpWrite),
];

const BLOCKS: &[Option<BlockSize>] = &[
    Some(BlockSize::OneLow),
    Some(BlockSize::OneHigh),
    Some(BlockSize::Two),
    Some(BlockSize::Four),
    Some(BlockSize::Eight),
];

const SLOTS: &[Option<SlotGroup>] = &[Some(SlotGroup::Simd4x2), Some(SlotGroup::Low), Some(SlotGroup::High)];
/// Gen7: one bit.
const SLOTS_NARROW: &[Option<SlotGroup>] = &[Some(SlotGroup::Low), Some(SlotGroup::High)];

const ELEMENTS: &[Option<ElementSize>] =
    &[Some(ElementSize::Byte), Some(ElementSize::Dword), Some(ElementSize::Qword)];

const GATEWAY: &[Option<GatewayFunction>] = &[
    Some(GatewayFunction::Open),
    Some(GatewayFunction::Close),
    Some(GatewayFunction::Forward),
    Some(GatewayFunction::GetTimestamp),
    Some(GatewayFunction::Barrier),
    Some(GatewayFunction::UpdateState),
    Some(GatewayFunction::MmioReadWrite),
];

const URB: &[Option<UrbFunction>] = &[
    Some(UrbFunction::WriteHword),
    Some(UrbFunction::WriteOword),
    Some(UrbFunction::ReadHword),
    Some(UrbFunction::ReadOword),
    Some(UrbFunction::AtomicMov),
    Some(UrbFunction::AtomicInc),
    Some(UrbFunction::AtomicAdd),
    Some(UrbFunction::Simd8Write),
    Some(UrbFunction::Simd8Read),
];

/// The positions of the URB message's fields, which changed by a bit in Gen8.
struct UrbBits {
    functions: &'static [Option<UrbFunction>],
    function: u32,
    offset: (u32, u32),
    swizzle: u32,
    per_slot: u32,
    complete: Option<u32>,
}

const fn urb_bits(generation: Generation) -> &'static UrbBits {
    /// Ivy Bridge has no `AtomicAdd` (Volume 4 Part 2, "URB"; Haswell's manual has it).
    const IVY_BRIDGE: UrbBits = UrbBits {
        functions: URB.split_at(6).0,
        function: 2,
        offset: (13, 3),
        swizzle: 14,
        per_slot: 16,
        complete: Some(15),
    };
    const HASWELL: UrbBits = UrbBits { functions: URB.split_at(7).0, ..IVY_BRIDGE };
    const WIDE: UrbBits =
        UrbBits { functions: URB, function: 3, offset: (14, 4), swizzle: 15, per_slot: 17, complete: None };
    const PLACES: [&UrbBits; COLUMNS] = [&IVY_BRIDGE, &HASWELL, &WIDE, &WIDE];
    PLACES[generation.column()]
}

/// Whether typed messages have two bits of slot group, with SIMD4x2.
const TYPED_4X2: [bool; COLUMNS] = [false, true, true, true];
/// Whether the sampler has a third bit of SIMD mode and 16-bit results.
const SAMPLER_WIDE: [bool; COLUMNS] = [false, false, true, true];

/// An operation of a kind with all fields zero, to be decoded into.
fn template(kind: MessageKind, port: SharedFunction) -> Operation {
    let untyped =
        |write, a64| Operation::Untyped { write, a64, surface: 0, simd: SimdMode::Simd8, channels: 0 };
    let atomic = |a64, simd| Operation::UntypedAtomic {
        a64,
        surface: 0,
        simd,
        operation: AtomicOperation::Add,
        qword: false,
        returns: false,
    };
    let float = |a64| Operation::UntypedAtomicFloat {
        a64,
        surface: 0,
        simd: SimdMode::Simd8,
        operation: FloatAtomicOperation::FMax,
        returns: false,
    };
    let block = |write, a64, unaligned| Operation::OwordBlock {
        port,
        write,
        a64,
        unaligned,
        surface: 0,
        size: BlockSize::OneLow,
        invalidate: false,
    };
    let dual = |write| Operation::OwordDualBlock { port, write, surface: 0, owords: 1, invalidate: false };
    let bytes = |write| Operation::ByteScattered { write, surface: 0, simd: SimdMode::Simd8, bytes: 1 };
    let dwords = |write| Operation::DwordScattered {
        port,
        write,
        surface: 0,
        simd: SimdMode::Simd8,
        invalidate: false,
    };
    let a64_scattered = |write| Operation::A64Scattered {
        write,
        surface: 0,
        simd: SimdMode::Simd8,
        element: ElementSize::Byte,
        elements: 1,
    };
    let scratch = |write| Operation::ScratchBlock {
        write,
        registers: 1,
        offset: 0,
        dword_mode: false,
        invalidate: false,
    };
    let target = |write| Operation::RenderTarget {
        write,
        surface: 0,
        kind: 0,
        high: false,
        last: false,
        per_sample: false,
    };
    let typed = |write| Operation::Typed { write, surface: 0, slots: SlotGroup::Low, channels: 0 };
    let media = |write| Operation::MediaBlock { port, write, surface: 0, control: 0 };
    match kind {
        MessageKind::UntypedRead => untyped(false, false),
        MessageKind::UntypedWrite => untyped(true, false),
        MessageKind::UntypedAtomic => atomic(false, SimdMode::Simd8),
        MessageKind::UntypedAtomic4x2 => atomic(false, SimdMode::Simd4x2),
        MessageKind::UntypedAtomicFloat => float(false),
        MessageKind::A64UntypedRead => untyped(false, true),
        MessageKind::A64UntypedWrite => untyped(true, true),
        MessageKind::A64UntypedAtomic => atomic(true, SimdMode::Simd8),
        MessageKind::A64UntypedAtomicFloat => float(true),
        MessageKind::A64ScatteredRead => a64_scattered(false),
        MessageKind::A64ScatteredWrite => a64_scattered(true),
        MessageKind::A64BlockRead => block(false, true, false),
        MessageKind::A64BlockWrite => block(true, true, false),
        MessageKind::ByteScatteredRead => bytes(false),
        MessageKind::ByteScatteredWrite => bytes(true),
        MessageKind::DwordScatteredRead => dwords(false),
        MessageKind::DwordScatteredWrite => dwords(true),
        MessageKind::OwordBlockRead => block(false, false, false),
        MessageKind::OwordBlockReadUnaligned => block(false, false, true),
        MessageKind::OwordBlockWrite => block(true, false, false),
        MessageKind::OwordDualBlockRead => dual(false),
        MessageKind::OwordDualBlockWrite => dual(true),
        MessageKind::ScratchRead => scratch(false),
        MessageKind::ScratchWrite => scratch(true),
        MessageKind::Fence => Operation::Fence { port, commit: false, flush: 0, surface: 0 },
        MessageKind::TypedRead => typed(false),
        MessageKind::TypedWrite => typed(true),
        MessageKind::TypedAtomic => Operation::TypedAtomic {
            surface: 0,
            high: false,
            operation: AtomicOperation::Add,
            returns: false,
        },
        MessageKind::MediaBlockRead => media(false),
        MessageKind::MediaBlockWrite => media(true),
        MessageKind::RenderTargetRead => target(false),
        MessageKind::RenderTargetWrite => target(true),
        MessageKind::Sampler => Operation::Sampler { surface: 0, sampler: 0, kind: 0, mode: 0, half: false },
        MessageKind::Urb => Operation::Urb {
            function: UrbFunction::WriteHword,
            offset: 0,
            per_slot: false,
            swizzle: false,
            complete: false,
        },
        MessageKind::Gateway => Operation::Gateway { function: GatewayFunction::Open, notify: 0 },
        MessageKind::ThreadSpawner => {
            Operation::ThreadSpawner { keep_handle: false, root: false, spawn: false }
        }
        MessageKind::PixelInterpolator => {
            Operation::PixelInterpolator { data: 0, high: false, kind: 0, linear: false, simd16: false }
        }
        MessageKind::RaceCheck => Operation::RaceCheck { control: 0, simd: SimdMode::Simd8 },
    }
}

/// Bits 18:0 (of the sampler also 30:29), except those that identify the message.
fn walk(w: &mut Walk, generation: Generation, operation: &mut Operation) -> Result<(), MessageError> {
    match operation {
        Operation::Untyped { surface, simd, channels, .. } => {
            w.surface(surface)?;
            w.channels(channels)?;
            w.choice("SIMD mode", 13, 12, SIMD3, simd)
        }
        Operation::UntypedAtomic { a64, surface, simd, operation, qword, returns } => {
            w.surface(surface)?;
            w.choice("operation", 11, 8, ATOMICS, operation)?;
            w.flag("return", 13, returns)?;
            match (*a64, *simd) {
                // The SIMD mode's bit is the data width's; these serve 8 lanes.
                (true, SimdMode::Simd8) => w.flag("qword", 12, qword),
                (true, _) => Err(MessageError::Value {
                    kind: w.kind,
                    field: "SIMD mode",
                    value: u32::from(simd.lanes()),
                }),
                (false, _) if *qword => Err(MessageError::Value { kind: w.kind, field: "qword", value: 1 }),
                (false, SimdMode::Simd4x2) => Ok(()),
                (false, _) => w.choice("SIMD mode", 12, 12, SIMD2_REVERSED, simd),
            }
        }
        Operation::UntypedAtomicFloat { a64, surface, simd, operation, returns } => {
            w.surface(surface)?;
            w.choice("operation", 11, 8, FLOAT_ATOMICS, operation)?;
            w.flag("return", 13, returns)?;
            if *a64 {
                return match simd {
                    SimdMode::Simd8 => Ok(()),
                    _ => Err(MessageError::Value {
                        kind: w.kind,
                        field: "SIMD mode",
                        value: u32::from(simd.lanes()),
                    }),
                };
            }
            w.choice("SIMD mode", 12, 12, SIMD2_REVERSED, simd)
        }
        Operation::ByteScattered { surface, simd, bytes, .. } => {
            w.surface(surface)?;
            w.choice("SIMD mode", 8, 8, SIMD2, simd)?;
            w.choice("data size", 11, 10, &[Some(1), Some(2), Some(4)], bytes)
        }
        Operation::DwordScattered { surface, simd, invalidate, .. } => {
            w.surface(surface)?;
            w.choice("SIMD mode", 8, 8, SIMD2, simd)?;
            // "Legacy SIMD mode" is always set.
            w.number("legacy SIMD mode", 9, 9, &mut 1)?;
            w.flag("invalidate", 13, invalidate)
        }
        Operation::A64Scattered { surface, simd, element, elements, .. } => {
            w.surface(surface)?;
            w.choice("element", 9, 8, ELEMENTS, element)?;
            w.choice("elements", 11, 10, &[Some(1), Some(2), Some(4), Some(8)], elements)?;
            w.choice("SIMD mode", 12, 12, SIMD2, simd)
        }
        Operation::OwordBlock { write, a64, unaligned, surface, size, invalidate, .. } => {
            w.surface(surface)?;
            w.choice("block size", 10, 8, BLOCKS, size)?;
            if *a64 {
                w.choice("alignment", 12, 11, &[Some(false), Some(true)], unaligned)?;
            } else if *write && *unaligned {
                return Err(MessageError::Value { kind: w.kind, field: "alignment", value: 1 });
            }
            w.flag("invalidate", 13, invalidate)
        }
        Operation::OwordDualBlock { surface, owords, invalidate, .. } => {
            w.surface(surface)?;
            w.choice("block size", 9, 8, &[Some(1), None, Some(4)], owords)?;
            w.flag("invalidate", 13, invalidate)
        }
        Operation::ScratchBlock { registers, offset, dword_mode, invalidate, .. } => {
            let mut first = u32::from(*offset);
            w.number("offset", 11, 0, &mut first)?;
            *offset = first as u16;
            let sizes = scratch_sizes(generation);
            w.choice("block size", 13, 12, sizes, registers)?;
            w.flag("invalidate", 15, invalidate)?;
            w.flag("channel mode", 16, dword_mode)
        }
        Operation::Fence { commit, flush, surface, .. } => {
            w.surface(surface)?;
            w.byte("flush", 12, 9, flush)?;
            w.flag("commit", 13, commit)
        }
        Operation::Typed { surface, slots, channels, .. } => {
            w.surface(surface)?;
            w.channels(channels)?;
            if TYPED_4X2[generation.column()] {
                w.choice("slots", 13, 12, SLOTS, slots)
            } else {
                w.choice("slots", 13, 13, SLOTS_NARROW, slots)
            }
        }
        Operation::TypedAtomic { surface, high, operation, returns } => {
            w.surface(surface)?;
            w.choice("operation", 11, 8, ATOMICS, operation)?;
            w.flag("slots", 12, high)?;
            w.flag("return", 13, returns)
        }
        Operation::MediaBlock { surface, control, .. } => {
            w.surface(surface)?;
            w.byte("control", 10, 8, control)
        }
        Operation::RenderTarget { surface, kind, high, last, per_sample, .. } => {
            w.surface(surface)?;
            w.byte("kind", 10, 8, kind)?;
            w.flag("slots", 11, high)?;
            w.flag("last", 12, last)?;
            w.flag("per sample", 13, per_sample)
        }
        Operation::Sampler { surface, sampler, kind, mode, half } => {
            w.surface(surface)?;
            w.byte("sampler", 11, 8, sampler)?;
            w.byte("kind", 16, 12, kind)?;
            let (mut low, mut high) = (*mode & 3, *mode >> 2);
            w.byte("SIMD mode", 18, 17, &mut low)?;
            if SAMPLER_WIDE[generation.column()] {
                w.byte("SIMD mode", 29, 29, &mut high)?;
                w.flag("return format", 30, half)?;
            } else if high != 0 || *half {
                return Err(MessageError::Value {
                    kind: w.kind,
                    field: "SIMD mode",
                    value: u32::from(*mode),
                });
            }
            *mode = low | high << 2;
            Ok(())
        }
        Operation::Urb { function, offset, per_slot, swizzle, complete } => {
            let bits = urb_bits(generation);
            w.choice("function", bits.function, 0, bits.functions, function)?;
            let mut wide = u32::from(*offset);
            w.number("offset", bits.offset.0, bits.offset.1, &mut wide)?;
            *offset = wide as u16;
            w.flag("swizzle", bits.swizzle, swizzle)?;
            w.flag("per slot", bits.per_slot, per_slot)?;
            match bits.complete {
                Some(bit) => w.flag("complete", bit, complete),
                None if *complete => Err(MessageError::Value { kind: w.kind, field: "complete", value: 1 }),
                None => Ok(()),
            }
        }
        Operation::Gateway { function, notify } => {
            w.choice("function", 2, 0, GATEWAY, function)?;
            w.byte("notify", 16, 14, notify)
        }
        Operation::ThreadSpawner { keep_handle, root, spawn } => {
            w.flag("resource select", 4, keep_handle)?;
            w.flag("requester", 1, root)?;
            w.flag("opcode", 0, spawn)
        }
        Operation::PixelInterpolator { data, high, kind, linear, simd16 } => {
            w.byte("data", 7, 0, data)?;
            w.flag("slots", 11, high)?;
            w.byte("kind", 13, 12, kind)?;
            w.flag("linear", 14, linear)?;
            w.flag("SIMD mode", 16, simd16)
        }
        Operation::RaceCheck { control, simd } => {
            w.byte("control", 7, 0, control)?;
            w.choice("SIMD mode", 8, 8, SIMD2, simd)
        }
    }
}

/// Number of registers of a scratch block by code. Before Gen8 the code is the number minus one.
fn scratch_sizes(generation: Generation) -> &'static [Option<u8>] {
    const NARROW: &[Option<u8>] = &[Some(1), Some(2), None, Some(4)];
    const WIDE: &[Option<u8>] = &[Some(1), Some(2), Some(4), Some(8)];
    const SIZES: [&[Option<u8>]; COLUMNS] = [NARROW, NARROW, WIDE, WIDE];
    SIZES[generation.column()]
}

/// Header and lengths.
fn lengths(w: &mut Walk, message: &mut Message) -> Result<(), MessageError> {
    w.flag("header", 19, &mut message.header)?;
    w.byte("response length", 24, 20, &mut message.response)?;
    w.byte("message length", 28, 25, &mut message.payload)
}

pub(super) fn decode(
    generation: Generation,
    target: SharedFunction,
    descriptor: u32,
) -> Result<Message, MessageError> {
    let number = (descriptor >> 14 & 0x1f) as u8;
    let row = MESSAGES.iter().find(|row| match row.place(generation) {
        Some((t, MessageNumber::Type(n))) => t == target && n == number,
        Some((t, MessageNumber::Scratch(write))) => {
            t == target && descriptor >> 18 & 1 != 0 && (descriptor >> 17 & 1 != 0) == write
        }
        Some((t, MessageNumber::Only)) => t == target,
        None => false,
    });
    let row = row.ok_or(MessageError::Unknown { target, descriptor })?;
    let mut message =
        Message { payload: 0, response: 0, header: false, operation: template(row.kind, target) };
    let mut w = Walk { bits: descriptor, encodes: false, kind: row.kind };
    lengths(&mut w, &mut message)?;
    walk(&mut w, generation, &mut message.operation)?;
    Ok(message)
}

pub(super) fn encode(
    generation: Generation,
    message: &Message,
) -> Result<(SharedFunction, u32), MessageError> {
    let kind = message.operation.kind();
    let port = message.operation.port();
    let place = MESSAGES
        .iter()
        .filter(|row| row.kind == kind)
        .filter_map(|row| row.place(generation))
        .find(|(target, _)| port.is_none_or(|port| port == *target));
    let (target, number) = place.ok_or(MessageError::Missing(kind))?;
    let mut copy = *message;
    let bits = match number {
        MessageNumber::Type(number) => u32::from(number) << 14,
        MessageNumber::Scratch(write) => 1 << 18 | u32::from(write) << 17,
        MessageNumber::Only => 0,
    };
    let mut w = Walk { bits, encodes: true, kind };
    lengths(&mut w, &mut copy)?;
    walk(&mut w, generation, &mut copy.operation)?;
    Ok((target, w.bits))
}

//! One row per message.

use super::Operation;
use crate::SharedFunction as Target;
use crate::generation::COLUMNS;
use crate::{Generation, SharedFunction};

/// The messages that have separate encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the rows of the table say what they are")]
pub enum MessageKind {
    UntypedRead,
    UntypedWrite,
    UntypedAtomic,
    UntypedAtomic4x2,
    UntypedAtomicFloat,
    A64UntypedRead,
    A64UntypedWrite,
    A64UntypedAtomic,
    A64UntypedAtomicFloat,
    A64ScatteredRead,
    A64ScatteredWrite,
    A64BlockRead,
    A64BlockWrite,
    ByteScatteredRead,
    ByteScatteredWrite,
    DwordScatteredRead,
    DwordScatteredWrite,
    OwordBlockRead,
    OwordBlockReadUnaligned,
    OwordBlockWrite,
    OwordDualBlockRead,
    OwordDualBlockWrite,
    ScratchRead,
    ScratchWrite,
    Fence,
    TypedRead,
    TypedWrite,
    TypedAtomic,
    MediaBlockRead,
    MediaBlockWrite,
    RenderTargetRead,
    RenderTargetWrite,
    Sampler,
    Urb,
    Gateway,
    ThreadSpawner,
    PixelInterpolator,
    RaceCheck,
}

/// The bits of the descriptor that identify a message among those of its shared function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageNumber {
    /// Bits 18:14.
    Type(u8),
    /// Bit 18 set (the category), and the value of bit 17.
    Scratch(bool),
    /// None: the shared function has no other message.
    Only,
}

/// A row of the message table.
#[derive(Clone, Copy, Debug)]
pub struct MessageInfo {
    /// The message.
    pub kind: MessageKind,
    /// Its name.
    pub name: &'static str,
    /// Shared function and number in each generation.
    places: [Option<(SharedFunction, MessageNumber)>; COLUMNS],
}

impl MessageInfo {
    /// Shared function and number; `None` where the generation does not have the message.
    pub(super) fn place(&self, generation: Generation) -> Option<(SharedFunction, MessageNumber)> {
        self.places[generation.column()]
    }
}

const fn gen7_to_9(
    kind: MessageKind,
    name: &'static str,
    target: SharedFunction,
    number: MessageNumber,
) -> MessageInfo {
    MessageInfo { kind, name, places: [Some((target, number)); 4] }
}

/// A message of the data cache on Gen7, of data port 1 on later generations.
const fn untyped(kind: MessageKind, name: &'static str, gen7: u8, later: u8) -> MessageInfo {
    let later = Some((Target::DataCache1, MessageNumber::Type(later)));
    MessageInfo {
        kind,
        name,
        places: [Some((Target::DataCache, MessageNumber::Type(gen7))), later, later, later],
    }
}

/// A message of the render cache on Gen7, of data port 1 on later generations.
const fn typed(kind: MessageKind, name: &'static str, number: u8) -> MessageInfo {
    let later = Some((Target::DataCache1, MessageNumber::Type(number)));
    MessageInfo {
        kind,
        name,
        places: [Some((Target::RenderCache, MessageNumber::Type(number))), later, later, later],
    }
}

const fn gen75_to_9(kind: MessageKind, name: &'static str, number: u8) -> MessageInfo {
    let place = Some((Target::DataCache1, MessageNumber::Type(number)));
    MessageInfo { kind, name, places: [None, place, place, place] }
}

const fn gen8_to_9(kind: MessageKind, name: &'static str, number: u8) -> MessageInfo {
    let place = Some((Target::DataCache1, MessageNumber::Type(number)));
    MessageInfo { kind, name, places: [None, None, place, place] }
}

const fn gen9(kind: MessageKind, name: &'static str, target: SharedFunction, number: u8) -> MessageInfo {
    MessageInfo { kind, name, places: [None, None, None, Some((target, MessageNumber::Type(number)))] }
}

/// All messages. A message of several caches has a row for each.
#[rustfmt::skip]
pub const MESSAGES: &[MessageInfo] = &[
    untyped(MessageKind::UntypedRead, "untyped read", 5, 1),
    untyped(MessageKind::UntypedWrite, "untyped write", 13, 9),
    untyped(MessageKind::UntypedAtomic, "untyped atomic", 6, 2),
    gen75_to_9(MessageKind::UntypedAtomic4x2, "untyped atomic 4x2", 3),
    gen9(MessageKind::UntypedAtomicFloat, "untyped float atomic", Target::DataCache1, 0x1b),
    gen8_to_9(MessageKind::A64UntypedRead, "a64 untyped read", 0x11),
    gen8_to_9(MessageKind::A64UntypedWrite, "a64 untyped write", 0x19),
    gen8_to_9(MessageKind::A64UntypedAtomic, "a64 untyped atomic", 0x12),
    gen9(MessageKind::A64UntypedAtomicFloat, "a64 untyped float atomic", Target::DataCache1, 0x1d),
    gen8_to_9(MessageKind::A64ScatteredRead, "a64 scattered read", 0x10),
    gen8_to_9(MessageKind::A64ScatteredWrite, "a64 scattered write", 0x1a),
    gen8_to_9(MessageKind::A64BlockRead, "a64 block read", 0x14),
    gen8_to_9(MessageKind::A64BlockWrite, "a64 block write", 0x15),
    gen7_to_9(MessageKind::ByteScatteredRead, "byte scattered read", Target::DataCache, MessageNumber::Type(4)),
    gen7_to_9(MessageKind::ByteScatteredWrite, "byte scattered write", Target::DataCache, MessageNumber::Type(12)),
    gen7_to_9(MessageKind::DwordScatteredRead, "dword scattered read", Target::DataCache, MessageNumber::Type(3)),
    gen7_to_9(MessageKind::DwordScatteredRead, "dword scattered read", Target::ConstantCache, MessageNumber::Type(3)),
    gen7_to_9(MessageKind::DwordScatteredWrite, "dword scattered write", Target::DataCache, MessageNumber::Type(11)),
    gen7_to_9(MessageKind::OwordBlockRead, "oword block read", Target::DataCache, MessageNumber::Type(0)),
    gen7_to_9(MessageKind::OwordBlockRead, "oword block read", Target::ConstantCache, MessageNumber::Type(0)),
    gen7_to_9(MessageKind::OwordBlockReadUnaligned, "unaligned oword block read", Target::DataCache, MessageNumber::Type(1)),
    gen7_to_9(MessageKind::OwordBlockReadUnaligned, "unaligned oword block read", Target::ConstantCache, MessageNumber::Type(1)),
    gen7_to_9(MessageKind::OwordBlockReadUnaligned, "unaligned oword block read", Target::SamplerCache, MessageNumber::Type(1)),
    gen7_to_9(MessageKind::OwordBlockWrite, "oword block write", Target::DataCache, MessageNumber::Type(8)),
    gen7_to_9(MessageKind::OwordDualBlockRead, "oword dual block read", Target::DataCache, MessageNumber::Type(2)),
    gen7_to_9(MessageKind::OwordDualBlockRead, "oword dual block read", Target::ConstantCache, MessageNumber::Type(2)),
    gen7_to_9(MessageKind::OwordDualBlockWrite, "oword dual block write", Target::DataCache, MessageNumber::Type(10)),
    gen7_to_9(MessageKind::ScratchRead, "scratch read", Target::DataCache, MessageNumber::Scratch(false)),
    gen7_to_9(MessageKind::ScratchWrite, "scratch write", Target::DataCache, MessageNumber::Scratch(true)),
    gen7_to_9(MessageKind::Fence, "fence", Target::DataCache, MessageNumber::Type(7)),
    gen7_to_9(MessageKind::Fence, "fence", Target::RenderCache, MessageNumber::Type(7)),
    typed(MessageKind::TypedRead, "typed read", 5),
    typed(MessageKind::TypedWrite, "typed write", 13),
    typed(MessageKind::TypedAtomic, "typed atomic", 6),
    typed(MessageKind::MediaBlockRead, "media block read", 4),
    gen7_to_9(MessageKind::MediaBlockRead, "media block read", Target::SamplerCache, MessageNumber::Type(4)),
    typed(MessageKind::MediaBlockWrite, "media block write", 10),
    gen9(MessageKind::RenderTargetRead, "render target read", Target::RenderCache, 13),
    gen7_to_9(MessageKind::RenderTargetWrite, "render target write", Target::RenderCache, MessageNumber::Type(12)),
    gen7_to_9(MessageKind::Sampler, "sample", Target::Sampler, MessageNumber::Only),
    gen7_to_9(MessageKind::Urb, "urb", Target::Urb, MessageNumber::Only),
    gen7_to_9(MessageKind::Gateway, "gateway", Target::Gateway, MessageNumber::Only),
    gen7_to_9(MessageKind::ThreadSpawner, "thread spawner", Target::ThreadSpawner, MessageNumber::Only),
    gen7_to_9(MessageKind::PixelInterpolator, "pixel interpolator", Target::PixelInterpolator, MessageNumber::Only),
    gen7_to_9(MessageKind::RaceCheck, "race check", Target::Null, MessageNumber::Only),
];

impl MessageKind {
    /// The message's name.
    pub fn name(self) -> &'static str {
        MESSAGES.iter().find(|row| row.kind == self).map_or("?", |row| row.name)
    }
}

impl Operation {
    /// Its message kind.
    pub fn kind(&self) -> MessageKind {
        use super::SimdMode;
        match *self {
            Operation::Untyped { write: false, a64: false, .. } => MessageKind::UntypedRead,
            Operation::Untyped { write: true, a64: false, .. } => MessageKind::UntypedWrite,
            Operation::Untyped { write: false, a64: true, .. } => MessageKind::A64UntypedRead,
            Operation::Untyped { write: true, a64: true, .. } => MessageKind::A64UntypedWrite,
            Operation::UntypedAtomic { a64: true, .. } => MessageKind::A64UntypedAtomic,
            Operation::UntypedAtomic { simd: SimdMode::Simd4x2, .. } => MessageKind::UntypedAtomic4x2,
            Operation::UntypedAtomic { .. } => MessageKind::UntypedAtomic,
            Operation::UntypedAtomicFloat { a64: false, .. } => MessageKind::UntypedAtomicFloat,
            Operation::UntypedAtomicFloat { a64: true, .. } => MessageKind::A64UntypedAtomicFloat,
            Operation::ByteScattered { write: false, .. } => MessageKind::ByteScatteredRead,
            Operation::ByteScattered { write: true, .. } => MessageKind::ByteScatteredWrite,
            Operation::DwordScattered { write: false, .. } => MessageKind::DwordScatteredRead,
            Operation::DwordScattered { write: true, .. } => MessageKind::DwordScatteredWrite,
            Operation::A64Scattered { write: false, .. } => MessageKind::A64ScatteredRead,
            Operation::A64Scattered { write: true, .. } => MessageKind::A64ScatteredWrite,
            Operation::OwordBlock { a64: true, write: false, .. } => MessageKind::A64BlockRead,
            Operation::OwordBlock { a64: true, write: true, .. } => MessageKind::A64BlockWrite,
            Operation::OwordBlock { write: true, .. } => MessageKind::OwordBlockWrite,
            Operation::OwordBlock { unaligned: true, .. } => MessageKind::OwordBlockReadUnaligned,
            Operation::OwordBlock { .. } => MessageKind::OwordBlockRead,
            Operation::OwordDualBlock { write: false, .. } => MessageKind::OwordDualBlockRead,
            Operation::OwordDualBlock { write: true, .. } => MessageKind::OwordDualBlockWrite,
            Operation::ScratchBlock { write: false, .. } => MessageKind::ScratchRead,
            Operation::ScratchBlock { write: true, .. } => MessageKind::ScratchWrite,
            Operation::Fence { .. } => MessageKind::Fence,
            Operation::Typed { write: false, .. } => MessageKind::TypedRead,
            Operation::Typed { write: true, .. } => MessageKind::TypedWrite,
            Operation::TypedAtomic { .. } => MessageKind::TypedAtomic,
            Operation::MediaBlock { write: false, .. } => MessageKind::MediaBlockRead,
            Operation::MediaBlock { write: true, .. } => MessageKind::MediaBlockWrite,
            Operation::RenderTarget { write: false, .. } => MessageKind::RenderTargetRead,
            Operation::RenderTarget { write: true, .. } => MessageKind::RenderTargetWrite,
            Operation::Sampler { .. } => MessageKind::Sampler,
            Operation::Urb { .. } => MessageKind::Urb,
            Operation::Gateway { .. } => MessageKind::Gateway,
            Operation::ThreadSpawner { .. } => MessageKind::ThreadSpawner,
            Operation::PixelInterpolator { .. } => MessageKind::PixelInterpolator,
            Operation::RaceCheck { .. } => MessageKind::RaceCheck,
        }
    }

    /// The cache of a message that several caches have.
    pub(super) fn port(&self) -> Option<SharedFunction> {
        match *self {
            Operation::DwordScattered { port, .. }
            | Operation::OwordBlock { port, .. }
            | Operation::OwordDualBlock { port, .. }
            | Operation::Fence { port, .. }
            | Operation::MediaBlock { port, .. } => Some(port),
            _ => None,
        }
    }
}

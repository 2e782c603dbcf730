//! Message descriptors of the shared functions.
//!
//! [`Message::decode`] and [`Message::encode`] convert between a descriptor of 32 bits (without end of
//! thread) and the operation. The shared function and number of each message are in a table (`table.rs`); the
//! layout of each message is described once, for both directions (`layout.rs`).
//!
//! Source: "Shared Functions - Data Port", "Message Gateway", "Thread Spawner" and the `MSD*` and
//! `MDC_*` structures of the Skylake manual, Volumes 7 and 2d; "Data Port Messages" of the Ivy
//! Bridge manual, Volume 4 Part 1.

mod layout;
mod lengths;
mod print;
mod table;

use crate::{Descriptor, Generation, Send, SharedFunction};

pub use lengths::{HeaderRule, Lengths};
pub use table::{MESSAGES, MessageInfo, MessageKind};

/// Binding table indices with a special meaning.
///
/// Source: "A32 Stateless" and "Binding Table Index" (Skylake, Volume 7).
pub mod surface {
    /// Memory at the address itself (A64) or from the general state base (A32), coherent with the CPU.
    pub const STATELESS: u8 = 255;
    /// Shared local memory.
    pub const SLM: u8 = 254;
    /// As [`STATELESS`], not coherent with the CPU.
    pub const STATELESS_NON_COHERENT: u8 = 253;
}

/// The contents of a descriptor: the lengths that all messages have, and the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// Registers of the payload, of a split send those of the first one; 0 to 15.
    pub payload: u8,
    /// Registers of the response, 0 to 16.
    pub response: u8,
    /// The payload starts with a header register.
    pub header: bool,
    /// The operation.
    pub operation: Operation,
}

/// The number of lanes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SimdMode {
    /// Two lanes of four channels each.
    Simd4x2,
    /// 8 lanes.
    Simd8,
    /// 16 lanes.
    Simd16,
}

impl SimdMode {
    /// The number of lanes.
    pub const fn lanes(self) -> u8 {
        match self {
            SimdMode::Simd4x2 => 2,
            SimdMode::Simd8 => 8,
            SimdMode::Simd16 => 16,
        }
    }
}

/// Integer atomic operations, `MDC_AOP*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the manual's names")]
pub enum AtomicOperation {
    /// Compare and write of twice the element's size.
    CmpWrite2,
    And,
    Or,
    Xor,
    Mov,
    Inc,
    Dec,
    Add,
    Sub,
    /// Source minus memory.
    RevSub,
    IMax,
    IMin,
    UMax,
    UMin,
    CmpWrite,
    PreDec,
}

impl AtomicOperation {
    /// Operands per lane: 0, 1 or 2.
    pub const fn operands(self) -> u8 {
        match self {
            AtomicOperation::Inc | AtomicOperation::Dec | AtomicOperation::PreDec => 0,
            AtomicOperation::CmpWrite => 2,
            AtomicOperation::CmpWrite2 => 4,
            _ => 1,
        }
    }
}

/// Float atomic operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the manual's names")]
pub enum FloatAtomicOperation {
    FMax,
    FMin,
    FCmpWrite,
}

impl FloatAtomicOperation {
    /// Operands per lane: 1 or 2.
    pub const fn operands(self) -> u8 {
        match self {
            FloatAtomicOperation::FCmpWrite => 2,
            FloatAtomicOperation::FMax | FloatAtomicOperation::FMin => 1,
        }
    }
}

/// The size of a block message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockSize {
    /// One OWord (16 bytes), the register's low half.
    OneLow,
    /// One OWord, the register's high half.
    OneHigh,
    /// 2 OWords.
    Two,
    /// 4 OWords.
    Four,
    /// 8 OWords.
    Eight,
}

impl BlockSize {
    /// Bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            BlockSize::OneLow | BlockSize::OneHigh => 16,
            BlockSize::Two => 32,
            BlockSize::Four => 64,
            BlockSize::Eight => 128,
        }
    }
}

/// The element of A64 scattered messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ElementSize {
    Byte,
    Dword,
    Qword,
}

impl ElementSize {
    /// Bytes.
    pub const fn bytes(self) -> u8 {
        match self {
            ElementSize::Byte => 1,
            ElementSize::Dword => 4,
            ElementSize::Qword => 8,
        }
    }
}

/// The lanes of a typed message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SlotGroup {
    /// Two lanes of four channels.
    Simd4x2,
    /// Lanes 0 to 7.
    Low,
    /// Lanes 8 to 15.
    High,
}

/// Functions of the message gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the manual's names")]
pub enum GatewayFunction {
    Open,
    Close,
    Forward,
    GetTimestamp,
    Barrier,
    UpdateState,
    MmioReadWrite,
}

/// Functions of the URB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the manual's names")]
pub enum UrbFunction {
    WriteHword,
    WriteOword,
    ReadHword,
    ReadOword,
    AtomicMov,
    AtomicInc,
    AtomicAdd,
    Simd8Write,
    Simd8Read,
}

/// The operation of a message. Surfaces are binding table indices, see [`surface`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Up to four dwords per lane.
    Untyped {
        /// Write, not read.
        write: bool,
        /// 64-bit addresses.
        a64: bool,
        /// Binding table index.
        surface: u8,
        /// Lanes.
        simd: SimdMode,
        /// Mask of the transferred dwords of four consecutive ones. (The descriptor has its complement.)
        channels: u8,
    },
    /// Integer atomic operation on one dword (A64: or qword) per lane.
    UntypedAtomic {
        /// 64-bit addresses; always 8 lanes.
        a64: bool,
        /// Binding table index.
        surface: u8,
        /// Lanes.
        simd: SimdMode,
        /// Operation.
        operation: AtomicOperation,
        /// On qwords; A64 only.
        qword: bool,
        /// The old value is the response.
        returns: bool,
    },
    /// Float atomic operation on one dword per lane (Gen9).
    UntypedAtomicFloat {
        /// 64-bit addresses; always 8 lanes.
        a64: bool,
        /// Binding table index.
        surface: u8,
        /// Lanes.
        simd: SimdMode,
        /// Operation.
        operation: FloatAtomicOperation,
        /// The old value is the response.
        returns: bool,
    },
    /// One element of 1, 2 or 4 bytes per lane at byte addresses, in a dword each.
    ByteScattered {
        /// Write, not read.
        write: bool,
        /// Binding table index.
        surface: u8,
        /// Lanes.
        simd: SimdMode,
        /// Bytes of the element: 1, 2 or 4.
        bytes: u8,
    },
    /// One dword per lane.
    DwordScattered {
        /// Through which cache: data, constant or sampler.
        port: SharedFunction,
        /// Write, not read.
        write: bool,
        /// Binding table index.
        surface: u8,
        /// Lanes.
        simd: SimdMode,
        /// Invalidate the cache line after a read.
        invalidate: bool,
    },
    /// One or more elements per lane at 64-bit addresses.
    A64Scattered {
        /// Write, not read.
        write: bool,
        /// Binding table index: one of the stateless ones.
        surface: u8,
        /// Lanes.
        simd: SimdMode,
        /// Size of an element.
        element: ElementSize,
        /// Elements per lane: 1, 2, 4 or 8. 1, 2 or 4 bytes per lane take a dword of payload.
        elements: u8,
    },
    /// A block of consecutive OWords.
    OwordBlock {
        /// Through which cache: data, constant or sampler.
        port: SharedFunction,
        /// Write, not read.
        write: bool,
        /// 64-bit address.
        a64: bool,
        /// The address is a multiple of a dword only.
        unaligned: bool,
        /// Binding table index.
        surface: u8,
        /// How much.
        size: BlockSize,
        /// Invalidate the cache line after a read.
        invalidate: bool,
    },
    /// Two blocks of OWords, one for each half of the registers.
    OwordDualBlock {
        /// Through which cache: data, constant or sampler.
        port: SharedFunction,
        /// Write, not read.
        write: bool,
        /// Binding table index.
        surface: u8,
        /// 1 or 4 OWords each.
        owords: u8,
        /// Invalidate the cache line after a read.
        invalidate: bool,
    },
    /// Consecutive registers of the thread's scratch space.
    ScratchBlock {
        /// Write, not read.
        write: bool,
        /// Registers: 1, 2 or 4, on Gen8+ also 8.
        registers: u8,
        /// First register of scratch, 0 to 4095.
        offset: u16,
        /// Lanes are masked per dword, not per OWord.
        dword_mode: bool,
        /// Invalidate the cache line after a read.
        invalidate: bool,
    },
    /// Waits for the thread's earlier memory accesses.
    Fence {
        /// The cache whose accesses the fence waits for: data or render.
        port: SharedFunction,
        /// Return a register when they are complete.
        commit: bool,
        /// Bits 12:9: L3 ranges to be flushed (instructions, constants, textures, read-write).
        flush: u8,
        /// Binding table index: 0, or 254 for shared local memory.
        surface: u8,
    },
    /// Typed surface access.
    Typed {
        /// Write, not read.
        write: bool,
        /// Binding table index.
        surface: u8,
        /// Lanes.
        slots: SlotGroup,
        /// Mask of the transferred channels, bits 0 to 3.
        channels: u8,
    },
    /// Integer atomic operation on a typed surface.
    TypedAtomic {
        /// Binding table index.
        surface: u8,
        /// Lanes 8 to 15 instead of 0 to 7.
        high: bool,
        /// Operation.
        operation: AtomicOperation,
        /// The old value is the response.
        returns: bool,
    },
    /// A rectangle of a surface.
    MediaBlock {
        /// Through which function: data port 1, render or sampler cache.
        port: SharedFunction,
        /// Write, not read.
        write: bool,
        /// Binding table index.
        surface: u8,
        /// Bits 10:8, vertical line stride.
        control: u8,
    },
    /// Render target access.
    RenderTarget {
        /// Write, not read.
        write: bool,
        /// Binding table index.
        surface: u8,
        /// Bits 10:8: SIMD16, SIMD16 replicated, dual source low or high, SIMD8.
        kind: u8,
        /// Bit 11: lanes 16 to 31.
        high: bool,
        /// Bit 12: the last one of this pixel.
        last: bool,
        /// Bit 13, per-sample (reads: reserved).
        per_sample: bool,
    },
    /// The sampler.
    Sampler {
        /// Binding table index.
        surface: u8,
        /// Sampler state index.
        sampler: u8,
        /// Bits 16:12: message type.
        kind: u8,
        /// Bits 18:17 and, Gen8+, 29.
        mode: u8,
        /// 16-bit results (Gen8+).
        half: bool,
    },
    /// The unified return buffer.
    Urb {
        /// Function.
        function: UrbFunction,
        /// Offset in 256-bit units.
        offset: u16,
        /// Offsets per slot in the payload.
        per_slot: bool,
        /// Swizzle, or (SIMD8, Gen8+) channel masks in the payload.
        swizzle: bool,
        /// The handle is complete (Gen7).
        complete: bool,
    },
    /// The message gateway.
    Gateway {
        /// Function.
        function: GatewayFunction,
        /// Bits 16:14: acknowledge and notify.
        notify: u8,
    },
    /// The thread spawner: end of thread.
    ThreadSpawner {
        /// Bit 4: the URB handle is not dereferenced.
        keep_handle: bool,
        /// Bit 1: the requester is a root thread.
        root: bool,
        /// Bit 0: spawn, not dereference.
        spawn: bool,
    },
    /// An access of each lane to memory, which a simulator checks for data races. No hardware has this message: it goes to
    /// the null shared function.
    RaceCheck {
        /// Bits 7:0: what is accessed, and how.
        control: u8,
        /// Lanes.
        simd: SimdMode,
    },
    /// The pixel interpolator.
    PixelInterpolator {
        /// Bits 7:0.
        data: u8,
        /// Bit 11: lanes 16 to 31.
        high: bool,
        /// Bits 13:12.
        kind: u8,
        /// Bit 14.
        linear: bool,
        /// Bit 16: SIMD16.
        simd16: bool,
    },
}

/// Why a descriptor or a message cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// The shared function has no message of this number in this generation.
    #[error("{target:?} has no message {descriptor:#010x}")]
    Unknown {
        /// The shared function.
        target: SharedFunction,
        /// The descriptor.
        descriptor: u32,
    },
    /// The generation has no such message.
    #[error("the generation has no message {0:?}")]
    Missing(MessageKind),
    /// A value that the field reserves or cannot hold.
    #[error("{field}: value {value} of message {kind:?} is reserved")]
    Value {
        /// The message.
        kind: MessageKind,
        /// The field.
        field: &'static str,
        /// Its value.
        value: u32,
    },
}

impl Message {
    /// A message with an operation and its lengths, without header.
    pub fn new(operation: Operation) -> Message {
        let lengths = operation.lengths();
        let header = lengths.header == HeaderRule::Required;
        Message { payload: lengths.payload + u8::from(header), response: lengths.response, header, operation }
    }

    /// Decodes a descriptor. Bit 31, end of thread, is ignored.
    ///
    /// # Errors
    /// A message or a value that the generation reserves.
    pub fn decode(
        generation: Generation,
        target: SharedFunction,
        descriptor: u32,
    ) -> Result<Message, MessageError> {
        layout::decode(generation, target, descriptor)
    }

    /// Encodes the message to shared function and descriptor.
    ///
    /// # Errors
    /// A message or value that the generation does not have.
    pub fn encode(&self, generation: Generation) -> Result<(SharedFunction, u32), MessageError> {
        layout::encode(generation, self)
    }

    /// The descriptors of the message in an instruction; `second` of the payload's registers are the second
    /// payload of a split send.
    ///
    /// # Errors
    /// A message or value that the generation does not have.
    pub fn send(
        &self,
        generation: Generation,
        second: u8,
        end_of_thread: bool,
    ) -> Result<Send, MessageError> {
        let first = Message { payload: self.payload.saturating_sub(second), ..*self };
        let (target, descriptor) = first.encode(generation)?;
        Ok(Send {
            target,
            descriptor: Descriptor::Immediate(descriptor),
            // Bits 9:6: "Extended Message Length".
            extended: Descriptor::Immediate(u32::from(second) << 6),
            end_of_thread,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operations with the descriptors that Intel's compiler gives them (where that uses split sends,
    /// with the length of a single payload).
    const DESCRIPTORS: &[(Operation, SharedFunction, u32, &str)] = &[
        (
            Operation::A64Scattered {
                write: false,
                surface: surface::STATELESS,
                simd: SimdMode::Simd16,
                element: ElementSize::Byte,
                elements: 1,
            },
            SharedFunction::DataCache1,
            0x0824_10ff,
            "a64 scattered read, stateless, SIMD16, 1 x Byte, mlen 4 rlen 2",
        ),
        (
            Operation::A64Scattered {
                write: false,
                surface: surface::STATELESS,
                simd: SimdMode::Simd16,
                element: ElementSize::Qword,
                elements: 2,
            },
            SharedFunction::DataCache1,
            0x0884_16ff,
            "a64 scattered read, stateless, SIMD16, 2 x Qword, mlen 4 rlen 8",
        ),
        (
            Operation::A64Scattered {
                write: true,
                surface: surface::STATELESS,
                simd: SimdMode::Simd16,
                element: ElementSize::Byte,
                elements: 1,
            },
            SharedFunction::DataCache1,
            0x0c06_90ff,
            "a64 scattered write, stateless, SIMD16, 1 x Byte, mlen 6 rlen 0",
        ),
        (
            Operation::Untyped {
                write: false,
                a64: false,
                surface: surface::SLM,
                simd: SimdMode::Simd16,
                channels: 1,
            },
            SharedFunction::DataCache1,
            0x0420_5efe,
            "untyped read, slm, SIMD16, x, mlen 2 rlen 2",
        ),
        (
            Operation::ByteScattered {
                write: false,
                surface: surface::SLM,
                simd: SimdMode::Simd16,
                bytes: 1,
            },
            SharedFunction::DataCache,
            0x0421_01fe,
            "byte scattered read, slm, SIMD16, 1 bytes, mlen 2 rlen 2",
        ),
        (
            Operation::UntypedAtomic {
                a64: true,
                surface: surface::STATELESS,
                simd: SimdMode::Simd8,
                operation: AtomicOperation::Add,
                qword: false,
                returns: true,
            },
            SharedFunction::DataCache1,
            0x0614_a7ff,
            "a64 untyped atomic Add, stateless, SIMD8, returns, mlen 3 rlen 1",
        ),
        (
            Operation::ScratchBlock {
                write: false,
                registers: 4,
                offset: 16,
                dword_mode: false,
                invalidate: false,
            },
            SharedFunction::DataCache,
            0x024c_2010,
            "scratch read, offset 16, 4 registers, mlen 1 rlen 4 header",
        ),
        (
            Operation::Fence { port: SharedFunction::DataCache, commit: true, flush: 0, surface: 0 },
            SharedFunction::DataCache,
            0x0219_e000,
            "fence, flush 0x0, bti 0, commit, mlen 1 rlen 1 header",
        ),
        (
            Operation::Gateway { function: GatewayFunction::Barrier, notify: 0 },
            SharedFunction::Gateway,
            0x0200_0004,
            "gateway Barrier, notify 0, mlen 1 rlen 0",
        ),
        (
            Operation::Sampler { surface: 0, sampler: 0, kind: 31, mode: 3, half: false },
            SharedFunction::Sampler,
            0x0007_f000,
            "sample, bti 0, sampler 0, cache_flush mode 3, mlen 0 rlen 0",
        ),
        (
            Operation::ThreadSpawner { keep_handle: true, root: false, spawn: false },
            SharedFunction::ThreadSpawner,
            0x0200_0010,
            "thread spawner, keep handle, mlen 1 rlen 0",
        ),
    ];

    #[test]
    fn known_descriptors() {
        for (operation, target, bits, text) in DESCRIPTORS {
            let message = Message::new(*operation);
            assert_eq!(message.to_string(), *text);
            assert_eq!(message.encode(Generation::Gen9), Ok((*target, *bits)), "{text}: {bits:#010x}");
            assert_eq!(Message::decode(Generation::Gen9, *target, *bits), Ok(message), "{text}");
        }
    }

    #[test]
    fn messages_that_a_generation_lacks_are_errors() {
        let (operation, ..) = DESCRIPTORS[0];
        let message = Message::new(operation);
        assert_eq!(
            message.encode(Generation::Gen7),
            Err(MessageError::Missing(MessageKind::A64ScatteredRead))
        );
        let channels =
            Operation::Untyped { write: true, a64: false, surface: 0, simd: SimdMode::Simd8, channels: 0x1f };
        assert!(Message::new(channels).encode(Generation::Gen9).is_err());
    }

    /// Every message of every generation can be decoded (the other bits are legal for all).
    #[test]
    fn every_row_decodes_to_its_kind() {
        for generation in Generation::ALL {
            for row in MESSAGES {
                let Some((target, number)) = row.place(generation) else { continue };
                let bits = match number {
                    table::MessageNumber::Type(number) => u32::from(number) << 14 | 0x200,
                    table::MessageNumber::Scratch(write) => 1 << 18 | u32::from(write) << 17,
                    table::MessageNumber::Only => 0,
                };
                let message = Message::decode(generation, target, bits);
                let kind = message.map(|message| message.operation.kind());
                assert_eq!(kind, Ok(row.kind), "{generation:?} {}", row.name);
            }
        }
    }
}

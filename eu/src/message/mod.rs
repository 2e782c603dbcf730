//! Messages: what `send` instructions have the shared functions do.
//!
//! Descriptor fields: Skylake manual, Volume 2d "Command Reference: Structures", `MDC_*` and `MSD*`;
//! behaviour: Volume 7, "Shared Functions - Data Port", "Message Gateway", "Thread Spawner"; cross-checked
//! with Mesa's `brw_eu.h` and IGA's `MessageDecoderHDC.cpp`.

mod atomic;
mod buffer;
mod descriptor;
pub(crate) mod image;
pub(crate) mod port;
mod race;
mod race_table;
pub(crate) mod surface_state;

use gencl_isa::{Descriptor, SharedFunction};

use crate::dispatch::GRF_SIZE;
use crate::fault::Fault;
use crate::file::{self, GRF_BYTES};
pub use atomic::{Atomic, AtomicOperation};
pub use buffer::{Block, BlockAddress, Elements, Scattered, ScratchBlock};
pub use descriptor::decode;
pub use image::{
    AddressMode, Axis, ChannelType, Component, FORMATS, FilterFacts, ImageBinding, ImageFacts, ImageNumbers,
    MediaBlock, Parameter, Sample, SurfaceFormat, Typed, TypedAtomic, channel_bits, registers,
};
pub use port::{MemoryRegion, Space, are_flat, can_be_flat};
pub use race::{
    BARRIER, BARRIERS, COPY, FENCED, Found, GROUPS, ITEM, RECORD_SIZE, RECORDS_OF_SITE, RUN, RaceAccess,
    RaceCheck, RaceSpace, SEVERAL, SUB_GROUP_BARRIER, SUB_GROUP_BARRIERS, UNCHANGED, WAIT, WAITS, Word,
};
pub use race_table::{RaceLaunch, RaceTable};

/// The operation of a message, decoded from its descriptor.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageOperation {
    /// Reads and writes with an address per channel.
    Scattered(Scattered),
    /// Atomic operations.
    Atomic(Atomic),
    /// OWord and HWord blocks.
    Block(Block),
    /// Scratch blocks.
    Scratch(ScratchBlock),
    /// Typed surface read or write.
    Typed(Typed),
    /// Atomic operations on texels.
    TypedAtomic(TypedAtomic),
    /// Media blocks.
    MediaBlock(MediaBlock),
    /// Messages to the sampler.
    Sample(Sample),
    /// Memory fence.
    Fence,
    /// The work-group barrier.
    Barrier,
    /// The check of accesses for data races.
    Race(RaceCheck),
    /// The thread ends.
    End,
}

/// A `send` instruction: its operation and its registers.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The operation; `None` when the descriptor is in a register.
    pub kind: Option<MessageOperation>,
    /// Shared function.
    pub target: SharedFunction,
    /// Message descriptor.
    pub descriptor: Descriptor,
    /// Extended descriptor.
    pub extended: Descriptor,
    /// Whether it is a split send.
    pub split: bool,
    /// Offset of the payload in the register file.
    pub payload: usize,
    /// Offset of the second payload of a split send in the register file.
    pub second: usize,
    /// Offset of the response in the register file, `None` for null.
    pub response: Option<usize>,
    /// Whether the thread ends.
    pub end_of_thread: bool,
    /// Lengths and header; the default when the descriptor is in a register.
    pub lengths: MessageLengths,
}

/// The fields that all descriptors have: lengths in registers, and whether there is a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageLengths {
    /// Registers of the payload.
    pub length: usize,
    /// Registers of the second payload.
    pub second_length: usize,
    /// Registers of the response.
    pub response_length: usize,
    /// Whether the first register of the payload is a header.
    pub header: bool,
}

impl MessageLengths {
    /// Decodes the descriptors (Volume 2d, "Message Descriptor", "Extended Message Descriptor").
    pub fn of(descriptor: u32, extended: u32, split: bool) -> MessageLengths {
        MessageLengths {
            length: (descriptor >> 25 & 0xf) as usize,
            second_length: if split { (extended >> 6 & 0xf) as usize } else { 0 },
            response_length: (descriptor >> 20 & 0x1f) as usize,
            header: descriptor >> 19 & 1 != 0,
        }
    }
}

impl MessageOperation {
    /// The memory that it accesses as a buffer, or by the numbers of buffers.
    fn space(&self) -> Option<Space> {
        match self {
            MessageOperation::Scattered(m) => Some(m.space),
            MessageOperation::Atomic(m) => Some(m.space),
            MessageOperation::Block(Block {
                address: BlockAddress::OWords(space) | BlockAddress::Bytes(space),
                ..
            }) => Some(*space),
            MessageOperation::Block(Block { address: BlockAddress::Wide { .. }, .. })
            | MessageOperation::Scratch(_)
            | MessageOperation::Typed(_)
            | MessageOperation::TypedAtomic(_)
            | MessageOperation::MediaBlock(_)
            | MessageOperation::Sample(_)
            | MessageOperation::Fence
            | MessageOperation::Barrier
            | MessageOperation::Race(_)
            | MessageOperation::End => None,
        }
    }

    /// Whether it accesses shared local memory, and nothing else.
    pub fn is_local(&self) -> bool {
        self.space() == Some(Space::Local)
    }

    /// The binding table index of the surface that it accesses as a buffer, if any.
    pub fn buffer_surface(&self) -> Option<u8> {
        match self.space()? {
            Space::Surface(index) => Some(index),
            Space::Local | Space::Stateless | Space::Global => None,
        }
    }
}

impl Message {
    /// Offset in the register file of register `index` of the payload, which may be in the second payload of
    /// a split send; `None` if it has fewer.
    pub fn payload_register(&self, lengths: MessageLengths, index: usize) -> Option<usize> {
        if index < lengths.length {
            return Some(self.payload + index * GRF_SIZE);
        }
        let index = index - lengths.length;
        (index < lengths.second_length).then_some(self.second + index * GRF_SIZE)
    }

    /// Bit set of the general registers that it reads.
    pub fn reads(&self, lengths: MessageLengths) -> u128 {
        let set = |first: usize, count: usize| file::grf_mask(first, first + count * GRF_SIZE);
        set(self.payload, lengths.length) | set(self.second, lengths.second_length)
    }

    /// Bit set of the general registers that it writes.
    pub fn writes(&self, lengths: MessageLengths) -> u128 {
        self.response.map_or(0, |r| file::grf_mask(r, r + lengths.response_length * GRF_SIZE))
    }

    /// Checks the rules that apply to all messages.
    ///
    /// # Errors
    /// Registers beyond the last, a second payload that overlaps the first, an end of thread from registers
    /// below g112.
    pub fn check(&self, lengths: MessageLengths) -> Result<(), Fault> {
        let end = |first: usize, count: usize| first + count * GRF_SIZE;
        let inside = end(self.payload, lengths.length) <= GRF_BYTES
            && end(self.second, lengths.second_length) <= GRF_BYTES
            && self.response.is_none_or(|r| end(r, lengths.response_length) <= GRF_BYTES);
        if !inside {
            return Err(Fault::illegal("a message's registers go beyond g127"));
        }
        if lengths.length == 0 {
            return Err(Fault::illegal("a message without payload"));
        }
        if self.end_of_thread {
            let first = if lengths.second_length > 0 { self.payload.min(self.second) } else { self.payload };
            if first < 112 * GRF_SIZE {
                return Err(Fault::illegal("the payload of an end of thread must be in g112-g127"));
            }
        }
        Ok(())
    }
}

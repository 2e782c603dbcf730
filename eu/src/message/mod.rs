//! Messages: what `send` instructions have the shared functions do.
//!
//! Descriptor fields: Skylake manual, Volume 2d "Command Reference: Structures", `MDC_*` and `MSD*`;
//! behaviour: Volume 7, "Shared Functions - Data Port", "Message Gateway", "Thread Spawner"; cross-checked
//! with Mesa's `brw_eu.h` and IGA's `MessageDecoderHDC.cpp`.

mod atomic;
mod block;
mod descriptor;
mod footprint;
mod image;
mod port;
mod scattered;
mod surface_state;

use gencl_isa::{Descriptor, SharedFunction};

use super::file::{self, ADDRESS, GRF_BYTES};
use super::op::{Op, Trap};
use super::run::Context;
use super::thread::{Status, Thread};
use crate::dispatch::GRF_SIZE;
use crate::fault::Fault;
use crate::memory::Cursor;
pub use atomic::{Atomic, AtomicOperation};
pub use block::{Block, BlockAddress, ScratchBlock};
pub use descriptor::decode;
pub use footprint::Footprint;
use image::PreparedSlot;
pub use image::{
    AddressMode, Axis, ChannelType, Component, FORMATS, FilterFacts, ImageBinding, ImageFacts, ImageNumbers,
    ImageUse, Parameter, SurfaceFormat, channel_bits, registers,
};
pub use image::{MediaBlock, Sample, Typed, TypedAtomic};
pub use port::{Space, are_flat, can_be_flat};
pub use scattered::{Element, Scattered, Untyped};

/// The operation of a message, decoded from its descriptor.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageOperation {
    /// Untyped surface read or write: up to four dwords per channel.
    Untyped(Untyped),
    /// Byte, dword and qword scattered reads and writes.
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
            MessageOperation::Untyped(m) => Some(m.space),
            MessageOperation::Scattered(m) => Some(m.space),
            MessageOperation::Atomic(m) => Some(m.space),
            MessageOperation::Block(Block {
                address: BlockAddress::OWords(space) | BlockAddress::Bytes(space),
                ..
            }) => Some(*space),
            _ => None,
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
            _ => None,
        }
    }
}

impl Message {
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

/// What a message instruction keeps from one execution to the next. It can be used with any launch: a stale one
/// only costs time.
#[derive(Debug, Default)]
pub struct MessageCache {
    /// The buffer of the last access.
    pub cursor: Cursor,
    /// The image of the last access.
    image: PreparedSlot,
}

/// A message that is being performed: the state that it accesses.
pub struct Call<'a, 'c> {
    /// The state of the work-group.
    pub context: &'a mut Context<'c>,
    /// The thread.
    pub thread: &'a mut Thread,
    /// The instruction.
    pub op: &'a Op,
    /// The message.
    pub message: &'a Message,
    /// Lengths and header.
    pub lengths: MessageLengths,
    /// Enabled channels; bit 0 is the instruction's first channel.
    pub mask: u32,
}

impl Call<'_, '_> {
    /// Offset in the register file of register `index` of the payload, which may be in the second payload of
    /// a split send.
    pub fn payload(&self, index: usize) -> Result<usize, Fault> {
        if index < self.lengths.length {
            return Ok(self.message.payload + index * GRF_SIZE);
        }
        let index = index - self.lengths.length;
        if index < self.lengths.second_length {
            return Ok(self.message.second + index * GRF_SIZE);
        }
        Err(Fault::illegal("the message's payload is shorter than its operation requires"))
    }

    /// Offset in the register file of `count` registers of the payload, which must be consecutive.
    pub fn payload_range(&self, index: usize, count: usize) -> Result<usize, Fault> {
        let first = self.payload(index)?;
        match self.payload(index + count.max(1) - 1)? {
            last if last == first + (count.max(1) - 1) * GRF_SIZE => Ok(first),
            _ => Err(Fault::illegal("addresses or data are divided between a split message's payloads")),
        }
    }

    /// Offset of the response in the register file. Its length must be at least `needed` registers.
    pub fn response(&self, needed: usize) -> Result<usize, Fault> {
        match self.message.response {
            Some(at) if self.lengths.response_length >= needed => Ok(at),
            Some(_) => Err(Fault::illegal("the message's response length is shorter than its response")),
            None => Err(Fault::illegal("the message has a response and its destination is null")),
        }
    }

    /// A dword of the header.
    pub fn header(&self, dword: usize) -> Result<u32, Fault> {
        if !self.lengths.header {
            return Err(Fault::illegal("the message needs a header"));
        }
        Ok(file::dword(&self.thread.file, self.message.payload + dword * 4))
    }

    /// Index of the first payload register after the header.
    pub fn first(&self) -> usize {
        usize::from(self.lengths.header)
    }
}

/// Performs the message of a `send`.
pub fn send(
    context: &mut Context<'_>,
    thread: &mut Thread,
    op: &Op,
    message: &Message,
    mask: u32,
) -> Result<(), Trap> {
    match &message.kind {
        Some(kind) => {
            let call = Call { context, thread, op, message, lengths: message.lengths, mask };
            perform(call, kind)
        }
        None => {
            let at = |d: Descriptor| match d {
                Descriptor::Immediate(bits) => bits,
                Descriptor::Register(n) => file::dword(&thread.file, ADDRESS + usize::from(n) % 8 * 4),
            };
            let (descriptor, extended) = (at(message.descriptor), at(message.extended));
            let lengths = MessageLengths::of(descriptor, extended, message.split);
            message.check(lengths)?;
            let missing = message.reads(lengths) & !thread.written;
            if context.strict && missing != 0 {
                return Err(Box::new(Fault::illegal(format!(
                    "g{} is sent but has never been written",
                    missing.trailing_zeros()
                ))));
            }
            thread.written |= message.writes(lengths);
            let generation = context.device.generation;
            let kind = decode(generation, message.target, descriptor, message.end_of_thread)?;
            perform(Call { context, thread, op, message, lengths, mask }, &kind)
        }
    }
}

fn perform(mut call: Call<'_, '_>, kind: &MessageOperation) -> Result<(), Trap> {
    match kind {
        MessageOperation::Untyped(message) => scattered::untyped(&mut call, message)?,
        MessageOperation::Scattered(message) => scattered::scattered(&mut call, message)?,
        MessageOperation::Atomic(message) => atomic::perform(&mut call, message)?,
        MessageOperation::Block(message) => block::block(&mut call, message)?,
        MessageOperation::Scratch(message) => block::scratch(&mut call, message)?,
        MessageOperation::Typed(message) => image::typed(&mut call, message)?,
        MessageOperation::TypedAtomic(message) => image::typed_atomic(&mut call, message)?,
        MessageOperation::MediaBlock(message) => image::media_block(&mut call, message)?,
        MessageOperation::Sample(message) => image::sample(&mut call, message)?,
        // Accesses of a thread are performed immediately and in order, so there is nothing to wait for.
        MessageOperation::Fence => {
            if let Some(at) = call.message.response {
                let bytes = call.lengths.response_length * GRF_SIZE;
                call.thread.file[at..at + bytes].fill(0);
            }
        }
        MessageOperation::Barrier => {
            if !call.context.launch.barrier {
                Err(Fault::illegal(
                    "a barrier message in a launch without Barrier Enable (interface descriptor)",
                ))?;
            }
            call.context.barrier.arrived += 1;
        }
        MessageOperation::End => {}
    }
    if call.message.end_of_thread {
        call.thread.status = Status::Ended;
    }
    Ok(())
}

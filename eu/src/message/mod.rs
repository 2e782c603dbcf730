//! Messages: what a `send` asks of the shared functions.
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

use gencl_isa::{Descriptor, SharedFunction};

use super::file::{self, ADDRESS, GRF_BYTES};
use super::op::{Op, Trap};
use super::run::Context;
use super::thread::{Status, Thread};
use crate::dispatch::GRF_SIZE;
use crate::fault::Fault;
pub use atomic::{Atomic, AtomicOperation};
pub use block::{Block, BlockAddress, Scratch};
pub use descriptor::decode;
pub use footprint::Footprint;
#[cfg(test)]
pub use image::FORMATS;
pub use image::{MediaBlock, Sample, Typed, TypedAtomic};
pub use port::{Space, are_flat};
pub use scattered::{Element, Scattered, Untyped};

/// What a message asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Untyped surface read or write: up to four dwords per channel.
    Untyped(Untyped),
    /// Byte, dword and qword scattered reads and writes.
    Scattered(Scattered),
    /// Atomic operations.
    Atomic(Atomic),
    /// OWord and HWord blocks.
    Block(Block),
    /// Scratch blocks.
    Scratch(Scratch),
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

/// Registers of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// What it asks for; `None` when the descriptor is in a register.
    pub kind: Option<Kind>,
    /// The descriptors as the instruction gives them.
    pub target: SharedFunction,
    /// Message descriptor.
    pub descriptor: Descriptor,
    /// Extended descriptor.
    pub extended: Descriptor,
    /// Is it a split send?
    pub split: bool,
    /// First byte of the payload.
    pub payload: usize,
    /// First byte of the second payload of a split send.
    pub second: usize,
    /// First byte of the response, `None` for null.
    pub response: Option<usize>,
    /// Does the thread end?
    pub end_of_thread: bool,
    /// Lengths and header, as far as the descriptors are known.
    pub shape: Shape,
}

/// What the generic part of a descriptor says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Registers of the payload.
    pub length: usize,
    /// Registers of the second payload.
    pub second_length: usize,
    /// Registers of the response.
    pub response_length: usize,
    /// Is the payload's first register a header?
    pub header: bool,
}

impl Shape {
    /// From the descriptors (Volume 2d, "Message Descriptor", "Extended Message Descriptor").
    pub fn of(descriptor: u32, extended: u32, split: bool) -> Shape {
        Shape {
            length: (descriptor >> 25 & 0xf) as usize,
            second_length: if split { (extended >> 6 & 0xf) as usize } else { 0 },
            response_length: (descriptor >> 20 & 0x1f) as usize,
            header: descriptor >> 19 & 1 != 0,
        }
    }
}

impl Kind {
    /// The surface whose memory, as a buffer, is read or written.
    pub fn buffer_surface(&self) -> Option<u8> {
        let space = match self {
            Kind::Untyped(m) => m.space,
            Kind::Scattered(m) => m.space,
            Kind::Atomic(m) => m.space,
            Kind::Block(Block {
                address: BlockAddress::OWords(space) | BlockAddress::Bytes(space), ..
            }) => *space,
            _ => return None,
        };
        match space {
            Space::Surface(index) => Some(index),
            _ => None,
        }
    }
}

impl Message {
    /// The registers that it reads.
    pub fn reads(&self, shape: Shape) -> u128 {
        let set = |first: usize, count: usize| file::grf_mask(first, first + count * GRF_SIZE);
        set(self.payload, shape.length) | set(self.second, shape.second_length)
    }

    /// The registers that it writes.
    pub fn writes(&self, shape: Shape) -> u128 {
        self.response.map_or(0, |r| file::grf_mask(r, r + shape.response_length * GRF_SIZE))
    }

    /// Checks what every message must keep to, whatever it asks for.
    ///
    /// # Errors
    /// Registers beyond the last, a second payload that overlaps the first, an end of thread from registers
    /// below g112.
    pub fn check(&self, shape: Shape) -> Result<(), Fault> {
        let end = |first: usize, count: usize| first + count * GRF_SIZE;
        let inside = end(self.payload, shape.length) <= GRF_BYTES
            && end(self.second, shape.second_length) <= GRF_BYTES
            && self.response.is_none_or(|r| end(r, shape.response_length) <= GRF_BYTES);
        if !inside {
            return Err(Fault::illegal("a message's registers go beyond g127"));
        }
        if shape.length == 0 {
            return Err(Fault::illegal("a message without payload"));
        }
        if self.end_of_thread {
            let first = if shape.second_length > 0 { self.payload.min(self.second) } else { self.payload };
            if first < 112 * GRF_SIZE {
                return Err(Fault::illegal("the payload of an end of thread must be in g112-g127"));
            }
        }
        Ok(())
    }
}

/// Everything that a message needs at run time.
pub struct Call<'a, 'c> {
    /// The work-group's surroundings.
    pub context: &'a mut Context<'c>,
    /// The thread.
    pub thread: &'a mut Thread,
    /// The instruction.
    pub op: &'a Op,
    /// Registers.
    pub message: &'a Message,
    /// Lengths.
    pub shape: Shape,
    /// Channels.
    pub mask: u32,
}

impl Call<'_, '_> {
    /// Byte offset in the register file of the payload's register `index`, which may be in the second
    /// part of a split send.
    pub fn payload(&self, index: usize) -> Result<usize, Fault> {
        if index < self.shape.length {
            return Ok(self.message.payload + index * GRF_SIZE);
        }
        let index = index - self.shape.length;
        if index < self.shape.second_length {
            return Ok(self.message.second + index * GRF_SIZE);
        }
        Err(Fault::illegal("the message's payload is shorter than what it asks for needs"))
    }

    /// `count` registers of the payload that must follow each other.
    pub fn payload_range(&self, index: usize, count: usize) -> Result<usize, Fault> {
        let first = self.payload(index)?;
        match self.payload(index + count.max(1) - 1)? {
            last if last == first + (count.max(1) - 1) * GRF_SIZE => Ok(first),
            _ => Err(Fault::illegal("addresses or data are divided between a split message's payloads")),
        }
    }

    /// Where the response goes. `needed` registers must fit into its length.
    pub fn response(&self, needed: usize) -> Result<usize, Fault> {
        match self.message.response {
            Some(at) if self.shape.response_length >= needed => Ok(at),
            Some(_) => Err(Fault::illegal("the message's response length is shorter than its response")),
            None => Err(Fault::illegal("the message has a response and its destination is null")),
        }
    }

    /// A dword of the header.
    pub fn header(&self, dword: usize) -> Result<u32, Fault> {
        if !self.shape.header {
            return Err(Fault::illegal("the message needs a header"));
        }
        Ok(file::dword(&self.thread.file, self.message.payload + dword * 4))
    }

    /// Registers before addresses or data: the header.
    pub fn first(&self) -> usize {
        usize::from(self.shape.header)
    }
}

/// Sends a message and does what it asks for.
pub fn send(
    context: &mut Context<'_>,
    thread: &mut Thread,
    op: &Op,
    message: &Message,
    mask: u32,
) -> Result<(), Trap> {
    match &message.kind {
        Some(kind) => {
            let call = Call { context, thread, op, message, shape: message.shape, mask };
            perform(call, kind)
        }
        None => {
            let at = |d: Descriptor| match d {
                Descriptor::Immediate(bits) => bits,
                Descriptor::Register(n) => file::dword(&thread.file, ADDRESS + usize::from(n) % 8 * 4),
            };
            let (descriptor, extended) = (at(message.descriptor), at(message.extended));
            let shape = Shape::of(descriptor, extended, message.split);
            message.check(shape)?;
            let missing = message.reads(shape) & !thread.written;
            if context.strict && missing != 0 {
                return Err(Box::new(Fault::illegal(format!(
                    "g{} is sent but has never been written",
                    missing.trailing_zeros()
                ))));
            }
            thread.written |= message.writes(shape);
            let generation = context.device.generation;
            let kind = decode(generation, message.target, descriptor, message.end_of_thread)?;
            perform(Call { context, thread, op, message, shape, mask }, &kind)
        }
    }
}

fn perform(mut call: Call<'_, '_>, kind: &Kind) -> Result<(), Trap> {
    match kind {
        Kind::Untyped(message) => scattered::untyped(&mut call, message)?,
        Kind::Scattered(message) => scattered::scattered(&mut call, message)?,
        Kind::Atomic(message) => atomic::perform(&mut call, message)?,
        Kind::Block(message) => block::block(&mut call, message)?,
        Kind::Scratch(message) => block::scratch(&mut call, message)?,
        Kind::Typed(message) => image::typed(&mut call, message)?,
        Kind::TypedAtomic(message) => image::typed_atomic(&mut call, message)?,
        Kind::MediaBlock(message) => image::media_block(&mut call, message)?,
        Kind::Sample(message) => image::sample(&mut call, message)?,
        // All accesses of a thread are performed in order, at once.
        Kind::Fence => {
            if let Some(at) = call.message.response {
                let bytes = call.shape.response_length * GRF_SIZE;
                call.thread.file[at..at + bytes].fill(0);
            }
        }
        Kind::Barrier => {
            if !call.context.launch.barrier {
                Err(Fault::illegal("a barrier in a launch without one (interface descriptor)"))?;
            }
            call.context.barrier.arrived += 1;
        }
        Kind::End => {}
    }
    if call.message.end_of_thread {
        call.thread.status = Status::Ended;
    }
    Ok(())
}

//! The shared functions: they perform the messages of `send` instructions.

mod atomic;
mod block;
mod call;
mod footprint;
mod images;
mod media_block;
mod port;
mod race;
mod sampler;
mod scattered;
mod states;
mod typed;

use gencl_isa::Descriptor;

use crate::context::Context;
use crate::dispatch::GRF_SIZE;
use crate::fault::Fault;
use crate::file::{self, ADDRESS};
use crate::message::{Message, MessageLengths, MessageOperation, decode};
use crate::op::{Op, Trap};
use crate::thread::{Status, Thread};
pub use call::Call;
pub use footprint::Footprint;

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
        MessageOperation::Scattered(message) => scattered::perform(&mut call, message)?,
        MessageOperation::Atomic(message) => atomic::perform(&mut call, message)?,
        MessageOperation::Block(message) => block::block(&mut call, message)?,
        MessageOperation::Scratch(message) => block::scratch(&mut call, message)?,
        MessageOperation::Typed(message) => typed::access(&mut call, message)?,
        MessageOperation::TypedAtomic(message) => typed::atomic(&mut call, message)?,
        MessageOperation::MediaBlock(message) => media_block::transfer(&mut call, message)?,
        MessageOperation::Sample(message) => sampler::sample(&mut call, message)?,
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
        MessageOperation::Race(message) => race::perform(&mut call, message)?,
        MessageOperation::End => {}
    }
    if call.message.end_of_thread {
        call.thread.status = Status::Ended;
    }
    Ok(())
}

//! A message that is being performed, and its payload and response in registers.

use crate::context::Context;
use crate::dispatch::GRF_SIZE;
use crate::fault::Fault;
use crate::file;
use crate::message::{Message, MessageLengths, Space};
use crate::op::Op;
use crate::thread::Thread;

/// Maximum number of channels of a message.
const MAX_SIMD: usize = 16;

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
        let register = self.message.payload_register(self.lengths, index);
        register.ok_or_else(|| Fault::illegal("the message's payload is shorter than its operation requires"))
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

    /// Number of registers of `simd` elements.
    pub fn registers(simd: usize, element_size: usize) -> usize {
        (simd * element_size).div_ceil(GRF_SIZE)
    }

    /// The addresses of all channels.
    #[inline]
    pub fn addresses(&self, space: Space, simd: usize) -> Result<[u64; MAX_SIMD], Fault> {
        let size = space.address_size();
        let at = self.payload_range(self.first(), Self::registers(simd, size))?;
        let bytes = &self.thread.file[at..at + simd * size];
        let mut addresses = [0; MAX_SIMD];
        if size == 8 {
            for (address, bytes) in addresses.iter_mut().zip(bytes.chunks_exact(8)) {
                *address = bytemuck::pod_read_unaligned(bytes);
            }
        } else {
            for (address, bytes) in addresses.iter_mut().zip(bytes.chunks_exact(4)) {
                *address = u64::from(bytemuck::pod_read_unaligned::<u32>(bytes));
            }
        }
        Ok(addresses)
    }

    /// The enabled channels of the message: those of the instruction, which must not exceed the message's
    /// `simd`.
    #[inline]
    pub fn channels(&self, simd: usize) -> Result<u32, Fault> {
        if self.mask >> simd != 0 {
            return Err(Fault::illegal(format!(
                "a SIMD{simd} message with enabled channels beyond its width"
            )));
        }
        Ok(self.mask)
    }
}

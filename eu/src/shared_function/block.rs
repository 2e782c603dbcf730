//! Block messages: OWord, HWord and scratch blocks.

use super::call::Call;
use crate::dispatch::GRF_SIZE;
use crate::fault::Fault;
use crate::message::port::{MemoryRegion, Space};
use crate::message::{Block, BlockAddress, ScratchBlock};

/// Number of channels whose enables apply to block writes; they are repeated for blocks of more dwords (Mesa,
/// `fs_generator::generate_scratch_write`).
const CHANNELS: usize = 16;

/// Reads a block, regardless of the execution mask, or writes the dwords of enabled channels.
pub fn block(call: &mut Call<'_, '_>, message: &Block) -> Result<(), Fault> {
    let Block { address, write, bytes, high } = *message;
    let (region, offset) = match address {
        BlockAddress::OWords(space) => (call.region(space)?, u64::from(call.header(2)?) * 16),
        BlockAddress::Bytes(space) => {
            let offset = u64::from(call.header(2)?);
            (call.region(space)?, call.aligned(offset, 4)?)
        }
        BlockAddress::Wide { aligned } => {
            let address = u64::from(call.header(0)?) | u64::from(call.header(1)?) << 32;
            (call.region(Space::Global)?, call.aligned(address, if aligned { 16 } else { 4 })?)
        }
    };
    let registers = bytes.div_ceil(GRF_SIZE);
    // A block may begin within a surface and end after it: Mesa reads 64 bytes of uniforms at once from
    // buffers that may have four.
    let there = match region {
        MemoryRegion::Memory { size, .. } => bytes.min(size.saturating_sub(offset) as usize),
        MemoryRegion::Local => bytes,
    };
    let inside = if high { GRF_SIZE / 2 } else { 0 };
    let mut data = [0; 256];
    if write {
        let at = call.payload_range(1, registers)? + inside;
        data[..bytes].copy_from_slice(&call.thread.file[at..at + bytes]);
        if call.op.no_mask {
            return call.write(region, offset, &data[..there]);
        }
        let enabled = |dword: &usize| call.mask >> (dword % CHANNELS) & 1 != 0;
        let dwords: Vec<usize> = (0..there / 4).filter(enabled).collect();
        dwords.into_iter().try_for_each(|dword| {
            let at = dword * 4;
            call.write(region, offset + at as u64, &data[at..at + 4])
        })
    } else {
        let at = call.response(registers)? + inside;
        call.read(region, offset, &mut data[..there])?;
        call.thread.file[at..at + bytes].copy_from_slice(&data[..bytes]);
        Ok(())
    }
}

/// Reads or writes registers of the thread's scratch memory.
pub fn scratch(call: &mut Call<'_, '_>, message: &ScratchBlock) -> Result<(), Fault> {
    let Some(scratch) = call.context.launch.scratch else {
        return Err(Fault::illegal("a scratch message in a launch without scratch memory"));
    };
    let bytes = message.registers * GRF_SIZE;
    if message.offset as usize + bytes > scratch.per_thread as usize {
        return Err(Fault::illegal(format!(
            "scratch bytes {:#x} to {:#x}: the thread has {:#x}",
            message.offset,
            message.offset as usize + bytes,
            scratch.per_thread
        )));
    }
    let region = call.region_of_scratch()?;
    let at = if message.write {
        call.payload_range(1, message.registers)?
    } else {
        call.response(message.registers)?
    };
    let lanes = if call.op.lanes > 8 { 16 } else { 8 };
    let enabled = |dword: usize| {
        let lane = dword % lanes;
        if message.per_dword { call.mask >> lane & 1 != 0 } else { call.mask >> (lane & !3) & 0xf != 0 }
    };
    let all = (0..bytes / 4).all(enabled);
    let mut data = [0; 256];
    let offset = u64::from(message.offset);
    if all && message.write {
        data[..bytes].copy_from_slice(&call.thread.file[at..at + bytes]);
        return call.write(region, offset, &data[..bytes]);
    }
    let wanted: Vec<usize> = (0..bytes / 4).filter(|d| enabled(*d)).collect();
    if !message.write {
        call.read(region, offset, &mut data[..bytes])?;
    }
    for dword in wanted {
        let (slot, within) = (at + dword * 4, dword * 4);
        if message.write {
            data[..4].copy_from_slice(&call.thread.file[slot..slot + 4]);
            call.write(region, offset + within as u64, &data[..4])?;
        } else {
            call.thread.file[slot..slot + 4].copy_from_slice(&data[within..within + 4]);
        }
    }
    Ok(())
}

impl Call<'_, '_> {
    /// The thread's scratch space: header dword 5 plus the General State Base Address.
    fn region_of_scratch(&mut self) -> Result<MemoryRegion, Fault> {
        self.header(5)?;
        self.region(Space::Stateless)
    }
}

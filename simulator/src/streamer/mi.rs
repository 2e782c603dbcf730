//! MI commands: control flow and memory.

use std::time::Duration;

use super::command::Flow;
use super::field::Packet;
use super::layouts::{
    mi_batch_buffer_start as start, mi_copy_mem_mem as copy, mi_flush_dw as flush, mi_noop as noop,
    mi_rs_control, mi_semaphore_wait as semaphore, mi_store_data_imm as store,
};
use super::{Streamer, not_global};
use crate::clock;
use gencl_eu::fault::{Fault, Reason};
use gencl_eu::memory::canonical;

/// Executes a command without an effect that a program could observe.
pub fn no_effect(_: &mut Streamer<'_>, _: Packet<'_>) -> Result<Flow, Fault> {
    Ok(Flow::Next)
}

/// Keeps the number, which drivers mark launches with.
pub fn noop(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    if packet.is_set(noop::WRITE_ENABLE) {
        streamer.mark.set(packet.get32(noop::IDENTIFICATION));
    }
    Ok(Flow::Next)
}

pub fn batch_buffer_end(_: &mut Streamer<'_>, _: Packet<'_>) -> Result<Flow, Fault> {
    Ok(Flow::End)
}

pub fn rs_control(_: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    if packet.is_set(mi_rs_control::START) {
        return Err(Fault::unsupported("the resource streamer"));
    }
    Ok(Flow::Next)
}

pub fn batch_buffer_start(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    not_global(!packet.is_set(start::PPGTT))?;
    if packet.is_set(start::RESOURCE_STREAMER) {
        return Err(Fault::unsupported("the resource streamer"));
    }
    if packet.is_set(start::ADD_OFFSET) {
        return Err(Fault::unsupported("MI_BATCH_BUFFER_START with Add Offset Enable"));
    }
    if packet.is_set(start::PREDICATION) && !streamer.state.registers.predicate() {
        return Ok(Flow::Next);
    }
    let address = canonical(packet.address(start::ADDRESS));
    if !packet.is_set(start::SECOND_LEVEL) {
        if streamer.caller.is_some() {
            return Err(Fault::illegal("a first-level batch cannot be started from a second-level batch"));
        }
        return Ok(Flow::Jump(address));
    }
    if streamer.caller.is_some() {
        // "Volume 2a, MI_BATCH_BUFFER_START": chaining within the second level keeps the return address.
        return Ok(Flow::Jump(address));
    }
    Ok(Flow::Call(address))
}

pub fn store_data_imm(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    not_global(packet.is_set(store::GLOBAL))?;
    if packet.is_set(store::CORE_MODE) {
        return Err(Fault::unsupported("MI_STORE_DATA_IMM with Core Mode Enable"));
    }
    let address = canonical(packet.address(store::ADDRESS));
    let data = packet.get(store::DATA);
    // Before Gen8, the size follows from the length alone.
    let qword = packet.dwords.len() == 5;
    if packet.has(store::STORE_QWORD) && packet.is_set(store::STORE_QWORD) != qword {
        return Err(Fault::illegal("MI_STORE_DATA_IMM: Store Qword and DWord Length disagree"));
    }
    if qword {
        streamer
            .rule(address & 7 == 0, || format!("MI_STORE_DATA_IMM: qword at 0x{address:x}, unaligned"))?;
        streamer.memory.write_u64(&mut streamer.cursor, address, data)?;
    } else {
        streamer.memory.write_u32(&mut streamer.cursor, address, data as u32)?;
    }
    Ok(Flow::Next)
}

pub fn copy_mem_mem(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    not_global(packet.is_set(copy::GLOBAL_DESTINATION) || packet.is_set(copy::GLOBAL_SOURCE))?;
    let source = canonical(packet.address(copy::SOURCE));
    let destination = canonical(packet.address(copy::DESTINATION));
    let data = streamer.memory.read_u32(&mut streamer.cursor, source)?;
    streamer.memory.write_u32(&mut streamer.cursor, destination, data)?;
    Ok(Flow::Next)
}

pub fn flush_dw(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    let address = canonical(packet.address(flush::ADDRESS));
    let operation = packet.get(flush::POST_SYNC);
    if operation == 0 {
        return Ok(Flow::Next);
    }
    not_global(packet.is_set(flush::GLOBAL))?;
    if packet.is_set(flush::STORE_DATA_INDEX) {
        return Err(Fault::illegal("the hardware status page is not accessible to user batches"));
    }
    let data = match operation {
        1 => packet.get(flush::DATA),
        3 => clock::timestamp(streamer.gpu.device),
        _ => return Err(Fault::illegal("MI_FLUSH_DW: Post-Sync Operation 2 is reserved")),
    };
    streamer.memory.write_u64(&mut streamer.cursor, address, data)?;
    Ok(Flow::Next)
}

pub fn semaphore_wait(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    not_global(packet.is_set(semaphore::GLOBAL))?;
    if !packet.is_set(semaphore::POLLING) || packet.is_set(semaphore::REGISTER_POLL) {
        return Err(Fault::unsupported("MI_SEMAPHORE_WAIT other than polling memory"));
    }
    let address = canonical(packet.address(semaphore::ADDRESS));
    let limit = packet.get32(semaphore::DATA);
    // "SAD" is the data in memory, "SDD" the command's (Volume 2a, MI_SEMAPHORE_WAIT).
    let holds: fn(u32, u32) -> bool = match packet.get(semaphore::COMPARE) {
        0 => |memory, inline| memory > inline,
        1 => |memory, inline| memory >= inline,
        2 => |memory, inline| memory < inline,
        3 => |memory, inline| memory <= inline,
        4 => |memory, inline| memory == inline,
        5 => |memory, inline| memory != inline,
        code => {
            return Err(Fault::illegal(format!("MI_SEMAPHORE_WAIT: Compare Operation {code} is reserved")));
        }
    };
    while !holds(streamer.memory.read_u32(&mut streamer.cursor, address)?, limit) {
        if streamer.running.cancel.is_set() {
            return Err(Fault::new(Reason::Cancelled));
        }
        std::thread::sleep(Duration::from_micros(50));
    }
    Ok(Flow::Next)
}

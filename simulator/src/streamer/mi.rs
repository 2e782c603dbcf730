//! MI commands: control flow and memory.

use std::time::Duration;

use super::command::Flow;
use super::layouts::{
    mi_batch_buffer_start as start, mi_copy_mem_mem as copy, mi_flush_dw as flush, mi_rs_control,
    mi_semaphore_wait as semaphore, mi_store_data_imm as store,
};
use super::{Streamer, not_global};
use crate::clock;
use crate::fault::{Fault, Reason};
use crate::memory::canonical;

/// For commands that change nothing that a program could see.
pub fn no_effect(_: &mut Streamer<'_>, _: &[u32]) -> Result<Flow, Fault> {
    Ok(Flow::Next)
}

pub fn batch_buffer_end(_: &mut Streamer<'_>, _: &[u32]) -> Result<Flow, Fault> {
    Ok(Flow::End)
}

pub fn rs_control(_: &mut Streamer<'_>, dwords: &[u32]) -> Result<Flow, Fault> {
    if mi_rs_control::START.is_set(dwords) {
        return Err(Fault::unsupported("the resource streamer"));
    }
    Ok(Flow::Next)
}

pub fn batch_buffer_start(streamer: &mut Streamer<'_>, dwords: &[u32]) -> Result<Flow, Fault> {
    not_global(!start::PPGTT.is_set(dwords))?;
    if start::RESOURCE_STREAMER.is_set(dwords) {
        return Err(Fault::unsupported("the resource streamer"));
    }
    if start::ADD_OFFSET.is_set(dwords) {
        return Err(Fault::unsupported("MI_BATCH_BUFFER_START with Add Offset Enable"));
    }
    if start::PREDICATION.is_set(dwords) && !streamer.state.registers.predicate() {
        return Ok(Flow::Next);
    }
    let address = canonical(start::ADDRESS.address(dwords));
    if !start::SECOND_LEVEL.is_set(dwords) {
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

pub fn store_data_imm(streamer: &mut Streamer<'_>, dwords: &[u32]) -> Result<Flow, Fault> {
    not_global(store::GLOBAL.is_set(dwords))?;
    if store::CORE_MODE.is_set(dwords) {
        return Err(Fault::unsupported("MI_STORE_DATA_IMM with Core Mode Enable"));
    }
    let address = canonical(store::ADDRESS.address(dwords));
    let data = store::DATA.get(dwords);
    let qword = store::STORE_QWORD.is_set(dwords);
    if qword != (dwords.len() == 5) {
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

pub fn copy_mem_mem(streamer: &mut Streamer<'_>, dwords: &[u32]) -> Result<Flow, Fault> {
    not_global(copy::GLOBAL_DESTINATION.is_set(dwords) || copy::GLOBAL_SOURCE.is_set(dwords))?;
    let source = canonical(copy::SOURCE.address(dwords));
    let destination = canonical(copy::DESTINATION.address(dwords));
    let data = streamer.memory.read_u32(&mut streamer.cursor, source)?;
    streamer.memory.write_u32(&mut streamer.cursor, destination, data)?;
    Ok(Flow::Next)
}

pub fn flush_dw(streamer: &mut Streamer<'_>, dwords: &[u32]) -> Result<Flow, Fault> {
    let address = canonical(flush::ADDRESS.address(dwords));
    let operation = flush::POST_SYNC.get(dwords);
    if operation == 0 {
        return Ok(Flow::Next);
    }
    not_global(flush::GLOBAL.is_set(dwords))?;
    if flush::STORE_DATA_INDEX.is_set(dwords) {
        return Err(Fault::illegal("the hardware status page is not accessible to user batches"));
    }
    let data = match operation {
        1 => flush::DATA.get(dwords),
        3 => clock::timestamp(streamer.gpu.device),
        _ => return Err(Fault::illegal("MI_FLUSH_DW: Post-Sync Operation 2 is reserved")),
    };
    streamer.memory.write_u64(&mut streamer.cursor, address, data)?;
    Ok(Flow::Next)
}

pub fn semaphore_wait(streamer: &mut Streamer<'_>, dwords: &[u32]) -> Result<Flow, Fault> {
    not_global(semaphore::GLOBAL.is_set(dwords))?;
    if !semaphore::POLLING.is_set(dwords) || semaphore::REGISTER_POLL.is_set(dwords) {
        return Err(Fault::unsupported("MI_SEMAPHORE_WAIT other than polling memory"));
    }
    let address = canonical(semaphore::ADDRESS.address(dwords));
    let limit = semaphore::DATA.get32(dwords);
    // "SAD" is the data in memory, "SDD" the command's (Volume 2a, MI_SEMAPHORE_WAIT).
    let holds: fn(u32, u32) -> bool = match semaphore::COMPARE.get(dwords) {
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

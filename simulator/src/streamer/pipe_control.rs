//! PIPE_CONTROL: flushes, stalls and writes behind them.
//!
//! Launches are done when GPGPU_WALKER has been executed and there are no caches, so flushes and invalidations
//! change nothing here; what the manual demands of them is checked all the same.

use super::command::Flow;
use super::layouts::pipe_control as pc;
use super::state::Pipeline;
use super::{Streamer, field::Field, not_global};
use crate::clock;
use crate::fault::Fault;
use crate::memory::canonical;

/// What a bit needs: the bit, what must be there with it, and the name of that.
type Need = (Field, fn(&[u32]) -> bool, &'static str);

fn stalls(dwords: &[u32]) -> bool {
    pc::CS_STALL.is_set(dwords)
}

fn writes(dwords: &[u32]) -> bool {
    pc::POST_SYNC.get(dwords) != 0
}

/// Rules for all pipelines (Volume 2a, PIPE_CONTROL, and Volume 7, "Programming restrictions for PIPE_CONTROL").
const NEEDS: &[Need] = &[
    (pc::TLB_INVALIDATE, stalls, "Command Streamer Stall Enable"),
    (pc::MEDIA_CLEAR, stalls, "Command Streamer Stall Enable"),
    (pc::INDIRECT_DISABLE, stalls, "Command Streamer Stall Enable"),
    (pc::STORE_DATA_INDEX, writes, "a Post Sync Operation"),
    (pc::VF_INVALIDATE, writes, "a Post Sync Operation"),
    (pc::FLUSH_LLC, |dwords| pc::POST_SYNC.get(dwords) == 1, "Post Sync Operation Write Immediate Data"),
    (pc::SNAPSHOT_RESET, |_| false, "nothing: it must not be used"),
];

/// Further rules for the GPGPU pipeline.
const GPGPU_NEEDS: &[Need] = &[(pc::TEXTURE_INVALIDATE, stalls, "Command Streamer Stall Enable")];

pub fn pipe_control(streamer: &mut Streamer<'_>, dwords: &[u32]) -> Result<Flow, Fault> {
    let gpgpu = streamer.state.pipeline == Pipeline::Gpgpu;
    for (bit, has, what) in NEEDS.iter().chain(if gpgpu { GPGPU_NEEDS } else { &[] }) {
        streamer.rule(!bit.is_set(dwords) || has(dwords), || {
            format!("PIPE_CONTROL: {} needs {what}", bit.name)
        })?;
    }
    if pc::LRI_POST_SYNC.is_set(dwords) {
        return Err(Fault::unsupported("PIPE_CONTROL with LRI Post Sync Operation"));
    }
    let operation = pc::POST_SYNC.get(dwords);
    if operation != 0 {
        post_sync(streamer, dwords, operation, gpgpu)?;
    }
    if stalls(dwords) {
        streamer.state.threads_active = false;
        streamer.state.descriptors_in_use = false;
    }
    Ok(Flow::Next)
}

fn post_sync(streamer: &mut Streamer<'_>, dwords: &[u32], operation: u64, gpgpu: bool) -> Result<(), Fault> {
    if gpgpu {
        streamer.rule_stalled("in GPGPU mode, a PIPE_CONTROL with a Post Sync Operation")?;
    }
    not_global(pc::GLOBAL.is_set(dwords))?;
    if pc::STORE_DATA_INDEX.is_set(dwords) {
        return Err(Fault::illegal("the hardware status page is not accessible to user batches"));
    }
    let address = canonical(pc::ADDRESS.address(dwords));
    streamer.rule(address & 7 == 0, || format!("PIPE_CONTROL: qword at 0x{address:x}, unaligned"))?;
    let data = match operation {
        1 => pc::DATA.get(dwords),
        2 => return Err(Fault::unsupported("PIPE_CONTROL with Write PS Depth Count")),
        _ => clock::timestamp(streamer.gpu.device),
    };
    streamer.memory.write_u64(&mut streamer.cursor, address, data)?;
    Ok(())
}

//! PIPE_CONTROL: flushes, stalls and writes behind them.
//!
//! Launches are done when GPGPU_WALKER has been executed and there are no caches, so flushes and invalidations
//! change nothing here; what the manual demands of them is checked all the same.

use super::command::Flow;
use super::field::{Field, Packet};
use super::layouts::pipe_control as pc;
use super::state::Pipeline;
use super::{Streamer, not_global, traits};
use crate::clock;
use crate::fault::Fault;
use crate::memory::canonical;

/// What a bit needs: the bit, what must be there with it, and the name of that.
type Need = (Field, fn(Packet<'_>) -> bool, &'static str);

fn stalls(packet: Packet<'_>) -> bool {
    packet.is_set(pc::CS_STALL)
}

fn writes(packet: Packet<'_>) -> bool {
    packet.get(pc::POST_SYNC) != 0
}

/// Rules for all pipelines (Volume 2a, PIPE_CONTROL, and Volume 7, "Programming restrictions for PIPE_CONTROL").
const NEEDS: &[Need] = &[
    (pc::TLB_INVALIDATE, stalls, "Command Streamer Stall Enable"),
    (pc::MEDIA_CLEAR, stalls, "Command Streamer Stall Enable"),
    (pc::INDIRECT_DISABLE, stalls, "Command Streamer Stall Enable"),
    (pc::STORE_DATA_INDEX, writes, "a Post Sync Operation"),
    (pc::VF_INVALIDATE, writes, "a Post Sync Operation"),
    (pc::FLUSH_LLC, |packet| packet.get(pc::POST_SYNC) == 1, "Post Sync Operation Write Immediate Data"),
    (pc::SNAPSHOT_RESET, |_| false, "nothing: it must not be used"),
];

/// Of these, a stall needs one with it where [`traits::Traits::stall_needs_company`] says so: "One of the following must
/// also be set", Volume 2a, PIPE_CONTROL, Command Streamer Stall Enable.
const COMPANY: &[Field] =
    &[pc::TARGET_FLUSH, pc::DEPTH_FLUSH, pc::SCOREBOARD_STALL, pc::DEPTH_STALL, pc::POST_SYNC, pc::DC_FLUSH];

/// Further rules for the GPGPU pipeline.
const GPGPU_NEEDS: &[Need] = &[(pc::TEXTURE_INVALIDATE, stalls, "Command Streamer Stall Enable")];

pub fn pipe_control(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    let gpgpu = streamer.state.pipeline == Pipeline::Gpgpu;
    for (bit, has, what) in NEEDS.iter().chain(if gpgpu { GPGPU_NEEDS } else { &[] }) {
        streamer.rule(!packet.is_set(*bit) || has(packet), || {
            format!("PIPE_CONTROL: {} needs {what}", bit.name)
        })?;
    }
    if stalls(packet) && traits::of(packet.generation).stall_needs_company {
        streamer.rule(COMPANY.iter().any(|field| packet.is_set(*field)), || {
            "PIPE_CONTROL: Command Streamer Stall Enable needs a flush, another stall or a Post Sync Operation with it"
                .into()
        })?;
    }
    if packet.is_set(pc::LRI_POST_SYNC) {
        return Err(Fault::unsupported("PIPE_CONTROL with LRI Post Sync Operation"));
    }
    let operation = packet.get(pc::POST_SYNC);
    if operation != 0 {
        post_sync(streamer, packet, operation, gpgpu)?;
    }
    if stalls(packet) {
        streamer.state.threads_active = false;
        streamer.state.descriptors_in_use = false;
    }
    Ok(Flow::Next)
}

fn post_sync(
    streamer: &mut Streamer<'_>,
    packet: Packet<'_>,
    operation: u64,
    gpgpu: bool,
) -> Result<(), Fault> {
    if gpgpu {
        streamer.rule_stalled("in GPGPU mode, a PIPE_CONTROL with a Post Sync Operation")?;
    }
    not_global(packet.is_set(pc::GLOBAL))?;
    if packet.is_set(pc::STORE_DATA_INDEX) {
        return Err(Fault::illegal("the hardware status page is not accessible to user batches"));
    }
    let address = canonical(packet.address(pc::ADDRESS));
    streamer.rule(address & 7 == 0, || format!("PIPE_CONTROL: qword at 0x{address:x}, unaligned"))?;
    let data = match operation {
        1 => packet.get(pc::DATA),
        2 => return Err(Fault::unsupported("PIPE_CONTROL with Write PS Depth Count")),
        _ => clock::timestamp(streamer.gpu.device),
    };
    streamer.memory.write_u64(&mut streamer.cursor, address, data)?;
    Ok(())
}

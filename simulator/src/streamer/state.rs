//! The state of a hardware context, and the commands that set base addresses and the pipeline.

use gencl_isa::Generation;

use super::command::Flow;
use super::field::{Field, Packet};
use super::layouts::{cc_state_pointers, pipeline_select as select, state_base_address as base};
use super::registers::Registers;
use super::{Streamer, traits};
use gencl_eu::dispatch::Bases;
use gencl_eu::fault::Fault;
use gencl_eu::memory::canonical;

/// The pipeline that PIPELINE_SELECT has selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Pipeline {
    /// 3D, as after a reset.
    #[default]
    ThreeD,
    /// Media.
    Media,
    /// GPGPU.
    Gpgpu,
}

/// The state of the last MEDIA_VFE_STATE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vfe {
    /// Address of scratch space, relative to the General State Base Address.
    pub scratch_base: u64,
    /// The encoded size of scratch space per thread.
    pub scratch_code: u32,
    /// Bytes of scratch space per thread.
    pub scratch_per_thread: u32,
    /// Maximum number of threads that run at the same time.
    pub max_threads: u32,
    /// Bytes allocated for CURBE data.
    pub curbe_size: u32,
    /// Whether GPGPU_WALKER may follow: GPGPU Mode, where that bit exists.
    pub gpgpu: bool,
}

/// Limits of the regions at the base addresses: sizes in bytes, or upper bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Sizes {
    /// See [`Bases`].
    pub general: u64,
    /// See [`Bases`].
    pub dynamic: u64,
    /// See [`Bases`].
    pub indirect: u64,
    /// See [`Bases`].
    pub instruction: u64,
}

/// State of a hardware context: on hardware, the context image.
#[derive(Clone, Debug, Default)]
pub struct ContextState {
    /// PIPELINE_SELECT
    pub pipeline: Pipeline,
    /// STATE_BASE_ADDRESS
    pub bases: Bases,
    /// STATE_BASE_ADDRESS: sizes, from Gen8 on.
    pub sizes: Sizes,
    /// STATE_BASE_ADDRESS: upper bounds, before Gen8; 0 means no limit.
    pub bounds: Sizes,
    /// MEDIA_VFE_STATE
    pub vfe: Option<Vfe>,
    /// MEDIA_CURBE_LOAD
    pub curbe: Vec<u8>,
    /// MEDIA_INTERFACE_DESCRIPTOR_LOAD, 8 dwords each.
    pub descriptors: Vec<[u32; 8]>,
    /// Threads may be running: there was no stalling PIPE_CONTROL since the last GPGPU_WALKER.
    pub threads_active: bool,
    /// As `threads_active`, but MEDIA_STATE_FLUSH ends it, too.
    pub descriptors_in_use: bool,
    /// MMIO registers.
    pub registers: Registers,
}

impl ContextState {
    /// Whether the first `end` bytes from the Dynamic State Base Address are within the limit.
    pub fn is_dynamic(&self, generation: Generation, end: u64) -> bool {
        is_within(generation, self.sizes.dynamic, self.bounds.dynamic, self.bases.dynamic, end)
    }

    /// The same for the Instruction Base Address.
    pub fn is_instruction(&self, generation: Generation, end: u64) -> bool {
        is_within(generation, self.sizes.instruction, self.bounds.instruction, self.bases.instruction, end)
    }
}

/// Volume 2a, STATE_BASE_ADDRESS: "Buffer Size"; Ivy Bridge, Volume 2 Part 1: "Access Upper Bound", where 0
/// means no limit.
fn is_within(generation: Generation, size: u64, bound: u64, base: u64, end: u64) -> bool {
    if traits::of(generation).upper_bounds { bound == 0 || base + end <= bound } else { end <= size }
}

impl Streamer<'_> {
    /// The rule of commands that may only be executed while no thread uses the state that they change.
    pub(super) fn rule_stalled(&self, command: &str) -> Result<(), Fault> {
        self.rule(!self.state.threads_active, || {
            format!("{command} needs a PIPE_CONTROL with Command Streamer Stall Enable after GPGPU_WALKER")
        })
    }
}

pub fn pipeline_select(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    // Mask bits, where they exist, enable writing the bits below (Skylake, Volume 2a, PIPELINE_SELECT).
    if packet.has(select::MASK) {
        let mask = packet.get(select::MASK);
        streamer.rule(mask & 3 == 3, || {
            format!("PIPELINE_SELECT: Mask Bits 0x{mask:x} leave the selection as it is")
        })?;
        if mask & 3 != 3 {
            return Ok(Flow::Next);
        }
    }
    streamer.rule_stalled("PIPELINE_SELECT")?;
    streamer.state.pipeline = match packet.get(select::SELECTION) {
        0 => Pipeline::ThreeD,
        1 => Pipeline::Media,
        2 => Pipeline::Gpgpu,
        _ => return Err(Fault::illegal("PIPELINE_SELECT: Pipeline Selection 3 is reserved")),
    };
    Ok(Flow::Next)
}

pub fn base_address(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    streamer.rule_stalled("STATE_BASE_ADDRESS")?;
    let state = &mut *streamer.state;
    let addresses: [(Field, Field, &mut u64); 6] = [
        (base::GENERAL_MODIFY, base::GENERAL, &mut state.bases.general),
        (base::SURFACE_MODIFY, base::SURFACE, &mut state.bases.surface),
        (base::DYNAMIC_MODIFY, base::DYNAMIC, &mut state.bases.dynamic),
        (base::INDIRECT_MODIFY, base::INDIRECT, &mut state.bases.indirect),
        (base::INSTRUCTION_MODIFY, base::INSTRUCTION, &mut state.bases.instruction),
        (base::BINDLESS_MODIFY, base::BINDLESS, &mut state.bases.bindless),
    ];
    for (modify, address, target) in addresses {
        if packet.is_set(modify) {
            *target = canonical(packet.address(address));
        }
    }
    let sizes: [(Field, Field, &mut u64); 4] = [
        (base::GENERAL_SIZE_MODIFY, base::GENERAL_SIZE, &mut state.sizes.general),
        (base::DYNAMIC_SIZE_MODIFY, base::DYNAMIC_SIZE, &mut state.sizes.dynamic),
        (base::INDIRECT_SIZE_MODIFY, base::INDIRECT_SIZE, &mut state.sizes.indirect),
        (base::INSTRUCTION_SIZE_MODIFY, base::INSTRUCTION_SIZE, &mut state.sizes.instruction),
    ];
    let bounds: [(Field, Field, &mut u64); 4] = [
        (base::GENERAL_BOUND_MODIFY, base::GENERAL_BOUND, &mut state.bounds.general),
        (base::DYNAMIC_BOUND_MODIFY, base::DYNAMIC_BOUND, &mut state.bounds.dynamic),
        (base::INDIRECT_BOUND_MODIFY, base::INDIRECT_BOUND, &mut state.bounds.indirect),
        (base::INSTRUCTION_BOUND_MODIFY, base::INSTRUCTION_BOUND, &mut state.bounds.instruction),
    ];
    for (modify, bound, target) in bounds {
        if packet.is_set(modify) {
            *target = packet.address(bound);
        }
    }
    for (modify, pages, target) in sizes {
        if packet.is_set(modify) {
            // In pages; 0xfffff means no limit.
            *target = match packet.get(pages) {
                0xf_ffff => u64::MAX,
                n => n << 12,
            };
        }
    }
    Ok(Flow::Next)
}

/// 3DSTATE_CC_STATE_POINTERS: state of the 3D pipeline has no effect on GPGPU work. Drivers emit this command
/// before they select the GPGPU pipeline, as Volume 2a, PIPELINE_SELECT, requires.
pub fn cc_state_pointers(_: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    if packet.is_set(cc_state_pointers::VALID) {
        return Err(Fault::unsupported("3DSTATE_CC_STATE_POINTERS with a valid pointer"));
    }
    Ok(Flow::Next)
}

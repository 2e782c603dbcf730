//! PIPE_CONTROL: flushes, stalls and post-sync operations.
//!
//! Launches have ended when GPGPU_WALKER has been executed, and there are no caches, so flushes and
//! invalidations have no effect; the manual's rules about them are checked nevertheless.

use std::sync::LazyLock;

use gencl_isa::{Generation, Generations};

use super::command::Flow;
use super::field::{COLUMNS, Field, Packet, bits_of};
use super::layouts::pipe_control as pc;
use super::state::Pipeline;
use super::{Streamer, not_global};
use crate::clock;
use gencl_eu::fault::Fault;
use gencl_eu::memory::canonical;

/// A rule about a field, which applies when the field is not 0.
struct Rule {
    field: Field,
    /// Only while the GPGPU pipeline is selected.
    gpgpu: bool,
    /// Generations that have the rule.
    generations: Generations,
    needs: Need,
}

/// What a rule requires of the command.
#[derive(Clone, Copy)]
enum Need {
    /// Command Streamer Stall Enable in the same command.
    Stall,
    /// The same, or a stalling PIPE_CONTROL after the last walker.
    StallBefore,
    /// A Post Sync Operation.
    Write,
    /// The Post Sync Operation Write Immediate Data.
    WriteImmediate,
    /// "One of the following must also be set": another flush or stall, or a Post Sync Operation.
    Company,
    /// Neither Render Target Cache Flush nor Depth Cache Flush in the same command.
    NoFlush,
    /// The field must be 0.
    Never,
}

const COMPANY: &[Field] =
    &[pc::TARGET_FLUSH, pc::DEPTH_FLUSH, pc::SCOREBOARD_STALL, pc::DEPTH_STALL, pc::POST_SYNC, pc::DC_FLUSH];

impl Need {
    /// Two masks of dword 1: bits of which at least one must be set, and bits of which none may be set.
    fn bits(self, generation: Generation) -> (u32, u32) {
        let of = |fields: &[Field]| bits_of(fields, generation, 1);
        let post_sync = of(&[pc::POST_SYNC]);
        match self {
            Need::Stall | Need::StallBefore => (of(&[pc::CS_STALL]), 0),
            Need::Write => (post_sync, 0),
            // Code 1 of two bits.
            Need::WriteImmediate => (post_sync, post_sync & post_sync << 1),
            Need::Company => (of(COMPANY), 0),
            Need::NoFlush => (u32::MAX, of(&[pc::TARGET_FLUSH, pc::DEPTH_FLUSH])),
            Need::Never => (0, 0),
        }
    }

    fn text(self) -> &'static str {
        match self {
            Need::Stall => "needs Command Streamer Stall Enable",
            Need::StallBefore => {
                "needs Command Streamer Stall Enable, in this command or between GPGPU_WALKER and it"
            }
            Need::Write => "needs a Post Sync Operation",
            Need::WriteImmediate => "needs Post Sync Operation Write Immediate Data",
            Need::Company => "needs a flush, another stall or a Post Sync Operation with it",
            Need::NoFlush => "must not come with a flush of the render target or depth cache",
            Need::Never => "must not be used",
        }
    }
}

const GEN7_TO_9: Generations = Generations::GEN7_TO_9;
const GEN7: Generations = Generations::GEN7;
const GEN7_TO_75: Generations = Generations::GEN7_TO_75;
const GEN7_TO_8: Generations = Generations::GEN7_TO_8;
const GEN8_TO_9: Generations = Generations::GEN8_TO_9;
const GEN8: Generations = Generations::GEN8;
const GEN9: Generations = Generations::GEN9;

/// A rule for all pipelines.
const fn rule(field: Field, generations: Generations, needs: Need) -> Rule {
    Rule { field, gpgpu: false, generations, needs }
}

/// A rule for the GPGPU pipeline.
const fn gpgpu(field: Field, generations: Generations, needs: Need) -> Rule {
    Rule { field, gpgpu: true, generations, needs }
}

/// Source: Volume 2a, PIPE_CONTROL, and Volume 7, "Programming restrictions for PIPE_CONTROL", as far as they
/// are about single commands; which generations a rule is for, as Mesa's `iris_emit_raw_pipe_control` and
/// `crocus_emit_raw_pipe_control` quote it.
#[rustfmt::skip]
const RULES: &[Rule] = &[
    rule(pc::TLB_INVALIDATE, GEN7_TO_9, Need::Stall),
    rule(pc::TLB_INVALIDATE, GEN7_TO_75, Need::Write),
    rule(pc::DEPTH_STALL, GEN7, Need::NoFlush),
    rule(pc::MEDIA_CLEAR, GEN7_TO_9, Need::Stall),
    rule(pc::INDIRECT_DISABLE, GEN7_TO_9, Need::Stall),
    rule(pc::STORE_DATA_INDEX, GEN7_TO_9, Need::Write),
    rule(pc::VF_INVALIDATE, GEN8_TO_9, Need::Write),
    rule(pc::FLUSH_LLC, GEN7_TO_9, Need::WriteImmediate),
    rule(pc::SNAPSHOT_RESET, GEN7_TO_9, Need::Never),
    rule(pc::CS_STALL, GEN7_TO_8, Need::Company),
    rule(pc::STATE_INVALIDATE, GEN7_TO_8, Need::StallBefore),
    gpgpu(pc::POST_SYNC, GEN8, Need::Stall),
    gpgpu(pc::NOTIFY, GEN8, Need::Stall),
    gpgpu(pc::DEPTH_STALL, GEN8, Need::Stall),
    gpgpu(pc::TARGET_FLUSH, GEN8, Need::Stall),
    gpgpu(pc::DEPTH_FLUSH, GEN8, Need::Stall),
    gpgpu(pc::DC_FLUSH, GEN8, Need::Stall),
    gpgpu(pc::TEXTURE_INVALIDATE, GEN9, Need::Stall),
    gpgpu(pc::POST_SYNC, GEN9, Need::StallBefore),
];

/// A rule as masks of dword 1, which has all its fields.
struct RuleMasks {
    rule: &'static Rule,
    field: u32,
    any: u32,
    none: u32,
}

impl RuleMasks {
    fn new(rule: &'static Rule, generation: Generation) -> RuleMasks {
        let (any, none) = rule.needs.bits(generation);
        RuleMasks { rule, field: rule.field.mask(generation, 1), any, none }
    }

    /// Whether a command in the selected pipeline meets the rule.
    fn is_met(&self, dword: u32, gpgpu: bool, threads_active: bool) -> bool {
        dword & self.field == 0
            || dword & self.any != 0 && dword & self.none == 0
            || self.rule.gpgpu && !gpgpu
            || matches!(self.rule.needs, Need::StallBefore) && !threads_active
    }
}

/// The rules of each generation.
static RULES_OF: LazyLock<[Vec<RuleMasks>; COLUMNS]> = LazyLock::new(|| {
    Generation::ALL.map(|generation| {
        let rules = RULES.iter().filter(|rule| rule.generations.has(generation));
        rules.map(|rule| RuleMasks::new(rule, generation)).collect()
    })
});

/// Invalidations of read-only caches: commands with these flags alone do not count for
/// [`STALL_EVERY_FOURTH`].
const INVALIDATIONS: &[Field] = &[
    pc::STATE_INVALIDATE,
    pc::CONSTANT_INVALIDATE,
    pc::VF_INVALIDATE,
    pc::TEXTURE_INVALIDATE,
    pc::INSTRUCTION_INVALIDATE,
];

/// Generations on which every fourth command must stall (WaCsStallAtEveryFourthPipecontrol, quoted by Mesa's
/// `crocus_emit_raw_pipe_control`).
const STALL_EVERY_FOURTH: Generations = GEN7;

/// Counts commands without a stall, for [`STALL_EVERY_FOURTH`].
fn count(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<(), Fault> {
    if packet.is_set(pc::CS_STALL) {
        streamer.unstalled = 0;
        return Ok(());
    }
    let flags = packet.dwords[1] & !bits_of(INVALIDATIONS, packet.generation, 1);
    streamer.unstalled += u32::from(flags != 0);
    let holds = streamer.unstalled < 4 || !STALL_EVERY_FOURTH.has(packet.generation);
    streamer.rule(holds, || "PIPE_CONTROL: the fourth in a row without Command Streamer Stall Enable".into())
}

pub fn pipe_control(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    count(streamer, packet)?;
    let gpgpu = streamer.state.pipeline == Pipeline::Gpgpu;
    let rules = if streamer.gpu.settings.strict { &RULES_OF[packet.generation.column()][..] } else { &[] };
    let is_met = |masks: &&RuleMasks| masks.is_met(packet.dwords[1], gpgpu, streamer.state.threads_active);
    if let Some(RuleMasks { rule, .. }) = rules.iter().find(|masks| !is_met(masks)) {
        let pipeline = if rule.gpgpu { " in GPGPU mode" } else { "" };
        let text = format!("PIPE_CONTROL: {} {}{pipeline}", rule.field.name, rule.needs.text());
        return Err(Fault::illegal(text));
    }
    if packet.is_set(pc::LRI_POST_SYNC) {
        return Err(Fault::unsupported("PIPE_CONTROL with LRI Post Sync Operation"));
    }
    let operation = packet.get(pc::POST_SYNC);
    if operation != 0 {
        post_sync(streamer, packet, operation)?;
    }
    if packet.is_set(pc::CS_STALL) {
        streamer.state.threads_active = false;
        streamer.state.descriptors_in_use = false;
    }
    Ok(Flow::Next)
}

fn post_sync(streamer: &mut Streamer<'_>, packet: Packet<'_>, operation: u64) -> Result<(), Fault> {
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

//! Rules on messages.

use super::subject::{Subject, is_null};
use super::{Rule, ViolationSite, at_destination, gen7_to_9, some, whole};
use crate::message::{HeaderRule, Message, Operation, SimdMode, surface};
use crate::opcode::Format;
use crate::{Descriptor, Generations, Region, Register, SharedFunction};

const SEND: &str = "Instruction Set Reference, send";
const DATA_PORT: &str = "Shared Functions - Data Port, Messages";

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    gen7_to_9("send.payload", SEND, "a payload is in general registers, directly addressed", payload),
    gen7_to_9("send.aligned", SEND, "a payload starts where a register does", aligned),
    some(Generations::GEN9, "send.region", "Skylake, Instruction Set Reference, send", "a payload's region is <0,1,0>: its bits are the extended descriptor's", region),
    gen7_to_9("send.end-registers", SEND, "the payload of a thread's last message is in g112 to g127", end_registers),
    gen7_to_9("send.end-response", SEND, "a thread's last message has no response", end_response),
    gen7_to_9("send.file-end", SEND, "there are 128 general registers", file_end),
    gen7_to_9("send.response", SEND, "a response needs a destination", response),
    some(Generations::GEN8_TO_9, "send.r127", "Broadwell, Instruction Set Reference, send", "g127 is no destination of a message that overlaps its payload", r127),
    gen7_to_9("send.split-overlap", "Skylake, Instruction Set Reference, sends", "the payloads of a split send do not overlap", overlap),
    gen7_to_9("send.unknown", DATA_PORT, "the shared function has no such message", unknown),
    gen7_to_9("send.empty", DATA_PORT, "a message has a payload", empty),
    gen7_to_9("send.length", DATA_PORT, "the payload's length does not fit the message", length),
    gen7_to_9("send.response-length", DATA_PORT, "the response's length does not fit the message", response_length),
    gen7_to_9("send.header", DATA_PORT, "the message must or cannot have a header", header),
    gen7_to_9("send.channels", DATA_PORT, "the message serves fewer channels than the instruction has", lanes),
    gen7_to_9("send.a64-surface", "Shared Functions - Data Port, A64", "64-bit addresses have a stateless surface (253 or 255)", a64_surface),
    gen7_to_9("send.no-channels", DATA_PORT, "an untyped or typed message moves at least one channel", no_channels),
    gen7_to_9("send.scratch-end", "Shared Functions - Data Port, Scratch Block", "a scratch block ends within 4096 registers", scratch_end),
    gen7_to_9("send.end-target", SEND, "the thread ends with a message to the thread spawner, URB, render cache or sampler", end_target),
];

fn is_send(s: &Subject<'_>) -> bool {
    matches!(s.info.format, Format::Send | Format::SplitSend)
}

/// A rule on messages with an immediate descriptor.
fn with_message(s: &Subject<'_>, broken: impl Fn(&Message) -> bool) -> Vec<ViolationSite> {
    whole(s.message().is_some_and(|m| broken(&m)))
}

fn payload(s: &Subject<'_>) -> Vec<ViolationSite> {
    if !is_send(s) {
        return Vec::new();
    }
    s.sources()
        .filter(|(n, source)| {
            let general = matches!(source.register, Register::Grf(_)) && source.indirect.is_none();
            // A split send's second payload may be absent.
            !(general || *n == 1 && is_null(source.register))
        })
        .map(|(n, _)| ViolationSite::Source(n))
        .collect()
}

fn aligned(s: &Subject<'_>) -> Vec<ViolationSite> {
    if s.info.format == Format::Send {
        s.broken_sources(|source| source.subregister != 0)
    } else {
        Vec::new()
    }
}

fn region(s: &Subject<'_>) -> Vec<ViolationSite> {
    if s.info.format != Format::Send {
        return Vec::new();
    }
    s.broken_sources(|source| source.region != Region::SCALAR)
}

fn ends(s: &Subject<'_>) -> bool {
    s.send().is_some_and(|send| send.end_of_thread)
}

fn end_registers(s: &Subject<'_>) -> Vec<ViolationSite> {
    if !ends(s) {
        return Vec::new();
    }
    s.broken_sources(|source| matches!(source.register, Register::Grf(number) if number < 112))
}

fn end_response(s: &Subject<'_>) -> Vec<ViolationSite> {
    with_message(s, |m| ends(s) && m.response != 0)
}

fn end_target(s: &Subject<'_>) -> Vec<ViolationSite> {
    let allowed = s.send().is_some_and(|send| {
        matches!(
            send.target,
            SharedFunction::ThreadSpawner
                | SharedFunction::Urb
                | SharedFunction::RenderCache
                | SharedFunction::Sampler
        )
    });
    whole(ends(s) && !allowed)
}

fn file_end(s: &Subject<'_>) -> Vec<ViolationSite> {
    let Some(m) = s.message() else { return Vec::new() };
    let mut places = Vec::new();
    let lengths = [u32::from(m.payload), s.second_payload().map_or(0, u32::from)];
    for (n, length) in lengths.into_iter().enumerate() {
        if s.source_register(n).is_some_and(|first| first + length > 128) {
            places.push(ViolationSite::Source(n as u8));
        }
    }
    if s.destination_register().is_some_and(|first| first + u32::from(m.response) > 128) {
        places.push(ViolationSite::Destination);
    }
    places
}

fn response(s: &Subject<'_>) -> Vec<ViolationSite> {
    let null = is_null(s.i.destination.register);
    at_destination(s.message().is_some_and(|m| m.response != 0 && null))
}

fn r127(s: &Subject<'_>) -> Vec<ViolationSite> {
    let (Some(m), Some(first)) = (s.message(), s.destination_register()) else { return Vec::new() };
    let overlaps = s.source_register(0).is_some_and(|source| source + u32::from(m.payload) > first);
    at_destination(s.info.format == Format::Send && first + u32::from(m.response) > 127 && overlaps)
}

fn overlap(s: &Subject<'_>) -> Vec<ViolationSite> {
    if s.info.format != Format::SplitSend {
        return Vec::new();
    }
    let (Some(a), Some(b)) = (s.source_register(0), s.source_register(1)) else { return Vec::new() };
    let first = s.message().map_or(1, |m| u32::from(m.payload));
    let second = s.second_payload().map_or(1, u32::from);
    whole(a < b + second && b < a + first)
}

fn unknown(s: &Subject<'_>) -> Vec<ViolationSite> {
    let immediate = s.send().is_some_and(|send| matches!(send.descriptor, Descriptor::Immediate(_)));
    whole(immediate && s.message().is_none())
}

/// Number of registers of both payloads, if known.
fn total(s: &Subject<'_>, m: &Message) -> Option<u8> {
    Some(m.payload + s.second_payload()?)
}

fn empty(s: &Subject<'_>) -> Vec<ViolationSite> {
    with_message(s, |m| m.payload == 0)
}

fn length(s: &Subject<'_>) -> Vec<ViolationSite> {
    with_message(s, |m| {
        let lengths = m.operation.lengths();
        let needed = lengths.payload + u8::from(m.header);
        lengths.known && total(s, m).is_some_and(|total| total != needed)
    })
}

fn response_length(s: &Subject<'_>) -> Vec<ViolationSite> {
    with_message(s, |m| {
        let lengths = m.operation.lengths();
        // A fence may have no response, with a null destination.
        lengths.known && m.response != lengths.response
    })
}

fn header(s: &Subject<'_>) -> Vec<ViolationSite> {
    with_message(s, |m| match m.operation.lengths().header {
        HeaderRule::Forbidden => m.header,
        HeaderRule::Optional => false,
        HeaderRule::Required => !m.header,
    })
}

/// The SIMD mode of a message, if it has a fixed one.
fn simd(operation: &Operation) -> Option<SimdMode> {
    match *operation {
        Operation::Untyped { simd, .. }
        | Operation::UntypedAtomic { simd, .. }
        | Operation::UntypedAtomicFloat { simd, .. }
        | Operation::ByteScattered { simd, .. }
        | Operation::DwordScattered { simd, .. }
        | Operation::A64Scattered { simd, .. } => Some(simd),
        _ => None,
    }
}

fn lanes(s: &Subject<'_>) -> Vec<ViolationSite> {
    with_message(s, |m| match simd(&m.operation) {
        Some(mode @ (SimdMode::Simd8 | SimdMode::Simd16)) => s.lanes() > u32::from(mode.lanes()),
        Some(SimdMode::Simd4x2) | None => false,
    })
}

fn a64_surface(s: &Subject<'_>) -> Vec<ViolationSite> {
    with_message(s, |m| {
        let index = match m.operation {
            Operation::Untyped { a64: true, surface, .. }
            | Operation::UntypedAtomic { a64: true, surface, .. }
            | Operation::UntypedAtomicFloat { a64: true, surface, .. }
            | Operation::OwordBlock { a64: true, surface, .. }
            | Operation::A64Scattered { surface, .. } => surface,
            _ => return false,
        };
        !matches!(index, surface::STATELESS | surface::STATELESS_NON_COHERENT)
    })
}

fn no_channels(s: &Subject<'_>) -> Vec<ViolationSite> {
    with_message(s, |m| {
        matches!(m.operation, Operation::Untyped { channels: 0, .. } | Operation::Typed { channels: 0, .. })
    })
}

fn scratch_end(s: &Subject<'_>) -> Vec<ViolationSite> {
    with_message(s, |m| match m.operation {
        Operation::ScratchBlock { offset, registers, .. } => offset + u16::from(registers) > 4096,
        _ => false,
    })
}

/// Messages without sources have nothing to check; the rule about missing sources finds them.
#[cfg(test)]
mod tests {

    use crate::{Generation, Instruction, Opcode, Operand, validate};

    #[test]
    fn a_message_without_payload_is_reported() {
        let i = Instruction::new(Opcode::Send, 8);
        assert_eq!(i.sources[0], Operand::None);
        let violations = validate(Generation::Gen9, &i);
        assert!(violations.iter().any(|v| v.rule.id == "operand.sources"));
    }
}

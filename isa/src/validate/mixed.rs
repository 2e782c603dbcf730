//! Operations on floats and half floats at once.
//!
//! Source: Skylake manual, Volume 7, "Register Region Restrictions, Special Restrictions for Handling Mixed
//! Mode Float Operations"; Mesa's `brw_eu_validate.c` takes them for Broadwell too, where Intel's compiler
//! converts half floats of 16 channels at once; what Broadwell has is no mixed mode but conversions.

use super::subject::{Subject, is_null};
use super::{Place, Rule, at_destination, some, whole};
use crate::opcode::Format;
use crate::{AccessMode, Arf, Generations, Opcode, Operand, Register, Source, Type};

const REFERENCE: &str = "Special Restrictions for Handling Mixed Mode Float Operations";

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    some(Generations::FROM_9, "mixed.indirect", REFERENCE, "an operation on floats and half floats has no indirect sources", indirect),
    some(Generations::FROM_9, "mixed.simd8", REFERENCE, "an operation on half floats that gives floats has at most 8 channels", simd8),
    some(Generations::FROM_9, "mixed.packed", REFERENCE, "packed half floats made of floats are at most 8, at a multiple of 16 bytes", packed),
    some(Generations::FROM_9, "mixed.math", REFERENCE, "math of floats and half floats has half floats with gaps", math),
    some(Generations::FROM_9, "mixed.align16", REFERENCE, "an align16 operation on floats and half floats has at most 8 channels, packed sources and no accumulator", align16),
    some(Generations::FROM_9, "mixed.accumulator", REFERENCE, "half floats from an accumulator have a stride of 2", accumulator),
];

/// Is it such an operation?
fn is_mixed(s: &Subject<'_>) -> bool {
    s.computes() && s.is_mixed_float()
}

/// The sources of such an operation that break something.
fn sources(s: &Subject<'_>, broken: impl Fn(&Source) -> bool) -> Vec<Place> {
    if is_mixed(s) {
        s.broken_sources(|source| !is_null(source.register) && broken(source))
    } else {
        Vec::new()
    }
}

fn is_align16(s: &Subject<'_>) -> bool {
    s.i.access_mode == AccessMode::Align16
}

/// Is an accumulator among the sources, named or not?
fn reads_accumulator(s: &Subject<'_>) -> bool {
    let named = |operand: &Operand| {
        matches!(operand, Operand::Register(Source { register: Register::Arf(Arf::Accumulator(_)), .. }))
    };
    matches!(s.i.opcode, Opcode::Mac | Opcode::Mach | Opcode::Sada2) || s.i.sources.iter().any(named)
}

fn indirect(s: &Subject<'_>) -> Vec<Place> {
    sources(s, |source| source.indirect.is_some())
}

fn simd8(s: &Subject<'_>) -> Vec<Place> {
    // Mesa's compiler converts 16 at once.
    let computes = s.i.opcode != Opcode::Mov;
    at_destination(computes && is_mixed(s) && s.i.destination.ty == Type::F && s.lanes() > 8)
}

fn packed(s: &Subject<'_>) -> Vec<Place> {
    let d = &s.i.destination;
    let packed = d.ty == Type::HF && d.hstride == 1 && !is_align16(s);
    let misplaced = d.indirect.is_none() && !d.subregister.is_multiple_of(16);
    at_destination(is_mixed(s) && packed && (s.lanes() > 8 || misplaced))
}

fn math(s: &Subject<'_>) -> Vec<Place> {
    let affected = s.info.format == Format::Math && !is_align16(s);
    if !affected {
        return Vec::new();
    }
    sources(s, |source| source.ty == Type::HF && source.region.hstride <= 1)
}

fn align16(s: &Subject<'_>) -> Vec<Place> {
    if !is_align16(s) {
        return Vec::new();
    }
    let mut places = sources(s, |source| source.region.vstride != 4);
    places.extend(whole(is_mixed(s) && (s.lanes() > 8 || reads_accumulator(s))));
    places
}

fn accumulator(s: &Subject<'_>) -> Vec<Place> {
    let d = &s.i.destination;
    let affected = is_mixed(s) && !is_align16(s) && d.ty == Type::HF;
    at_destination(affected && reads_accumulator(s) && d.hstride != 2)
}

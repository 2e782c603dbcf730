//! Rules on operations that mix floats and half floats.
//!
//! Source: Skylake manual, Volume 7, "Register Region Restrictions, Special Restrictions for Handling Mixed
//! Mode Float Operations". Mesa's `brw_eu_validate.c` applies them to Broadwell too. They are not applied
//! there, as Broadwell only has conversions, which Intel's compiler emits for 16 channels.

use super::subject::{Subject, is_null};
use super::{Rule, ViolationSite, at_destination, some, whole};
use crate::opcode::Format;
use crate::{AccessMode, Arf, Generations, Opcode, Operand, Register, Source, Type};

const REFERENCE: &str = "Special Restrictions for Handling Mixed Mode Float Operations";

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    some(Generations::GEN9, "mixed.indirect", REFERENCE, "an operation on floats and half floats has no indirect sources", indirect),
    some(Generations::GEN9, "mixed.simd8", REFERENCE, "an operation on half floats that gives floats has at most 8 channels", simd8),
    some(Generations::GEN9, "mixed.packed", REFERENCE, "packed half floats made of floats are at most 8, at a multiple of 16 bytes", packed),
    some(Generations::GEN9, "mixed.math", REFERENCE, "math of floats and half floats has half floats with gaps", math),
    some(Generations::GEN9, "mixed.align16", REFERENCE, "an align16 operation on floats and half floats has at most 8 channels, packed sources and no accumulator", align16),
    some(Generations::GEN9, "mixed.accumulator", REFERENCE, "half floats from an accumulator have a stride of 2", accumulator),
];

/// Whether it is such an operation.
fn is_mixed(s: &Subject<'_>) -> bool {
    s.computes() && s.is_mixed_float()
}

/// The sources of such an operation for which `broken` holds.
fn sources(s: &Subject<'_>, broken: impl Fn(&Source) -> bool) -> Vec<ViolationSite> {
    if is_mixed(s) {
        s.broken_sources(|source| !is_null(source.register) && broken(source))
    } else {
        Vec::new()
    }
}

fn is_align16(s: &Subject<'_>) -> bool {
    s.i.access_mode == AccessMode::Align16
}

/// Whether it reads an accumulator, explicitly or implicitly.
fn reads_accumulator(s: &Subject<'_>) -> bool {
    let named = |operand: &Operand| {
        matches!(operand, Operand::Register(Source { register: Register::Arf(Arf::Accumulator(_)), .. }))
    };
    matches!(s.i.opcode, Opcode::Mac | Opcode::Mach | Opcode::Sada2) || s.i.sources.iter().any(named)
}

fn indirect(s: &Subject<'_>) -> Vec<ViolationSite> {
    sources(s, |source| source.indirect.is_some())
}

fn simd8(s: &Subject<'_>) -> Vec<ViolationSite> {
    // Mesa's compiler emits conversions of 16 channels.
    let computes = s.i.opcode != Opcode::Mov;
    at_destination(computes && is_mixed(s) && s.i.destination.ty == Type::F && s.lanes() > 8)
}

fn packed(s: &Subject<'_>) -> Vec<ViolationSite> {
    let d = &s.i.destination;
    let packed = d.ty == Type::HF && d.hstride == 1 && !is_align16(s);
    let misplaced = d.indirect.is_none() && !d.subregister.is_multiple_of(16);
    at_destination(is_mixed(s) && packed && (s.lanes() > 8 || misplaced))
}

fn math(s: &Subject<'_>) -> Vec<ViolationSite> {
    let affected = s.info.format == Format::Math && !is_align16(s);
    if !affected {
        return Vec::new();
    }
    sources(s, |source| source.ty == Type::HF && source.region.hstride <= 1)
}

fn align16(s: &Subject<'_>) -> Vec<ViolationSite> {
    if !is_align16(s) {
        return Vec::new();
    }
    let mut places = sources(s, |source| source.region.vstride != 4);
    places.extend(whole(is_mixed(s) && (s.lanes() > 8 || reads_accumulator(s))));
    places
}

fn accumulator(s: &Subject<'_>) -> Vec<ViolationSite> {
    let d = &s.i.destination;
    let affected = is_mixed(s) && !is_align16(s) && d.ty == Type::HF;
    at_destination(affected && reads_accumulator(s) && d.hstride != 2)
}

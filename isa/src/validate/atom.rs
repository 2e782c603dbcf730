//! The additional rules of the Atom line (Cherryview, Apollo Lake, Gemini Lake), on 64-bit types and the
//! multiplication of dwords.
//!
//! Source: Cherryview and Broxton manuals, Volume 7, "Register Region Restrictions", the special requirements
//! for 64-bit types and integer DWord multiply; Mesa's `brw_eu_validate.c` quotes them and applies them to
//! Gemini Lake as well.

use super::subject::{Subject, is_null};
use super::{Rule, ViolationSite, gen7_to_9, whole};
use crate::opcode::Format;
use crate::{Opcode, Operand, Region, Register, Source, Type};

const REFERENCE: &str =
    "Broxton, Register Region Restrictions, Special Requirements for Handling 64-bit Types";

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    gen7_to_9("atom.stride", REFERENCE, "a 64-bit operation has equal strides of whole qwords in source and destination", stride),
    gen7_to_9("atom.contiguous", REFERENCE, "a 64-bit operation's sources have a vertical stride of width times horizontal stride", contiguous),
    gen7_to_9("atom.offset", REFERENCE, "a 64-bit operation's sources, unless scalar, begin where the destination does", offset),
    gen7_to_9("atom.indirect", REFERENCE, "a 64-bit operation has no indirect operands", indirect),
    gen7_to_9("atom.architecture", REFERENCE, "a 64-bit operation uses no architecture registers", architecture),
    gen7_to_9("atom.dependency", REFERENCE, "a 64-bit operation has no dependency control", dependency),
];

/// Whether a type has 64 bits, or it is a multiplication of dwords.
fn is_wide(s: &Subject<'_>) -> bool {
    let mut types = s.source_types().chain([s.i.destination.ty]);
    let dwords = s.source_types().all(|ty| matches!(ty, Type::D | Type::UD));
    let computes = s.computes() || s.info.format == Format::Ternary;
    computes && (types.any(|ty| ty.size() == 8) || s.i.opcode == Opcode::Mul && dwords)
}

/// Distance of channels in bytes.
fn source_stride(source: &Source) -> u32 {
    let Region { vstride, hstride, .. } = source.region;
    u32::from(if hstride == 0 { vstride } else { hstride }) * source.ty.size()
}

/// Whether all channels have the same element.
fn is_scalar(source: &Source) -> bool {
    source.region == Region::SCALAR
}

/// Sources of a wide operation with an align1 region for which `broken` holds.
fn regions(s: &Subject<'_>, broken: impl Fn(&Source) -> bool) -> Vec<ViolationSite> {
    if is_wide(s) { s.broken_regions(broken) } else { Vec::new() }
}

fn stride(s: &Subject<'_>) -> Vec<ViolationSite> {
    let destination = u32::from(s.i.destination.hstride) * s.i.destination.ty.size();
    regions(s, |source| {
        let stride = source_stride(source);
        !is_scalar(source) && (stride != destination || !stride.is_multiple_of(8))
    })
}

fn contiguous(s: &Subject<'_>) -> Vec<ViolationSite> {
    regions(s, |source| {
        let Region { vstride, width, hstride } = source.region;
        u32::from(vstride) != u32::from(width) * u32::from(hstride)
    })
}

fn offset(s: &Subject<'_>) -> Vec<ViolationSite> {
    regions(s, |source| !is_scalar(source) && source.subregister != s.i.destination.subregister)
}

fn indirect(s: &Subject<'_>) -> Vec<ViolationSite> {
    if !is_wide(s) {
        return Vec::new();
    }
    let mut places = s.broken_sources(|source| source.indirect.is_some());
    if s.i.destination.indirect.is_some() {
        places.push(ViolationSite::Destination);
    }
    places
}

fn architecture(s: &Subject<'_>) -> Vec<ViolationSite> {
    fn is_architecture(register: Register) -> bool {
        matches!(register, Register::Arf(_)) && !is_null(register)
    }
    let used = s.i.accumulator_write
        || s.i.opcode == Opcode::Mac
        || s.i.destination.indirect.is_none() && is_architecture(s.i.destination.register)
        || s.i.sources.iter().any(|operand| match operand {
            Operand::Register(source) => source.indirect.is_none() && is_architecture(source.register),
            Operand::Immediate { .. } | Operand::None => false,
        });
    whole(is_wide(s) && used)
}

fn dependency(s: &Subject<'_>) -> Vec<ViolationSite> {
    whole(is_wide(s) && (s.i.no_dd_clear || s.i.no_dd_check))
}

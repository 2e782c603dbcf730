//! Rules on regions: "Register Region Restrictions".

use super::subject::{GRF, Subject, is_null, registers};
use super::{Rule, ViolationSite, at_destination, gen7_to_9, some, whole};
use crate::opcode::Format;
use crate::{AccessMode, Generations, Opcode, Operand, Region, Source, Type};

const GENERAL: &str = "Register Region Restrictions, General Restrictions on Regioning Parameters";
const ALIGNMENT: &str = "Register Region Restrictions, Region Alignment Rules for Direct Register Addressing";
const TYPES: &str = "Register Region Restrictions, General Restrictions Based on Operand Types";
const IMMEDIATES: &str = "Register Region Restrictions, Vector Immediate Operands";

const ALIGN16: &str = "Instruction Fields, Vertical Stride";

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    gen7_to_9("region.width", GENERAL, "the execution size is at least the region's width", width),
    gen7_to_9("region.row", GENERAL, "one row that fills the execution size has a vertical stride of width times horizontal stride", row),
    some(Generations::GEN7_TO_75, "region.column", GENERAL, "a width of 1 has a horizontal stride of 0", column),
    some(Generations::GEN8_TO_9, "region.column-qword", GENERAL, "a width of 1 has a horizontal stride of 0 (64 bits: or that of the rows)", column_qword),
    gen7_to_9("region.scalar", GENERAL, "one element for one channel has no strides", scalar),
    gen7_to_9("region.repeated", GENERAL, "without strides the width is 1", repeated),
    gen7_to_9("region.indirect-rows", GENERAL, "rows with addresses of their own (VxH) are indirect", indirect_rows),
    some(Generations::GEN7, "region.double-rows", "Mesa, generate_mov_indirect: Ivy Bridge reads two addresses for each channel", "rows with addresses of their own (VxH) are not of doubles", double_rows),
    some(Generations::GEN7, "region.align16-pairs", ALIGN16, "an align16 source has no vertical stride of 2", align16_pairs),
    gen7_to_9("region.align16-stride", ALIGN16, "an align16 source has a vertical stride of 0, 2 or 4", align16_stride),
    some(Generations::GEN8_TO_9, "region.align16-qword", "Broadwell, Register Region Restrictions, Special Requirements for Handling Double Precision Data Types", "an align16 operation from narrower types to 64 bits has at most 2 channels", align16_qword),
    gen7_to_9("region.crossing", GENERAL, "the elements of a row lie in one register", crossing),
    gen7_to_9("region.alignment", GENERAL, "an element starts at a multiple of its size", alignment),
    gen7_to_9("region.source-span", ALIGNMENT, "a source spans at most two registers", source_span),
    gen7_to_9("region.destination-span", ALIGNMENT, "the destination spans at most two registers", destination_span),
    gen7_to_9("region.destination-stride", GENERAL, "the destination's stride is not 0", destination_stride),
    gen7_to_9("region.file-end", ALIGNMENT, "there are 128 general registers", file_end),
    some(Generations::GEN7_TO_8, "region.even-words", "Broadwell, Register Region Restrictions, Region Alignment Rules", "with a source of two registers a destination within one lies in one OWord or evenly in both", even_words),
    some(Generations::GEN7_TO_8, "region.even-registers", "Broadwell, Register Region Restrictions, Region Alignment Rules", "a destination of two registers is evenly split", even_registers),
    gen7_to_9("region.math-even", "Extended Math Function", "a math destination of two registers is evenly split", math_even),
    some(Generations::GEN7_TO_75, "region.halves", "Haswell, Register Region Restrictions, Region Alignment Rules", "each of two destination registers is made of one of a source's two registers", halves),
    some(Generations::GEN7_TO_75, "region.half-offsets", "Haswell, Register Region Restrictions, Region Alignment Rules", "a source begins at the same place in both of its registers", half_offsets),
    some(Generations::GEN7_TO_75, "region.pairs", "Haswell, Register Region Restrictions, Region Alignment Rules", "a destination of two registers has scalar sources, packed words for packed dwords, or sources of two registers", pairs),
    some(Generations::GEN7_TO_75, "region.half-channels", "Haswell, Register Region Restrictions; Mesa, get_fpu_lowered_simd_width", "under the execution mask each of two destination registers has 8 channels, of doubles 4 (Ivy Bridge: one register)", half_channels),
    gen7_to_9("region.packed-bytes", TYPES, "only a raw mov has a packed byte destination", packed_bytes),
    gen7_to_9("region.ratio", TYPES, "a destination narrower than the execution type has a stride of the sizes' ratio (bytes: or a larger one)", ratio),
    gen7_to_9("region.ratio-alignment", TYPES, "a destination narrower than the execution type is aligned to that", ratio_alignment),
    gen7_to_9("region.byte-qword", "Broadwell, Volume 2a, mov", "there is no conversion between bytes and 64-bit types", byte_qword),
    gen7_to_9("region.half-qword", "Broadwell, Volume 2a, mov", "there is no conversion between half floats and 64-bit types", half_qword),
    gen7_to_9("region.half-integer", "Broadwell, Volume 2a, mov", "a conversion between half float and integer has a dword per element at the destination", half_integer),
    gen7_to_9("region.vector-immediate", IMMEDIATES, "the destination of a vector immediate starts at a multiple of 16 bytes", vector_alignment),
    gen7_to_9("region.vector-stride", IMMEDIATES, "the destination of V and UV has a stride of a word or a dword, of VF of a dword", vector_stride),
];

fn width(s: &Subject<'_>) -> Vec<ViolationSite> {
    s.broken_parameters(|source| u32::from(source.region.width) > s.lanes())
}

fn row(s: &Subject<'_>) -> Vec<ViolationSite> {
    s.broken_parameters(|source| {
        let r = source.region;
        r.width > 1
            && u32::from(r.width) == s.lanes()
            && r.hstride != 0
            && r.vstride != r.width.saturating_mul(r.hstride)
    })
}

fn column(s: &Subject<'_>) -> Vec<ViolationSite> {
    s.broken_parameters(|source| source.region.width == 1 && source.region.hstride != 0)
}

fn column_qword(s: &Subject<'_>) -> Vec<ViolationSite> {
    // The rules of the Atom line for 64-bit types require a vertical stride of width times horizontal stride,
    // which Intel's compiler emits.
    let wide = s.i.destination.ty.size() == 8;
    s.broken_parameters(|source| {
        let r = source.region;
        r.width == 1 && r.hstride != 0 && !(wide && r.hstride == r.vstride)
    })
}

fn scalar(s: &Subject<'_>) -> Vec<ViolationSite> {
    s.broken_parameters(|source| {
        let r = source.region;
        s.lanes() == 1 && r.width == 1 && (r.vstride != 0 || r.hstride != 0)
    })
}

fn repeated(s: &Subject<'_>) -> Vec<ViolationSite> {
    s.broken_parameters(|source| {
        let r = source.region;
        r.vstride == 0 && r.hstride == 0 && r.width != 1
    })
}

fn indirect_rows(s: &Subject<'_>) -> Vec<ViolationSite> {
    if !s.has_regions() {
        return Vec::new();
    }
    s.broken_sources(|source| source.region.vstride == Region::VXH && direct(source))
}

fn double_rows(s: &Subject<'_>) -> Vec<ViolationSite> {
    s.broken_sources(|source| source.region.vstride == Region::VXH && source.ty.size() == 8)
}

/// The sources of an align16 operation with a vertical stride for which `broken` holds.
fn align16(s: &Subject<'_>, broken: fn(u8) -> bool) -> Vec<ViolationSite> {
    if !s.computes() || s.i.access_mode != AccessMode::Align16 {
        return Vec::new();
    }
    s.broken_sources(|source| !is_null(source.register) && broken(source.region.vstride))
}

fn align16_pairs(s: &Subject<'_>) -> Vec<ViolationSite> {
    align16(s, |stride| stride == 2)
}

fn align16_stride(s: &Subject<'_>) -> Vec<ViolationSite> {
    align16(s, |stride| !matches!(stride, 0 | 2 | 4))
}

fn align16_qword(s: &Subject<'_>) -> Vec<ViolationSite> {
    let widens = s.i.destination.ty.size() == 8 && s.source_types().any(|ty| ty.size() != 8);
    whole(s.computes() && s.i.access_mode == AccessMode::Align16 && widens && s.lanes() > 2)
}

fn direct(source: &Source) -> bool {
    source.indirect.is_none()
}

fn crossing(s: &Subject<'_>) -> Vec<ViolationSite> {
    s.broken_regions(|source| {
        direct(source) && s.rows(source).any(|(first, end)| first / GRF != (end - 1) / GRF)
    })
}

fn alignment(s: &Subject<'_>) -> Vec<ViolationSite> {
    if !s.has_regions() {
        return Vec::new();
    }
    let mut places =
        s.broken_sources(|source| direct(source) && u32::from(source.subregister) % source.ty.size() != 0);
    let d = &s.i.destination;
    if d.indirect.is_none() && u32::from(d.subregister) % d.ty.size() != 0 {
        places.push(ViolationSite::Destination);
    }
    places
}

fn source_span(s: &Subject<'_>) -> Vec<ViolationSite> {
    s.broken_regions(|source| registers(s.rows(source)) > 2)
}

/// Number of registers that the destination spans; if it is indirect, at the most favourable address; 0
/// without destination.
fn destination_span_registers(s: &Subject<'_>) -> u32 {
    match s.destination() {
        // The number of channels of `smov` depends on its immediate.
        Some(d) if s.has_regions() && !(d.indirect.is_some() && s.i.opcode == Opcode::Smov) => {
            registers(s.elements(d).last().into_iter())
        }
        _ => 0,
    }
}

/// Number of registers that the destination spans; 0 if there is none or it is indirect.
fn destination_registers(s: &Subject<'_>) -> u32 {
    if s.i.destination.indirect.is_none() { destination_span_registers(s) } else { 0 }
}

fn destination_span(s: &Subject<'_>) -> Vec<ViolationSite> {
    at_destination(destination_span_registers(s) > 2)
}

fn destination_stride(s: &Subject<'_>) -> Vec<ViolationSite> {
    let message = s.info.format == Format::Send && s.destination().is_some();
    at_destination((message || s.has_regions()) && s.i.destination.hstride == 0)
}

fn file_end(s: &Subject<'_>) -> Vec<ViolationSite> {
    let mut places = s.broken_regions(|source| match source.register {
        crate::Register::Grf(number) if direct(source) => u32::from(number) + registers(s.rows(source)) > 128,
        _ => false,
    });
    if s.destination_register().is_some_and(|number| number + destination_registers(s) > 128) {
        places.push(ViolationSite::Destination);
    }
    places
}

/// Whether a source spans two registers.
fn wide_source(s: &Subject<'_>) -> bool {
    s.sources().any(|(_, source)| direct(source) && registers(s.rows(source)) == 2)
}

/// Number of elements of the destination before and from a byte on.
fn split(s: &Subject<'_>, byte: u32) -> (usize, usize) {
    let starts = || s.elements(&s.i.destination).map(|(first, _)| first);
    (starts().filter(|&first| first < byte).count(), starts().filter(|&first| first >= byte).count())
}

fn even_words(s: &Subject<'_>) -> Vec<ViolationSite> {
    if destination_registers(s) != 1 || !wide_source(s) {
        return Vec::new();
    }
    let (low, high) = split(s, GRF / 2);
    at_destination(low != 0 && high != 0 && low != high)
}

fn even_registers(s: &Subject<'_>) -> Vec<ViolationSite> {
    let (low, high) = split(s, GRF);
    at_destination(destination_registers(s) == 2 && low != high)
}

fn math_even(s: &Subject<'_>) -> Vec<ViolationSite> {
    if s.info.format == Format::Math { even_registers(s) } else { Vec::new() }
}

/// The direct sources of two registers for which `broken` holds, if the destination also spans two.
fn broken_pairs(s: &Subject<'_>, broken: impl Fn(&Source) -> bool) -> Vec<ViolationSite> {
    if destination_registers(s) != 2 {
        return Vec::new();
    }
    s.broken_regions(|source| direct(source) && registers(s.rows(source)) == 2 && broken(source))
}

fn halves(s: &Subject<'_>) -> Vec<ViolationSite> {
    broken_pairs(s, |source| {
        let upper = s.elements(&s.i.destination).map(|(first, _)| first >= GRF);
        upper.zip(s.source_elements(source)).any(|(upper, first)| upper != (first >= GRF))
    })
}

fn half_offsets(s: &Subject<'_>) -> Vec<ViolationSite> {
    broken_pairs(s, |source| {
        let second = s.source_elements(source).find(|&first| first >= GRF);
        second.is_some_and(|first| first - GRF != u32::from(source.subregister))
    })
}

fn pairs(s: &Subject<'_>) -> Vec<ViolationSite> {
    if destination_registers(s) != 2 {
        return Vec::new();
    }
    let d = &s.i.destination;
    let packed_dwords = d.ty.size() == 4 && d.hstride == 1;
    s.broken_regions(|source| {
        let r = source.region;
        let packed_words = matches!(source.ty, Type::W | Type::UW)
            && r.hstride == 1
            && r.vstride == r.width.saturating_mul(r.hstride);
        direct(source)
            && registers(s.rows(source)) == 1
            && r != Region::SCALAR
            && !(packed_dwords && packed_words)
    })
}

/// The second of two destination registers is written for the channels from 8 on, of doubles from 4 on,
/// regardless of the number in the first. Ivy Bridge uses the same channels of doubles for both.
fn half_channels(s: &Subject<'_>) -> Vec<ViolationSite> {
    if destination_registers(s) != 2 || s.i.no_mask {
        return Vec::new();
    }
    let doubles = s.execution_size() == 8 || s.i.destination.ty.size() == 8;
    let expected = match s.generation.capabilities().doubles_in_halves {
        true if doubles => None,
        _ => Some(if s.execution_size() == 8 { 4 } else { 8 }),
    };
    at_destination(expected != Some(s.lanes() / 2))
}

/// Whether it has several channels; the rules on types do not apply to one.
fn several_channels(s: &Subject<'_>) -> bool {
    s.computes() && s.lanes() > 1
}

fn is_packed_byte(s: &Subject<'_>) -> bool {
    s.i.destination.ty.size() == 1 && s.i.destination.hstride == 1
}

fn packed_bytes(s: &Subject<'_>) -> Vec<ViolationSite> {
    at_destination(several_channels(s) && is_packed_byte(s) && !s.is_raw_move())
}

/// Whether the destination is narrower than the execution type.
fn narrow(s: &Subject<'_>) -> bool {
    let size = s.i.destination.ty.size();
    let capabilities = s.generation.capabilities();
    // Where doubles occupy two channels, a 32-bit result occupies one of them.
    let halved = capabilities.doubles_in_halves && s.execution_size() == 8 && size == 4;
    let exempt = halved || s.is_mixed_float() && capabilities.packed_half_results;
    several_channels(s) && !is_packed_byte(s) && !exempt && s.execution_size() > size
}

fn ratio(s: &Subject<'_>) -> Vec<ViolationSite> {
    let d = &s.i.destination;
    let bytes = d.ty.size() == 1;
    // Does not apply to align16, which has no strides.
    let stride = if s.has_regions() { u32::from(d.hstride) } else { 1 };
    let (step, size) = (stride * d.ty.size(), s.execution_size());
    // Intel's compiler emits larger strides of bytes.
    let fits = step == size || bytes && (s.is_raw_move() || step > size);
    at_destination(narrow(s) && !fits)
}

fn ratio_alignment(s: &Subject<'_>) -> Vec<ViolationSite> {
    let d = &s.i.destination;
    let bytes = d.ty.size() == 1;
    let misplaced = u32::from(d.subregister) % s.execution_size();
    // Bytes may have any offset within the execution type.
    let allowed = misplaced == 0 || bytes && misplaced == 1;
    at_destination(narrow(s) && s.has_regions() && d.indirect.is_none() && !allowed)
}

/// Whether the instruction converts between a type of the one kind and a type of the other. The manuals
/// restrict conversions of `mov`; implicit conversions of other instructions are treated the same.
fn converts(s: &Subject<'_>, one: fn(Type) -> bool, other: fn(Type) -> bool) -> bool {
    let d = s.i.destination.ty;
    s.computes()
        && s.destination().is_some()
        && (one(d) && s.source_types().any(other) || other(d) && s.source_types().any(one))
}

fn byte_qword(s: &Subject<'_>) -> Vec<ViolationSite> {
    if s.i.opcode == Opcode::Mov {
        return whole(converts(s, |ty| ty.size() == 1, |ty| ty.size() == 8));
    }
    // Intel's compiler emits shifts of 64-bit integers by a byte.
    let types = || s.source_types().chain(s.destination().map(|d| d.ty));
    whole(s.computes() && types().any(|ty| ty == Type::DF) && types().any(|ty| ty.size() == 1))
}

fn half_qword(s: &Subject<'_>) -> Vec<ViolationSite> {
    whole(converts(s, |ty| ty == Type::HF, |ty| ty.size() == 8))
}

fn half_integer(s: &Subject<'_>) -> Vec<ViolationSite> {
    let d = &s.i.destination;
    let step = u32::from(d.hstride) * d.ty.size();
    let strided = step == 4 && d.subregister.is_multiple_of(4);
    at_destination(
        several_channels(s)
            && s.has_regions()
            && converts(s, |ty| ty == Type::HF, |ty| !ty.is_float() && ty.size() < 8)
            && !strided,
    )
}

/// The type of a vector immediate among the sources.
fn vector(s: &Subject<'_>) -> Option<Type> {
    s.i.sources.iter().find_map(|operand| match operand {
        Operand::Immediate { ty: ty @ (Type::V | Type::UV | Type::VF), .. } => Some(*ty),
        _ => None,
    })
}

fn vector_alignment(s: &Subject<'_>) -> Vec<ViolationSite> {
    let d = &s.i.destination;
    at_destination(
        s.has_regions() && d.indirect.is_none() && vector(s).is_some() && !d.subregister.is_multiple_of(16),
    )
}

fn vector_stride(s: &Subject<'_>) -> Vec<ViolationSite> {
    let d = &s.i.destination;
    let step = d.ty.size() * u32::from(d.hstride);
    let allowed = match vector(s) {
        // Intel's compiler also emits dwords.
        Some(Type::V | Type::UV) => matches!(step, 2 | 4),
        Some(_) => step == 4,
        None => true,
    };
    // Nothing is written to a null destination, though it has a type.
    at_destination(s.has_regions() && s.destination().is_some() && s.i.opcode != Opcode::Movi && !allowed)
}

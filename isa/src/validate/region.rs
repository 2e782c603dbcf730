//! "Register Region Restrictions".

use super::subject::{GRF, Subject, destination_elements, registers, source_rows};
use super::{Place, Rule, all, at_destination, some, whole};
use crate::opcode::Format;
use crate::{Opcode, Operand, Region, Source, Type};

const GENERAL: &str = "Register Region Restrictions, General Restrictions on Regioning Parameters";
const ALIGNMENT: &str = "Register Region Restrictions, Region Alignment Rules for Direct Register Addressing";
const TYPES: &str = "Register Region Restrictions, General Restrictions Based on Operand Types";
const IMMEDIATES: &str = "Register Region Restrictions, Vector Immediate Operands";

const UNTIL_75: [bool; 4] = [true, true, false, false];
const UNTIL_8: [bool; 4] = [true, true, true, false];

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    all("region.width", GENERAL, "the execution size is at least the region's width", width),
    all("region.row", GENERAL, "one row that fills the execution size has a vertical stride of width times horizontal stride", row),
    all("region.column", GENERAL, "a width of 1 has a horizontal stride of 0", column),
    all("region.scalar", GENERAL, "one element for one channel has no strides", scalar),
    all("region.repeated", GENERAL, "without strides the width is 1", repeated),
    all("region.crossing", GENERAL, "the elements of a row lie in one register", crossing),
    all("region.alignment", GENERAL, "an element starts at a multiple of its size", alignment),
    all("region.source-span", ALIGNMENT, "a source spans at most two registers", source_span),
    all("region.destination-span", ALIGNMENT, "the destination spans at most two registers", destination_span),
    all("region.destination-stride", GENERAL, "the destination's stride is not 0", destination_stride),
    all("region.file-end", ALIGNMENT, "there are 128 general registers", file_end),
    some(UNTIL_8, "region.even-words", "Broadwell, Register Region Restrictions, Region Alignment Rules", "with a source of two registers a destination within one lies in one OWord or evenly in both", even_words),
    some(UNTIL_8, "region.even-registers", "Broadwell, Register Region Restrictions, Region Alignment Rules", "a destination of two registers is evenly split", even_registers),
    all("region.math-even", "Extended Math Function", "a math destination of two registers is evenly split", math_even),
    some(UNTIL_75, "region.pairs", "Haswell, Register Region Restrictions, Region Alignment Rules", "a destination of two registers has scalar sources, packed words for packed dwords, or sources of two registers", pairs),
    all("region.packed-bytes", TYPES, "only a raw mov has a packed byte destination", packed_bytes),
    all("region.ratio", TYPES, "a destination narrower than the execution type has a stride of the sizes' ratio", ratio),
    all("region.ratio-alignment", TYPES, "a destination narrower than the execution type is aligned to that", ratio_alignment),
    all("region.byte-qword", "Broadwell, Volume 2a, mov", "there is no conversion between bytes and 64-bit types", byte_qword),
    all("region.half-qword", "Broadwell, Volume 2a, mov", "there is no conversion between half floats and 64-bit types", half_qword),
    all("region.half-integer", "Broadwell, Volume 2a, mov", "a conversion between half float and integer has a dword per element at the destination", half_integer),
    all("region.vector-immediate", IMMEDIATES, "the destination of a vector immediate starts at a multiple of 16 bytes", vector_alignment),
    all("region.vector-stride", IMMEDIATES, "the destination of V and UV has a stride of a word or a dword, of VF of a dword", vector_stride),
];

fn width(s: &Subject<'_>) -> Vec<Place> {
    s.broken_regions(|source| u32::from(source.region.width) > s.lanes())
}

fn row(s: &Subject<'_>) -> Vec<Place> {
    s.broken_regions(|source| {
        let r = source.region;
        r.width > 1
            && u32::from(r.width) == s.lanes()
            && r.hstride != 0
            && r.vstride != r.width.saturating_mul(r.hstride)
    })
}

fn column(s: &Subject<'_>) -> Vec<Place> {
    s.broken_regions(|source| source.region.width == 1 && source.region.hstride != 0)
}

fn scalar(s: &Subject<'_>) -> Vec<Place> {
    s.broken_regions(|source| {
        let r = source.region;
        s.lanes() == 1 && r.width == 1 && (r.vstride != 0 || r.hstride != 0)
    })
}

fn repeated(s: &Subject<'_>) -> Vec<Place> {
    s.broken_regions(|source| {
        let r = source.region;
        r.vstride == 0 && r.hstride == 0 && r.width != 1
    })
}

fn direct(source: &Source) -> bool {
    source.indirect.is_none()
}

fn crossing(s: &Subject<'_>) -> Vec<Place> {
    s.broken_regions(|source| {
        direct(source) && source_rows(source, s.lanes()).any(|(first, end)| first / GRF != (end - 1) / GRF)
    })
}

fn alignment(s: &Subject<'_>) -> Vec<Place> {
    if !s.has_regions() {
        return Vec::new();
    }
    let mut places =
        s.broken_sources(|source| direct(source) && u32::from(source.subregister) % source.ty.size() != 0);
    let d = &s.i.destination;
    if d.indirect.is_none() && u32::from(d.subregister) % d.ty.size() != 0 {
        places.push(Place::Destination);
    }
    places
}

fn source_span(s: &Subject<'_>) -> Vec<Place> {
    s.broken_regions(|source| direct(source) && registers(source_rows(source, s.lanes())) > 2)
}

/// Registers that the destination spans; 0 where there is none or it is indirect.
fn destination_registers(s: &Subject<'_>) -> u32 {
    match s.destination() {
        Some(d) if d.indirect.is_none() && s.has_regions() => {
            registers(destination_elements(d, s.lanes()).last().into_iter())
        }
        _ => 0,
    }
}

fn destination_span(s: &Subject<'_>) -> Vec<Place> {
    at_destination(destination_registers(s) > 2)
}

fn destination_stride(s: &Subject<'_>) -> Vec<Place> {
    at_destination(s.has_regions() && s.i.destination.hstride == 0)
}

fn file_end(s: &Subject<'_>) -> Vec<Place> {
    let mut places = s.broken_regions(|source| match source.register {
        crate::Register::Grf(number) if direct(source) => {
            u32::from(number) + registers(source_rows(source, s.lanes())) > 128
        }
        _ => false,
    });
    if s.destination_register().is_some_and(|number| number + destination_registers(s) > 128) {
        places.push(Place::Destination);
    }
    places
}

/// Does a source lie in two registers?
fn wide_source(s: &Subject<'_>) -> bool {
    s.sources().any(|(_, source)| direct(source) && registers(source_rows(source, s.lanes())) == 2)
}

/// Elements of the destination below and from a byte on.
fn split(s: &Subject<'_>, byte: u32) -> (usize, usize) {
    let starts = || destination_elements(&s.i.destination, s.lanes()).map(|(first, _)| first);
    (starts().filter(|&first| first < byte).count(), starts().filter(|&first| first >= byte).count())
}

fn even_words(s: &Subject<'_>) -> Vec<Place> {
    if destination_registers(s) != 1 || !wide_source(s) {
        return Vec::new();
    }
    let (low, high) = split(s, GRF / 2);
    at_destination(low != 0 && high != 0 && low != high)
}

fn even_registers(s: &Subject<'_>) -> Vec<Place> {
    let (low, high) = split(s, GRF);
    at_destination(destination_registers(s) == 2 && low != high)
}

fn math_even(s: &Subject<'_>) -> Vec<Place> {
    if s.info.format == Format::Math { even_registers(s) } else { Vec::new() }
}

fn pairs(s: &Subject<'_>) -> Vec<Place> {
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
            && registers(source_rows(source, s.lanes())) == 1
            && r != Region::SCALAR
            && !(packed_dwords && packed_words)
    })
}

/// The rules about types do not hold for one channel.
fn several_channels(s: &Subject<'_>) -> bool {
    s.computes() && s.lanes() > 1
}

fn is_packed_byte(s: &Subject<'_>) -> bool {
    s.i.destination.ty.size() == 1 && s.i.destination.hstride == 1
}

fn packed_bytes(s: &Subject<'_>) -> Vec<Place> {
    at_destination(several_channels(s) && is_packed_byte(s) && !s.is_raw_move())
}

/// Is the destination narrower than what is computed with?
fn narrow(s: &Subject<'_>) -> bool {
    several_channels(s)
        && !is_packed_byte(s)
        && !s.is_mixed_float()
        && s.execution_size() > s.i.destination.ty.size()
}

fn ratio(s: &Subject<'_>) -> Vec<Place> {
    let d = &s.i.destination;
    let raw_bytes = d.ty.size() == 1 && s.is_raw_move();
    let step = u32::from(d.hstride) * d.ty.size();
    at_destination(narrow(s) && s.has_regions() && !raw_bytes && step != s.execution_size())
}

fn ratio_alignment(s: &Subject<'_>) -> Vec<Place> {
    let d = &s.i.destination;
    let bytes = d.ty.size() == 1;
    let misplaced = u32::from(d.subregister) % s.execution_size();
    // Bytes may lie in any of the places within the execution type.
    let allowed = misplaced == 0 || bytes && misplaced == 1;
    at_destination(narrow(s) && s.has_regions() && d.indirect.is_none() && !allowed)
}

/// Does a mov convert between a type of the one kind and a type of the other?
fn converts(s: &Subject<'_>, one: fn(Type) -> bool, other: fn(Type) -> bool) -> bool {
    let d = s.i.destination.ty;
    s.i.opcode == Opcode::Mov
        && s.destination().is_some()
        && (one(d) && s.source_types().any(other) || other(d) && s.source_types().any(one))
}

fn byte_qword(s: &Subject<'_>) -> Vec<Place> {
    whole(converts(s, |ty| ty.size() == 1, |ty| ty.size() == 8))
}

fn half_qword(s: &Subject<'_>) -> Vec<Place> {
    whole(converts(s, |ty| ty == Type::HF, |ty| ty.size() == 8))
}

fn half_integer(s: &Subject<'_>) -> Vec<Place> {
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

fn vector_alignment(s: &Subject<'_>) -> Vec<Place> {
    let d = &s.i.destination;
    at_destination(
        s.has_regions() && d.indirect.is_none() && vector(s).is_some() && !d.subregister.is_multiple_of(16),
    )
}

fn vector_stride(s: &Subject<'_>) -> Vec<Place> {
    let d = &s.i.destination;
    let step = d.ty.size() * u32::from(d.hstride);
    let allowed = match vector(s) {
        Some(Type::V | Type::UV) => matches!(step, 2 | 4),
        Some(_) => step == 4,
        None => true,
    };
    // A null destination has a type, but nothing is written.
    at_destination(s.has_regions() && s.destination().is_some() && s.i.opcode != Opcode::Movi && !allowed)
}

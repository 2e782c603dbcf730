//! Rules on operands and modifiers.

use super::subject::{Subject, is_null};
use super::{Rule, ViolationSite, at_destination, gen7_to_9, some, whole};
use crate::opcode::{Allows, Format};
use crate::{Extra, Generations, MathFunction, Opcode, Operand, Register, Source, ThreadControl, Type};

const REFERENCE: &str = "Instruction Set Reference, of each instruction";
const MATH: &str = "Instruction Set Reference, math - Extended Math Function";

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    gen7_to_9("operand.sources", REFERENCE, "a source is missing", missing),
    gen7_to_9("operand.null-source", REFERENCE, "the null register is no source", null_source),
    gen7_to_9("operand.type", "Execution Data Types", "the generation has no such type", types),
    gen7_to_9("operand.modifier", REFERENCE, "the instruction has no source modifiers", modifiers),
    some(Generations::GEN8_TO_9, "operand.logic-abs", "Broadwell, Instruction Set Reference, and", "logic instructions have no absolute values", logic_abs),
    gen7_to_9("operand.saturate", REFERENCE, "the instruction does not saturate", saturate),
    gen7_to_9("operand.condition", REFERENCE, "the instruction has no conditional modifier", condition),
    gen7_to_9("operand.condition-required", REFERENCE, "the instruction needs a conditional modifier", condition_required),
    some(Generations::GEN7_TO_75, "operand.compare-destination", "Ivy Bridge, Instruction Set Reference, cmp", "a comparison's destination is a general register or the null register", compare_destination),
    some(Generations::GEN7_TO_75, "operand.compare-switch", "Ivy Bridge, Instruction Set Reference, cmp", "a comparison without destination has the option of a thread switch", compare_switch),
    gen7_to_9("operand.sel", "Instruction Set Reference, sel", "sel has either a predicate or a conditional modifier", sel),
    gen7_to_9("operand.flag", "Flag Register", "there are f0.0, f0.1, f1.0 and f1.1", flag),
    gen7_to_9("operand.address", "Indirect Addressing", "the address register has no such word", address),
    gen7_to_9("operand.float-logic", REFERENCE, "logic and shift instructions work on integers", float_logic),
    gen7_to_9("operand.immediate-first", "Immediate Operands", "only the last source can be an immediate", immediate_first),
    gen7_to_9("operand.immediate-wide", "Immediate Operands", "a 64-bit immediate is an instruction's only source", immediate_wide),
    gen7_to_9("operand.second-arf", "Architecture Register File", "an architecture register is source 0 only", second_arf),
    gen7_to_9("math.type", MATH, "math works on floats (macros also on doubles), its integer divisions on dwords", math_type),
    gen7_to_9("math.simd8", MATH, "an integer division has at most 8 channels", math_simd8),
    gen7_to_9("math.modifier", MATH, "an integer division has no source modifiers", math_modifier),
    some(Generations::GEN7_TO_75, "math.immediate", "Mesa, fs_visitor::fix_math_operand", "math has no immediates", math_immediate),
    gen7_to_9("math.stride", MATH, "the destination of math is packed", math_stride),
    gen7_to_9("ternary.exec-size", "Three-Source Instructions", "a three-source instruction has 4, 8 or 16 channels (or 2 of 64 bits)", ternary_size),
    gen7_to_9("ternary.span", "Three-Source Instructions", "an operand of a three-source instruction spans at most two registers", ternary_span),
    gen7_to_9("ternary.file-end", "Three-Source Instructions", "there are 128 general registers", ternary_end),
];

fn missing(s: &Subject<'_>) -> Vec<ViolationSite> {
    let needed = match s.info.format {
        // Functions of one argument may omit the second source.
        Format::Math => 1,
        _ => usize::from(s.info.sources),
    };
    let has_offset = matches!(s.info.format, Format::Jump);
    whole(!has_offset && s.i.sources.iter().take(needed).any(|source| *source == Operand::None))
}

fn null_source(s: &Subject<'_>) -> Vec<ViolationSite> {
    let read = match (s.info.format, s.i.extra) {
        (Format::Basic | Format::Ternary, _) => s.i.sources.len(),
        (_, Extra::Math(function)) => function.arguments(),
        _ => 0,
    };
    let broken = |(n, source): &(u8, &Source)| usize::from(*n) < read && is_null(source.register);
    s.sources().filter(broken).map(|(n, _)| ViolationSite::Source(n)).collect()
}

fn types(s: &Subject<'_>) -> Vec<ViolationSite> {
    let mut places = s.broken_sources(|source| !s.generation.has_type(source.ty));
    if !s.generation.has_type(s.i.destination.ty) {
        places.push(ViolationSite::Destination);
    }
    places
}

fn modifiers(s: &Subject<'_>) -> Vec<ViolationSite> {
    let affected = !s.info.allows.contains(Allows::MODIFIERS) && s.info.format != Format::Bare;
    if affected { s.broken_sources(|source| source.negate || source.abs) } else { Vec::new() }
}

fn logic_abs(s: &Subject<'_>) -> Vec<ViolationSite> {
    let affected = s.info.allows.contains(Allows::LOGIC);
    if affected { s.broken_sources(|source| source.abs) } else { Vec::new() }
}

fn saturate(s: &Subject<'_>) -> Vec<ViolationSite> {
    whole(s.i.saturate && !s.info.allows.contains(Allows::SATURATE))
}

fn condition(s: &Subject<'_>) -> Vec<ViolationSite> {
    whole(s.i.condition.is_some() && !s.info.allows.contains(Allows::CONDITION))
}

fn condition_required(s: &Subject<'_>) -> Vec<ViolationSite> {
    whole(s.i.condition.is_none() && s.info.allows.contains(Allows::CONDITION_REQUIRED))
}

fn compares(s: &Subject<'_>) -> bool {
    matches!(s.i.opcode, Opcode::Cmp | Opcode::Cmpn)
}

fn compare_destination(s: &Subject<'_>) -> Vec<ViolationSite> {
    let architecture = s.destination().is_some_and(|d| matches!(d.register, Register::Arf(_)));
    at_destination(compares(s) && (architecture || s.i.accumulator_write))
}

fn compare_switch(s: &Subject<'_>) -> Vec<ViolationSite> {
    whole(compares(s) && s.destination().is_none() && s.i.thread_control != ThreadControl::Switch)
}

fn sel(s: &Subject<'_>) -> Vec<ViolationSite> {
    whole(s.i.opcode == Opcode::Sel && s.i.predicate.is_some() == s.i.condition.is_some())
}

fn flag(s: &Subject<'_>) -> Vec<ViolationSite> {
    whole(s.i.flag.register > 1 || s.i.flag.subregister > 1)
}

fn address(s: &Subject<'_>) -> Vec<ViolationSite> {
    let words = s.generation.capabilities().address_words;
    let broken = |i: Option<crate::Indirect>| i.is_some_and(|i| i.subregister >= words);
    let mut places = s.broken_sources(|source| broken(source.indirect));
    if broken(s.i.destination.indirect) {
        places.push(ViolationSite::Destination);
    }
    places
}

fn float_logic(s: &Subject<'_>) -> Vec<ViolationSite> {
    let affected = matches!(
        s.i.opcode,
        Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not | Opcode::Shl | Opcode::Shr | Opcode::Asr
    );
    whole(
        affected
            && (s.source_types().any(Type::is_float) || s.destination().is_some_and(|d| d.ty.is_float())),
    )
}

fn immediate_first(s: &Subject<'_>) -> Vec<ViolationSite> {
    let last = s.i.sources.iter().rposition(|source| *source != Operand::None).unwrap_or(0);
    let immediates = s.i.sources.iter().take(last);
    whole(immediates.into_iter().any(|source| matches!(source, Operand::Immediate { .. })))
}

fn immediate_wide(s: &Subject<'_>) -> Vec<ViolationSite> {
    let wide =
        |operand: &Operand| matches!(operand, Operand::Immediate { ty, .. } if ty.immediate_bits() == 64);
    whole(s.info.sources > 1 && s.i.sources.iter().any(wide))
}

fn second_arf(s: &Subject<'_>) -> Vec<ViolationSite> {
    let is_arf = |register| matches!(register, Register::Arf(_)) && !is_null(register);
    s.sources()
        .filter(|(n, source)| *n > 0 && is_arf(source.register))
        .map(|(n, _)| ViolationSite::Source(n))
        .collect()
}

/// Whether the instruction is an integer division.
fn integer_division(s: &Subject<'_>) -> bool {
    matches!(
        s.i.extra,
        Extra::Math(
            MathFunction::IntDivQuotient
                | MathFunction::IntDivRemainder
                | MathFunction::IntDivQuotientRemainder
        )
    )
}

fn math_type(s: &Subject<'_>) -> Vec<ViolationSite> {
    if s.info.format != Format::Math {
        return Vec::new();
    }
    let integer = integer_division(s);
    let macro_step = matches!(s.i.extra, Extra::Math(MathFunction::Invm | MathFunction::Rsqrtm));
    let wrong = |ty: Type| match (integer, macro_step) {
        (true, _) => !matches!(ty, Type::D | Type::UD),
        (false, true) => !matches!(ty, Type::F | Type::DF),
        (false, false) => !matches!(ty, Type::F | Type::HF),
    };
    let mut places = s.broken_sources(|source| !is_null(source.register) && wrong(source.ty));
    if wrong(s.i.destination.ty) {
        places.push(ViolationSite::Destination);
    }
    places
}

fn math_simd8(s: &Subject<'_>) -> Vec<ViolationSite> {
    whole(integer_division(s) && s.lanes() > 8)
}

fn math_modifier(s: &Subject<'_>) -> Vec<ViolationSite> {
    if integer_division(s) { s.broken_sources(|source| source.negate || source.abs) } else { Vec::new() }
}

/// Later generations take one as the only argument, too: Intel's compiler emits it (IGC, `HWConformity::fixMathInst`).
fn math_immediate(s: &Subject<'_>) -> Vec<ViolationSite> {
    let is_immediate = |source: &Operand| matches!(source, Operand::Immediate { .. });
    whole(s.info.format == Format::Math && s.i.sources.iter().any(is_immediate))
}

fn math_stride(s: &Subject<'_>) -> Vec<ViolationSite> {
    let d = &s.i.destination;
    at_destination(s.info.format == Format::Math && s.has_regions() && s.lanes() > 1 && d.hstride != 1)
}

fn ternary_size(s: &Subject<'_>) -> Vec<ViolationSite> {
    // A single channel is one component of four. IGC emits no other form, and `iga64` does not accept any.
    let allowed = match s.i.exec_size {
        4 | 8 | 16 => true,
        // Two doubles are the four 32-bit components of align16.
        2 => s.i.destination.ty.size() == 8,
        _ => false,
    };
    whole(s.info.format == Format::Ternary && !allowed)
}

/// Number of registers of packed elements.
fn packed_registers(s: &Subject<'_>, subregister: u8, ty: Type) -> u32 {
    (u32::from(subregister) + s.lanes() * s.element(ty)).div_ceil(super::subject::GRF)
}

fn ternary_span(s: &Subject<'_>) -> Vec<ViolationSite> {
    if s.info.format != Format::Ternary {
        return Vec::new();
    }
    let mut places = s
        .broken_sources(|source| !source.replicate && packed_registers(s, source.subregister, source.ty) > 2);
    if packed_registers(s, s.i.destination.subregister, s.i.destination.ty) > 2 {
        places.push(ViolationSite::Destination);
    }
    places
}

fn ternary_end(s: &Subject<'_>) -> Vec<ViolationSite> {
    if s.info.format != Format::Ternary {
        return Vec::new();
    }
    let past = |register, subregister, ty| match register {
        Register::Grf(number) => u32::from(number) + packed_registers(s, subregister, ty) > 128,
        Register::Arf(_) => false,
    };
    let mut places =
        s.broken_sources(|source| !source.replicate && past(source.register, source.subregister, source.ty));
    let d = &s.i.destination;
    if past(d.register, d.subregister, d.ty) {
        places.push(ViolationSite::Destination);
    }
    places
}

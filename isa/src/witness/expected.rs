//! The expected output of `iga64` for an instruction.

use super::line::{CONDITIONS, Line, OperandParts};
use crate::codes;
use crate::opcode::{Allows, Format, OpcodeInfo};
use crate::{
    AccessMode, Arf, Branch, Descriptor, Destination, Extra, Generation, Instruction, MathFunction, Opcode,
    Operand, PredicateControl, Region, Register, Send, Source, ThreadControl, Type,
};

/// The parts of an instruction that differ from `iga64`'s output.
pub(super) fn differences(
    generation: Generation,
    i: &Instruction,
    size: usize,
    line: &Line<'_>,
) -> Vec<String> {
    let info = i.opcode.info();
    let mut result = Vec::new();
    let mut check = |what: &str, ours: &str, theirs: &str| {
        if ours != theirs {
            result.push(format!("{what}: {ours} or {theirs}"));
        }
    };
    check("opcode", &mnemonic(info, i), line.mnemonic);
    if info.format == Format::Bare {
        return result;
    }
    check("predicate", &predicate(i), line.predicate.unwrap_or(""));
    if let Some(theirs) = line.size {
        check("channels", &format!("{}|M{}", i.exec_size, i.channel_offset), theirs);
    }
    check("condition", &condition(i), line.condition.unwrap_or(""));
    check("options", &options(i, size).join(" "), &sorted(&line.options).join(" "));
    let operands = operands(generation, info, i, size);
    if operands.len() != line.operands.len() {
        result.push(format!("operands: {operands:?} or {:?}", line.operands));
        return result;
    }
    for (ours, theirs) in operands.iter().zip(&line.operands) {
        if !ours.matches(theirs) {
            result.push(format!("operand: {ours:?} or {theirs}"));
        }
    }
    result
}

fn sorted(words: &[&str]) -> Vec<String> {
    let mut words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    words.sort();
    words
}

fn mnemonic(info: &OpcodeInfo, i: &Instruction) -> String {
    match i.extra {
        Extra::Math(function) => format!("math.{}", math(function)),
        Extra::Branch(Branch { control: true, .. }) => format!("{}.b", info.mnemonic),
        _ => info.mnemonic.to_owned(),
    }
}

fn math(function: MathFunction) -> &'static str {
    match function {
        MathFunction::Inv => "inv",
        MathFunction::Log => "log",
        MathFunction::Exp => "exp",
        MathFunction::Sqrt => "sqt",
        MathFunction::Rsq => "rsqt",
        MathFunction::Sin => "sin",
        MathFunction::Cos => "cos",
        MathFunction::Fdiv => "fdiv",
        MathFunction::Pow => "pow",
        MathFunction::IntDivQuotientRemainder => "idiv",
        MathFunction::IntDivQuotient => "iqot",
        MathFunction::IntDivRemainder => "irem",
        MathFunction::Invm => "invm",
        MathFunction::Rsqrtm => "rsqtm",
    }
}

fn flag(i: &Instruction) -> String {
    format!("f{}.{}", i.flag.register, i.flag.subregister)
}

fn predicate(i: &Instruction) -> String {
    let mut parts = Vec::new();
    if i.no_mask {
        parts.push("W".to_owned());
    }
    if let Some(predicate) = i.predicate {
        let inverse = if predicate.inverse { "~" } else { "" };
        let control = match predicate.control {
            PredicateControl::Normal => String::new(),
            control => format!(".{}", codes::text(codes::predicates(i.access_mode), Some(control))),
        };
        parts.push(format!("{inverse}{}{control}", flag(i)));
    }
    parts.join("&")
}

/// Whether it is a step of a math macro, whose operands also name accumulators.
fn is_macro(i: &Instruction) -> bool {
    i.opcode == Opcode::Madm || matches!(i.extra, Extra::Math(MathFunction::Invm | MathFunction::Rsqrtm))
}

/// A general register and its accumulator: number 8 is none.
fn macro_operand(modifiers: String, register: Register, accumulator: u8, ty: Type) -> Expected {
    let base = match (register, accumulator & 0xf) {
        (Register::Grf(number), 8) => format!("r{number}.nomme"),
        (Register::Grf(number), accumulator) => format!("r{number}.mme{accumulator}"),
        (Register::Arf(arf), _) => arf.text(),
    };
    Expected::Parts(OperandParts { modifiers, base, region: None, ty: Some(type_name(ty)) })
}

fn condition(i: &Instruction) -> String {
    if is_macro(i) && i.opcode != Opcode::Madm {
        // The flag register gets the channels that are finished early.
        return format!("(eo){}", flag(i));
    }
    if i.condition.is_none() {
        return String::new();
    }
    let ours = codes::text(codes::CONDITIONS, i.condition);
    let theirs = CONDITIONS.iter().find(|(name, _)| *name == ours).map_or("?", |(_, name)| name);
    format!("({theirs}){}", flag(i))
}

fn options(i: &Instruction, size: usize) -> Vec<String> {
    let send_ends = matches!(i.extra, Extra::Send(Send { end_of_thread: true, .. }));
    let words = [
        (i.accumulator_write, "AccWrEn"),
        (i.thread_control == ThreadControl::Atomic, "Atomic"),
        (i.debug, "Breakpoint"),
        (size == 8, "Compacted"),
        (send_ends, "EOT"),
        (i.no_dd_check, "NoDDChk"),
        (i.no_dd_clear, "NoDDClr"),
        (i.thread_control == ThreadControl::Switch, "Switch"),
    ];
    words.iter().filter(|(holds, _)| *holds).map(|(_, word)| (*word).to_owned()).collect()
}

/// The expected text of an operand.
#[derive(Debug)]
enum Expected {
    /// Region and type are compared where they are written.
    Parts(OperandParts),
    /// The bits of an immediate.
    Immediate(u64, Type),
    /// A number.
    Number(i64),
    /// Bits of an extended descriptor: value, and mask of the compared bits.
    Masked(u64, u64),
    /// Not comparable: align16, which `iga64` prints approximately in align1 syntax.
    Any,
}

impl Expected {
    fn matches(&self, text: &str) -> bool {
        let theirs = OperandParts::parse(text);
        match self {
            Expected::Parts(ours) => {
                ours.modifiers == theirs.modifiers
                    && ours.base == theirs.base
                    && (theirs.region.is_none() || ours.region == theirs.region)
                    && (theirs.ty.is_none() || ours.ty == theirs.ty)
            }
            Expected::Immediate(bits, ty) => {
                let text = theirs.modifiers + &theirs.base;
                theirs.ty == Some(type_name(*ty)) && immediate(&text, *ty) == Some(*bits)
            }
            Expected::Number(number) => integer(&theirs.base) == Some(i128::from(*number)),
            Expected::Masked(value, mask) => {
                integer(&theirs.base).is_some_and(|n| n as u64 & mask == value & mask)
            }
            Expected::Any => true,
        }
    }
}

fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { -value } else { value })
}

/// The bits of an immediate's text.
fn immediate(text: &str, ty: Type) -> Option<u64> {
    let mask = u64::MAX >> (64 - ty.immediate_bits());
    if !ty.is_float() || ty == Type::VF || text.starts_with("0x") {
        return integer(text).map(|value| value as u64 & mask);
    }
    if let Some(bits) = not_a_number(text, ty) {
        return Some(bits);
    }
    let value: f64 = text.parse().ok()?;
    Some(match ty {
        Type::F => u64::from((value as f32).to_bits()),
        Type::HF => u64::from(half_bits(value as f32)),
        _ => value.to_bits(),
    })
}

/// `qnan(0x12)` or `snan(0x12)` with an optional sign, as bits.
fn not_a_number(text: &str, ty: Type) -> Option<u64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (1, rest),
        None => (0, text),
    };
    let (quiet, payload) = match (text.strip_prefix("qnan("), text.strip_prefix("snan(")) {
        (Some(payload), _) => (1, payload),
        (_, Some(payload)) => (0, payload),
        (None, None) => return None,
    };
    let payload = integer(payload.trim_end_matches(')'))? as u64;
    // Bits of exponent and mantissa.
    let (exponent, mantissa): (u32, u32) = match ty {
        Type::HF => (5, 10),
        Type::F => (8, 23),
        _ => (11, 52),
    };
    let ones = (1 << exponent) - 1;
    Some(negative << (exponent + mantissa) | ones << mantissa | quiet << (mantissa - 1) | payload)
}

/// The bits of a half float, for a value that is exactly representable.
fn half_bits(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let exponent = (bits >> 23 & 0xff) as i32 - 127;
    let mantissa = bits & 0x7f_ffff;
    match exponent {
        128 => sign | 0x7c00 | (mantissa >> 13) as u16,
        -14..=15 => sign | ((exponent + 15) as u16) << 10 | (mantissa >> 13) as u16,
        -24..=-15 => sign | ((mantissa | 0x80_0000) >> (-exponent - 1)) as u16,
        _ => sign,
    }
}

fn type_name(ty: Type) -> String {
    format!("{ty:?}").to_lowercase()
}

/// A register with its subregister in elements of the type.
fn register(register: Register, subregister: u8, ty: Type) -> String {
    let element = u32::from(subregister) / ty.size();
    match register {
        Register::Grf(number) => format!("r{number}.{element}"),
        Register::Arf(Arf::Null) => "null".to_owned(),
        Register::Arf(Arf::ChannelEnable) => "ce".to_owned(),
        Register::Arf(Arf::Ip) => "ip".to_owned(),
        Register::Arf(arf) => format!("{}.{element}", arf.text()),
    }
}

fn indirect(subregister: u8, offset: i16) -> String {
    match offset {
        0 => format!("r[a0.{subregister}]"),
        _ => format!("r[a0.{subregister},{offset}]"),
    }
}

fn destination(i: &Instruction, d: &Destination) -> Expected {
    let saturate = if i.saturate { "(sat)".to_owned() } else { String::new() };
    if is_macro(i) {
        return macro_operand(saturate, d.register, d.writemask, d.ty);
    }
    if i.access_mode == AccessMode::Align16 && i.opcode.info().format != Format::Ternary {
        return Expected::Any;
    }
    Expected::Parts(OperandParts {
        modifiers: saturate,
        base: match d.indirect {
            Some(address) => indirect(address.subregister, address.offset),
            None => register(d.register, d.subregister, d.ty),
        },
        region: Some(format!("{}", if i.access_mode == AccessMode::Align16 { 1 } else { d.hstride })),
        ty: Some(type_name(d.ty)),
    })
}

/// The text of the region of source `n`.
fn region(info: &OpcodeInfo, n: usize, s: &Source) -> String {
    let Region { vstride, width, hstride } = s.region;
    match (info.format, n, s.replicate) {
        (Format::Ternary, 2, true) => "0".to_owned(),
        (Format::Ternary, 2, false) => "1".to_owned(),
        (Format::Ternary, _, true) => "0;0".to_owned(),
        (Format::Ternary, _, false) => "2;1".to_owned(),
        _ if vstride == Region::VXH => format!("{width},{hstride}"),
        _ => format!("{vstride};{width},{hstride}"),
    }
}

fn source(i: &Instruction, n: usize, operand: &Operand) -> Expected {
    let info = i.opcode.info();
    match operand {
        Operand::None => Expected::Any,
        // `iga64` prints the low half only.
        Operand::Immediate { .. } if info.allows.contains(Allows::WIDE_IMMEDIATE) => Expected::Any,
        Operand::Immediate { bits, ty } => Expected::Immediate(*bits, *ty),
        Operand::Register(s) if is_macro(i) => {
            let modifiers =
                format!("{}{}", if s.negate { "-" } else { "" }, if s.abs { "(abs)" } else { "" });
            macro_operand(modifiers, s.register, s.swizzle, s.ty)
        }
        Operand::Register(_) if i.access_mode == AccessMode::Align16 && info.format != Format::Ternary => {
            Expected::Any
        }
        Operand::Register(s) => {
            // Printed as complement for all generations, regardless of its meaning.
            let complement = info.allows.contains(Allows::LOGIC);
            let negate = match (s.negate, complement) {
                (false, _) => "",
                (true, false) => "-",
                (true, true) => "~",
            };
            Expected::Parts(OperandParts {
                modifiers: format!("{negate}{}", if s.abs { "(abs)" } else { "" }),
                base: match s.indirect {
                    Some(address) => indirect(address.subregister, address.offset),
                    None => register(s.register, s.subregister, s.ty),
                },
                region: Some(region(info, n, s)),
                ty: Some(type_name(s.ty)),
            })
        }
    }
}

/// The register of a message, which is printed without subregister and region.
fn payload(register: Register, ty: Type) -> Expected {
    let base = match register {
        Register::Grf(number) => format!("r{number}"),
        Register::Arf(Arf::Null) => "null".to_owned(),
        Register::Arf(arf) => arf.text(),
    };
    Expected::Parts(OperandParts { modifiers: String::new(), base, region: None, ty: Some(type_name(ty)) })
}

fn message(generation: Generation, i: &Instruction, send: &Send) -> Vec<Expected> {
    let split = i.opcode.info().format == Format::SplitSend;
    let mut result = vec![payload(i.destination.register, i.destination.ty)];
    for operand in &i.sources {
        if let Operand::Register(s) = operand {
            result.push(payload(s.register, s.ty));
        }
    }
    let target = codes::by_value(codes::SHARED_FUNCTIONS, send.target)
        .and_then(|row| row.number(generation))
        .unwrap_or(0);
    let address = |dword: u8| {
        Expected::Parts(OperandParts {
            modifiers: String::new(),
            base: format!("a0.{dword}"),
            region: None,
            ty: None,
        })
    };
    result.push(match send.extended {
        // The shared function is in bits 3:0, end of thread in bit 5; in a `send`, the bits above are the
        // region of its payload.
        Descriptor::Immediate(bits) if split => {
            let end = u64::from(send.end_of_thread) << 5;
            Expected::Masked(u64::from(bits) | end | u64::from(target), u64::from(u32::MAX))
        }
        Descriptor::Immediate(_) => Expected::Masked(u64::from(target), 0xf),
        Descriptor::Register(dword) => address(dword),
    });
    result.push(match send.descriptor {
        Descriptor::Immediate(bits) => Expected::Number(i64::from(bits)),
        Descriptor::Register(dword) => address(dword),
    });
    result
}

fn operands(generation: Generation, info: &OpcodeInfo, i: &Instruction, size: usize) -> Vec<Expected> {
    let sources = |result: &mut Vec<Expected>| {
        for (n, operand) in i.sources.iter().enumerate() {
            let unary_math = matches!(info.format, Format::Math)
                && n == 1
                && !is_macro(i)
                && matches!(operand, Operand::Register(Source { register: Register::NULL, .. }));
            if *operand != Operand::None && !unary_math {
                result.push(source(i, n, operand));
            }
        }
    };
    let mut result = Vec::new();
    match (info.format, &i.extra) {
        (Format::Send | Format::SplitSend, Extra::Send(send)) => return message(generation, i, send),
        (Format::Basic | Format::Ternary | Format::Math, _) => {
            result.push(destination(i, &i.destination));
            sources(&mut result);
        }
        (Format::Call, Extra::Branch(branch)) => {
            result.push(destination(i, &i.destination));
            result.push(Expected::Number(i64::from(branch.jip)));
        }
        (Format::Call, _) => {
            result.push(destination(i, &i.destination));
            sources(&mut result);
        }
        // Relative to the branch itself.
        (Format::Jump, Extra::Branch(branch)) => {
            result.push(Expected::Number(i64::from(branch.jip) + size as i64));
        }
        (Format::Branch(shape) | Format::RegisterBranch(shape), Extra::Branch(branch)) => {
            result.push(Expected::Number(i64::from(branch.jip)));
            if shape.has_uip(generation) {
                result.push(Expected::Number(i64::from(branch.uip)));
            }
        }
        (Format::Wait, _) => {
            let d = &i.destination;
            let s = Source::new(d.register, d.subregister, Region::SCALAR, d.ty);
            result.push(source(i, 0, &Operand::Register(s)));
        }
        _ => sources(&mut result),
    }
    result
}

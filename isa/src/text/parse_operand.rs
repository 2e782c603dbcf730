//! Parsing of operands.

use super::cursor::Cursor;
use crate::codes;
use crate::{AccessMode, Arf, Destination, Generation, Indirect, Operand, Region, Register, Source, Type};

/// The result of parsing, with an error message.
pub(super) type Result<T> = std::result::Result<T, &'static str>;

/// The properties of an instruction that the syntax of its operands depends on.
#[derive(Clone, Copy)]
pub(super) struct Context {
    pub(super) generation: Generation,
    pub(super) mode: AccessMode,
    /// Three sources: `<0,1,0>` is replication.
    pub(super) ternary: bool,
}

/// A register name: `g12`, `r12`, `null`, `a0`, `acc0`, ...
fn register(c: &mut Cursor<'_>) -> Result<Register> {
    let name = c.run(|ch| ch.is_ascii_lowercase());
    let index = c.run(|ch| ch.is_ascii_digit());
    if matches!(name, "g" | "r") {
        let number: u8 = index.parse().map_err(|_| "a register number is expected")?;
        return if number < 128 { Ok(Register::Grf(number)) } else { Err("there are registers g0 to g127") };
    }
    Arf::from_text(&format!("{name}{index}")).map(Register::Arf).ok_or("unknown register")
}

/// A subregister `.n` in elements, or `.nb` in bytes.
enum Subregister {
    Elements(u64),
    Bytes(u64),
}

impl Subregister {
    fn parse(c: &mut Cursor<'_>) -> Result<Subregister> {
        let before = c.clone();
        if !c.eat(".") {
            return Ok(Subregister::Elements(0));
        }
        match c.number() {
            Some(number) if c.eat("b") => Ok(Subregister::Bytes(number)),
            Some(number) => Ok(Subregister::Elements(number)),
            None => {
                // A write mask or swizzle.
                *c = before;
                Ok(Subregister::Elements(0))
            }
        }
    }

    fn bytes(&self, ty: Type) -> Result<u8> {
        let bytes = match *self {
            Subregister::Elements(n) => n.saturating_mul(u64::from(ty.size())),
            Subregister::Bytes(n) => n,
        };
        if bytes < 32 { Ok(bytes as u8) } else { Err("the subregister lies outside of the register") }
    }
}

/// An indirect operand such as `g[a0.1 -32]`, if there is one.
fn indirect(c: &mut Cursor<'_>) -> Result<Option<Indirect>> {
    if !c.eat("g[") && !c.eat("r[") {
        return Ok(None);
    }
    if !c.eat("a0") {
        return Err("a0 is expected");
    }
    let subregister = if c.eat(".") { c.number().ok_or("a number is expected")? } else { 0 };
    c.skip_spaces();
    let offset = if c.eat("]") {
        0
    } else {
        let offset = c.signed().ok_or("an address offset is expected")?;
        c.skip_spaces();
        if !c.eat("]") {
            return Err("] is expected");
        }
        // Unsigned numbers of ten bits are interpreted as signed.
        if (512..1024).contains(&offset) { offset - 1024 } else { offset }
    };
    Ok(Some(Indirect {
        subregister: u8::try_from(subregister).map_err(|_| "the address subregister is too large")?,
        offset: i16::try_from(offset).map_err(|_| "the address offset is too large")?,
    }))
}

/// The letters of a type, after an optional colon.
fn type_letters<'a>(c: &mut Cursor<'a>) -> &'a str {
    c.eat(":");
    c.run(|ch| ch.is_ascii_uppercase())
}

fn register_type(c: &mut Cursor<'_>, context: Context) -> Result<Type> {
    let letters = type_letters(c);
    codes::by_text(codes::REGISTER_TYPES, context.generation, letters).ok_or("a register type is expected")
}

fn number(c: &mut Cursor<'_>) -> Result<u64> {
    c.skip_spaces();
    let value = c.number().ok_or("a number is expected")?;
    c.skip_spaces();
    Ok(value)
}

fn one_of(value: u64, rows: &'static [codes::Code<u8>]) -> Result<u8> {
    rows.iter()
        .map(|row| row.value)
        .find(|&v| u64::from(v) == value && v != Region::VXH)
        .ok_or("a number of this size is not possible here")
}

fn number_of(c: &mut Cursor<'_>, rows: &'static [codes::Code<u8>]) -> Result<u8> {
    one_of(number(c)?, rows)
}

/// `<v,w,h>`, `<v;w,h>`, `<v>` (align16), `<VxH,w,h>`, `<VxH>`, or `<w,h>` with one address register per row;
/// nothing is `<0,1,0>`.
fn region(c: &mut Cursor<'_>) -> Result<Region> {
    if !c.eat("<") {
        return Ok(Region::SCALAR);
    }
    if c.eat("VxH") {
        if c.eat(">") {
            return Ok(Region::new(Region::VXH, 1, 0));
        }
        if !c.eat(",") && !c.eat(";") {
            return Err("a comma is expected");
        }
        let width = number(c)?;
        return rest_of_region(c, Region::VXH, width);
    }
    let first = number(c)?;
    if c.eat(">") {
        return Ok(Region::new(one_of(first, codes::VSTRIDES)?, 1, 0));
    }
    if !c.eat(",") && !c.eat(";") {
        return Err("a comma is expected");
    }
    let second = number(c)?;
    if c.eat(">") {
        let (width, hstride) = (one_of(first, codes::WIDTHS)?, one_of(second, codes::HSTRIDES)?);
        return Ok(Region::new(Region::VXH, width, hstride));
    }
    rest_of_region(c, one_of(first, codes::VSTRIDES)?, second)
}

/// A region whose first two numbers have been read.
fn rest_of_region(c: &mut Cursor<'_>, vstride: u8, width: u64) -> Result<Region> {
    let width = one_of(width, codes::WIDTHS)?;
    if !c.eat(",") {
        return Err("a comma is expected");
    }
    let hstride = number_of(c, codes::HSTRIDES)?;
    if c.eat(">") { Ok(Region::new(vstride, width, hstride)) } else { Err("> is expected") }
}

/// Letters of channels after a dot.
fn channel_letters(c: &mut Cursor<'_>) -> Result<Vec<u8>> {
    if !c.eat(".") {
        return Ok(Vec::new());
    }
    let letters = c.run(|ch| ch.is_ascii_lowercase());
    letters
        .chars()
        .map(|letter| "xyzw".find(letter).map(|n| n as u8).ok_or("channels are x, y, z and w"))
        .collect()
}

/// `absent` is the default swizzle.
fn swizzle(c: &mut Cursor<'_>, absent: u8) -> Result<u8> {
    match channel_letters(c)?[..] {
        [] => Ok(absent),
        [one] => Ok(one * 0x55),
        [x, y, z, w] => Ok(x | y << 2 | z << 4 | w << 6),
        _ => Err("a swizzle has one or four channels"),
    }
}

fn writemask(c: &mut Cursor<'_>) -> Result<u8> {
    if c.eat(".none") {
        return Ok(0);
    }
    let channels = channel_letters(c)?;
    if channels.is_empty() {
        return Ok(0xf);
    }
    if !channels.is_sorted_by(|a, b| a < b) {
        return Err("a write mask's channels stand in order");
    }
    Ok(channels.iter().fold(0, |mask, channel| mask | 1 << channel))
}

/// A destination.
pub(super) fn destination(c: &mut Cursor<'_>, context: Context) -> Result<Destination> {
    c.skip_spaces();
    let (indirect, register, subregister) = location(c)?;
    let hstride = if c.eat("<") {
        let stride = number_of(c, codes::HSTRIDES)?;
        if !c.eat(">") {
            return Err("> is expected");
        }
        stride
    } else {
        1
    };
    let writemask = match context.mode {
        AccessMode::Align1 => 0xf,
        AccessMode::Align16 if hstride != 1 => return Err("an align16 destination has a stride of 1"),
        AccessMode::Align16 => writemask(c)?,
    };
    let ty = register_type(c, context)?;
    let subregister = subregister.bytes(ty)?;
    Ok(Destination { register, subregister, hstride, ty, indirect, writemask })
}

fn location(c: &mut Cursor<'_>) -> Result<(Option<Indirect>, Register, Subregister)> {
    match indirect(c)? {
        // The register that the decoder sets in indirect operands.
        Some(indirect) => Ok((Some(indirect), Register::Grf(0), Subregister::Elements(0))),
        None => {
            let register = register(c)?;
            Ok((None, register, Subregister::parse(c)?))
        }
    }
}

/// A source: register or immediate.
pub(super) fn source(c: &mut Cursor<'_>, context: Context) -> Result<Operand> {
    c.skip_spaces();
    if let Some(immediate) = immediate(c, context)? {
        return Ok(immediate);
    }
    let negate = c.eat("-") || c.eat("~");
    let abs = c.eat("(abs)");
    let (indirect, register, subregister) = location(c)?;
    let mut region = region(c)?;
    let replicate = context.ternary && region == Region::SCALAR;
    let swizzle = match context.mode {
        AccessMode::Align1 => Source::XYZW,
        AccessMode::Align16 => swizzle(c, if replicate { 0 } else { Source::XYZW })?,
    };
    let ty = register_type(c, context)?;
    if context.mode == AccessMode::Align16 && !context.ternary {
        region = Region { width: 4, hstride: 1, ..region };
    }
    let subregister = subregister.bytes(ty)?;
    Ok(Operand::Register(Source {
        register,
        subregister,
        region,
        ty,
        negate,
        abs,
        indirect,
        swizzle,
        replicate,
    }))
}

/// An immediate, if there is one.
fn immediate(c: &mut Cursor<'_>, context: Context) -> Result<Option<Operand>> {
    let before = c.clone();
    let negative = c.eat("-");
    let Some(value) = immediate_value(c)? else {
        *c = before;
        return Ok(None);
    };
    let letters = type_letters(c);
    // `dim` has float immediates of 64 bits; those of other instructions depend on the generation.
    let ty = codes::by_text(codes::IMMEDIATE_TYPES, context.generation, letters)
        .ok_or("an immediate's type is expected")?;
    let width = if ty == Type::F { 64 } else { ty.immediate_bits() };
    let mask = u64::MAX >> (64 - width);
    if negative && !ty.is_signed() {
        return Err("only signed integers are written with a sign");
    }
    let limit = if negative { mask / 2 + 1 } else { mask };
    if value > limit {
        return Err("the immediate is too large for its type");
    }
    let bits = if negative { value.wrapping_neg() } else { value };
    Ok(Some(Operand::Immediate { bits: bits & mask, ty }))
}

/// A number, or `[a, b, c, d]` of bytes.
fn immediate_value(c: &mut Cursor<'_>) -> Result<Option<u64>> {
    if !c.eat("[") {
        return Ok(c.number());
    }
    let mut value = 0;
    for (n, end) in [",", ",", ",", "]"].into_iter().enumerate() {
        c.skip_spaces();
        let byte = c.number().filter(|&byte| byte < 256).ok_or("a byte is expected")?;
        value |= byte << (8 * n);
        c.skip_spaces();
        if !c.eat(end) {
            return Err("a vector has four bytes");
        }
    }
    Ok(Some(value))
}

/// The register of a descriptor, `a0.n` with or without region, or `g[a0]`; returns the index of the dword.
pub(super) fn descriptor_register(c: &mut Cursor<'_>, context: Context) -> Result<u8> {
    match source(c, context)? {
        Operand::Register(Source { indirect: Some(i), .. }) => Ok(i.subregister / 2),
        Operand::Register(Source { register: Register::Arf(Arf::Address), subregister, .. }) => {
            Ok(subregister / 4)
        }
        _ => Err("a descriptor is a number or in a0"),
    }
}

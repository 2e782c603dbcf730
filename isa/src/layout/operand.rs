//! Layouts of destinations and sources.

use crate::codec::Codec;
use crate::codes::{self, File};
use crate::field::Field;
use crate::{AccessMode, Destination, Indirect, Instruction, Operand, Region, Register, Source, Type};

/// One of the two source slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Source0,
    Source1,
}

/// The fields of a source slot.
struct SourceFields {
    file: Field,
    ty: Field,
    abs: Field,
    negate: Field,
    mode: Field,
    register: Field,
    sub1: Field,
    sub16: Field,
    address: Field,
    offset1: Field,
    offset16: Field,
    vstride: Field,
    width: Field,
    hstride: Field,
    swizzle: Field,
}

const SOURCE0: SourceFields = SourceFields {
    file: Field::Src0File,
    ty: Field::Src0Type,
    abs: Field::Src0Abs,
    negate: Field::Src0Negate,
    mode: Field::Src0Mode,
    register: Field::Src0Register,
    sub1: Field::Src0Sub1,
    sub16: Field::Src0Sub16,
    address: Field::Src0Address,
    offset1: Field::Src0Offset1,
    offset16: Field::Src0Offset16,
    vstride: Field::Src0VStride,
    width: Field::Src0Width,
    hstride: Field::Src0HStride,
    swizzle: Field::Src0Swizzle,
};

const SOURCE1: SourceFields = SourceFields {
    file: Field::Src1File,
    ty: Field::Src1Type,
    abs: Field::Src1Abs,
    negate: Field::Src1Negate,
    mode: Field::Src1Mode,
    register: Field::Src1Register,
    sub1: Field::Src1Sub1,
    sub16: Field::Src1Sub16,
    address: Field::Src1Address,
    offset1: Field::Src1Offset1,
    offset16: Field::Src1Offset16,
    vstride: Field::Src1VStride,
    width: Field::Src1Width,
    hstride: Field::Src1HStride,
    swizzle: Field::Src1Swizzle,
};

impl Slot {
    fn fields(self) -> &'static SourceFields {
        match self {
            Slot::Source0 => &SOURCE0,
            Slot::Source1 => &SOURCE1,
        }
    }
}

/// The destination of all formats but those with three sources and split sends.
pub(super) fn destination<C: Codec>(
    c: &mut C,
    mode: AccessMode,
    d: &mut Destination,
) -> Result<(), C::Error> {
    let mut file = if d.indirect.is_some() { File::Grf } else { d.register.file() };
    c.coded(Field::DstFile, codes::FILES, &mut file)?;
    c.require(file != File::Immediate, "the destination is a register")?;
    c.coded(Field::DstType, codes::REGISTER_TYPES, &mut d.ty)?;
    let mut indirect = d.indirect.is_some();
    c.flag(Field::DstMode, &mut indirect)?;
    match mode {
        AccessMode::Align1 => c.coded(Field::DstStride, codes::HSTRIDES, &mut d.hstride)?,
        // "Although Dst.HorzStride is a don't care for Align16, HW needs this to be programmed as
        // 01": Ivy Bridge, Volume 4 Part 3, 5.2.4.1.
        AccessMode::Align16 => {
            c.constant(Field::DstStride, 1)?;
            c.small(Field::DstMask, &mut d.writemask)?;
        }
    }
    if indirect {
        let fields = match mode {
            AccessMode::Align1 => (Field::DstAddress, Field::DstOffset1, 1),
            AccessMode::Align16 => (Field::DstAddress, Field::DstOffset16, 16),
        };
        return address(c, fields, &mut d.indirect, &mut d.register);
    }
    c.register(Field::DstRegister, file, &mut d.register)?;
    match mode {
        AccessMode::Align1 => c.small(Field::DstSub1, &mut d.subregister),
        AccessMode::Align16 => c.scaled(Field::DstSub16, 16, &mut d.subregister),
    }
}

/// Register-indirect addressing: the word of `a0`, and the offset in units of `unit` bytes.
fn address<C: Codec>(
    c: &mut C,
    (register_field, offset_field, unit): (Field, Field, i16),
    indirect: &mut Option<Indirect>,
    register: &mut Register,
) -> Result<(), C::Error> {
    let mut value = indirect.unwrap_or(Indirect { subregister: 0, offset: 0 });
    c.small(register_field, &mut value.subregister)?;
    c.require(value.offset % unit == 0, "the address offset is not aligned to the field's unit")?;
    c.require((-512..512).contains(&value.offset), "the address offset is -512 to 511")?;
    let width = offset_field.info().width(c.generation());
    let mut bits = (i64::from(value.offset / unit) as u64) & ((1 << width) - 1);
    c.number(offset_field, &mut bits)?;
    let sign = 1 << (width - 1);
    value.offset = ((bits ^ sign).wrapping_sub(sign) as i64 as i16).wrapping_mul(unit);
    *indirect = Some(value);
    // The register is unused; a fixed value makes equal instructions compare equal.
    *register = Register::Grf(0);
    Ok(())
}

/// A source of the formats with one or two. `wide`: an immediate has 64 bits regardless of its type.
pub(super) fn source<C: Codec>(
    c: &mut C,
    slot: Slot,
    mode: AccessMode,
    wide: bool,
    operand: &mut Operand,
) -> Result<(), C::Error> {
    let fields = slot.fields();
    let mut file = match operand {
        Operand::None => {
            c.require(!C::ENCODES, "a source is missing")?;
            File::Grf
        }
        Operand::Register(s) if s.indirect.is_some() => File::Grf,
        Operand::Register(s) => s.register.file(),
        Operand::Immediate { .. } => File::Immediate,
    };
    c.coded(fields.file, codes::FILES, &mut file)?;
    if file == File::Immediate {
        let (mut bits, mut ty) = match operand {
            Operand::Immediate { bits, ty } => (*bits, *ty),
            _ => (0, Type::UD),
        };
        c.coded(fields.ty, codes::IMMEDIATE_TYPES, &mut ty)?;
        c.require(!wide || ty == Type::F, "the instruction's immediate is a 64-bit float of type F")?;
        c.require(slot == Slot::Source0 || ty.immediate_bits() < 64, "a 64-bit immediate as second source")?;
        immediate(c, if wide { 64 } else { ty.immediate_bits() }, &mut bits)?;
        *operand = Operand::Immediate { bits, ty };
        return Ok(());
    }
    let mut s = match operand {
        Operand::Register(s) => *s,
        _ => Source::new(Register::NULL, 0, Region::new(4, 4, 1), Type::UD),
    };
    c.coded(fields.ty, codes::REGISTER_TYPES, &mut s.ty)?;
    c.flag(fields.abs, &mut s.abs)?;
    c.flag(fields.negate, &mut s.negate)?;
    let mut indirect = s.indirect.is_some();
    c.flag(fields.mode, &mut indirect)?;
    c.coded(fields.vstride, codes::VSTRIDES, &mut s.region.vstride)?;
    match mode {
        AccessMode::Align1 => {
            c.coded(fields.width, codes::WIDTHS, &mut s.region.width)?;
            c.coded(fields.hstride, codes::HSTRIDES, &mut s.region.hstride)?;
        }
        AccessMode::Align16 => c.small(fields.swizzle, &mut s.swizzle)?,
    }
    if indirect {
        let place = match mode {
            AccessMode::Align1 => (fields.address, fields.offset1, 1),
            AccessMode::Align16 => (fields.address, fields.offset16, 16),
        };
        address(c, place, &mut s.indirect, &mut s.register)?;
    } else {
        c.register(fields.register, file, &mut s.register)?;
        match mode {
            AccessMode::Align1 => c.small(fields.sub1, &mut s.subregister)?,
            AccessMode::Align16 => c.scaled(fields.sub16, 16, &mut s.subregister)?,
        }
    }
    *operand = Operand::Register(s);
    Ok(())
}

/// An immediate of 16, 32 or 64 bits; those of 16 are repeated in both halves of the field.
fn immediate<C: Codec>(c: &mut C, width: u32, bits: &mut u64) -> Result<(), C::Error> {
    match width {
        64 => c.number(Field::Immediate64, bits),
        32 => c.number(Field::Immediate32, bits),
        _ => {
            c.require(*bits <= 0xffff, "a 16-bit immediate has more than 16 bits")?;
            let mut both = *bits << 16 | *bits;
            c.number(Field::Immediate32, &mut both)?;
            *bits = both & 0xffff;
            Ok(())
        }
    }
}

/// Source 1 of an instruction whose only source is an immediate: its type repeats the immediate's, and its
/// file is the architecture file, which is 0. Immediates of 64 bits overlap these fields.
pub(super) fn type_beside_immediate<C: Codec>(c: &mut C, ty: Type) -> Result<(), C::Error> {
    if ty.immediate_bits() == 64 {
        return Ok(());
    }
    let number = codes::by_value(codes::IMMEDIATE_TYPES, ty).and_then(|row| row.number(c.generation()));
    c.constant(Field::Src1Type, number.map_or(0, u64::from))
}

/// The fields of a source of a three-source instruction.
struct TernaryFields {
    abs: Field,
    negate: Field,
    replicate: Field,
    swizzle: Field,
    sub: Field,
    register: Field,
    /// The bit for half float when source 0 is float.
    half: Option<Field>,
}

const TERNARY: [TernaryFields; 3] = [
    TernaryFields {
        abs: Field::TernarySrc0Abs,
        negate: Field::TernarySrc0Negate,
        replicate: Field::TernarySrc0Replicate,
        swizzle: Field::TernarySrc0Swizzle,
        sub: Field::TernarySrc0Sub,
        register: Field::TernarySrc0Register,
        half: None,
    },
    TernaryFields {
        abs: Field::TernarySrc1Abs,
        negate: Field::TernarySrc1Negate,
        replicate: Field::TernarySrc1Replicate,
        swizzle: Field::TernarySrc1Swizzle,
        sub: Field::TernarySrc1Sub,
        register: Field::TernarySrc1Register,
        half: Some(Field::TernarySrc1Half),
    },
    TernaryFields {
        abs: Field::TernarySrc2Abs,
        negate: Field::TernarySrc2Negate,
        replicate: Field::TernarySrc2Replicate,
        swizzle: Field::TernarySrc2Swizzle,
        sub: Field::TernarySrc2Sub,
        register: Field::TernarySrc2Register,
        half: Some(Field::TernarySrc2Half),
    },
];

/// Unit of the subregister fields of three-source instructions in bytes.
const TERNARY_SUB_UNIT: u8 = 4;

/// Destination and three sources.
pub(super) fn ternary<C: Codec>(c: &mut C, i: &mut Instruction) -> Result<(), C::Error> {
    c.require(i.access_mode == AccessMode::Align16, "three-source instructions are align16")?;
    let d = &mut i.destination;
    c.require(d.indirect.is_none(), "three-source instructions have no indirect operands")?;
    c.require(
        matches!(d.register, Register::Grf(_)) || !C::ENCODES,
        "the destination is no general register",
    )?;
    c.coded(Field::TernaryDstType, codes::TERNARY_TYPES, &mut d.ty)?;
    c.register(Field::TernaryDstRegister, File::Grf, &mut d.register)?;
    c.scaled(Field::TernaryDstSub, TERNARY_SUB_UNIT, &mut d.subregister)?;
    c.small(Field::TernaryDstMask, &mut d.writemask)?;

    let mut common = i.sources[0].ty().unwrap_or(Type::F);
    c.coded(Field::TernarySrcType, codes::TERNARY_TYPES, &mut common)?;
    for (operand, fields) in i.sources.iter_mut().zip(&TERNARY) {
        let mut s = match operand {
            Operand::Register(s) => *s,
            _ => {
                c.require(!C::ENCODES, "three-source instructions have three registers as sources")?;
                Source::new(Register::Grf(0), 0, Region::new(4, 4, 1), common)
            }
        };
        c.require(s.indirect.is_none(), "three-source instructions have no indirect operands")?;
        c.require(matches!(s.register, Register::Grf(_)), "a source is no general register")?;
        c.flag(fields.abs, &mut s.abs)?;
        c.flag(fields.negate, &mut s.negate)?;
        c.flag(fields.replicate, &mut s.replicate)?;
        c.small(fields.swizzle, &mut s.swizzle)?;
        c.scaled(fields.sub, TERNARY_SUB_UNIT, &mut s.subregister)?;
        c.register(fields.register, File::Grf, &mut s.register)?;
        s.region = if s.replicate { Region::SCALAR } else { Region::new(4, 4, 1) };
        half(c, fields, common, &mut s.ty)?;
        *operand = Operand::Register(s);
    }
    Ok(())
}

/// The type of a source of a three-source instruction: that of source 0, but float and half float may be
/// mixed.
fn half<C: Codec>(c: &mut C, fields: &TernaryFields, common: Type, ty: &mut Type) -> Result<(), C::Error> {
    let mut is_half = *ty == Type::HF;
    match fields.half.filter(|field| field.exists(c.generation()) && matches!(common, Type::F | Type::HF)) {
        Some(field) => {
            c.require(matches!(ty, Type::F | Type::HF), "the sources' types cannot be mixed")?;
            c.flag(field, &mut is_half)?;
            *ty = if is_half { Type::HF } else { Type::F };
        }
        None => {
            c.require(*ty == common, "the sources' types cannot be mixed")?;
        }
    }
    Ok(())
}

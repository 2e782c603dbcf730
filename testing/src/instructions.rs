//! Random elements, operands and instructions of the execution units.

use gencl_isa::{
    AccessMode, Condition, Destination, Extra, Flag, Indirect, Instruction, MathFunction, Opcode, Operand,
    Predicate, PredicateControl, Region, Register, Source, Type,
};

use crate::Random;

/// The bits of a number of a type, likely a special one.
pub fn element(random: &mut Random, ty: Type) -> u64 {
    let (bits, fraction) = match ty {
        Type::HF => (16, 10),
        Type::F => (32, 23),
        Type::DF => (64, 52),
        _ => (ty.size() * 8, 0),
    };
    let all = u64::MAX >> (64 - bits);
    let any = random.next_u64() & all;
    if fraction == 0 {
        let special =
            [0, 1, 2, all, all - 1, all >> 1, (all >> 1) + 1, u64::from(random.dword()), any >> (bits / 2)];
        return if random.one_in(2) { random.pick(&special) & all } else { any };
    }
    let sign = any & 1 << (bits - 1);
    let exponents = (1 << (bits - 1 - fraction)) - 1;
    let low = any & ((1 << fraction) - 1);
    let number = |exponent: u64, low: u64| sign | exponent << fraction | low;
    match random.below(8) {
        0 => number(random.pick(&[0, 0, exponents, exponents / 2]), 0),
        // Denormal.
        1 => number(0, low >> random.below(fraction)),
        // NaN, or the largest.
        2 => number(exponents - random.below(2), low),
        // Around 1, with many bits and with few.
        3 | 4 => number(exponents / 2 - 4 + random.below(12), low),
        5 | 6 => number(
            exponents / 2 - 4 + random.below(40).min(exponents / 2),
            low >> (fraction - 4) << (fraction - 4),
        ),
        _ => any,
    }
}

/// Bytes with such numbers.
pub fn bytes(random: &mut Random, count: usize) -> Vec<u8> {
    (0..count / 4).flat_map(|_| random.dword().to_le_bytes()).collect()
}

const INTEGERS: [Type; 8] = [Type::UB, Type::B, Type::UW, Type::W, Type::UD, Type::D, Type::UQ, Type::Q];

/// Registers that instructions use: few, so that they meet. Floats have their own, since nobody defines the bits of a NaN, and
/// other types would see them.
fn place(random: &mut Random, ty: Type) -> u8 {
    let places = match ty {
        Type::F => [40, 56],
        Type::DF => [72, 88],
        Type::HF => [104, 112],
        _ => [8, 24],
    };
    random.pick(&places) + random.below(2) as u8
}

fn source(random: &mut Random, ty: Type, lanes: u8) -> Operand {
    if random.one_in(7) && ty.size() >= 2 {
        let bits = u64::from(random.dword()) & (u64::MAX >> (64 - ty.size() * 8));
        return Operand::Immediate { bits, ty };
    }
    let register = place(random, ty);
    let region = match random.below(6) {
        0 => Region::SCALAR,
        1 if u32::from(lanes) * ty.size() <= 64 => Region::new(4, 2, 2),
        2 if u32::from(lanes) * ty.size() <= 128 && lanes >= 4 => Region::new(8, 4, 2),
        3 if lanes >= 8 => Region::new(0, 8, 1),
        _ if lanes == 1 => Region::SCALAR,
        _ => Region::new(lanes.min(8), lanes.min(8), 1),
    };
    let subregister = if random.one_in(4) { ty.size() as u8 * random.below(3) as u8 } else { 0 };
    let mut source = Source::new(Register::Grf(register), subregister, region, ty);
    source.negate = random.one_in(5);
    source.abs = random.one_in(8);
    Operand::Register(source)
}

/// Whether all operands of an instruction are integers.
pub fn is_integer(i: &Instruction) -> bool {
    !i.destination.ty.is_float() && i.sources.iter().all(|s| s.ty().is_none_or(|ty| !ty.is_float()))
}

/// Addresses, mostly of registers, and a read there.
pub fn indirect(random: &mut Random, width: u8) -> [Instruction; 2] {
    let lanes = random.pick(&[1, 8, 16]).min(width);
    let a0 = Register::Arf(gencl_isa::Arf::Address);
    let mut addresses = Instruction::new(Opcode::And, lanes);
    addresses.destination = Destination::new(a0, 0, Type::UW);
    let region = if lanes == 1 { Region::SCALAR } else { Region::new(8, 8, 1) };
    addresses.sources[0] = Operand::Register(Source::new(Register::Grf(24), 0, region, Type::UW));
    let bits = if random.one_in(20) { 0x1ff8 } else { 0x7f8 };
    addresses.sources[1] = Operand::Immediate { bits, ty: Type::UW };
    addresses.no_mask = random.one_in(2);
    let ty = random.pick(&[Type::UW, Type::UD, Type::D, Type::W, Type::UQ]);
    let mut read = Instruction::new(random.pick(&[Opcode::Mov, Opcode::Add]), lanes);
    read.destination = Destination::new(Register::Grf(place(random, ty)), 0, ty);
    let region = match random.below(3) {
        _ if lanes == 1 => Region::SCALAR,
        0 => Region { vstride: Region::VXH, width: 1, hstride: 0 },
        1 => Region { vstride: Region::VXH, width: lanes, hstride: 1 },
        _ => Region::new(8, 8, 1),
    };
    let mut source = Source::new(Register::Grf(0), 0, region, ty);
    let word = if region.vstride == Region::VXH { 0 } else { random.below(4) as u8 };
    source.indirect = Some(Indirect { subregister: word, offset: random.pick(&[0, 32, 64, 256, -8]) });
    read.sources[0] = Operand::Register(source);
    if read.opcode == Opcode::Add {
        read.sources[1] = Operand::Immediate { bits: 3, ty: Type::UW };
    }
    if random.one_in(4) {
        read.predicate = Some(Predicate { control: PredicateControl::Normal, inverse: random.one_in(2) });
    }
    [addresses, read]
}

const MATH: [MathFunction; 9] = [
    MathFunction::Inv,
    MathFunction::Sqrt,
    MathFunction::Rsq,
    MathFunction::Log,
    MathFunction::Exp,
    MathFunction::Sin,
    MathFunction::Cos,
    MathFunction::Fdiv,
    MathFunction::Pow,
];

const CONDITIONS: [Condition; 6] = [
    Condition::Equal,
    Condition::NotEqual,
    Condition::Greater,
    Condition::GreaterEqual,
    Condition::Less,
    Condition::LessEqual,
];

/// An arithmetic instruction for a thread of `width` lanes.
pub fn arithmetic(random: &mut Random, width: u8) -> Instruction {
    use Opcode as O;
    let lanes = random.pick(&[1, 2, 4, 8, 16, 32]).min(width);
    let family = random.below(7);
    let float_type = match family {
        4 => Type::DF,
        5 => Type::HF,
        _ => Type::F,
    };
    let float = family >= 2;
    // Half floats and floats in one instruction.
    let mixed = family == 6;
    let integer_ops = [
        O::Mov,
        O::Add,
        O::Mul,
        O::And,
        O::Or,
        O::Xor,
        O::Not,
        O::Shl,
        O::Shr,
        O::Asr,
        O::Cmp,
        O::Sel,
        O::Math,
        O::Bfe,
        O::Bfi1,
        O::Bfi2,
        O::Lzd,
        O::Cbit,
        O::Bfrev,
        O::Fbl,
        O::Fbh,
        O::Avg,
        O::Addc,
        O::Mach,
    ];
    let float_ops = [
        O::Mov,
        O::Add,
        O::Mul,
        O::Mad,
        O::Frc,
        O::Rndd,
        O::Rndu,
        O::Rnde,
        O::Rndz,
        O::Cmp,
        O::Sel,
        O::Math,
        O::Lrp,
        O::Dp4,
    ];
    let opcode = if float { random.pick(&float_ops) } else { random.pick(&integer_ops) };
    let mut i = Instruction::new(opcode, lanes);
    let logic = matches!(opcode, O::And | O::Or | O::Xor | O::Not);
    let ternary = matches!(opcode, O::Mad | O::Bfe | O::Bfi2 | O::Lrp);
    let count = match opcode {
        O::Mov | O::Not | O::Frc | O::Rndd | O::Rndu | O::Rnde | O::Rndz => 1,
        O::Lzd | O::Cbit | O::Bfrev | O::Fbl | O::Fbh => 1,
        _ if ternary => 3,
        _ => 2,
    };
    let dwords = matches!(
        opcode,
        O::Bfe | O::Bfi1 | O::Bfi2 | O::Lzd | O::Cbit | O::Bfrev | O::Fbl | O::Fbh | O::Addc | O::Mach
    );
    let first = if float { float_type } else { random.pick(&INTEGERS) };
    let sign = random.pick(&[Type::D, Type::UD]);
    for k in 0..count {
        let ty = match opcode {
            _ if mixed => random.pick(&[Type::F, Type::HF]),
            _ if float => float_type,
            _ if dwords => sign,
            O::Sel if !random.one_in(3) => first,
            O::Math => sign,
            O::Mov if random.one_in(4) => Type::F,
            _ => random.pick(&INTEGERS),
        };
        i.sources[k] = source(random, ty, lanes);
        if ternary && let Operand::Immediate { .. } = i.sources[k] {
            let register = Register::Grf(place(random, ty));
            i.sources[k] = Operand::Register(Source::new(register, 0, Region::new(4, 4, 1), ty));
        }
        if let Operand::Register(s) = &mut i.sources[k] {
            s.abs &= !logic && !dwords;
            s.negate &= !dwords;
            if ternary {
                s.subregister = 0;
                s.replicate = s.region == Region::SCALAR;
                s.region = Region::new(4, 4, 1);
            }
            if opcode == O::Math && !float {
                (s.abs, s.negate) = (false, false);
            }
        }
    }
    if ternary {
        i.access_mode = AccessMode::Align16;
    }
    let ty = match opcode {
        O::Mov if float => random.pick(&[
            float_type,
            Type::F,
            Type::D,
            Type::UD,
            Type::W,
            Type::UB,
            Type::UQ,
            Type::HF,
            Type::DF,
        ]),
        O::Mov => random.pick(&[
            Type::F,
            Type::HF,
            Type::UB,
            Type::B,
            Type::UW,
            Type::W,
            Type::UD,
            Type::D,
            Type::UQ,
            Type::Q,
            Type::DF,
        ]),
        O::Math if !float => sign,
        _ if dwords => sign,
        O::Cmp => random.pick(&[Type::D, Type::UD, Type::UW]),
        O::Sel if !float && !random.one_in(3) => first,
        _ if mixed => random.pick(&[Type::F, Type::HF, Type::HF, Type::D]),
        _ if float => float_type,
        _ => random.pick(&INTEGERS),
    };
    let register = Register::Grf(place(random, ty));
    i.destination = if opcode == O::Cmp && random.one_in(2) {
        Destination::null(ty)
    } else {
        Destination::new(register, 0, ty)
    };
    if random.one_in(5) && !ternary && opcode != O::Math {
        i.destination.hstride = random.pick(&[2, 4]);
    }
    if opcode == O::Math {
        i.extra = Extra::Math(if float {
            random.pick(&MATH)
        } else {
            random.pick(&[MathFunction::IntDivQuotient, MathFunction::IntDivRemainder])
        });
    }
    if opcode == O::Cmp || random.one_in(4) && !matches!(opcode, O::Math | O::Bfe | O::Bfi1 | O::Bfi2) {
        i.condition = Some(random.pick(&CONDITIONS));
    }
    i.flag = Flag {
        register: random.below(2) as u8,
        subregister: if lanes == 32 { 0 } else { random.below(2) as u8 },
    };
    if opcode == O::Sel && i.condition.is_none() || opcode != O::Sel && opcode != O::Cmp && random.one_in(5) {
        let control = random.pick(&[
            PredicateControl::Normal,
            PredicateControl::Normal,
            PredicateControl::Normal,
            PredicateControl::Any8H,
            PredicateControl::All16H,
            PredicateControl::Any2H,
            PredicateControl::AnyV,
        ]);
        let control = if ternary { PredicateControl::Normal } else { control };
        i.predicate = Some(Predicate { control, inverse: random.one_in(2) });
    }
    i.saturate = random.one_in(6) && !logic && opcode != O::Cmp && !dwords;
    i.no_mask = random.one_in(5);
    let quarters = width / lanes.max(4);
    if lanes >= 4 && lanes < width {
        i.channel_offset = random.below(usize::from(quarters)) as u8 * lanes;
        // The flags of the upper channels of a half would be those of the next register.
        if i.channel_offset + lanes > 16 {
            i.flag.subregister = 0;
        }
    }
    i
}

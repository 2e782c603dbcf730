//! Instructions that have what a point asks for; everything else in them is random.

use gencl_isa::{
    AccessMode, Allows, Arf, Destination, Extra, Flag, Format, Indirect, Instruction, MathFunction, Opcode,
    Operand, Predicate, PredicateControl, Region, Register, Source, Type,
};
use gencl_testing::Random;
use gencl_testing::instructions::element;

use crate::points::{Asked, CONDITIONS, CONTROLS, CONTROLS_16, Form, Point, TYPES, Target};

/// Bytes of a register.
pub const REGISTER: usize = 32;

/// Registers with numbers of some types, as first register and how many.
pub const POOLS: [(&[Type], u8, u8); 4] = [
    (&[Type::UB, Type::B, Type::UW, Type::W, Type::UD, Type::D, Type::UQ, Type::Q], 1, 9),
    (&[Type::F], 10, 7),
    (&[Type::HF], 17, 5),
    (&[Type::DF], 22, 6),
];
/// The word of the address register that is the destination's.
pub const RESULT_WORD: u8 = 15;

/// A register for a source of a type.
pub fn pool(random: &mut Random, ty: Type) -> u8 {
    let own = |(types, ..): &&(&[Type], u8, u8)| types.contains(&ty);
    let other = random.pick(&POOLS);
    let (_, first, count) = POOLS.iter().find(own).filter(|_| !random.one_in(6)).unwrap_or(&other);
    // The last ones are behind what begins here.
    first + random.below(usize::from(*count) - 2) as u8
}

/// A region of a form for so many channels.
fn region(random: &mut Random, form: Form, lanes: u8) -> Region {
    let widths: Vec<u8> = [1, 2, 4, 8, 16].into_iter().filter(|w| *w <= lanes).collect();
    let width = random.pick(&widths);
    match form {
        Form::Packed if lanes == 1 => Region::SCALAR,
        Form::Packed | Form::Indirect => Region::new(width, width, u8::from(width > 1)),
        Form::Strided => {
            let step = random.pick(&[2, 4]);
            let step_inside = if width > 1 { step } else { 0 };
            Region::new((width * step).min(32), width, step_inside)
        }
        Form::Column => Region::new(random.pick(&[1, 2, 4, 8]), 1, 0),
        Form::Rows => Region::new(width * 2, width, u8::from(width > 1)),
        Form::Repeated => Region::new(0, width, u8::from(width > 1)),
        Form::Overlapping => Region::new(random.pick(&[1, 2, 4]), width, random.pick(&[0, 1, 2])),
        Form::IndirectRows => Region { vstride: Region::VXH, width, hstride: u8::from(width > 1) },
        Form::Accumulator => Region::new(lanes.min(8), lanes.min(8), u8::from(lanes > 1)),
        Form::Swizzled => Region::new(4, 4, 1),
        Form::Replicated => Region::new(0, 4, 1),
        Form::Scalar | Form::Immediate => Region::SCALAR,
    }
}

fn source(random: &mut Random, form: Form, ty: Type, lanes: u8, ternary: bool) -> Operand {
    if form == Form::Immediate {
        let bits = match ty {
            Type::V | Type::UV | Type::VF => random.next_u64() & 0xffff_ffff,
            _ => element(random, ty) & (u64::MAX >> (64 - ty.size() * 8)),
        };
        return Operand::Immediate { bits, ty };
    }
    let register = match form {
        Form::Accumulator => Register::Arf(Arf::Accumulator(0)),
        Form::Indirect | Form::IndirectRows => Register::Grf(0),
        _ => Register::Grf(pool(random, ty)),
    };
    let mut source = Source::new(register, 0, region(random, form, lanes), ty);
    match form {
        Form::Accumulator => {}
        Form::Indirect | Form::IndirectRows => {
            let offset = random.pick(&[0, 0, 8, 32, -8, -32]);
            source.indirect = Some(Indirect { subregister: random.below(8) as u8 * 2, offset });
        }
        Form::Swizzled | Form::Replicated => {
            source.swizzle = if random.one_in(3) { random.next_u64() as u8 } else { Source::XYZW };
            source.replicate = ternary && form == Form::Replicated;
            if source.replicate {
                source.subregister = ty.size() as u8 * random.below(REGISTER / ty.size() as usize) as u8;
            } else if random.one_in(4) {
                source.subregister = 16;
            }
            if ternary {
                source.region = Region::new(4, 4, 1);
            }
        }
        _ if random.one_in(3) => {
            source.subregister = ty.size() as u8 * random.below(REGISTER / ty.size() as usize) as u8;
        }
        _ => {}
    }
    Operand::Register(source)
}

/// Types that go together often.
fn types(random: &mut Random, asked: Option<Type>) -> Vec<Type> {
    let base = asked.unwrap_or_else(|| random.pick(&TYPES));
    match random.below(5) {
        0 => TYPES.to_vec(),
        1 => {
            let alike = |ty: &Type| ty.is_float() == base.is_float();
            TYPES.into_iter().filter(alike).collect()
        }
        2 => {
            let alike = |ty: &Type| ty.size() == base.size() && ty.is_float() == base.is_float();
            TYPES.into_iter().filter(alike).collect()
        }
        _ => vec![base],
    }
}

/// An instruction with what a point asks for, perhaps not a valid one.
pub fn instruction(random: &mut Random, point: &Point) -> Instruction {
    let (operation, lanes) = (point.operation, point.width);
    let info = operation.opcode.info();
    let mut i = Instruction::new(operation.opcode, lanes);
    let ternary = info.format == Format::Ternary;
    let align16 = ternary
        || random.one_in(12)
        || matches!(point.asked, Asked::Source { form: Form::Swizzled | Form::Replicated, .. })
        || matches!(point.asked, Asked::Destination { target: Target::Masked, .. })
        || matches!(point.asked, Asked::Flags { predicate: Some(p), .. } if CONTROLS_16.contains(&p.control));
    i.access_mode = if align16 { AccessMode::Align16 } else { AccessMode::Align1 };
    let asked_type = match point.asked {
        Asked::Source { ty: Type::V, .. } => Some(Type::W),
        Asked::Source { ty: Type::UV, .. } => Some(Type::UW),
        Asked::Source { ty: Type::VF, .. } => Some(Type::F),
        Asked::Source { ty, .. } | Asked::Destination { ty, .. } => Some(ty),
        Asked::Flags { .. } => None,
    };
    let types = types(random, asked_type);
    let simple = random.one_in(3);
    for number in 0..operation.sources() {
        let forms: &[Form] = match (align16, simple) {
            (true, false) => &[Form::Swizzled, Form::Swizzled, Form::Replicated, Form::Immediate],
            (true, true) => &[Form::Swizzled],
            (false, true) => &[Form::Packed, Form::Scalar],
            (false, false) => &[
                Form::Scalar,
                Form::Packed,
                Form::Packed,
                Form::Strided,
                Form::Column,
                Form::Rows,
                Form::Repeated,
                Form::Overlapping,
                Form::Immediate,
            ],
        };
        let (form, ty) = (random.pick(forms), random.pick(&types));
        i.sources[number] = source(random, form, ty, lanes, ternary);
        let modifiers = info.allows.contains(Allows::MODIFIERS) && !simple;
        let mut modifier = (modifiers && random.one_in(3), modifiers && random.one_in(5));
        if let Asked::Source { number: asked, ty, modifier: with, form } = point.asked
            && asked == number
        {
            i.sources[number] = source(random, form, ty, lanes, ternary);
            modifier = with;
        }
        if let Operand::Register(source) = &mut i.sources[number] {
            (source.negate, source.abs) = modifier;
        }
    }
    destination(random, &mut i, point, &types, simple);
    if let Some(function) = operation.function {
        i.extra = Extra::Math(function);
    }
    flags(random, &mut i, point, align16, simple);
    i
}

fn destination(random: &mut Random, i: &mut Instruction, point: &Point, types: &[Type], simple: bool) {
    let info = i.opcode.info();
    let mut ty = random.pick(types);
    let mut target = Target::Strided(1);
    if let Asked::Destination { ty: asked, target: place, saturate, accumulator } = point.asked {
        (ty, target, i.saturate, i.accumulator_write) = (asked, place, saturate, accumulator);
    } else {
        i.saturate = info.allows.contains(Allows::SATURATE) && !simple && random.one_in(5);
        i.accumulator_write = !simple && random.one_in(16);
    }
    i.destination = Destination::new(Register::Grf(0), 0, ty);
    let widest = i.sources.iter().filter_map(Operand::ty).map(Type::size).max().unwrap_or(1);
    if i.access_mode == AccessMode::Align1 {
        // What is narrower than its sources has gaps.
        let ratio = (widest.max(2) / ty.size()).clamp(1, 4) as u8;
        let gaps = matches!(point.asked, Asked::Destination { .. }) || random.one_in(8);
        i.destination.hstride = if gaps { 1 } else { ratio };
        if random.one_in(6) {
            i.destination.subregister = ty.size() as u8 * random.below(REGISTER / ty.size() as usize) as u8;
        }
    } else if random.one_in(6) {
        i.destination.subregister = 16;
    }
    match target {
        Target::Strided(step) if matches!(point.asked, Asked::Destination { .. }) => {
            i.destination.hstride = step;
        }
        Target::Strided(_) => {}
        Target::Indirect => {
            i.destination.register = Register::Grf(0);
            i.destination.indirect =
                Some(Indirect { subregister: RESULT_WORD, offset: random.pick(&[0, 16, -32]) });
            i.destination.subregister = 0;
            i.destination.hstride = random.pick(&[1, 1, 2]);
        }
        Target::Accumulator => {
            i.destination.register = Register::Arf(Arf::Accumulator(0));
            i.destination.subregister = 0;
        }
        Target::Null => i.destination = Destination::null(ty),
        Target::Masked => i.destination.writemask = random.below(16) as u8,
    }
}

fn flags(random: &mut Random, i: &mut Instruction, point: &Point, align16: bool, simple: bool) {
    let info = i.opcode.info();
    i.flag = Flag { register: random.below(2) as u8, subregister: random.below(2) as u8 };
    if i.exec_size == 32 {
        i.flag.subregister = 0;
    }
    i.no_mask = random.one_in(4);
    if let Asked::Flags { condition, predicate } = point.asked {
        (i.condition, i.predicate) = (condition, predicate);
    } else {
        let required = info.allows.contains(Allows::CONDITION_REQUIRED);
        if required || !simple && info.allows.contains(Allows::CONDITION) && random.one_in(3) {
            i.condition = Some(random.pick(&CONDITIONS));
        }
        let chooses = i.opcode == Opcode::Sel && i.condition.is_none();
        if chooses || i.opcode != Opcode::Sel && !simple && random.one_in(4) {
            let others: &[PredicateControl] = if align16 { &CONTROLS_16 } else { &CONTROLS };
            let control = if random.one_in(2) { PredicateControl::Normal } else { random.pick(others) };
            i.predicate = Some(Predicate { control, inverse: random.one_in(2) });
        }
    }
}

/// Whether an instruction has the accumulator as an implicit operand.
pub fn accumulates(i: &Instruction) -> bool {
    i.accumulator_write || matches!(i.opcode, Opcode::Mac | Opcode::Mach | Opcode::Addc | Opcode::Subb)
}

/// Whether it is one of those that keep exponents in registers of their own. Their destinations are general registers.
pub fn is_macro(i: &Instruction) -> bool {
    i.opcode == Opcode::Madm || matches!(i.extra, Extra::Math(MathFunction::Invm | MathFunction::Rsqrtm))
}

pub fn is_accumulator(register: Register) -> bool {
    matches!(register, Register::Arf(Arf::Accumulator(_)))
}

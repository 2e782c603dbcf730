//! Single instructions: one that has what a point asks for, with anything else that the validator accepts.

use std::ops::Range;

use gencl_eu::Kernel;
use gencl_eu::device::Device;
use gencl_eu::op::Action;
use gencl_isa::{
    AccessMode, Allows, Arf, Destination, Extra, Flag, Format, Indirect, Instruction, MathFunction, Opcode,
    Operand, Predicate, PredicateControl, Region, Register, Source, Type, encode, validate,
};
use gencl_testing::Random;
use gencl_translator::host::Host;
use gencl_translator::{modes, native};

use crate::harness::{DEVICE, GENERATION};
use crate::points::{Asked, CONDITIONS, CONTROLS, CONTROLS_16, Form, Point, TYPES, Target};
use crate::random::{bytes, element};

/// Bytes of a register.
const REGISTER: usize = 32;

/// Registers with numbers of some types, as first register and how many.
const POOLS: [(&[Type], u8, u8); 4] = [
    (&[Type::UB, Type::B, Type::UW, Type::W, Type::UD, Type::D, Type::UQ, Type::Q], 1, 9),
    (&[Type::F], 10, 7),
    (&[Type::HF], 17, 5),
    (&[Type::DF], 22, 6),
];
/// Behind the last of the pools' registers.
const POOLS_END: usize = 28;
/// Flags: all, none, and others; its last word is 0.
const PATTERNS: u8 = 29;
/// Results: two registers for each.
const RESULTS: u8 = 30;
/// Results in a kernel.
pub const SLOTS: u8 = 40;
/// The flags after each instruction: 8 bytes.
const FLAGS: u8 = RESULTS + 2 * SLOTS;
/// Addresses in the pools, for rows with addresses of their own.
const ADDRESSES: u8 = 120;
/// Registers of them.
const ADDRESS_SETS: u8 = 4;
/// The word of the address register that is the destination's.
const RESULT_WORD: u8 = 15;

/// How often to look for an instruction that has what is asked for.
const TRIES: usize = 60;

/// An instruction of which nothing else in a kernel knows.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Its destination's register is counted from the first of its slot.
    pub instruction: Instruction,
    /// Lanes of the thread.
    pub width: u8,
    /// What to take of what it needs beforehand.
    choice: u64,
}

/// Bytes of the registers that an instruction leaves something in.
pub struct Owned {
    /// What that is.
    pub what: &'static str,
    /// Which.
    pub bytes: Range<usize>,
    /// The type of elements whose NaNs may have any bits.
    pub float: Option<Type>,
}

/// The constants of kernels of such instructions.
pub fn constants(random: &mut Random, registers: u8) -> Vec<u8> {
    let mut bytes = bytes(random, usize::from(registers) * REGISTER);
    let mut put = |register: u8, content: &[u8]| {
        let at = usize::from(register - 1) * REGISTER;
        bytes[at..at + content.len()].copy_from_slice(content);
    };
    for (types, first, count) in POOLS {
        let mut content = Vec::new();
        while content.len() < usize::from(count) * REGISTER {
            let ty = random.pick(types);
            content.extend(element(random, ty).to_le_bytes());
        }
        put(first, &content[..usize::from(count) * REGISTER]);
    }
    let patterns = [0, u32::MAX, 0xffff, 0xffff_0000, 0xff00_ff00, 0x1111_1111, random.next_u32(), 0];
    put(PATTERNS, &patterns.map(u32::to_le_bytes).concat());
    for set in 0..ADDRESS_SETS {
        let words = (0..16).map(|_| (REGISTER + 8 * random.below(POOLS_END * 4 - 40)) as u16);
        put(ADDRESSES + set, &words.flat_map(u16::to_le_bytes).collect::<Vec<_>>());
    }
    bytes
}

/// A register for a source of a type.
fn pool(random: &mut Random, ty: Type) -> u8 {
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
fn instruction(random: &mut Random, point: &Point) -> Instruction {
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

/// Does an instruction use the accumulator beside what its operands say?
fn accumulates(i: &Instruction) -> bool {
    i.accumulator_write || matches!(i.opcode, Opcode::Mac | Opcode::Mach | Opcode::Addc | Opcode::Subb)
}

/// Is it one of those that keep exponents in registers of their own? Their destinations are general registers.
fn is_macro(i: &Instruction) -> bool {
    i.opcode == Opcode::Madm || matches!(i.extra, Extra::Math(MathFunction::Invm | MathFunction::Rsqrtm))
}

fn is_accumulator(register: Register) -> bool {
    matches!(register, Register::Arf(Arf::Accumulator(_)))
}

impl Sample {
    /// A sample with what a point asks for; `None` when there is none, or none was found.
    pub fn new(random: &mut Random, point: &Point) -> Option<Sample> {
        for _ in 0..TRIES {
            let mut i = instruction(random, point);
            let widths: Vec<u8> = [8, 16, 32].into_iter().filter(|w| *w >= i.exec_size).collect();
            let width = random.pick(&widths);
            if i.exec_size < width && random.one_in(2) {
                let step = i.exec_size.max(4);
                i.channel_offset = random.below(usize::from(width / step)) as u8 * step;
            }
            let valid = validate(GENERATION, &i).is_empty() && encode(GENERATION, &i).is_ok();
            let sample = Sample { instruction: i, width, choice: random.next_u64() };
            if valid && sample.fits() && sample.is_known() {
                return Some(sample);
            }
        }
        None
    }

    /// Does the result lie within a slot, and are all sources in the pools?
    fn fits(&self) -> bool {
        let d = &self.instruction.destination;
        let last = usize::from(self.instruction.exec_size) - 1;
        let bytes =
            usize::from(d.subregister) + (last * usize::from(d.hstride.max(1)) + 1) * d.ty.size() as usize;
        let both = matches!(self.instruction.extra, Extra::Math(MathFunction::IntDivQuotientRemainder));
        let offset = d.indirect.map_or(0, |i| i.offset.max(0) as usize);
        let direct = d.indirect.is_none() && matches!(d.register, Register::Grf(_));
        bytes + offset <= 2 * REGISTER
            && (!both || direct && bytes <= REGISTER)
            && (!is_macro(&self.instruction) || direct)
    }

    /// Can the simulator execute it?
    fn is_known(&self) -> bool {
        let device = Device::named(DEVICE);
        let kernel = device.and_then(|device| Kernel::assemble(device, &self.placed(0)[..], false).ok());
        kernel.is_some_and(|kernel| {
            // The last is the end of the code.
            let ops = kernel.ops();
            ops[..ops.len() - 1].iter().all(|op| !matches!(op.action, Action::Refused(_)))
        })
    }

    /// Are there addresses of registers?
    pub fn is_indirect(&self) -> bool {
        let i = &self.instruction;
        let source = |s: &Operand| matches!(s, Operand::Register(s) if s.indirect.is_some());
        i.destination.indirect.is_some() || i.sources.iter().any(source)
    }

    /// Does it use the accumulators in a way for which there is host code? All of a kernel have to.
    pub fn accumulates_natively(&self) -> bool {
        let device = Device::named(DEVICE);
        let kernel = device.and_then(|device| Kernel::assemble(device, &self.placed(0)[..], false).ok());
        kernel.is_some_and(|kernel| {
            let ops = kernel.ops();
            let all = ops.iter().map(|op| (op, Some(modes::HOST)));
            ops.iter().any(native::uses_accumulator) && native::accumulators_fit(all, Host::own())
        })
    }

    /// Slots that it needs: one more for the accumulators.
    pub fn slots(&self) -> u8 {
        1 + u8::from(self.writes_accumulator())
    }

    fn writes_accumulator(&self) -> bool {
        accumulates(&self.instruction) || is_accumulator(self.instruction.destination.register)
    }

    /// Instructions that come before it, so that there is what it needs.
    pub fn before(&self) -> usize {
        self.needed(0).len()
    }

    fn needed(&self, slot: u8) -> Vec<Instruction> {
        let mut all = Vec::new();
        self.set_flags(&mut all);
        self.set_accumulator(&mut all);
        self.set_addresses(slot, &mut all);
        all
    }

    /// The instructions that a kernel has for it: what it needs, itself, and what keeps what it changes beside its destination.
    pub fn placed(&self, slot: u8) -> Vec<Instruction> {
        let i = &self.instruction;
        let mut all = self.needed(slot);
        let mut own = *i;
        if let (Register::Grf(_), None) = (i.destination.register, i.destination.indirect) {
            own.destination.register = Register::Grf(RESULTS + 2 * slot);
        }
        all.push(own);
        for flag in 0..2 {
            let from = scalar(Register::Arf(Arf::Flag(flag)), 0, Type::UD);
            let register = Register::Grf(FLAGS + slot / 4);
            let to = Destination::new(register, slot % 4 * 8 + flag * 4, Type::UD);
            if i.condition.is_some() || is_macro(i) {
                all.push(plain(Opcode::Mov, 1, to, [from, Operand::None]));
            }
        }
        if self.writes_accumulator() {
            for n in 0..2 {
                let from = Source::new(Register::Arf(Arf::Accumulator(n)), 0, Region::new(8, 8, 1), Type::UD);
                let to = Destination::new(Register::Grf(RESULTS + 2 * slot + 2 + n), 0, Type::UD);
                all.push(plain(Opcode::Mov, 8, to, [Operand::Register(from), Operand::None]));
            }
        }
        all
    }

    /// Flags that are all alike, now and then: otherwise they are what instructions before have left.
    fn set_flags(&self, all: &mut Vec<Instruction>) {
        if self.instruction.predicate.is_some() && self.choice.is_multiple_of(3) {
            let from = scalar(Register::Grf(PATTERNS), (self.choice >> 8) as u8 % 7 * 4, Type::UD);
            let flag = Register::Arf(Arf::Flag(self.instruction.flag.register));
            all.push(plain(Opcode::Mov, 1, Destination::new(flag, 0, Type::UD), [from, Operand::None]));
        }
    }

    /// Something in the accumulators that an instruction uses: of dwords, more bits than they show.
    fn set_accumulator(&self, all: &mut Vec<Instruction>) {
        let i = &self.instruction;
        let named = i.sources.iter().find_map(|s| match s {
            Operand::Register(s) if is_accumulator(s.register) => Some(s.ty),
            _ => None,
        });
        if !self.writes_accumulator() && named.is_none() {
            return;
        }
        let types = || i.sources.iter().filter_map(Operand::ty);
        let float = types().filter(|ty| ty.is_float()).max_by_key(|ty| ty.size());
        let integer = types().max_by_key(|ty| ty.size()).unwrap_or(Type::D);
        let ty = match named.or(float).unwrap_or(integer) {
            Type::UB | Type::B | Type::V => Type::W,
            Type::UV => Type::UW,
            Type::VF => Type::F,
            ty => ty,
        };
        let lanes = (64 / ty.size()) as u8;
        let mut random = Random::new(self.choice);
        let mut from = |ty| {
            let register = Register::Grf(pool(&mut random, ty));
            Operand::Register(Source::new(register, 0, Region::new(8, 8, 1), ty))
        };
        let to = Destination::new(Register::Arf(Arf::Accumulator(0)), 0, ty);
        let wide = matches!(ty, Type::D | Type::UD);
        let sources = [from(ty), if wide { from(ty) } else { Operand::None }];
        all.push(plain(if wide { Opcode::Mul } else { Opcode::Mov }, lanes, to, sources));
    }

    /// Addresses of sources within the pools, and of the result.
    fn set_addresses(&self, slot: u8, all: &mut Vec<Instruction>) {
        let a0 = Register::Arf(Arf::Address);
        let zero = scalar(Register::Grf(PATTERNS), 30, Type::UW);
        let word = |at: u8, address: usize| {
            let to = Destination::new(a0, at * 2, Type::UW);
            let bits = address as u64;
            plain(Opcode::Add, 1, to, [zero, Operand::Immediate { bits, ty: Type::UW }])
        };
        let indirect = |s: &Operand| match s {
            Operand::Register(s) => s.indirect.map(|at| (s.region.vstride == Region::VXH, at)),
            _ => None,
        };
        let sources: Vec<_> = self.instruction.sources.iter().filter_map(indirect).collect();
        if sources.iter().any(|(rows, _)| *rows) {
            let set = ADDRESSES + (self.choice >> 16) as u8 % ADDRESS_SETS;
            let from =
                Operand::Register(Source::new(Register::Grf(set), 0, Region::new(16, 16, 1), Type::UW));
            all.push(plain(Opcode::Mov, 16, Destination::new(a0, 0, Type::UW), [from, Operand::None]));
        }
        for (n, (_, at)) in sources.iter().enumerate().filter(|(_, (rows, _))| !rows) {
            let place = (self.choice >> (20 + 8 * n)) as usize % (POOLS_END * 4 - 60);
            all.push(word(at.subregister, REGISTER + 8 * place + 32));
        }
        if let Some(at) = self.instruction.destination.indirect {
            let first = usize::from(RESULTS + 2 * slot) * REGISTER;
            all.push(word(RESULT_WORD, (first as i64 - i64::from(at.offset.min(0))) as usize));
        }
    }

    /// What it leaves.
    pub fn owned(&self, slot: u8) -> Vec<Owned> {
        let i = &self.instruction;
        let base = usize::from(RESULTS + 2 * slot) * REGISTER;
        let flags = usize::from(FLAGS) * REGISTER + usize::from(slot) * 8;
        let float = Some(i.destination.ty).filter(|ty| ty.is_float());
        let owned = |what, start, bytes, float| Owned { what, bytes: start..start + bytes, float };
        let mut all = vec![owned("destination", base, 2 * REGISTER, float), owned("flags", flags, 8, None)];
        if self.writes_accumulator() {
            let types = i.sources.iter().filter_map(Operand::ty).chain([i.destination.ty]);
            let float = types.filter(|ty| ty.is_float()).max_by_key(|ty| ty.size());
            all.push(owned("accumulators", base + 2 * REGISTER, 2 * REGISTER, float));
        }
        all
    }
}

fn scalar(register: Register, subregister: u8, ty: Type) -> Operand {
    Operand::Register(Source::new(register, subregister, Region::SCALAR, ty))
}

/// An instruction for all channels.
fn plain(opcode: Opcode, lanes: u8, destination: Destination, sources: [Operand; 2]) -> Instruction {
    let mut i = Instruction::new(opcode, lanes);
    i.no_mask = true;
    i.destination = destination;
    i.sources = [sources[0], sources[1], Operand::None];
    i
}

//! A single instruction of which nothing else in a kernel knows, and what is around it: what it needs, and what keeps what it leaves.

use std::ops::Range;

use gencl_eu::Kernel;
use gencl_eu::device::Device;
use gencl_eu::op::Action;
use gencl_isa::{
    Arf, Destination, Extra, Instruction, MathFunction, Opcode, Operand, Region, Register, Source, Type,
    encode, validate,
};
use gencl_testing::Random;
use gencl_testing::instructions::{bytes, element};
use gencl_translator::analysis::{modes, native, selection};
use gencl_translator::host::Host;

use crate::generate::{
    POOLS, REGISTER, RESULT_WORD, accumulates, instruction, is_accumulator, is_macro, pool,
};
use crate::harness::{DEVICE, GENERATION};
use crate::points::Point;

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

    /// Whether the result lies within a slot, and all sources are in the pools.
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

    /// Whether operands are register-indirect.
    pub fn is_indirect(&self) -> bool {
        let i = &self.instruction;
        let source = |s: &Operand| matches!(s, Operand::Register(s) if s.indirect.is_some());
        i.destination.indirect.is_some() || i.sources.iter().any(source)
    }

    /// Whether it uses the accumulators in a way for which there is host code. All of a kernel have to.
    pub fn accumulates_natively(&self) -> bool {
        let device = Device::named(DEVICE);
        let kernel = device.and_then(|device| Kernel::assemble(device, &self.placed(0)[..], false).ok());
        kernel.is_some_and(|kernel| {
            let ops = kernel.ops();
            let all = ops.iter().map(|op| (op, Some(modes::HOST)));
            ops.iter().any(native::uses_accumulator) && selection::accumulators_fit(all, Host::own())
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

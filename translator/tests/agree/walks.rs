//! Random loops in which lanes go their own ways: what they compute, what they read and how long they stay is random.

use gencl_isa::{
    Arf, Branch, Condition, Destination, Extra, Flag, Instruction, Opcode, Operand, Predicate,
    PredicateControl, Region, Register, Source, Type,
};
use gencl_testing::Random;

use crate::harness::DATA;
use crate::memory::read;

/// The first registers of variables of a type: four registers each (eight of qwords), enough for 32 lanes.
const DWORDS: [u8; 4] = [8, 12, 16, 20];
const FLOATS: [u8; 4] = [40, 44, 48, 52];
const QWORDS: [u8; 2] = [56, 64];
pub const FUEL: u8 = 24;
const OFFSETS: u8 = 28;
const ADDRESSES: u8 = 80;
/// Here is how many rounds are left, where all lanes have the same.
const ROUNDS: u8 = 96;
/// Here is the word of a second condition.
const WORD: u8 = 36;
/// Here the constants have two pointers.
const POINTERS: u8 = 100;

/// Where an instruction for all lanes of a thread reads or writes.
#[derive(Clone, Copy)]
pub enum Place {
    /// An element for each lane, from a register on.
    Row(u8, Type),
    /// The same for all lanes: register, element.
    Scalar(u8, u8, Type),
    /// A number.
    Number(u64, Type),
    Null(Type),
}

impl Place {
    fn size(self) -> u32 {
        match self {
            Place::Row(_, ty) | Place::Scalar(_, _, ty) | Place::Number(_, ty) | Place::Null(ty) => ty.size(),
        }
    }

    pub fn source(self, first: u8) -> Operand {
        match self {
            Place::Row(register, ty) => {
                let bytes = u32::from(first) * ty.size();
                let register = Register::Grf(register + (bytes / 32) as u8);
                Operand::Register(Source::new(register, (bytes % 32) as u8, Region::new(8, 8, 1), ty))
            }
            Place::Scalar(register, element, ty) => {
                let at = element * ty.size() as u8;
                Operand::Register(Source::new(Register::Grf(register), at, Region::SCALAR, ty))
            }
            Place::Number(bits, ty) => Operand::Immediate { bits, ty },
            Place::Null(_) => Operand::None,
        }
    }

    fn destination(self, first: u8) -> Destination {
        match self {
            Place::Row(register, ty) => {
                let bytes = u32::from(first) * ty.size();
                Destination::new(Register::Grf(register + (bytes / 32) as u8), (bytes % 32) as u8, ty)
            }
            Place::Scalar(_, _, ty) | Place::Number(_, ty) | Place::Null(ty) => Destination::null(ty),
        }
    }
}

/// An instruction for all lanes, as many times as its operands are too long for one.
pub fn whole(
    width: u8,
    opcode: Opcode,
    to: Place,
    sources: &[Place],
    change: impl Fn(&mut Instruction),
) -> Vec<Instruction> {
    let size = sources.iter().map(|s| s.size()).chain([to.size()]).max().unwrap_or(4);
    let lanes = width.min((64 / size) as u8);
    (0..width / lanes)
        .map(|part| {
            let mut i = Instruction::new(opcode, lanes);
            i.channel_offset = part * lanes;
            i.destination = to.destination(part * lanes);
            for (operand, source) in i.sources.iter_mut().zip(sources) {
                *operand = source.source(part * lanes);
            }
            change(&mut i);
            i
        })
        .collect()
}

pub const NORMAL: Predicate = Predicate { control: PredicateControl::Normal, inverse: false };

/// Without it, a loop may be endless.
pub fn ends_loops(i: &Instruction) -> bool {
    let kept = |register: u8| i.destination.register == Register::Grf(register);
    let flags = i.destination.register == Register::Arf(Arf::Flag(1));
    (FUEL..OFFSETS).any(kept)
        || flags
        || kept(WORD)
        || (ROUNDS..POINTERS).any(kept)
        || i.flag.register == 1
        || matches!(i.extra, Extra::Branch(_))
}

/// An instruction of one channel, whatever is enabled.
pub fn alone(opcode: Opcode, to: Destination, sources: [Operand; 2]) -> Instruction {
    let mut i = Instruction::new(opcode, 1);
    (i.no_mask, i.destination) = (true, to);
    i.sources[..2].copy_from_slice(&sources);
    i
}

/// Arithmetic on the variables.
fn step(random: &mut Random, width: u8) -> Vec<Instruction> {
    use Opcode as O;
    let predicate = random.one_in(4).then(|| Predicate { inverse: random.one_in(2), ..NORMAL });
    let (ty, rows): (Type, &[u8]) = match random.below(4) {
        0 => (Type::F, &FLOATS),
        1 => (Type::UQ, &QWORDS),
        2 => (Type::D, &DWORDS),
        _ => (Type::UD, &DWORDS),
    };
    let to = Place::Row(random.pick(rows), ty);
    let a = Place::Row(random.pick(rows), ty);
    let b = match random.below(4) {
        0 if ty != Type::F => Place::Number(u64::from(random.dword() & 0x7fff), Type::UW),
        1 if ty != Type::UQ => Place::Scalar(POINTERS + 2, random.below(8) as u8, ty),
        _ => Place::Row(random.pick(rows), ty),
    };
    let plain = |i: &mut Instruction| i.predicate = predicate;
    if random.one_in(5) {
        let condition = random.pick(&[Condition::Less, Condition::Equal, Condition::Greater]);
        return whole(width, O::Cmp, Place::Null(ty), &[a, b], |i| i.condition = Some(condition));
    }
    match ty {
        Type::F => {
            let opcode = random.pick(&[O::Add, O::Mul, O::Sel]);
            let condition = (opcode == O::Sel).then_some(Condition::GreaterEqual);
            whole(width, opcode, to, &[a, b], |i| {
                (i.condition, i.predicate) = (condition, predicate.filter(|_| condition.is_none()))
            })
        }
        Type::UQ => whole(width, random.pick(&[O::Add, O::And, O::Xor]), to, &[a, b], plain),
        _ if random.one_in(6) => {
            // The first word of each element.
            whole(width, O::Mov, to, &[a], |i| {
                plain(i);
                if let Operand::Register(source) = &mut i.sources[0] {
                    (source.ty, source.region) = (Type::UW, Region::new(16, 8, 2));
                }
            })
        }
        _ => {
            let opcode = random.pick(&[O::Add, O::And, O::Or, O::Xor, O::Shl, O::Shr, O::Sel]);
            let choice = (opcode == O::Sel).then_some(NORMAL);
            whole(width, opcode, to, &[a, b], |i| i.predicate = choice.or(predicate))
        }
    }
}

/// A read from where a variable says.
fn walk(random: &mut Random, width: u8) -> Vec<Instruction> {
    let from = Place::Row(random.pick(&DWORDS), Type::UD);
    let bits = if random.one_in(8) { 0xfff } else { 0xffc };
    let offsets = Place::Row(OFFSETS, Type::UD);
    let mut all = whole(width, Opcode::And, offsets, &[from, Place::Number(bits, Type::UW)], |_| {});
    all.extend(load(random, width));
    all
}

/// A read of what each lane has in memory.
fn begin(random: &mut Random, width: u8) -> Vec<Instruction> {
    let mut all = Vec::new();
    for first in (0..width).step_by(8) {
        let mut ids = Instruction::new(Opcode::Mov, 8);
        ids.channel_offset = first;
        ids.destination = Place::Row(ADDRESSES, Type::UW).destination(first);
        ids.sources[0] = Operand::Immediate { bits: 0x7654_3210, ty: Type::V };
        all.push(ids);
        let mut add = ids;
        add.opcode = Opcode::Add;
        add.sources[0] = Place::Row(ADDRESSES, Type::UW).source(first);
        add.sources[1] = Operand::Immediate { bits: u64::from(first), ty: Type::UW };
        all.push(add);
    }
    let ids = Place::Row(ADDRESSES, Type::UW);
    let two = Place::Number(random.pick(&[2, 3, 5]), Type::UW);
    all.extend(whole(width, Opcode::Shl, Place::Row(OFFSETS, Type::UD), &[ids, two], |_| {}));
    all.extend(load(random, width));
    all
}

/// A read at the offsets.
fn load(random: &mut Random, width: u8) -> Vec<Instruction> {
    let mut all = Vec::new();
    let pointer = Place::Scalar(POINTERS, random.below(2) as u8, Type::UQ);
    let signed = Place::Row(OFFSETS, Type::D);
    all.extend(whole(width, Opcode::Add, Place::Row(ADDRESSES, Type::UQ), &[pointer, signed], |_| {}));
    let to = random.pick(&DWORDS);
    let lanes = width.min(16);
    all.extend((0..width / lanes).map(|part| read(lanes, part, ADDRESSES + part * 4, to + part * 2)));
    all
}

/// A loop of so many rounds for all lanes.
pub fn repeated(width: u8, rounds: usize, mut body: Vec<Instruction>) -> Vec<Instruction> {
    let fuel = Place::Row(ROUNDS, Type::D);
    let number = |n: i16| Place::Number(u64::from(n as u16), Type::W);
    let mut all = whole(width, Opcode::Mov, fuel, &[number(rounds as i16)], |i| i.no_mask = true);
    body.extend(whole(width, Opcode::Add, fuel, &[fuel, number(-1)], |i| i.no_mask = true));
    let flag = Flag { register: 1, subregister: 0 };
    body.extend(whole(width, Opcode::Cmp, Place::Null(Type::D), &[fuel, number(0)], |i| {
        (i.condition, i.flag) = (Some(Condition::Greater), flag);
    }));
    body.push(back(width, NORMAL, flag, body.len()));
    all.extend(body);
    all
}

/// The end of a loop of so many instructions: it goes on where a flag says so.
pub fn back(width: u8, predicate: Predicate, flag: Flag, body: usize) -> Instruction {
    let mut back = Instruction::new(Opcode::While, width);
    (back.predicate, back.flag) = (Some(predicate), flag);
    back.extra = Extra::Branch(Branch { jip: -16 * body as i32, ..Branch::default() });
    back
}

/// A loop, and the pointers that it reads through.
pub fn walks(random: &mut Random, width: u8, constants: &mut [u8]) -> Vec<Instruction> {
    for (n, offset) in [0u64, 0x4000].into_iter().enumerate() {
        let at = (usize::from(POINTERS) - 1) * 32 + n * 8;
        constants[at..at + 8].copy_from_slice(&(DATA + offset).to_le_bytes());
    }
    let fuel = Place::Row(FUEL, Type::D);
    let some = Place::Row(DWORDS[3], Type::D);
    let mut all: Vec<Instruction> = DWORDS.iter().flat_map(|_| begin(random, width)).collect();
    all.extend(whole(width, Opcode::And, fuel, &[some, Place::Number(15, Type::UW)], |_| {}));
    let mut body = walk(random, width);
    for _ in 0..4 {
        body.extend(if random.one_in(5) { walk(random, width) } else { step(random, width) });
    }
    if random.one_in(2) {
        let inside = step(random, width);
        let mut branch = Instruction::new(Opcode::If, width);
        branch.predicate = Some(NORMAL);
        let end = (inside.len() as i32 + 1) * 16;
        branch.extra = Extra::Branch(Branch { jip: end, uip: end, ..Branch::default() });
        let mut join = Instruction::new(Opcode::Endif, width);
        join.extra = Extra::Branch(Branch { jip: 16, ..Branch::default() });
        body.push(branch);
        body.extend(inside);
        body.push(join);
    }
    let both = random.one_in(2);
    // Until there is none, or until it is 0, which says how many rounds there are.
    let step = if random.one_in(2) { random.pick(&[-1i16, 1, -2, 4]) } else { -1 };
    let counted = step != -1 || random.one_in(2);
    if counted {
        let number = |n: i16| Place::Number(u64::from(n as u16), Type::W);
        all.extend(whole(width, Opcode::Add, fuel, &[fuel, number(1)], |_| {}));
        all.extend(whole(width, Opcode::Mul, fuel, &[fuel, number(-step)], |_| {}));
    }
    let inverse = counted && !both && random.one_in(2);
    let goes_on = match (counted, inverse) {
        (false, _) => Condition::Greater,
        (true, false) => Condition::NotEqual,
        (true, true) => Condition::Equal,
    };
    let step = Place::Number(u64::from(step as u16), Type::W);
    body.extend(whole(width, Opcode::Add, fuel, &[fuel, step], |_| {}));
    let flag = Flag { register: 1, subregister: 0 };
    body.extend(whole(width, Opcode::Cmp, Place::Null(Type::D), &[fuel, Place::Number(0, Type::W)], |i| {
        (i.condition, i.flag) = (Some(goes_on), flag);
    }));
    // Sometimes a second condition has to hold, too, as compilers have it: combined for all channels.
    let word = if width == 32 { Type::UD } else { Type::UW };
    let scalar = |register| Operand::Register(Source::new(register, 0, Region::SCALAR, word));
    if both {
        let (register, subregister) = (0, u8::from(width < 32));
        let second = Flag { register, subregister };
        let [a, b] = [(); 2].map(|()| Place::Row(random.pick(&DWORDS), Type::UD));
        let condition = random.pick(&[Condition::LessEqual, Condition::NotEqual]);
        let compare = whole(width, Opcode::Cmp, Place::Null(Type::UD), &[a, b], |i| {
            (i.condition, i.flag) = (Some(condition), second);
        });
        body.splice(0..0, compare);
        let f0 = Register::Arf(Arf::Flag(0));
        let from = Operand::Register(Source::new(f0, subregister * 2, Region::SCALAR, word));
        body.push(alone(Opcode::Mov, Destination::new(Register::Grf(WORD), 0, word), [from, Operand::None]));
        let f1 = Register::Arf(Arf::Flag(1));
        let sources = [scalar(f1), scalar(Register::Grf(WORD))];
        body.push(alone(Opcode::And, Destination::new(f1, 0, word), sources));
    }
    body.push(back(width, Predicate { inverse, ..NORMAL }, flag, body.len()));
    all.extend(body);
    if both {
        // What lanes that have left the loop have of these is not the same on both engines.
        let zero = [Operand::Immediate { bits: 0, ty: Type::UD }, Operand::None];
        let f1 = Register::Arf(Arf::Flag(1));
        all.push(alone(Opcode::Mov, Destination::new(Register::Grf(WORD), 0, Type::UD), zero));
        all.push(alone(Opcode::Mov, Destination::new(f1, 0, Type::UD), zero));
    }
    all
}

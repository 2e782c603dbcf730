//! Random loops in which lanes go their own ways and have arrays of their own in scratch memory, as private arrays are; sometimes one reads or writes
//! where it has nothing to do.

use gencl_isa::{
    Condition, Destination, Flag, Instruction, Opcode, Operand, Predicate, Region, Register, Source, Type,
};
use gencl_testing::Random;

use crate::branches::branch;
use crate::harness::{DATA, SCRATCH};
use crate::memory::{read, write};
use crate::walks::{FUEL, NORMAL, Place, alone, back, whole};

/// An element's number, what is computed with, offsets, what was read, and addresses.
const INDEX: u8 = 8;
const VALUE: u8 = 12;
const OFFSETS: u8 = 16;
const FOUND: u8 = 20;
const ADDRESSES: u8 = 80;
/// Numbers of lanes, and the bases of their arrays with 32 and with 64 bits.
const NUMBERS: u8 = 28;
const NARROW: u8 = 32;
const BASES: u8 = 56;
/// Where the thread's scratch memory is, and the number of a loop with its offset.
const SCALAR: u8 = 36;
const COUNT: u8 = 37;
/// The constants have a pointer here.
const POINTERS: u8 = 100;
/// Elements of an array.
const ELEMENTS: u32 = 8;
/// Bytes of scratch memory.
const BYTES: u32 = 1024;

/// How arrays lie.
#[derive(Clone, Copy)]
struct Layout {
    /// From one lane's base to the next.
    step: u32,
    /// What an element's number is shifted by.
    shift: u32,
}

fn dwords(register: u8) -> Place {
    Place::Row(register, Type::UD)
}

fn number(n: u32) -> Place {
    Place::Number(u64::from(n), Type::UD)
}

/// A message of each part of the thread by the addresses, from or to registers.
fn messages(
    width: u8,
    message: fn(u8, u8, u8, u8) -> Instruction,
    register: u8,
    predicate: Option<Predicate>,
) -> Vec<Instruction> {
    let lanes = width.min(16);
    let parts = 0..width / lanes;
    let one = |part| message(lanes, part, ADDRESSES + part * 4, register + part * 2);
    parts.map(|part| Instruction { predicate, ..one(part) }).collect()
}

/// An access of an element; once in a while of what is not the lane's own.
fn element(random: &mut Random, width: u8, layout: Layout, index: Place) -> Vec<Instruction> {
    let predicate = random.one_in(3).then(|| Predicate { inverse: random.one_in(2), ..NORMAL });
    let plain = |i: &mut Instruction| i.predicate = predicate;
    let mut all = whole(
        width,
        Opcode::Shl,
        dwords(OFFSETS),
        &[index, Place::Number(layout.shift.into(), Type::UW)],
        plain,
    );
    let stray = random.pick(&[4, 8, 32, BYTES, BYTES - 4]);
    if random.one_in(5) {
        all.extend(whole(width, Opcode::Add, dwords(OFFSETS), &[dwords(OFFSETS), number(stray)], plain));
    }
    all.extend(whole(
        width,
        Opcode::Add,
        Place::Row(ADDRESSES, Type::UQ),
        &[Place::Row(BASES, Type::UQ), dwords(OFFSETS)],
        plain,
    ));
    all.extend(if random.one_in(2) {
        messages(width, write, random.pick(&[VALUE, FOUND, INDEX]), predicate)
    } else {
        messages(width, read, FOUND, predicate)
    });
    all
}

/// A read at the offsets from a pointer of the constants.
fn read_at(width: u8, pointer: u8, to: u8) -> Vec<Instruction> {
    let sources = [Place::Scalar(POINTERS, pointer, Type::UQ), Place::Row(OFFSETS, Type::D)];
    let mut all = whole(width, Opcode::Add, Place::Row(ADDRESSES, Type::UQ), &sources, |_| {});
    all.extend(messages(width, read, to, None));
    all
}

/// A read of something else, once in a while of scratch memory.
fn elsewhere(random: &mut Random, width: u8) -> Vec<Instruction> {
    let mask = random.pick(&[0xffc, 0x3c]);
    let mut all = whole(width, Opcode::And, dwords(OFFSETS), &[dwords(VALUE), number(mask)], |_| {});
    all.extend(read_at(width, u8::from(random.one_in(3)), FOUND));
    all
}

/// Arithmetic.
fn step(random: &mut Random, width: u8) -> Vec<Instruction> {
    let predicate = random.one_in(3).then(|| Predicate { inverse: random.one_in(2), ..NORMAL });
    let plain = |i: &mut Instruction| i.predicate = predicate;
    match random.below(4) {
        0 => whole(width, Opcode::Add, dwords(VALUE), &[dwords(VALUE), dwords(FOUND)], plain),
        1 => whole(width, Opcode::Xor, dwords(VALUE), &[dwords(FOUND), dwords(INDEX)], plain),
        2 => {
            let condition = random.pick(&[Condition::Less, Condition::Greater, Condition::NotEqual]);
            whole(width, Opcode::Cmp, Place::Null(Type::D), &[dwords(VALUE), dwords(FOUND)], |i| {
                i.condition = Some(condition);
            })
        }
        _ => {
            let from = random.pick(&[VALUE, FOUND]);
            whole(width, Opcode::And, dwords(INDEX), &[dwords(from), number(ELEMENTS - 1)], plain)
        }
    }
}

/// A loop over the first elements with a number that all lanes have in common, which lanes leave one by one.
fn count(random: &mut Random, width: u8, layout: Layout) -> Vec<Instruction> {
    let scalar = |element: u8| Place::Scalar(COUNT, element, Type::UD);
    let to = |element: u8| Destination::new(Register::Grf(COUNT), element * 4, Type::UD);
    let mut all = vec![alone(Opcode::Mov, to(0), [number(0).source(0), Operand::None])];
    let begin = all.len();
    let shift = Place::Number(layout.shift.into(), Type::UW);
    all.push(alone(Opcode::Shl, to(1), [scalar(0).source(0), shift.source(0)]));
    let addresses = Place::Row(ADDRESSES, Type::UQ);
    all.extend(whole(width, Opcode::Add, addresses, &[Place::Row(BASES, Type::UQ), scalar(1)], |_| {}));
    all.extend(messages(width, read, FOUND, None));
    let compare = |condition, a, b| {
        whole(width, Opcode::Cmp, Place::Null(Type::D), &[a, b], |i| i.condition = Some(condition))
    };
    let mut leaves = Vec::new();
    if random.one_in(2) {
        all.extend(compare(
            random.pick(&[Condition::Less, Condition::NotEqual]),
            dwords(VALUE),
            dwords(FOUND),
        ));
        leaves.push(all.len());
        all.push(Instruction::new(Opcode::Nop, 1));
    }
    all.extend(step(random, width));
    all.push(alone(Opcode::Add, to(0), [scalar(0).source(0), number(1).source(0)]));
    all.extend(compare(Condition::Less, scalar(0), dwords(INDEX)));
    leaves.push(all.len());
    all.push(Instruction::new(Opcode::Nop, 1));
    all.push(Instruction::jump(-16 * (all.len() + 1 - begin) as i32));
    for at in leaves {
        all[at] = leave(width, all.len() - at, all.len() - at);
    }
    all.push(branch(Opcode::Join, width, 1, 0));
    all
}

/// Channels for which the flag is not set leave for the instruction `uip`.
fn leave(width: u8, jip: usize, uip: usize) -> Instruction {
    Instruction { predicate: Some(NORMAL), ..branch(Opcode::Goto, width, jip, uip) }
}

/// The bases.
fn bases(width: u8, layout: Layout) -> Vec<Instruction> {
    let mut all = Vec::new();
    for first in (0..width).step_by(8) {
        let register = Register::Grf(NUMBERS + first / 16);
        let at = Destination::new(register, first % 16 * 2, Type::UW);
        let own = Source::new(register, first % 16 * 2, Region::new(8, 8, 1), Type::UW);
        let mut eight = Instruction::new(Opcode::Mov, 8);
        (eight.no_mask, eight.destination) = (true, at);
        eight.sources[0] = Operand::Immediate { bits: 0x7654_3210, ty: Type::UV };
        let mut more = Instruction::new(Opcode::Add, 8);
        (more.no_mask, more.destination) = (true, at);
        more.sources[0] = Operand::Register(own);
        more.sources[1] = Operand::Immediate { bits: first.into(), ty: Type::UW };
        all.extend([eight, more]);
    }
    let scratch = Destination::new(Register::Grf(SCALAR), 0, Type::UD);
    let pointer = Source::new(Register::Grf(0), 20, Region::SCALAR, Type::UD);
    all.push(alone(Opcode::And, scratch, [Operand::Register(pointer), number(!0x3ff).source(0)]));
    let own = Place::Scalar(SCALAR, 0, Type::UD);
    all.push(alone(Opcode::Add, scratch, [own.source(0), number(SCRATCH as u32).source(0)]));
    let each = |opcode, to, sources: &[Place]| whole(width, opcode, to, sources, |i| i.no_mask = true);
    all.extend(each(Opcode::Mov, dwords(NARROW), &[Place::Row(NUMBERS, Type::UW)]));
    all.extend(each(Opcode::Mul, dwords(NARROW), &[dwords(NARROW), number(layout.step)]));
    all.extend(each(Opcode::Add, dwords(NARROW), &[dwords(NARROW), own]));
    all.extend(each(Opcode::Mov, Place::Row(BASES, Type::UQ), &[dwords(NARROW)]));
    all
}

/// Such a loop, all elements written before, and read behind it.
pub fn stacks(random: &mut Random, width: u8, constants: &mut [u8]) -> Vec<Instruction> {
    for (n, pointer) in [DATA, SCRATCH].into_iter().enumerate() {
        let at = (usize::from(POINTERS) - 1) * 32 + n * 8;
        constants[at..at + 8].copy_from_slice(&pointer.to_le_bytes());
    }
    let lanes = u32::from(width);
    let layout = if random.one_in(2) {
        Layout { step: 4, shift: 2 + lanes.trailing_zeros() }
    } else {
        Layout { step: BYTES / lanes, shift: 2 }
    };
    let mut all = bases(width, layout);
    let outside = |all: &mut Vec<Instruction>, n: u32, message, register| {
        let offset = number(n << layout.shift);
        let from = Place::Row(BASES, Type::UQ);
        all.extend(whole(width, Opcode::Add, Place::Row(ADDRESSES, Type::UQ), &[from, offset], |_| {}));
        all.extend(messages(width, message, register, None));
    };
    for n in 0..ELEMENTS {
        outside(&mut all, n, write, POINTERS + 1 + n as u8);
    }
    let fuel = Place::Row(FUEL, Type::D);
    let numbers = Place::Row(NUMBERS, Type::UW);
    for to in [FUEL, INDEX, VALUE, FOUND] {
        let shift = Place::Number(random.pick(&[2, 3, 5]), Type::UW);
        all.extend(whole(width, Opcode::Shl, dwords(OFFSETS), &[numbers, shift], |_| {}));
        all.extend(read_at(width, 0, to));
    }
    all.extend(whole(width, Opcode::And, fuel, &[fuel, Place::Number(15, Type::UW)], |_| {}));
    all.extend(whole(width, Opcode::And, dwords(INDEX), &[dwords(INDEX), number(ELEMENTS - 1)], |_| {}));
    let (mut body, mut leaves) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        body.extend(element(random, width, layout, dwords(INDEX)));
        body.extend(step(random, width));
        if random.one_in(6) {
            body.extend(count(random, width, layout));
        }
        if random.one_in(6) {
            leaves.push(body.len());
            body.push(Instruction::new(Opcode::Nop, 1));
        }
    }
    if random.one_in(2) {
        body.extend(elsewhere(random, width));
    }
    let less = Place::Number(u64::from(-1i16 as u16), Type::W);
    body.extend(whole(width, Opcode::Add, fuel, &[fuel, less], |_| {}));
    let flag = Flag { register: 1, subregister: 0 };
    body.extend(whole(width, Opcode::Cmp, Place::Null(Type::D), &[fuel, Place::Number(0, Type::W)], |i| {
        (i.condition, i.flag) = (Some(Condition::Greater), flag);
    }));
    body.push(back(width, NORMAL, flag, body.len()));
    // Some leave it for another place.
    let behind = if leaves.is_empty() { Vec::new() } else { step(random, width) };
    for at in leaves {
        body[at] = leave(width, body.len() - at, body.len() + 1 + behind.len() - at);
    }
    body.push(branch(Opcode::Join, width, 1 + behind.len(), 0));
    body.extend(behind);
    body.push(branch(Opcode::Join, width, 1, 0));
    all.extend(body);
    for n in 0..ELEMENTS.min(4) {
        outside(&mut all, n, read, 104 + 4 * n as u8);
    }
    // Stored with other registers in the end, they would be neither bases nor forgotten.
    let numbers = Place::Row(NUMBERS, Type::UW);
    for place in [numbers, dwords(NARROW), Place::Row(BASES, Type::UQ), dwords(COUNT)] {
        all.extend(whole(width, Opcode::Mov, place, &[number(0)], |i| i.no_mask = true));
    }
    all
}

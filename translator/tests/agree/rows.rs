//! Random messages whose addresses are what compilers make of pointers and ids: as far apart from lane to lane as is known before.

use gencl_isa::{Condition, Instruction, Opcode, Predicate, Type};
use gencl_testing::Random;

use crate::harness::{DATA, DATA_SIZE, IDS};
use crate::memory::{self, access_at};
use crate::walks::{NORMAL, Place, repeated, whole};

/// Here the constants have two pointers.
const POINTERS: u8 = 100;
/// Behind them is a number, which offsets grow by: the dword of this number.
const STRIDE: u8 = 4;
/// Numbers of lanes as dwords, and what offsets are made of them.
const LANES_REGISTER: u8 = 2;
const LANES: Place = Place::Row(LANES_REGISTER, Type::UD);
const OFFSETS: [u8; 3] = [24, 26, 28];
/// Offsets of which the first are before 0.
const BEFORE: u8 = 30;
/// Sums of pointers and offsets: four registers each.
const ADDRESSES: [u8; 4] = [8, 12, 16, 20];

/// Straight code that mostly reads rows, moves their offsets and addresses on, and adds what was read; it seldom writes.
pub fn segments(random: &mut Random, width: u8, constants: &mut [u8]) -> Vec<Instruction> {
    pointers(random, constants);
    // Often where a buffer begins or ends, so that some of what is read is outside.
    let near = random.next_u64() % 1024;
    let edge = random.pick(&[None, Some(near), Some(DATA_SIZE - 2048 + near)]);
    if let Some(edge) = edge {
        let at = (usize::from(POINTERS) - 1) * 32;
        constants[at..at + 8].copy_from_slice(&(DATA + (edge & !15)).to_le_bytes());
    }
    let at = (usize::from(POINTERS) - 1) * 32 + usize::from(STRIDE) * 4;
    let stride = random.pick(&[4i32, 64, 64, 256, 4096, -4, -64, -256, 0x1000_0000]);
    constants[at..at + 4].copy_from_slice(&stride.to_le_bytes());
    let lanes = width.min(16);
    let all = |opcode, to, sources: &[Place]| whole(lanes, opcode, to, sources, |i| i.no_mask = true);
    let mut body = all(Opcode::Mov, LANES, &[Place::Row(IDS, Type::UW)]);
    for register in OFFSETS {
        let step = Place::Number(random.pick(&[4, 4, 8, 16, 16, 32, 0]), Type::UW);
        body.extend(all(Opcode::Mul, Place::Row(register, Type::UD), &[LANES, step]));
    }
    for register in ADDRESSES {
        body.extend(sum(random, register, None, &OFFSETS, &all));
    }
    // Perhaps in a loop, from round to round of which offsets and addresses are moved on.
    let rounds = random.one_in(2).then(|| 1 + random.below(3));
    let first = body.len();
    let steps = 20 + random.below(20);
    for _ in 0..steps {
        match random.below(8) {
            0 => {
                let own = Place::Row(random.pick(&OFFSETS), Type::D);
                let bytes = Place::Number(u64::from(random.pick(&[4i32, 16, 64, 256, -16]) as u32), Type::D);
                let bytes = if random.one_in(2) { Place::Scalar(POINTERS, STRIDE, Type::D) } else { bytes };
                body.extend(all(Opcode::Add, own, &[own, bytes]));
            }
            1 => {
                let [register, behind] = [0; 2].map(|_| random.pick(&ADDRESSES));
                body.extend(sum(random, register, Some(behind), &OFFSETS, &all));
            }
            2..=4 => {
                // What compilers make of an element of an array: mostly of the same.
                let offset = Place::Row(if random.one_in(4) { OFFSETS[1] } else { OFFSETS[0] }, Type::D);
                let pointer = Place::Scalar(POINTERS, 0, Type::UQ);
                body.extend(all(Opcode::Add, Place::Row(ADDRESSES[0], Type::UQ), &[pointer, offset]));
                body.push(memory::read(lanes, 0, ADDRESSES[0], memory::data_place(random)));
            }
            5 => {
                let [to, from] = [0; 2].map(|_| Place::Row(memory::data_place(random), Type::UD));
                body.extend(all(Opcode::Add, to, &[to, from]));
            }
            _ => {
                let writes = random.one_in(40);
                let place = match random.one_in(6) {
                    true => memory::Place::Local(random.pick(&OFFSETS)),
                    false => memory::Place::Global(random.pick(&ADDRESSES)),
                };
                let access = || Some(access_at(random, width, place));
                let mut fits = std::iter::from_fn(access).filter(|i| (i.opcode == Opcode::Sends) == writes);
                body.extend(fits.next());
            }
        }
    }
    if let Some(rounds) = rounds {
        let inside = body.split_off(first);
        body.extend(repeated(width, rounds, inside));
    }
    body.extend(forgotten());
    body
}

/// Reads of a row of dwords for each thread, `moves` bytes behind each other, from the pointer on: a thread's is behind the one before it, or in front of that
/// if they go `down`. The distance is a number of the code, or one that all threads have.
pub fn edges(
    constants: &mut [u8],
    pointer: u64,
    moves: &[i32],
    is_constant: bool,
    down: bool,
) -> Vec<Instruction> {
    let all = |opcode, to, sources: &[Place]| whole(16, opcode, to, sources, |i| i.no_mask = true);
    let at = (usize::from(POINTERS) - 1) * 32;
    constants[at..at + 8].copy_from_slice(&pointer.to_le_bytes());
    let at = at + usize::from(STRIDE) * 4;
    constants[at..at + 4].copy_from_slice(&moves[0].to_le_bytes());
    let (own, first) = (Place::Row(OFFSETS[0], Type::D), Place::Row(OFFSETS[1], Type::D));
    let number = |n: i32| Place::Number(u64::from(n as u32), Type::D);
    let mut body = all(Opcode::Mov, LANES, &[Place::Row(IDS, Type::UW)]);
    body.extend(all(Opcode::Mul, Place::Row(OFFSETS[0], Type::UD), &[LANES, Place::Number(4, Type::UW)]));
    if down {
        body.extend(all(Opcode::Mov, first, &[Place::Scalar(LANES_REGISTER, 0, Type::UD)]));
        body.extend(all(Opcode::Shl, first, &[first, number(3)]));
        body.extend(all(Opcode::Xor, first, &[first, Place::Number(0xffff_ffff, Type::UD)]));
        body.extend(all(Opcode::Add, first, &[first, number(1)]));
        body.extend(all(Opcode::Add, own, &[own, first]));
    }
    for (read, bytes) in (0..).zip([&[0], moves].concat()) {
        let distance = if is_constant { number(bytes) } else { Place::Scalar(POINTERS, STRIDE, Type::D) };
        if read > 0 {
            body.extend(all(Opcode::Add, own, &[own, distance]));
        }
        let pointer = Place::Scalar(POINTERS, 0, Type::UQ);
        body.extend(all(Opcode::Add, Place::Row(ADDRESSES[0], Type::UQ), &[pointer, own]));
        body.push(memory::read(16, 0, ADDRESSES[0], 40 + read * 2));
    }
    body.extend(forgotten());
    body
}

/// Puts two pointers into the constants, which most often are inside and aligned.
fn pointers(random: &mut Random, constants: &mut [u8]) {
    for n in 0..2 {
        let at = (usize::from(POINTERS) - 1) * 32 + n * 8;
        let aligned = if random.one_in(12) { !0 } else { !3 };
        let inside = (DATA + random.next_u64() % DATA_SIZE) & aligned;
        let pointer = if random.one_in(16) { DATA + 2 * DATA_SIZE } else { inside };
        constants[at..at + 8].copy_from_slice(&pointer.to_le_bytes());
    }
}

/// All registers are read at the end, by an instruction of which nobody knows lanes: what is to be kept as a scalar has to be gone.
fn forgotten() -> impl Iterator<Item = Instruction> {
    [LANES_REGISTER, BEFORE].into_iter().chain(OFFSETS).flat_map(|register| {
        let zero = Place::Number(0, Type::UD);
        whole(16, Opcode::Mov, Place::Row(register, Type::UD), &[zero], |i| i.no_mask = true)
    })
}

/// Offsets, addresses and messages, in any order; and the pointers.
pub fn rows(random: &mut Random, width: u8, constants: &mut [u8]) -> Vec<Instruction> {
    pointers(random, constants);
    let lanes = width.min(16);
    // Sometimes the first lanes are before a buffer, and before shared local memory, and ask whether they are.
    let before = random.one_in(3).then(|| 1 + random.below(usize::from(lanes)));
    if before.is_some() {
        let at = (usize::from(POINTERS) - 1) * 32;
        constants[at..at + 8].copy_from_slice(&DATA.to_le_bytes());
    }
    let every_lane = !random.one_in(4);
    let all = |opcode, to, sources: &[Place]| whole(lanes, opcode, to, sources, |i| i.no_mask = every_lane);
    let mut body = all(Opcode::Mov, LANES, &[Place::Row(IDS, Type::UW)]);
    for register in OFFSETS {
        // Most accesses have to be aligned.
        let steps: &[u64] = if random.one_in(16) { &[2, 3] } else { &[4, 4, 8, 12, 16, 16, 32, 64, 0] };
        let step = Place::Number(random.pick(steps), Type::UW);
        let own = Place::Row(register, Type::UD);
        let mut from = LANES;
        if random.one_in(5) {
            // From the last lane on.
            body.extend(all(Opcode::Xor, own, &[LANES, Place::Number(0xffff_ffff, Type::UD)]));
            body.extend(all(Opcode::Add, own, &[own, Place::Number(lanes.into(), Type::UD)]));
            from = own;
        }
        body.extend(all(Opcode::Mul, own, &[from, step]));
    }
    let inverse = random.one_in(2);
    if let Some(before) = before {
        let offset = |register| Place::Row(register, Type::D);
        let less = Place::Number(u64::from((before as i32 * -4) as u32), Type::D);
        body.extend(all(Opcode::Add, offset(BEFORE), &[offset(OFFSETS[0]), less]));
        let condition = if inverse { Condition::Less } else { Condition::GreaterEqual };
        let sources = [LANES, Place::Number(before as u64, Type::UD)];
        body.extend(whole(lanes, Opcode::Cmp, Place::Null(Type::UD), &sources, |i| {
            (i.condition, i.no_mask) = (Some(condition), every_lane);
        }));
    }
    let offsets: &[u8] = if before.is_some() { &[BEFORE, BEFORE, OFFSETS[0], OFFSETS[1]] } else { &OFFSETS };
    for register in ADDRESSES {
        body.extend(sum(random, register, None, offsets, &all));
    }
    while body.len() < 30 {
        if random.one_in(3) {
            let register = random.pick(&ADDRESSES);
            let behind = random.one_in(2).then(|| random.pick(&ADDRESSES));
            body.extend(sum(random, register, behind, offsets, &all));
        } else {
            let place = match random.one_in(4) {
                true => memory::Place::Local(random.pick(offsets)),
                false => memory::Place::Global(random.pick(&ADDRESSES)),
            };
            let mut access = access_at(random, width, place);
            if before.is_some() {
                access.predicate = Some(Predicate { inverse, ..NORMAL });
            }
            body.push(access);
        }
    }
    body.extend(forgotten());
    body
}

/// Addresses: a pointer and offsets, or a number behind others (perhaps the same, as loops have it).
fn sum(
    random: &mut Random,
    to: u8,
    behind: Option<u8>,
    offsets: &[u8],
    all: &impl Fn(Opcode, Place, &[Place]) -> Vec<Instruction>,
) -> Vec<Instruction> {
    let sources = if let Some(behind) = behind {
        let bytes = random.pick(&[4i32, 16, 16, 32, 48, 64, 256, -16]);
        [Place::Row(behind, Type::UQ), Place::Number(u64::from(bytes as u32), Type::D)]
    } else {
        let pointer = Place::Scalar(POINTERS, random.below(2) as u8, Type::UQ);
        [pointer, Place::Row(random.pick(offsets), Type::D)]
    };
    all(Opcode::Add, Place::Row(to, Type::UQ), &sources)
}

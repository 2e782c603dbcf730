//! Random messages whose addresses are what compilers make of pointers and ids: as far apart from lane to lane as is known before.

use gencl_isa::{Instruction, Opcode, Type};

use crate::harness::{DATA, DATA_SIZE, IDS};
use crate::memory::{self, access_at};
use crate::random::Random;
use crate::walks::{Place, whole};

/// Here the constants have two pointers.
const POINTERS: u8 = 100;
/// Numbers of lanes as dwords, and what offsets are made of them.
const LANES: Place = Place::Row(2, Type::UD);
const OFFSETS: [u8; 3] = [24, 26, 28];
/// Sums of pointers and offsets: four registers each.
const ADDRESSES: [u8; 4] = [8, 12, 16, 20];

/// Offsets, addresses and messages, in any order; and the pointers.
pub fn rows(random: &mut Random, width: u8, constants: &mut [u8]) -> Vec<Instruction> {
    for n in 0..2 {
        let at = (usize::from(POINTERS) - 1) * 32 + n * 8;
        let aligned = if random.chance(12) { !0 } else { !3 };
        let inside = (DATA + random.next() % DATA_SIZE) & aligned;
        let pointer = if random.chance(16) { DATA + 2 * DATA_SIZE } else { inside };
        constants[at..at + 8].copy_from_slice(&pointer.to_le_bytes());
    }
    let lanes = width.min(16);
    let every_lane = !random.chance(4);
    let all = |opcode, to, sources: &[Place]| whole(lanes, opcode, to, sources, |i| i.no_mask = every_lane);
    let mut body = all(Opcode::Mov, LANES, &[Place::Row(IDS, Type::UW)]);
    for register in OFFSETS {
        // Most accesses have to be aligned.
        let steps: &[u64] = if random.chance(16) { &[2, 3] } else { &[4, 4, 8, 12, 16, 16, 32, 64, 0] };
        let step = Place::Number(random.pick(steps), Type::UW);
        body.extend(all(Opcode::Mul, Place::Row(register, Type::UD), &[LANES, step]));
    }
    for register in ADDRESSES {
        body.extend(sum(random, register, false, &all));
    }
    while body.len() < 30 {
        if random.chance(3) {
            let register = random.pick(&ADDRESSES);
            let behind = random.chance(2);
            body.extend(sum(random, register, behind, &all));
        } else {
            let place = match random.chance(4) {
                true => memory::Place::Local(random.pick(&OFFSETS)),
                false => memory::Place::Global(random.pick(&ADDRESSES)),
            };
            body.push(access_at(random, width, place));
        }
    }
    body
}

/// Addresses: a pointer and offsets, or a number behind others (perhaps the same, as loops have it).
fn sum(
    random: &mut Random,
    to: u8,
    behind: bool,
    all: &impl Fn(Opcode, Place, &[Place]) -> Vec<Instruction>,
) -> Vec<Instruction> {
    let sources = if behind {
        let bytes = random.pick(&[4i32, 16, 16, 32, 48, 64, 256, -16]);
        [Place::Row(random.pick(&ADDRESSES), Type::UQ), Place::Number(u64::from(bytes as u32), Type::D)]
    } else {
        let pointer = Place::Scalar(POINTERS, random.below(2) as u8, Type::UQ);
        [pointer, Place::Row(random.pick(&OFFSETS), Type::D)]
    };
    all(Opcode::Add, Place::Row(to, Type::UQ), &sources)
}

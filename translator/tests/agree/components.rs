//! Random arithmetic on vectors of each lane, as applications have them: what is done to one component is mostly done to all.

use gencl_isa::{Instruction, Opcode, Type};
use gencl_testing::Random;

use crate::harness::{DATA, DATA_SIZE, IDS};
use crate::memory::transfer;
use crate::walks::{Place, whole};

/// Here the constants have two pointers, and behind them numbers.
const POINTERS: u8 = 100;
/// Numbers of lanes, and offsets and addresses made of them.
const LANES: Place = Place::Row(2, Type::UD);
const OFFSETS: u8 = 24;
const ADDRESSES: [u8; 2] = [8, 12];
/// Vectors: a component behind the other, eight registers at most.
const VECTORS: [u8; 3] = [40, 56, 72];

/// Vectors that are read, computed with, and written.
pub fn components(random: &mut Random, width: u8, constants: &mut [u8]) -> Vec<Instruction> {
    let lanes = width.min(16);
    let size = lanes / 8;
    let count = random.pick(&[4, 4, 4, 4, 2, 3]);
    let all = |opcode, to, sources: &[Place]| whole(lanes, opcode, to, sources, |i| i.no_mask = true);
    let enabled = random.one_in(8);
    let own = |opcode, to, sources: &[Place]| whole(lanes, opcode, to, sources, |i| i.no_mask = !enabled);
    let mut body = all(Opcode::Mov, LANES, &[Place::Row(IDS, Type::UW)]);
    for (n, register) in (0..).zip(ADDRESSES) {
        let at = (usize::from(POINTERS) - 1) * 32 + usize::from(n) * 8;
        let pointer = (DATA + random.next_u64() % (DATA_SIZE - 2048)) & !3;
        constants[at..at + 8].copy_from_slice(&pointer.to_le_bytes());
        let step = random.pick(&[4 * u64::from(count), 4 * u64::from(count), 16, 32]);
        let offsets = Place::Row(OFFSETS, Type::UD);
        body.extend(all(Opcode::Mul, offsets, &[LANES, Place::Number(step, Type::UW)]));
        let sources = [Place::Scalar(POINTERS, n, Type::UQ), Place::Row(OFFSETS, Type::D)];
        body.extend(all(Opcode::Add, Place::Row(register, Type::UQ), &sources));
    }
    for (register, vector) in ADDRESSES.into_iter().zip(VECTORS) {
        body.push(message(lanes, false, count, register, vector, enabled));
    }
    let mut last = VECTORS[0];
    for _ in 0..2 + random.below(6) {
        let [to, a, b] = [(); 3].map(|()| random.pick(&VECTORS));
        let opcode =
            random.pick(&[Opcode::Add, Opcode::Xor, Opcode::And, Opcode::Or, Opcode::Mov, Opcode::Shl]);
        let (kind, number) = (random.below(6), random.next_u64());
        last = to;
        for k in 0..count {
            let component = |vector: u8, k: u8| Place::Row(vector + k * size, Type::D);
            // Sometimes one is left out.
            if random.one_in(50) {
                continue;
            }
            let b = match kind {
                0 => Place::Number(number & 0xffff_ffff, Type::D),
                1 => Place::Number(number >> (4 * k) & 0xffff_ffff, Type::D),
                2 => Place::Scalar(POINTERS, 4, Type::D),
                3 => Place::Scalar(POINTERS, 4 + k, Type::D),
                4 => component(b, (number % u64::from(count)) as u8),
                _ => component(b, k),
            };
            let to = match opcode {
                Opcode::Mov => Place::Row(to + k * size, Type::F),
                _ => component(to, k),
            };
            let sources = [component(a, k), b];
            body.extend(own(opcode, to, if opcode == Opcode::Mov { &sources[..1] } else { &sources }));
        }
        if random.one_in(8) {
            body.push(message(lanes, true, count, random.pick(&ADDRESSES), random.pick(&VECTORS), enabled));
        }
    }
    body.push(message(lanes, true, count, random.pick(&ADDRESSES), last, enabled));
    // All registers are read at the end, by an instruction of which nobody knows lanes.
    let registers = VECTORS.into_iter().flat_map(|vector| (vector..vector + 4 * size).step_by(size.into()));
    for register in registers.chain([2, OFFSETS, POINTERS]) {
        body.extend(all(Opcode::Mov, Place::Row(register, Type::UD), &[Place::Number(0, Type::UD)]));
    }
    body
}

/// A read or write of so many dwords of each lane.
fn message(lanes: u8, write: bool, count: u8, addresses: u8, data: u8, enabled: bool) -> Instruction {
    let registers = |bytes: u32| u32::from(lanes) * bytes / 32;
    let own = u32::from(count) * registers(4);
    let mode = if lanes == 16 { 1 } else { 2 };
    let absent = !(u32::MAX << count) ^ 15;
    let kind = if write { 0x19 } else { 0x11 };
    let response = if write { 0 } else { own };
    let descriptor = registers(8) << 25 | response << 20 | kind << 14 | mode << 12 | absent << 8 | 255;
    let mut i = transfer(lanes, descriptor, addresses, data, write.then_some(own));
    i.no_mask = !enabled;
    i
}

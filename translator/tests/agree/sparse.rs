//! Loops in which each lane goes along its own row, of its own length, and gathers with what it reads there: rows of sparse matrices.

use gencl_isa::{Condition, Flag, Instruction, Opcode, Predicate, Register, Type};
use gencl_testing::Random;

use crate::harness::{DATA, DATA_SIZE, IDS, SCRATCH};
use crate::memory::read;
use crate::walks::{NORMAL, Place, back, whole};

/// Here the constants have a pointer to the numbers of columns, one to values, one to what is gathered, and what comes behind these.
const CONSTANTS: u8 = 100;
const COLUMNS: u8 = 0;
const VALUES: u8 = 1;
const GATHERED: u8 = 2;
/// How far rows are apart, and bytes or dwords of their first.
const APART: Place = Place::Scalar(CONSTANTS, 6, Type::UD);
const FIRST: Place = Place::Scalar(CONSTANTS, 7, Type::UD);
/// Where a lane is in its row, and where that ends.
const AT: u8 = 8;
const END: u8 = 12;
const OFFSETS: u8 = 16;
const SUM: Place = Place::Row(20, Type::UD);
const COLUMN: u8 = 24;
const VALUE: u8 = 28;
const FOUND: u8 = 32;
/// The first of the registers with addresses, eight for each pointer.
const ADDRESSES: u8 = 64;
/// Where the numbers of columns begin in the data.
const PLACE: usize = 0x8000;

/// Whether this ends the loops.
pub fn ends_loops(i: &Instruction) -> bool {
    let ends = |register| matches!(register, Register::Grf(number) if (AT..OFFSETS).contains(&number));
    i.opcode == Opcode::Cmp || ends(i.destination.register)
}

/// Such a loop.
pub fn sparse(random: &mut Random, width: u8, constants: &mut [u8], data: &mut [u8]) -> Vec<Instruction> {
    // What numbers of columns say is in another buffer seldom, in none more seldom still.
    let (elsewhere, nowhere) = (random.one_in(4), random.one_in(12));
    for column in data[PLACE..].chunks_exact_mut(4) {
        let number = match random.below(400) {
            0 if elsewhere => ((SCRATCH - DATA) / 4) as u32 + random.below(64) as u32,
            1 if nowhere => 0x4_0000,
            _ => random.below(PLACE / 4) as u32,
        };
        column.copy_from_slice(&number.to_le_bytes());
    }
    // Lanes count dwords or bytes; each row ends by a length of its own further, or behind as many bits of the lane's number.
    let (step, shift) = random.pick(&[(1u32, 2u16), (4, 0)]);
    let apart = random.pick(&[0u32, 8, 13, 40, 200]) * step;
    let most = random.pick(&[1u32, 7, 31, 63, 255, 2047]);
    // Where their ends are not whole steps away, lanes go on until they leave the memory.
    let rows = random.pick(&[step, step, step * 3, 1]);
    let last = apart * u32::from(width) + (most + 1) * step;
    let room = (DATA_SIZE as u32 - PLACE as u32) >> shift;
    // The last rows end where the buffer ends, behind that, or somewhere else.
    let first = match random.below(4) {
        0 | 1 => room.saturating_sub(last),
        2 => room.saturating_sub(last / 2),
        _ => random.below(room.saturating_sub(last) as usize + 1) as u32,
    } / step
        * step;
    let at = (usize::from(CONSTANTS) - 1) * 32;
    let columns = DATA + PLACE as u64;
    for (number, pointer) in [columns, columns - random.pick(&[4, 0x4000]), DATA].into_iter().enumerate() {
        constants[at + 8 * number..at + 8 * number + 8].copy_from_slice(&pointer.to_le_bytes());
    }
    for (number, value) in [apart, first].into_iter().enumerate() {
        constants[at + 24 + 4 * number..at + 28 + 4 * number].copy_from_slice(&value.to_le_bytes());
    }

    let all = |opcode, to, sources: &[Place]| whole(width, opcode, to, sources, |_| {});
    let word = |n: u16| Place::Number(u64::from(n), Type::UW);
    let dword = |n: u32| Place::Number(u64::from(n), Type::D);
    let part = width.min(16);
    let load = |pointer: u8, offsets: u8, to: u8| {
        let addresses = ADDRESSES + pointer * 8;
        let pointer = Place::Scalar(CONSTANTS, pointer, Type::UQ);
        let sources = [pointer, Place::Row(offsets, Type::D)];
        let mut all = all(Opcode::Add, Place::Row(addresses, Type::UQ), &sources);
        all.extend((0..width / part).map(|n| read(part, n, addresses + n * 4, to + n * 2)));
        all
    };
    let [place, end] = [AT, END].map(|register| Place::Row(register, Type::UD));
    let mut body = all(Opcode::Mov, place, &[Place::Row(IDS, Type::UW)]);
    // How long rows are: what is at each lane's place in the data.
    body.extend(all(Opcode::Shl, Place::Row(OFFSETS, Type::UD), &[place, word(2)]));
    body.extend(load(GATHERED, OFFSETS, END));
    body.extend(all(Opcode::And, end, &[end, word(most as u16)]));
    body.extend(all(Opcode::Add, end, &[end, word(1)]));
    body.extend(all(Opcode::Mul, end, &[end, word(rows as u16)]));
    body.extend(all(Opcode::Mul, place, &[place, APART]));
    body.extend(all(Opcode::Add, place, &[place, FIRST]));
    body.extend(all(Opcode::Add, end, &[end, place]));
    body.extend(all(Opcode::Mov, SUM, &[dword(random.next_u32() & 0xffff)]));
    let round = body.len();
    body.extend(all(Opcode::Shl, Place::Row(OFFSETS, Type::UD), &[place, word(shift)]));
    body.extend(load(COLUMNS, OFFSETS, COLUMN));
    if random.one_in(2) {
        body.extend(load(VALUES, OFFSETS, VALUE));
        body.extend(all(Opcode::Xor, SUM, &[SUM, Place::Row(VALUE, Type::UD)]));
    }
    body.extend(all(Opcode::Shl, Place::Row(COLUMN, Type::UD), &[Place::Row(COLUMN, Type::UD), word(2)]));
    body.extend(load(GATHERED, COLUMN, FOUND));
    body.extend(all(Opcode::Shl, SUM, &[SUM, word(1)]));
    body.extend(all(Opcode::Add, SUM, &[SUM, Place::Row(FOUND, Type::UD)]));
    // What lanes go on with is the same as what is compared, or one round behind it.
    let ahead = random.one_in(3);
    if !ahead {
        body.extend(all(Opcode::Add, place, &[place, word(step as u16)]));
    }
    let flag = Flag { register: 1, subregister: 0 };
    let condition =
        random.pick(&[Condition::NotEqual, Condition::NotEqual, Condition::NotEqual, Condition::Less]);
    let inverse = condition == Condition::NotEqual && random.one_in(2);
    let condition = if inverse { Condition::Equal } else { condition };
    let next = Place::Row(36, Type::UD);
    if ahead {
        body.extend(all(Opcode::Add, next, &[place, word(step as u16)]));
        body.extend(all(Opcode::Add, place, &[place, word(step as u16)]));
    }
    let compared = if ahead { next } else { place };
    body.extend(whole(width, Opcode::Cmp, Place::Null(Type::UD), &[compared, end], |i| {
        (i.condition, i.flag) = (Some(condition), flag);
    }));
    body.push(back(width, Predicate { inverse, ..NORMAL }, flag, body.len() - round));
    body
}

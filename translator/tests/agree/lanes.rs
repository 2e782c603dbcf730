//! Loops of as many rounds for all lanes in which each lane goes along its own row in memory; the rows are written between the times that they are read.

use gencl_isa::{Condition, Destination, Flag, Instruction, Opcode, Operand, Predicate, Register, Type};
use gencl_testing::Random;

use crate::harness::{DATA, DATA_SIZE, IDS};
use crate::memory::{read, write};
use crate::walks::{NORMAL, Place, alone, whole};

/// Here the constants have a pointer, how far rows are apart, how many bytes of them are read, and how often.
const CONSTANTS: u8 = 100;
const APART: Place = Place::Scalar(CONSTANTS, 2, Type::UD);
const END: Place = Place::Scalar(CONSTANTS, 3, Type::D);
const TIMES: Place = Place::Scalar(CONSTANTS, 4, Type::D);
/// How far rows were read, how far they are to be read, and how often they were. Lanes' ids, the offsets of their rows, those of what is read, and its addresses.
const AT: u8 = 36;
const TO: u8 = 37;
const READ: u8 = 38;
const LANES: Place = Place::Row(8, Type::UD);
const ROWS: Place = Place::Row(12, Type::UD);
const OFFSETS: Place = Place::Row(16, Type::UD);
const ADDRESSES: u8 = 80;
/// What was read, and what was made of it.
const FOUND: u8 = 20;
const SUM: Place = Place::Row(24, Type::UD);

/// Whether this ends the loops.
pub fn ends_loops(i: &Instruction) -> bool {
    [AT, TO, READ].iter().any(|register| i.destination.register == Register::Grf(*register))
}

/// What such loops are like.
struct Shape {
    /// Bytes from a read to the next of a lane.
    step: u32,
    rounds: u32,
    /// Whether some lanes may not read.
    predicate: Option<Predicate>,
    /// Numbers of loops are in so many lanes of a register: in one dword, or, as compilers have them, in a whole register.
    numbers: u8,
}

/// Such loops.
pub fn lanes(random: &mut Random, width: u8, constants: &mut [u8]) -> Vec<Instruction> {
    let shape = Shape {
        step: random.pick(&[4, 4, 4, 4, 8, 2]),
        rounds: 1 + random.below(40) as u32,
        predicate: random.one_in(3).then(|| Predicate { inverse: random.one_in(2), ..NORMAL }),
        numbers: random.pick(&[1, 8]),
    };
    loops(random, width, constants, shape)
}

/// Long ones, in which all lanes read one dword behind the other.
pub fn long(random: &mut Random, width: u8, constants: &mut [u8]) -> Vec<Instruction> {
    let shape = Shape { step: 4, rounds: 50 + random.below(150) as u32, predicate: None, numbers: 8 };
    loops(random, width, constants, shape)
}

fn loops(random: &mut Random, width: u8, constants: &mut [u8], shape: Shape) -> Vec<Instruction> {
    let Shape { step, rounds, predicate, numbers } = shape;
    let apart = random.pick(&[4u32, 36, 64, 128, 256, 1000, 1028, 1024, 0]);
    // Each time from the beginning, or from where it ended.
    let (times, goes_on) = (1 + random.below(3) as u32, random.one_in(2));
    let read_once = step * rounds;
    let all_read = if goes_on { read_once * times } else { read_once };
    // The last row ends where the buffer ends, or somewhere else.
    let bytes = u64::from(apart * (u32::from(width) - 1) + all_read - step) + 4;
    let first =
        if random.one_in(2) { DATA_SIZE - bytes } else { (random.next_u64() % (DATA_SIZE - bytes)) & !3 };
    let first = if random.one_in(8) { first + 4 * (1 + random.next_u64() % 4) } else { first };
    let at = (usize::from(CONSTANTS) - 1) * 32;
    constants[at..at + 8].copy_from_slice(&(DATA + first).to_le_bytes());
    for (number, value) in [apart, read_once, times].into_iter().enumerate() {
        let at = at + 8 + 4 * number;
        constants[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    let all = |opcode, to, sources: &[Place]| whole(width, opcode, to, sources, |i| i.no_mask = true);
    let address = |offsets: Place| {
        let Place::Row(register, _) = offsets else { return Vec::new() };
        let pointer = Place::Scalar(CONSTANTS, 0, Type::UQ);
        all(Opcode::Add, Place::Row(ADDRESSES, Type::UQ), &[pointer, Place::Row(register, Type::D)])
    };
    let scalar = |register: u8| Place::Scalar(register, 0, Type::D);
    let to = |opcode, register: u8, sources| Instruction {
        exec_size: numbers,
        ..alone(opcode, Destination::new(Register::Grf(register), 0, Type::D), sources)
    };
    let number = |n: u32| Place::Number(u64::from(n), Type::D);
    let mut body = all(Opcode::Mov, LANES, &[Place::Row(IDS, Type::UW)]);
    body.extend(all(Opcode::Mul, ROWS, &[LANES, APART]));
    body.extend(all(Opcode::Mov, SUM, &[number(0)]));
    body.push(to(Opcode::Mov, READ, [number(0).source(0), Operand::None]));
    let mut again = body.len();
    body.push(to(Opcode::Mov, AT, [number(0).source(0), Operand::None]));
    again += usize::from(goes_on);
    body.push(to(Opcode::Add, TO, [scalar(AT).source(0), END.source(0)]));
    let next = body.len();
    body.extend(all(Opcode::Add, OFFSETS, &[ROWS, Place::Scalar(AT, 0, Type::UD)]));
    body.extend(address(OFFSETS));
    let part = width.min(16);
    body.extend(
        (0..width / part)
            .map(|n| Instruction { predicate, ..read(part, n, ADDRESSES + n * 4, FOUND + n * 2) }),
    );
    body.extend(whole(width, Opcode::Shl, SUM, &[SUM, Place::Number(1, Type::UW)], |_| {}));
    body.extend(whole(width, Opcode::Add, SUM, &[SUM, Place::Row(FOUND, Type::UD)], |_| {}));
    if random.one_in(2) {
        // Some of the lanes, others in each round.
        let some = Some(Condition::Greater);
        body.extend(whole(
            width,
            Opcode::Cmp,
            Place::Null(Type::D),
            &[Place::Row(24, Type::D), number(0)],
            |i| i.condition = some,
        ));
    }
    body.push(to(Opcode::Add, AT, [scalar(AT).source(0), number(step).source(0)]));
    go_back(&mut body, scalar(AT), scalar(TO), next);
    // Something of what is read next time.
    let element = number(4 * random.below(rounds.min(8) as usize) as u32);
    body.extend(all(Opcode::Add, OFFSETS, &[ROWS, element]));
    if goes_on {
        body.extend(all(Opcode::Add, OFFSETS, &[OFFSETS, Place::Scalar(AT, 0, Type::UD)]));
    }
    body.extend(address(OFFSETS));
    body.extend((0..width / part).map(|n| write(part, n, ADDRESSES + n * 4, 24 + n * 2)));
    body.push(to(Opcode::Add, READ, [scalar(READ).source(0), number(1).source(0)]));
    go_back(&mut body, scalar(READ), TIMES, again);
    body
}

/// Goes back to an instruction while a number is less than another.
fn go_back(body: &mut Vec<Instruction>, number: Place, end: Place, to: usize) {
    let flag = Flag { register: 1, subregister: 0 };
    let compare = alone(Opcode::Cmp, Destination::null(Type::D), [number.source(0), end.source(0)]);
    body.push(Instruction { condition: Some(Condition::Less), flag, ..compare });
    let bytes = -16 * (body.len() + 1 - to) as i32;
    body.push(Instruction { predicate: Some(NORMAL), flag, ..Instruction::jump(bytes) });
}

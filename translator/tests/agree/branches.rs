//! Random branches in which registers are used for one thing after the other, with elements of several sizes. Only what channels read as their own of it is
//! looked at in the end.

use gencl_isa::{Branch, Condition, Extra, Flag, Instruction, Opcode, Operand, Predicate, Region, Type};
use gencl_testing::Random;

use crate::walks::{FUEL, NORMAL, Place, back, whole};

/// First registers of elements of four bytes for 32 lanes. Longer ones are in those of two, shorter ones in parts of them.
const ROWS: [u8; 4] = [8, 12, 16, 20];
/// Here they are added up.
pub const SUMS: u8 = 40;

/// What joins a region's channels.
enum Item {
    Code(Vec<Instruction>),
    /// Channels for which the flag is not set go to the join of a number.
    Goto(usize, Predicate),
    Join,
}

fn row(random: &mut Random, ty: Type) -> Place {
    let first = random.pick(&ROWS[..if ty.size() == 8 { 3 } else { 4 }]);
    let later = if ty.size() < 4 { random.below(3) as u8 } else { 0 };
    Place::Row(first + later, ty)
}

/// An operand that is read.
fn source(random: &mut Random, ty: Type) -> Place {
    match random.below(6) {
        0 => Place::Number(u64::from(random.next_u64() as u16), Type::W),
        1 => Place::Scalar(random.pick(&ROWS) + random.below(4) as u8, random.below(8) as u8, Type::UD),
        _ => row(random, ty),
    }
}

/// Arithmetic, seldom for all channels or for one alone.
fn step(random: &mut Random, width: u8) -> Vec<Instruction> {
    let types = [Type::UD, Type::D, Type::UD, Type::UW, Type::UQ];
    let (from, ty) = (random.pick(&types), random.pick(&types));
    let opcode = random.pick(&[Opcode::Mov, Opcode::Add, Opcode::Xor, Opcode::And, Opcode::Add]);
    let count = if opcode == Opcode::Mov { 1 } else { 2 };
    let mut sources = vec![row(random, from)];
    sources.extend((1..count).map(|_| source(random, from)));
    let predicate = random.one_in(6).then(|| Predicate { inverse: random.one_in(2), ..NORMAL });
    let no_mask = random.one_in(10);
    let to = row(random, ty);
    let mut all = whole(width, opcode, to, &sources, |i| (i.predicate, i.no_mask) = (predicate, no_mask));
    if random.one_in(8) {
        let mut one = all.swap_remove(0);
        (one.exec_size, one.channel_offset, one.no_mask, one.predicate) = (1, 0, true, None);
        for source in &mut one.sources {
            if let Operand::Register(source) = source {
                source.region = Region::SCALAR;
            }
        }
        all = vec![one];
    }
    all
}

fn steps(random: &mut Random, width: u8) -> Vec<Instruction> {
    (0..1 + random.below(3)).flat_map(|_| step(random, width)).collect()
}

/// Sets `f0`.
fn compare(random: &mut Random, width: u8) -> Vec<Instruction> {
    let [a, b] = [(); 2].map(|()| row(random, Type::D));
    let condition = random.pick(&[Condition::Less, Condition::GreaterEqual, Condition::NotEqual]);
    whole(width, Opcode::Cmp, Place::Null(Type::D), &[a, b], |i| i.condition = Some(condition))
}

pub fn branch(opcode: Opcode, width: u8, jip: usize, uip: usize) -> Instruction {
    let mut i = Instruction::new(opcode, width);
    i.extra = Extra::Branch(Branch { jip: 16 * jip as i32, uip: 16 * uip as i32, ..Branch::default() });
    i
}

/// What some channels do, and perhaps what the others do instead.
fn choice(random: &mut Random, width: u8, depth: usize) -> Vec<Instruction> {
    let mut all = compare(random, width);
    let then = code(random, width, depth);
    let otherwise = if random.one_in(2) { Some(code(random, width, depth)) } else { None };
    let end = match &otherwise {
        Some(other) => then.len() + other.len() + 2,
        None => then.len() + 1,
    };
    let mut first = branch(Opcode::If, width, if otherwise.is_some() { then.len() + 2 } else { end }, end);
    first.predicate = Some(Predicate { inverse: random.one_in(2), ..NORMAL });
    all.push(first);
    all.extend(then);
    if let Some(other) = otherwise {
        all.push(branch(Opcode::Else, width, other.len() + 1, other.len() + 1));
        all.extend(other);
    }
    all.push(branch(Opcode::Endif, width, 1, 0));
    all
}

/// A few rounds, for each channel another number, which some leave earlier.
fn rounds(random: &mut Random, width: u8) -> Vec<Instruction> {
    let fuel = Place::Row(FUEL, Type::D);
    let number = |n: u16| Place::Number(u64::from(n), Type::W);
    let some = row(random, Type::UD);
    let mut all = whole(width, Opcode::And, fuel, &[some, Place::Number(3, Type::UW)], |_| {});
    let mut body = code(random, width, 2);
    let tail = code(random, width, 2);
    let mut end = whole(width, Opcode::Add, fuel, &[fuel, number(u16::MAX)], |_| {});
    let flag = Flag { register: 1, subregister: 0 };
    end.extend(whole(width, Opcode::Cmp, Place::Null(Type::D), &[fuel, number(0)], |i| {
        (i.condition, i.flag) = (Some(Condition::Greater), flag);
    }));
    if random.one_in(2) {
        body.extend(compare(random, width));
        let behind = tail.len() + end.len() + 1;
        let mut leave = branch(Opcode::Break, width, behind, behind);
        leave.predicate = Some(NORMAL);
        body.push(leave);
    }
    body.extend(tail);
    body.extend(end);
    body.push(back(width, NORMAL, flag, body.len()));
    all.extend(body);
    all
}

/// Branches forward to joins, past others.
fn region(random: &mut Random, width: u8, depth: usize) -> Vec<Instruction> {
    let joins = 1 + random.below(3);
    let mut items = Vec::new();
    for join in 0..joins {
        for _ in 0..1 + random.below(2) {
            items.push(Item::Code(compare(random, width)));
            let predicate = Predicate { inverse: random.one_in(2), ..NORMAL };
            items.push(Item::Goto(join + random.below(joins - join), predicate));
            items.push(Item::Code(code(random, width, depth)));
        }
        items.push(Item::Join);
    }
    let size = |item: &Item| if let Item::Code(code) = item { code.len() } else { 1 };
    let place = |number: usize| items[..number].iter().map(size).sum::<usize>();
    let places: Vec<usize> =
        (0..items.len()).filter(|n| matches!(items[*n], Item::Join)).map(place).collect();
    let mut all = Vec::new();
    for item in items {
        let next = places.iter().find(|at| **at > all.len()).map_or(1, |at| at - all.len());
        match item {
            Item::Code(code) => all.extend(code),
            Item::Goto(join, predicate) => {
                let mut goto = branch(Opcode::Goto, width, next, places[join] - all.len());
                goto.predicate = Some(predicate);
                all.push(goto);
            }
            Item::Join => all.push(branch(Opcode::Join, width, next, 0)),
        }
    }
    all
}

fn code(random: &mut Random, width: u8, depth: usize) -> Vec<Instruction> {
    let mut all = steps(random, width);
    for _ in 0..random.below(3) {
        all.extend(match random.below(4) {
            0 if depth < 2 => choice(random, width, depth + 1),
            1 if depth < 2 => region(random, width, depth + 1),
            2 if depth == 0 => rounds(random, width),
            _ => steps(random, width),
        });
    }
    all
}

/// Code with branches. The results are all that is left.
pub fn branches(random: &mut Random, width: u8) -> Vec<Instruction> {
    let mut all = code(random, width, 0);
    all.extend(if random.one_in(2) { choice(random, width, 0) } else { region(random, width, 0) });
    let sums = Place::Row(SUMS, Type::UD);
    for first in ROWS {
        if random.one_in(2) {
            all.extend(whole(width, Opcode::Add, sums, &[sums, Place::Row(first, Type::UD)], |_| {}));
        }
    }
    for first in ROWS {
        let (to, zero) = (Place::Row(first, Type::UD), Place::Number(0, Type::UD));
        all.extend(whole(32, Opcode::Mov, to, &[zero], |i| i.no_mask = true));
    }
    all
}

/// Code with branches in front of which only some registers have been written, and others, perhaps, for some of the channels.
pub fn unwritten(random: &mut Random, width: u8) -> Vec<Instruction> {
    let all_channels = |first: u8| {
        let to = Place::Row(first, Type::UD);
        whole(32, Opcode::Mov, to, &[Place::Scalar(2, first % 8, Type::UD)], |i| i.no_mask = true)
    };
    let never = random.below(ROWS.len());
    let mut all = all_channels(SUMS);
    for (number, first) in ROWS.into_iter().enumerate() {
        if number != never || random.one_in(3) {
            all.extend(all_channels(first));
        }
    }
    let ids = Place::Row(7, Type::UW);
    let number = Place::Number(u64::from(random.next_u64() as u8 & 15), Type::UW);
    all.extend(whole(width.min(16), Opcode::Cmp, Place::Null(Type::UW), &[ids, number], |i| {
        i.condition = Some(Condition::Less);
    }));
    let [row, other] = [never, random.below(ROWS.len())].map(|number| Place::Row(ROWS[number], Type::UD));
    let predicate = random.one_in(2).then_some(NORMAL);
    let (opcode, copied) = random.pick(&[(Opcode::Mov, row), (Opcode::Mov, other), (Opcode::Not, other)]);
    all.extend(whole(width, opcode, other, &[copied], |i| i.predicate = predicate));
    all.extend(branches(random, width));
    all
}

/// Straight code of which most is predicated, under flags that change; what is added up is looked at in the end.
pub fn predicated(random: &mut Random, width: u8) -> Vec<Instruction> {
    let rows = |random: &mut Random| Place::Row(random.pick(&ROWS), Type::UD);
    let sum = Place::Row(SUMS, Type::UD);
    let mut all = compare(random, width);
    for _ in 0..24 {
        let predicate = random.one_in(2).then(|| Predicate { inverse: random.one_in(4), ..NORMAL });
        let (to, a, b) = (rows(random), rows(random), rows(random));
        if random.one_in(6) {
            // Under one predicate, if the flag stays, and forgotten then.
            let add = |i: &mut Instruction| i.predicate = Some(predicate.unwrap_or(NORMAL));
            all.extend(whole(width, Opcode::Add, to, &[a, b], add));
            if random.one_in(2) {
                all.extend(compare(random, width));
            }
            all.extend(whole(width, Opcode::Add, sum, &[sum, to], add));
            all.extend(whole(width, Opcode::Mov, to, &[b], |_| {}));
        }
        all.extend(match random.below(6) {
            0 => compare(random, width),
            1 => whole(width, Opcode::Add, sum, &[sum, a], |i| i.predicate = predicate),
            2 => whole(width, Opcode::Mov, to, &[a], |_| {}),
            n => whole(width, [Opcode::Add, Opcode::Or][n % 2], to, &[a, b], |i| i.predicate = predicate),
        });
    }
    for row in ROWS {
        let zero = Place::Number(0, Type::UD);
        all.extend(whole(width, Opcode::Mov, Place::Row(row, Type::UD), &[zero], |i| i.no_mask = true));
    }
    all
}

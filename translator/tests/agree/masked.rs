//! Random logic, choices and signs under partial masks. On hosts with AVX-512 what meets under one mask becomes one instruction, which the other random kernels have too rarely.

use gencl_isa::{Condition, Destination, Instruction, Opcode, Operand, Predicate, Register, Type};
use gencl_testing::Random;

use crate::branches::branch;
use crate::walks::{NORMAL, Place, alone, whole};

/// Elements of a size, for 32 lanes.
struct Class {
    signed: Type,
    unsigned: Type,
    float: Option<Type>,
    /// First registers of variables.
    rows: &'static [u8],
    /// All but the exponent's highest bit: with these bits there is neither a NaN, whose bits nobody defines, nor an infinity.
    finite: u64,
    /// Two are one element: a set of bits, and the others.
    sets: u8,
}

const CLASSES: [Class; 4] = [
    Class {
        signed: Type::D,
        unsigned: Type::UD,
        float: Some(Type::F),
        rows: &[8, 12, 16, 20, 24],
        finite: 0xbfff_ffff,
        sets: 88,
    },
    Class {
        signed: Type::Q,
        unsigned: Type::UQ,
        float: Some(Type::DF),
        rows: &[32, 40, 48, 56],
        finite: 0xbfff_ffff_ffff_ffff,
        sets: 90,
    },
    Class {
        signed: Type::W,
        unsigned: Type::UW,
        float: Some(Type::HF),
        rows: &[64, 66, 68],
        finite: 0xbfff,
        sets: 94,
    },
    Class { signed: Type::B, unsigned: Type::UB, float: None, rows: &[70, 71, 72], finite: 0, sets: 96 },
];

/// Variables of what is computed on the way: four registers, or eight.
const PARTS: [u8; 2] = [100, 108];

/// How many sets of bits there are of each size.
const SETS: u8 = 3;

impl Class {
    fn any(random: &mut Random) -> &'static Class {
        &CLASSES[random.pick(&[0, 0, 0, 1, 1, 1, 2, 3])]
    }

    fn row(&self, random: &mut Random) -> u8 {
        random.pick(self.rows)
    }

    fn integer(&self, random: &mut Random) -> Type {
        random.pick(&[self.signed, self.unsigned])
    }

    /// A set of bits, and those that are not in it.
    fn set(&self, random: &mut Random) -> [Place; 2] {
        let number = 2 * random.below(usize::from(SETS)) as u8;
        let size = self.unsigned.size() as u8;
        [number, number + 1]
            .map(|at| Place::Scalar(self.sets + at * size / 32, at % (32 / size), self.unsigned))
    }

    /// Writes the sets: the sign, and others.
    fn write_sets(&self, random: &mut Random) -> Vec<Instruction> {
        let bits = self.unsigned.size() * 8;
        let all = u64::MAX >> (64 - bits);
        let sets = (0..u64::from(SETS)).flat_map(|number| {
            let some =
                [1 << (bits - 1), all >> (bits / 2), 0x0f0f_0f0f_0f0f_0f0f & all, random.next_u64() & all];
            let set = if number == 0 { some[0] } else { random.pick(&some) };
            [set, all & !set]
        });
        let write = |(at, bits): (usize, u64)| {
            // What is smaller than a word has no immediate.
            let (size, ty) = match self.unsigned {
                Type::UB => (1, Type::UW),
                ty => (ty.size() as usize, ty),
            };
            let register = Register::Grf(self.sets + (at * size / 32) as u8);
            let to = Destination::new(register, (at * size % 32) as u8, self.unsigned);
            alone(Opcode::Mov, to, [Operand::Immediate { bits, ty }, Operand::None])
        };
        sets.enumerate().map(write).collect()
    }
}

/// Writes instructions one after the other.
struct Writer<'r> {
    random: &'r mut Random,
    width: u8,
    all: Vec<Instruction>,
}

impl Writer<'_> {
    fn push(&mut self, opcode: Opcode, to: Place, from: &[Place], change: impl Fn(&mut Instruction)) {
        self.all.extend(whole(self.width, opcode, to, from, change));
    }

    /// Half of the instructions are for some of the lanes.
    fn predicate(&mut self) -> Option<Predicate> {
        self.random.one_in(2).then(|| Predicate { inverse: self.random.one_in(3), ..NORMAL })
    }

    /// A finite number of what is in a variable, or a float of a size that has none.
    fn finite(&mut self, class: &Class, part: u8) -> Option<Place> {
        let (float, from) = (class.float?, class.row(self.random));
        let bits = class.finite;
        let finite = if class.unsigned.size() < 8 {
            Place::Number(bits, class.unsigned)
        } else {
            // There are no immediates of 64 bits but for `mov`.
            Place::Scalar(class.sets + 2, 0, class.unsigned)
        };
        let to = Place::Row(PARTS[usize::from(part)], class.unsigned);
        self.push(Opcode::And, to, &[Place::Row(from, class.unsigned), finite], |_| {});
        Some(Place::Row(PARTS[usize::from(part)], float))
    }

    /// Sets `f0`.
    fn compare(&mut self) {
        let class = Class::any(self.random);
        let condition = self.random.pick(&[
            Condition::Less,
            Condition::GreaterEqual,
            Condition::NotEqual,
            Condition::Greater,
        ]);
        let (ty, predicate) = (class.integer(self.random), self.predicate());
        let integers = [(); 2].map(|()| Place::Row(class.row(self.random), ty));
        let operands = match self.random.one_in(3) {
            true => [self.finite(class, 0), self.finite(class, 1)].into_iter().flatten().collect(),
            false => Vec::new(),
        };
        let operands = if operands.is_empty() { integers.to_vec() } else { operands };
        self.push(Opcode::Cmp, Place::Null(class.signed), &operands, |i| {
            (i.condition, i.predicate) = (Some(condition), predicate);
        });
    }

    /// Some bits of one number, the others of another.
    fn choice_of_bits(&mut self) {
        let class = Class::any(self.random);
        let ty = class.unsigned;
        let [from, other] = [(); 2].map(|()| class.row(self.random));
        let third = class.row(self.random);
        let to = self.random.pick(&[from, other, third]);
        let (sets, predicate) = (class.set(self.random), self.predicate());
        let parts = PARTS.map(|part| Place::Row(part, ty));
        let joins = self.random.pick(&[Opcode::Or, Opcode::Or, Opcode::Xor, Opcode::Add]);
        self.push(Opcode::And, parts[0], &[Place::Row(from, ty), sets[0]], |_| {});
        self.push(Opcode::And, parts[1], &[Place::Row(other, ty), sets[1]], |_| {});
        self.push(joins, Place::Row(to, ty), &parts, |i| i.predicate = predicate);
    }

    fn logic(&mut self) {
        let class = Class::any(self.random);
        let ty = class.unsigned;
        let [to, a, b] = [(); 3].map(|()| Place::Row(class.row(self.random), ty));
        let b = if self.random.one_in(3) { class.set(self.random)[0] } else { b };
        let a = if self.random.one_in(4) { to } else { a };
        let predicate = self.predicate();
        let inverted = [self.random.one_in(4), self.random.one_in(4)];
        let opcode = self.random.pick(&[Opcode::And, Opcode::Or, Opcode::Xor, Opcode::Not]);
        let from = if opcode == Opcode::Not { vec![a] } else { vec![a, b] };
        self.push(opcode, to, &from, |i| {
            i.predicate = predicate;
            for (operand, inverted) in i.sources.iter_mut().zip(inverted) {
                if let Operand::Register(source) = operand {
                    source.negate = inverted;
                }
            }
        });
    }

    /// Lanes of one variable or another, by a flag or as the less or the greater.
    fn choice(&mut self) {
        let class = Class::any(self.random);
        let ty = class.integer(self.random);
        let [to, a, b] = [(); 3].map(|()| Place::Row(class.row(self.random), ty));
        if self.random.one_in(2) {
            let predicate = Some(Predicate { inverse: self.random.one_in(2), ..NORMAL });
            self.push(Opcode::Sel, to, &[a, b], |i| i.predicate = predicate);
            return;
        }
        let condition = Some(self.random.pick(&[Condition::Less, Condition::GreaterEqual]));
        self.push(Opcode::Sel, to, &[a, b], |i| i.condition = condition);
    }

    /// Signs of integers and floats, sums and products, the less and the greater.
    fn number(&mut self) {
        let class = Class::any(self.random);
        let to = class.row(self.random);
        let opcode = self.random.pick(&[
            Opcode::Mov,
            Opcode::Mov,
            Opcode::Add,
            Opcode::Mul,
            Opcode::Sel,
            Opcode::Rndd,
        ]);
        let predicate = if opcode == Opcode::Sel { None } else { self.predicate() };
        let condition = self.random.pick(&[Condition::Less, Condition::GreaterEqual]);
        let signs = [(); 2].map(|()| (self.random.one_in(2), self.random.one_in(2)));
        let floats = [self.finite(class, 0), self.finite(class, 1)];
        let (ty, from) = match floats {
            [Some(a), Some(b)] if !self.random.one_in(3) => (class.float.unwrap_or(class.signed), [a, b]),
            _ if opcode == Opcode::Rndd || opcode == Opcode::Mul => return,
            _ => (class.signed, [(); 2].map(|()| Place::Row(class.row(self.random), class.signed))),
        };
        let count = if matches!(opcode, Opcode::Mov | Opcode::Rndd) { 1 } else { 2 };
        self.push(opcode, Place::Row(to, ty), &from[..count], |i| {
            (i.predicate, i.condition) = (predicate, (opcode == Opcode::Sel).then_some(condition));
            for (operand, (negate, abs)) in i.sources.iter_mut().zip(signs) {
                if let Operand::Register(source) = operand {
                    (source.negate, source.abs) = (negate, abs);
                }
            }
        });
    }

    /// From one type to another.
    fn conversion(&mut self) {
        let [from, to] = [(); 2].map(|()| Class::any(self.random));
        let predicate = self.predicate();
        let integer = Place::Row(from.row(self.random), from.integer(self.random));
        let source = if self.random.one_in(2) { self.finite(from, 0) } else { None }.unwrap_or(integer);
        // A half float of a large integer is an infinity, which is finite again when it is next used.
        let ty = if self.random.one_in(2) { to.float } else { None }.unwrap_or(to.integer(self.random));
        let to = Place::Row(to.row(self.random), ty);
        self.push(Opcode::Mov, to, &[source], |i| i.predicate = predicate);
    }

    fn shift(&mut self) {
        let class = Class::any(self.random);
        let opcode = self.random.pick(&[Opcode::Shl, Opcode::Shr, Opcode::Asr]);
        let ty = if opcode == Opcode::Asr { class.signed } else { class.unsigned };
        let [to, from] = [(); 2].map(|()| Place::Row(class.row(self.random), ty));
        let by = Place::Number(self.random.below(class.unsigned.size() as usize * 8) as u64, Type::UW);
        let predicate = self.predicate();
        self.push(opcode, to, &[from, by], |i| i.predicate = predicate);
    }

    fn steps(&mut self, count: usize) {
        for _ in 0..count {
            match self.random.below(12) {
                0..3 => self.choice_of_bits(),
                3..6 => self.logic(),
                6..8 => self.choice(),
                8 => self.number(),
                9 => self.conversion(),
                10 => self.shift(),
                _ => self.compare(),
            }
        }
    }

    /// What some channels do, and perhaps what the others do instead.
    fn sides(&mut self) {
        self.compare();
        let first = self.all.len();
        let predicate = Predicate { inverse: self.random.one_in(2), ..NORMAL };
        self.all.push(branch(Opcode::If, self.width, 0, 0));
        let count = 1 + self.random.below(4);
        self.steps(count);
        let mut other = None;
        if self.random.one_in(2) {
            other = Some(self.all.len());
            self.all.push(branch(Opcode::Else, self.width, 0, 0));
            let count = 1 + self.random.below(4);
            self.steps(count);
        }
        let end = self.all.len();
        self.all.push(branch(Opcode::Endif, self.width, 1, 0));
        let to_other = other.map_or(end, |at| at + 1) - first;
        self.all[first] = branch(Opcode::If, self.width, to_other, end - first);
        self.all[first].predicate = Some(predicate);
        if let Some(at) = other {
            self.all[at] = branch(Opcode::Else, self.width, end - at, end - at);
        }
    }
}

/// Logic, choices and signs under masks.
pub fn masked(random: &mut Random, width: u8) -> Vec<Instruction> {
    let mut all: Vec<_> = CLASSES.iter().flat_map(|class| class.write_sets(random)).collect();
    let [_, qwords, ..] = &CLASSES;
    let finite = Destination::new(Register::Grf(qwords.sets + 2), 0, qwords.unsigned);
    let bits = Operand::Immediate { bits: qwords.finite, ty: qwords.unsigned };
    all.push(alone(Opcode::Mov, finite, [bits, Operand::None]));
    let mut writer = Writer { random, width, all };
    writer.compare();
    for _ in 0..2 + writer.random.below(3) {
        let count = 1 + writer.random.below(5);
        writer.steps(count);
        if writer.random.one_in(2) {
            writer.sides();
        }
    }
    writer.all
}

/// Kernels in which some bits of one number and the others of another are written where a flag is set, to a register that has one of the two: for vectors of 128 to 512 bits, of numbers that are
/// in registers, in memory, and the same for all lanes.
pub fn copied_signs() -> impl Iterator<Item = Vec<Instruction>> {
    let sizes = [(&CLASSES[0], [4, 8, 16]), (&CLASSES[1], [2, 4, 8])];
    sizes.into_iter().flat_map(|(class, lanes)| lanes.map(|lanes| signs_of_lanes(class, lanes)))
}

fn signs_of_lanes(class: &Class, lanes: u8) -> Vec<Instruction> {
    let mut all = class.write_sets(&mut Random::new(1));
    let row = |register| Place::Row(register, class.unsigned);
    let size = class.unsigned.size() as u8;
    let [sign, others] = [0, size].map(|at| Place::Scalar(class.sets, at / size, class.unsigned));
    let mut push = |opcode, to, from: &[Place], change: &dyn Fn(&mut Instruction)| {
        all.extend(whole(lanes, opcode, to, from, change));
    };
    let condition = Some(Condition::Less);
    let zero = Place::Number(0, Type::W);
    push(Opcode::Cmp, Place::Null(class.signed), &[Place::Row(4, class.signed), zero], &|i| {
        i.condition = condition;
    });
    // A number that is computed, one that is in memory, and one that is the same for all lanes.
    push(Opcode::Add, row(6), &[row(4), Place::Number(1, Type::W)], &|_| {});
    let from = [row(6), row(10), Place::Scalar(12, 1, class.unsigned)];
    for (number, other) in from.into_iter().enumerate() {
        for (kept, sets) in [[sign, others], [others, sign]].into_iter().enumerate() {
            for order in 0..2 {
                let own = row(16 + 2 * (4 * number + 2 * kept + order) as u8);
                let parts = [row(100), row(104)];
                push(Opcode::Xor, own, &[own, row(14)], &|i| i.predicate = Some(NORMAL));
                push(Opcode::And, parts[order], &[own, sets[0]], &|_| {});
                push(Opcode::And, parts[1 - order], &[other, sets[1]], &|_| {});
                push(Opcode::Or, own, &parts, &|i| i.predicate = Some(NORMAL));
                push(Opcode::Add, row(110), &[row(110), own], &|_| {});
            }
        }
    }
    all
}

/// A choice of bits by numbers in registers, of which only instruction selection finds that they are constants: other parts of the registers are not.
pub const LATE_CONSTANTS: &str = "
    mov(1) g88.5<1>UD 0x7fffffffUD { align1 WE_all 1N };
    mov(1) g90<1>UQ 0x8000000000000000UQ { align1 WE_all 1N };
    mov(1) g90.1<1>UQ 0x7fffffffffffffffUQ { align1 WE_all 1N };
    mov(1) g90.2<1>UQ 0x8000000000000000UQ { align1 WE_all 1N };
    mov(1) g90.3<1>UQ 0x7fffffffffffffffUQ { align1 WE_all 1N };
    mov(1) g91<1>UQ 0x0f0f0f0f0f0f0f0fUQ { align1 WE_all 1N };
    mov(1) g91.1<1>UQ 0xf0f0f0f0f0f0f0f0UQ { align1 WE_all 1N };
    mov(1) g96<1>UB 0x0080UW { align1 WE_all 1N };
    mov(1) g96.1<1>UB 0x007fUW { align1 WE_all 1N };
    mov(1) g96.2<1>UB 0x0068UW { align1 WE_all 1N };
    mov(1) g96.3<1>UB 0x0097UW { align1 WE_all 1N };
    mov(1) g96.4<1>UB 0x00faUW { align1 WE_all 1N };
    mov(1) g96.5<1>UB 0x0005UW { align1 WE_all 1N };
    cmp.ge.f0.0(8) null<1>D g100<8,8,1>F g108<8,8,1>F { align1 1Q };
    and(8) g100<1>UQ g32<8,8,1>UQ g90<0,1,0>UQ { align1 1Q };
    and(8) g108<1>UQ g40<8,8,1>UQ g90.1<0,1,0>UQ { align1 1Q };
    (-f0.0) or(8) g32<1>UQ g100<8,8,1>UQ g108<8,8,1>UQ { align1 1Q };
    and(8) g100<1>UQ g56<8,8,1>UQ g92<0,1,0>UQ { align1 1Q };
";

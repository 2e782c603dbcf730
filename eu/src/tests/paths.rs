//! Compares the fast paths with the general path, bit by bit (NaN payloads aside).

use std::collections::BTreeMap;

use gencl_isa::{
    AccessMode, Condition, Destination, Extra, Generation, Instruction, MathFunction, Opcode, Operand,
    Predicate, PredicateControl, Region, Register, Source, Type,
};
use gencl_testing::Random;

use crate::arithmetic::general;
use crate::decode::lower::Lowering;
use crate::file::{CONTROL, FLAG, GRF_BYTES, set_dword};
use crate::op::{Action, Execute, Op};
use crate::operand::full_mask;
use crate::thread::{FloatMode, Thread};

const INTEGERS: [Type; 8] = [Type::UB, Type::B, Type::UW, Type::W, Type::UD, Type::D, Type::UQ, Type::Q];

fn source(random: &mut Random, register: u8, ty: Type, lanes: u8) -> Operand {
    if random.one_in(6) && ty.size() >= 2 {
        let bits = u64::from(random.dword()) & crate::operand::low_bits(ty.size() * 8);
        return Operand::Immediate { bits, ty };
    }
    let region = match random.below(4) {
        0 => Region::SCALAR,
        1 if u32::from(lanes) * ty.size() <= 64 => Region::new(4, 2, 2),
        _ if lanes == 1 => Region::SCALAR,
        _ => Region::new(lanes.min(8), lanes.min(8), 1),
    };
    let mut source = Source::new(Register::Grf(register), 0, region, ty);
    source.negate = random.one_in(5);
    source.abs = random.one_in(8);
    Operand::Register(source)
}

fn instruction(random: &mut Random) -> Instruction {
    use Opcode as O;
    let lanes = random.pick(&[1, 2, 4, 8, 16, 32]);
    let float = random.one_in(2);
    let integer_ops = [
        O::Mov,
        O::Add,
        O::Mul,
        O::And,
        O::Or,
        O::Xor,
        O::Not,
        O::Shl,
        O::Shr,
        O::Asr,
        O::Cmp,
        O::Sel,
        O::Math,
    ];
    let float_ops =
        [O::Mov, O::Add, O::Mul, O::Mad, O::Frc, O::Rndd, O::Rndu, O::Rnde, O::Rndz, O::Cmp, O::Sel, O::Math];
    let opcode = if float { random.pick(&float_ops) } else { random.pick(&integer_ops) };
    let mut i = Instruction::new(opcode, lanes);
    let logic = matches!(opcode, O::And | O::Or | O::Xor | O::Not);
    let count = match opcode {
        O::Mov | O::Not | O::Frc | O::Rndd | O::Rndu | O::Rnde | O::Rndz => 1,
        O::Mad => 3,
        _ => 2,
    };
    let first = if float { Type::F } else { random.pick(&INTEGERS) };
    for k in 0..count {
        let ty = match opcode {
            _ if float => Type::F,
            O::Sel => first,
            O::Math => random.pick(&[Type::D, Type::UD]),
            _ => random.pick(&INTEGERS),
        };
        i.sources[k] = source(random, 32 + 16 * k as u8, ty, lanes);
        if let Operand::Register(s) = &mut i.sources[k] {
            s.abs &= !logic;
            if opcode == O::Mad {
                s.replicate = s.region == Region::SCALAR;
                s.region = Region::new(4, 4, 1);
            }
            if opcode == O::Math && !float {
                (s.abs, s.negate) = (false, false);
            }
        }
    }
    if opcode == O::Mad {
        i.access_mode = AccessMode::Align16;
        i.sources.iter_mut().for_each(|s| {
            if let Operand::Immediate { .. } = s {
                *s = Operand::Register(Source::new(Register::Grf(40), 0, Region::new(4, 4, 1), Type::F));
            }
        });
    }
    let ty = match opcode {
        O::Mov if float => random.pick(&[Type::F, Type::D, Type::UD, Type::W, Type::UQ, Type::HF]),
        O::Mov => random.pick(&[
            Type::F,
            Type::UB,
            Type::B,
            Type::UW,
            Type::W,
            Type::UD,
            Type::D,
            Type::UQ,
            Type::Q,
        ]),
        O::Math if !float => random.pick(&[Type::D, Type::UD]),
        O::Cmp => random.pick(&[Type::D, Type::UD]),
        O::Sel if !float => first,
        _ if float => Type::F,
        _ => random.pick(&INTEGERS),
    };
    i.destination = Destination::new(Register::Grf(64), 0, ty);
    if random.one_in(5) && opcode != O::Mad {
        i.destination.hstride = 2;
    }
    if opcode == O::Math {
        i.extra = Extra::Math(if float {
            random.pick(&[
                MathFunction::Inv,
                MathFunction::Sqrt,
                MathFunction::Rsq,
                MathFunction::Log,
                MathFunction::Exp,
                MathFunction::Sin,
                MathFunction::Fdiv,
                MathFunction::Pow,
            ])
        } else {
            random.pick(&[MathFunction::IntDivQuotient, MathFunction::IntDivRemainder])
        });
    }
    let conditions = [
        Condition::Equal,
        Condition::NotEqual,
        Condition::Greater,
        Condition::GreaterEqual,
        Condition::Less,
        Condition::LessEqual,
    ];
    if opcode == O::Cmp || random.one_in(4) && opcode != O::Math {
        i.condition = Some(random.pick(&conditions));
    }
    if opcode == O::Sel && i.condition.is_none() {
        i.predicate = Some(Predicate { control: PredicateControl::Normal, inverse: random.one_in(2) });
    }
    i.saturate = random.one_in(6) && !logic && opcode != O::Cmp;
    i
}

fn lower(instruction: &Instruction) -> Option<Op> {
    let found = BTreeMap::from([(0, Ok((16, *instruction)))]);
    let indices = rustc_hash::FxHashMap::from_iter([(0, 0)]);
    let lowering = Lowering {
        generation: Generation::Gen9,
        atom: false,
        strict: false,
        found: &found,
        indices: &indices,
    };
    lowering.op(0, &found[&0]).ok()
}

fn thread(random: &mut Random, cr0: u32) -> Thread {
    let mut thread = Thread::default();
    for n in 0..GRF_BYTES / 4 {
        set_dword(&mut thread.file, n * 4, random.dword());
    }
    set_dword(&mut thread.file, FLAG, random.next_u32());
    set_dword(&mut thread.file, CONTROL, cr0);
    thread.float = FloatMode::of_control(cr0);
    thread
}

/// The first difference between the registers, other than in NaNs.
fn difference(a: &Thread, b: &Thread, ty: Type) -> Option<String> {
    let nan = |x: u32| ty == Type::F && f32::from_bits(x).is_nan();
    let half_nan = |x: u32| ty == Type::HF && (x & 0x7fff > 0x7c00 || x >> 16 & 0x7fff > 0x7c00);
    (0..a.file.len() / 4).find_map(|n| {
        let [x, y] = [a, b].map(|t| crate::file::dword(&t.file, n * 4));
        let same = x == y || nan(x) && nan(y) || half_nan(x) && half_nan(y);
        (!same).then(|| format!("byte {}: fast {x:#x}, general {y:#x}", n * 4))
    })
}

#[test]
fn fast_paths_agree_with_the_general_path() {
    let mut random = Random::new(1);
    let mut fast = 0;
    let mut failures = Vec::new();
    for round in 0..60_000 {
        let instruction = instruction(&mut random);
        let Some(op) = lower(&instruction) else { continue };
        let Action::Execute(execute) = op.action else { continue };
        if std::ptr::fn_addr_eq(execute, general::execute as Execute) {
            continue;
        }
        fast += 1;
        let cr0 = random.pick(&[0x4c0, 0, 0x4d0]);
        let mut a = thread(&mut random, cr0);
        let mut b = Thread { file: a.file.clone(), float: a.float, ..Thread::default() };
        let mask =
            full_mask(usize::from(op.lanes)) & if random.one_in(2) { u32::MAX } else { random.next_u32() };
        execute(&mut a, &op, mask).unwrap();
        general::execute(&mut b, &op, mask).unwrap();
        if let Some(text) = difference(&a, &b, op.dst.ty) {
            let line = gencl_isa::print(Generation::Gen9, &instruction);
            failures.push(format!("round {round}, mask {mask:#x}, cr0 {cr0:#x}: {line}\n{text}"));
        }
    }
    let shown = &failures[..failures.len().min(20)];
    assert!(failures.is_empty(), "{} of {fast} differ\n{}", failures.len(), shown.join("\n"));
    assert!(fast > 20_000, "only {fast} instructions have a fast path");
}

//! Cross-lane operations on all types, in full and partial threads, where all lanes are active and where some
//! have left.

use super::{TYPES, code, disassemble, execute, lowered_by, simd};
use crate::ir::interpret::{Launch, Memory, Value, run};
use crate::ir::passes::{ControlFlow, Strategy};
use crate::ir::{
    BinaryOp, Builder, Condition, CrossLane, Family, Function, GroupOp, Input, Op, Reg, Space, Type,
    signature,
};
use gencl_program::{Data, PushSource};

/// The last thread of 16 lanes has 13, that of 8 lanes 5, and the one of 32 lanes is partial.
const ITEMS: u32 = 29;

/// The lanes that are active, and the kind of index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaneCase {
    /// All lanes.
    All,
    /// Lanes with odd numbers.
    Odd,
    /// All, with an index that is the same for all.
    UniformIndex,
    /// All, with an index that is a constant.
    ConstantIndex,
}

fn element(b: &mut Builder, argument: u32, id: Reg) -> Reg {
    let base = b.input(Input::Push(PushSource::Pointer { argument }), Family::Qword);
    let size = b.immediate(Type::U32, 8);
    let at = b.binary(BinaryOp::Mul, Type::U32, id, size);
    let at = b.convert(Type::U64, Type::U32, at);
    b.binary(BinaryOp::Add, Type::U64, base, at)
}

/// out[id] = the operation on in[id] of all lanes.
fn kernel(op: CrossLane, shape: LaneCase) -> Function {
    let mut function = Function::new("across");
    let entry = function.entry();
    let mut b = Builder::new(&mut function, entry);
    let word = b.input(Input::LocalId(0), Family::Word);
    let id = b.convert(Type::U32, Type::U16, word);
    let source = element(&mut b, 0, id);
    let target = element(&mut b, 1, id);
    let (ty, result) = match op {
        CrossLane::Ballot => (Type::U32, Type::U32),
        CrossLane::Shuffle(ty) | CrossLane::Reduce(_, ty) | CrossLane::Scan { ty, .. } => (ty, ty),
    };
    let value = b.load(Space::Global, ty, source);
    let one = b.immediate(Type::U32, 1);
    let lane = b.input(Input::LaneId, Family::Word);
    let lane = b.convert(Type::U32, Type::U16, lane);
    let (inside, end) = (b.new_block(), b.new_block());
    if shape == LaneCase::Odd {
        let odd = b.binary(BinaryOp::And, Type::U32, id, one);
        let is_odd = b.compare(Condition::Equal, Type::U32, odd, one);
        b.branch(is_odd, inside, end);
    } else {
        b.jump(inside);
    }
    b.switch_to(inside);
    let mut sources = vec![value];
    match op {
        CrossLane::Ballot => {
            let three = b.immediate(Type::U32, 3);
            let low = b.binary(BinaryOp::And, Type::U32, value, three);
            sources = vec![b.compare(Condition::NotEqual, Type::U32, low, one)];
        }
        CrossLane::Shuffle(_) => sources.push(match shape {
            // The neighbour two below, or itself: active whenever this lane is.
            LaneCase::All | LaneCase::Odd => {
                let two = b.immediate(Type::U32, 2);
                let less = b.binary(BinaryOp::Sub, Type::U32, lane, two);
                let has = b.compare(Condition::GreaterEqual, Type::U32, lane, two);
                b.select(Type::U32, has, less, lane)
            }
            LaneCase::UniformIndex => {
                let count = b.input(Input::Push(PushSource::LocalSize(0)), Family::Dword);
                let three = b.immediate(Type::U32, 3);
                b.binary(BinaryOp::And, Type::U32, count, three)
            }
            LaneCase::ConstantIndex => b.immediate(Type::U32, 18),
        }),
        CrossLane::Reduce(..) | CrossLane::Scan { .. } => {}
    }
    let across = b.function.new_register(result.family());
    b.emit(Op::CrossLane(op), &[across], &sources);
    b.store(Space::Global, result, target, across);
    b.jump(end);
    b.switch_to(end);
    b.ret();
    function
}

fn check(op: CrossLane, shape: LaneCase) {
    let function = kernel(op, shape);
    let strategies = ControlFlow::NAMES.iter().map(|&(name, by)| (name, Strategy::from(by)));
    let halves = Strategy { lower_qwords: true, ..Strategy::default() };
    for (strategy, by) in strategies.chain([("halves of quadwords", halves)]) {
        let lowered = lowered_by(function.clone(), by);
        for lanes in [32, 16, 8] {
            let what = format!("{op:?} of {shape:?} at {lanes} lanes, {strategy}");
            let compiled = code(&lowered, simd(lanes));
            if shape == LaneCase::All && lanes == 16 && by == Strategy::default() {
                disassemble(&compiled);
            }
            let mut memory = Memory::default();
            let mut launch = Launch::linear(lanes, ITEMS, ITEMS);
            // Small numbers as floats of any width, mixed patterns as integers: exponents are those of 2 to
            // 4.
            let element = |i: u32| {
                let half = 0x4000 | u64::from(i * 0x35) & 0x3ff;
                [half, half << 16 | half, half << 48 | half << 16 | half][i as usize % 3]
                    ^ u64::from(i % 5) << 15
            };
            let bytes: Vec<u8> = (0..ITEMS).flat_map(|i| element(i).to_le_bytes()).collect();
            launch.arguments = vec![
                Value::Address(memory.add(bytes)),
                Value::Address(memory.add(vec![0x5a; 8 * ITEMS as usize])),
            ];
            let mut meant = memory.clone();
            run(&function, &Data::default(), &launch, &mut meant).unwrap_or_else(|t| panic!("{what}: {t}"));
            let mut interpreted = memory.clone();
            run(&lowered, &Data::default(), &launch, &mut interpreted)
                .unwrap_or_else(|t| panic!("{what}: {t}"));
            execute::execute(&compiled, &launch, &mut memory)
                .unwrap_or_else(|f| panic!("{what}: {f}\n{}", compiled.listing()));
            let Value::Address(output) = launch.arguments[1] else { continue };
            assert_eq!(meant.buffer(output), interpreted.buffer(output), "{what}: lowered");
            assert!(
                meant.buffer(output) == memory.buffer(output),
                "{what}\n{:x?}\n{:x?}\n{}",
                meant.buffer(output),
                memory.buffer(output),
                compiled.listing()
            );
        }
    }
}

#[test]
fn shuffles() {
    for ty in TYPES {
        for shape in [LaneCase::All, LaneCase::Odd, LaneCase::UniformIndex, LaneCase::ConstantIndex] {
            check(CrossLane::Shuffle(ty), shape);
        }
    }
}

#[test]
fn ballots() {
    for shape in [LaneCase::All, LaneCase::Odd] {
        check(CrossLane::Ballot, shape);
    }
}

#[test]
fn reductions_and_scans() {
    for ty in TYPES {
        for &op in GroupOp::ALL {
            let all = [
                CrossLane::Reduce(op, ty),
                CrossLane::Scan { op, ty, exclusive: false },
                CrossLane::Scan { op, ty, exclusive: true },
            ];
            for across in all {
                if signature::check_attributes(&Op::CrossLane(across)).is_ok() {
                    check(across, LaneCase::All);
                    check(across, LaneCase::Odd);
                }
            }
        }
    }
}

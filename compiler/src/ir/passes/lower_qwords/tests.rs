//! Every operation on 64-bit integers, before and after the pass, in the interpreter.

use crate::ir::interpret::{Launch, Memory, Value, run};
use crate::ir::passes::{ControlFlow, Strategy, Unobserved, find_pass, run_pass, standard};
use crate::ir::random::{INPUT_ELEMENTS, OUTPUT_ELEMENTS, random_kernel, random_structured_kernel, widen};
use crate::ir::text::{parse, print};
use crate::ir::{
    BinaryOp, Builder, Condition, CrossLane, Family, Function, GroupOp, Input, Op, Reg, Rounding, Space,
    TernaryOp, Type, UnaryOp, Unit, signature,
};
use gencl_program::{Data, PushSource};
use gencl_testing::Random;
use proptest::prelude::*;

const ITEMS: u32 = 150;

const ROUNDINGS: [Rounding; 5] =
    [Rounding::Default, Rounding::NearestEven, Rounding::TowardZero, Rounding::Up, Rounding::Down];
const OTHERS: [Type; 8] =
    [Type::S8, Type::U8, Type::S16, Type::U16, Type::S32, Type::U32, Type::F16, Type::F32];

/// An operation, and the types of its sources and its result; of a truth value, that of what it is compared
/// from or selects.
struct Case {
    op: Op,
    sources: Vec<Type>,
    result: Type,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |op: Op, sources: &[Type], result: Type| {
        if signature::check_attributes(&op).is_ok() {
            cases.push(Case { op, sources: sources.to_vec(), result });
        }
    };
    for ty in [Type::S64, Type::U64] {
        for &op in UnaryOp::ALL {
            add(Op::Unary(op, ty), &[ty], ty);
        }
        for &op in BinaryOp::ALL.iter().filter(|op| !matches!(op, BinaryOp::Div | BinaryOp::Rem)) {
            add(Op::Binary(op, ty), &[ty, ty], ty);
        }
        for &op in TernaryOp::ALL {
            add(Op::Ternary(op, ty), &[ty, ty, ty], ty);
        }
        for &condition in Condition::ALL {
            add(Op::Compare(condition, ty), &[ty, ty], Type::U32);
        }
        for saturate in [false, true] {
            for other in [Type::S64, Type::U64] {
                add(Op::Convert { to: ty, from: other, rounding: Rounding::Default, saturate }, &[other], ty);
            }
            for other in OTHERS {
                for rounding in ROUNDINGS {
                    // A float that is out of range may become anything without saturation.
                    if saturate || !other.is_float() {
                        add(Op::Convert { to: ty, from: other, rounding, saturate }, &[other], ty);
                    }
                    add(Op::Convert { to: other, from: ty, rounding, saturate }, &[ty], other);
                }
            }
        }
        for &op in GroupOp::ALL {
            add(Op::CrossLane(CrossLane::Reduce(op, ty)), &[ty], ty);
            for exclusive in [false, true] {
                add(Op::CrossLane(CrossLane::Scan { op, ty, exclusive }), &[ty], ty);
            }
        }
        add(Op::CrossLane(CrossLane::Shuffle(ty)), &[ty, Type::U32], ty);
    }
    add(Op::Unary(UnaryOp::Neg, Type::F64), &[Type::F64], Type::F64);
    add(Op::Unary(UnaryOp::Abs, Type::F64), &[Type::F64], Type::F64);
    cases
}

/// Limits of all halves, numbers of any length, and neighbours of powers of two.
fn sample(ty: Type, index: u64) -> u64 {
    const EDGES: [u64; 16] = [
        0,
        1,
        2,
        u64::MAX,
        u64::MAX - 1,
        1 << 63,
        (1 << 63) - 1,
        (1 << 63) + 1,
        0xffff_ffff,
        0x1_0000_0000,
        0xffff_ffff_0000_0000,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff_8000_0000,
        0xffff_ffff_7fff_ffff,
        0x0010_0000_8000_0001,
    ];
    let mut generator = Random::new(index);
    let [random, any] = [(); 2].map(|()| generator.next_u64());
    let bits = match random % 4 {
        0 => EDGES[(random >> 8) as usize % EDGES.len()],
        1 => any >> (random >> 8 & 63),
        2 => (1u64 << (random >> 8 & 63)).wrapping_add((random >> 16 & 3).wrapping_sub(2)),
        _ => any,
    };
    match ty {
        // Of all sizes up to those beyond 64 bits.
        Type::F32 if random & 0x80 == 0 => {
            (bits as i64 as f32 * [1.0, 0.5, 0.25, 4.0][random as usize % 4]).to_bits().into()
        }
        Type::F64 => (bits as i64 as f64).to_bits(),
        _ => bits & ty.mask(),
    }
}

fn size(ty: Type) -> u64 {
    u64::from(ty.family().bytes())
}

/// out[id] = op(a[id], b[id], c[id]); with `constant`, the last source is that.
fn kernel(case: &Case, constant: Option<u64>) -> Function {
    let mut function = Function::new("operation");
    let entry = function.entry();
    let mut b = Builder::new(&mut function, entry);
    let id = b.input(Input::LocalId(0), Family::Word);
    let id = b.convert(Type::U64, Type::U16, id);
    let address = |b: &mut Builder, argument: u32, ty: Type| {
        let base = b.input(Input::Push(PushSource::Pointer { argument }), Family::Qword);
        let bytes = b.immediate(Type::U64, size(ty));
        let offset = b.binary(BinaryOp::Mul, Type::U64, id, bytes);
        b.binary(BinaryOp::Add, Type::U64, base, offset)
    };
    let mut sources: Vec<Reg> = Vec::new();
    for (index, &ty) in case.sources.iter().enumerate() {
        let constant = constant.filter(|_| index + 1 == case.sources.len());
        sources.push(match constant {
            Some(bits) => b.immediate(ty, bits),
            None => {
                let address = address(&mut b, index as u32, ty);
                b.load(Space::Global, ty, address)
            }
        });
    }
    let result = if let Op::Compare(condition, ty) = case.op {
        let truth = b.compare(condition, ty, sources[0], sources[1]);
        let chosen = b.select(ty, truth, sources[0], sources[1]);
        let address = address(&mut b, 4, ty);
        b.store(Space::Global, ty, address, chosen);
        b.convert(Type::U32, Type::Bool, truth)
    } else {
        // The result takes the place of a source where it can.
        let dst = match case.sources.first() {
            Some(ty) if *ty == case.result && constant.is_none() => sources[0],
            _ => b.function.new_register(case.result.family()),
        };
        b.emit(case.op, &[dst], &sources);
        dst
    };
    let out = address(&mut b, 3, case.result);
    b.store(Space::Global, case.result, out, result);
    b.ret();
    function
}

/// What a kernel leaves in its two output buffers.
fn outputs(function: &Function, case: &Case) -> Vec<Vec<u8>> {
    let mut memory = Memory::default();
    let mut launch = Launch::linear(16, ITEMS, ITEMS);
    for argument in 0..3u64 {
        let ty = case.sources.get(argument as usize).copied().unwrap_or(Type::U8);
        let value = |item: u64| sample(ty, item * 3 + argument).to_le_bytes();
        let bytes =
            (0..u64::from(ITEMS)).flat_map(|item| value(item)[..size(ty) as usize].to_vec()).collect();
        launch.arguments.push(Value::Address(memory.add(bytes)));
    }
    let out = [0, 1].map(|_| memory.add(vec![0; 8 * ITEMS as usize]));
    launch.arguments.extend(out.map(Value::Address));
    run(function, &Data::default(), &launch, &mut memory).expect("it runs");
    out.iter().filter_map(|&address| memory.remove(address)).collect()
}

/// The function after this pass alone, and after all.
fn lowered(function: &Function) -> [Function; 2] {
    let mut alone = function.clone();
    let pass = find_pass("lower_qwords").expect("it is there");
    run_pass(pass, &mut alone, &mut Unobserved).expect("it is valid");
    let mut unit = Unit { functions: vec![function.clone()], ..Unit::default() };
    let strategy = Strategy { lower_qwords: true, ..Strategy::default() };
    standard(&mut unit, strategy, &mut Unobserved).expect("it is valid");
    [alone, unit.functions.remove(0)]
}

fn text(function: &Function) -> String {
    print(&Unit { functions: vec![function.clone()], ..Unit::default() })
}

/// Whether 64-bit addresses are computed by such operations.
fn joins(op: &Op) -> bool {
    match *op {
        Op::Binary(op, Type::U64) => matches!(op, BinaryOp::Or | BinaryOp::Shl | BinaryOp::Shr),
        Op::Convert { to, from, .. } => matches!((to, from), (Type::U64, Type::U32) | (Type::U32, Type::U64)),
        _ => false,
    }
}

fn check(case: &Case, constant: Option<u64>) {
    let function = kernel(case, constant);
    let expected = outputs(&function, case);
    for lowered in lowered(&function) {
        let remains = lowered.instructions().any(|i| i.op == case.op);
        assert!(joins(&case.op) || !remains, "{:?} is still there\n{}", case.op, text(&lowered));
        let found = outputs(&lowered, case);
        if found == expected {
            assert_eq!(
                parse(&text(&lowered)).map(|unit| text(&unit.functions[0])).ok(),
                Some(text(&lowered))
            );
            continue;
        }
        let bytes = size(case.result) as usize;
        let item = (0..ITEMS as usize)
            .find(|i| found[0][i * bytes..][..bytes] != expected[0][i * bytes..][..bytes])
            .unwrap_or(0);
        let sources: Vec<u64> = (0u64..)
            .zip(&case.sources)
            .map(|(argument, &ty)| sample(ty, item as u64 * 3 + argument))
            .collect();
        panic!(
            "{:?} of {sources:x?}, {constant:x?} as the last: {:x?} instead of {:x?}\n{}",
            case.op,
            &found[0][item * bytes..][..bytes],
            &expected[0][item * bytes..][..bytes],
            text(&lowered)
        );
    }
}

#[test]
fn operations_on_halves_give_what_those_on_quadwords_give() {
    let cases = cases();
    assert!(cases.len() > 250, "{}", cases.len());
    for case in &cases {
        check(case, None);
    }
}

#[test]
fn constants_are_as_good_as_registers() {
    for case in cases().iter().filter(|case| case.sources.len() == 2) {
        for constant in [0, 1, 5, 31, 32, 33, 63, 64, 1 << 32, 1 << 63, u64::MAX] {
            let constant = constant & case.sources[1].mask();
            check(case, Some(constant));
        }
    }
}

fn random_output(function: &Function, width: u32) -> Vec<u8> {
    let mut memory = Memory::default();
    let input = (0..INPUT_ELEMENTS).flat_map(|i| (i.wrapping_mul(0x0100_0193) >> 3).to_le_bytes()).collect();
    let input = memory.add(input);
    let output = memory.add(vec![0; 4 + (2 * 21 * OUTPUT_ELEMENTS * 4) as usize]);
    let mut launch = Launch::linear(width, 42, 21);
    launch.arguments = vec![Value::Address(input), Value::Address(output)];
    launch.step_limit = 2_000_000;
    run(function, &Data::default(), &launch, &mut memory).expect("random kernels do nothing wrong");
    memory.remove(output).expect("the buffer is there")
}

fn check_random(mut function: Function) {
    function.private_size = 16;
    let expected = random_output(&function, 16);
    widen(&mut function);
    assert_eq!(random_output(&function, 16), expected);
    for &(strategy, control_flow) in ControlFlow::NAMES {
        let mut unit = Unit { functions: vec![function.clone()], ..Unit::default() };
        let lowering = Strategy { control_flow, lower_qwords: true, ..Strategy::default() };
        if let Err(error) = standard(&mut unit, lowering, &mut Unobserved) {
            panic!("{strategy}: {error}\n{}", print(&unit));
        }
        assert!(
            random_output(&unit.functions[0], 16) == expected,
            "{strategy}\n{}\n{}",
            text(&function),
            print(&unit)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_kernels_keep_what_they_do(
        blocks in 1usize..12,
        choices in proptest::collection::vec(0u32..1000, 20..400),
    ) {
        check_random(random_kernel(blocks, &choices));
    }

    #[test]
    fn random_constructs_keep_what_they_do(
        items in 1usize..25,
        choices in proptest::collection::vec(0u32..1000, 20..400),
    ) {
        check_random(random_structured_kernel(items, &choices));
    }
}

//! Every operation of the IR on every type, with operands that are constant, uniform or per-lane; the results
//! must be those of the IR's interpreter.

use super::{
    Options, TYPES, check_narrow, code, code_for, disassemble, execute, lowered, lowered_by, memory_of,
    narrow, simd, skylake, strategy, with_narrow_pointers, without_qwords,
};
use crate::codegen::compile;
use crate::ir::interpret::{Launch, Memory, Value, run};
use crate::ir::passes::{ControlFlow, Strategy};
use crate::ir::{
    BinaryOp, Builder, Condition, Family, Function, Input, Op, Reg, Rounding, Space, TernaryOp, Type,
    UnaryOp, signature,
};
use gencl_device_info::{DeviceInfo, Execution};
use gencl_program::{Data, PushSource};

const LANES: u32 = 21;

/// The kind of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OperandForm {
    Lanes,
    Uniform,
    Constant,
}

fn bytes(ty: Type) -> u64 {
    match ty.family() {
        Family::Bool | Family::Byte => 1,
        Family::Word => 2,
        Family::Dword => 4,
        Family::Qword => 8,
    }
}

/// Interesting values of a type: limits, small ones, halves, patterns.
fn sample(ty: Type, index: u32) -> u64 {
    let i = u64::from(index);
    match ty {
        Type::F32 => u64::from(
            [
                0.0f32, 1.0, -1.5, 2.5, -0.0, 3.5e5, -7.75, 1.0e-3, 255.5, 127.49, -128.5, 65535.9, 3.0e9,
                -2.0e9,
            ][index as usize % 14]
                .to_bits(),
        ),
        Type::F64 => {
            [0.0f64, 1.0, -1.5, 2.5, -0.0, 3.5e5, -7.75, 255.5, 3.0e9, -2.0e9][index as usize % 10].to_bits()
        }
        Type::F16 => [0x0000u64, 0x3c00, 0xbe00, 0x4100, 0x8000, 0x5bf8, 0xc7c0][index as usize % 7],
        _ => {
            let all = [
                0,
                1,
                2,
                3,
                u64::MAX,
                0x80,
                0x7f,
                0x8000,
                0x7fff,
                0x8000_0000,
                0x7fff_ffff,
                1 << 63,
                i64::MAX as u64,
                0x0123_4567_89ab_cdef,
                0xfedc_ba98_7654_3210,
                0xffff_ffff,
                0x1_0000_0000,
                37,
                1000,
                0xdead_beef_0bad_f00d,
                77,
            ];
            all[(i % all.len() as u64) as usize]
        }
    }
}

struct Case {
    name: String,
    op: Op,
    sources: Vec<Type>,
    result: Type,
}

fn cases() -> Vec<Case> {
    let mut list = Vec::new();
    let mut add = |op: Op, sources: &[Type], result: Type| {
        if signature::check_attributes(&op).is_ok() {
            list.push(Case { name: format!("{op:?}"), op, sources: sources.to_vec(), result });
        }
    };
    use UnaryOp::{
        Abs, BitReverse, Canonicalize, Ceil, Floor, LeadingZeros, Mov, Neg, Not, PopCount, RoundEven,
        TrailingZeros, Trunc,
    };
    for ty in TYPES {
        for op in [
            Mov,
            Not,
            Neg,
            Abs,
            Floor,
            Ceil,
            Trunc,
            RoundEven,
            LeadingZeros,
            TrailingZeros,
            PopCount,
            BitReverse,
            Canonicalize,
        ] {
            add(Op::Unary(op, ty), &[ty], ty);
        }
        use BinaryOp::{
            Add, AddSat, And, Avg, Div, Max, Min, Mul, MulHigh, Or, Rem, Shl, Shr, Sub, SubSat, Xor,
        };
        for op in [Add, Sub, Mul, MulHigh, Div, Rem, Shl, Shr, And, Or, Xor, Min, Max, AddSat, SubSat, Avg] {
            add(Op::Binary(op, ty), &[ty, ty], ty);
        }
        for op in [TernaryOp::Mad, TernaryOp::BitSelect] {
            add(Op::Ternary(op, ty), &[ty, ty, ty], ty);
        }
        for from in TYPES {
            for saturate in [false, true] {
                for rounding in [
                    Rounding::Default,
                    Rounding::NearestEven,
                    Rounding::TowardZero,
                    Rounding::Up,
                    Rounding::Down,
                ] {
                    let inexact = ty.is_float() || from.is_float();
                    // Out of range without saturation the result is undefined.
                    let defined = saturate || !from.is_float() || ty.is_float();
                    if defined && (inexact || rounding == Rounding::Default) && !(saturate && ty.is_float()) {
                        add(Op::Convert { to: ty, from, rounding, saturate }, &[from], ty);
                    }
                }
            }
        }
    }
    list
}

/// out[global id] = op(a[global id], b[global id], c[global id])
fn kernel(case: &Case, form: OperandForm, simple: bool) -> Function {
    let mut function = Function::new("operation");
    let entry = function.entry();
    let mut b = Builder::new(&mut function, entry);
    let local = b.input(Input::LocalId(0), Family::Word);
    let id = b.convert(Type::U64, Type::U16, local);
    let pointer = |b: &mut Builder, argument: u32, index: Option<Reg>, ty: Type| {
        let base = b.input(Input::Push(PushSource::Pointer { argument }), Family::Qword);
        let Some(index) = index else { return base };
        let size = b.immediate(Type::U64, bytes(ty));
        let offset = b.binary(BinaryOp::Mul, Type::U64, index, size);
        b.binary(BinaryOp::Add, Type::U64, base, offset)
    };
    let mut sources = Vec::new();
    for (index, ty) in case.sources.iter().enumerate() {
        let last = index + 1 == case.sources.len();
        let form = if last || !simple { form } else { OperandForm::Lanes };
        sources.push(match form {
            OperandForm::Constant => b.immediate(*ty, sample(*ty, 5 + index as u32) & ty.mask()),
            OperandForm::Lanes | OperandForm::Uniform => {
                let id = (form == OperandForm::Lanes).then_some(id);
                let address = pointer(&mut b, index as u32, id, *ty);
                b.load(Space::Global, *ty, address)
            }
        });
    }
    let result = b.immediate(case.result, 0);
    b.emit(case.op, &[result], &sources);
    let address = pointer(&mut b, 3, Some(id), case.result);
    b.store(Space::Global, case.result, address, result);
    b.ret();
    function
}

fn memory(case: &Case, target: &DeviceInfo) -> (Launch, Memory) {
    let mut memory = memory_of(target);
    let mut launch = Launch::linear(16, LANES, LANES);
    for index in 0..3u32 {
        let ty = case.sources.get(index as usize).copied().unwrap_or(Type::U8);
        let mut data = Vec::new();
        for lane in 0..LANES {
            // Divisors are not zero.
            let zero_free = matches!(case.op, Op::Binary(BinaryOp::Div | BinaryOp::Rem, _)) && index == 1;
            let mut value = sample(ty, lane * (index + 1) * 5 + index) & ty.mask();
            if zero_free && value == 0 {
                value = 3;
            }
            data.extend_from_slice(&value.to_le_bytes()[..bytes(ty) as usize]);
        }
        launch.arguments.push(Value::Address(memory.add(data)));
    }
    launch.arguments.push(Value::Address(memory.add(vec![0xcc; (LANES * 8) as usize])));
    (launch, memory)
}

/// The operations that the target does not support.
fn refused(case: &Case) -> bool {
    let wide = |t: Type| matches!(t, Type::S64 | Type::U64);
    match case.op {
        Op::Binary(BinaryOp::Div | BinaryOp::Rem, ty) => wide(ty),
        Op::Binary(BinaryOp::Avg, ty) => wide(ty),
        _ => false,
    }
}

/// Whether an operation has an operand of 64-bit integers.
fn is_wide(case: &Case) -> bool {
    case.sources.iter().chain([&case.result]).any(|ty| matches!(ty, Type::S64 | Type::U64))
}

#[test]
fn every_operation_on_every_type() {
    check(cases(), Strategy::default(), skylake(), refused);
}

#[test]
fn every_operation_on_halves_of_quadwords() {
    let divides = |case: &Case| matches!(case.op, Op::Binary(BinaryOp::Div | BinaryOp::Rem, _));
    let cases = cases().into_iter().filter(is_wide).collect();
    check(cases, Strategy { lower_qwords: true, ..Strategy::default() }, skylake(), divides);
}

#[test]
fn every_operation_on_narrower_machines() {
    check(cases(), Strategy::default(), &narrow(), refused);
}

/// Whether it is an operation on doubles that the target does not have, or arithmetic on half floats, which
/// Haswell and Ivy Bridge only convert.
fn is_beyond(case: &Case, target: &DeviceInfo) -> bool {
    let mut types = case.sources.iter().chain([&case.result]);
    let converts = matches!(case.op, Op::Convert { .. } | Op::Unary(UnaryOp::Mov, _));
    let double = target.execution.float64;
    types.any(|&ty| ty == Type::F64 && !double || ty == Type::F16 && !converts)
}

#[test]
fn every_operation_without_quadwords() {
    let divides = |case: &Case| matches!(case.op, Op::Binary(BinaryOp::Div | BinaryOp::Rem, ty) if ty.family() == Family::Qword);
    for target in without_qwords() {
        let cases = cases().into_iter().filter(|case| !is_beyond(case, target)).collect();
        check(cases, strategy(target, ControlFlow::default()), target, divides);
    }
}

fn check(cases: Vec<Case>, strategy: Strategy, target: &DeviceInfo, refused: impl Fn(&Case) -> bool) {
    let mut faults = Vec::new();
    let mut count = 0;
    for case in cases {
        for (form, simple) in [
            (OperandForm::Lanes, true),
            (OperandForm::Uniform, true),
            (OperandForm::Constant, true),
            (OperandForm::Uniform, false),
            (OperandForm::Constant, false),
        ] {
            let mut function = kernel(&case, form, simple);
            if !target.execution.int64 {
                with_narrow_pointers(&mut function);
            }
            let function = lowered_by(function, strategy);
            for &lanes in target.execution.simd_widths {
                let what =
                    format!("{} {form:?} {simple} at {lanes} lanes on {}", case.name, target.family.name());
                if refused(&case) {
                    let error = compile(&function, target, &simd(lanes));
                    match error {
                        Err(e) if e.what.contains("not supported") => {}
                        Err(e) => faults.push(format!("{what}: {e}")),
                        // Operations on constants are folded.
                        Ok(_) if form == OperandForm::Constant => {}
                        Ok(_) => faults.push(format!("{what}: not refused")),
                    }
                    continue;
                }
                let compiled = match compile(&function, target, &Options { check: true, ..simd(lanes) }) {
                    Ok(compiled) => compiled,
                    Err(e) => {
                        faults.push(format!("{what}: {e}"));
                        continue;
                    }
                };
                if *target == narrow()
                    && let Err(fault) = check_narrow(&compiled)
                {
                    faults.push(format!("{what}: {fault}"));
                    continue;
                }
                count += 1;
                let (launch, mut expected) = memory(&case, target);
                let mut found = expected.clone();
                if let Err(trap) = run(&function, &Data::default(), &launch, &mut expected) {
                    faults.push(format!("{what}: interpreter: {trap}"));
                    continue;
                }
                if let Err(fault) = execute::execute(&compiled, &launch, &mut found) {
                    faults.push(format!("{what}: {fault}"));
                    continue;
                }
                let Value::Address(out) = launch.arguments[3] else { continue };
                let (expected, found) = (expected.buffer(out), found.buffer(out));
                if expected != found {
                    faults.push(format!("{what}:\n  expected {expected:x?}\n  found    {found:x?}"));
                }
            }
        }
    }
    assert!(count > 1000, "{count} kernels");
    assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn quadwords_are_refused_where_there_are_none() {
    let target =
        DeviceInfo { execution: Execution { int64: false, ..skylake().execution }, ..skylake().clone() };
    let case = Case {
        name: String::new(),
        op: Op::Unary(UnaryOp::Not, Type::U32),
        sources: vec![Type::U32],
        result: Type::U32,
    };
    let function = lowered(kernel(&case, OperandForm::Lanes, true));
    let error = compile(&function, &target, &simd(16)).expect_err("its addresses are quadwords");
    assert!(error.what.contains("64 bits"), "{error}");
}

#[test]
fn the_vendor_reads_every_operation() {
    for (number, case) in cases().iter().enumerate() {
        if refused(case) || number % 7 != 0 {
            continue;
        }
        let function = lowered(kernel(case, OperandForm::Lanes, true));
        disassemble(&code(&function, simd(16)));
    }
}

#[test]
fn the_vendor_reads_operations_without_quadwords() {
    let target = gencl_device_info::Family::Hsw.info();
    for case in cases().iter().filter(|case| !is_beyond(case, target) && !refused(case)).step_by(7) {
        let mut function = kernel(case, OperandForm::Lanes, true);
        with_narrow_pointers(&mut function);
        let function = lowered_by(function, strategy(target, ControlFlow::default()));
        disassemble(&code_for(target, &function, simd(16)));
    }
}

#[test]
fn conditions_and_selections() {
    use Condition::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    let mut faults = Vec::new();
    for ty in TYPES {
        for condition in [Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual] {
            let case = Case {
                name: format!("{condition:?} {ty:?}"),
                op: Op::Return,
                sources: vec![ty, ty],
                result: ty,
            };
            let mut function = Function::new("select");
            let entry = function.entry();
            let mut b = Builder::new(&mut function, entry);
            let local = b.input(Input::LocalId(0), Family::Word);
            let id = b.convert(Type::U64, Type::U16, local);
            let size = b.immediate(Type::U64, bytes(ty));
            let offset = b.binary(BinaryOp::Mul, Type::U64, id, size);
            let mut addresses = Vec::new();
            for argument in [0, 1, 3] {
                let base = b.input(Input::Push(PushSource::Pointer { argument }), Family::Qword);
                addresses.push(b.binary(BinaryOp::Add, Type::U64, base, offset));
            }
            let x = b.load(Space::Global, ty, addresses[0]);
            let y = b.load(Space::Global, ty, addresses[1]);
            let flag = b.compare(condition, ty, x, y);
            let constant = b.immediate(ty, sample(ty, 3) & ty.mask());
            let z = b.select(ty, flag, constant, y);
            b.store(Space::Global, ty, addresses[2], z);
            b.ret();
            let function = lowered(function);
            for lanes in [8, 16, 32] {
                let compiled = code(&function, simd(lanes));
                let (launch, mut expected) = memory(&case, skylake());
                let mut found = expected.clone();
                run(&function, &Data::default(), &launch, &mut expected).expect("it runs");
                if let Err(fault) = execute::execute(&compiled, &launch, &mut found) {
                    faults.push(format!("{}: {fault}", case.name));
                } else if expected != found {
                    faults.push(format!("{} at {lanes} lanes differs", case.name));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

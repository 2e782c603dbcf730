//! Loads and stores of all element sizes, counts, alignments and address spaces; atomics; barriers.

use super::{code, disassemble, execute, lowered, simd};
use crate::codegen::select::granule;
use crate::ir::interpret::{Launch, Memory, Value, run};
use crate::ir::{AtomicOp, BinaryOp, Builder, Family, Function, Input, Op, Reg, Space, Type};
use gencl_program::{Data, PushSource};

const LANES: u32 = 21;
/// Bytes of each work-item's area.
const AREA: u32 = 160;

fn pointer(b: &mut Builder, argument: u32) -> Reg {
    b.input(Input::Push(PushSource::Pointer { argument }), Family::Qword)
}

fn local_id(b: &mut Builder) -> Reg {
    let id = b.input(Input::LocalId(0), Family::Word);
    b.convert(Type::U32, Type::U16, id)
}

/// The address of an item's area in a buffer, `offset` bytes further on.
fn area(b: &mut Builder, base: Reg, id: Reg, offset: u32) -> Reg {
    let size = b.immediate(Type::U32, AREA.into());
    let at = b.binary(BinaryOp::Mul, Type::U32, id, size);
    let more = b.immediate(Type::U32, offset.into());
    let at = b.binary(BinaryOp::Add, Type::U32, at, more);
    let at = b.convert(Type::U64, Type::U32, at);
    b.binary(BinaryOp::Add, Type::U64, base, at)
}

/// out = in, through a memory of the space, from the neighbour's part of it where it is shared.
fn copy(space: Space, ty: Type, count: usize, align: u32, offset: u32) -> Function {
    let mut function = Function::new("copy");
    function.private_size = AREA;
    function.local_size = AREA * LANES.next_multiple_of(2);
    let entry = function.entry();
    let mut b = Builder::new(&mut function, entry);
    let id = local_id(&mut b);
    let from = if space == Space::Constant { Space::Constant } else { Space::Global };
    let source = pointer(&mut b, 0);
    let source = area(&mut b, source, id, offset);
    let values: Vec<Reg> = (0..count).map(|_| b.immediate(ty, 0)).collect();
    b.emit(Op::Load { space: from, ty, align }, &values, &[source]);
    if matches!(space, Space::Local | Space::Private) {
        let size = b.immediate(Type::U32, AREA.into());
        let more = b.immediate(Type::U32, offset.into());
        let local = space == Space::Local;
        let at = if local { b.binary(BinaryOp::Mul, Type::U32, id, size) } else { b.immediate(Type::U32, 0) };
        let at = b.binary(BinaryOp::Add, Type::U32, at, more);
        let mut sources = vec![at];
        sources.extend(&values);
        b.emit(Op::Store { space, ty, align }, &[], &sources);
        b.emit(Op::Barrier { local: true, global: true }, &[], &[]);
        let at = if local {
            let one = b.immediate(Type::U32, 1);
            let last = b.immediate(Type::U32, (LANES - 1).into());
            let other = b.binary(BinaryOp::Xor, Type::U32, id, one);
            let other = b.binary(BinaryOp::Min, Type::U32, other, last);
            let at = b.binary(BinaryOp::Mul, Type::U32, other, size);
            b.binary(BinaryOp::Add, Type::U32, at, more)
        } else {
            at
        };
        b.emit(Op::Load { space, ty, align }, &values, &[at]);
    }
    let target = pointer(&mut b, 1);
    let target = area(&mut b, target, id, offset);
    let mut sources = vec![target];
    sources.extend(&values);
    b.emit(Op::Store { space: Space::Global, ty, align }, &[], &sources);
    b.ret();
    function
}

fn check(what: &str, function: Function, vendor: bool) {
    let function = lowered(function);
    for lanes in [32, 16, 8] {
        let compiled = code(&function, simd(lanes));
        if vendor {
            disassemble(&compiled);
        }
        let mut memory = Memory::default();
        let mut launch = Launch::linear(lanes, LANES, LANES);
        let bytes = (0..LANES * AREA).map(|i| (i * 37 + i / 256) as u8).collect();
        launch.arguments = vec![
            Value::Address(memory.add(bytes)),
            Value::Address(memory.add(vec![0x5a; (LANES * AREA) as usize])),
        ];
        let mut expected = memory.clone();
        run(&function, &Data::default(), &launch, &mut expected).unwrap_or_else(|t| panic!("{what}: {t}"));
        execute::execute(&compiled, &launch, &mut memory)
            .unwrap_or_else(|f| panic!("{what} at {lanes} lanes: {f}\n{}", compiled.listing()));
        for argument in &launch.arguments {
            let Value::Address(address) = argument else { continue };
            let (expected, found) = (expected.buffer(*address), memory.buffer(*address));
            assert!(
                expected == found,
                "{what} at {lanes} lanes\n{}\n{expected:x?}\n{found:x?}",
                compiled.listing()
            );
        }
    }
}

#[test]
fn copies() {
    for space in [Space::Global, Space::Constant, Space::Local, Space::Private] {
        for ty in [Type::U8, Type::U16, Type::U32, Type::U64] {
            for count in [1, 2, 3, 4, 8, 16] {
                let size = size_of(ty);
                for align in [1, 2, 4, 8, 16] {
                    let offset = if align < 16 { align } else { 0 };
                    // Elements that are not aligned to their size appear in packed structures only.
                    if align >= size || count <= 2 {
                        let what = format!("{count} x {ty:?} aligned to {align} in {space:?}");
                        check(&what, copy(space, ty, count, align, offset), count == 3 && align >= 4);
                    }
                }
            }
        }
    }
}

/// Type, number of elements and alignment of the accesses to 32 bytes.
const SHAPES: &[(Type, u32, u32)] = &[
    (Type::U8, 1, 1),
    (Type::U8, 4, 4),
    (Type::U16, 1, 2),
    (Type::U16, 8, 2),
    (Type::U32, 1, 4),
    (Type::U32, 2, 8),
    (Type::U32, 4, 16),
    (Type::U32, 8, 4),
    (Type::U64, 1, 8),
    (Type::U64, 2, 16),
    (Type::U64, 4, 32),
];

fn size_of(ty: Type) -> u32 {
    match ty {
        Type::U8 => 1,
        Type::U16 => 2,
        Type::U32 => 4,
        _ => 8,
    }
}

/// out = in, through private memory that is written with one type and read with another, at an offset that
/// depends on the work-item.
fn copy_in_shapes(written: (Type, u32, u32), read: (Type, u32, u32)) -> Function {
    const BYTES: u32 = 32;
    let mut function = Function::new("copy");
    function.private_size = 2 * BYTES;
    let entry = function.entry();
    let mut b = Builder::new(&mut function, entry);
    let id = local_id(&mut b);
    let one = b.immediate(Type::U32, 1);
    let odd = b.binary(BinaryOp::And, Type::U32, id, one);
    let size = b.immediate(Type::U32, BYTES.into());
    let begin = b.binary(BinaryOp::Mul, Type::U32, odd, size);
    for (load, store, (ty, count, align)) in
        [(Space::Global, Space::Private, written), (Space::Private, Space::Global, read)]
    {
        let argument = pointer(&mut b, u32::from(load == Space::Private));
        for first in (0..BYTES).step_by((size_of(ty) * count) as usize) {
            let outside = area(&mut b, argument, id, first);
            let first = b.immediate(Type::U32, first.into());
            let inside = b.binary(BinaryOp::Add, Type::U32, begin, first);
            let [from, to] = if load == Space::Global { [outside, inside] } else { [inside, outside] };
            let values: Vec<Reg> = (0..count).map(|_| b.immediate(ty, 0)).collect();
            b.emit(Op::Load { space: load, ty, align }, &values, &[from]);
            let sources: Vec<Reg> = std::iter::once(to).chain(values).collect();
            b.emit(Op::Store { space: store, ty, align }, &[], &sources);
        }
    }
    b.ret();
    function
}

#[test]
fn private_memory_is_read_with_other_types_than_it_is_written() {
    for written in SHAPES {
        for read in SHAPES {
            let what = format!("private memory written as {written:?}, read as {read:?}");
            check(&what, copy_in_shapes(*written, *read), false);
        }
    }
}

#[test]
fn granules_divide_all_accesses_to_private_memory() {
    let shape = |ty, count, align| (ty, count, align);
    for (written, read, expected) in [
        (shape(Type::U32, 1, 4), shape(Type::U32, 1, 4), Some(4)),
        (shape(Type::U32, 4, 16), shape(Type::U64, 2, 16), Some(16)),
        (shape(Type::U32, 4, 16), shape(Type::U32, 2, 8), Some(8)),
        (shape(Type::U32, 4, 4), shape(Type::U64, 4, 32), Some(4)),
        (shape(Type::U64, 4, 32), shape(Type::U64, 4, 32), Some(16)),
        (shape(Type::U8, 1, 1), shape(Type::U8, 1, 1), Some(1)),
        (shape(Type::U16, 1, 2), shape(Type::U16, 1, 2), Some(2)),
        (shape(Type::U8, 1, 1), shape(Type::U32, 1, 4), None),
        (shape(Type::U32, 1, 1), shape(Type::U32, 1, 4), None),
    ] {
        let function = copy_in_shapes(written, read);
        assert_eq!(granule(&function), expected, "{written:?}, {read:?}");
    }
    assert_eq!(granule(&copy(Space::Local, Type::U32, 1, 4, 0)), None, "no private memory");
}

/// out = elements that all items load from one address.
fn broadcast(space: Space, ty: Type, count: usize, align: u32, offset: u32) -> Function {
    let mut function = Function::new("broadcast");
    let entry = function.entry();
    let mut b = Builder::new(&mut function, entry);
    let id = local_id(&mut b);
    let source = pointer(&mut b, 0);
    let more = b.immediate(Type::U64, offset.into());
    let source = b.binary(BinaryOp::Add, Type::U64, source, more);
    let values: Vec<Reg> = (0..count).map(|_| b.immediate(ty, 0)).collect();
    b.emit(Op::Load { space, ty, align }, &values, &[source]);
    let target = pointer(&mut b, 1);
    let target = area(&mut b, target, id, 0);
    let mut sources = vec![target];
    sources.extend(&values);
    b.emit(Op::Store { space: Space::Global, ty, align: 8 }, &[], &sources);
    b.ret();
    function
}

#[test]
fn loads_of_one_address() {
    for space in [Space::Global, Space::Constant] {
        for (ty, size) in [(Type::U8, 1), (Type::U16, 2), (Type::U32, 4), (Type::U64, 8)] {
            for count in [1, 2, 3, 4, 5, 8, 16, 11] {
                for align in [size, 4, 8] {
                    let what = format!("{count} x {ty:?} aligned to {align} in {space:?}, one address");
                    check(&what, broadcast(space, ty, count, align, align), count == 11);
                }
            }
        }
    }
    let function = lowered(broadcast(Space::Global, Type::U64, 11, 8, 0));
    let compiled = code(&function, simd(16));
    let loads = |text: &str| compiled.listing().lines().filter(|line| line.contains(text)).count();
    assert_eq!(loads("block read"), 2, "64 and 16 of 88 bytes\n{}", compiled.listing());
}

/// Each item executes an atomic operation on its own element, with and without a result.
fn atomics(op: AtomicOp, space: Space, ty: Type) -> Function {
    let mut function = Function::new("atomics");
    function.local_size = AREA * LANES;
    let entry = function.entry();
    let mut b = Builder::new(&mut function, entry);
    let id = local_id(&mut b);
    let input = pointer(&mut b, 0);
    let input = area(&mut b, input, id, 0);
    let value = b.load(Space::Global, ty, input);
    let eight = b.immediate(Type::U64, 8);
    let next = b.binary(BinaryOp::Add, Type::U64, input, eight);
    let other = b.load(Space::Global, ty, next);
    let output = pointer(&mut b, 1);
    let output = area(&mut b, output, id, 0);
    let at = if space == Space::Local {
        let size = b.immediate(Type::U32, AREA.into());
        let at = b.binary(BinaryOp::Mul, Type::U32, id, size);
        b.store(Space::Local, ty, at, other);
        at
    } else {
        b.store(Space::Global, ty, output, other);
        output
    };
    let mut sources = vec![at];
    match op {
        AtomicOp::Inc | AtomicOp::Dec => {}
        AtomicOp::CmpXchg => sources.extend([other, value]),
        _ => sources.push(value),
    }
    let before = b.atomic(op, space, ty, &sources);
    let eight = b.immediate(Type::U64, 8);
    let second = b.binary(BinaryOp::Add, Type::U64, output, eight);
    b.store(Space::Global, ty, second, before);
    // Without a result.
    b.emit(Op::Atomic { op, space, ty }, &[], &sources);
    if space == Space::Local {
        let after = b.load(Space::Local, ty, at);
        b.store(Space::Global, ty, output, after);
    }
    b.ret();
    function
}

#[test]
fn atomic_operations() {
    use AtomicOp::{Add, And, CmpXchg, Dec, Inc, Max, Min, Or, Sub, Xchg, Xor};
    for op in [Add, Sub, Inc, Dec, Xchg, CmpXchg, And, Or, Xor, Min, Max] {
        for ty in [Type::S32, Type::U32, Type::S64, Type::U64] {
            check(&format!("{op:?} {ty:?} global"), atomics(op, Space::Global, ty), op == CmpXchg);
            if matches!(ty, Type::S32 | Type::U32) {
                check(&format!("{op:?} {ty:?} local"), atomics(op, Space::Local, ty), op == CmpXchg);
            }
        }
    }
}

/// out[id] = `input`.
fn input(input: Input, family: Family, ty: Type) -> Function {
    let mut function = Function::new("input");
    let entry = function.entry();
    let mut b = Builder::new(&mut function, entry);
    let id = local_id(&mut b);
    let value = b.input(input, family);
    let value = if ty == Type::U32 { value } else { b.convert(Type::U32, ty, value) };
    let output = pointer(&mut b, 1);
    let output = area(&mut b, output, id, 0);
    b.store(Space::Global, Type::U32, output, value);
    b.ret();
    function
}

#[test]
fn inputs() {
    for dimension in 0..3 {
        check("local id", input(Input::LocalId(dimension), Family::Word, Type::U16), true);
        check("group id", input(Input::GroupId(dimension), Family::Dword, Type::U32), false);
    }
    check("lane", input(Input::LaneId, Family::Word, Type::U16), true);
    check("sub-group", input(Input::SubgroupId, Family::Dword, Type::U32), true);
    let size = PushSource::GlobalSize(0);
    check("global size", input(Input::Push(size), Family::Dword, Type::U32), false);
    check("global size", input(Input::Push(size), Family::Qword, Type::U64), false);
}

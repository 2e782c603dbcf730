//! Modules that are made here, and what they become.

use std::path::Path;

use rspirv::binary::Assemble;
use rspirv::dr::{Builder, Operand};
use rspirv::spirv::{
    AddressingModel, Capability, Decoration, ExecutionModel, FunctionControl, MemoryAccess, MemoryModel, Op,
    StorageClass, Word,
};

use crate::{Environment, Features, capabilities, extensions, is_module, translate};

const WIDE: Environment<'_> = Environment {
    pointer_bits: 64,
    triple: "spir64-unknown-unknown",
    data_layout: "e",
    features: Features::ALL,
    correctly_rounded: false,
    lines: false,
    specialization: &[],
};

/// A module with the kernel `k(global int* out)`, whose body a test writes.
fn kernel(body: impl FnOnce(&mut Builder, Word, Word)) -> Builder {
    let mut builder = Builder::new();
    builder.set_version(1, 2);
    for capability in [Capability::Addresses, Capability::Kernel, Capability::Int64] {
        builder.capability(capability);
    }
    builder.memory_model(AddressingModel::Physical64, MemoryModel::OpenCL);
    let (void, int) = (builder.type_void(), builder.type_int(32, 0));
    let pointer = builder.type_pointer(None, StorageClass::CrossWorkgroup, int);
    let ty = builder.type_function(void, vec![pointer]);
    let function = builder.begin_function(void, None, FunctionControl::NONE, ty).unwrap();
    let out = builder.function_parameter(pointer).unwrap();
    builder.begin_block(None).unwrap();
    body(&mut builder, int, out);
    builder.ret().unwrap();
    builder.end_function().unwrap();
    builder.entry_point(ExecutionModel::Kernel, function, "k", vec![]);
    builder
}

fn bytes(builder: Builder) -> Vec<u8> {
    builder.module().assemble().into_iter().flat_map(u32::to_le_bytes).collect()
}

/// A module that stores the sum of two constants.
fn sum() -> Vec<u8> {
    bytes(kernel(|builder, int, out| {
        let [a, b] = [2, 3].map(|value| builder.constant_bit32(int, value));
        let sum = builder.i_add(int, None, a, b).unwrap();
        builder.store(out, sum, None, vec![]).unwrap();
    }))
}

#[test]
fn a_kernel_is_as_clang_writes_it() {
    let text = translate(&sum(), &WIDE).unwrap();
    assert!(text.contains("define spir_kernel void @\"k\"(ptr addrspace(1) %v"), "{text}");
    assert!(text.contains("= add i32 2, 3"), "{text}");
    assert!(text.contains("!kernel_arg_addr_space !0"), "{text}");
    assert!(text.contains("!2 = !{!\"int*\"}"), "{text}");
}

#[test]
fn both_byte_orders_are_read() {
    let little = sum();
    let big: Vec<u8> = little.chunks(4).flat_map(|word| word.iter().rev().copied()).collect();
    assert!(is_module(&little) && is_module(&big) && !is_module(b"kernel void k() {}"));
    assert_eq!(translate(&big, &WIDE), translate(&little, &WIDE));
}

#[test]
fn errors_name_the_instruction() {
    let mut module = sum();
    let error = translate(&module, &Environment { pointer_bits: 32, ..WIDE }).unwrap_err();
    assert!(error.to_string().ends_with("pointers have 64 bits, those of the device 32"), "{error}");
    let end = module.len();
    module.extend((1 << 16 | Op::Return as u32).to_le_bytes());
    let error = translate(&module, &WIDE).unwrap_err().to_string();
    assert!(error.contains(&format!("(OpReturn, byte {end})")), "{error}");
    assert!(error.ends_with("it may not be outside of functions"), "{error}");
    assert_eq!(translate(&[], &WIDE).unwrap_err().place.number, None);
    let unknown = bytes(kernel(|builder, _, _| builder.capability(Capability::Tessellation)));
    let error = translate(&unknown, &WIDE).unwrap_err().to_string();
    assert!(error.contains("capability Tessellation is not supported"), "{error}");
}

#[test]
fn capabilities_that_the_device_lacks_are_refused() {
    let module = bytes(kernel(|builder, _, _| builder.capability(Capability::Float64)));
    assert!(translate(&module, &WIDE).is_ok());
    let features = Features { double: false, ..Features::ALL };
    let error = translate(&module, &Environment { features, ..WIDE }).unwrap_err().to_string();
    assert!(error.ends_with("(OpCapability, byte 44): the device lacks the capability Float64"), "{error}");
    let has = |features, capability| capabilities(features).any(|number| number == capability as u32);
    assert!(has(Features::ALL, Capability::Float64) && !has(features, Capability::Float64));
    // Producers declare it for all that they write; a device does not have it.
    assert!(!has(Features::ALL, Capability::Shader));
    assert!(extensions(features).any(|name| name == c"SPV_KHR_no_integer_wrap_decoration"));
}

#[test]
fn divisions_have_the_error_that_is_asked_for() {
    let module = |error: Option<f32>| {
        bytes(kernel(|builder, _, _| {
            builder.capability(Capability::FPMaxErrorINTEL);
            let float = builder.type_float(32, None);
            let [a, b] = [2f32, 3.0].map(|value| builder.constant_bit32(float, value.to_bits()));
            let quotient = builder.f_div(float, None, a, b).unwrap();
            let bits = error.map(|error| Operand::LiteralBit32(error.to_bits()));
            if let Some(bits) = bits {
                builder.decorate(quotient, Decoration::FPMaxErrorDecorationINTEL, vec![bits]);
            }
        }))
    };
    for (error, correctly_rounded, is_inexact) in
        [(None, false, true), (None, true, false), (Some(2.5), true, true), (Some(0.5), false, false)]
    {
        let text = translate(&module(error), &Environment { correctly_rounded, ..WIDE }).unwrap();
        assert_eq!(text.contains("!fpmath"), is_inexact, "{error:?} {correctly_rounded}: {text}");
    }
}

#[test]
fn copies_have_memory_operands_of_both_sides() {
    let module = |operands: &[Operand]| {
        bytes(kernel(|builder, int, out| {
            let four = builder.constant_bit32(int, 4);
            builder.copy_memory_sized(out, out, four, None, None, operands.to_vec()).unwrap();
        }))
    };
    let mask = Operand::MemoryAccess(MemoryAccess::ALIGNED);
    let [to, from] = [16, 4].map(Operand::LiteralBit32);
    let text = translate(&module(&[mask.clone(), to.clone(), mask.clone(), from]), &WIDE).unwrap();
    assert!(text.contains("(ptr addrspace(1) align 16 %v"), "{text}");
    assert!(text.contains(", ptr addrspace(1) align 4 %v"), "{text}");
    let text = translate(&module(&[mask, to]), &WIDE).unwrap();
    assert!(text.contains(", ptr addrspace(1) align 16 %v"), "{text}");
}

#[test]
fn blocks_may_come_before_those_that_dominate_them() {
    let module = kernel(|builder, int, out| {
        let (early, late) = (builder.id(), builder.id());
        builder.branch(late).unwrap();
        builder.begin_block(Some(early)).unwrap();
        let value = builder.id();
        builder.store(out, value, None, vec![]).unwrap();
        let end = builder.id();
        builder.branch(end).unwrap();
        builder.begin_block(Some(late)).unwrap();
        let one = builder.constant_bit32(int, 1);
        builder.i_add(int, Some(value), one, one).unwrap();
        builder.branch(early).unwrap();
        builder.begin_block(Some(end)).unwrap();
    });
    let text = translate(&bytes(module), &WIDE).unwrap();
    let [sum, store] = ["= add i32 1, 1", "store i32"].map(|part| text.find(part).unwrap());
    assert!(sum < store, "{text}");
}

#[test]
fn specialisation_constants_have_the_values_that_are_given() {
    let module = bytes(kernel(|builder, int, out| {
        let constant = builder.spec_constant_bit32(int, 1);
        builder.decorate(constant, Decoration::SpecId, vec![Operand::LiteralBit32(7)]);
        let double = builder.spec_constant_op(int, Op::IAdd);
        builder
            .module_mut()
            .types_global_values
            .last_mut()
            .unwrap()
            .operands
            .extend([Operand::IdRef(constant), Operand::IdRef(constant)]);
        builder.store(out, double, None, vec![]).unwrap();
    }));
    let given = [(7, 21u32.to_le_bytes().to_vec())];
    for (specialization, value) in [(&[][..], 2), (&given[..], 42)] {
        let text = translate(&module, &Environment { specialization, ..WIDE }).unwrap();
        assert!(text.contains(&format!("store i32 {value},")), "{text}");
    }
}

/// LLVM's back end gives it integers, as OpenCL C's function has.
#[test]
fn highest_bits_of_integers_are_truth_values() {
    let text = translate(
        &bytes(kernel(|builder, int, _| {
            let (vector, truth) = (builder.type_vector(int, 2), builder.type_bool());
            let one = builder.constant_bit32(int, 1);
            let both = builder.composite_construct(vector, None, [one, one]).unwrap();
            builder.any(truth, None, both).unwrap();
        })),
        &WIDE,
    )
    .unwrap();
    assert!(text.contains("= icmp slt <2 x i32> %"), "{text}");
    assert!(text.contains("= extractelement <2 x i1> %"), "{text}");
}

/// Producers write it for `atomic_float`, and compare what it gives by `OpIEqual`.
#[test]
fn floats_are_exchanged_by_their_bits() {
    let text = translate(
        &bytes(kernel(|builder, int, out| {
            let (float, truth) = (builder.type_float(32, None), builder.type_bool());
            let floats = builder.type_pointer(None, StorageClass::CrossWorkgroup, float);
            let [scope, order] = [1, 0].map(|value| builder.constant_bit32(int, value));
            let [old, new] = [1f32, 2.0].map(|value| builder.constant_bit32(float, value.to_bits()));
            let pointer = builder.bitcast(floats, None, out).unwrap();
            let found =
                builder.atomic_compare_exchange(float, None, pointer, scope, order, order, new, old).unwrap();
            builder.i_equal(truth, None, found, old).unwrap();
        })),
        &WIDE,
    )
    .unwrap();
    for part in ["cmpxchg ptr addrspace(1) %", ", i32 %", " = extractvalue { i32, i1 } %", " = icmp eq i32 %"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// LLVM's back end writes null pointers of structures as zeros.
#[test]
fn zeros_are_null_pointers() {
    let text = translate(
        &bytes(kernel(|builder, int, _| {
            let pointer = builder.type_pointer(None, StorageClass::CrossWorkgroup, int);
            let long = builder.type_int(64, 0);
            let structure = builder.type_struct([int, pointer]);
            let structures = builder.type_pointer(None, StorageClass::CrossWorkgroup, structure);
            let (three, zero) = (builder.constant_bit32(int, 3), builder.constant_null(long));
            let value = builder.constant_composite(structure, [three, zero]);
            builder.variable(structures, None, StorageClass::CrossWorkgroup, Some(value));
        })),
        &WIDE,
    )
    .unwrap();
    assert!(text.contains("{ i32 3, ptr addrspace(1) null }"), "{text}");
}

/// LLVM's translator and its back end, whose pointers have no types, give bytes, whatever the base points to: the former
/// by the only index.
#[test]
fn offsets_of_constant_pointers_to_bytes_are_in_bytes() {
    let mut module = bytes(kernel(|builder, int, _| {
        // Variables outside of the function.
        builder.select_block(None).unwrap();
        let [one, four, twelve] = [1, 4, 12].map(|value| builder.constant_bit32(int, value));
        let array = builder.type_array(int, four);
        let arrays = builder.type_pointer(None, StorageClass::CrossWorkgroup, array);
        let byte = builder.type_int(8, 0);
        let to_byte = builder.type_pointer(None, StorageClass::CrossWorkgroup, byte);
        let value = builder.constant_composite(array, [one, one, one, one]);
        let base = builder.variable(arrays, None, StorageClass::CrossWorkgroup, Some(value));
        let zero = builder.constant_null(int);
        let pointers = builder.type_pointer(None, StorageClass::CrossWorkgroup, to_byte);
        for indices in [&[twelve][..], &[zero, one]] {
            let offset = builder.spec_constant_op(to_byte, Op::PtrAccessChain);
            let own = builder.module_mut().types_global_values.last_mut().unwrap();
            own.operands.extend([&[base], indices].concat().into_iter().map(Operand::IdRef));
            builder.variable(pointers, None, StorageClass::CrossWorkgroup, Some(offset));
        }
        builder.select_block(Some(0)).unwrap();
    }));
    for (tool, second) in [(6u32, "0, i32 1)"), (43, " i32 1)")] {
        module[8..12].copy_from_slice(&(tool << 16).to_le_bytes());
        let text = translate(&module, &WIDE).unwrap();
        let offsets: Vec<&str> =
            text.lines().filter_map(|line| Some(line.split_once("getelementptr (")?.1)).collect();
        assert_eq!(offsets.len(), 2, "{text}");
        assert!(offsets[0].starts_with("i8, ") && offsets[0].ends_with(" i32 12)"), "{text}");
        assert_eq!(offsets[1].starts_with("i8, "), tool == 43, "{text}");
        assert!(offsets[1].ends_with(second), "{text}");
    }
}

#[test]
fn damaged_modules_are_refused_or_read() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/spirv");
    let paths = std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path());
    let mut modules: Vec<Vec<u8>> = paths.map(|path| std::fs::read(path).unwrap()).collect();
    modules.push(sum());
    let mut random = 1u32;
    let mut next = |below: usize| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) as usize % below
    };
    for _ in 0..20_000 {
        let mut damaged = modules[next(modules.len())].clone();
        for _ in 0..=next(3) {
            let at = next(damaged.len());
            damaged[at] = next(256) as u8;
        }
        damaged.truncate(damaged.len() - 4 * next(4));
        // It must not panic; what it says does not matter here.
        let _ = translate(&damaged, &Environment { lines: true, ..WIDE });
    }
}

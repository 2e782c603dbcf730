//! Kernels through code generation, with a check of the allocation; the vendor's disassembler reads the code.

mod cross_lane;
mod execute;
mod memory;
mod operations;
mod spill;

use super::{Compiled, Options, compile};
use crate::ir::interpret::{Launch, Memory, Value, run};
use crate::ir::passes::{ControlFlow, Strategy, Unobserved, standard};
use crate::ir::random::{INPUT_ELEMENTS, OUTPUT_ELEMENTS, random_kernel, random_structured_kernel, widen};
use crate::ir::text::parse;
use crate::ir::{Builder, Family, Function, Input, Leave, Op, Reg, Rounding, Space, Type, Unit};
use gencl_device_info::{DeviceInfo, Execution, Payload};
use gencl_isa::Generation;
use gencl_program::{Data, PushSource};
use gencl_testing::Random;
use std::process::Command;

/// The numeric types.
const TYPES: [Type; 11] = [
    Type::S8,
    Type::U8,
    Type::S16,
    Type::U16,
    Type::S32,
    Type::U32,
    Type::S64,
    Type::U64,
    Type::F16,
    Type::F32,
    Type::F64,
];

/// A random kernel that clears its private memory first, whose contents would be undefined: alternately with
/// an arbitrary graph and with nested constructs.
fn random(seed: u32, control_flow: ControlFlow) -> Function {
    random_for(skylake(), seed, control_flow)
}

fn random_for(target: &DeviceInfo, seed: u32, control_flow: ControlFlow) -> Function {
    let mut function = if seed.is_multiple_of(2) {
        random_kernel(2 + seed as usize % 14, &choices(seed))
    } else {
        random_structured_kernel(2 + seed as usize % 30, &choices(seed))
    };
    function.private_size = 16;
    let entry = function.entry();
    let old = std::mem::take(&mut function.block_mut(entry).instructions);
    let mut b = Builder::new(&mut function, entry);
    let zero = b.immediate(Type::U32, 0);
    for slot in 0..4 {
        let address = b.immediate(Type::U32, slot * 4);
        b.store(Space::Private, Type::U32, address, zero);
    }
    function.block_mut(entry).instructions.extend(old);
    if !target.execution.int64 {
        widen(&mut function);
        with_narrow_pointers(&mut function);
    }
    lowered_by(function, strategy(target, control_flow))
}

fn lowered(function: Function) -> Function {
    lowered_by(function, ControlFlow::default())
}

fn lowered_by(function: Function, strategy: impl Into<Strategy>) -> Function {
    let mut unit = Unit { functions: vec![function], ..Unit::default() };
    standard(&mut unit, strategy, &mut Unobserved).expect("the passes accept it");
    unit.functions.remove(0)
}

fn skylake() -> &'static DeviceInfo {
    gencl_device_info::Family::Skl.info()
}

/// Skylake with the instruction limits of older generations.
fn narrow() -> DeviceInfo {
    let skylake = skylake();
    let execution = Execution { halves: true, ternary_lanes: 8, ..skylake.execution };
    DeviceInfo { execution, ..skylake.clone() }
}

/// The targets without quadwords.
fn without_qwords() -> impl Iterator<Item = &'static DeviceInfo> {
    gencl_device_info::Family::ALL.iter().map(|family| family.info()).filter(|target| !target.execution.int64)
}

/// The strategy that the driver uses for a target.
fn strategy(target: &DeviceInfo, control_flow: ControlFlow) -> Strategy {
    let (lower_qwords, no_gotos) = (!target.execution.int64, !target.execution.gotos);
    Strategy { control_flow, lower_qwords, no_gotos, ..Strategy::default() }
}

/// Memory with addresses of the size of the target's pointers.
fn memory_of(target: &DeviceInfo) -> Memory {
    if target.execution.int64 { Memory::default() } else { Memory::narrow() }
}

/// Changes a kernel from 64-bit to 32-bit pointers.
fn with_narrow_pointers(function: &mut Function) {
    for block in function.layout.clone() {
        let old = std::mem::take(&mut function.block_mut(block).instructions);
        let mut b = Builder::new(function, block);
        for mut instruction in old {
            let first = |regs: &[Reg], b: &Builder| {
                regs.first().copied().filter(|&reg| b.function.register(reg).family == Family::Qword)
            };
            match instruction.op {
                Op::Input(input @ Input::Push(PushSource::Pointer { .. })) => {
                    let pointer = b.input(input, Family::Dword);
                    let op = Op::Convert {
                        to: Type::U64,
                        from: Type::U32,
                        rounding: Rounding::Default,
                        saturate: false,
                    };
                    b.emit(op, &instruction.dsts, &[pointer]);
                    continue;
                }
                Op::Load { .. } | Op::Store { .. } | Op::Atomic { .. } => {
                    if let Some(address) = first(&instruction.srcs, &b) {
                        instruction.srcs[0] = b.convert(Type::U32, Type::U64, address);
                    }
                }
                _ => {}
            }
            b.push(instruction);
        }
    }
}

/// Checks the limits of [`narrow`] by the rules of Haswell.
fn check_narrow(compiled: &Compiled) -> Result<(), String> {
    for instruction in &compiled.code.instructions {
        let text = || gencl_isa::print(compiled.generation, instruction);
        let broken = gencl_isa::validate(Generation::Gen75, instruction);
        if let Some(violation) = broken.iter().find(|v| v.rule.id == "region.pairs") {
            return Err(format!("{}: {violation}", text()));
        }
    }
    Ok(())
}

fn code(function: &Function, options: Options) -> Compiled {
    code_for(skylake(), function, options)
}

fn code_for(target: &DeviceInfo, function: &Function, options: Options) -> Compiled {
    match compile(function, target, &options) {
        Ok(compiled) => compiled,
        Err(e) => panic!("{e}\n{}", crate::ir::text::print_function(function)),
    }
}

fn simd(lanes: u32) -> Options {
    Options { simd: Some(lanes), ..Options::default() }
}

/// Checks that the vendor's disassembler reads the machine code; skipped where it is not installed.
fn disassemble(compiled: &Compiled) {
    let path = std::env::temp_dir().join(format!(
        "gencl-codegen-{}-{:?}.bin",
        std::process::id(),
        std::thread::current().id()
    ));
    std::fs::write(&path, &compiled.kernel.code).expect("the temporary directory can be written");
    let platform = compiled.generation.capabilities().iga_platform;
    let Some(platform) = platform else {
        let _ = std::fs::remove_file(&path);
        return;
    };
    let result = Command::new("iga64").arg(format!("-p={platform}")).arg("-d").arg(&path).output();
    let _ = std::fs::remove_file(&path);
    let Ok(output) = result else {
        println!("iga64 is not installed: not disassembled");
        return;
    };
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{}", compiled.listing());
    for word in ["error", "illegal", "warning", "???"] {
        assert!(!text.to_lowercase().contains(word), "{text}\n{}", compiled.listing());
    }
}

const LOOP: &str = r#"
kernel "loop" per_lane
    register qword %0 %7 %8 %9
    register dword %1 %2 %4 %5 %10 %11
    register word %3
    register bool %6
@0:
    %0 = input.push.pointer 0
    %1 = input.group_id 0
    %2 = input.push.local_size 0
    %3 = input.local_id 0
    %4 = convert.u32.u16 %3
    %1 = mul.u32 %1, %2
    %4 = add.u32 %1, %4
    %5 = immediate.u32 0
    %10 = immediate.u32 1
    %11 = mov.u32 %5
    jump @1
@1:
    %11 = add.u32 %11, %10
    %6 = compare.less.u32 %11, %4
    branch %6, @1, @2
@2:
    %7 = convert.u64.u32 %4
    %8 = immediate.u64 2
    %9 = shl.u64 %7, %8
    %9 = add.u64 %9, %0
    store.global.u32.align4 %9, %11
    return
end
"#;

#[test]
fn a_loop() {
    let unit = parse(LOOP).expect("it is Gen IR");
    let function = lowered(unit.functions[0].clone());
    println!("{}", crate::ir::text::print_function(&function));
    for lanes in [8, 16, 32] {
        let compiled = code(&function, simd(lanes));
        println!("{}", compiled.listing());
        disassemble(&compiled);
        assert_eq!(compiled.kernel.simd_width, lanes);
    }
}

/// Each lane leaves with a copy of a counter that is uniform in each iteration.
const ROUNDS: &str = r#"
kernel "rounds" per_lane
    register qword %0 %8 %9
    register word %1
    register dword %2 %3 %4 %5 %6 %10
    register bool %7
@0:
    %0 = input.push.pointer 0
    %1 = input.local_id 0
    %2 = convert.u32.u16 %1
    %3 = immediate.u32 0
    %4 = immediate.u32 1
    jump @1
@1:
    %5 = mov.u32 %3
    %6 = add.u32 %3, %4
    %3 = mov.u32 %6
    %7 = compare.less.u32 %5, %2
    branch %7, @1, @2
@2:
    %10 = shl.u32 %2, %4
    %10 = add.u32 %10, %10
    %8 = convert.u64.u32 %10
    %9 = add.u64 %8, %0
    store.global.u32.align4 %9, %5
    return
end
"#;

#[test]
fn lanes_keep_the_values_with_which_they_left_a_loop() {
    let unit = parse(ROUNDS).expect("it is Gen IR");
    for (_, control_flow) in ControlFlow::NAMES {
        let function = lowered_by(unit.functions[0].clone(), *control_flow);
        for lanes in [8, 16, 32] {
            let compiled = code(&function, simd(lanes));
            let mut memory = Memory::default();
            let buffer = memory.add(vec![0; 4 * 21]);
            let mut launch = Launch::linear(lanes, 21, 21);
            launch.arguments = vec![Value::Address(buffer)];
            execute::execute(&compiled, &launch, &mut memory).expect("it runs");
            let expected: Vec<u8> = (0..21u32).flat_map(u32::to_le_bytes).collect();
            assert_eq!(memory.remove(buffer), Some(expected), "{}", compiled.listing());
        }
    }
}

/// A quadword that is written in four parts under a predicate, and read in the next block by lanes that have
/// it.
const PARTS: &str = r#"
kernel "parts" linear
    register qword %0 %5 %6 %7 %8
    register word %1
    register dword %2 %3 %9
    register bool %4
@0:
    %0 = input.push.pointer 0
    %1 = input.local_id 0
    %2 = convert.u32.u16 %1
    %9 = immediate.u32 5
    %4 = compare.less.u32 %2, %9
    %3 = immediate.u32 0
    (%4) %5 = load.local.u64.align8 %3
    vote.none %4, @2, @1
@1:
    %6 = immediate.u64 7
    %7 = add.u64 %5, %6
    %8 = convert.u64.u32 %2
    %8 = add.u64 %8, %0
    store.global.u64.align8 %8, %7
    jump @2
@2:
    return
end
"#;

#[test]
fn a_value_written_in_parts_under_a_predicate() {
    let unit = parse(PARTS).expect("it is Gen IR");
    for lanes in [8, 16, 32] {
        disassemble(&code(&unit.functions[0], simd(lanes)));
    }
}

fn choices(seed: u32) -> Vec<u32> {
    let mut random = Random::new(seed.into());
    (0..400).map(|_| random.next_u32()).collect()
}

/// The output buffer of a random kernel.
fn output(
    memory: Memory,
    local: u32,
    width: u32,
    execute: impl FnOnce(&Launch, &mut Memory) -> Result<(), String>,
) -> Result<Vec<u8>, String> {
    let mut memory = memory;
    let input = (0..INPUT_ELEMENTS).flat_map(|i| (i.wrapping_mul(0x0100_0193) >> 3).to_le_bytes()).collect();
    let input = memory.add(input);
    let global = 2 * local;
    let output = memory.add(vec![0; 4 + (global * OUTPUT_ELEMENTS * 4) as usize]);
    let mut launch = Launch::linear(width, global, local);
    launch.arguments = vec![Value::Address(input), Value::Address(output)];
    launch.step_limit = 200_000;
    execute(&launch, &mut memory)?;
    memory.remove(output).ok_or_else(|| "no buffer".into())
}

#[test]
fn random_kernels_compute_what_the_ir_says() {
    let registers = [(32, None), (16, None), (8, None), (8, Some(32)), (8, Some(24))];
    check_random_kernels(skylake(), 100, &registers);
}

#[test]
fn random_kernels_compute_the_same_without_quadwords() {
    for target in without_qwords() {
        check_random_kernels(target, 30, &[(16, None), (8, None), (8, Some(40))]);
    }
}

/// Private memory is in a buffer if it does not fit into scratch memory.
#[test]
fn random_kernels_compute_the_same_with_private_memory_in_a_buffer() {
    for target in without_qwords().filter(|target| target.payload.thread_number.is_some()) {
        let small = DeviceInfo { payload: Payload { scratch: 64, ..target.payload }, ..target.clone() };
        let kernel = code_for(&small, &random_for(&small, 0, ControlFlow::default()), simd(8)).kernel;
        assert_eq!((kernel.scratch_size, kernel.stack_size), (0, 8 * 32));
        check_random_kernels(&small, 20, &[(16, None), (8, None)]);
    }
}

/// Runs random kernels compiled for each pair of SIMD width and number of registers, if limited.
fn check_random_kernels(target: &DeviceInfo, seeds: u32, shapes: &[(u32, Option<u32>)]) {
    let all = (0..seeds).flat_map(|seed| ControlFlow::NAMES.iter().map(move |&(name, by)| (seed, name, by)));
    for (seed, strategy, control_flow) in all {
        let function = random_for(target, seed, control_flow);
        for &(lanes, registers) in shapes {
            let compiled = code_for(target, &function, Options { registers, ..simd(lanes) });
            let expected = output(memory_of(target), 21, lanes, |launch, memory| {
                run(&function, &Data::default(), launch, memory).map_err(|t| t.to_string())
            });
            let found = output(memory_of(target), 21, lanes, |launch, memory| {
                execute::execute(&compiled, launch, memory)
            });
            if expected != found {
                let text = crate::ir::text::print_function(&function);
                let name = target.family.name();
                let what = format!("{name}, seed {seed}, {strategy}, {lanes} lanes, {registers:?} registers");
                let dwords = |o: &Result<Vec<u8>, String>| {
                    o.as_ref()
                        .map(|b| {
                            b.chunks(4)
                                .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
                                .collect::<Vec<_>>()
                        })
                        .map_err(Clone::clone)
                };
                panic!(
                    "{what}\n{text}\n{}\n{:x?}\n{:x?}",
                    compiled.listing(),
                    dwords(&expected),
                    dwords(&found)
                );
            }
        }
    }
}

/// The random kernels contain enough of each kind of branch to test it.
#[test]
fn random_kernels_have_branches_of_all_kinds() {
    let functions: Vec<Function> = (0..100).map(|seed| random(seed, ControlFlow::Structured)).collect();
    let branches: Vec<Leave> = functions
        .iter()
        .flat_map(Function::instructions)
        .filter_map(|i| match i.op {
            Op::Leave { by, .. } => Some(by),
            _ => None,
        })
        .collect();
    use Leave::{Back, Break, Continue, Else, Goto, If, While};
    for by in [Goto, If, Else, Break, Continue, While, Back] {
        let count = branches.iter().filter(|found| **found == by).count();
        assert!(count >= 10, "{count} of `{}`", by.name());
    }
}

#[test]
fn random_kernels() {
    for seed in 0..60 {
        let function = random(seed, ControlFlow::NAMES[seed as usize % 3].1);
        for lanes in [8, 16, 32] {
            let compiled = code(&function, simd(lanes));
            if seed % 20 == 0 {
                disassemble(&compiled);
            }
            // The same kernel gives the same bytes.
            assert_eq!(compiled, code(&function, simd(lanes)));
        }
        for registers in [24, 32, 48] {
            let compiled = code(&function, Options { registers: Some(registers), ..simd(8) });
            assert!(compiled.kernel.statistics.registers <= registers);
        }
    }
}

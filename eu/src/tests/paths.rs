//! Compares the fast paths with the general path, bit by bit (NaN payloads aside).

use std::collections::BTreeMap;

use gencl_isa::{Generation, Instruction, Type};
use gencl_testing::Random;
use gencl_testing::instructions::arithmetic;

use crate::arithmetic::general;
use crate::decode::lower::Lowering;
use crate::file::{CONTROL, FLAG, GRF_BYTES, set_dword};
use crate::op::{Action, Execute, Op};
use crate::operand::full_mask;
use crate::thread::{FloatMode, Thread};

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
    let [a, b] = [a, b].map(|thread| {
        (0..thread.file.len() / 4)
            .map(|n| super::super::file::dword(&thread.file, n * 4))
            .collect::<Vec<u32>>()
    });
    let nan = |file: &[u32], n: usize| match ty {
        Type::HF => file[n] & 0x7fff > 0x7c00 || file[n] >> 16 & 0x7fff > 0x7c00,
        Type::F => f32::from_bits(file[n]).is_nan(),
        Type::DF => f64::from_bits(u64::from(file[n | 1]) << 32 | u64::from(file[n & !1])).is_nan(),
        _ => false,
    };
    let differs = |n: &usize| a[*n] != b[*n] && !(nan(&a, *n) && nan(&b, *n));
    let n = (0..a.len()).find(differs)?;
    Some(format!("byte {}: fast {:#x}, general {:#x}", n * 4, a[n], b[n]))
}

#[test]
fn fast_paths_agree_with_the_general_path() {
    let mut random = Random::new(1);
    let mut fast = 0;
    let mut failures = Vec::new();
    for round in 0..60_000 {
        let instruction = arithmetic(&mut random, 32);
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
    assert!(fast > 19_000, "only {fast} instructions have a fast path");
}

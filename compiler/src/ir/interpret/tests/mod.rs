//! Random kernels, run before and after the lowering: equal memory means that the lowering is right.

use super::{Launch, Memory, Value, run};
use crate::ir::passes::{ControlFlow, Unobserved, standard};
use crate::ir::random::{INPUT_ELEMENTS, OUTPUT_ELEMENTS, random_kernel, random_structured_kernel};
use crate::ir::text::print;
use crate::ir::{Form, Function, Unit};
use gencl_program::Data;
use proptest::prelude::*;

/// Runs a random kernel and returns its output.
fn output(function: &Function, width: u32, global: u32, local: u32) -> Vec<u8> {
    let mut memory = Memory::default();
    let input = (0..INPUT_ELEMENTS).flat_map(|i| (i.wrapping_mul(0x0100_0193) >> 3).to_le_bytes()).collect();
    let input = memory.add(input);
    let output = memory.add(vec![0; 4 + (global * OUTPUT_ELEMENTS * 4) as usize]);
    let mut launch = Launch::linear(width, global, local);
    launch.arguments = vec![Value::Address(input), Value::Address(output)];
    launch.step_limit = 200_000;
    run(function, &Data::default(), &launch, &mut memory).expect("random kernels do nothing wrong");
    memory.remove(output).expect("the buffer is there")
}

fn check(function: Function) {
    let mut function = function;
    function.private_size = 16;
    for &(strategy, control_flow) in ControlFlow::NAMES {
        let mut unit = Unit { functions: vec![function.clone()], ..Unit::default() };
        if let Err(error) = standard(&mut unit, control_flow, &mut Unobserved) {
            panic!("{strategy}: {error}\n{}", print(&unit));
        }
        let lowered = &unit.functions[0];
        assert_ne!(lowered.form, Form::PerLane);
        // The last threads have 5 lanes of 8 and of 16, the last group is smaller than the others.
        for (width, global, local) in [(8, 21, 21), (16, 50, 21), (32, 12, 12)] {
            let expected = output(&function, width, global, local);
            let found = output(lowered, width, global, local);
            if expected != found {
                let original = Unit { functions: vec![function], ..Unit::default() };
                panic!("{strategy}: different at width {width}\n{}\n{}", print(&original), print(&unit));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(1500),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn lowering_keeps_what_random_kernels_do(
        blocks in 1usize..12,
        choices in proptest::collection::vec(0u32..1000, 20..400),
    ) {
        check(random_kernel(blocks, &choices));
    }

    #[test]
    fn lowering_keeps_what_random_constructs_do(
        items in 1usize..25,
        choices in proptest::collection::vec(0u32..1000, 20..400),
    ) {
        check(random_structured_kernel(items, &choices));
    }
}

/// A kernel large enough that what is not linear in its size would be felt.
#[test]
fn lowering_keeps_what_a_large_kernel_does() {
    // Numerical Recipes' linear congruential generator; its high bits are good enough here.
    let choices: Vec<u32> =
        std::iter::successors(Some(1u32), |x| Some(x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)))
            .map(|x| x >> 8)
            .take(40_000)
            .collect();
    check(random_kernel(600, &choices));
}

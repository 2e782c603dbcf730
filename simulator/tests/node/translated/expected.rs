//! Kernels that are translated before they are launched.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gencl_eu::abi::Tier;
use gencl_i915::{ExpectedLaunch, LaunchHint, RenderNode};
use gencl_simulator::translated::source::EngineChoice;

use super::fake::{Translator, group};
use super::{last, write_ids};
use crate::kernels::WRITE_IDS;
use crate::setup::{Launch, Machine, assemble};

/// Says that [`WRITE_IDS`] with further instructions will be launched.
fn expect(machine: &Machine, more: &str) -> Option<LaunchHint> {
    // Those that `Machine` writes for two threads: registers have room for 16 ids.
    let ids = |first: u16| (first..first + 16).flat_map(u16::to_le_bytes);
    machine.node.expect_launch(&ExpectedLaunch {
        code: &assemble(&format!("{WRITE_IDS}{more}")),
        simd_width: 8,
        work_items: 16,
        cross_thread: 32,
        per_thread: &ids(0).chain(ids(8)).collect::<Vec<_>>(),
        local_memory: 0,
        barrier: false,
        scratch: 0,
    })
}

fn wait_until(condition: impl Fn() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn machine(engine: EngineChoice, delay: Duration) -> (Arc<Translator>, Machine) {
    let translator = Translator::new(Ok(group(write_ids)), delay);
    let machine = Machine::new(translator.simulator(engine));
    (translator, machine)
}

#[test]
fn the_first_launch_finds_its_translation() {
    // The launch waits for what is pending.
    let (translator, machine) = machine(EngineChoice::Translate, Duration::from_millis(20));
    let hint = expect(&machine, "");
    assert!(hint.is_some());
    wait_until(|| translator.asked() == 1);
    assert_eq!(translator.requests()[0].tier, Tier::Baseline);
    let launch = Launch { kernel: WRITE_IDS, threads: 2, groups: 3, ..Launch::default() };
    machine.run_kernel(&launch).unwrap();
    assert_eq!(machine.data.read(0, 48), (0..48).collect::<Vec<_>>());
    assert_eq!((last(&machine).sum.translated, translator.asked()), (6, 1));
}

#[test]
fn one_is_requested_after_the_other_and_released_ones_are_not() {
    let (translator, machine) = machine(EngineChoice::Auto, Duration::from_millis(100));
    let nop = "nop;";
    let _first = expect(&machine, "");
    let second = expect(&machine, nop);
    let _third = expect(&machine, &nop.repeat(2));
    let _again = expect(&machine, "");
    wait_until(|| translator.asked() == 1);
    drop(second);
    wait_until(|| translator.asked() == 2);
    std::thread::sleep(Duration::from_millis(300));
    let codes: Vec<_> = translator.requests().into_iter().map(|request| request.code).collect();
    assert_eq!(codes, ["", "nop;nop;"].map(|more| assemble(&format!("{WRITE_IDS}{more}"))));
}

#[test]
fn a_kernel_that_has_been_launched_is_judged_by_its_time() {
    let (translator, machine) = machine(EngineChoice::Auto, Duration::ZERO);
    let launch = Launch { kernel: WRITE_IDS, threads: 2, groups: 3, ..Launch::default() };
    machine.run_kernel(&launch).unwrap();
    let _hint = expect(&machine, "");
    let _other = expect(&machine, "nop;");
    wait_until(|| translator.asked() > 0);
    assert_eq!(translator.requests()[0].code, assemble(&format!("{WRITE_IDS}nop;")));
}

#[test]
fn without_a_translator_nothing_is_prepared() {
    let (translator, machine) = machine(EngineChoice::Interpret, Duration::ZERO);
    assert!(expect(&machine, "").is_none());
    assert_eq!(translator.asked(), 0);
}

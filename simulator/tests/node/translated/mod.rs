//! Launches that translated code executes.

mod expected;
pub mod fake;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gencl_eu::abi::{ENDED, FAULT, Frame, Tier, Translation, YIELD};
use gencl_i915::RenderNode;
use gencl_simulator::translated::source::EngineChoice;
use gencl_simulator::{LaunchStatistics, Settings, Simulator};

use crate::kernels::{REVERSE, WRITE_IDS};
use crate::setup::{CONTEXT, DATA, Launch, Machine, exec};
use fake::{Translator, each, execute, group, payload, threads};

/// [`WRITE_IDS`], instruction by instruction.
unsafe extern "C" fn write_ids(frame: *mut Frame) -> u32 {
    // SAFETY: the engine's frame, complete and in nobody else's use meanwhile.
    unsafe {
        for thread in 0..(*frame).threads {
            payload(frame, thread, 0);
            if !execute(frame, thread, 0..8) {
                return FAULT;
            }
        }
    }
    0
}

/// How often each [`counted`] was called.
static CALLS: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// [`write_ids`], counted for one test.
unsafe extern "C" fn counted<const NUMBER: usize>(frame: *mut Frame) -> u32 {
    CALLS[NUMBER].fetch_add(1, Ordering::Relaxed);
    // SAFETY: the engine's frame, complete and in nobody else's use meanwhile.
    unsafe { write_ids(frame) }
}

/// [`REVERSE`] up to its `wait` or from there on.
fn reverse_one(frame: *mut Frame, thread: u32, resume: u32) -> Option<u32> {
    // SAFETY: the engine's frame, complete and in nobody else's use meanwhile.
    unsafe {
        if resume == 0 {
            payload(frame, thread, thread as usize);
            return execute(frame, thread, 0..7).then_some(1);
        }
        execute(frame, thread, 8..14).then_some(ENDED)
    }
}

unsafe extern "C" fn reverse(frame: *mut Frame, first: u32, end: u32, resume: u32) -> u32 {
    // SAFETY: the engine's frame.
    unsafe { each(frame, first, end, |thread| reverse_one(frame, thread, resume)) }
}

fn translating(code: Translation) -> Machine {
    Machine::new(Translator::new(Ok(code), Duration::ZERO).simulator(EngineChoice::Translate))
}

fn last(machine: &Machine) -> LaunchStatistics {
    machine.node.take_launches().pop().unwrap()
}

#[test]
fn work_groups_are_executed_by_translated_code() {
    let machine = translating(group(write_ids));
    for groups in [1, 1000] {
        machine.run_kernel(&Launch { kernel: WRITE_IDS, threads: 2, groups, ..Launch::default() }).unwrap();
        assert_eq!(machine.error(), None);
        let expected: Vec<u32> = (0..16 * groups).collect();
        assert_eq!(machine.data.read(0, 16 * groups as usize), expected);
        let launch = last(&machine);
        assert_eq!(
            (launch.sum.threads, launch.sum.translated),
            (2 * u64::from(groups), 2 * u64::from(groups))
        );
    }
}

#[test]
fn partial_dispatch_masks_are_not_a_full_variant() {
    let machine = translating(group(write_ids));
    let launch = Launch { kernel: WRITE_IDS, threads: 2, right_mask: 0x07, groups: 2, ..Launch::default() };
    machine.run_kernel(&launch).unwrap();
    assert_eq!(machine.data.read(8 * 4, 8), [8, 9, 10, 0, 0, 0, 0, 0]);
    assert_eq!(last(&machine).sum.translated, 4);
}

#[test]
fn threads_yield_at_barriers() {
    let machine = translating(threads(reverse));
    let launch = Launch { kernel: REVERSE, threads: 2, slm_code: 1, groups: 3, ..Launch::default() };
    machine.run_kernel(&launch).unwrap();
    assert_eq!(machine.error(), None);
    let expected: Vec<u32> = (0..16).rev().collect();
    assert_eq!(machine.data.read(0, 16), expected);
    assert_eq!(last(&machine).sum.translated, 6);
}

#[test]
fn threads_yield_in_spin_loops() {
    /// [`reverse_one`] where thread 0 spins until thread 1 has reached the barrier, which it does when it is
    /// resumed the second time.
    fn one(frame: *mut Frame, thread: u32, resume: u32) -> Option<u32> {
        // SAFETY: the engine's frame, complete and in nobody else's use meanwhile.
        let arrived = unsafe { (*frame).arrived };
        match (thread, resume) {
            (_, 1) => reverse_one(frame, thread, 1),
            (0, _) if arrived == 0 => Some(YIELD | 2),
            (1, 0) => Some(YIELD | 2),
            (1, 0x8000_0002) => Some(YIELD | 3),
            _ => reverse_one(frame, thread, 0),
        }
    }
    unsafe extern "C" fn waits(frame: *mut Frame, first: u32, end: u32, resume: u32) -> u32 {
        // SAFETY: the engine's frame.
        unsafe { each(frame, first, end, |thread| one(frame, thread, resume)) }
    }
    let machine = translating(threads(waits));
    let launch = Launch { kernel: REVERSE, threads: 2, slm_code: 1, groups: 3, ..Launch::default() };
    machine.run_kernel(&launch).unwrap();
    assert_eq!(machine.error(), None);
    assert_eq!(machine.data.read(0, 16), (0..16).rev().collect::<Vec<u32>>());
    assert_eq!(last(&machine).sum.translated, 6);
}

#[test]
fn faults_are_those_of_the_interpreter() {
    /// Thread 0 never reaches the barrier.
    unsafe extern "C" fn absent(frame: *mut Frame, first: u32, end: u32, resume: u32) -> u32 {
        let one = |thread| if thread == 0 { Some(ENDED) } else { reverse_one(frame, thread, resume) };
        // SAFETY: the engine's frame.
        unsafe { each(frame, first, end, one) }
    }
    let wild = [0x1234_5000, 0, 0, 0, 0, 0, 0, 0];
    let wild =
        || Launch { kernel: WRITE_IDS, threads: 2, groups: 50, cross_thread: wild, ..Launch::default() };
    for (code, launch) in [(group(write_ids), wild()), (group(write_ids), Launch { groups: 1, ..wild() })] {
        let interpreter = Machine::new(Simulator::with_settings("skl", Settings::default()).unwrap());
        let error = |machine: &Machine| {
            machine.run_kernel(&launch).unwrap();
            machine.error().unwrap()
        };
        let translated = error(&translating(code));
        assert_eq!(translated, error(&interpreter));
        assert!(
            translated.contains("page fault") && translated.contains("work-group (0, 0, 0)"),
            "{translated}"
        );
    }
    let machine = translating(threads(absent));
    machine.run_kernel(&Launch { kernel: REVERSE, threads: 2, slm_code: 1, ..Launch::default() }).unwrap();
    let error = machine.error().unwrap();
    assert!(error.contains("1 of 2 threads wait for a barrier that the others never reach"), "{error}");
    assert!(error.contains("wait(1)") && error.contains("thread 1"), "{error}");
}

#[test]
fn windows_are_filled_on_demand() {
    /// Adds to the first dword of the data through a window, after a lookup that finds no buffer.
    unsafe extern "C" fn count(frame: *mut Frame) -> u32 {
        // SAFETY: the engine's frame; the window is as large as it says.
        unsafe {
            let (find_window, windows) = ((*frame).find_window, (*frame).windows);
            let window = windows.add(1);
            if (*window).size == 0 {
                if find_window(frame, 0, 0x666_0000) != 0 || (*windows).size != 0 {
                    return FAULT;
                }
                if find_window(frame, 1, DATA + 8) == 0
                    || (*window).start != DATA
                    || (*window).size != 0x40_0000
                {
                    return FAULT;
                }
                // The other window is not empty any more, and stays when this one is filled again.
                (*windows).size -= 1;
                if (*windows).start != DATA
                    || find_window(frame, 1, DATA) == 0
                    || (*windows).size != 0x3f_ffff
                {
                    return FAULT;
                }
            }
            AtomicU32::from_ptr((*window).host.cast()).fetch_add(1, Ordering::Relaxed);
        }
        0
    }
    let machine = translating(group(count));
    machine.run_kernel(&Launch { kernel: WRITE_IDS, threads: 2, groups: 5000, ..Launch::default() }).unwrap();
    assert_eq!(machine.error(), None);
    assert_eq!(machine.data.read(0, 1), [5000]);
}

#[test]
fn endless_loops_are_stopped() {
    unsafe extern "C" fn endless(frame: *mut Frame) -> u32 {
        // SAFETY: the flag is a byte that another thread sets, and the frame is the engine's.
        while unsafe { (*frame).cancel.read_volatile() == 0 || ((*frame).look)(frame, 1, 0) == 0 } {
            std::thread::yield_now();
        }
        FAULT
    }
    for groups in [1, 10] {
        let machine = translating(group(endless));
        machine.run_kernel(&Launch { kernel: WRITE_IDS, threads: 2, groups, ..Launch::default() }).unwrap();
        let error = machine.error().unwrap();
        let place = error.contains("thread 1") && error.contains("work-group (0, 0, 0)");
        assert!(error.contains("stopped after running too long") && place, "{error}");
    }
}

#[test]
fn kernels_without_translation_are_interpreted() {
    let bad = Translation { object: vec![1, 2, 3], ..Default::default() };
    for answer in [Err("it is too difficult".to_owned()), Ok(bad)] {
        let translator = Translator::new(answer, Duration::ZERO);
        let machine = Machine::new(translator.simulator(EngineChoice::Translate));
        for _ in 0..2 {
            machine
                .run_kernel(&Launch { kernel: WRITE_IDS, threads: 2, groups: 10, ..Launch::default() })
                .unwrap();
            assert_eq!(machine.data.read(0, 4), [0, 1, 2, 3]);
            assert_eq!(last(&machine).sum.translated, 0);
        }
        assert_eq!(translator.asked(), 2, "each tier is refused once and for all");
    }
}

#[test]
fn a_tier_that_fails_leaves_the_other() {
    let translator = Translator::of_tiers(Err("it crashed".to_owned()), Ok(group(write_ids)), Duration::ZERO);
    let machine = Machine::new(translator.simulator(EngineChoice::Translate));
    machine.run_kernel(&Launch { kernel: WRITE_IDS, threads: 2, groups: 10, ..Launch::default() }).unwrap();
    assert_eq!((translator.asked(), last(&machine).sum.translated), (2, 20));
}

#[test]
fn waiting_for_a_translation_is_not_a_hang() {
    let translator = Translator::new(Ok(group(write_ids)), Duration::from_millis(1000));
    let machine = Machine::new(translator.simulator(EngineChoice::Translate));
    machine.run_kernel(&Launch { kernel: WRITE_IDS, threads: 2, groups: 10, ..Launch::default() }).unwrap();
    assert_eq!(machine.error(), None);
    assert_eq!(last(&machine).sum.translated, 20);
}

#[test]
fn a_launch_switches_to_translated_code() {
    let translator = Translator::new(Ok(group(counted::<0>)), Duration::from_millis(5));
    let machine = Machine::new(translator.simulator(EngineChoice::Auto));
    // Short programs are not translated.
    machine.run_kernel(&Launch { kernel: WRITE_IDS, threads: 2, groups: 2, ..Launch::default() }).unwrap();
    assert_eq!((translator.asked(), last(&machine).sum.translated), (0, 0));
    let groups = 65_536;
    machine.run_kernel(&Launch { kernel: WRITE_IDS, threads: 2, groups, ..Launch::default() }).unwrap();
    assert_eq!(machine.error(), None);
    assert_eq!(machine.data.read(0, 16 * 65_536), (0..16 * groups).collect::<Vec<_>>());
    let sum = last(&machine).sum;
    assert_eq!(sum.threads, 2 * u64::from(groups));
    assert_eq!(sum.translated, 2 * CALLS[0].load(Ordering::Relaxed));
    assert!(sum.translated > 0 && sum.translated < sum.threads, "{sum:?}");
    assert_eq!(translator.asked(), 1);
    // It runs often enough by now: also small launches use it, and there is nothing to ask for.
    machine.run_kernel(&Launch { kernel: WRITE_IDS, threads: 2, groups: 1, ..Launch::default() }).unwrap();
    assert_eq!(last(&machine).sum.translated, 2);
    assert_eq!(translator.asked(), 1);
}

#[test]
fn a_launch_switches_to_optimised_code() {
    let first = Translation { tier: Tier::Baseline, ..group(counted::<1>) };
    let translator = Translator::of_tiers(Ok(first), Ok(group(counted::<2>)), Duration::from_millis(1));
    let machine = Machine::new(translator.simulator(EngineChoice::Translate));
    // Code is there before it is executed; a short launch does not have it optimised.
    machine.run_kernel(&Launch { kernel: WRITE_IDS, threads: 2, groups: 10, ..Launch::default() }).unwrap();
    assert_eq!((translator.asked(), last(&machine).sum.translated), (1, 20));
    let groups = 65_536;
    machine.run_kernel(&Launch { kernel: WRITE_IDS, threads: 2, groups, ..Launch::default() }).unwrap();
    assert_eq!(machine.error(), None);
    assert_eq!(machine.data.read(0, 16 * 65_536), (0..16 * groups).collect::<Vec<_>>());
    let [baseline, optimised] = [1, 2].map(|n: usize| CALLS[n].load(Ordering::Relaxed));
    assert_eq!(baseline + optimised, 10 + u64::from(groups));
    assert!(baseline > 10 && optimised > 0, "{baseline} {optimised}");
    assert_eq!(translator.asked(), 2);
}

#[test]
fn a_launch_ends_before_its_translation_arrives() {
    // One of two threads waits for the translation, but not until the answer, which comes in ten
    // minutes.
    let translator = Translator::new(Ok(group(write_ids)), Duration::from_secs(600));
    let machine = Machine::new(translator.simulator(EngineChoice::Auto));
    let groups = 65_536;
    machine.run_kernel(&Launch { kernel: WRITE_IDS, threads: 2, groups, ..Launch::default() }).unwrap();
    assert_eq!(machine.error(), None);
    assert_eq!(machine.data.read(0, 16 * 65_536), (0..16 * groups).collect::<Vec<_>>());
    assert_eq!((translator.asked(), last(&machine).sum.translated), (1, 0));
}

#[test]
fn many_small_launches_are_translated() {
    let translator = Translator::new(Ok(group(write_ids)), Duration::ZERO);
    let machine = Machine::new(translator.simulator(EngineChoice::Auto));
    machine.run_kernel(&Launch { kernel: WRITE_IDS, threads: 2, ..Launch::default() }).unwrap();
    let begin = Instant::now();
    while last(&machine).sum.translated == 0 {
        exec(&machine.node, CONTEXT, &mut machine.objects()).unwrap();
        machine.node.gem_wait(machine.batch.handle, -1).unwrap();
        assert!(begin.elapsed() < Duration::from_secs(60), "it is never translated");
    }
}

/// Launches of one work-group cannot change over: when they take long, new kernels wait for their translation.
#[test]
fn only_work_groups_wait_for_their_translation() {
    const COUNT: &str = "
        mov(1) g8<1>UD 0UD                                { align1 WE_all 1N };
        NEXT:
        add(1) g8<1>UD g8<0,1,0>UD 1UD                    { align1 WE_all 1N };
        cmp.l.f0.0(8) null<1>UD g8<0,1,0>UD 3000000UD     { align1 1Q };
        (+f0.0.any8h) jmpi(1) JIP: NEXT                   { align1 WE_all 1N };";
    let translator = Translator::new(Ok(group(write_ids)), Duration::from_millis(20));
    let machine = Machine::new(translator.simulator_within(EngineChoice::Auto, Duration::from_secs(60)));
    let translated = |kernel: &str| {
        machine.run_kernel(&Launch { kernel, threads: 2, ..Launch::default() }).unwrap();
        assert_eq!(machine.error(), None);
        last(&machine).sum.translated
    };
    assert_eq!([translated(WRITE_IDS), translated(COUNT)], [0, 0]);
    assert_eq!(translated(&format!("{WRITE_IDS}\nnop;")), 2);
    assert_eq!(machine.data.read(0, 16), (0..16).collect::<Vec<_>>());
}

/// Thread 0 waits until thread 1 has written to the data.
const SPIN: &str = "
    mov(8) g5<1>UQ g1<0,1,0>UQ                        { align1 1Q };
    mov(8) g7<1>UD 1UD                                { align1 1Q };
    cmp.ge.f0.0(8) null<1>UD g2<8,8,1>UW 8UW          { align1 1Q };
    (+f0.0) jmpi(1) JIP: WRITE                        { align1 WE_all 1N };
    WAIT:
    send(8) g8<1>UW g5<8,8,1>UD 0x04146eff
        dp data 1 MsgDesc: mlen 2 rlen 1              { align1 1Q };
    cmp.z.f0.0(8) null<1>UD g8<8,8,1>UD 0UD           { align1 1Q };
    (+f0.0) jmpi(1) JIP: WAIT                         { align1 WE_all 1N };
    WRITE:
    send(8) null<1>UW g5<8,8,1>UD 0x06066eff
        dp data 1 MsgDesc: mlen 3 rlen 0              { align1 1Q };";

#[test]
fn kernels_with_spin_loops_get_code_that_yields() {
    let translator = Translator::new(Err("no".to_owned()), Duration::ZERO);
    let limit = Duration::from_secs(60);
    let machine = Machine::new(translator.simulator_within(EngineChoice::Auto, limit));
    let begin = Instant::now();
    while translator.asked() == 0 {
        assert!(begin.elapsed() < limit, "it is never translated");
        machine.data.write(0, &[0]);
        machine.run_kernel(&Launch { kernel: SPIN, threads: 2, ..Launch::default() }).unwrap();
        assert_eq!(machine.error(), None);
        assert_eq!(machine.data.read(0, 1), [1]);
        assert_eq!(last(&machine).sum.translated, 0);
    }
    assert!(translator.requests().last().unwrap().variant.spins);
}

#[test]
fn the_interpreter_requests_no_translation() {
    let translator = Translator::new(Ok(group(write_ids)), Duration::ZERO);
    let machine = Machine::new(translator.simulator(EngineChoice::Interpret));
    machine
        .run_kernel(&Launch { kernel: WRITE_IDS, threads: 2, groups: 20_000, ..Launch::default() })
        .unwrap();
    assert_eq!((translator.asked(), last(&machine).sum.translated), (0, 0));
}

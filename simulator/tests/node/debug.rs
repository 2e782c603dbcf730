//! Launches under a debugger: forwards, backwards, and to any time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use gencl_simulator::debug::control::{Control, Debugger};
use gencl_simulator::debug::launch::DebuggedLaunch;
use gencl_simulator::debug::stops::{Point, Reason, Stops, Watch};
use gencl_simulator::{Settings, Simulator};

use crate::kernels::WRITE_IDS;
use crate::setup::{DATA, Launch, Machine};

/// Instructions of the launch: more than there are between checkpoints.
const INSTRUCTIONS: u64 = 2000 * 10;

/// What a test does with a launch, and how many there were.
struct Script {
    run: fn(&mut DebuggedLaunch<'_>),
    launches: AtomicU32,
}

impl Control for Script {
    fn debug(&self, launch: &mut DebuggedLaunch<'_>) {
        self.launches.fetch_add(1, Ordering::Relaxed);
        (self.run)(launch);
    }
}

/// Debugs a launch of 1000 work-groups of two threads, each of whose work-items writes its id.
fn debug(run: fn(&mut DebuggedLaunch<'_>)) {
    let script = Arc::new(Script { run, launches: AtomicU32::new(0) });
    let debugger = Some(Debugger(script.clone()));
    let settings = Settings { debugger, ..Settings::default() };
    let machine = Machine::new(Simulator::with_settings("skl", settings).unwrap());
    let launch = Launch { kernel: WRITE_IDS, threads: 2, groups: 1000, ..Launch::default() };
    machine.run_kernel(&launch).unwrap();
    assert_eq!((machine.error(), script.launches.load(Ordering::Relaxed)), (None, 1));
    // However the debugger leaves it, the launch ends.
    assert_eq!(machine.data.read(0, 16_000), (0..16_000).collect::<Vec<u32>>());
    let [launch] = &machine.node.take_launches()[..] else { panic!("one launch") };
    assert_eq!((launch.sum.threads, launch.sum.instructions), (2000, INSTRUCTIONS));
}

/// The number that the work-item with an id has written; 0 before that.
fn written(launch: &DebuggedLaunch<'_>, id: u64) -> u32 {
    let bytes = launch.read(DATA + 4 * id, 4).unwrap();
    u32::from_le_bytes(bytes.try_into().unwrap())
}

/// Stops when a work-item writes its number.
fn write_of(id: u64) -> Stops {
    let bytes = DATA + 4 * id..DATA + 4 * id + 4;
    Stops { watches: vec![Watch { local: None, bytes }], ..Stops::default() }
}

#[test]
fn writes_are_found_in_both_directions() {
    debug(|launch| {
        for id in [100, 15_000] {
            launch.go(0, &mut || false);
            assert_eq!(launch.run(&write_of(id), &mut || false), Reason::Watch(0));
            let after = launch.time();
            assert_eq!((written(launch, id), written(launch, id + 8)), (id as u32, 0));
            assert_eq!(launch.run(&write_of(id), &mut || false), Reason::End, "it is written once");
            assert_eq!((launch.time(), launch.position()), (INSTRUCTIONS, None));
            assert_eq!(written(launch, 15_999), 15_999);
            assert_eq!(launch.run_back(&write_of(id), &mut || false), Reason::Watch(0));
            assert_eq!((launch.time(), written(launch, id)), (after - 1, 0));
            assert_eq!(written(launch, id - 8), id as u32 - 8);
            assert_eq!(launch.run_back(&write_of(id), &mut || false), Reason::Begin);
            assert_eq!((launch.time(), written(launch, 1)), (0, 0));
        }
    });
}

#[test]
fn what_runs_is_interrupted() {
    debug(|launch| {
        let mut looks = 0;
        let mut third = || {
            looks += 1;
            looks == 3
        };
        assert_eq!(launch.run(&Stops::default(), &mut third), Reason::Interrupted);
        let time = launch.time();
        assert!(time > 0 && time < INSTRUCTIONS);
        // It goes on from there.
        assert_eq!(launch.run(&Stops::default(), &mut || false), Reason::End);
        assert_eq!(launch.run_back(&write_of(0), &mut || true), Reason::Interrupted);
    });
}

#[test]
fn a_time_has_one_state() {
    debug(|launch| {
        let state = |launch: &DebuggedLaunch<'_>| {
            let threads = &launch.group().threads;
            let registers: Vec<_> = threads.iter().map(|thread| thread.file.to_vec()).collect();
            (launch.position(), registers, launch.read(DATA, 64_000))
        };
        let times = [0, 1, 19, 5000, 16_383, 16_384, 16_385, 19_999, INSTRUCTIONS];
        let forwards: Vec<_> = times
            .iter()
            .map(|&time| {
                assert_eq!(launch.go(time, &mut || false), Reason::Time);
                state(launch)
            })
            .collect();
        for (&time, expected) in times.iter().zip(&forwards).rev() {
            assert_eq!(launch.go(time, &mut || false), Reason::Time);
            assert!(state(launch) == *expected, "at {time}");
        }
        assert_eq!(launch.go(INSTRUCTIONS + 1, &mut || false), Reason::End);
    });
}

#[test]
fn points_stop_threads_and_lanes() {
    debug(|launch| {
        let send = |lane| Point {
            code: std::iter::once(0x70..0x71).collect(),
            group: Some([3, 0, 0]),
            thread: Some(1),
            lane,
            ..Point::default()
        };
        let stops = |lane| Stops { points: vec![send(lane)], ..Stops::default() };
        assert_eq!(launch.run(&stops(Some(9)), &mut || false), Reason::End, "there is no such lane");
        assert_eq!(launch.run_back(&stops(Some(2)), &mut || false), Reason::Point(0));
        let position = launch.position().unwrap();
        assert_eq!((position.group, position.thread, position.offset), ([3, 0, 0], 1, 0x70));
        assert_eq!(position.enabled, 0xff);
        // Three work-groups, one thread, and seven instructions.
        assert_eq!(launch.time(), 3 * 20 + 10 + 7);
        let end_of = Some(([3, 0, 0], 1));
        assert_eq!(launch.run(&Stops { end_of, ..Stops::default() }, &mut || false), Reason::EndOfThread);
        let until = Some(200);
        assert_eq!(launch.run(&Stops { until, ..Stops::default() }, &mut || false), Reason::Time);
        assert_eq!(launch.time(), 200);
    });
}

//! Statistics of launches.

use std::sync::Arc;

use gencl_simulator::statistics::{Collector, Report, text};
use gencl_simulator::{Settings, Simulator};

use crate::kernels::{REVERSE, WRITE_IDS};
use crate::setup::{Launch, Machine};

fn report(workers: usize, launches: &[Launch]) -> Report {
    let collector = Arc::<Collector>::default();
    let settings = Settings { workers, statistics: Some(Arc::clone(&collector)), ..Settings::default() };
    let machine = Machine::new(Simulator::with_settings("skl", settings).unwrap());
    for launch in launches {
        machine.run_kernel(launch).unwrap();
    }
    collector.report()
}

fn ids(groups: u32) -> Launch<'static> {
    Launch { kernel: WRITE_IDS, threads: 2, groups, ..Launch::default() }
}

#[test]
fn the_number_of_host_threads_does_not_show() {
    let one = report(1, &[ids(5000)]);
    assert_eq!(one.kernels[0].threads, 10_000);
    for workers in [2, 5] {
        assert_eq!(report(workers, &[ids(5000)]), one, "{workers} threads");
    }
}

#[test]
fn launches_of_one_kernel_are_added_up() {
    let reverse = || Launch { kernel: REVERSE, threads: 2, slm_code: 1, ..Launch::default() };
    let report = report(2, &[ids(10), reverse(), ids(20)]);
    assert_eq!(report.launches.iter().map(|l| l.kernel).collect::<Vec<_>>(), [0, 1, 0]);
    let [first, second] = &report.kernels[..] else { panic!("{} kernels", report.kernels.len()) };
    assert_eq!((first.launches, first.groups, first.threads), (2, 30, 60));
    assert_eq!((second.launches, second.threads), (1, 2));
    assert_eq!(second.messages["barrier"], 2);
    assert_eq!(second.messages["end"], 2);
    for kernel in &report.kernels {
        assert_eq!(kernel.executed, kernel.instructions.iter().map(|i| i.executed).sum::<u64>());
        // A thread issues or waits.
        let clocks = |i: &gencl_simulator::statistics::report::Instruction| i.issue + i.wait;
        assert_eq!(kernel.thread_cycles, kernel.instructions.iter().map(clocks).sum::<u64>());
        assert_eq!(kernel.instructions[0].executed, kernel.threads);
    }
    let cycles =
        |kernel: usize| report.launches.iter().filter(|l| l.kernel == kernel).map(|l| l.cycles).sum::<u64>();
    assert_eq!((cycles(0), cycles(1)), (first.cycles, second.cycles));
}

#[test]
fn a_report_is_json_and_text() {
    let report = report(1, &[ids(10)]);
    let json = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
    let kernel = &report.kernels[0];
    assert!(text::table(&report).contains(&kernel.hash));
    let listing = text::listing(kernel);
    for instruction in &kernel.instructions {
        assert!(listing.contains(instruction.text.trim()), "{listing}");
    }
}

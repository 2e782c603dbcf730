//! Statistics of launches.

use std::sync::Arc;
use std::time::Duration;

use gencl_eu::abi::TranslationSource;
use gencl_eu::abi::{Answer, Frame};
use gencl_eu::dispatch::LaunchMark;
use gencl_simulator::statistics::report::Interpreted;
use gencl_simulator::statistics::{Collector, Report, live, text, written_at_exit};
use gencl_simulator::translated::source::{EngineChoice, Source};
use gencl_simulator::{Settings, Simulator};

use crate::kernels::{REVERSE, WRITE_IDS};
use crate::setup::{Launch, Machine};
use crate::translated::fake::{REASON, Translator, group};

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
fn statistics_do_not_depend_on_the_number_of_host_threads() {
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
        assert_eq!(kernel.executed, kernel.instructions.iter().map(|i| i.counter.executions).sum::<u64>());
        // A thread issues or waits.
        let clocks = |i: &gencl_simulator::statistics::report::Instruction| i.counter.issue + i.counter.wait;
        assert_eq!(kernel.thread_cycles, kernel.instructions.iter().map(clocks).sum::<u64>());
        assert_eq!(kernel.instructions[0].counter.executions, kernel.threads);
        for instruction in &kernel.instructions {
            let waits = instruction.waits.iter().map(|wait| wait.clocks).sum::<u64>();
            assert_eq!(waits, instruction.counter.wait, "{}", instruction.text);
        }
    }
    let cycles =
        |kernel: usize| report.launches.iter().filter(|l| l.kernel == kernel).map(|l| l.cycles).sum::<u64>();
    assert_eq!((cycles(0), cycles(1)), (first.cycles, second.cycles));
}

/// MI_NOOPs with the numbers of a mark.
fn mark(mark: LaunchMark) -> [u32; 2] {
    mark.numbers().map(|number| 1 << 22 | number)
}

/// Launches of the same code are of different kernels when they are marked so, and those that are marked as hidden are not counted.
#[test]
fn marks_tell_kernels_apart() {
    let collector = Arc::<Collector>::default();
    let settings = Settings { statistics: Some(Arc::clone(&collector)), ..Settings::default() };
    let machine = Machine::new(Simulator::with_settings("skl", settings).unwrap());
    let commands = machine.launch(&ids(10));
    let marks = [LaunchMark::new(2, 1), LaunchMark::new(1, 2), LaunchMark::hidden(), LaunchMark::new(2, 4)];
    for marks in marks.map(mark) {
        machine.run(&[&marks, &commands]).unwrap();
    }
    // A mark is that of a batch.
    machine.run(&[&commands]).unwrap();
    let report = collector.report();
    let kernels: Vec<_> = report.kernels.iter().map(|kernel| (kernel.id, kernel.launches)).collect();
    assert_eq!(kernels, [(2, 2), (1, 1), (0, 1)]);
    let launches: Vec<_> = report.launches.iter().map(|launch| (launch.kernel, launch.number)).collect();
    assert_eq!(launches, [(0, 1), (1, 2), (0, 4), (2, 0)]);
}

/// What a process leaves that does not exit by itself is the report of the launches that have ended.
#[test]
fn live_files_have_the_report() {
    let folder = std::env::temp_dir().join(format!("gencl-live-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("counts.json");
    let collector = written_at_exit(&path);
    let settings = Settings { statistics: Some(Arc::clone(&collector)), ..Settings::default() };
    let machine = Machine::new(Simulator::with_settings("skl", settings).unwrap());
    let [(left, process)] = &live::left_behind(&path)[..] else { panic!("one folder") };
    assert_eq!((*process, live::read(left).unwrap()), (std::process::id(), None));
    let reverse = Launch { kernel: REVERSE, threads: 2, slm_code: 1, ..Launch::default() };
    for launch in [ids(10), reverse, ids(20)] {
        machine.run_kernel(&launch).unwrap();
        assert_eq!(live::read(left).unwrap(), Some(collector.report()));
    }
    collector.remove_saved();
    assert!(live::left_behind(&path).is_empty());
    std::fs::remove_dir_all(&folder).unwrap();
}

/// With [`EngineChoice::Translate`], the statistics say what the translation leaves to the interpreter, which
/// executes and counts everything.
#[test]
fn a_report_lists_interpreted_instructions() {
    let report = |answer: Answer, engine: EngineChoice| {
        let collector = Arc::<Collector>::default();
        let source: Arc<dyn TranslationSource> = Translator::new(answer, Duration::ZERO);
        let settings = Settings {
            statistics: Some(Arc::clone(&collector)),
            translations: Some(Source(source)),
            engine,
            ..Settings::default()
        };
        let machine = Machine::new(Simulator::with_settings("skl", settings).unwrap());
        machine.run_kernel(&ids(10)).unwrap();
        collector.report()
    };
    unsafe extern "C" fn nothing(_: *mut Frame) -> u32 {
        0
    }
    let translated = report(Ok(group(nothing)), EngineChoice::Translate);
    let [kernel] = &translated.kernels[..] else { panic!("{} kernels", translated.kernels.len()) };
    assert_eq!((kernel.translated, &kernel.refused), (Some(true), &None));
    assert_eq!(kernel.interpreted[REASON], Interpreted { instructions: 1, executed: 20 });
    assert_eq!(kernel.instructions[0].interpreted.as_deref(), Some(REASON));
    assert_eq!((kernel.executed, kernel.instructions[1].interpreted.as_deref()), (20 * 10, None));
    let line = format!("1 instructions interpreted, 20 executions: {REASON}");
    assert!(text::table(&translated).contains(&line) && text::listing(kernel).contains(&line));

    let refused = report(Err("it is too difficult".to_owned()), EngineChoice::Translate);
    let kernel = &refused.kernels[0];
    assert_eq!((kernel.translated, kernel.refused.as_deref()), (Some(false), Some("it is too difficult")));
    assert!(text::table(&refused).contains("stays interpreted: it is too difficult"));

    for engine in [EngineChoice::Auto, EngineChoice::Interpret] {
        let unknown = report(Ok(group(nothing)), engine);
        assert_eq!((unknown.kernels[0].translated, unknown.kernels[0].executed), (None, 20 * 10));
    }
}

#[test]
fn a_report_is_json_and_text() {
    let report = report(1, &[ids(10)]);
    let json = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
    // A file of version 1.
    let mut old: serde_json::Value = serde_json::from_str(&json).unwrap();
    for (list, fields) in [(None, ["sources", "frames"]), (Some("kernels"), ["name", "line_information"])] {
        let objects = match list {
            None => vec![&mut old],
            Some(list) => old[list].as_array_mut().unwrap().iter_mut().collect(),
        };
        for object in objects {
            fields.iter().for_each(|field| drop(object.as_object_mut().unwrap().remove(*field)));
        }
    }
    assert_eq!(serde_json::from_value::<Report>(old).unwrap(), report);
    let kernel = &report.kernels[0];
    assert!(text::table(&report).contains(&kernel.hash));
    let listing = text::listing(kernel);
    for instruction in &kernel.instructions {
        assert!(listing.contains(instruction.text.trim()), "{listing}");
    }
}

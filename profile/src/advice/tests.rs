//! Each rule finds its fault in a few instructions with counts, and estimates what its removal gains.

use gencl_eu::profile::InstructionCounter;
use gencl_isa::{Generation, encode, parse};
use gencl_simulator::statistics::Report;
use gencl_simulator::statistics::report::{
    Frame, Instruction, Kernel, Launch, LineInformation, Source, VERSION, Wait,
};

use super::{Advice, of};
use crate::analysis::Analysis;

const LOAD: &str = "send(16) g14<1>UW g6<0,1,0>UD 0x08245eff dp data 1 { align1 1H }";
const STORE: &str = "sends(16) nullUW g18UD g1UD 0x08065eff 0x00000080 dp data 1 { align1 1H }";
const LOCAL_LOAD: &str = "send(16) g2<1>UW g18<0,1,0>UD 0x04205efe dp data 1 { align1 1H }";
const LOCAL_STORE: &str = "sends(16) nullUW g14UD g2UD 0x04025efe 0x00000080 dp data 1 { align1 1H }";
const LOCAL_ADD: &str = "send(16) g3<1>UD g5<0,1,0>UD 0x0820a7fe dp data 1 { align1 1H }";
const BARRIER: &str = "send(1) null<1>UD g26<0,1,0>UD 0x02000004 gateway { align1 WE_all 1N }";
const FILL: &str = "send(16) g125<1>UW g0<0,1,0>UD 0x021c0000 data { align1 WE_all 1H }";
const PRIVATE_LOAD: &str = "send(16) g2<1>UW g18<0,1,0>UD 0x04205eff dp data 1 { align1 1H }";
const ADD: &str = "add(16) g10<1>UD g2<8,8,1>UD g18<8,8,1>UD { align1 1H }";
const DOUBLE: &str = "add(8) g10<1>DF g2<4,4,1>DF g18<4,4,1>DF { align1 1Q }";
const SHIFT: &str = "shl(8) g10<1>UQ g2<4,4,1>UQ g18<4,4,1>UQ { align1 1Q }";
const DIVISION: &str = "math intdiv(8) g3<1>D g4<8,8,1>D g5<0,1,0>D { align1 1Q }";
const ROOT: &str = "math sqrt(8) g3<1>F g4<8,8,1>F null<8,8,1>F { align1 1Q }";
const IF: &str = "(+f0.0) if(16) JIP: 32 UIP: 32 { align1 1H }";
const END_IF: &str = "endif(16) JIP: 16 { align1 1H }";
const END: &str = "send(8) null<1>UW g127<0,1,0>UD 0x82000010 thread_spawner { align1 WE_all 1Q EOT }";

/// The source, of which instruction N is in line N.
const TEXT: &str =
    "tile[y][x] = 1;\nbarrier(CLK_LOCAL_MEM_FENCE);\nsum += in[x * n];\nbarrier(CLK_GLOBAL_MEM_FENCE);\n";

/// Ten threads with all lanes execute an instruction.
fn counter(issue: u64) -> InstructionCounter {
    InstructionCounter { executions: 10, lanes: 160, issue: 10 * issue, ..InstructionCounter::default() }
}

/// A report of one kernel, whose launch has these bounds.
fn report(
    code: &[(&str, Option<&str>, InstructionCounter)],
    bounds: &[(&str, u64)],
    change: fn(&mut Kernel),
) -> Report {
    let encoded = code.iter().flat_map(|(text, ..)| {
        let instruction = parse(Generation::Gen9, text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        encode(Generation::Gen9, &instruction).unwrap()
    });
    let instructions = code.iter().enumerate().map(|(index, (text, class, counter))| Instruction {
        offset: index as u32 * 16,
        text: (*text).to_owned(),
        width: text.split(['(', ')']).find_map(|part| part.parse().ok()).unwrap(),
        frames: vec![index],
        counter: *counter,
        class: class.map(str::to_owned),
        waits: if counter.wait > 0 { vec![Wait { offset: 0, clocks: counter.wait }] } else { Vec::new() },
        intops: u32::from(*text == ADD),
        ..Instruction::default()
    });
    let (limit, cycles) = bounds.iter().max_by_key(|(_, clocks)| *clocks).unwrap();
    let mut kernel = Kernel {
        name: "k".to_owned(),
        line_information: LineInformation::Present,
        code: encoded.map(|byte| format!("{byte:02x}")).collect(),
        simd_width: 16,
        launches: 1,
        threads: 10,
        groups: 10,
        cycles: *cycles,
        full_cycles: *cycles,
        occupancy: 7.0,
        threads_per_eu: 7,
        distinct_lines: instructions.clone().map(|instruction| instruction.counter.misses).sum(),
        instructions: instructions.collect(),
        ..Kernel::default()
    };
    change(&mut kernel);
    let bounds = bounds.iter().map(|(name, clocks)| ((*name).to_owned(), *clocks)).collect();
    Report {
        version: VERSION,
        device: "skl".to_owned(),
        launches: vec![Launch { limit: (*limit).to_owned(), cycles: *cycles, bounds, ..Launch::default() }],
        frames: (0..code.len())
            .map(|index| Frame { function: "k".to_owned(), source: 0, line: index as u32 + 1, column: 1 })
            .collect(),
        sources: vec![Source { name: "k.cl".to_owned(), text: Some(TEXT.to_owned()) }],
        kernels: vec![kernel],
        ..Report::default()
    }
}

/// The first advice for a kernel.
fn first(report: &Report) -> Advice {
    of(&Analysis::of(report)).into_iter().next().expect("there is advice")
}

/// The fault, the line and the gain that are told first.
#[track_caller]
fn check(report: &Report, fault: &str, line: Option<u32>, gain: f64) -> Advice {
    let advice = first(report);
    assert_eq!((advice.fault, advice.lines.first().map(|(_, line)| *line)), (fault, line), "{advice:?}");
    assert!((advice.gain - gain).abs() < 1e-9, "{advice:?}");
    advice
}

fn memory(lines: u64, bytes: u64) -> InstructionCounter {
    InstructionCounter {
        lines: 10 * lines,
        bytes: 10 * bytes,
        misses: 10 * lines,
        port: 10 * lines,
        ..counter(2)
    }
}

#[test]
fn uncoalesced_access() {
    let code = [
        (ADD, None, counter(4)),
        (ADD, None, counter(4)),
        (LOAD, Some("memory"), memory(16, 64)),
        (END, Some("end"), counter(2)),
    ];
    // A sixteenth of the data port's clocks remain, so that the pipes are the limit.
    let found = report(&code, &[("data port", 1600), ("pipes", 400), ("memory", 160)], |_| {});
    let advice = check(&found, "uncoalesced access", Some(3), 4.0);
    assert!(advice.reason.contains("16.0 cache lines; their bytes fit in 1.0"), "{}", advice.reason);
    let text = advice.text(&Analysis::of(&found));
    assert!(text.starts_with("k: access ") && text.ends_with(", line 3: at most 4.0 x"), "{text}");
    // All bytes of the lines are used, so that memory still delivers them.
    let all = report(&code, &[("data port", 1600), ("memory", 800)], |kernel| {
        kernel.instructions[2].counter.bytes *= 16;
        kernel.distinct_lines = 10;
        kernel.instructions[2].counter.bytes = 640;
    });
    check(&all, "uncoalesced access", Some(3), 2.0);
    // Lines of their own are needed for vectors.
    let vectors = report(&[(LOAD, Some("memory"), memory(4, 256)), code[3]], &[("data port", 1600)], |_| {});
    assert_eq!(of(&Analysis::of(&vectors)), []);
}

#[test]
fn bank_conflicts() {
    let conflicts = InstructionCounter { port: 160, conflicts: 150, ..counter(2) };
    let code =
        [(LOCAL_STORE, Some("slm"), conflicts), (ADD, None, counter(4)), (END, Some("end"), counter(2))];
    let found = report(&code, &[("data port", 1600), ("pipes", 400)], |_| {});
    let advice = check(&found, "bank conflicts", Some(1), 4.0);
    assert!(advice.action.contains("`tile`"), "{}", advice.action);
}

#[test]
fn operations_on_the_same_element() {
    let same = InstructionCounter { port: 160, conflicts: 150, ..counter(2) };
    let code =
        [(LOCAL_ADD, Some("slm atomic"), same), (ADD, None, counter(4)), (END, Some("end"), counter(2))];
    check(
        &report(&code, &[("data port", 1000), ("pipes", 500)], |_| {}),
        "atomic operations on the same element",
        Some(1),
        2.0,
    );
}

/// A kernel with a barrier in the second line, between these accesses.
fn around_barrier(before: (&str, &str), after: (&str, &str)) -> Report {
    let barrier = InstructionCounter { awaited: 500, ..counter(2) };
    let waiting = InstructionCounter { wait: 500, ..counter(4) };
    let access = InstructionCounter { port: 10, ..counter(2) };
    let code = [
        (before.0, Some(before.1), access),
        (BARRIER, Some("barrier"), barrier),
        (ADD, None, waiting),
        (after.0, Some(after.1), access),
        (END, Some("end"), counter(2)),
    ];
    report(&code, &[("latency", 1000), ("pipes", 100)], |_| {})
}

#[test]
fn redundant_barriers() {
    let (load, store) = ((LOCAL_LOAD, "slm"), (LOCAL_STORE, "slm"));
    // 520 of 620 clocks of the threads.
    let advice = check(
        &around_barrier(load, load),
        "barrier that may be redundant",
        Some(2),
        1.0 / (1.0 - 520.0 / 620.0),
    );
    assert!(advice.reason.contains("local memory is only read (line 1) before it"), "{}", advice.reason);
    let redundant = |before, after| !Analysis::of(&around_barrier(before, after)).redundant[0].is_empty();
    assert!(redundant(load, load) && redundant((LOAD, "memory"), load));
    assert!(!redundant(store, load) && !redundant(load, store) && !redundant(store, store));
    // It is one of local memory.
    assert!(redundant((STORE, "memory"), (LOAD, "memory")));
    assert!(redundant(store, (STORE, "memory")), "nothing of local memory comes after it");
}

#[test]
fn a_barrier_of_global_memory_is_needed_for_it() {
    let mut report = around_barrier((STORE, "memory"), (LOAD, "memory"));
    report.sources[0].text = Some(TEXT.replace("LOCAL", "GLOBAL"));
    assert!(Analysis::of(&report).redundant[0].is_empty());
}

#[test]
fn barriers_in_loops_see_the_next_iteration() {
    let access = InstructionCounter { port: 10, ..counter(2) };
    let barrier = InstructionCounter { awaited: 500, ..counter(2) };
    let in_loop = |body: &'static str| {
        let code = [
            (LOCAL_LOAD, Some("slm"), access),
            (BARRIER, Some("barrier"), barrier),
            (body, Some("slm"), access),
            ("while(16) JIP: -48 { align1 1H }", None, counter(8)),
            (END, Some("end"), counter(2)),
        ];
        Analysis::of(&report(&code, &[("latency", 1000)], |_| {})).redundant[0].len()
    };
    assert_eq!((in_loop(LOCAL_LOAD), in_loop(LOCAL_STORE)), (1, 0));
}

#[test]
fn of_two_barriers_without_accesses_between_them_one_remains() {
    let access = InstructionCounter { port: 10, ..counter(2) };
    let barrier = InstructionCounter { awaited: 500, ..counter(2) };
    let code = [
        (LOCAL_STORE, Some("slm"), access),
        (BARRIER, Some("barrier"), barrier),
        (ADD, None, counter(4)),
        (BARRIER, Some("barrier"), barrier),
        (LOCAL_LOAD, Some("slm"), access),
        (END, Some("end"), counter(2)),
    ];
    let report = report(&code, &[("latency", 1000)], |_| {});
    assert_eq!(Analysis::of(&report).redundant[0].len(), 1);
}

#[test]
fn divergence_is_that_of_the_branch() {
    let half = InstructionCounter { lanes: 80, ..counter(36) };
    let code = [
        (IF, None, counter(8)),
        (ADD, None, half),
        (END_IF, None, counter(8)),
        (END, Some("end"), counter(2)),
    ];
    // Half of the 360 clocks of the pipes.
    check(&report(&code, &[("pipes", 1000)], |_| {}), "divergence", Some(1), 2.0);
}

#[test]
fn partly_filled_threads() {
    let quarter = InstructionCounter { lanes: 40, ..counter(4) };
    let code = [(ADD, None, quarter), (END, Some("end"), counter(2))];
    let advice = check(&report(&code, &[("pipes", 1000)], |_| {}), "partly filled threads", None, 4.0);
    assert!(advice.action.contains("a multiple of 16"), "{}", advice.action);
}

#[test]
fn spilled_registers() {
    let fill = InstructionCounter { port: 10, awaited: 1000, ..counter(2) };
    let waiting = InstructionCounter { wait: 1000, ..counter(4) };
    let code = [(FILL, Some("memory"), fill), (ADD, None, waiting), (END, Some("end"), counter(2))];
    let spilling = report(&code, &[("latency", 1000), ("pipes", 250)], |kernel| kernel.spill_bytes = 64);
    let advice = check(&spilling, "spilled registers", Some(1), 4.0);
    assert!(advice.action.contains("intel_reqd_sub_group_size(8)"), "{}", advice.action);
    let narrow = report(&code, &[("latency", 1000), ("pipes", 250)], |kernel| {
        (kernel.spill_bytes, kernel.simd_width) = (64, 8);
    });
    assert!(!first(&narrow).action.contains("sub_group_size"));
}

#[test]
fn arrays_in_private_memory() {
    let load = InstructionCounter { awaited: 900, ..memory(1, 64) };
    let waiting = InstructionCounter { wait: 900, ..counter(8) };
    let code = [(PRIVATE_LOAD, Some("memory"), load), (ADD, None, waiting), (END, Some("end"), counter(2))];
    // 920 of 1020 clocks.
    let report = report(&code, &[("latency", 1000)], |kernel| kernel.private_bytes = 64);
    check(&report, "array in private memory", Some(1), 10.2);
}

#[test]
fn few_and_unequal_threads() {
    let code = [(ADD, None, counter(4)), (END, Some("end"), counter(2))];
    let few = report(&code, &[("latency", 1000)], |kernel| kernel.full_cycles = 100);
    let advice = check(&few, "few threads", None, 10.0);
    assert!(advice.reason.contains("10 threads; the device holds 168"), "{}", advice.reason);
    let unequal = report(&code, &[("latency", 1000)], |kernel| {
        (kernel.full_cycles, kernel.threads) = (500, 1000);
    });
    check(&unequal, "unequal threads", None, 2.0);
}

#[test]
fn low_occupancy() {
    let code = [(ADD, None, counter(4)), (END, Some("end"), counter(2))];
    let by_memory = report(&code, &[("latency", 1000), ("pipes", 500)], |kernel| {
        (kernel.occupancy, kernel.local_bytes) = (3.5, 16 << 10);
        (kernel.threads, kernel.groups) = (168, 24);
    });
    let advice = check(&by_memory, "low occupancy", None, 2.0);
    assert!(advice.action.contains("bytes of local memory"), "{}", advice.action);
    // Two threads in each of 16 work-groups of a subslice with eight EUs.
    let by_barriers = report(&code, &[("latency", 1000), ("pipes", 800)], |kernel| {
        (kernel.occupancy, kernel.threads, kernel.groups) = (4.0, 336, 168);
    });
    let advice = check(&by_barriers, "low occupancy", None, 1.25);
    assert!(advice.action.contains("larger work-groups"), "{}", advice.action);
    // All threads of the launch are resident.
    let few = report(&code, &[("latency", 1000), ("pipes", 800)], |kernel| kernel.occupancy = 1.0);
    assert_eq!(of(&Analysis::of(&few)), []);
}

#[test]
fn slow_arithmetic() {
    for (text, fault, kept) in [
        (DIVISION, "integer division", 0.0),
        (DOUBLE, "64-bit floats", 0.5),
        (SHIFT, "64-bit integers", 0.25),
    ] {
        let slow = InstructionCounter { lanes: 80, ..counter(12) };
        let code = [(ADD, None, counter(4)), (text, None, slow), (END, Some("end"), counter(2))];
        let part: f64 = (40.0 + 120.0 * kept) / 160.0;
        check(&report(&code, &[("pipes", 1000)], |_| {}), fault, Some(2), 1.0 / part);
    }
}

#[test]
fn extended_math_where_its_pipe_is_the_limit() {
    let code = [
        (ADD, None, counter(4)),
        (ROOT, None, InstructionCounter { lanes: 80, ..counter(12) }),
        (END, Some("end"), counter(2)),
    ];
    // A third of the threads' clocks remains, too.
    check(
        &report(&code, &[("one pipe", 1000), ("latency", 1500 / 2)], |_| {}),
        "extended math",
        Some(2),
        4.0,
    );
    assert_eq!(of(&Analysis::of(&report(&code, &[("pipes", 1000)], |_| {}))), []);
}

#[test]
fn the_same_element_for_all_lanes() {
    let load =
        InstructionCounter { executions: 100, lanes: 1600, lines: 100, bytes: 400, port: 100, ..counter(20) };
    let code = [(LOAD, Some("memory"), load), (ADD, None, counter(4)), (END, Some("end"), counter(2))];
    let advice = check(
        &report(&code, &[("data port", 1000), ("pipes", 250)], |_| {}),
        "the same element for all lanes",
        Some(1),
        4.0,
    );
    assert!(advice.action.contains("vload4"), "{}", advice.action);
}

#[test]
fn waiting_is_told_when_nothing_else_is() {
    let load = InstructionCounter { awaited: 900, ..memory(1, 64) };
    let waiting = InstructionCounter { wait: 900, ..counter(8) };
    let code = [(LOAD, Some("memory"), load), (ADD, None, waiting), (END, Some("end"), counter(2))];
    check(&report(&code, &[("latency", 1000), ("pipes", 500)], |_| {}), "waiting for memory", Some(1), 2.0);
}

#[test]
fn the_next_limit_bounds_the_gain() {
    let conflicts = InstructionCounter { port: 160, conflicts: 150, ..counter(2) };
    let code =
        [(LOCAL_STORE, Some("slm"), conflicts), (ADD, None, counter(4)), (END, Some("end"), counter(2))];
    let near = report(&code, &[("data port", 1000), ("pipes", 990)], |_| {});
    assert_eq!(of(&Analysis::of(&near)), [], "a gain of 1% is none");
    // Launches have their own limits.
    let mut several = report(&code, &[("data port", 1000), ("pipes", 500)], |_| {});
    let other = Launch { bounds: [("pipes".to_owned(), 1000)].into(), ..several.launches[0].clone() };
    several.launches.push(other);
    check(&several, "bank conflicts", Some(1), 2000.0 / 1500.0);
}

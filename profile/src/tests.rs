//! Tests with the report of `fixture.rs`.

use std::io::Read;

use flate2::read::GzDecoder;
use gencl_simulator::statistics::Report;
use gencl_simulator::statistics::report::{Kernel, Launch};

use crate::analysis::{Analysis, Cost};
use crate::compare::{Change, compare};
use crate::fixture::{FILE, TEXT, report};
use crate::{callgrind, devices, flame, html, pprof, table};

#[test]
fn lines_have_the_clocks_of_their_instructions() {
    let report = report();
    let analysis = Analysis::of(&report);
    assert_eq!(analysis.shares, [0.9, 0.1]);
    let clocks: Vec<_> = analysis.lines[0].iter().map(|(key, line)| (*key, line.cost.clocks)).collect();
    // The inlined function's line 2, the kernel's, and the end that belongs to none. Line 6 only calls.
    let line = |line| Some((0, line));
    assert_eq!(clocks, [(None, 20), (line(2), 120), (line(5), 40), (line(6), 0), (line(7), 4040)]);
    assert_eq!(analysis.kernels[0].clocks, 4220);
    // The data port, which limits the kernel, is used by line 2.
    let hottest: Vec<_> = analysis.hottest_lines().into_iter().map(|(key, _)| key.1).collect();
    assert_eq!(hottest, [2, 7, 5, 6]);
    let cost = &analysis.all_lines[&line(7)];
    let near = |a: f64, clocks: f64| assert!((a - 0.9 * clocks / 4220.0).abs() < 1e-12, "{a}");
    near(cost.share, 4040.0);
    near(cost.inclusive, 4060.0);
    near(analysis.lines[0][&line(6)].inclusive, 100.0);
    near(analysis.lines[0][&line(2)].inclusive, 120.0);
}

#[test]
fn reasons_name_the_producer_and_its_fault() {
    let report = report();
    let analysis = Analysis::of(&report);
    let reasons = |line| analysis.reasons(Some((0, line)), &analysis.all_lines[&Some((0, line))]);
    assert_eq!(
        reasons(7),
        [
            "74% wait for memory of line 2 (uncoalesced: 16.0 cache lines per message, neighbouring addresses need 1.0)",
            "25% wait for slm of line 2 (bank conflicts: 16.0 clocks per message)",
            "divergence: 8.0 of 16.0 lanes enabled",
        ]
    );
    assert_eq!(reasons(5), ["100% issue"]);
    assert_eq!(reasons(2)[0], "67% wait for the result of line 5");
    assert!(reasons(2).contains(&"100% of the limiting data port".to_owned()), "{:?}", reasons(2));
}

#[test]
fn the_summary_has_kernels_and_lines() {
    let report = report();
    let text = table::summary(&Analysis::of(&report));
    let row = |name: &str| {
        text.lines().find(|line| line.ends_with(name)).unwrap().split_whitespace().collect::<Vec<_>>()
    };
    assert_eq!(
        row(" sum"),
        ["90.0%", "2", "900", "4220", "96.7%", "16", "90.0%", "64", "50.0%", "data", "port", "sum"]
    );
    assert!(text.contains("00000000000000b2: no source lines, built without lines"), "{text}");
    assert!(text.contains(&format!(" 0.0%  86.2%  {FILE}:7  s += load(x, 0);")), "{text}");
    assert!(!text.contains(":6  "), "a line without instructions: {text}");
}

/// The numbers of each line of a file in callgrind's format, after the position.
fn costs(line: &str) -> Vec<u64> {
    line.split(' ').skip(2).map(|number| number.parse().unwrap()).collect()
}

#[test]
fn callgrind_costs_add_up() {
    let report = report();
    let text = callgrind::write(&Analysis::of(&report));
    let summary: Vec<u64> = {
        let line = text.lines().find_map(|line| line.strip_prefix("summary: ")).unwrap();
        line.split(' ').map(|number| number.parse().unwrap()).collect()
    };
    let mut own = vec![0; summary.len()];
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("calls=") {
            lines.next();
        } else if line.starts_with("0x") {
            own.iter_mut().zip(costs(line)).for_each(|(sum, cost)| *sum += cost);
        }
    }
    assert_eq!(own, summary);
    let mut total = Cost::default();
    Analysis::of(&report).kernels.iter().for_each(|cost| total.add(cost));
    assert_eq!(summary[..2], [total.clocks, total.issue]);
    // The two calls of `load`, at their lines, with the inclusive cost.
    let calls: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("cfn=load")).collect();
    assert_eq!(calls[..3], ["cfn=load", "calls=10 0x1000010 2", "0x1000010 6 100 20 80 10 160 160"]);
    assert_eq!(calls[4..7], ["cfn=load", "calls=10 0x1000020 2", "0x1000020 7 20 20 0 10 160 0"]);
}

#[test]
fn folded_stacks_begin_with_the_kernel() {
    let report = report();
    assert_eq!(
        flame::folded(&Analysis::of(&report)),
        format!("00000000000000b2 100\nsum 20\nsum;{FILE}:5 40\nsum;{FILE}:7 4040\nsum;load;{FILE}:2 120\n")
    );
}

#[test]
fn the_flame_graph_is_as_wide_as_the_time() {
    let report = report();
    let root = flame::tree(&Analysis::of(&report));
    assert!((root.value - 1.0).abs() < 1e-12);
    for node in [&root, &root.children[1]] {
        let inside: f64 = node.children.iter().map(|child| child.value).sum();
        assert!(inside <= node.value + 1e-12, "{node:?}");
    }
    assert_eq!(root.children[1].name, "sum");
}

#[test]
fn pprof_is_compressed_and_reproducible() {
    let report = report();
    let bytes = pprof::write(&Analysis::of(&report)).unwrap();
    assert_eq!(bytes, pprof::write(&Analysis::of(&report)).unwrap());
    let mut text = Vec::new();
    GzDecoder::new(&bytes[..]).read_to_end(&mut text).unwrap();
    for name in ["Clocks", "CacheLines", "load", FILE] {
        assert!(text.windows(name.len()).any(|window| window == name.as_bytes()), "{name}");
    }
}

#[test]
fn text_in_the_page_cannot_end_its_element() {
    let mut report = report();
    report.sources[0].text = Some("// </script><b>".to_owned());
    let page = html::write(&Analysis::of(&report), &[], None).unwrap();
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(!page.contains("{{") && !page.contains("http://localhost"));
}

/// A report whose launches are limited by latency.
fn limited_by_latency(mut report: Report) -> Report {
    report.launches.iter_mut().for_each(|launch| launch.limit = "latency".to_owned());
    report
}

/// The report of a program in which a line was inserted, and line 7 was changed so that it takes 440 clocks more.
fn slower() -> Report {
    let mut report = report();
    let text = TEXT.replace("    s +=", "    // A remark.\n    s += 2 *");
    report.sources[0].text = Some(text);
    let frames = report.frames.iter_mut().filter(|frame| frame.line >= 7);
    frames.for_each(|frame| frame.line += 1);
    report.kernels[0].instructions[3].counter.issue += 440;
    report.kernels[0].cycles += 90;
    report
}

#[test]
fn a_slower_line_is_found() {
    let (old, new) = (limited_by_latency(report()), limited_by_latency(slower()));
    let (old, new) = (Analysis::of(&old), Analysis::of(&new));
    let comparison = compare(&old, &new);
    let names = |limit| comparison.slower(limit).iter().map(|change| change.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(0.05), ["sum".to_owned(), format!("{FILE}:8")]);
    // 45 of 450 clocks, and 495 * 4480/4660 - 450 * 4040/4220.
    assert_eq!(names(0.1001), [format!("{FILE}:8")]);
    assert_eq!(names(0.11), <[String; 0]>::default());
    assert!(comparison.text().contains("s += 2 * load(x, 0);"), "{}", comparison.text());
    // The data port is used by line 2 alone.
    let (old, new) = (report(), slower());
    let (old, new) = (Analysis::of(&old), Analysis::of(&new));
    let comparison = compare(&old, &new);
    assert_eq!(comparison.slower(0.05)[1].name, format!("{FILE}:2"));
    let same = compare(&old, &old);
    assert!(same.slower(0.0).is_empty() && same.text().contains("no line has changed"));
}

/// `report` after `change` of the first kernel, whose launches have another limit.
fn changed(limit: &str, change: impl Fn(&mut Kernel)) -> Report {
    let mut report = report();
    change(&mut report.kernels[0]);
    report.launches.iter_mut().for_each(|launch| launch.limit = limit.to_owned());
    report
}

/// Lines get shares of another resource when another one becomes the limit; that is no regression.
#[test]
fn a_faster_kernel_passes_the_check() {
    let (old, faster) = (report(), changed("pipes", |kernel| kernel.cycles = 400));
    let comparison = compare(&Analysis::of(&old), &Analysis::of(&faster));
    assert!(comparison.slower(0.0).is_empty(), "{}", comparison.text());
    // Each line keeps its part of the pipes.
    assert!(comparison.lines.iter().all(|line| line.slowdown() < 0.0), "{}", comparison.text());
    // As slow as before, with work that has moved from one line to another.
    let moved = changed("data port", |kernel| kernel.instructions[2].counter.port *= 3);
    let comparison = compare(&Analysis::of(&old), &Analysis::of(&moved));
    assert!(comparison.slower(0.0).is_empty(), "{}", comparison.text());
}

/// A kernel that becomes slower behind another limit is compared by what limits it now, and its lines' clocks add up to its own.
#[test]
fn shares_are_compared_under_the_same_limit() {
    let slower = changed("pipes", |kernel| {
        kernel.cycles = 1800;
        kernel.instructions[3].counter.issue += 4 * 200;
    });
    let old = report();
    let comparison = compare(&Analysis::of(&old), &Analysis::of(&slower));
    let names: Vec<&str> = comparison.slower(0.05).iter().map(|change| change.name.as_str()).collect();
    assert_eq!(names, ["sum", &format!("{FILE}:7")]);
    // Messages use no pipe, so that each instruction of the pipes belongs to a line.
    let sums = [0, 1].map(|now| {
        let of = |change: &Change| if now == 0 { change.before } else { change.after };
        comparison.lines.iter().map(of).sum::<f64>()
    });
    assert!((sums[0] - 450.0).abs() < 1e-9 && (sums[1] - 900.0).abs() < 1e-9, "{sums:?}");
}

/// The row of a device's table that ends with a text, and how many there are.
fn rows<'a>(text: &'a str, end: &str) -> (Vec<&'a str>, usize) {
    let found: Vec<&str> = text.lines().filter(|line| line.ends_with(end)).collect();
    (found.first().map(|row| row.split_whitespace().collect()).unwrap_or_default(), found.len())
}

/// The lines of a kernel are the same though the program has another source on each device, and what was not measured is no zero.
#[test]
fn devices_have_the_same_lines() {
    let (mut first, mut second) = (report(), report());
    second.device = "hsw".to_owned();
    let source = &mut second.sources[0];
    source.text = Some(format!("// 6f1d2c\n{TEXT}\n__constant int defeat_cache_1a2b = 0;\n"));
    source.name = "1-4567cdef-sum.cl".to_owned();
    second.kernels[0].program = "1-4567cdef-sum".to_owned();
    second.frames.iter_mut().for_each(|frame| frame.line += 1);
    first.kernels[0].instructions[0].counter = Default::default();
    first.kernels[0].instructions[0].frames.clear();
    let text = devices::text(&[Analysis::of(&first), Analysis::of(&second)]);
    let (row, count) = rows(&text, "s += load(x, 0);");
    assert_eq!((row.len() > 4, count), (true, 1), "{text}");
    let (row, _) = rows(&text, "int i = get_global_id(0);");
    assert_eq!((row[0], row[2]), ("-", format!("{FILE}:5").as_str()), "{text}");
}

#[test]
fn the_summary_has_resources_launches_and_faults() {
    let mut report = report();
    report.notes.push("process 7 did not exit by itself".to_owned());
    let kernel = &mut report.kernels[0];
    (kernel.registers, kernel.lines) = (40, 160);
    kernel.messages.insert("memory".to_owned(), 10);
    kernel.occupancy_limit = "local memory".to_owned();
    kernel.faults = 1;
    for (number, launch) in (1..).zip(&mut report.launches) {
        (launch.number, launch.global, launch.local) = (number, [64, 8, 1], [8, 8, 1]);
        launch.arguments = vec!["x=512 bytes".to_owned()];
    }
    let fault = Some("page fault\nlane 3".to_owned());
    report.launches.push(Launch { number: 9, groups: [1; 3], fault, ..Launch::default() });
    let text = table::summary(&Analysis::of(&report));
    assert!(text.contains("incomplete: process 7 did not exit by itself"), "{text}");
    assert!(text.contains("sum: 1 of 3 launches failed: page fault; lane 3"), "{text}");
    let row = |begin: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(begin)).unwrap_or_default();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // 16 lines in each of 10 messages; 160 lines of 64 bytes in 900 clocks.
    assert_eq!(row("40  "), "40 64 0 0 0 50.0% 16.0 11.4 11.4 local memory sum");
    assert_eq!(row("2  "), "2 1 400 64 x 8 8 x 8 pipes sum: x=512 bytes");
    assert_eq!(row("9  "), "9 1 - 1 groups - failed sum", "{text}");
}

#[test]
fn devices_are_shown_side_by_side() {
    let (first, mut second) = (report(), slower());
    second.device = "hsw".to_owned();
    let text = devices::text(&[Analysis::of(&first), Analysis::of(&second)]);
    for part in ["clocks on skl", "clocks on hsw", "900", "990", "share on hsw"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

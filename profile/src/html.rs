//! The page: one HTML file with its style, script and data, which needs no network.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use gencl_eu::device::Device;
use gencl_simulator::statistics::Report;
use gencl_simulator::statistics::report::{Kernel, LineInformation, Source};

use crate::analysis::{Analysis, Cost, Line, LineKey, Stalls, kernel_name, shown_frame};
use crate::flame::{self, Node};
use crate::trace::{Record, Trace};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// What the script shows.
#[derive(Serialize)]
struct Data<'a> {
    program: &'a str,
    device: &'a str,
    kernels: Vec<KernelData<'a>>,
    sources: &'a [Source],
    /// The lines of each kernel.
    lines: Vec<Vec<LineData<'a>>>,
    /// Those of all kernels.
    all: Vec<LineData<'a>>,
    flame: Node,
    timeline: Vec<Track>,
    roofs: Roofs,
}

#[derive(Serialize)]
struct KernelData<'a> {
    name: &'a str,
    share: f64,
    launches: u64,
    cycles: u64,
    limit: &'a str,
    simd_width: u32,
    cost: Cost,
    stalls: Stalls,
    distinct_lines: u64,
    occupancy: f64,
    threads_per_eu: u32,
    spill_bytes: u32,
    private_bytes: u32,
    local_bytes: u32,
    without_lines: &'a str,
    /// Line and text of the instructions of its Gen IR.
    gen_ir: Vec<(LineKey, &'a str)>,
    instructions: Vec<InstructionData<'a>>,
}

#[derive(Serialize)]
struct LineData<'a> {
    line: Option<LineKey>,
    share: f64,
    inclusive: f64,
    cost: &'a Cost,
    stalls: Stalls,
    reasons: Vec<String>,
}

#[derive(Serialize)]
struct InstructionData<'a> {
    offset: u32,
    text: &'a str,
    share: f64,
    cost: Cost,
    stalls: Stalls,
    line: Option<LineKey>,
    /// Offset of the instruction that is waited for, and clocks.
    waits: Vec<(u32, u64)>,
}

/// Limits of the device, per clock.
#[derive(Serialize)]
struct Roofs {
    /// Operations.
    peak: u32,
    /// Bytes from memory.
    memory: u32,
    /// Bytes from the L3 cache.
    l3: u32,
}

/// Bytes of a cache line, of which memory delivers one in a clock, and so does the L3 cache to each subslice
/// (`docs/statistics.md`).
const LINE_BYTES: u32 = 64;
/// Operations of an EU in a clock: multiply-adds of two pipes with four lanes each ("The Compute Architecture of Intel
/// Processor Graphics Gen9", "EU Architecture").
const OPERATIONS_PER_EU: u32 = 2 * 2 * 4;

impl Roofs {
    fn of(device: Option<&Device>) -> Roofs {
        let (eus, subslices) = device.map_or((1, 1), |d| (d.total_eus(), d.slices * d.subslices));
        Roofs { peak: eus * OPERATIONS_PER_EU, memory: LINE_BYTES, l3: LINE_BYTES * subslices }
    }
}

fn line<'a>(analysis: &Analysis<'_>, key: Option<LineKey>, line: &'a Line) -> LineData<'a> {
    let reasons = analysis.reasons(key, line);
    LineData {
        line: key,
        share: line.share,
        inclusive: line.inclusive,
        cost: &line.cost,
        stalls: line.stalls.clone(),
        reasons,
    }
}

fn kernel<'a>(analysis: &Analysis<'a>, number: usize) -> KernelData<'a> {
    let kernel = &analysis.report.kernels[number];
    let instructions = kernel.instructions.iter().map(|instruction| InstructionData {
        offset: instruction.offset,
        text: instruction.text.trim(),
        share: analysis.share_of(number, instruction),
        cost: Cost::of(instruction),
        stalls: Stalls::of(kernel, instruction),
        line: shown_frame(analysis.report, instruction).map(|frame| (frame.source, frame.line)),
        waits: instruction.waits.iter().map(|wait| (wait.offset, wait.clocks)).collect(),
    });
    let mut stalls = Stalls::default();
    analysis.lines[number].values().for_each(|line| stalls.add(&line.stalls));
    KernelData {
        name: kernel_name(kernel),
        share: analysis.shares[number],
        launches: kernel.launches,
        cycles: kernel.cycles,
        limit: analysis.limits[number],
        simd_width: kernel.simd_width,
        cost: analysis.kernels[number],
        stalls,
        distinct_lines: kernel.distinct_lines,
        occupancy: kernel.occupancy,
        threads_per_eu: kernel.threads_per_eu,
        spill_bytes: kernel.spill_bytes,
        private_bytes: kernel.private_bytes,
        local_bytes: kernel.local_bytes,
        without_lines: match &kernel.line_information {
            LineInformation::Missing(reason) => reason,
            LineInformation::Present | LineInformation::Unknown => "",
        },
        gen_ir: gen_ir(analysis.report, kernel),
        instructions: instructions.collect(),
    }
}

/// The instructions of a kernel's Gen IR that are in the program's source, with their lines.
fn gen_ir<'a>(report: &Report, kernel: &'a Kernel) -> Vec<(LineKey, &'a str)> {
    let file = format!("{}.cl", kernel.program);
    let Some(source) = report.sources.iter().position(|source| source.name == file) else {
        return Vec::new();
    };
    let located = |line: &'a str| {
        let (text, place) = line.trim().rsplit_once(" ; ")?;
        let (line, column) = place.split_once(':')?;
        let _: u32 = column.parse().ok()?;
        Some(((source, line.parse().ok()?), text))
    };
    kernel.gen_ir.lines().filter_map(located).collect()
}

/// A row of the timeline: slices that follow each other or are nested.
#[derive(Serialize)]
struct Track {
    process: u32,
    name: String,
    slices: Vec<TimeSlice>,
}

/// Begin and end in nanoseconds after the first, the name, and what is to be told.
#[derive(Serialize)]
struct TimeSlice(u64, u64, String, String);

/// Slices of a track, at most: the longest.
const MAX_SLICES: usize = 5000;

/// The timeline of the host: API calls, builds, commands.
fn timeline(report: &Report, traces: &[Trace]) -> Vec<Track> {
    let begins = traces.iter().flat_map(|trace| trace.records.iter().map(Record::begin));
    let origin = begins.min().unwrap_or(0);
    let mut tracks: BTreeMap<(u32, String), Vec<TimeSlice>> = BTreeMap::new();
    for trace in traces {
        for record in &trace.records {
            let (track, end, name, told) = match record {
                Record::Call { name, thread, end, code, .. } => {
                    let told = if *code == 0 { String::new() } else { format!("error {code}") };
                    (format!("thread {thread}"), end, name.clone(), told)
                }
                Record::Build { request, end, .. } => {
                    ("compile server".to_owned(), end, request.clone(), String::new())
                }
                Record::Command(command) => {
                    let launches = command.launches.iter().map(|index| &report.launches[*index]);
                    let clocks: u64 = launches.map(|launch| launch.cycles).sum();
                    let told = if clocks == 0 { String::new() } else { format!("{clocks} clocks") };
                    (format!("queue {}", command.queue), &command.end, command.name(), told)
                }
            };
            let slice = TimeSlice(record.begin() - origin, end.saturating_sub(origin), name, told);
            tracks.entry((trace.process, track)).or_default().push(slice);
        }
    }
    let track = |((process, name), mut slices): ((u32, String), Vec<TimeSlice>)| {
        slices.sort_by_key(|slice| Reverse(slice.1.saturating_sub(slice.0)));
        slices.truncate(MAX_SLICES);
        slices.sort_by_key(|slice| (slice.0, Reverse(slice.1)));
        Track { process, name, slices }
    };
    tracks.into_iter().map(track).collect()
}

/// The page. The traces of processes are shown as a timeline.
///
/// # Errors
/// Those of the JSON writer.
pub fn write(analysis: &Analysis<'_>, traces: &[Trace]) -> serde_json::Result<String> {
    let report = analysis.report;
    let data = Data {
        program: &report.program,
        device: &report.device,
        kernels: (0..report.kernels.len()).map(|number| kernel(analysis, number)).collect(),
        sources: &report.sources,
        lines: analysis
            .lines
            .iter()
            .map(|lines| lines.iter().map(|(key, row)| line(analysis, *key, row)).collect())
            .collect(),
        all: analysis.all_lines.iter().map(|(key, row)| line(analysis, *key, row)).collect(),
        flame: flame::tree(analysis),
        timeline: timeline(report, traces),
        roofs: Roofs::of(Device::named(&report.device)),
    };
    // In JSON, `<` is only in strings, where it could end the element.
    let json = serde_json::to_string(&data)?.replace('<', "\\u003c");
    Ok(fill(PAGE, &[("style", STYLE), ("script", SCRIPT), ("data", &json)]))
}

/// A template with its placeholders `{{NAME}}` replaced, each once.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut parts = template.split("{{");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
        text.push_str(values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value));
        text.push_str(rest);
    }
    text
}

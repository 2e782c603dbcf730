//! The page: one HTML file with its style, script and data, which needs no network.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;

use gencl_eu::device::Device;
use gencl_simulator::statistics::Report;
use gencl_simulator::statistics::report::{Kernel, LineInformation, Source};

use crate::advice::{self, Advice};
use crate::analysis::{Analysis, Cost, Line, STALLS, Stalls, kernel_name};
use crate::compare::{Change, Comparison};
use crate::flame::{self, Node};
use crate::lines::{LineKey, shown_frame};
use crate::trace::{Record, Trace};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
/// What Preact's licence wants to be with its copies.
const LICENCE: &str = include_str!("page/preact/LICENSE");
/// Preact 10.29.8, and the page's own parts.
const SCRIPTS: [&str; 6] = [
    include_str!("page/preact/preact.js"),
    include_str!("page/preact/hooks.js"),
    include_str!("page/base.js"),
    include_str!("page/source.js"),
    include_str!("page/graphs.js"),
    include_str!("page/main.js"),
];

/// What the script shows.
#[derive(Serialize)]
struct Data<'a> {
    program: &'a str,
    device: &'a str,
    /// The names of [`Numbers`].
    costs: Vec<&'static str>,
    /// What waiting for a class of messages is called.
    stalls: BTreeMap<&'static str, &'static str>,
    kernels: Vec<KernelData<'a>>,
    sources: &'a [Source],
    /// The lines of each kernel.
    lines: Vec<Vec<LineData>>,
    /// Those of all kernels.
    all: Vec<LineData>,
    advice: Vec<Advice>,
    flame: Node,
    timeline: Vec<Track>,
    roofs: Roofs,
    comparison: Option<ComparisonData<'a>>,
}

/// The differences from an earlier profile.
#[derive(Serialize)]
struct ComparisonData<'a> {
    kernels: Vec<ChangeData<'a>>,
    lines: Vec<ChangeData<'a>>,
}

#[derive(Serialize)]
struct ChangeData<'a> {
    name: &'a str,
    text: &'a str,
    before: f64,
    after: f64,
    slowdown: f64,
}

impl<'a> ComparisonData<'a> {
    fn of(comparison: &'a Comparison) -> ComparisonData<'a> {
        let data = |change: &'a Change| ChangeData {
            name: &change.name,
            text: &change.text,
            before: change.before,
            after: change.after,
            slowdown: change.slowdown(),
        };
        let all = |changes: &'a [Change]| changes.iter().map(data).collect();
        ComparisonData { kernels: all(&comparison.kernels), lines: all(&comparison.lines) }
    }
}

/// The counts of a [`Cost`] that the page shows, without zeros at the end.
type Numbers = Vec<u64>;

/// A count and its name.
type NamedCount = (&'static str, fn(&Cost) -> u64);

/// The counts by name.
const COSTS: [NamedCount; 12] = [
    ("clocks", |cost| cost.clocks),
    ("issue", |cost| cost.issue),
    ("wait", |cost| cost.wait),
    ("executed", |cost| cost.executed),
    ("lanes", |cost| cost.lanes),
    ("slots", |cost| cost.slots),
    ("sends", |cost| cost.sends),
    ("line_sends", |cost| cost.line_sends),
    ("lines", |cost| cost.lines),
    ("port", |cost| cost.port),
    ("flops", |cost| cost.flops),
    ("intops", |cost| cost.intops),
];

fn numbers(cost: &Cost) -> Numbers {
    let mut numbers: Numbers = COSTS.iter().map(|(_, count)| count(cost)).collect();
    numbers.truncate(numbers.iter().rposition(|number| *number > 0).map_or(0, |last| last + 1));
    numbers
}

/// A part of 1 with the digits that can be seen.
fn digits(part: f64) -> f64 {
    (part * 1e6).round() / 1e6
}

#[derive(Serialize)]
struct KernelData<'a> {
    name: &'a str,
    share: f64,
    launches: u64,
    cycles: u64,
    limit: &'a str,
    simd_width: u32,
    cost: Numbers,
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
struct LineData {
    line: Option<LineKey>,
    share: f64,
    inclusive: f64,
    limit: f64,
    cost: Numbers,
    stalls: Stalls,
    reasons: Vec<String>,
}

#[derive(Serialize)]
struct InstructionData<'a> {
    offset: u32,
    text: &'a str,
    class: Option<&'a str>,
    limit: f64,
    cost: Numbers,
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

fn line(analysis: &Analysis<'_>, key: Option<LineKey>, line: &Line) -> LineData {
    LineData {
        line: key,
        share: digits(line.share),
        inclusive: digits(line.inclusive),
        limit: digits(line.limit_share),
        cost: numbers(&line.cost),
        stalls: line.stalls.clone(),
        reasons: analysis.reasons(key, line),
    }
}

fn kernel<'a>(analysis: &Analysis<'a>, number: usize) -> KernelData<'a> {
    let kernel = &analysis.report.kernels[number];
    let uses = &analysis.uses[number];
    let numbered = kernel.instructions.iter().zip(&uses.instructions);
    let instructions = numbered.map(|(instruction, of_instruction)| InstructionData {
        offset: instruction.offset,
        text: instruction.text.trim(),
        class: instruction.class.as_deref(),
        limit: digits(analysis.shares[number] * uses.part_of_limit(of_instruction)),
        cost: numbers(&Cost::of(instruction)),
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
        cost: numbers(&analysis.kernels[number]),
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

/// Begin and end in nanoseconds after the first, the name, what is to be told, and the kind: `SLICES` in `graphs.js`.
#[derive(Serialize)]
struct TimeSlice(u64, u64, String, String, &'static str);

/// Slices of a track, at most: the longest.
const MAX_SLICES: usize = 5000;

/// The timeline of the host: API calls, builds, commands.
fn timeline(report: &Report, traces: &[Trace]) -> Vec<Track> {
    let begins = traces.iter().flat_map(|trace| trace.records.iter().map(Record::begin));
    let origin = begins.min().unwrap_or(0);
    let mut tracks: BTreeMap<(u32, String), Vec<TimeSlice>> = BTreeMap::new();
    for trace in traces {
        for record in &trace.records {
            let (track, end, name, told, kind) = match record {
                Record::Call { name, thread, end, code, .. } => {
                    let told = if *code == 0 { String::new() } else { format!("error {code}") };
                    let kind = match name.as_str() {
                        _ if *code != 0 => "error",
                        "clFinish" | "clWaitForEvents" => "wait",
                        _ => "call",
                    };
                    (format!("thread {thread}"), end, name.clone(), told, kind)
                }
                Record::Build { request, end, .. } => {
                    ("compile server".to_owned(), end, request.clone(), String::new(), "build")
                }
                Record::Command(command) => {
                    let launches = command.launches.iter().map(|index| &report.launches[*index]);
                    let clocks: u64 = launches.map(|launch| launch.cycles).sum();
                    let told = if clocks == 0 { String::new() } else { format!("{clocks} clocks") };
                    let kind = if command.launch.is_some() { "kernel" } else { "transfer" };
                    (format!("queue {}", command.queue), &command.end, command.name(), told, kind)
                }
            };
            let slice = TimeSlice(record.begin() - origin, end.saturating_sub(origin), name, told, kind);
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

/// The page. The traces of processes are shown as a timeline, and the comparison with an earlier profile in a view of its
/// own.
///
/// # Errors
/// Those of the JSON writer.
pub fn write(
    analysis: &Analysis<'_>,
    traces: &[Trace],
    comparison: Option<&Comparison>,
) -> io::Result<String> {
    let report = analysis.report;
    let data = Data {
        program: &report.program,
        device: &report.device,
        costs: COSTS.map(|(name, _)| name).to_vec(),
        stalls: STALLS.into(),
        kernels: (0..report.kernels.len()).map(|number| kernel(analysis, number)).collect(),
        sources: &report.sources,
        lines: analysis
            .lines
            .iter()
            .map(|lines| lines.iter().map(|(key, row)| line(analysis, *key, row)).collect())
            .collect(),
        all: analysis.all_lines.iter().map(|(key, row)| line(analysis, *key, row)).collect(),
        advice: advice::of(analysis),
        flame: flame::tree(analysis),
        timeline: timeline(report, traces),
        roofs: Roofs::of(Device::named(&report.device)),
        comparison: comparison.map(ComparisonData::of),
    };
    let script = format!("/* Preact:\n{LICENCE}*/\n{}", SCRIPTS.join("\n"));
    Ok(fill(PAGE, &[("style", STYLE), ("script", &script), ("data", &packed(&data)?)]))
}

/// The data as compressed JSON in base64, which `DecompressionStream` reads: a sixth of the text, or less.
fn packed(data: &Data<'_>) -> io::Result<String> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::best());
    packer.write_all(&serde_json::to_vec(data)?)?;
    Ok(BASE64_STANDARD.encode(packer.finish()?))
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

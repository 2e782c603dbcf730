//! The page: one HTML file with its style, script and data, which needs no network.

use serde::Serialize;

use gencl_eu::device::Device;
use gencl_simulator::statistics::report::{LineInformation, Source};

use crate::analysis::{Analysis, Cost, Line, LineKey, Stalls, kernel_name, shown_frame};
use crate::flame::{self, Node};

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
        limit: &kernel.limit,
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
        instructions: instructions.collect(),
    }
}

/// The page.
///
/// # Errors
/// Those of the JSON writer.
pub fn write(analysis: &Analysis<'_>) -> serde_json::Result<String> {
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

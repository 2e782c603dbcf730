//! pprof's format: `profile.proto` of github.com/google/pprof, compressed. The messages declare the fields that are
//! written.

use std::collections::HashMap;
use std::io::{self, Write};

use flate2::{Compression, GzBuilder};
use prost::Message;

use crate::analysis::{Analysis, Cost, EVENTS, kernel_name};
use crate::callgrind::kernel_address;

#[derive(Clone, PartialEq, Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    mapping: Vec<Mapping>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "14")]
    default_sample_type: i64,
}

#[derive(Clone, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    r#type: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Mapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    memory_start: u64,
    #[prost(uint64, tag = "3")]
    memory_limit: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
    #[prost(bool, tag = "7")]
    has_functions: bool,
    #[prost(bool, tag = "8")]
    has_filenames: bool,
    #[prost(bool, tag = "9")]
    has_line_numbers: bool,
    #[prost(bool, tag = "10")]
    has_inline_frames: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
    #[prost(uint64, tag = "3")]
    address: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
    #[prost(int64, tag = "3")]
    column: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
}

/// The unit of all events.
const UNIT: &str = "count";

/// The table of strings, of which the first is empty.
struct Strings {
    known: HashMap<String, i64>,
    table: Vec<String>,
}

impl Strings {
    fn index(&mut self, text: &str) -> i64 {
        if let Some(index) = self.known.get(text) {
            return *index;
        }
        let index = self.table.len() as i64;
        self.known.insert(text.to_owned(), index);
        self.table.push(text.to_owned());
        index
    }
}

/// The file's bytes.
///
/// # Errors
/// Those of the compression.
pub fn write(analysis: &Analysis<'_>) -> io::Result<Vec<u8>> {
    let mut gzip = GzBuilder::new().write(Vec::new(), Compression::default());
    gzip.write_all(&profile(analysis).encode_to_vec())?;
    gzip.finish()
}

fn profile(analysis: &Analysis<'_>) -> Profile {
    let report = analysis.report;
    let mut strings = Strings { known: HashMap::new(), table: Vec::new() };
    strings.index("");
    let mut profile = Profile {
        sample_type: EVENTS
            .iter()
            .map(|event| ValueType { r#type: strings.index(event.name), unit: strings.index(UNIT) })
            .collect(),
        default_sample_type: strings.index(EVENTS[0].name),
        ..Profile::default()
    };
    let mut functions: HashMap<(i64, i64), u64> = HashMap::new();
    for (number, kernel) in report.kernels.iter().enumerate() {
        let start = kernel_address(number);
        profile.mapping.push(Mapping {
            id: number as u64 + 1,
            memory_start: start,
            memory_limit: start + kernel.code_bytes,
            filename: strings.index(kernel_name(kernel)),
            has_functions: true,
            has_filenames: true,
            has_line_numbers: true,
            has_inline_frames: true,
        });
        for instruction in kernel.instructions.iter().filter(|i| i.counter.executions > 0) {
            let frames = instruction.frames.iter().map(|frame| {
                let frame = &report.frames[*frame];
                (
                    frame.function.as_str(),
                    report.sources[frame.source].name.as_str(),
                    frame.line,
                    frame.column,
                )
            });
            let mut frames: Vec<_> = frames.collect();
            if frames.is_empty() {
                frames.push((kernel_name(kernel), "", 0, 0));
            }
            let lines = frames.into_iter().map(|(function, file, line, column)| {
                let (name, filename) = (strings.index(function), strings.index(file));
                let new = functions.len() as u64 + 1;
                let function_id = *functions.entry((name, filename)).or_insert(new);
                if function_id == new {
                    profile.function.push(Function { id: new, name, system_name: name, filename });
                }
                Line { function_id, line: i64::from(line), column: i64::from(column) }
            });
            let id = profile.location.len() as u64 + 1;
            let (mapping_id, address) = (number as u64 + 1, start + u64::from(instruction.offset));
            profile.location.push(Location { id, mapping_id, address, line: lines.collect() });
            let cost = Cost::of(instruction);
            let value = EVENTS.iter().map(|event| (event.count)(&cost) as i64).collect();
            profile.sample.push(Sample { location_id: vec![id], value });
        }
    }
    profile.string_table = strings.table;
    profile
}

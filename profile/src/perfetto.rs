//! Perfetto's format: `perfetto_trace.proto` of github.com/google/perfetto. The messages declare the fields that are
//! written.
//!
//! Each process has a track for each of its threads (API calls), for the compile server (builds) and for each queue
//! (commands, and in them the launches on the simulated GPU), and a counter of commands that have not begun. These are in
//! the host's time. The simulated GPU is a process of its own, in clocks, one for each nanosecond: its launches one after
//! the other, and the EU threads of the first ones.

use std::collections::BTreeMap;

use gencl_eu::device::Device;
use gencl_simulator::statistics::Report;
use gencl_simulator::statistics::report::Launch;
use prost::Message;

use crate::analysis::kernel_name;
use crate::trace::{Command, Record, Trace};

#[derive(Clone, PartialEq, Message)]
struct TraceFile {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<TracePacket>,
}

#[derive(Clone, PartialEq, Message)]
struct TracePacket {
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, tag = "10")]
    trusted_packet_sequence_id: u32,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(uint32, tag = "13")]
    sequence_flags: u32,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackDescriptor {
    #[prost(uint64, tag = "1")]
    uuid: u64,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
    #[prost(message, optional, tag = "3")]
    process: Option<ProcessDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    counter: Option<CounterDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
struct ProcessDescriptor {
    #[prost(int32, tag = "1")]
    pid: i32,
    #[prost(string, tag = "6")]
    process_name: String,
}

#[derive(Clone, PartialEq, Message)]
struct CounterDescriptor {
    #[prost(string, tag = "6")]
    unit_name: String,
}

#[derive(Clone, PartialEq, Message)]
struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    debug_annotations: Vec<DebugAnnotation>,
    #[prost(int32, tag = "9")]
    r#type: i32,
    #[prost(uint64, tag = "11")]
    track_uuid: u64,
    #[prost(string, repeated, tag = "22")]
    categories: Vec<String>,
    #[prost(string, optional, tag = "23")]
    name: Option<String>,
    #[prost(int64, optional, tag = "30")]
    counter_value: Option<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct DebugAnnotation {
    #[prost(uint64, optional, tag = "3")]
    uint_value: Option<u64>,
    #[prost(int64, optional, tag = "4")]
    int_value: Option<i64>,
    #[prost(string, optional, tag = "6")]
    string_value: Option<String>,
    #[prost(string, optional, tag = "10")]
    name: Option<String>,
}

/// Values of `TrackEvent.Type`.
const SLICE_BEGIN: i32 = 1;
const SLICE_END: i32 = 2;
const COUNTER: i32 = 4;
/// `SEQ_INCREMENTAL_STATE_CLEARED`.
const STATE_CLEARED: u32 = 1;
/// All packets are of one sequence.
const SEQUENCE: u32 = 1;
/// The process id of the simulated GPU: above those of Linux (`PID_MAX_LIMIT`, 2^22).
const GPU_PROCESS: i32 = 1 << 22;

/// A value of a slice.
enum Value<'a> {
    Count(u64),
    Code(i32),
    Text(&'a str),
}

fn annotations(values: &[(&str, Value<'_>)]) -> Vec<DebugAnnotation> {
    let annotation = |(name, value): &(&str, Value<'_>)| {
        let named = DebugAnnotation { name: Some((*name).to_owned()), ..DebugAnnotation::default() };
        match value {
            Value::Count(count) => DebugAnnotation { uint_value: Some(*count), ..named },
            Value::Code(code) => DebugAnnotation { int_value: Some((*code).into()), ..named },
            Value::Text(text) => DebugAnnotation { string_value: Some((*text).to_owned()), ..named },
        }
    };
    values.iter().map(annotation).collect()
}

/// A slice of a track.
struct Slice {
    begin: u64,
    end: u64,
    category: &'static str,
    name: String,
    annotations: Vec<DebugAnnotation>,
}

/// The trace under construction.
#[derive(Default)]
struct Writer {
    packets: Vec<TracePacket>,
    tracks: u64,
}

impl Writer {
    fn track(&mut self, descriptor: TrackDescriptor) -> u64 {
        self.tracks += 1;
        self.packets.push(TracePacket {
            trusted_packet_sequence_id: SEQUENCE,
            sequence_flags: if self.packets.is_empty() { STATE_CLEARED } else { 0 },
            track_descriptor: Some(TrackDescriptor { uuid: self.tracks, ..descriptor }),
            ..TracePacket::default()
        });
        self.tracks
    }

    fn process(&mut self, pid: i32, name: String) -> u64 {
        let process = Some(ProcessDescriptor { pid, process_name: name });
        self.track(TrackDescriptor { process, ..TrackDescriptor::default() })
    }

    fn child(&mut self, parent: u64, name: String) -> u64 {
        let (name, parent_uuid) = (Some(name), Some(parent));
        self.track(TrackDescriptor { name, parent_uuid, ..TrackDescriptor::default() })
    }

    fn event(&mut self, timestamp: u64, event: TrackEvent) {
        self.packets.push(TracePacket {
            timestamp: Some(timestamp),
            trusted_packet_sequence_id: SEQUENCE,
            track_event: Some(event),
            ..TracePacket::default()
        });
    }

    /// Writes the slices of a track, each of which begins in another one also ends in it.
    fn slices(&mut self, track_uuid: u64, mut slices: Vec<Slice>) {
        // Of those that begin together the longest is the outer one.
        slices.sort_by_key(|slice| (slice.begin, std::cmp::Reverse(slice.end)));
        let mut open: Vec<u64> = Vec::new();
        let end = |writer: &mut Writer, at| {
            writer.event(at, TrackEvent { r#type: SLICE_END, track_uuid, ..TrackEvent::default() });
        };
        for slice in slices {
            while let Some(at) = open.pop_if(|at| *at <= slice.begin) {
                end(self, at);
            }
            open.push(open.last().map_or(slice.end, |outer| slice.end.min(*outer)));
            let event = TrackEvent {
                debug_annotations: slice.annotations,
                r#type: SLICE_BEGIN,
                track_uuid,
                categories: vec![slice.category.to_owned()],
                name: Some(slice.name),
                counter_value: None,
            };
            self.event(slice.begin, event);
        }
        while let Some(at) = open.pop() {
            end(self, at);
        }
    }

    /// Writes a counter from its changes.
    fn counter(&mut self, parent: u64, name: &str, unit: &str, mut changes: Vec<(u64, i64)>) {
        let counter = Some(CounterDescriptor { unit_name: unit.to_owned() });
        let (name, parent_uuid) = (Some(name.to_owned()), Some(parent));
        let track_uuid =
            self.track(TrackDescriptor { name, parent_uuid, counter, ..TrackDescriptor::default() });
        changes.sort_unstable();
        let mut value = 0;
        for (index, (at, change)) in changes.iter().enumerate() {
            value += change;
            if changes.get(index + 1).is_none_or(|next| next.0 != *at) {
                let counter_value = Some(value);
                let event =
                    TrackEvent { r#type: COUNTER, track_uuid, counter_value, ..TrackEvent::default() };
                self.event(*at, event);
            }
        }
    }
}

fn launch_slice(report: &Report, launch: &Launch, begin: u64, end: u64) -> Slice {
    let kernel = &report.kernels[launch.kernel];
    let values = [
        ("clocks", Value::Count(launch.cycles)),
        ("limit", Value::Text(&launch.limit)),
        ("SIMD", Value::Count(kernel.simd_width.into())),
        ("work-groups", Value::Count(launch.groups.iter().product())),
        ("threads of a work-group", Value::Count(launch.threads_per_group.into())),
        ("instructions executed", Value::Count(launch.executed)),
        ("code", Value::Text(&kernel.hash)),
    ];
    let name = kernel_name(kernel).to_owned();
    Slice { begin, end, category: "launch", name, annotations: annotations(&values) }
}

/// The slice of a command, and those of its launches, which share its time by their clocks.
fn command_slices(report: &Report, command: &Command, slices: &mut Vec<Slice>) {
    let (begin, end) = (command.start, command.end.max(command.start));
    let values = [
        ("queued ns before", Value::Count(begin.saturating_sub(command.queued))),
        ("submitted ns before", Value::Count(begin.saturating_sub(command.submit))),
    ];
    slices.push(Slice {
        begin,
        end,
        category: "command",
        name: command.name(),
        annotations: annotations(&values),
    });
    let launches = command.launches.iter().map(|index| &report.launches[*index]);
    let total: u64 = launches.clone().map(|launch| launch.cycles).sum();
    let mut done = 0;
    let place = |clocks: u64| {
        begin + (u128::from(end - begin) * u128::from(clocks) / u128::from(total.max(1))) as u64
    };
    for launch in launches {
        slices.push(launch_slice(report, launch, place(done), place(done + launch.cycles)));
        done += launch.cycles;
    }
}

/// What a queue has done.
#[derive(Default)]
struct Queue {
    slices: Vec<Slice>,
    /// Changes of the number of commands that have not begun.
    waiting: Vec<(u64, i64)>,
}

/// The tracks of a process.
fn process(writer: &mut Writer, report: &Report, trace: &Trace) {
    let process = writer.process(trace.process as i32, report.program.clone());
    let mut threads: BTreeMap<u64, (String, Vec<Slice>)> = BTreeMap::new();
    let mut builds = Vec::new();
    let mut queues: BTreeMap<u64, Queue> = BTreeMap::new();
    for record in &trace.records {
        match record {
            Record::Call { name, thread, thread_name, begin, end, code } => {
                let track =
                    || (thread_name.clone().unwrap_or_else(|| format!("thread {thread}")), Vec::new());
                let annotations = annotations(&[("code", Value::Code(*code))]);
                let slice =
                    Slice { begin: *begin, end: *end, category: "api", name: name.clone(), annotations };
                threads.entry(*thread).or_insert_with(track).1.push(slice);
            }
            Record::Build { request, begin, end } => {
                let name = request.clone();
                builds.push(Slice {
                    begin: *begin,
                    end: *end,
                    category: "build",
                    name,
                    annotations: Vec::new(),
                });
            }
            Record::Command(command) => {
                let queue = queues.entry(command.queue).or_default();
                command_slices(report, command, &mut queue.slices);
                queue.waiting.extend([(command.queued, 1), (command.start.max(command.queued), -1)]);
            }
        }
    }
    for (name, slices) in threads.into_values() {
        let track = writer.child(process, name);
        writer.slices(track, slices);
    }
    if !builds.is_empty() {
        let track = writer.child(process, "compile server".to_owned());
        writer.slices(track, builds);
    }
    for (number, Queue { slices, waiting }) in queues {
        let track = writer.child(process, format!("queue {number}"));
        writer.slices(track, slices);
        writer.counter(process, &format!("queue {number}: commands waiting"), "commands", waiting);
    }
}

/// A thread of an EU and the time of a thread of the launch on it, in clocks after the launch's begin.
struct Placed {
    slot: usize,
    begin: u64,
    end: u64,
}

/// Places threads in the order of dispatch, each where one becomes free first. The result is stretched to the launch's
/// clocks, which other limits than latency may determine.
fn place(threads: &[u32], slots: usize, clocks: u64) -> Vec<Placed> {
    let mut free = vec![0u64; slots.max(1)];
    let mut placed = Vec::new();
    for thread in threads {
        let slot = (0..free.len()).min_by_key(|slot| free[*slot]).unwrap_or(0);
        let begin = free[slot];
        free[slot] += u64::from(*thread);
        placed.push(Placed { slot, begin, end: free[slot] });
    }
    let longest = free.into_iter().max().unwrap_or(0).max(1);
    let stretched = |at: u64| (u128::from(at) * u128::from(clocks) / u128::from(longest)) as u64;
    for thread in &mut placed {
        (thread.begin, thread.end) = (stretched(thread.begin), stretched(thread.end));
    }
    placed
}

/// The tracks of the simulated GPU, from the time `origin` on.
fn gpu(writer: &mut Writer, report: &Report, origin: u64) {
    let process = writer.process(GPU_PROCESS, format!("simulated GPU {}, in clocks", report.device));
    let eus = Device::named(&report.device).map_or(1, |device| device.total_eus() as usize);
    let mut launches = Vec::new();
    let mut threads: BTreeMap<usize, Vec<Slice>> = BTreeMap::new();
    let mut resident = Vec::new();
    let mut now = origin;
    for launch in &report.launches {
        let kernel = &report.kernels[launch.kernel];
        launches.push(launch_slice(report, launch, now, now + launch.cycles));
        // The first threads stand for all: the launch's clocks are theirs in proportion.
        let all = launch.groups.iter().product::<u64>() * u64::from(launch.threads_per_group);
        let share = u128::from(launch.cycles) * launch.threads.len() as u128 / u128::from(all.max(1));
        let slots = (kernel.occupancy * eus as f64).round() as usize;
        for (number, thread) in place(&launch.threads, slots, share as u64).into_iter().enumerate() {
            let (begin, end) = (now + thread.begin, now + thread.end);
            let values = [
                ("clocks", Value::Count(launch.threads[number].into())),
                ("work-group", Value::Count(number as u64 / u64::from(launch.threads_per_group.max(1)))),
            ];
            let name = kernel_name(kernel).to_owned();
            let annotations = annotations(&values);
            let slice = Slice { begin, end, category: "thread", name, annotations };
            threads.entry(thread.slot).or_default().push(slice);
            resident.extend([(begin, 1), (end, -1)]);
        }
        now += launch.cycles;
    }
    let track = writer.child(process, "launches".to_owned());
    writer.slices(track, launches);
    writer.counter(process, "resident threads", "threads", resident);
    for (slot, slices) in threads {
        let track = writer.child(process, format!("EU {} thread {}", slot % eus, slot / eus));
        writer.slices(track, slices);
    }
}

/// The trace of a program's processes.
pub fn write(report: &Report, traces: &[Trace]) -> Vec<u8> {
    let mut writer = Writer::default();
    traces.iter().for_each(|trace| process(&mut writer, report, trace));
    if report.launches.is_empty() {
        return TraceFile { packet: writer.packets }.encode_to_vec();
    }
    let begins = traces.iter().flat_map(|trace| trace.records.iter().map(Record::begin));
    gpu(&mut writer, report, begins.min().unwrap_or(0));
    TraceFile { packet: writer.packets }.encode_to_vec()
}

//! The traces that processes write: API calls, builds and commands, with the host's times in nanoseconds.
//!
//! `runtime/src/trace.rs` writes them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use gencl_simulator::statistics::Report;
use serde::{Deserialize, Serialize};

/// The file of a process.
pub const TRACE: &str = "trace.jsonl";

/// What a process did.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Its process id.
    pub process: u32,
    /// In the order of their ends.
    pub records: Vec<Record>,
    /// Its launches, in the order of their numbers.
    pub launches: Vec<Enqueued>,
}

/// One thing that a process did.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    /// A call of a function of the API.
    Call {
        /// The function.
        name: String,
        /// Number of the thread.
        thread: u64,
        /// Its name in the system.
        thread_name: Option<String>,
        /// Time.
        begin: u64,
        /// Time.
        end: u64,
        /// Error code, 0 for success.
        code: i32,
    },
    /// A request to the compile server.
    Build {
        /// What was asked for.
        request: String,
        /// Time.
        begin: u64,
        /// Time.
        end: u64,
    },
    /// A command.
    Command(Command),
}

/// A launch that was enqueued.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "type", rename = "launch")]
pub struct Enqueued {
    /// The arguments, each as `NAME=VALUE`.
    pub arguments: Vec<String>,
    /// Its index space.
    pub launch: Range,
}

/// A command of a queue.
#[derive(Clone, Debug, Deserialize)]
pub struct Command {
    /// Number of the queue.
    pub queue: u64,
    /// Name of the type.
    pub command: String,
    /// Time of `CL_PROFILING_COMMAND_QUEUED`, and of the following.
    pub queued: u64,
    /// Time.
    pub submit: u64,
    /// Time.
    pub start: u64,
    /// Time.
    pub end: u64,
    /// Of a launch.
    pub launch: Option<Range>,
    /// Why it failed. It has no times then.
    #[serde(default)]
    pub error: Option<String>,
    /// Indices of its launches in [`Report::launches`]: several where work-groups differ in size.
    #[serde(skip)]
    pub launches: Vec<usize>,
}

/// The index space of a launch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Range {
    /// Number of the launch in the process, from 1; 0 when it is not counted.
    pub number: u32,
    /// The kernel's name.
    pub kernel: String,
    /// Lanes of a thread.
    pub simd_width: u32,
    /// Work-items.
    pub global: [u64; 3],
    /// Work-items of a work-group.
    pub local: [u64; 3],
}

impl Record {
    /// When it began.
    pub fn begin(&self) -> u64 {
        match self {
            Record::Call { begin, .. } | Record::Build { begin, .. } => *begin,
            Record::Command(command) => command.start,
        }
    }
}

impl Command {
    /// Its type, and the kernel.
    pub fn name(&self) -> String {
        match &self.launch {
            Some(range) => format!("{} {}", self.command, range.kernel),
            None => self.command.clone(),
        }
    }
}

impl Trace {
    /// Reads the trace of a process in its folder; `None` when there is none. A last line that is not complete, as of a
    /// process that was killed, is left out.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn read(folder: &Path, process: u32) -> Result<Option<Trace>, String> {
        let path = folder.join(TRACE);
        if !path.exists() {
            return Ok(None);
        }
        let error = |why: std::io::Error| format!("{}: {why}", path.display());
        let mut trace = Trace { process, ..Trace::default() };
        for line in BufReader::new(File::open(&path).map_err(error)?).lines() {
            let line = line.map_err(error)?;
            match serde_json::from_str(&line) {
                Ok(record) => trace.records.push(record),
                Err(_) => trace.launches.extend(serde_json::from_str::<Enqueued>(&line).ok()),
            }
        }
        trace.launches.sort_by_key(|enqueued| enqueued.launch.number);
        Ok(Some(trace))
    }

    /// The commands that did not fail.
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        self.records.iter().filter_map(|record| match record {
            Record::Command(command) => Some(command),
            Record::Call { .. } | Record::Build { .. } => None,
        })
    }
}

/// Joins launches with the commands of the processes, by their numbers: launches get index space, arguments and the reason of a
/// failure, commands the indices of their launches. Commands that failed, which have no times, are removed from the traces. Returns a
/// sentence for each process with launches that are not in the report.
pub fn join(traces: &mut [Trace], report: &mut Report) -> Vec<String> {
    let mut known: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    for (index, launch) in report.launches.iter().enumerate().filter(|(_, launch)| launch.number > 0) {
        known.entry((launch.process, launch.number)).or_default().push(index);
    }
    let mut notes = Vec::new();
    for trace in traces {
        let process = trace.process;
        let mut missing = Vec::new();
        for Enqueued { arguments, launch: range } in &trace.launches {
            match known.get(&(process, range.number)) {
                None if range.number > 0 => missing.push(range),
                None => {}
                Some(indices) => {
                    for index in indices {
                        let launch = &mut report.launches[*index];
                        (launch.global, launch.local) = (range.global, range.local);
                        launch.arguments.clone_from(arguments);
                    }
                }
            }
        }
        for record in &mut trace.records {
            let Record::Command(command) = record else { continue };
            let number = command.launch.as_ref().map_or(0, |range| range.number);
            command.launches = known.get(&(process, number)).cloned().unwrap_or_default();
            if let Some(error) = &command.error {
                for index in &command.launches {
                    // The runtime knows more about the place than the simulator.
                    let fault = &mut report.launches[*index].fault;
                    *fault = fault.take().and(Some(error.clone()));
                }
            }
        }
        trace.records.retain(|record| !matches!(record, Record::Command(Command { error: Some(_), .. })));
        if let Some(range) = missing.first() {
            notes.push(format!(
                "process {process}: {} of its launches did not end and are not counted; the first is number {}, {}",
                missing.len(),
                range.number,
                range.kernel
            ));
        }
    }
    notes
}

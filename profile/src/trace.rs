//! The traces that processes write: API calls, builds and commands, with the host's times in nanoseconds.
//!
//! `runtime/src/trace.rs` writes them.

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
    /// Indices of its launches in [`Report::launches`]: several where work-groups differ in size.
    #[serde(skip)]
    pub launches: Vec<usize>,
}

/// The index space of a launch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Range {
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

impl Range {
    /// Number of work-groups.
    fn groups(&self) -> u64 {
        self.global.iter().zip(self.local).map(|(global, local)| global.div_ceil(local.max(1))).product()
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
        let mut records = Vec::new();
        for line in BufReader::new(File::open(&path).map_err(error)?).lines() {
            if let Ok(record) = serde_json::from_str(&line.map_err(error)?) {
                records.push(record);
            }
        }
        Ok(Some(Trace { process, records }))
    }

    /// The commands.
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        self.records.iter().filter_map(|record| match record {
            Record::Command(command) => Some(command),
            Record::Call { .. } | Record::Build { .. } => None,
        })
    }
}

/// Finds the launches of each command: both are in the order of their ends, kernel by kernel, and the processes of the
/// report in the order of `traces`.
pub fn match_launches(traces: &mut [Trace], report: &Report) {
    let mut free: Vec<bool> = vec![true; report.launches.len()];
    let records = traces.iter_mut().flat_map(|trace| &mut trace.records);
    for record in records {
        let Record::Command(command) = record else { continue };
        let Some(range) = &command.launch else { continue };
        let mut missing = range.groups();
        for (index, launch) in report.launches.iter().enumerate() {
            let kernel = &report.kernels[launch.kernel];
            let groups: u64 = launch.groups.iter().product();
            if missing == 0 {
                break;
            }
            if free[index]
                && groups <= missing
                && (&kernel.name, kernel.simd_width) == (&range.kernel, range.simd_width)
            {
                (free[index], missing) = (false, missing - groups);
                command.launches.push(index);
            }
        }
    }
}

//! The format of the statistics file: JSON, which `gencl-stats`, `gencl-profile` and other programs read.
//!
//! The simulator writes everything but the fields about source code, which `gencl-profile` adds.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use gencl_eu::profile::InstructionCounter;
use serde::{Deserialize, Serialize};

/// The version of the format. Files of an earlier version can be read: fields that it did not have are empty.
pub const VERSION: u32 = 3;

/// All launches of a process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// See [`VERSION`].
    pub version: u32,
    /// The simulated device.
    pub device: String,
    /// The program, as the system names it.
    pub program: String,
    /// Only executions and lanes were counted, by translated code, and clocks are those for which instructions issue.
    #[serde(default)]
    pub fast: bool,
    /// What the report lacks, and why, each a sentence for people: of a process that was killed, for example.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Kernels, in the order of their first launches.
    pub kernels: Vec<Kernel>,
    /// Launches, in the order in which they ended.
    pub launches: Vec<Launch>,
    /// Source files of the kernels.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// Source locations of instructions, each once.
    #[serde(default)]
    pub frames: Vec<Frame>,
}

/// A source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Source {
    /// Its name; for the text that an application passed to the compiler, `N-HASH-KERNEL.cl`.
    pub name: String,
    /// Its text; `None` for files that only `#line` names.
    pub text: Option<String>,
}

/// A source location in a function, which may have been inlined.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Frame {
    /// The function's name.
    pub function: String,
    /// Index of its file in [`Report::sources`].
    pub source: usize,
    /// Line from 1; 0 for code that belongs to no line.
    pub line: u32,
    /// Column from 1; 0 where it is not known.
    pub column: u32,
}

/// Whether the instructions of a kernel have source locations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LineInformation {
    /// Not yet known.
    #[default]
    Unknown,
    /// They have.
    Present,
    /// They have not, for this reason.
    Missing(String),
}

impl Report {
    /// Reads a report.
    ///
    /// # Errors
    /// A file that cannot be read, is no report, or of a later version.
    pub fn read(path: &Path) -> Result<Report, String> {
        let error = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let file = File::open(path).map_err(|why| error(&why))?;
        let report: Report = serde_json::from_reader(BufReader::new(file)).map_err(|why| error(&why))?;
        if report.version > VERSION {
            return Err(error(&format_args!(
                "version {}, this program reads up to {VERSION}",
                report.version
            )));
        }
        Ok(report)
    }
}

/// One kernel of one program: the same code, dispatched with the same SIMD width. Of programs that are not known, equal
/// code is one kernel. All clocks are EU clocks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// Hash of its code, 16 hexadecimal digits.
    pub hash: String,
    /// Its name in the source, where the program is known.
    #[serde(default)]
    pub name: String,
    /// How it is shown: the name; with what makes the difference, where several kernels have the same: `add (-DN=4)`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Its number in the process that launched it, from 1, by which its driver marks launches; 0 where it is not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub id: u32,
    /// Its program: `N-HASH-KERNEL` with the number of the build, the first digits of the hash of its source, and
    /// the name of the kernel of it that takes most of the time.
    #[serde(default)]
    pub program: String,
    /// The options that the program was built with, as the application gave them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub options: String,
    /// Largest number of general registers in use at once, of the 128 of a thread; 0 where it is not known.
    #[serde(default)]
    pub registers: u32,
    /// Whether its instructions have source locations.
    #[serde(default)]
    pub line_information: LineInformation,
    /// Bytes of spilled registers of a thread.
    #[serde(default)]
    pub spill_bytes: u32,
    /// Bytes of private memory of a work-item.
    #[serde(default)]
    pub private_bytes: u32,
    /// Bytes of the `__local` variables of a work-group.
    #[serde(default)]
    pub local_bytes: u32,
    /// Lanes of a thread.
    pub simd_width: u32,
    /// Bytes of code.
    pub code_bytes: u64,
    /// The code, two hexadecimal digits for each byte.
    #[serde(default)]
    pub code: String,
    /// The text of the Gen IR that it was generated from, with `; LINE:COLUMN` behind instructions; empty for code
    /// that was not compiled for a profile.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub gen_ir: String,
    /// Launches that ended. Those that did not are in no other count.
    pub launches: u64,
    /// Launches that a fault ended.
    #[serde(default, skip_serializing_if = "is_none")]
    pub faults: u64,
    /// Work-groups.
    pub groups: u64,
    /// EU threads.
    pub threads: u64,
    /// Instructions executed, each once per thread.
    pub executed: u64,
    /// Enabled lanes, summed over the executions.
    pub lanes: u64,
    /// Number of messages by class ([`gencl_eu::cycles::MessageClass`]); the end of thread is one of them.
    pub messages: BTreeMap<String, u64>,
    /// Cache lines of 64 bytes that messages accessed, each once per message.
    pub lines: u64,
    /// Cache lines that messages accessed, each once per launch.
    pub distinct_lines: u64,
    /// Texels that messages read or wrote: up to eight for a filtered result.
    #[serde(default)]
    pub texels: u64,
    /// Clocks of the launches as they were.
    pub cycles: u64,
    /// Clocks that the launches would take as parts of larger ones that fill the device.
    pub full_cycles: u64,
    /// Name of the bound that limits `full_cycles`.
    pub limit: String,
    /// The clocks of each bound of `full_cycles`.
    pub bounds: BTreeMap<String, u64>,
    /// Resident threads per EU when the device is full; of launches that differ, the average by their clocks.
    pub occupancy: f64,
    /// Why these are not all threads of an EU; empty when they are.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub occupancy_limit: String,
    /// Hardware threads of an EU, the limit of `occupancy`.
    #[serde(default)]
    pub threads_per_eu: u32,
    /// Sum of the clocks that each thread would take alone on its EU.
    pub thread_cycles: u64,
    /// The clocks of `thread_cycles` in which threads waited.
    pub wait_cycles: u64,
    /// Whether there is a translation for its first launch; `None` unless `GENCL_ENGINE=translate` requests
    /// translations. All counts are those of the interpreter in either case.
    #[serde(default)]
    pub translated: Option<bool>,
    /// Why there is no translation.
    #[serde(default)]
    pub refused: Option<String>,
    /// Counts of the instructions that the translation leaves to the interpreter, by reason.
    #[serde(default)]
    pub interpreted: BTreeMap<String, Interpreted>,
    /// Its instructions, by ascending offset.
    pub instructions: Vec<Instruction>,
}

/// Counts of the instructions that a translation leaves to the interpreter for one reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interpreted {
    /// Number of instructions in the code.
    pub instructions: u64,
    /// Number of their executions, each once per thread.
    pub executed: u64,
}

impl Kernel {
    /// Number of messages without the ends of threads.
    pub fn sends(&self) -> u64 {
        self.messages.iter().filter(|(class, _)| *class != "end").map(|(_, count)| count).sum()
    }

    /// Adds the launches of the same kernel in another process.
    pub fn add(&mut self, other: &Kernel) {
        let Kernel {
            launches,
            faults,
            groups,
            threads,
            executed,
            lanes,
            messages,
            lines,
            distinct_lines,
            texels,
            ..
        } = other;
        self.launches += launches;
        self.faults += faults;
        self.groups += groups;
        self.threads += threads;
        self.executed += executed;
        self.lanes += lanes;
        self.lines += lines;
        self.distinct_lines += distinct_lines;
        self.texels += texels;
        self.cycles += other.cycles;
        self.full_cycles += other.full_cycles;
        self.thread_cycles += other.thread_cycles;
        self.wait_cycles += other.wait_cycles;
        for (own, other) in [(&mut self.messages, messages), (&mut self.bounds, &other.bounds)] {
            other.iter().for_each(|(name, count)| *own.entry(name.clone()).or_default() += count);
        }
        for (own, other) in self.instructions.iter_mut().zip(&other.instructions) {
            own.counter.add(&other.counter);
            own.class = own.class.take().or_else(|| other.class.clone());
            let mut waits: BTreeMap<u32, u64> = BTreeMap::new();
            for wait in own.waits.iter().chain(&other.waits) {
                *waits.entry(wait.offset).or_default() += wait.clocks;
            }
            own.waits = waits.into_iter().map(|(offset, clocks)| Wait { offset, clocks }).collect();
        }
    }

    /// Average number of enabled lanes of an executed instruction.
    pub fn lanes_per_instruction(&self) -> f64 {
        self.lanes as f64 / self.executed.max(1) as f64
    }
}

/// One instruction, with sums over all threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Instruction {
    /// Bytes from the kernel's first instruction.
    pub offset: u32,
    /// Its assembly text.
    pub text: String,
    /// Execution size.
    pub width: u32,
    /// Its counts.
    #[serde(flatten)]
    pub counter: InstructionCounter,
    /// Its locations in the source ([`Report::frames`]): that of the innermost inlined function first, then those of
    /// the calls. Empty for code that belongs to no line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<usize>,
    /// The class of its messages ([`gencl_eu::cycles::MessageClass`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The clocks that threads waited before it, by the instruction that they waited for: ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<Wait>,
    /// Floating-point operations of a lane: two of a multiply-add.
    #[serde(default)]
    pub flops: u32,
    /// Integer operations of a lane, likewise.
    #[serde(default)]
    pub intops: u32,
    /// Why the kernel's translation leaves it to the interpreter; `None` when it is translated, or the kernel
    /// is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpreted: Option<String>,
}

/// Clocks that threads waited for the result of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// The instruction's [`Instruction::offset`].
    pub offset: u32,
    /// Sum over all threads.
    pub clocks: u64,
}

/// One launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// Index of its kernel in [`Report::kernels`].
    pub kernel: usize,
    /// The process that launched it: its id; in profiles, its number from 1.
    #[serde(default)]
    pub process: u32,
    /// Its number among the launches that the process enqueued, from 1; 0 where it is not known. A launch with uneven
    /// work-groups is several with the same number.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub number: u32,
    /// Work-items of each dimension of the whole command; zeros where they are not known.
    #[serde(default)]
    pub global: [u64; 3],
    /// Work-items of a work-group of the command.
    #[serde(default)]
    pub local: [u64; 3],
    /// The arguments, each as `NAME=VALUE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// The fault that ended it. There are no counts then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Work-groups of each dimension.
    pub groups: [u64; 3],
    /// Threads of a work-group.
    pub threads_per_group: u32,
    /// Instructions executed.
    pub executed: u64,
    /// Clocks.
    pub cycles: u64,
    /// Name of the bound that limits them.
    pub limit: String,
    /// The clocks of each bound that is not 0, the largest of which are `cycles`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bounds: BTreeMap<String, u64>,
    /// Cache lines that messages accessed, each once per message.
    #[serde(default)]
    pub lines: u64,
    /// The same, each line once.
    #[serde(default)]
    pub distinct_lines: u64,
    /// Clocks that threads would take alone on their EUs, of the first work-groups in the order of dispatch;
    /// empty for later launches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<u32>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

//! The file's form: JSON, which `gencl-stats` and other programs read.

use std::collections::BTreeMap;

use gencl_eu::profile::Counter;
use serde::{Deserialize, Serialize};

/// The version of the form that is written.
pub const VERSION: u32 = 1;

/// All launches of a process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// See [`VERSION`].
    pub version: u32,
    /// The simulated device.
    pub device: String,
    /// The program, as the system names it.
    pub program: String,
    /// Kernels, in the order of their first launches.
    pub kernels: Vec<Kernel>,
    /// Launches, in the order in which they ended.
    pub launches: Vec<Launch>,
}

/// One kernel: the same code, dispatched with the same SIMD width. All clocks are EU clocks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// Hash of its code, 16 hexadecimal digits.
    pub hash: String,
    /// Lanes of a thread.
    pub simd_width: u32,
    /// Bytes of code.
    pub code_bytes: u64,
    /// Launches.
    pub launches: u64,
    /// Work-groups.
    pub groups: u64,
    /// EU threads.
    pub threads: u64,
    /// Instructions executed, each once per thread.
    pub executed: u64,
    /// Enabled lanes, summed over the executions.
    pub lanes: u64,
    /// Messages, by what answers them; the end of thread is one.
    pub messages: BTreeMap<String, u64>,
    /// Cache lines of 64 bytes that messages accessed, each once per message.
    pub lines: u64,
    /// The same, each once per launch.
    pub distinct_lines: u64,
    /// Clocks of the launches.
    pub cycles: u64,
    /// What the launches would take as a part of larger ones that fill the device.
    pub full_cycles: u64,
    /// What limits `full_cycles`.
    pub limit: String,
    /// The clocks of each bound of `full_cycles`.
    pub bounds: BTreeMap<String, u64>,
    /// Threads that an EU holds at the same time when the device is full.
    pub occupancy: f64,
    /// Clocks of the threads, each alone on its EU, summed up.
    pub thread_cycles: u64,
    /// Those of them that threads waited.
    pub wait_cycles: u64,
    /// Is there a translation for its first launch? Known when `GENCL_ENGINE=translate` asks for
    /// translations; the counts are the interpreter's all the same.
    #[serde(default)]
    pub translated: Option<bool>,
    /// Why there is none.
    #[serde(default)]
    pub refused: Option<String>,
    /// What the translation leaves to the interpreter, by reasons.
    #[serde(default)]
    pub interpreted: BTreeMap<String, Interpreted>,
    /// Its instructions, in the order of their offsets.
    pub instructions: Vec<Instruction>,
}

/// What a translation leaves to the interpreter for one reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interpreted {
    /// Instructions of the kernel.
    pub instructions: u64,
    /// How often threads executed them.
    pub executed: u64,
}

impl Kernel {
    /// All messages but the ends of threads.
    pub fn sends(&self) -> u64 {
        self.messages.iter().filter(|(class, _)| *class != "end").map(|(_, count)| count).sum()
    }

    /// Enabled lanes of an average instruction.
    pub fn lanes_per_instruction(&self) -> f64 {
        self.lanes as f64 / self.executed.max(1) as f64
    }
}

/// One instruction; sums over all threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Instruction {
    /// Bytes from the kernel's first instruction.
    pub offset: u32,
    /// As assembly.
    pub text: String,
    /// Channels of each execution.
    pub width: u32,
    /// What it took.
    #[serde(flatten)]
    pub counter: Counter,
    /// Why the kernel's translation leaves it to the interpreter; without a translation, and where it is host
    /// code, nothing.
    #[serde(default)]
    pub interpreted: Option<String>,
}

/// One launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// Index of its kernel.
    pub kernel: usize,
    /// Work-groups of each dimension.
    pub groups: [u64; 3],
    /// Threads of a work-group.
    pub threads_per_group: u32,
    /// Instructions executed.
    pub executed: u64,
    /// Clocks.
    pub cycles: u64,
    /// What limits them.
    pub limit: String,
}

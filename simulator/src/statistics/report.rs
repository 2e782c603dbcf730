//! The format of the statistics file: JSON, which `gencl-stats` and other programs read.

use std::collections::BTreeMap;

use gencl_eu::profile::InstructionCounter;
use serde::{Deserialize, Serialize};

/// The version of the format.
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
    /// Resident threads per EU when the device is full.
    pub occupancy: f64,
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
    /// Why the kernel's translation leaves it to the interpreter; `None` when it is translated, or the kernel
    /// is not.
    #[serde(default)]
    pub interpreted: Option<String>,
}

/// One launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// Index of its kernel in [`Report::kernels`].
    pub kernel: usize,
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
}

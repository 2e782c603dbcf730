//! A kernel with the sums over its launches.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::bounds::{Bound, Bounds, DeviceUsage};
use super::report;
use gencl_eu as eu;
use gencl_eu::abi::Interpreted;
use gencl_eu::cycles::MessageClass;
use gencl_eu::device::Device;
use gencl_eu::dispatch::Launch;
use gencl_eu::op::Op;
use gencl_eu::profile::{InstructionCounter, InstructionDetails, Profile};
use gencl_isa::Opcode;

/// A kernel whose launch is added to a [`Collector`](super::Collector).
pub struct CountedKernel<'a> {
    /// The decoded kernel.
    pub kernel: &'a eu::Kernel,
    /// Its machine code, which identifies it.
    pub code: &'a [u8],
    /// The instructions that its translation leaves to the interpreter, or why there is no translation;
    /// `None` when translations are not requested.
    pub translation: Option<Result<&'a [Interpreted], &'a str>>,
    /// See [`report::Report::fast`].
    pub fast: bool,
}

/// A kernel's description, and the sums over its launches.
#[derive(Debug)]
pub struct Kernel {
    /// The report without the sums.
    pub head: report::Kernel,
    /// The sums.
    pub sums: Sums,
}

/// Sums over the launches of a kernel: all that a launch changes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sums {
    launches: u64,
    faults: u64,
    groups: u64,
    threads: u64,
    lines: u64,
    distinct_lines: u64,
    texels: u64,
    executed: u64,
    lanes: u64,
    wait: u64,
    cycles: u64,
    full_cycles: u64,
    thread_cycles: u64,
    /// Resident threads of the device, weighted by the clocks of the launches.
    resident: u64,
    /// The clocks of the launches by what limits the resident threads.
    resident_limits: BTreeMap<String, u64>,
    messages: [u64; MessageClass::ALL.len()],
    bounds: [u64; Bound::ALL.len()],
    /// By instruction.
    counters: Vec<InstructionCounter>,
    /// By instruction.
    details: Vec<InstructionDetails>,
}

/// The same for all builds and machines, as reports are compared.
pub fn hash(code: &[u8]) -> String {
    digits(&Sha256::digest(code)[..8])
}

/// Two hexadecimal digits for each byte.
fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether an instruction computes floats.
fn is_float(op: &Op) -> bool {
    op.execution_type.is_float()
}

/// Arithmetic operations of a lane, as they are counted for rooflines: two of a multiply-add; none of moves, comparisons
/// and control flow.
fn operations(op: &Op) -> u32 {
    use Opcode as O;
    match op.opcode {
        O::Mad | O::Mac | O::Sada2 | O::Line => 2,
        O::Lrp => 3,
        O::Dp2 => 3,
        O::Dp3 => 5,
        O::Dp4 | O::Dph => 7,
        O::Add | O::Addc | O::Subb | O::Mul | O::Mach | O::Avg | O::Sad2 | O::Math => 1,
        O::Frc | O::Rndd | O::Rnde | O::Rndu | O::Rndz => 1,
        O::And | O::Or | O::Xor | O::Not | O::Shl | O::Shr | O::Asr => 1,
        O::Bfe | O::Bfi1 | O::Bfi2 | O::Bfrev | O::Cbit | O::Fbh | O::Fbl | O::Lzd => 1,
        _ => 0,
    }
}

impl Kernel {
    /// A kernel without launches.
    pub fn new(hash: String, device: &Device, launch: &Launch, counted: &CountedKernel<'_>) -> Kernel {
        let CountedKernel { kernel, code, translation, .. } = counted;
        let left = |index: usize| {
            let left = translation.and_then(Result::ok).unwrap_or_default();
            left.iter().find(|left| left.instruction as usize == index).map(|left| left.reason.clone())
        };
        let instructions = kernel.ops().iter().enumerate().map(|(index, op)| report::Instruction {
            interpreted: left(index),
            offset: op.offset,
            text: kernel.text(index),
            width: u32::from(op.lanes),
            flops: if is_float(op) { operations(op) } else { 0 },
            intops: if is_float(op) { 0 } else { operations(op) },
            ..report::Instruction::default()
        });
        let head = report::Kernel {
            hash,
            id: launch.mark.kernel,
            simd_width: launch.simd_width,
            threads_per_eu: device.threads,
            code_bytes: code.len() as u64,
            code: digits(code),
            translated: translation.map(|translation| translation.is_ok()),
            refused: translation.and_then(Result::err).map(str::to_owned),
            instructions: instructions.collect(),
            ..report::Kernel::default()
        };
        Kernel { head, sums: Sums::default() }
    }

    /// Whether launches of the code, dispatched in this way, are those of this kernel.
    pub fn is_of(&self, hash: &str, launch: &Launch) -> bool {
        let own = (self.head.hash.as_str(), self.head.simd_width, self.head.id);
        own == (hash, launch.simd_width, launch.mark.kernel)
    }
}

impl Sums {
    /// Adds a launch of so many clocks, which used a part of the `full` device.
    pub fn add(&mut self, profile: &Profile, full: DeviceUsage, used: DeviceUsage, cycles: u64) {
        let (total, bounds) = (profile.total(), Bounds::of(profile, full, false));
        self.launches += 1;
        self.groups += profile.groups;
        self.threads += profile.threads;
        self.executed += total.executions;
        self.lanes += total.lanes;
        self.lines += total.lines;
        self.texels += total.texels;
        self.wait += total.wait;
        self.distinct_lines += profile.distinct_lines();
        self.cycles += cycles;
        self.full_cycles += bounds.largest().1;
        self.thread_cycles += profile.latency;
        self.resident += used.resident * cycles;
        *self.resident_limits.entry(used.limit.to_owned()).or_default() += cycles;
        self.counters.resize(profile.counters.len(), InstructionCounter::default());
        for (own, counter) in self.counters.iter_mut().zip(&profile.counters) {
            own.add(counter);
        }
        self.details.resize_with(profile.details.len(), InstructionDetails::default);
        for (own, details) in self.details.iter_mut().zip(&profile.details) {
            own.add(details);
        }
        for (own, count) in self.messages.iter_mut().zip(profile.messages) {
            *own += count;
        }
        for (own, bound) in self.bounds.iter_mut().zip(Bound::ALL) {
            *own += bounds.get(bound);
        }
    }

    /// Adds a launch that a fault has ended, of which nothing is counted.
    pub fn add_fault(&mut self) {
        self.faults += 1;
    }

    /// Adds the sums to a kernel's description.
    pub fn report(&self, head: &report::Kernel, eus: u64) -> report::Kernel {
        let mut kernel = head.clone();
        (kernel.launches, kernel.faults) = (self.launches, self.faults);
        (kernel.groups, kernel.threads) = (self.groups, self.threads);
        (kernel.executed, kernel.lanes) = (self.executed, self.lanes);
        (kernel.lines, kernel.distinct_lines, kernel.texels) = (self.lines, self.distinct_lines, self.texels);
        (kernel.cycles, kernel.full_cycles) = (self.cycles, self.full_cycles);
        (kernel.thread_cycles, kernel.wait_cycles) = (self.thread_cycles, self.wait);
        kernel.occupancy = self.resident as f64 / (self.cycles * eus).max(1) as f64;
        let limits = self.resident_limits.iter().max_by_key(|(_, clocks)| **clocks);
        kernel.occupancy_limit = limits.map(|(limit, _)| limit.clone()).unwrap_or_default();
        let messages = MessageClass::ALL.into_iter().zip(self.messages).filter(|(_, count)| *count > 0);
        kernel.messages = messages.map(|(class, count)| (class.name().to_owned(), count)).collect();
        let bounds = Bound::ALL.into_iter().zip(self.bounds);
        kernel.bounds = bounds.map(|(bound, clocks)| (bound.name().to_owned(), clocks)).collect();
        let most = self.bounds.into_iter().max().unwrap_or(0);
        let limit = Bound::ALL.into_iter().find(|bound| self.bounds[*bound as usize] == most);
        kernel.limit = limit.map(|bound| bound.name().to_owned()).unwrap_or_default();
        for (instruction, counter) in kernel.instructions.iter_mut().zip(&self.counters) {
            instruction.counter = *counter;
        }
        let offsets: Vec<u32> = kernel.instructions.iter().map(|instruction| instruction.offset).collect();
        for (instruction, details) in kernel.instructions.iter_mut().zip(&self.details) {
            instruction.class = details.class.map(|class| class.name().to_owned());
            let waits = details.waits.iter();
            instruction.waits =
                waits.map(|&(producer, clocks)| report::Wait { offset: offsets[producer], clocks }).collect();
        }
        for instruction in &kernel.instructions {
            if let Some(reason) = &instruction.interpreted {
                let left = kernel.interpreted.entry(reason.clone()).or_default();
                left.instructions += 1;
                left.executed += instruction.counter.executions;
            }
        }
        kernel
    }
}

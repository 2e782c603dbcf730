//! Collects the statistics of launches by kernel.

use std::collections::BTreeMap;

use gencl_sync::Mutex;
use sha2::{Digest, Sha256};

use super::bounds::{Bound, Bounds, DeviceUsage};
use super::report::{self, Report};
use gencl_eu as eu;
use gencl_eu::abi::Interpreted;
use gencl_eu::cycles::MessageClass;
use gencl_eu::device::Device;
use gencl_eu::dispatch::Launch;
use gencl_eu::op::Op;
use gencl_eu::profile::{InstructionDetails, Profile};
use gencl_isa::Opcode;

/// Collects the statistics of launches, of one simulator or of several.
#[derive(Debug, Default)]
pub struct Collector(Mutex<Collected>);

#[derive(Debug, Default)]
struct Collected {
    device: String,
    fast: bool,
    kernels: Vec<Kernel>,
    launches: Vec<report::Launch>,
    /// Number of [`report::Launch::threads`] of all launches.
    threads: usize,
}

/// Number of [`report::Launch::threads`] that are kept.
const MAX_THREADS: usize = 100_000;

/// A kernel with the sums over its launches.
#[derive(Debug)]
struct Kernel {
    /// The report, without the fields that are summed up below.
    head: report::Kernel,
    /// By instruction.
    details: Vec<InstructionDetails>,
    messages: [u64; MessageClass::ALL.len()],
    bounds: [u64; Bound::ALL.len()],
}

/// A kernel whose launch is added to a [`Collector`].
pub struct CountedKernel<'a> {
    /// The decoded kernel.
    pub kernel: &'a eu::Kernel,
    /// Its machine code, which identifies it.
    pub code: &'a [u8],
    /// The instructions that its translation leaves to the interpreter, or why there is no translation;
    /// `None` when translations are not requested.
    pub translation: Option<Result<&'a [Interpreted], &'a str>>,
    /// See [`Report::fast`].
    pub fast: bool,
}

impl PartialEq for Collector {
    /// Collectors are compared by identity.
    fn eq(&self, other: &Collector) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Collector {}

/// The same for all builds and machines, as reports are compared.
fn hash(code: &[u8]) -> String {
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
    fn new(hash: String, launch: &Launch, counted: &CountedKernel<'_>) -> Kernel {
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
            simd_width: launch.simd_width,
            code_bytes: code.len() as u64,
            code: digits(code),
            translated: translation.map(|translation| translation.is_ok()),
            refused: translation.and_then(Result::err).map(str::to_owned),
            instructions: instructions.collect(),
            ..report::Kernel::default()
        };
        Kernel {
            head,
            details: Vec::new(),
            messages: [0; MessageClass::ALL.len()],
            bounds: [0; Bound::ALL.len()],
        }
    }

    fn add(&mut self, profile: &Profile, device: &Device, full: DeviceUsage, cycles: u64) {
        let (total, bounds, head) = (profile.total(), Bounds::of(profile, full, false), &mut self.head);
        head.launches += 1;
        head.groups += profile.groups;
        head.threads += profile.threads;
        head.executed += total.executions;
        head.lanes += total.lanes;
        head.lines += total.lines;
        head.texels += total.texels;
        head.distinct_lines += profile.distinct_lines();
        head.cycles += cycles;
        head.full_cycles += bounds.largest().1;
        head.thread_cycles += profile.latency;
        head.wait_cycles += total.wait;
        head.occupancy = full.resident as f64 / full.eus as f64;
        head.threads_per_eu = device.threads;
        for (own, counter) in head.instructions.iter_mut().zip(&profile.counters) {
            own.counter.add(counter);
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

    fn report(&self) -> report::Kernel {
        let mut kernel = self.head.clone();
        let messages = MessageClass::ALL.into_iter().zip(self.messages).filter(|(_, count)| *count > 0);
        kernel.messages = messages.map(|(class, count)| (class.name().to_owned(), count)).collect();
        let bounds = Bound::ALL.into_iter().zip(self.bounds);
        kernel.bounds =
            bounds.map(|(bound, clocks)| (bound.name().to_owned(), clocks)).collect::<BTreeMap<_, _>>();
        let most = self.bounds.into_iter().max().unwrap_or(0);
        let limit = Bound::ALL.into_iter().find(|bound| self.bounds[*bound as usize] == most);
        kernel.limit = limit.map(|bound| bound.name().to_owned()).unwrap_or_default();
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

impl Collector {
    /// Adds a launch.
    pub fn add(&self, device: &Device, launch: &Launch, kernel: &CountedKernel<'_>, profile: &Profile) {
        let full = DeviceUsage::full(device, launch);
        let bounds = Bounds::of(profile, full.used_by(launch, profile.groups, profile.threads), true);
        let (limit, cycles) = bounds.largest();
        let hash = hash(kernel.code);
        let mut collected = self.0.lock();
        device.name.clone_into(&mut collected.device);
        collected.fast = kernel.fast;
        let same = |k: &Kernel| k.head.hash == hash && k.head.simd_width == launch.simd_width;
        let index = collected.kernels.iter().position(same).unwrap_or(collected.kernels.len());
        if index == collected.kernels.len() {
            collected.kernels.push(Kernel::new(hash, launch, kernel));
        }
        collected.kernels[index].add(profile, device, full, cycles);
        let mut threads: Vec<u32> = profile.first_threads.clocks().collect();
        if collected.threads + threads.len() > MAX_THREADS {
            threads.clear();
        }
        collected.threads += threads.len();
        collected.launches.push(report::Launch {
            kernel: index,
            groups: launch.groups(),
            threads_per_group: launch.threads_per_group(),
            executed: profile.total().executions,
            cycles,
            limit: limit.name().to_owned(),
            bounds: bounds.not_zero(),
            threads,
        });
    }

    /// A report of everything that has been collected so far.
    pub fn report(&self) -> Report {
        let collected = self.0.lock();
        let program = std::env::current_exe()
            .ok()
            .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        Report {
            version: report::VERSION,
            device: collected.device.clone(),
            program: program.unwrap_or_default(),
            fast: collected.fast,
            kernels: collected.kernels.iter().map(Kernel::report).collect(),
            launches: collected.launches.clone(),
            ..Report::default()
        }
    }

    /// Whether no launch has been added.
    pub fn is_empty(&self) -> bool {
        self.0.lock().launches.is_empty()
    }
}

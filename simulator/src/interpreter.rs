//! The engine that interprets EU code: decoded kernels, and work-groups spread over host threads.

use std::sync::Arc;

use crate::sync::Mutex;

use crate::device::Device;
use crate::dispatch::{GroupStatistics, Launch};
use crate::eu::profile::{Profile, Recorder};
use crate::eu::{self, Kernel, Worker};
use crate::fault::Fault;
use crate::gpu::Executor;
use crate::memory::{Access, AddressSpace, Cursor};
use crate::pool::Pool;
use crate::running::Running;
use crate::settings::Settings;
use crate::statistics::Collector;

/// The interpreter of one GPU.
pub struct Interpreter {
    device: &'static Device,
    strict: bool,
    pool: Pool,
    kernels: Mutex<Vec<Arc<Cached>>>,
    workers: Arc<Workers>,
    statistics: Option<Arc<Collector>>,
}

/// Workers that have nothing to do, each with its first thread slot.
struct Workers {
    device: &'static Device,
    /// So many are kept.
    limit: usize,
    idle: Mutex<Vec<(u32, Worker)>>,
}

/// A decoded kernel and the code that it was decoded from.
struct Cached {
    address: u64,
    code: Vec<u8>,
    kernel: Kernel,
}

/// Decoded kernels that are kept.
const CACHED_KERNELS: usize = 256;

/// Code is read in pieces of so many bytes.
const READ_AT_ONCE: usize = 32 << 10;

/// Most bytes of code of one kernel.
const MAX_CODE: u64 = 16 << 20;

impl Interpreter {
    /// An interpreter for a device.
    pub fn new(device: &'static Device, settings: &Settings) -> Interpreter {
        Interpreter {
            device,
            strict: settings.strict,
            pool: Pool::new(settings.workers),
            kernels: Mutex::default(),
            workers: Arc::new(Workers { device, limit: 2 * settings.workers, idle: Mutex::default() }),
            statistics: settings.statistics.clone(),
        }
    }

    /// The decoded kernel at an address. Its code is compared with memory, so that code that was replaced
    /// is decoded anew.
    fn kernel(&self, address: u64, memory: &AddressSpace) -> Result<Arc<Cached>, Fault> {
        let rest = memory.rest_of_buffer(address).min(MAX_CODE);
        let range = memory.range(&mut Cursor::default(), address, rest);
        let cached = {
            let kernels = self.kernels.lock();
            let same =
                |k: &&Arc<Cached>| k.address == address && range.is_some_and(|r| r.starts_with(&k.code));
            kernels.iter().rev().find(same).cloned()
        };
        if let Some(cached) = cached {
            return Ok(cached);
        }
        let (code, kernel) = self.decode(address, rest, memory)?;
        let cached = Arc::new(Cached { address, code, kernel });
        let mut kernels = self.kernels.lock();
        // What was at this address before is gone.
        kernels.retain(|k| k.address != address);
        if kernels.len() == CACHED_KERNELS {
            kernels.remove(0);
        }
        kernels.push(Arc::clone(&cached));
        Ok(cached)
    }

    /// Decodes the kernel at an address, whose code ends somewhere within `rest` bytes, and gives its code too.
    fn decode(&self, address: u64, rest: u64, memory: &AddressSpace) -> Result<(Vec<u8>, Kernel), Fault> {
        // Buffers with kernels are often much larger than the kernel: more is read when it did not suffice.
        let mut code = Vec::new();
        let mut end = 0;
        let kernel = Kernel::explore(self.device, self.strict, |offset| {
            let offset = offset as usize;
            let (known, wanted) = (code.len(), (offset + FULL_INSTRUCTION).next_multiple_of(READ_AT_ONCE));
            if known < wanted {
                code.resize(wanted.min(rest as usize), 0);
                memory.read_for(
                    &mut Cursor::default(),
                    address + known as u64,
                    &mut code[known..],
                    Access::Fetch,
                )?;
            }
            let found = eu::first_instruction(self.device, code.get(offset..).unwrap_or_default());
            end = end.max(offset + FULL_INSTRUCTION);
            Ok(found)
        })?;
        code.truncate(end);
        code.shrink_to_fit();
        Ok((code, kernel))
    }

    /// Executes a launch of one work-group, for which nothing is to be shared with other threads.
    fn launch_one(
        &self,
        kernel: &Kernel,
        launch: &Launch,
        memory: &Arc<AddressSpace>,
        running: &Arc<Running>,
    ) -> Result<GroupStatistics, Fault> {
        let first_slot = first_slot(self.device, launch, 0);
        let mut worker = self.workers.take(first_slot);
        let group = group_of(launch, 0);
        let result = eu::run_group(kernel, launch, group, memory, &mut worker, &running.cancel);
        self.workers.give_back(first_slot, worker);
        running.advance();
        result
    }

    /// How many work-groups run at once. The hardware threads of all must have scratch memory.
    fn participants(&self, launch: &Launch) -> usize {
        let each = launch.threads_per_group();
        launch.scratch.map_or(usize::MAX, |scratch| (scratch.slots / each).max(1) as usize)
    }
}

/// The first thread slot of a participant. Without scratch memory, participants beyond the device's threads share
/// slots: then they are but a name.
fn first_slot(device: &Device, launch: &Launch, participant: usize) -> u32 {
    let each = launch.threads_per_group();
    let fit = (device.total_threads() / each).max(1);
    (participant as u32 % fit) * each
}

impl Workers {
    fn take(&self, first_slot: u32) -> Worker {
        let mut idle = self.idle.lock();
        match idle.iter().position(|(slot, _)| *slot == first_slot) {
            Some(index) => idle.swap_remove(index).1,
            None => Worker::new(self.device, first_slot),
        }
    }

    fn give_back(&self, first_slot: u32, worker: Worker) {
        let mut idle = self.idle.lock();
        if idle.len() < self.limit {
            idle.push((first_slot, worker));
        }
    }
}

/// Bytes of an instruction that is not compacted.
const FULL_INSTRUCTION: usize = 16;

/// A host thread's part in a launch. Gives its worker back and adds up its counts when it is done.
struct Participant {
    workers: Arc<Workers>,
    first_slot: u32,
    worker: Worker,
    own: GroupStatistics,
    recorder: Option<Recorder>,
    sum: Arc<Mutex<Sum>>,
}

/// What all participants have counted.
#[derive(Default)]
struct Sum {
    groups: GroupStatistics,
    profile: Profile,
}

impl Drop for Participant {
    fn drop(&mut self) {
        let profile = self.recorder.take().map(Recorder::finish);
        let mut sum = self.sum.lock();
        sum.groups += self.own;
        profile.into_iter().for_each(|profile| sum.profile.merge(profile));
        drop(sum);
        let empty = Worker::new(self.workers.device, self.first_slot);
        self.workers.give_back(self.first_slot, std::mem::replace(&mut self.worker, empty));
    }
}

/// The work-group ids of a linear index: x fastest, then y, then z.
fn group_of(launch: &Launch, index: u64) -> [u32; 3] {
    let [x, y, _] = launch.groups();
    let at = [index % x, index / x % y, index / x / y];
    std::array::from_fn(|i| launch.first_group[i] + at[i] as u32)
}

impl Executor for Interpreter {
    fn launch(
        &self,
        launch: Launch,
        memory: &Arc<AddressSpace>,
        running: &Arc<Running>,
    ) -> Result<GroupStatistics, Fault> {
        let cached = self.kernel(launch.kernel, memory)?;
        // Saturated, a count of groups is more than could ever be executed.
        let total = launch.groups().iter().fold(1u64, |product, n| product.saturating_mul(*n));
        if total == 1 && self.statistics.is_none() {
            return self.launch_one(&cached.kernel, &launch, memory, running);
        }
        let participants = self.participants(&launch);
        let (launch, sum) = (Arc::new(launch), Arc::new(Mutex::new(Sum::default())));
        let participant = {
            let (workers, launch, sum) = (Arc::clone(&self.workers), Arc::clone(&launch), Arc::clone(&sum));
            let (cached, recorded) = (Arc::clone(&cached), self.statistics.is_some());
            move |number| {
                let first_slot = first_slot(workers.device, &launch, number);
                let worker = workers.take(first_slot);
                let (workers, sum) = (Arc::clone(&workers), Arc::clone(&sum));
                let recorder = recorded.then(|| Recorder::new(&cached.kernel));
                Participant { workers, first_slot, worker, own: GroupStatistics::default(), recorder, sum }
            }
        };
        let execute = {
            let (memory, running) = (Arc::clone(memory), Arc::clone(running));
            let (launch, cached) = (Arc::clone(&launch), Arc::clone(&cached));
            move |own: &mut Participant, index| {
                let (group, worker, cancel) = (group_of(&launch, index), &mut own.worker, &running.cancel);
                let kernel = &cached.kernel;
                own.own += match &mut own.recorder {
                    None => eu::run_group(kernel, &launch, group, &memory, worker, cancel)?,
                    Some(recorder) => {
                        eu::run_group_with(kernel, &launch, group, &memory, worker, cancel, recorder)?
                    }
                };
                Ok(())
            }
        };
        self.pool.run(total, participants, running, participant, execute)?;
        let sum = sum.lock();
        if let Some(statistics) = &self.statistics {
            statistics.add(self.device, &launch, &cached.kernel, &cached.code, &sum.profile);
        }
        Ok(sum.groups)
    }
}

//! The engine that executes EU code: decoded kernels, interpreted or translated, and work-groups spread over
//! host threads.

mod kernels;
mod participant;
mod translator;
mod workers;

use std::sync::Arc;

use crate::gpu::{Executor, Prepared};
use crate::pool::Pool;
use crate::running::Running;
use crate::settings::Settings;
use crate::statistics::{Collector, Counted};
use crate::translated::{Choice, Work};
use gencl_eu::Kernel;
use gencl_eu::device::Device;
use gencl_eu::dispatch::{GroupStatistics, Launch};
use gencl_eu::fault::Fault;
use gencl_eu::memory::AddressSpace;
use gencl_sync::Mutex;

use kernels::Kernels;
use participant::{Common, Job, Participant, Sum};
use translator::Translator;
use workers::Workers;

/// The engine of one GPU.
pub struct Engine {
    device: &'static Device,
    pool: Pool,
    kernels: Kernels,
    common: Arc<Common>,
    statistics: Option<Arc<Collector>>,
}

impl Engine {
    /// An engine for a device.
    pub fn new(device: &'static Device, settings: &Settings) -> Engine {
        Engine {
            device,
            pool: Pool::new(settings.workers),
            kernels: Kernels::new(device, settings.strict),
            common: Arc::new(Common {
                workers: Workers::new(device, 2 * settings.workers),
                translator: Translator::new(device, settings),
                threads: settings.workers,
            }),
            statistics: settings.statistics.clone(),
        }
    }
}

/// How many work-groups of a kernel run at once on a device: as many as there is scratch memory for, and
/// where the kernel may see the numbers of its threads, as many as have different ones. Otherwise any number.
fn participants(device: &Device, kernel: &Kernel, launch: &Launch) -> usize {
    let slots = match launch.scratch {
        Some(scratch) => scratch.slots,
        None if kernel.reads_number() => device.total_threads(),
        None => return usize::MAX,
    };
    (slots / launch.threads_per_group()).max(1) as usize
}

impl Executor for Engine {
    fn prepare<'e>(
        &'e self,
        launch: Launch,
        memory: &Arc<AddressSpace>,
        running: &Arc<Running>,
    ) -> Result<Box<dyn Prepared + 'e>, Fault> {
        let known = self.kernels.get(launch.kernel, memory)?;
        let translator = self.common.translator.as_ref();
        let flat = translator.is_some_and(|translator| translator.is_flat(&known, &launch, memory));
        let translation = translator.and_then(|translator| translator.choose(&known, &launch, flat, running));
        // Counting is the interpreter's.
        let (counted, translation) =
            if self.statistics.is_some() { (translation, None) } else { (None, translation) };
        let work = Work {
            kernel: Arc::clone(&known.kernel),
            launch,
            memory: Arc::clone(memory),
            running: Arc::clone(running),
        };
        let job = Arc::new(Job {
            common: Arc::clone(&self.common),
            known,
            work: Arc::new(work),
            translation,
            recorded: self.statistics.is_some(),
            sum: Mutex::new(Sum::default()),
        });
        Ok(Box::new(PreparedJob { engine: self, job, flat, counted, only: None }))
    }
}

/// A launch that is ready.
struct PreparedJob<'e> {
    engine: &'e Engine,
    job: Arc<Job>,
    flat: bool,
    /// Of which statistics tell what became.
    counted: Option<Choice>,
    /// Who has executed the work-group, where there is but one: with its tools, which know the memory.
    only: Option<Participant>,
}

impl Prepared for PreparedJob<'_> {
    fn holds(&self) -> bool {
        let Job { common, known, work, translation, .. } = &*self.job;
        let Work { launch, memory, .. } = &**work;
        if translation.is_some() && self.job.good_choice().is_none() {
            return false;
        }
        let is_flat = |translator: &Translator| translator.is_flat(known, launch, memory);
        known.is_at(launch.kernel, memory) && common.translator.as_ref().is_some_and(is_flat) == self.flat
    }

    fn execute(&mut self) -> Result<GroupStatistics, Fault> {
        let Self { engine, job, counted, only, .. } = self;
        let Work { kernel, launch, running, .. } = &*job.work;
        // Saturated, a count of groups is more than could ever be executed.
        let total = launch.groups().iter().fold(1u64, |product, n| product.saturating_mul(*n));
        if total == 1 {
            // Nothing is to be shared with other threads.
            let participant = only.get_or_insert_with(|| Participant::new(Arc::clone(job), 0));
            participant.renew();
            let done = participant.execute_only();
            running.advance();
            done?;
            participant.add_up();
        } else {
            let for_participants = Arc::clone(job);
            let participant = move |number| Participant::new(Arc::clone(&for_participants), number);
            let execute = Participant::execute;
            let most = participants(engine.device, kernel, launch);
            engine.pool.run(total, most, running, participant, execute)?;
        }
        let mut sum = job.sum.lock();
        let groups = std::mem::take(&mut sum.groups);
        if let Some(statistics) = &engine.statistics {
            let profile = std::mem::take(&mut sum.profile);
            let translation = engine.common.translator.as_ref().map(|_| match counted {
                Some(choice) => choice.outcome(),
                None => Err("no launch of its kind is translated"),
            });
            let counted = Counted { kernel, code: &job.known.code, translation };
            statistics.add(engine.device, launch, &counted, &profile);
        }
        Ok(groups)
    }
}

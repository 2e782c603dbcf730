//! The engine that executes EU code: decoded kernels, interpreted or translated, and work-groups spread over host threads.

mod kernels;
mod participant;
mod translator;
mod workers;

use std::sync::Arc;

use crate::device::Device;
use crate::dispatch::{GroupStatistics, Launch};
use crate::eu::Kernel;
use crate::fault::Fault;
use crate::gpu::Executor;
use crate::memory::AddressSpace;
use crate::pool::Pool;
use crate::running::Running;
use crate::settings::Settings;
use crate::statistics::{Collector, Counted};
use crate::sync::Mutex;
use crate::translated::Work;

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
            }),
            statistics: settings.statistics.clone(),
        }
    }
}

/// How many work-groups of a kernel run at once on a device: as many as there is scratch memory for, and where the kernel may see the numbers of its threads, as
/// many as have different ones. Otherwise any number.
fn participants(device: &Device, kernel: &Kernel, launch: &Launch) -> usize {
    let slots = match launch.scratch {
        Some(scratch) => scratch.slots,
        None if kernel.reads_number() => device.total_threads(),
        None => return usize::MAX,
    };
    (slots / launch.threads_per_group()).max(1) as usize
}

impl Executor for Engine {
    fn launch(
        &self,
        launch: Launch,
        memory: &Arc<AddressSpace>,
        running: &Arc<Running>,
    ) -> Result<GroupStatistics, Fault> {
        let known = self.kernels.get(launch.kernel, memory)?;
        let translator = self.common.translator.as_ref();
        let translation =
            translator.and_then(|translator| translator.choose(&known, &launch, memory, running));
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
        // Saturated, a count of groups is more than could ever be executed.
        let total = job.work.launch.groups().iter().fold(1u64, |product, n| product.saturating_mul(*n));
        if total == 1 {
            // Nothing is to be shared with other threads.
            let done = Participant::new(Arc::clone(&job), 0).execute_only();
            running.advance();
            done?;
        } else {
            let for_participants = Arc::clone(&job);
            let participant = move |number| Participant::new(Arc::clone(&for_participants), number);
            let execute = Participant::execute;
            self.pool.run(
                total,
                participants(self.device, &job.known.kernel, &job.work.launch),
                running,
                participant,
                execute,
            )?;
        }
        let sum = job.sum.lock();
        if let Some(statistics) = &self.statistics {
            let Job { known, work, .. } = &*job;
            let known_translation = translator.map(|_| match &counted {
                Some(choice) => choice.outcome(),
                None => Err("no launch of its kind is translated"),
            });
            let kernel = Counted { kernel: &known.kernel, code: &known.code, translation: known_translation };
            statistics.add(self.device, &work.launch, &kernel, &sum.profile);
        }
        Ok(sum.groups)
    }
}

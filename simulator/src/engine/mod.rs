//! The engine that executes launches: it keeps decoded kernels, interprets or translates them, and
//! distributes work-groups to host threads.

mod expected;
mod host_state;
mod participant;
mod translation_policy;

use std::sync::Arc;

use crate::gpu::{Executor, Prepared};
use crate::pool::Pool;
use crate::running::Running;
use crate::settings::Settings;
use crate::statistics::{Collector, CountedKernel};
use crate::translated::{LaunchContext, TranslationChoice};
use gencl_eu::Kernel;
use gencl_eu::device::Device;
use gencl_eu::dispatch::{GroupStatistics, Launch};
use gencl_eu::fault::Fault;
use gencl_eu::memory::AddressSpace;
use gencl_i915::{ExpectedLaunch, LaunchHint};
use gencl_sync::Mutex;

use crate::kernels::KernelCache;
use expected::Expectations;
use host_state::HostStatePool;
use participant::{EngineResources, Job, Participant, Sum};
use translation_policy::TranslationPolicy;

/// The engine of one GPU.
pub struct Engine {
    device: &'static Device,
    pool: Pool,
    kernels: Arc<KernelCache>,
    resources: Arc<EngineResources>,
    /// `None` when kernels are only interpreted.
    expectations: Option<Expectations>,
    statistics: Option<Arc<Collector>>,
    /// See [`Settings::fast_statistics`].
    fast_statistics: bool,
}

impl Engine {
    /// An engine for a device.
    pub fn new(device: &'static Device, settings: &Settings) -> Engine {
        let policy = TranslationPolicy::new(device, settings);
        let kernels = Arc::new(KernelCache::new(device, settings.strict));
        Engine {
            device,
            expectations: policy.clone().map(|policy| Expectations::new(Arc::clone(&kernels), policy)),
            pool: Pool::new(settings.workers),
            kernels,
            resources: Arc::new(EngineResources {
                host_states: HostStatePool::new(device, 2 * settings.workers),
                policy,
                threads: settings.workers,
            }),
            statistics: settings.statistics.clone(),
            fast_statistics: settings.fast_statistics,
        }
    }
}

/// Maximum number of work-groups of a launch that run at the same time: those that there is scratch memory
/// for, or, when the kernel reads the number of its hardware thread (FFTID), those whose threads have
/// distinct numbers. Otherwise unlimited.
fn participants(device: &Device, kernel: &Kernel, launch: &Launch) -> usize {
    let slots = match launch.scratch {
        Some(scratch) => scratch.slots,
        None if kernel.reads_thread_number() => device.total_threads(),
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
        let cached = self.kernels.get(launch.kernel, memory)?;
        let policy = self.resources.policy.as_ref();
        let surfaces = policy.map(|policy| policy.surfaces(&cached, &launch, memory)).unwrap_or_default();
        let translation = policy.and_then(|policy| policy.choose(&cached, &launch, &surfaces, running));
        let recorded = self.statistics.is_some() && !launch.mark.hidden;
        // Only the interpreter collects all statistics.
        let is_interpreted = recorded && !self.fast_statistics;
        let (counted, translation) = if is_interpreted { (translation, None) } else { (None, translation) };
        let work = LaunchContext {
            kernel: Arc::clone(&cached.kernel),
            launch,
            memory: Arc::clone(memory),
            surfaces,
            running: Arc::clone(running),
        };
        let job = Arc::new(Job {
            resources: Arc::clone(&self.resources),
            cached,
            work: Arc::new(work),
            translation,
            recorded,
            sum: Mutex::new(Sum::default()),
        });
        Ok(Box::new(PreparedJob { engine: self, job, counted, only: None }))
    }

    fn expect(&self, launch: &ExpectedLaunch<'_>) -> Option<LaunchHint> {
        self.expectations.as_ref().map(|expectations| expectations.add(launch))
    }
}

/// A prepared launch.
struct PreparedJob<'e> {
    engine: &'e Engine,
    job: Arc<Job>,
    /// The translation that statistics report on, though the launch is interpreted.
    counted: Option<TranslationChoice>,
    /// The participant of a launch of one work-group, kept for the next execution with its register files and
    /// windows.
    only: Option<Participant>,
}

impl Prepared for PreparedJob<'_> {
    fn is_valid(&self) -> bool {
        let Job { resources, cached, work, translation, .. } = &*self.job;
        let LaunchContext { launch, memory, surfaces, .. } = &**work;
        if translation.is_some() && self.job.valid_choice().is_none() {
            return false;
        }
        let has_same = |policy: &TranslationPolicy| policy.surfaces(cached, launch, memory) == *surfaces;
        cached.is_at(launch.kernel, memory) && resources.policy.as_ref().is_none_or(has_same)
    }

    fn execute(&mut self) -> Result<GroupStatistics, Fault> {
        let Self { engine, job, counted, only, .. } = self;
        let LaunchContext { kernel, launch, running, .. } = &*job.work;
        // A product that saturates is more than could ever be executed.
        let total = launch.groups().iter().fold(1u64, |product, n| product.saturating_mul(*n));
        let done = if total == 1 {
            // Nothing has to be shared with other threads.
            let participant = only.get_or_insert_with(|| Participant::new(Arc::clone(job), 0));
            participant.update_translation();
            let done = participant.execute_only();
            running.advance();
            participant.publish_counts();
            done
        } else {
            let for_participants = Arc::clone(job);
            let participant = move |number| Participant::new(Arc::clone(&for_participants), number);
            let execute = Participant::execute;
            let most = participants(engine.device, kernel, launch);
            engine.pool.run(total, most, running, participant, execute)
        };
        let mut sum = job.sum.lock();
        let groups = std::mem::take(&mut sum.groups);
        if let Some(statistics) = engine.statistics.as_ref().filter(|_| job.recorded) {
            let mut profile = std::mem::take(&mut sum.profile);
            if engine.fast_statistics {
                profile = profile.of_counts(kernel);
            }
            let translation = engine.resources.policy.as_ref().map(|_| {
                match counted.as_ref().or(job.translation.as_ref()) {
                    Some(choice) => choice.outcome(),
                    None => Err("launches of this kind are not translated"),
                }
            });
            let (code, fast) = (&job.cached.code, engine.fast_statistics);
            let counted = CountedKernel { kernel, code, translation, fast };
            match &done {
                Ok(()) => statistics.add(engine.device, launch, &counted, &profile),
                Err(fault) => statistics.add_fault(engine.device, launch, &counted, fault),
            }
        }
        done.map(|()| groups)
    }
}

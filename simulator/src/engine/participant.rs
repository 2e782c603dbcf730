//! A host thread that takes part in a launch.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::host_state::{HostState, HostStatePool};
use super::translation_policy::TranslationPolicy;
use crate::kernels::CachedKernel;
use crate::pool::Chunk;
use crate::translated::loader::HostCode;
use crate::translated::{LaunchContext, Runner, TranslatedLaunch, TranslationChoice};
use gencl_eu as eu;
use gencl_eu::abi::Tier;
use gencl_eu::dispatch::{GroupStatistics, Launch};
use gencl_eu::fault::Fault;
use gencl_eu::profile::{Profile, Recorder};
use gencl_sync::Mutex;

/// What the launches of an engine share.
pub struct EngineResources {
    pub host_states: HostStatePool,
    pub policy: Option<TranslationPolicy>,
    /// Maximum number of host threads of a launch.
    pub threads: usize,
}

/// A launch that is being executed.
pub struct Job {
    pub resources: Arc<EngineResources>,
    pub cached: Arc<CachedKernel>,
    pub work: Arc<LaunchContext>,
    /// The translations that the launch may use.
    pub translation: Option<TranslationChoice>,
    /// Whether statistics of each instruction are recorded.
    pub recorded: bool,
    /// The counts of all participants that have ended.
    pub sum: Mutex<Sum>,
}

impl Job {
    /// The translations that the launch may use, if they are still valid.
    pub fn valid_choice(&self) -> Option<&TranslationChoice> {
        self.translation.as_ref().filter(|choice| self.cached.translations.is_valid(choice))
    }

    /// The policy, and the translations that the launch may use; `None` when it is only interpreted.
    fn policy(&self) -> Option<(&TranslationPolicy, &TranslationChoice)> {
        Some((self.resources.policy.as_ref()?, self.translation.as_ref()?))
    }
}

/// Counts of participants.
#[derive(Default)]
pub struct Sum {
    pub groups: GroupStatistics,
    pub profile: Profile,
}

/// A host thread that takes part in a launch. When dropped, it returns its host state to the pool and adds
/// its counts to those of the launch.
pub struct Participant {
    job: Arc<Job>,
    /// Whether it is the last of all host threads: that one leaves its core to the translator.
    last: bool,
    /// Average time of a work-group of the last chunk, unless optimised code has executed it.
    group_time: Duration,
    first_slot: u32,
    host: Option<Box<HostState>>,
    /// The tier of the code for which the runner is set up.
    tier: Option<Tier>,
    own: GroupStatistics,
    recorder: Option<Recorder>,
}

impl Participant {
    /// The participant with a number, counted from 0.
    pub fn new(job: Arc<Job>, number: usize) -> Participant {
        let host_states = &job.resources.host_states;
        let first_slot = host_states.first_slot(&job.work.launch, number);
        let host = Some(host_states.take(first_slot));
        let recorder = job.recorded.then(|| Recorder::new(&job.cached.kernel));
        Participant {
            last: number > 0 && number + 1 == job.resources.threads,
            job,
            group_time: Duration::ZERO,
            first_slot,
            host,
            tier: None,
            own: GroupStatistics::default(),
            recorder,
        }
    }

    /// Executes the work-groups of a chunk.
    pub fn execute(&mut self, chunk: &mut Chunk<'_>) -> Result<(), Fault> {
        let job = Arc::clone(&self.job);
        let mut next = Groups::at(&job.work.launch, chunk.first());
        let is_translated = self.translate() || self.wait_for_translation(chunk) && self.translate();
        let begin = (self.tier != Some(Tier::Optimised)).then(Instant::now);
        // Counted at the end: with sums in memory, each work-group would wait until the stores of the one
        // before have left the store buffer.
        let mut groups = 0;
        let result = if is_translated {
            let Some(host) = &mut self.host else { return Ok(()) };
            let result = chunk.try_for_each(|_| {
                let [x, y, z] = next.take();
                host.runner.run(x, y, z)?;
                groups += 1;
                Ok(())
            });
            self.own += host.runner.statistics(groups);
            result
        } else {
            chunk.try_for_each(|_| {
                self.interpret(next.take())?;
                groups += 1;
                Ok(())
            })
        };
        if let Some((policy, choice)) = job.policy()
            && let Some(begin) = begin
        {
            let took = begin.elapsed();
            self.group_time = took.div_f64(f64::from(clamped(groups).max(1)));
            let left = self.group_time.saturating_mul(clamped(chunk.left()));
            policy.request_if_worthwhile(&job.cached, choice, self.tier, took, left);
        }
        result
    }

    /// Waits for a pending translation if this participant is the one that has to; returns whether it is.
    fn wait_for_translation(&self, chunk: &Chunk<'_>) -> bool {
        let Some((policy, choice)) = self.job.policy().filter(|_| self.last) else { return false };
        let has_left = |time| self.group_time.saturating_mul(clamped(chunk.left())) >= time;
        policy.wait_for_translation(choice, &self.job.work.running, has_left);
        true
    }

    /// Executes the only work-group of a launch.
    pub fn execute_only(&mut self) -> Result<(), Fault> {
        let job = Arc::clone(&self.job);
        let group = job.work.launch.first_group;
        let mut is_translated = self.translate();
        if !is_translated && let Some((policy, choice)) = job.policy() {
            policy.wait_before_only_group(&job.cached, choice, &job.work.running);
            is_translated = self.translate();
        }
        let begin = (self.tier != Some(Tier::Optimised)).then(Instant::now);
        if is_translated {
            let Some(host) = &mut self.host else { return Ok(()) };
            let [x, y, z] = group;
            host.runner.run(x, y, z)?;
            self.own += host.runner.statistics(1);
        } else {
            self.interpret(group)?;
        }
        if let Some((policy, choice)) = job.policy()
            && let Some(begin) = begin
        {
            let took = begin.elapsed();
            policy.took_for_only_group(self.tier, took);
            policy.request_if_worthwhile(&job.cached, choice, self.tier, took, Duration::ZERO);
        }
        Ok(())
    }

    /// Sets up the runner with the best code that is available by now; returns whether there is some.
    #[inline]
    fn translate(&mut self) -> bool {
        self.tier == Some(Tier::Optimised) || self.begin_translated()
    }

    /// Has the runner set up again if a better translation has become available, or its own invalid. Called
    /// before the launch is executed again.
    pub fn update_translation(&mut self) {
        let code = self.job.valid_choice().and_then(TranslationChoice::code);
        let runs = |code| self.host.as_ref().is_some_and(|host| host.runner.runs(code));
        self.tier = self.tier.filter(|_| code.is_some_and(runs));
    }

    fn begin_translated(&mut self) -> bool {
        let job = Arc::clone(&self.job);
        let fits = |code: &&Arc<HostCode>| Runner::fits(code, &job.work.launch);
        let code = job.valid_choice().and_then(TranslationChoice::code).filter(fits);
        let (Some(code), Some(host)) = (code, &mut self.host) else { return self.tier.is_some() };
        if self.tier.is_none() || !host.runner.runs(code) {
            if self.tier.is_some() && self.recorder.is_some() {
                job.sum.lock().profile.merge(host.runner.take_profile());
            }
            let task = TranslatedLaunch { code: Arc::clone(code), work: Arc::clone(&job.work) };
            host.runner.begin(task, self.first_slot);
            self.tier = Some(code.tier);
        }
        true
    }

    /// Adds its counts to those of the launch.
    pub fn publish_counts(&mut self) {
        let mut sum = self.job.sum.lock();
        sum.groups += std::mem::take(&mut self.own);
        if let Some(recorder) = &mut self.recorder {
            sum.profile.merge(recorder.take());
            if let Some(host) = self.host.as_mut().filter(|_| self.tier.is_some()) {
                sum.profile.merge(host.runner.take_profile());
            }
        }
    }

    fn interpret(&mut self, group: [u32; 3]) -> Result<(), Fault> {
        let Job { cached, work, .. } = &*self.job;
        let LaunchContext { kernel, launch, memory, running, .. } = &**work;
        let (memory, cancel) = (&**memory, &running.cancel);
        let Some(host) = &mut self.host else { return Ok(()) };
        let worker = &mut host.worker;
        self.own += match &mut self.recorder {
            None => eu::run_group(kernel, launch, group, memory, worker, cancel)?,
            Some(recorder) => eu::run_group_with(kernel, launch, group, memory, worker, cancel, recorder)?,
        };
        if worker.spun() {
            cached.translations.set_spins();
        }
        Ok(())
    }
}

fn clamped(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl Drop for Participant {
    fn drop(&mut self) {
        self.publish_counts();
        if let Some(mut host) = self.host.take() {
            host.runner.end();
            self.job.resources.host_states.give_back(self.first_slot, host);
        }
    }
}

/// Work-group ids, x fastest, then y, then z.
struct Groups {
    first: [u32; 3],
    end: [u32; 3],
    next: [u32; 3],
}

impl Groups {
    /// The work-groups of a launch from a linear index on.
    fn at(launch: &Launch, index: u64) -> Groups {
        Groups::between(launch.first_group, launch.end_group, index)
    }

    fn between(first: [u32; 3], end: [u32; 3], index: u64) -> Groups {
        let [x, y] = [0, 1].map(|i| u64::from(end[i] - first[i]));
        let at = [index % x, index / x % y, index / x / y];
        Groups { first, end, next: std::array::from_fn(|i| first[i] + at[i] as u32) }
    }

    #[inline]
    fn take(&mut self) -> [u32; 3] {
        let taken = self.next;
        for i in 0..3 {
            // Wraps after the last group, whose id may be the largest `u32`.
            self.next[i] = self.next[i].wrapping_add(1);
            if self.next[i] != self.end[i] || i == 2 {
                break;
            }
            self.next[i] = self.first[i];
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::Groups;

    #[test]
    fn groups_follow_each_other_in_three_dimensions() {
        let at = |index| Groups::between([1, 2, 3], [3, 4, u32::MAX], index);
        let all: Vec<_> = (0..8).map(|index| at(index).take()).collect();
        let mut groups = at(0);
        let taken: Vec<_> = (0..8).map(|_| groups.take()).collect();
        assert_eq!(taken, all);
        assert_eq!(all[..3], [[1, 2, 3], [2, 2, 3], [1, 3, 3]]);
        assert_eq!(all[7], [2, 3, 4]);
    }
}

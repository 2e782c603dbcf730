//! A host thread's part in a launch.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::kernels::Known;
use super::translator::Translator;
use super::workers::{Tools, Workers};
use crate::pool::Chunk;
use crate::translated::{Choice, Runner, Task, Work};
use gencl_eu as eu;
use gencl_eu::dispatch::{GroupStatistics, Launch};
use gencl_eu::fault::Fault;
use gencl_eu::profile::{Profile, Recorder};
use gencl_sync::Mutex;

/// What all launches of an engine have in common.
pub struct Common {
    pub workers: Workers,
    pub translator: Option<Translator>,
    /// Host threads that there are for a launch.
    pub threads: usize,
}

/// A launch that is being executed.
pub struct Job {
    pub common: Arc<Common>,
    pub known: Arc<Known>,
    pub work: Arc<Work>,
    /// The translations that the launch may use.
    pub translation: Option<Choice>,
    /// Count what each instruction is executed for.
    pub recorded: bool,
    /// What all participants have counted.
    pub sum: Mutex<Sum>,
}

impl Job {
    /// The translations that the launch may use, if they are still good.
    pub fn good_choice(&self) -> Option<&Choice> {
        self.translation.as_ref().filter(|choice| self.known.translations.is_good(choice))
    }

    /// What gets translations, and those that the launch may use.
    fn translator(&self) -> Option<(&Translator, &Choice)> {
        Some((self.common.translator.as_ref()?, self.translation.as_ref()?))
    }
}

/// What participants count.
#[derive(Default)]
pub struct Sum {
    pub groups: GroupStatistics,
    pub profile: Profile,
}

/// A host thread's part in a launch. Gives its tools back and adds up its counts when it is dropped.
pub struct Participant {
    job: Arc<Job>,
    /// The last of the host's threads: the one that leaves its core to the translator.
    last: bool,
    /// How long the interpreter took for a work-group.
    interpreted_in: Duration,
    first_slot: u32,
    tools: Option<Box<Tools>>,
    /// The runner has begun the launch.
    translated: bool,
    own: GroupStatistics,
    recorder: Option<Recorder>,
}

impl Participant {
    /// The participant of a number, which are counted from 0.
    pub fn new(job: Arc<Job>, number: usize) -> Participant {
        let workers = &job.common.workers;
        let first_slot = workers.first_slot(&job.work.launch, number);
        let tools = Some(workers.take(first_slot));
        let recorder = job.recorded.then(|| Recorder::new(&job.known.kernel));
        Participant {
            last: number > 0 && number + 1 == job.common.threads,
            job,
            interpreted_in: Duration::ZERO,
            first_slot,
            tools,
            translated: false,
            own: GroupStatistics::default(),
            recorder,
        }
    }

    /// Executes work-groups.
    pub fn execute(&mut self, chunk: &mut Chunk<'_>) -> Result<(), Fault> {
        let job = Arc::clone(&self.job);
        let mut next = Groups::at(&job.work.launch, chunk.first());
        if self.translate() || self.make_room(chunk) && self.translate() {
            let Some(tools) = &mut self.tools else { return Ok(()) };
            // Counted at the end: sums in memory would have each work-group wait until what the one before
            // has stored is in the caches.
            let mut groups = 0;
            let result = chunk.try_for_each(|_| {
                let [x, y, z] = next.take();
                tools.runner.run(x, y, z)?;
                groups += 1;
                Ok(())
            });
            self.own += tools.runner.statistics(groups);
            return result;
        }
        let begin = Instant::now();
        let mut count = 0;
        for _ in &mut *chunk {
            self.interpret(next.take())?;
            count += 1;
        }
        if let Some((translator, choice)) = job.translator() {
            let took = begin.elapsed();
            self.interpreted_in = took.div_f64(f64::from(count.max(1)));
            let left = self.interpreted_in.saturating_mul(clamped(chunk.left()));
            translator.consider(&job.known, choice, took, left);
        }
        Ok(())
    }

    /// Waits for a translation that is being made, if that is this participant's part. Has it?
    fn make_room(&self, chunk: &Chunk<'_>) -> bool {
        let Some((translator, choice)) = self.job.translator().filter(|_| self.last) else { return false };
        let is_much = |much| self.interpreted_in.saturating_mul(clamped(chunk.left())) >= much;
        translator.make_room(choice, &self.job.work.running, is_much);
        true
    }

    /// Executes the only work-group of a launch.
    pub fn execute_only(&mut self) -> Result<(), Fault> {
        let job = Arc::clone(&self.job);
        let group = job.work.launch.first_group;
        if self.translate() {
            let Some(tools) = &mut self.tools else { return Ok(()) };
            let [x, y, z] = group;
            tools.runner.run(x, y, z)?;
            self.own += tools.runner.statistics(1);
            return Ok(());
        }
        match job.translator() {
            None => self.interpret(group),
            Some((translator, choice)) => {
                let begin = Instant::now();
                self.interpret(group)?;
                translator.consider(&job.known, choice, begin.elapsed(), Duration::ZERO);
                Ok(())
            }
        }
    }

    /// Prepares the runner, if there is code by now. Can it run?
    #[inline]
    fn translate(&mut self) -> bool {
        self.translated || self.begin_translated()
    }

    /// The launch is executed once more: there may be better code by now.
    pub fn renew(&mut self) {
        let code = self.job.good_choice().and_then(Choice::code);
        let runs = |code| self.tools.as_ref().is_some_and(|tools| tools.runner.runs(code));
        self.translated &= code.is_some_and(runs);
    }

    fn begin_translated(&mut self) -> bool {
        let Some(choice) = self.job.good_choice() else { return false };
        let Some(code) = choice.code().filter(|code| Runner::fits(code, &self.job.work.launch)) else {
            return false;
        };
        let Some(tools) = &mut self.tools else { return false };
        let task = Task { code: Arc::clone(code), work: Arc::clone(&self.job.work) };
        tools.runner.begin(task, self.first_slot);
        self.translated = true;
        true
    }

    /// Adds what it has counted to the launch's sums.
    pub fn add_up(&mut self) {
        let mut sum = self.job.sum.lock();
        sum.groups += std::mem::take(&mut self.own);
        if let Some(recorder) = &mut self.recorder {
            sum.profile.merge(recorder.take());
        }
    }

    fn interpret(&mut self, group: [u32; 3]) -> Result<(), Fault> {
        let Job { known, work, .. } = &*self.job;
        let Work { kernel, launch, memory, running } = &**work;
        let (memory, cancel) = (&**memory, &running.cancel);
        let Some(tools) = &mut self.tools else { return Ok(()) };
        let worker = &mut tools.worker;
        self.own += match &mut self.recorder {
            None => eu::run_group(kernel, launch, group, memory, worker, cancel)?,
            Some(recorder) => eu::run_group_with(kernel, launch, group, memory, worker, cancel, recorder)?,
        };
        if worker.spun() {
            known.translations.set_spins();
        }
        Ok(())
    }
}

fn clamped(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl Drop for Participant {
    fn drop(&mut self) {
        self.add_up();
        if let Some(mut tools) = self.tools.take() {
            tools.runner.end();
            self.job.common.workers.give_back(self.first_slot, tools);
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
    /// All those of a launch, from a linear index on.
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
            // Behind the last group is none: its id may be the largest number.
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

//! The use that instructions make of each resource of the cycle model, and what a launch would take with less of it.

use std::ops::{Index, IndexMut};

use gencl_eu::cycles::Pipe;
use gencl_simulator::statistics::report::{Instruction, Kernel, Launch};
use gencl_simulator::statistics::{Bound, Report};

use crate::code::{Facts, is_sampler};

/// The use of each resource, in a unit of its own: clocks of pipes, data ports and threads, payload registers, lanes of
/// messages to the sampler, cache lines.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Uses([f64; Bound::ALL.len()]);

impl Index<Bound> for Uses {
    type Output = f64;

    fn index(&self, bound: Bound) -> &f64 {
        &self.0[bound as usize]
    }
}

impl IndexMut<Bound> for Uses {
    fn index_mut(&mut self, bound: Bound) -> &mut f64 {
        &mut self.0[bound as usize]
    }
}

impl Uses {
    /// Adds a part of other uses.
    pub fn add(&mut self, other: &Uses, part: f64) {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own += part * other);
    }

    /// Those of an instruction. Without facts about the code, all instructions but messages are taken for ones of both
    /// pipes.
    fn of(instruction: &Instruction, facts: Option<&Facts>, one_pipe: Pipe) -> Uses {
        let (counter, class) = (&instruction.counter, instruction.class.as_deref());
        let on = |used: bool, count: u64| if used { count as f64 } else { 0.0 };
        Uses(Bound::ALL.map(|bound| match bound {
            Bound::Pipes => on(facts.map_or(class.is_none(), |facts| facts.pipe.is_some()), counter.issue),
            Bound::OnePipe => on(facts.is_some_and(|facts| facts.pipe == Some(one_pipe)), counter.issue),
            Bound::Send => (counter.executions * u64::from(facts.map_or(0, |facts| facts.payload))) as f64,
            Bound::Port => counter.port as f64,
            Bound::Sampler => on(is_sampler(class), counter.lanes),
            // Lines that several work-groups access count for each of them.
            Bound::Memory => counter.misses as f64,
            Bound::Latency => (counter.issue + counter.wait) as f64,
        }))
    }
}

/// The use of a kernel.
#[derive(Debug)]
pub struct KernelUse {
    /// What limits its launches, as they were, by most of their time; `None` where the report names none.
    pub limit: Option<Bound>,
    /// The uses of its instructions.
    pub instructions: Vec<Uses>,
    /// Their sum.
    pub total: Uses,
    /// The clocks of each launch by its bounds, and as they were.
    launches: Vec<(Uses, f64)>,
}

impl KernelUse {
    /// That of a kernel of a report, with what is known of its code.
    pub fn of(report: &Report, number: usize, facts: Option<&[Facts]>) -> KernelUse {
        let kernel = &report.kernels[number];
        let one_pipe = busier_pipe(kernel, facts);
        let fact = |index: usize| facts.map(|facts| &facts[index]);
        let numbered = kernel.instructions.iter().enumerate();
        let instructions: Vec<Uses> =
            numbered.map(|(index, instruction)| Uses::of(instruction, fact(index), one_pipe)).collect();
        let mut total = Uses::default();
        instructions.iter().for_each(|uses| total.add(uses, 1.0));
        let launches = report.launches.iter().filter(|launch| launch.kernel == number);
        let mut clocks = Uses::default();
        for launch in launches.clone() {
            if let Some(bound) = Bound::named(&launch.limit) {
                clocks[bound] += launch.cycles as f64;
            }
        }
        let limit = Bound::ALL.into_iter().filter(|bound| clocks[*bound] > 0.0);
        KernelUse {
            limit: limit.max_by(|a, b| clocks[*a].total_cmp(&clocks[*b])),
            instructions,
            total,
            launches: launches.map(|launch| (bounds(launch), launch.cycles as f64)).collect(),
        }
    }

    /// The part that some use has in what limits the kernel: of the limiting resource, or of the thread clocks where that
    /// is latency or the use of the resource is not known.
    pub fn part_of_limit(&self, uses: &Uses) -> f64 {
        let known = self.limit.filter(|bound| self.total[*bound] > 0.0);
        self.part_of(known.unwrap_or(Bound::Latency), uses)
    }

    /// The part that some use has in that of a resource, which may not be what limits the kernel.
    pub fn part_of(&self, bound: Bound, uses: &Uses) -> f64 {
        if self.total[bound] > 0.0 { uses[bound] / self.total[bound] } else { 0.0 }
    }

    /// The clocks of all launches, and how many they would be at least without some use: those of the largest bound that
    /// remains.
    pub fn without(&self, removed: &Uses) -> (f64, f64) {
        let left = Bound::ALL.map(|bound| match self.total[bound] {
            0.0 => 1.0,
            total => (1.0 - removed[bound] / total).clamp(0.0, 1.0),
        });
        let now = self.launches.iter().map(|(_, cycles)| cycles).sum();
        let then = self.launches.iter().map(|(bounds, cycles)| {
            let bounds = Bound::ALL.map(|bound| bounds[bound] * left[bound as usize]);
            // A report of an earlier version has none.
            bounds.into_iter().reduce(f64::max).filter(|clocks| *clocks > 0.0).unwrap_or(*cycles)
        });
        (now, then.sum())
    }
}

fn bounds(launch: &Launch) -> Uses {
    let mut clocks = Uses::default();
    for (name, of_bound) in &launch.bounds {
        if let Some(bound) = Bound::named(name) {
            clocks[bound] = *of_bound as f64;
        }
    }
    clocks
}

/// The pipe with more work that only it can do.
fn busier_pipe(kernel: &Kernel, facts: Option<&[Facts]>) -> Pipe {
    let of = |pipe: Pipe| {
        let facts = facts.unwrap_or_default().iter().zip(&kernel.instructions);
        facts.filter(|(facts, _)| facts.pipe == Some(pipe)).map(|(_, i)| i.counter.issue).sum::<u64>()
    };
    if of(Pipe::First) > of(Pipe::Second) { Pipe::First } else { Pipe::Second }
}

//! From what work-groups took to what a launch takes on a device.
//!
//! A launch cannot be faster than any of its parts that do not share a resource: the pipes of the EUs, their way to the shared functions,
//! the data ports, memory, and the threads themselves, of which only so many are resident. The largest of these bounds is taken for the
//! launch's time; that they overlap perfectly is the model's simplification.

use crate::device::Device;
use crate::dispatch::Launch;
use crate::eu::profile::Profile;

/// Barriers of a subslice ("The Compute Architecture of Intel Processor Graphics Gen9", "Shared Local Memory").
const BARRIERS: u32 = 16;
/// Lines of 64 bytes that come from or go to the last level cache in a clock (the same, "Graphics Technology Interface").
const LINES_PER_CLOCK: u64 = 1;

/// What limits a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Both pipes of the EUs.
    Pipes,
    /// The pipe with extended math and `DF`, or until Gen7.5 that with integers.
    OnePipe,
    /// Payloads on their way to the shared functions.
    Send,
    /// The data ports: a cache line, or an access of each bank of shared local memory, in a clock.
    Port,
    /// Cache lines from memory.
    Memory,
    /// The threads' own time, of which too few are resident to hide it.
    Latency,
}

impl Bound {
    /// All bounds.
    pub const ALL: [Bound; 6] =
        [Bound::Pipes, Bound::OnePipe, Bound::Send, Bound::Port, Bound::Memory, Bound::Latency];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Bound::Pipes => "pipes",
            Bound::OnePipe => "one pipe",
            Bound::Send => "send",
            Bound::Port => "data port",
            Bound::Memory => "memory",
            Bound::Latency => "latency",
        }
    }
}

/// How much of a device works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// EUs.
    pub eus: u64,
    /// Subslices, each with a data port.
    pub subslices: u64,
    /// Threads at the same time.
    pub resident: u64,
}

impl Machine {
    /// The device when launches of this kind fill it.
    pub fn full(device: &Device, launch: &Launch) -> Machine {
        let subslices = device.slices * device.subslices;
        let each = launch.threads_per_group().max(1);
        let mut resident = device.total_threads();
        if needs_one_subslice(launch) {
            let of_threads = device.subslice_threads() / each;
            let of_memory = device.slm_size.checked_div(launch.slm_size).unwrap_or(u32::MAX);
            let of_barriers = if launch.barrier { BARRIERS } else { u32::MAX };
            resident = of_threads.min(of_memory).min(of_barriers).max(1) * each * subslices;
        }
        if let Some(scratch) = launch.scratch {
            resident = resident.min(scratch.slots);
        }
        Machine {
            eus: u64::from(device.total_eus()),
            subslices: u64::from(subslices),
            resident: u64::from(resident),
        }
    }

    /// What so many work-groups use of a machine.
    pub fn used_by(self, launch: &Launch, groups: u64, threads: u64) -> Machine {
        let spread = if needs_one_subslice(launch) { groups } else { threads };
        Machine {
            eus: self.eus.min(threads).max(1),
            subslices: self.subslices.min(spread).max(1),
            resident: self.resident.min(threads).max(1),
        }
    }
}

/// Must the threads of a work-group be on one subslice?
fn needs_one_subslice(launch: &Launch) -> bool {
    launch.barrier || launch.slm_size > 0
}

/// Clocks of each bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds([u64; Bound::ALL.len()]);

impl Bounds {
    /// Those of what was counted, on a machine. `whole`: it is all there is, so that its longest thread counts.
    pub fn of(profile: &Profile, machine: Machine, whole: bool) -> Bounds {
        let pipes = profile.either_pipe + profile.first_pipe + profile.second_pipe;
        let one = profile.first_pipe.max(profile.second_pipe);
        let latency = profile.latency.div_ceil(machine.resident);
        Bounds(Bound::ALL.map(|bound| match bound {
            Bound::Pipes => pipes.div_ceil(2 * machine.eus),
            Bound::OnePipe => one.div_ceil(machine.eus),
            Bound::Send => profile.payload.div_ceil(machine.eus),
            Bound::Port => profile.port.div_ceil(machine.subslices),
            Bound::Memory => profile.distinct_lines().div_ceil(LINES_PER_CLOCK),
            Bound::Latency if whole => latency.max(profile.longest),
            Bound::Latency => latency,
        }))
    }

    /// Clocks of one bound.
    pub fn get(&self, bound: Bound) -> u64 {
        self.0[bound as usize]
    }

    /// The bound that limits, the first of equal ones, and its clocks.
    pub fn largest(&self) -> (Bound, u64) {
        let most = self.0.into_iter().max().unwrap_or(0);
        let bound = Bound::ALL.into_iter().find(|bound| self.get(*bound) == most);
        (bound.unwrap_or(Bound::Pipes), most)
    }
}

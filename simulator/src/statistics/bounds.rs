//! Computes how long a launch takes on a device from the profile of its work-groups.
//!
//! A launch takes at least as long as each of its resources is busy: the pipes of the EUs, their path to the
//! shared functions, the data ports, memory, and the threads themselves, of which a limited number is
//! resident. The largest of these bounds is taken for the launch's time; that they overlap perfectly is the
//! model's simplification.

use std::collections::BTreeMap;

use gencl_eu::device::Device;
use gencl_eu::dispatch::Launch;
use gencl_eu::profile::Profile;

/// Number of barriers of a subslice ("The Compute Architecture of Intel Processor Graphics Gen9", "Shared
/// Local Memory").
const BARRIERS: u32 = 16;
/// Cache lines of 64 bytes per clock between the L3 cache and the last level cache (the same, "Graphics
/// Technology Interface").
const LINES_PER_CLOCK: u64 = 1;

/// A resource that limits the speed of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Both pipes of the EUs.
    Pipes,
    /// The busier of work that only one of the pipes can do: extended math and `DF`, or until Gen7.5
    /// integers.
    OnePipe,
    /// Message payloads that are sent to the shared functions.
    Send,
    /// The data ports: per clock a cache line, or one access to each bank of shared local memory.
    Port,
    /// The samplers: four texels per clock.
    Sampler,
    /// Cache lines from memory.
    Memory,
    /// The latency of the threads, when too few are resident to hide it.
    Latency,
}

impl Bound {
    /// All bounds.
    pub const ALL: [Bound; 7] = [
        Bound::Pipes,
        Bound::OnePipe,
        Bound::Send,
        Bound::Port,
        Bound::Sampler,
        Bound::Memory,
        Bound::Latency,
    ];

    /// That of a name in reports.
    pub fn named(name: &str) -> Option<Bound> {
        Bound::ALL.into_iter().find(|bound| bound.name() == name)
    }

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Bound::Pipes => "pipes",
            Bound::OnePipe => "one pipe",
            Bound::Send => "send",
            Bound::Port => "data port",
            Bound::Sampler => "sampler",
            Bound::Memory => "memory",
            Bound::Latency => "latency",
        }
    }
}

/// The part of a device that executes a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceUsage {
    /// Number of EUs.
    pub eus: u64,
    /// Number of subslices, each with a data port and a sampler.
    pub subslices: u64,
    /// Number of threads that are resident at the same time.
    pub resident: u64,
    /// Why these are not all hardware threads; empty when they are.
    pub limit: &'static str,
}

impl DeviceUsage {
    /// The whole device, with as many threads resident as a launch of this kind allows.
    pub fn full(device: &Device, launch: &Launch) -> DeviceUsage {
        let subslices = device.slices * device.subslices;
        let (resident, limit) = resident(device, launch);
        DeviceUsage {
            eus: u64::from(device.total_eus()),
            subslices: u64::from(subslices),
            resident: u64::from(resident),
            limit,
        }
    }

    /// The part of it that a number of work-groups and threads can use.
    pub fn used_by(self, launch: &Launch, groups: u64, threads: u64) -> DeviceUsage {
        let spread = if needs_one_subslice(launch) { groups } else { threads };
        DeviceUsage {
            eus: self.eus.min(threads).max(1),
            subslices: self.subslices.min(spread).max(1),
            resident: self.resident.min(threads).max(1),
            limit: if threads < self.resident { "number of threads" } else { self.limit },
        }
    }
}

/// How many threads of a launch of this kind are resident on the whole device, and why not more. Registers are no limit:
/// each hardware thread has 128 of its own, whatever a kernel uses of them.
fn resident(device: &Device, launch: &Launch) -> (u32, &'static str) {
    let each = launch.threads_per_group().max(1);
    let mut resident = (device.total_threads(), "");
    if needs_one_subslice(launch) {
        let subslices = device.slices * device.subslices;
        let limits = [
            (device.subslice_threads() / each, "threads of a work-group"),
            (device.slm_size.checked_div(launch.slm_size).unwrap_or(u32::MAX), "local memory"),
            (if launch.barrier { BARRIERS } else { u32::MAX }, "barriers"),
        ];
        for (groups, limit) in limits {
            let threads = groups.clamp(1, device.total_threads()) * each * subslices;
            if threads < resident.0 {
                resident = (threads, limit);
            }
        }
    }
    match launch.scratch {
        Some(scratch) if scratch.slots < resident.0 => (scratch.slots, "scratch memory"),
        _ => resident,
    }
}

/// Whether the threads of a work-group have to be on one subslice.
fn needs_one_subslice(launch: &Launch) -> bool {
    launch.barrier || launch.slm_size > 0
}

/// EU clocks of each bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds([u64; Bound::ALL.len()]);

impl Bounds {
    /// The bounds of a profile on a part of a device. With `whole`, the profile is a launch by itself, which
    /// takes at least as long as its longest thread.
    pub fn of(profile: &Profile, machine: DeviceUsage, whole: bool) -> Bounds {
        let pipes = profile.either_pipe + profile.first_pipe + profile.second_pipe;
        let one = profile.first_pipe.max(profile.second_pipe);
        let latency = profile.latency.div_ceil(machine.resident);
        Bounds(Bound::ALL.map(|bound| match bound {
            Bound::Pipes => pipes.div_ceil(2 * machine.eus),
            Bound::OnePipe => one.div_ceil(machine.eus),
            Bound::Send => profile.payload.div_ceil(machine.eus),
            Bound::Port => profile.port.div_ceil(machine.subslices),
            Bound::Sampler => profile.sampler.div_ceil(machine.subslices),
            Bound::Memory => profile.distinct_lines().div_ceil(LINES_PER_CLOCK),
            Bound::Latency if whole => latency.max(profile.longest),
            Bound::Latency => latency,
        }))
    }

    /// Clocks of one bound.
    pub fn get(&self, bound: Bound) -> u64 {
        self.0[bound as usize]
    }

    /// The clocks of those that are not 0, by name.
    pub fn not_zero(&self) -> BTreeMap<String, u64> {
        let clocks = Bound::ALL.map(|bound| (bound.name().to_owned(), self.get(bound)));
        clocks.into_iter().filter(|(_, clocks)| *clocks > 0).collect()
    }

    /// The largest bound (the first of equal ones) and its clocks.
    pub fn largest(&self) -> (Bound, u64) {
        let most = self.0.into_iter().max().unwrap_or(0);
        let bound = Bound::ALL.into_iter().find(|bound| self.get(*bound) == most);
        (bound.unwrap_or(Bound::Pipes), most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(threads: u32, slm_size: u32, barrier: bool) -> Launch {
        Launch { simd_width: 16, threads: [threads, 1, 1], slm_size, barrier, ..Launch::default() }
    }

    #[test]
    fn resident_threads() {
        let device = Device::named("skl").unwrap();
        for (threads, slm_size, barrier, resident, limit) in [
            (8, 0, false, 168, ""),
            // 3 subslices with 56 threads: 3 groups of 16 each.
            (16, 0, true, 144, "threads of a work-group"),
            // Two groups share the memory of a subslice.
            (8, 32 << 10, true, 48, "local memory"),
            (1, 64 << 10, false, 3, "local memory"),
            // Barriers run out first.
            (2, 1024, true, 96, "barriers"),
        ] {
            let machine = DeviceUsage::full(device, &launch(threads, slm_size, barrier));
            assert_eq!(
                machine,
                DeviceUsage { eus: 24, subslices: 3, resident, limit },
                "{threads} threads, {slm_size} bytes"
            );
        }
    }

    #[test]
    fn seven_threads_hide_what_one_cannot() {
        let device = Device::named("skl").unwrap();
        // 1000 clocks each, in 280 of which a pipe works.
        let of = |threads: u64| Profile {
            groups: threads,
            threads,
            either_pipe: 280 * threads,
            latency: 1000 * threads,
            longest: 1000,
            ..Profile::default()
        };
        let launch = launch(1, 0, false);
        let bounds = |threads: u64| {
            let machine = DeviceUsage::full(device, &launch).used_by(&launch, threads, threads);
            Bounds::of(&of(threads), machine, true)
        };
        let full = DeviceUsage::full(device, &launch);
        assert_eq!(full.used_by(&launch, 1, 1).limit, "number of threads");
        assert_eq!(full.used_by(&launch, 168, 168).limit, "");
        assert_eq!(bounds(1).largest(), (Bound::Latency, 1000));
        assert_eq!(bounds(1).get(Bound::Pipes), 140);
        assert_eq!(bounds(24 * 7).largest(), (Bound::Latency, 1000), "all at the same time");
        assert_eq!(bounds(24 * 7).get(Bound::Pipes), 7 * 140);
        assert_eq!(bounds(24 * 7 * 10).get(Bound::Latency), 10_000);
        // 300 clocks of seven threads on two pipes are more than 1000.
        let busy = Profile { either_pipe: 300 * 168, ..of(168) };
        assert_eq!(Bounds::of(&busy, full, false).largest(), (Bound::Pipes, 1050));
    }

    #[test]
    fn each_resource_has_its_bound() {
        let machine = DeviceUsage { eus: 24, subslices: 3, resident: 168, limit: "" };
        let profile = Profile {
            either_pipe: 4800,
            second_pipe: 2400,
            payload: 240,
            port: 900,
            sampler: 33,
            ..Profile::default()
        };
        let bounds = Bounds::of(&profile, machine, false);
        let clocks = Bound::ALL.map(|bound| bounds.get(bound));
        assert_eq!(clocks, [150, 100, 10, 300, 11, 0, 0]);
        assert_eq!(bounds.largest(), (Bound::Port, 300));
    }
}

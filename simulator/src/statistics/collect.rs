//! Collects the statistics of launches by kernel.

use gencl_sync::Mutex;

use super::bounds::{Bounds, DeviceUsage};
use super::live::{Head, LiveFiles};
use super::report::{self, Report};
use super::sums::{CountedKernel, Kernel, hash};
use gencl_eu::device::Device;
use gencl_eu::dispatch::Launch;
use gencl_eu::fault::Fault;
use gencl_eu::profile::Profile;

/// Collects the statistics of launches, of one simulator or of several.
#[derive(Debug, Default)]
pub struct Collector(Mutex<Collected>);

#[derive(Debug, Default)]
struct Collected {
    head: Head,
    kernels: Vec<Kernel>,
    launches: Vec<report::Launch>,
    /// Number of [`report::Launch::threads`] of all launches.
    threads: usize,
    /// Files that outlive the process.
    live: Option<LiveFiles>,
    /// Kernels whose launches are not in `live`.
    unsaved: Vec<usize>,
}

/// Number of [`report::Launch::threads`] that are kept.
const MAX_THREADS: usize = 100_000;

impl PartialEq for Collector {
    /// Collectors are compared by identity.
    fn eq(&self, other: &Collector) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Collector {}

impl Collected {
    /// The index of a launch's kernel.
    fn kernel(&mut self, device: &Device, launch: &Launch, counted: &CountedKernel<'_>) -> usize {
        self.head = Head::new(device, counted.fast);
        let hash = hash(counted.code);
        let known = self.kernels.iter().position(|kernel| kernel.is_of(&hash, launch));
        let index = known.unwrap_or(self.kernels.len());
        if known.is_none() {
            self.kernels.push(Kernel::new(hash, device, launch, counted));
        }
        if self.live.is_some() && !self.unsaved.contains(&index) {
            self.unsaved.push(index);
        }
        index
    }
}

/// A launch of a kernel without counts.
fn described(kernel: usize, launch: &Launch) -> report::Launch {
    report::Launch {
        kernel,
        process: std::process::id(),
        number: launch.mark.launch,
        groups: launch.groups(),
        threads_per_group: launch.threads_per_group(),
        ..report::Launch::default()
    }
}

impl Collector {
    /// A collector that keeps what it has collected in files, too.
    pub fn with_live_files(live: LiveFiles) -> Collector {
        Collector(Mutex::new(Collected { live: Some(live), ..Collected::default() }))
    }

    /// Adds a launch.
    pub fn add(&self, device: &Device, launch: &Launch, kernel: &CountedKernel<'_>, profile: &Profile) {
        let full = DeviceUsage::full(device, launch);
        let used = full.used_by(launch, profile.groups, profile.threads);
        let bounds = Bounds::of(profile, used, true);
        let (limit, cycles) = bounds.largest();
        let mut collected = self.0.lock();
        let index = collected.kernel(device, launch, kernel);
        collected.kernels[index].sums.add(profile, full, used, cycles);
        let mut threads: Vec<u32> = profile.first_threads.clocks().collect();
        if collected.threads + threads.len() > MAX_THREADS {
            threads.clear();
        }
        collected.threads += threads.len();
        let total = profile.total();
        collected.launches.push(report::Launch {
            executed: total.executions,
            cycles,
            limit: limit.name().to_owned(),
            bounds: bounds.not_zero(),
            lines: total.lines,
            distinct_lines: profile.distinct_lines(),
            threads,
            ..described(index, launch)
        });
    }

    /// Adds a launch that a fault has ended.
    pub fn add_fault(&self, device: &Device, launch: &Launch, kernel: &CountedKernel<'_>, fault: &Fault) {
        let mut collected = self.0.lock();
        let index = collected.kernel(device, launch, kernel);
        collected.kernels[index].sums.add_fault();
        let fault = Some(fault.to_string());
        collected.launches.push(report::Launch { fault, ..described(index, launch) });
    }

    /// Writes what has been added since the last call to the files that outlive the process, if there are some.
    pub fn save(&self) {
        let collected = &mut *self.0.lock();
        let Some(live) = &mut collected.live else { return };
        let unsaved = std::mem::take(&mut collected.unsaved);
        let kernels = unsaved.into_iter().map(|index| (index, &collected.kernels[index]));
        if let Err(error) = live.save(&collected.head, kernels, &collected.launches) {
            eprintln!("statistics: {}: {error}", live.folder().display());
            collected.live = None;
        }
    }

    /// Removes the files that [`Collector::save`] has written.
    pub fn remove_saved(&self) {
        if let Some(live) = self.0.lock().live.take() {
            live.remove();
        }
    }

    /// A report of everything that has been collected so far.
    pub fn report(&self) -> Report {
        let collected = self.0.lock();
        let head = &collected.head;
        let kernels = collected.kernels.iter().map(|kernel| kernel.sums.report(&kernel.head, head.eus));
        head.report(kernels.collect(), collected.launches.clone())
    }

    /// Whether no launch has been added.
    pub fn is_empty(&self) -> bool {
        self.0.lock().launches.is_empty()
    }
}

//! The state that host threads keep from launch to launch.

use crate::translated::Runner;
use gencl_eu::Worker;
use gencl_eu::device::Device;
use gencl_eu::dispatch::Launch;
use gencl_sync::Mutex;

/// What a host thread needs to execute work-groups: register files, local memory, address lookup caches.
pub struct HostState {
    /// Interprets.
    pub worker: Worker,
    /// Executes translated code.
    pub runner: Runner,
}

/// Host states that are not in use, each with its first thread slot.
pub struct HostStatePool {
    device: &'static Device,
    /// Maximum number that is kept.
    limit: usize,
    idle: Mutex<Vec<(u32, Box<HostState>)>>,
}

impl HostStatePool {
    /// An empty pool that keeps at most `limit` states.
    pub fn new(device: &'static Device, limit: usize) -> HostStatePool {
        HostStatePool { device, limit, idle: Mutex::default() }
    }

    /// Takes a state for the thread slots from `first_slot` on.
    pub fn take(&self, first_slot: u32) -> Box<HostState> {
        let mut idle = self.idle.lock();
        match idle.iter().position(|(slot, _)| *slot == first_slot) {
            Some(index) => idle.swap_remove(index).1,
            None => Box::new(HostState {
                worker: Worker::new(self.device, first_slot),
                runner: Runner::new(self.device),
            }),
        }
    }

    /// Keeps a state for the next launch.
    pub fn give_back(&self, first_slot: u32, host: Box<HostState>) {
        let mut idle = self.idle.lock();
        if idle.len() < self.limit {
            idle.push((first_slot, host));
        }
    }

    /// The first thread slot of a participant. Participants beyond the device's number of threads share
    /// slots, which is sound without scratch memory: a slot then is nothing but a number.
    pub fn first_slot(&self, launch: &Launch, participant: usize) -> u32 {
        let each = launch.threads_per_group();
        let fit = (self.device.total_threads() / each).max(1);
        (participant as u32 % fit) * each
    }
}

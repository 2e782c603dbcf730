//! What host threads keep from launch to launch.

use crate::translated::Runner;
use gencl_eu::Worker;
use gencl_eu::device::Device;
use gencl_eu::dispatch::Launch;
use gencl_sync::Mutex;

/// What a host thread executes work-groups with.
pub struct Tools {
    /// By interpretation.
    pub worker: Worker,
    /// By translated code.
    pub runner: Runner,
}

/// Tools that nobody uses, each with its first thread slot.
pub struct Workers {
    device: &'static Device,
    /// So many are kept.
    limit: usize,
    idle: Mutex<Vec<(u32, Box<Tools>)>>,
}

impl Workers {
    /// None yet; at most `limit` are kept.
    pub fn new(device: &'static Device, limit: usize) -> Workers {
        Workers { device, limit, idle: Mutex::default() }
    }

    /// Tools for the thread slots from a first one on.
    pub fn take(&self, first_slot: u32) -> Box<Tools> {
        let mut idle = self.idle.lock();
        match idle.iter().position(|(slot, _)| *slot == first_slot) {
            Some(index) => idle.swap_remove(index).1,
            None => Box::new(Tools {
                worker: Worker::new(self.device, first_slot),
                runner: Runner::new(self.device),
            }),
        }
    }

    /// Keeps tools for the next launch.
    pub fn give_back(&self, first_slot: u32, tools: Box<Tools>) {
        let mut idle = self.idle.lock();
        if idle.len() < self.limit {
            idle.push((first_slot, tools));
        }
    }

    /// The first thread slot of a participant. Without scratch memory, participants beyond the device's
    /// threads share slots: then they are but a name.
    pub fn first_slot(&self, launch: &Launch, participant: usize) -> u32 {
        let each = launch.threads_per_group();
        let fit = (self.device.total_threads() / each).max(1);
        (participant as u32 % fit) * each
    }
}

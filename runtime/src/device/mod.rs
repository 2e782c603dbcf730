//! Devices: which ones we support, what they can do, how they are opened.

mod discover;
mod models;
mod needs;
mod pci_ids;
mod table;
mod units;

use std::sync::{Arc, LazyLock};
use std::time::{Instant, SystemTime};

use gencl_i915::RenderNode;

use crate::launch::CommandSet;

pub(crate) use discover::discover;
use table::Hardware;
pub use table::{DeviceFacts, DeviceKind};

/// A device: a render node and the facts on the GPU behind it.
pub struct Device {
    node: Arc<dyn RenderNode>,
    facts: DeviceFacts,
    hardware: Hardware,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("name", &self.facts.name).finish_non_exhaustive()
    }
}

impl Device {
    /// A device behind `node`.
    pub(crate) fn new(node: Arc<dyn RenderNode>, facts: DeviceFacts, hardware: Hardware) -> Self {
        Self { node, facts, hardware }
    }

    /// A simulated device that is not the platform's, with settings of its own. `target` is its name (`skl`).
    /// The error says why there is none.
    pub fn simulated(target: &str, settings: gencl_simulator::Settings) -> Result<Arc<Self>, String> {
        discover::simulate(target, DeviceKind::Cpu, settings).map(Arc::new)
    }

    /// What it is made of.
    pub(crate) fn hardware(&self) -> &Hardware {
        &self.hardware
    }

    /// The tables of its commands.
    pub(crate) fn commands(&self) -> &'static CommandSet {
        self.hardware.model.family.commands
    }

    /// What is known about it, in the units of `clGetDeviceInfo`.
    pub fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    /// The host's clock, which profiling times count on: nanoseconds, monotonic (`clGetHostTimer`).
    pub fn host_time(&self) -> u64 {
        static ORIGIN: LazyLock<(Instant, u64)> = LazyLock::new(|| {
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            (Instant::now(), since.as_nanos() as u64)
        });
        ORIGIN.1 + ORIGIN.0.elapsed().as_nanos() as u64
    }

    /// The render node.
    pub(crate) fn node(&self) -> &Arc<dyn RenderNode> {
        &self.node
    }
}

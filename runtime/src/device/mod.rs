//! Devices: which ones we support, what they can do, how they are opened.

mod discover;
mod table;

use std::sync::{Arc, LazyLock};
use std::time::{Instant, SystemTime};

use gencl_i915::RenderNode;

pub(crate) use discover::discover;
use table::Model;
pub use table::{DeviceFacts, DeviceKind};

/// A device: a render node and the facts on the GPU behind it.
pub struct Device {
    node: Arc<dyn RenderNode>,
    facts: DeviceFacts,
    model: &'static Model,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("name", &self.facts.name).finish_non_exhaustive()
    }
}

impl Device {
    /// A device of `model` behind `node`.
    pub(crate) fn new(node: Arc<dyn RenderNode>, facts: DeviceFacts, model: &'static Model) -> Self {
        Self { node, facts, model }
    }

    /// A simulated device that is not the platform's, with settings of its own. `target` is its name (`skl`).
    /// The error says why there is none.
    pub fn simulated(target: &str, settings: gencl_simulator::Settings) -> Result<Arc<Self>, String> {
        discover::simulate(target, DeviceKind::Cpu, settings).map(Arc::new)
    }

    /// Its row of the device table.
    pub(crate) fn model(&self) -> &'static Model {
        self.model
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

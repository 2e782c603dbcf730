//! Devices: discovery, supported models, properties.

mod discover;
mod kernel_names;
mod needs;
mod table;
mod units;

use std::sync::{Arc, LazyLock};
use std::time::{Instant, SystemTime};

use gencl_device_info::DeviceInfo;
use gencl_i915::RenderNode;

use crate::launch::CommandSet;

pub(crate) use discover::discover;
use kernel_names::KernelNames;
use table::GpuConfig;
pub use table::{DeviceFacts, DeviceKind};

/// A device: a render node and the properties of its GPU.
pub struct Device {
    node: Arc<dyn RenderNode>,
    facts: DeviceFacts,
    hardware: GpuConfig,
    kernel_names: Arc<KernelNames>,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("name", &self.facts.name).finish_non_exhaustive()
    }
}

impl Device {
    /// A device behind `node`.
    pub(crate) fn new(node: Arc<dyn RenderNode>, facts: DeviceFacts, hardware: GpuConfig) -> Self {
        Self { node, facts, hardware, kernel_names: Arc::default() }
    }

    /// A simulated device that is not one of the platform's, with settings of its own. `target` is a name
    /// such as `skl`. The error is a text for users.
    pub fn simulated(target: &str, settings: gencl_simulator::Settings) -> Result<Arc<Self>, String> {
        discover::simulate(target, DeviceKind::Cpu, settings).map(Arc::new)
    }

    /// The names of its kernels.
    pub(crate) fn kernel_names(&self) -> &Arc<KernelNames> {
        &self.kernel_names
    }

    /// Model and units.
    pub(crate) fn hardware(&self) -> &GpuConfig {
        &self.hardware
    }

    /// The description of its family.
    pub(crate) fn info(&self) -> &'static DeviceInfo {
        self.hardware.model.info()
    }

    /// The tables of commands for its generation.
    pub(crate) fn commands(&self) -> &'static CommandSet {
        self.hardware.commands()
    }

    /// Properties, in the units of `clGetDeviceInfo`.
    pub fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    /// The render node.
    pub(crate) fn node(&self) -> &Arc<dyn RenderNode> {
        &self.node
    }
}

/// The host's clock, on which profiling times are: monotonic, in nanoseconds (`clGetHostTimer`).
pub fn host_time() -> u64 {
    static ORIGIN: LazyLock<(Instant, u64)> = LazyLock::new(|| {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        (Instant::now(), since.as_nanos() as u64)
    });
    ORIGIN.1 + ORIGIN.0.elapsed().as_nanos() as u64
}

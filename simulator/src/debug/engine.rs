//! The engine of launches that are debugged.

use std::sync::Arc;

use super::control::Debugger;
use super::launch::DebuggedLaunch;
use crate::gpu::{Executor, Prepared};
use crate::kernels::{CachedKernel, KernelCache};
use crate::running::Running;
use gencl_eu::device::Device;
use gencl_eu::dispatch::{GroupStatistics, Launch};
use gencl_eu::fault::Fault;
use gencl_eu::memory::AddressSpace;

/// The engine.
pub struct DebugEngine {
    device: &'static Device,
    kernels: KernelCache,
    debugger: Debugger,
}

impl DebugEngine {
    /// An engine for a device; see [`crate::Settings::strict`].
    pub fn new(device: &'static Device, strict: bool, debugger: Debugger) -> DebugEngine {
        DebugEngine { device, kernels: KernelCache::new(device, strict), debugger }
    }
}

impl Executor for DebugEngine {
    fn prepare<'e>(
        &'e self,
        launch: Launch,
        memory: &Arc<AddressSpace>,
        running: &Arc<Running>,
    ) -> Result<Box<dyn Prepared + 'e>, Fault> {
        let cached = self.kernels.get(launch.kernel, memory)?;
        let (memory, running) = (Arc::clone(memory), Arc::clone(running));
        Ok(Box::new(PreparedDebug { engine: self, cached, launch, memory, running }))
    }
}

struct PreparedDebug<'e> {
    engine: &'e DebugEngine,
    cached: Arc<CachedKernel>,
    launch: Launch,
    memory: Arc<AddressSpace>,
    running: Arc<Running>,
}

impl Prepared for PreparedDebug<'_> {
    fn is_valid(&self) -> bool {
        self.cached.is_at(self.launch.kernel, &self.memory)
    }

    fn execute(&mut self) -> Result<GroupStatistics, Fault> {
        let Self { engine, cached, launch, memory, running } = self;
        let mut debugged =
            DebuggedLaunch::new(engine.device, &cached.kernel, launch, memory, &running.cancel)?;
        if !launch.mark.hidden {
            engine.debugger.0.debug(&mut debugged);
        }
        debugged.finish()
    }
}

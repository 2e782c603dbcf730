//! What the parts of a simulated GPU share.

use std::collections::VecDeque;
use std::sync::Arc;

use gencl_sync::Mutex;

use crate::running::Running;
use crate::settings::Settings;
use gencl_eu::device::Device;
use gencl_eu::dispatch::{GroupStatistics, Launch};
use gencl_eu::fault::Fault;
use gencl_eu::memory::AddressSpace;

/// What executes kernel launches: an engine of the simulator.
pub trait Executor: Send + Sync {
    /// Makes a launch ready to be executed in a batch.
    fn prepare<'e>(
        &'e self,
        launch: Launch,
        memory: &Arc<AddressSpace>,
        running: &Arc<Running>,
    ) -> Result<Box<dyn Prepared + 'e>, Fault>;
}

/// A launch that is ready to be executed, as often as it holds.
pub trait Prepared {
    /// Would it be made the same once more? What it was made of may be overwritten.
    fn holds(&self) -> bool;

    /// Executes all work-groups of the launch and returns when they are done. Reports each work-group that
    /// has finished with [`Running::advance`], and stops soon after [`Running::cancel`] is set.
    fn execute(&mut self) -> Result<GroupStatistics, Fault>;
}

/// A simulated GPU without the driver around it.
pub struct Gpu {
    /// Which device it is.
    pub device: &'static Device,
    /// How it behaves.
    pub settings: Settings,
    /// Its EUs.
    pub executor: Box<dyn Executor>,
    /// What its last launches took.
    pub launches: LaunchLog,
}

/// What one kernel launch took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchStatistics {
    /// GPU address of the kernel.
    pub kernel: u64,
    /// Lanes per thread.
    pub simd_width: u32,
    /// Work-groups of each dimension.
    pub groups: [u64; 3],
    /// Sums over all work-groups.
    pub sum: GroupStatistics,
}

/// Launches that are remembered.
const LOG_LENGTH: usize = 1024;

/// The last launches.
#[derive(Debug, Default)]
pub struct LaunchLog(Mutex<VecDeque<LaunchStatistics>>);

impl LaunchLog {
    /// Adds a launch and forgets the oldest when there are too many.
    pub fn push(&self, launch: LaunchStatistics) {
        let mut log = self.0.lock();
        if log.len() == LOG_LENGTH {
            log.pop_front();
        }
        log.push_back(launch);
    }

    /// Takes all launches, oldest first.
    pub fn take(&self) -> Vec<LaunchStatistics> {
        self.0.lock().drain(..).collect()
    }
}

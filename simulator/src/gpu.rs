//! The simulated GPU: device, settings, the engine that executes launches, and a log of launches.

use std::collections::VecDeque;
use std::sync::Arc;

use gencl_sync::Mutex;

use crate::running::Running;
use crate::settings::Settings;
use gencl_eu::device::Device;
use gencl_eu::dispatch::{GroupStatistics, Launch};
use gencl_eu::fault::Fault;
use gencl_eu::memory::AddressSpace;
use gencl_i915::{ExpectedLaunch, LaunchHint};

/// What executes kernel launches: an engine of the simulator.
pub trait Executor: Send + Sync {
    /// Prepares a launch of a batch for execution.
    fn prepare<'e>(
        &'e self,
        launch: Launch,
        memory: &Arc<AddressSpace>,
        running: &Arc<Running>,
    ) -> Result<Box<dyn Prepared + 'e>, Fault>;

    /// See [`gencl_i915::RenderNode::expect_launch`].
    fn expect(&self, _launch: &ExpectedLaunch<'_>) -> Option<LaunchHint> {
        None
    }
}

/// A launch that is ready to be executed, repeatedly while it is valid.
pub trait Prepared {
    /// Whether preparing the launch again would give the same: the kernel's code and surface states in memory
    /// have not changed, and its translation may still be used.
    fn is_valid(&self) -> bool;

    /// Executes all work-groups of the launch and returns when they are done. Reports each work-group that
    /// has finished with [`Running::advance`], and stops soon after [`Running::cancel`] is set.
    fn execute(&mut self) -> Result<GroupStatistics, Fault>;
}

/// A simulated GPU without its kernel driver.
pub struct Gpu {
    /// The device that is simulated.
    pub device: &'static Device,
    /// Options.
    pub settings: Settings,
    /// Executes launches.
    pub executor: Box<dyn Executor>,
    /// Statistics of the last launches.
    pub launches: LaunchLog,
}

/// Statistics of one kernel launch.
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

/// Number of launches that are kept.
const LOG_LENGTH: usize = 1024;

/// The statistics of the last launches.
#[derive(Debug, Default)]
pub struct LaunchLog(Mutex<VecDeque<LaunchStatistics>>);

impl LaunchLog {
    /// Adds a launch, and drops the oldest when the log is full.
    pub fn push(&self, launch: LaunchStatistics) {
        let mut log = self.0.lock();
        if log.len() == LOG_LENGTH {
            log.pop_front();
        }
        log.push_back(launch);
    }

    /// Removes and returns all launches, oldest first.
    pub fn take(&self) -> Vec<LaunchStatistics> {
        self.0.lock().drain(..).collect()
    }
}

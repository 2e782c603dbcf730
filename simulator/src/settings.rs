//! Options of the simulator.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::debug::control::Debugger;
use crate::statistics::Collector;
use crate::translated::source::{EngineChoice, Source};

/// Options of a [`crate::Simulator`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// A batch is taken for hung when none of its work-groups has finished for this long. A slow launch of
    /// many work-groups is therefore never stopped. One with a thread of which it is known that it can never end is
    /// stopped much earlier.
    pub hang_limit: Duration,
    /// A batch whose work-groups have not finished for this long, or for half of the limit, is suspected to hang: its
    /// threads look whether they can end.
    pub suspicion: Duration,
    /// Called when a batch has not made progress for half a minute, long before it is stopped.
    pub on_stall: Option<OnStall>,
    /// Strict mode: refuse what the hardware leaves undefined.
    pub strict: bool,
    /// Host threads that execute work-groups.
    pub workers: usize,
    /// Collects statistics of each instruction of each kernel, which makes execution several times slower.
    /// Kernels are then interpreted.
    pub statistics: Option<Arc<Collector>>,
    /// The statistics are those that translated code counts, which are executions and enabled lanes, and
    /// what follows from them.
    pub fast_statistics: bool,
    /// Buffers can be exported to other processes. If not, large buffers are in huge pages.
    pub shared: bool,
    /// How kernels are executed.
    pub engine: EngineChoice,
    /// Translates kernels to host code; without it, they are interpreted.
    pub translations: Option<Source>,
    /// Controls launches, which are interpreted then.
    pub debugger: Option<Debugger>,
}

/// A batch without a finished work-group for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// The GPU address of the kernel that runs, if one does.
    pub kernel: Option<u64>,
    /// How long.
    pub waited: Duration,
    /// When it is stopped ([`Settings::hang_limit`]).
    pub limit: Duration,
}

impl Stall {
    /// What the user is to be told of a kernel.
    pub fn message(&self, kernel: &str) -> String {
        let [waited, limit] = [self.waited, self.limit].map(|time| time.as_secs());
        format!(
            "{kernel} still runs after {waited} s without a finished work-group and is stopped after {limit} s \
             (GENCL_HANG_LIMIT sets this limit in seconds)"
        )
    }
}

/// What is called for a [`Stall`], on a thread of the simulator.
#[derive(Clone)]
pub struct OnStall(pub Arc<dyn Fn(&Stall) + Send + Sync>);

impl fmt::Debug for OnStall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnStall")
    }
}

impl PartialEq for OnStall {
    fn eq(&self, other: &OnStall) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for OnStall {}

impl Default for Settings {
    /// Ten minutes, strict, all cores of the host, no statistics, shared buffers, no translations.
    fn default() -> Settings {
        let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
        Settings {
            hang_limit: Duration::from_secs(600),
            suspicion: Duration::from_secs(2),
            on_stall: None,
            strict: true,
            workers,
            statistics: None,
            fast_statistics: false,
            shared: true,
            engine: EngineChoice::Auto,
            translations: None,
            debugger: None,
        }
    }
}

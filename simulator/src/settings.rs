//! Options of the simulator.

use std::sync::Arc;
use std::time::Duration;

use crate::statistics::Collector;
use crate::translated::source::{EngineChoice, Source};

/// Options of a [`crate::Simulator`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// A batch is taken for hung when none of its work-groups has finished for this long. A slow launch of
    /// many work-groups is therefore never stopped; an endless loop is.
    pub hang_limit: Duration,
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
}

impl Default for Settings {
    /// Ten seconds, strict, all cores of the host, no statistics, shared buffers, no translations.
    fn default() -> Settings {
        let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
        Settings {
            hang_limit: Duration::from_secs(10),
            strict: true,
            workers,
            statistics: None,
            fast_statistics: false,
            shared: true,
            engine: EngineChoice::Auto,
            translations: None,
        }
    }
}

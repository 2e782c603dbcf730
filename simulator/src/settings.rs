//! How a simulator is to behave.

use std::sync::Arc;
use std::time::Duration;

use crate::statistics::Collector;
use crate::translated::source::{EngineChoice, Source};

/// Options of a [`crate::Simulator`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// A batch is taken for hung when for this long no work-group of it has finished. A slow launch of many
    /// work-groups is therefore never stopped, an endless loop is.
    pub hang_limit: Duration,
    /// Refuse what the hardware leaves undefined.
    pub strict: bool,
    /// Host threads that execute work-groups.
    pub workers: usize,
    /// Count what each instruction of each kernel is executed for, which takes several times as long as
    /// executing it. Kernels are then interpreted.
    pub statistics: Option<Arc<Collector>>,
    /// Buffers can be exported, to be used by other processes. Those that cannot are in huge pages where they
    /// are large.
    pub shared: bool,
    /// How kernels are executed.
    pub engine: EngineChoice,
    /// What translates kernels; without it, they are interpreted.
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
            shared: true,
            engine: EngineChoice::Auto,
            translations: None,
        }
    }
}

//! How a simulator is to behave.

use std::time::Duration;

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
}

impl Default for Settings {
    /// Ten seconds, strict, all cores of the host.
    fn default() -> Settings {
        let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
        Settings { hang_limit: Duration::from_secs(10), strict: true, workers }
    }
}

//! How the render node is to behave: environment variables, which programs started by the program inherit.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use gencl_simulator::{Settings, statistics};

/// The folder with the files that are shown. Without it the library shows nothing.
pub const ROOT: &str = "GENCL_RENDER_NODE_ROOT";
/// The device to simulate.
pub const DEVICE: &str = "GENCL_RENDER_NODE_DEVICE";
/// Refuse what the hardware leaves undefined.
pub const STRICT: &str = "GENCL_RENDER_NODE_STRICT";
/// Print every request to standard error.
pub const TRACE: &str = "GENCL_RENDER_NODE_TRACE";
/// The file that statistics of kernels are written to when the process exits.
pub const STATISTICS: &str = "GENCL_RENDER_NODE_STATISTICS";
/// Seconds after which a batch that does not come on is stopped, as for gencl's own simulator. What is no number counts as
/// nothing.
pub const HANG_LIMIT: &str = "GENCL_HANG_LIMIT";

/// The options of this process.
#[derive(Debug)]
pub struct Options {
    /// See [`ROOT`].
    pub root: Option<PathBuf>,
    /// See [`DEVICE`].
    pub device: String,
    /// See [`STRICT`].
    pub strict: bool,
    /// See [`TRACE`].
    pub trace: bool,
    /// See [`HANG_LIMIT`].
    pub hang_limit: Option<Duration>,
    /// See [`STATISTICS`].
    pub statistics: Option<PathBuf>,
}

impl Options {
    /// How the simulator behaves.
    pub fn settings(&self) -> Settings {
        let hang_limit = self.hang_limit.unwrap_or(Settings::default().hang_limit);
        let statistics = self.statistics.as_deref().map(statistics::written_at_exit);
        Settings { strict: self.strict, statistics, hang_limit, ..Settings::default() }
    }
}

/// The options, as the environment was when they were first asked for.
pub fn get() -> &'static Options {
    static OPTIONS: OnceLock<Options> = OnceLock::new();
    OPTIONS.get_or_init(|| Options {
        root: std::env::var_os(ROOT).map(PathBuf::from),
        device: std::env::var(DEVICE).unwrap_or_else(|_| "skl".into()),
        strict: std::env::var_os(STRICT).is_some(),
        trace: std::env::var_os(TRACE).is_some(),
        hang_limit: std::env::var(HANG_LIMIT)
            .ok()
            .and_then(|seconds| Duration::try_from_secs_f64(seconds.parse().ok()?).ok()),
        statistics: std::env::var_os(STATISTICS).map(PathBuf::from),
    })
}

//! Options of the render node: environment variables, which child processes inherit.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use gencl_program::{environment, report, variables};
use gencl_simulator::translated::source::{EngineChoice, Source};
use gencl_simulator::{Settings, statistics};

/// The folder with the redirected files. Without it the library does nothing.
pub const ROOT: &str = "GENCL_RENDER_NODE_ROOT";
/// The device to simulate.
pub const DEVICE: &str = "GENCL_RENDER_NODE_DEVICE";
/// Report undefined behaviour of the hardware as errors.
pub const STRICT: &str = "GENCL_RENDER_NODE_STRICT";
/// Print every request to standard error.
pub const TRACE: &str = "GENCL_RENDER_NODE_TRACE";
/// The file that statistics of kernels are written to when the process exits.
pub const STATISTICS: &str = "GENCL_RENDER_NODE_STATISTICS";

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
    /// Time without progress after which a batch is stopped, as for gencl's own simulator (`GENCL_HANG_LIMIT`).
    pub hang_limit: Duration,
    /// See [`STATISTICS`].
    pub statistics: Option<PathBuf>,
    /// How kernels are executed (`GENCL_ENGINE`). Invalid values are ignored.
    pub engine: EngineChoice,
}

impl Options {
    /// Settings of the simulator.
    pub fn settings(&self) -> Settings {
        let hang_limit = self.hang_limit;
        let statistics = self.statistics.as_deref().map(statistics::written_at_exit);
        let translations = Some(Source(Arc::new(gencl_client::Translations)));
        let engine = self.engine;
        Settings { strict: self.strict, statistics, hang_limit, engine, translations, ..Settings::default() }
    }
}

/// The options, read from the environment at the first call.
pub fn get() -> &'static Options {
    static OPTIONS: OnceLock<Options> = OnceLock::new();
    OPTIONS.get_or_init(read)
}

fn read() -> Options {
    // The translator may be in the folder of this library.
    if let Some(library) = environment::value("LD_PRELOAD").as_deref().and_then(own_path) {
        gencl_client::set_library_path(library);
    }
    Options {
        root: environment::trusted_value(ROOT).map(PathBuf::from),
        device: environment::value(DEVICE).unwrap_or_else(|| "skl".into()),
        strict: environment::value(STRICT).is_some(),
        trace: environment::value(TRACE).is_some(),
        hang_limit: hang_limit(),
        statistics: environment::trusted_value(STATISTICS).map(PathBuf::from),
        engine: EngineChoice::named(&report::word(&variables::ENGINE).unwrap_or_default())
            .unwrap_or_default(),
    }
}

fn hang_limit() -> Duration {
    let default = Settings::default().hang_limit;
    Duration::try_from_secs_f64(report::number(&variables::HANG_LIMIT, default.as_secs_f64()))
        .unwrap_or(default)
}

/// The path of this library, from the list of preloaded ones.
fn own_path(preloaded: &str) -> Option<&Path> {
    let name = concat!("lib", env!("CARGO_CRATE_NAME"), ".so");
    preloaded.split([':', ' ']).map(Path::new).find(|path| path.file_name().is_some_and(|file| file == name))
}

#[cfg(test)]
mod tests {
    use super::own_path;
    use std::path::Path;

    #[test]
    fn the_library_finds_itself() {
        let path = "/usr/lib/libx.so:/a/libgencl_render_node.so /b/libgencl_render_node.so.1";
        assert_eq!(own_path(path), Some(Path::new("/a/libgencl_render_node.so")));
        assert_eq!(own_path("/usr/lib/libx.so"), None);
    }
}

//! Options of the render node: environment variables, which child processes inherit.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use gencl_program::{environment, report, variables};
use gencl_simulator::translated::source::{EngineChoice, Source};
use gencl_simulator::{OnStall, Settings, statistics};

/// The path of this library, in whose folder the translator may be. In `LD_PRELOAD` it may be that of a link.
pub const LIBRARY: &str = "GENCL_RENDER_NODE_LIBRARY";
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
    /// How kernels are executed (`GENCL_ENGINE`).
    pub engine: EngineChoice,
}

impl Options {
    /// Settings of the simulator.
    pub fn settings(&self) -> Settings {
        let hang_limit = self.hang_limit;
        let statistics = self.statistics.as_deref().map(statistics::written_at_exit);
        let translations = Some(Source(Arc::new(gencl_client::Translations)));
        let engine = self.engine;
        let on_stall =
            OnStall(Arc::new(|stall| report::once("a kernel still runs", &stall.message("a kernel"))));
        Settings {
            strict: self.strict,
            statistics,
            hang_limit,
            on_stall: Some(on_stall),
            engine,
            translations,
            ..Settings::default()
        }
    }
}

/// See [`ROOT`]. It is apart from [`Options`]: whoever opens a file asks for it, also while those are read.
pub fn root() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(|| environment::trusted_value(ROOT).map(PathBuf::from)).as_deref()
}

/// The options, read from the environment at the first call.
pub fn get() -> &'static Options {
    static OPTIONS: OnceLock<Options> = OnceLock::new();
    OPTIONS.get_or_init(read)
}

fn read() -> Options {
    if let Some(library) = environment::trusted_value(LIBRARY) {
        gencl_client::set_library_path(Path::new(&library));
    }
    Options {
        device: environment::value(DEVICE).unwrap_or_else(|| "skl".into()),
        strict: environment::value(STRICT).is_some(),
        trace: environment::value(TRACE).is_some(),
        hang_limit: report::seconds(&variables::HANG_LIMIT, Settings::default().hang_limit),
        statistics: environment::trusted_value(STATISTICS).map(PathBuf::from),
        engine: EngineChoice::named(&report::word(&variables::ENGINE).unwrap_or_default())
            .unwrap_or_default(),
    }
}

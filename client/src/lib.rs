//! The client of the compile server.
//!
//! `genclc --serve` is started before the first build needs it, answers requests over a socket that is its
//! standard input and output, and exits after some idle time. All its failures are failed builds for the
//! application. A second server translates kernels for the simulator, so that
//! builds do not wait for that.
#![forbid(unsafe_code)]

mod builds;
mod cache;
mod folder;
mod host;
mod locate;
mod server;
mod state;
mod timeout;
mod translations;

pub use builds::{build, expect_build, expect_builds};
pub use locate::set_library_path;
pub use state::{cache_state, clear_cache, compiler_state};
pub use translations::Translations;

use gencl_program::{environment, report};
use server::{Failure, Purpose, Server};

/// No compiler can be started; the text says why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// Whether there is a compiler.
///
/// # Errors
/// None was found; the text has the paths that were tried.
pub fn check_available() -> Result<(), Unavailable> {
    locate::compiler().map(drop).map_err(Unavailable).inspect_err(report_unavailable)
}

/// Reports that no program can be built.
fn report_unavailable(unavailable: &Unavailable) {
    // The end of the compiler's output is on further lines.
    report::once("compiler", &format!("no program can be built: {}", unavailable.0.replace('\n', " ")));
}

fn start(purpose: Purpose) -> Result<Server, Failure> {
    let path = locate::compiler().map_err(Unavailable)?;
    // The output of GENCL_DEBUG goes to standard error.
    let verbose = environment::trusted_value("GENCL_DEBUG").is_some();
    Server::start(&path, purpose, verbose)
}

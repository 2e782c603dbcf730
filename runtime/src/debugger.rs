//! The debugger that controls launches on the simulated GPU (`GENCL_DEBUG=debug=FOLDER`): the connection with it, and what
//! it learns about launches beside their batches.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use gencl_program::debug::{self, Debug};
use gencl_program::report;
use gencl_simulator::debug::control::Debugger;
use gencl_simulator::debug::protocol::Range;
use gencl_simulator::debug::server::Server;

use crate::sync::Mutex;

/// The ND-ranges of the last launches, by their numbers.
static RANGES: Mutex<BTreeMap<u32, Range>> = Mutex::new(BTreeMap::new());

/// How many are kept: more than queues have launches that have not begun.
const KEPT: usize = 1 << 16;

/// The folder of the debugger, if there is one.
fn folder() -> Option<PathBuf> {
    Debug::from_environment().0.value(debug::DEBUGGER).map(PathBuf::from)
}

/// Whether there is a debugger.
pub(crate) fn is_on() -> bool {
    static IS_ON: LazyLock<bool> = LazyLock::new(|| folder().is_some());
    *IS_ON
}

/// The debugger of this process, if there is one: all devices have the same connection. That it cannot be reached is
/// reported.
pub(crate) fn connection() -> Option<Debugger> {
    static CONNECTION: LazyLock<Option<Debugger>> = LazyLock::new(connect);
    CONNECTION.clone()
}

fn connect() -> Option<Debugger> {
    let folder = folder()?;
    match Server::connect(&folder, range) {
        Ok(server) => Some(Debugger(Arc::new(server))),
        Err(error) => {
            report::once("debugger", &format!("there is no debugger in {}: {error}", folder.display()));
            None
        }
    }
}

/// Tells the ND-range of a launch that is enqueued.
pub(crate) fn note(launch: u32, range: Range) {
    let mut ranges = RANGES.lock();
    ranges.insert(launch, range);
    if ranges.len() > KEPT {
        ranges.pop_first();
    }
}

fn range(launch: u32) -> Range {
    RANGES.lock().get(&launch).copied().unwrap_or_default()
}

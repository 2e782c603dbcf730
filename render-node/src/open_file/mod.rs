//! An open file of the node, and its state.

mod buffers;
mod contexts;
mod handles;
mod sync_objects;

use std::sync::{Arc, Once};

use gencl_i915::{Errno, Result};
use gencl_simulator::Simulator;
use gencl_sync::Mutex;

use crate::options;
use buffers::BufferStates;
use contexts::Contexts;
use handles::SharedHandles;
use sync_objects::SyncObjects;

pub use contexts::ContextState;
pub use handles::FileId;
pub use sync_objects::{Payload, SyncObject, Waker, query_point};

/// An open file description of the node, which several descriptors may share.
pub struct OpenFile {
    /// The simulator of this open file.
    pub simulator: Simulator,
    /// Contexts and address spaces.
    pub contexts: Mutex<Contexts>,
    /// Tiling and caching of buffers.
    pub buffers: Mutex<BufferStates>,
    /// Exported and imported buffers.
    pub shared: Mutex<SharedHandles>,
    /// Sync objects.
    pub sync_objects: Mutex<SyncObjects>,
    /// The mark of its descriptors.
    pub mark: u64,
}

impl OpenFile {
    /// A new open file, whose descriptors have a mark.
    pub fn new(mark: u64) -> Result<Arc<OpenFile>> {
        show_messages();
        let options = options::get();
        let simulator = Simulator::with_settings(&options.device, options.settings()).map_err(|error| {
            tracing::warn!("{error}");
            Errno(libc::ENODEV)
        })?;
        Ok(Arc::new(OpenFile {
            simulator,
            contexts: Mutex::default(),
            buffers: Mutex::default(),
            shared: Mutex::default(),
            sync_objects: Mutex::default(),
            mark,
        }))
    }

    /// Closes a descriptor. After the last one, queued batches still run, as contexts are persistent, unless
    /// they use memory of the program (userptr), which may be unmapped at any time.
    pub fn close(file: Arc<OpenFile>) {
        let Some(file) = Arc::into_inner(file) else { return };
        let buffers = file.simulator.all_buffers();
        let is_busy = buffers.iter().any(|buffer| !buffer.fences(false).is_empty());
        if !is_busy || buffers.iter().any(|buffer| buffer.is_userptr()) {
            return;
        }
        drop(buffers);
        let rest = std::thread::Builder::new().name("gencl-closing".into());
        // Without a thread to wait for them, dropping the file stops its batches.
        let _ = rest.spawn(move || file.simulator.finish());
    }
}

/// Prints faults of batches to standard error, as other drivers do not report them; and commands, when
/// traced.
fn show_messages() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let subscriber = tracing_subscriber::fmt()
            .with_writer(std::io::stderr)
            .with_max_level(if options::get().trace { tracing::Level::TRACE } else { tracing::Level::WARN })
            .without_time()
            .with_target(false);
        // A program written in Rust has its own copy of `tracing`, so no subscriber can be set here.
        let _ = subscriber.try_init();
    });
}

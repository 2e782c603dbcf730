//! Contexts: a device's address space, and what is shared by everything made in it.

use std::sync::Arc;

use parking_lot::Mutex;

use gencl_program::debug::{self, Debug};
use gencl_program::report;

use crate::launch::SlotPool;
use crate::memory::{AddressSpace, SharedMemories};
use crate::printf::PrintfPool;
use crate::{Device, Error, Result};

/// Called with the reason when a command fails or something else deserves to be told.
/// May be called from any thread.
pub type ContextNotify = Box<dyn Fn(&Error) + Send + Sync>;

/// A context of one device: an address space on the GPU, a hardware context, memory pools.
pub struct Context {
    device: Arc<Device>,
    space: Arc<AddressSpace>,
    slots: SlotPool,
    printf: PrintfPool,
    shared: SharedMemories,
    dumps_batches: bool,
    notify: Option<ContextNotify>,
    destructors: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("device", &self.device.facts().name).finish_non_exhaustive()
    }
}

impl Context {
    /// Makes a context. `OUT_OF_RESOURCES` when the kernel driver refuses.
    pub fn new(device: &Arc<Device>, notify: Option<ContextNotify>) -> Result<Arc<Self>> {
        gencl_client::expect_builds();
        let space = Arc::new((device.hardware().model.family.addresses)(device.node().clone()));
        let (debug, _) = Debug::from_environment();
        Ok(Arc::new(Self {
            device: device.clone(),
            space,
            slots: SlotPool::default(),
            printf: PrintfPool::default(),
            shared: SharedMemories::default(),
            dumps_batches: debug.is_set(debug::BATCH),
            notify,
            destructors: Mutex::default(),
        }))
    }

    /// Its device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Where its buffers are.
    pub(crate) fn space(&self) -> &Arc<AddressSpace> {
        &self.space
    }

    /// Memory for batches.
    pub(crate) fn slots(&self) -> &SlotPool {
        &self.slots
    }

    /// Memory for what kernels print.
    pub(crate) fn printf(&self) -> &PrintfPool {
        &self.printf
    }

    /// Shared virtual memory.
    pub(crate) fn shared(&self) -> &SharedMemories {
        &self.shared
    }

    /// Are batches to be printed?
    pub(crate) fn dumps_batches(&self) -> bool {
        self.dumps_batches
    }

    /// Runs `function` when the context is destroyed; the last one registered runs first.
    pub fn on_destroy(&self, function: Box<dyn FnOnce() + Send>) {
        self.destructors.lock().push(function);
    }

    /// Tells the application's callback about an error, and the user of the first that has to do with a subject.
    pub(crate) fn report(&self, subject: &str, error: &Error) {
        tracing::warn!("{error}");
        report::once(subject, &error.to_string());
        if let Some(notify) = &self.notify {
            notify(error);
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        for function in self.destructors.get_mut().drain(..).rev() {
            function();
        }
    }
}

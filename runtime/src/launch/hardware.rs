//! Hardware contexts, which the kernel driver bans when a batch hangs, and memory of hardware threads.

use std::sync::Arc;

use gencl_i915::uapi::context_param;
use gencl_i915::{ContextId, ErrorState, FaultPlace, RenderNode};
use parking_lot::Mutex;

use crate::memory::{AddressSpace, Storage, Zone};
use crate::{Code, Error, Result};

/// A context of the kernel driver, destroyed when it is dropped.
pub(crate) struct HardwareContext {
    node: Arc<dyn RenderNode>,
    id: ContextId,
}

impl HardwareContext {
    fn new(node: &Arc<dyn RenderNode>) -> Result<Arc<Self>> {
        let id = node.context_create()?;
        // After a hang, later batches must not run as if the first one had succeeded: the kernel driver is to
        // ban the context. One without this parameter runs them.
        if let Err(errno) = node.context_set_param(id, context_param::RECOVERABLE, 0) {
            tracing::debug!("the hardware context is not banned after hangs: {errno}");
        }
        Ok(Arc::new(Self { node: node.clone(), id }))
    }

    pub(crate) fn id(&self) -> ContextId {
        self.id
    }

    /// Why a batch of this context failed.
    pub(crate) fn failure(&self) -> ErrorState {
        if let Some(state) = self.node.error_state(self.id) {
            return state;
        }
        let text = match self.node.reset_stats(self.id) {
            Ok(stats) if stats.batch_active > 0 => "the GPU hung in this batch".into(),
            Ok(stats) if stats.batch_pending > 0 => "the GPU hung in an earlier batch".into(),
            _ => "the batch did not run to its end".into(),
        };
        ErrorState { text, place: FaultPlace::default() }
    }
}

impl Drop for HardwareContext {
    fn drop(&mut self) {
        // An error cannot be reported; closing the device file destroys the context as well.
        let _ = self.node.context_destroy(self.id);
    }
}

/// State of a queue on the GPU.
pub(crate) struct Hardware {
    current: Mutex<Arc<HardwareContext>>,
    /// Scratch memory.
    scratch: ThreadMemory,
    /// Private memory that exceeds scratch memory.
    stack: ThreadMemory,
}

/// A buffer with a part for each hardware thread, and the bytes of a part. All launches share it, as batches
/// of a hardware context run one after the other.
#[derive(Default)]
struct ThreadMemory(Mutex<Option<(u32, Arc<Storage>)>>);

impl ThreadMemory {
    /// A buffer with `size` bytes or more for each of `threads` threads, and the bytes per thread.
    fn get(
        &self,
        space: &Arc<AddressSpace>,
        size: u32,
        threads: u32,
        what: &str,
    ) -> Result<(u32, Arc<Storage>)> {
        let mut memory = self.0.lock();
        match &*memory {
            Some((each, storage)) if *each >= size => Ok((*each, storage.clone())),
            _ => {
                let total = u64::from(size) * u64::from(threads);
                let storage = Storage::new(space, Zone::Scratch, total)
                    .map_err(|error| Error::new(Code::OutOfResources, format!("{what}: {}", error.reason)))?;
                let made = (size, Arc::new(storage));
                *memory = Some(made.clone());
                Ok(made)
            }
        }
    }
}

impl Hardware {
    pub(crate) fn new(node: &Arc<dyn RenderNode>) -> Result<Self> {
        let current = Mutex::new(HardwareContext::new(node)?);
        Ok(Self { current, scratch: ThreadMemory::default(), stack: ThreadMemory::default() })
    }

    /// The context for the next batch.
    pub(crate) fn current(&self) -> Arc<HardwareContext> {
        self.current.lock().clone()
    }

    /// Replaces the context `failed`, if that has not been done.
    pub(crate) fn replace(&self, failed: &Arc<HardwareContext>) -> Result<()> {
        let mut current = self.current.lock();
        if Arc::ptr_eq(&current, failed) {
            *current = HardwareContext::new(&failed.node)?;
        }
        Ok(())
    }

    /// Scratch memory with `size` bytes or more for each of `threads` threads, and the bytes per thread.
    pub(crate) fn scratch(
        &self,
        space: &Arc<AddressSpace>,
        size: u32,
        threads: u32,
    ) -> Result<(u32, Arc<Storage>)> {
        self.scratch.get(space, size, threads, "scratch memory")
    }

    /// A buffer for private memory with `size` bytes or more for each of `threads` threads.
    pub(crate) fn stack(&self, space: &Arc<AddressSpace>, size: u32, threads: u32) -> Result<Arc<Storage>> {
        Ok(self.stack.get(space, size, threads, "private memory")?.1)
    }
}

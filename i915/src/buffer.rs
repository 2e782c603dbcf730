//! GEM buffers that are closed when dropped.

use std::sync::Arc;

use crate::{GemHandle, HostMemory, RenderNode, Result};

/// A mapped GEM buffer that is closed when dropped.
pub struct GemBuffer {
    node: Arc<dyn RenderNode>,
    handle: GemHandle,
    memory: HostMemory,
}

impl std::fmt::Debug for GemBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GemBuffer").field("handle", &self.handle).field("memory", &self.memory).finish()
    }
}

impl GemBuffer {
    /// Creates and maps a buffer of `size` bytes, rounded up to whole pages.
    pub fn create(node: &Arc<dyn RenderNode>, size: u64) -> Result<Self> {
        let handle = node.gem_create(size)?;
        match node.gem_map(handle) {
            Ok(memory) => Ok(Self { node: node.clone(), handle, memory }),
            Err(error) => {
                // The first error is reported; closing a new handle does not fail.
                let _ = node.gem_close(handle);
                Err(error)
            }
        }
    }

    /// Creates a buffer on memory of the application (userptr). `EINVAL` unless address and length are
    /// multiples of a page.
    pub fn from_host(node: &Arc<dyn RenderNode>, memory: HostMemory) -> Result<Self> {
        // SAFETY: the contract of `HostMemory::new` keeps the memory mapped for as long as `memory`, which
        // lives in the result, whose `drop` waits for the GPU and closes the handle.
        let handle = unsafe { node.gem_userptr(memory.address(), memory.len()) }?;
        Ok(Self { node: node.clone(), handle, memory })
    }

    /// The handle.
    pub fn handle(&self) -> GemHandle {
        self.handle
    }

    /// The bytes, mapped for the CPU.
    pub fn memory(&self) -> &HostMemory {
        &self.memory
    }

    /// Waits until no batch uses the buffer.
    pub fn wait(&self) -> Result<()> {
        self.node.gem_wait(self.handle, -1)
    }
}

impl Drop for GemBuffer {
    fn drop(&mut self) {
        if self.memory.is_foreign() {
            // The application may reuse its memory, so the GPU must no longer access it. Errors cannot be
            // reported.
            let _ = self.node.gem_wait(self.handle, -1);
        }
        let _ = self.node.gem_close(self.handle);
    }
}

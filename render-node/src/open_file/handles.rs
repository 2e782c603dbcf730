//! The handles of exported and imported buffers of an open file.

use std::collections::HashMap;

/// Identity of an exported buffer's file: device and inode.
pub type FileId = (u64, u64);

/// Handles of exported and imported buffers of an open file; each buffer has one handle (`drm_prime.c`).
#[derive(Debug, Default)]
pub struct SharedHandles(pub HashMap<FileId, u32>);

impl SharedHandles {
    /// Removes a closed handle.
    pub fn forget(&mut self, handle: u32) {
        self.0.retain(|_, other| *other != handle);
    }
}

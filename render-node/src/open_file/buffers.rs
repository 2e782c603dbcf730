//! Tiling and caching of the buffers of an open file.

use std::collections::HashMap;

use gencl_i915::uapi::CACHING_CACHED;

/// Tiling and caching of one buffer.
#[derive(Clone, Copy, Debug)]
pub struct BufferState {
    /// Tiling mode: none, X, Y.
    pub tiling: u32,
    /// Caching mode.
    pub caching: u32,
}

/// Tiling and caching of all buffers of a file, as far as they differ from a new buffer's.
#[derive(Debug, Default)]
pub struct BufferStates(HashMap<u32, BufferState>);

impl BufferStates {
    /// Those of a handle.
    pub fn get(&mut self, handle: u32) -> &mut BufferState {
        // The CPU's caches are coherent with the GPU's (`I915_PARAM_HAS_LLC`).
        self.0.entry(handle).or_insert(BufferState { tiling: 0, caching: CACHING_CACHED })
    }

    /// Removes a closed handle.
    pub fn forget(&mut self, handle: u32) {
        self.0.remove(&handle);
    }
}

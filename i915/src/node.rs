//! The render node: requests, their arguments and results.

use std::any::Any;
use std::os::fd::OwnedFd;

use crate::HostMemory;

/// A kernel error number (`libc::EINVAL`, ...).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", std::io::Error::from_raw_os_error(*.0))]
pub struct Errno(pub i32);

/// Result of a request.
pub type Result<T> = std::result::Result<T, Errno>;

/// A GEM buffer object's handle, never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GemHandle(pub u32);

/// A hardware context, with its own address space (PPGTT).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContextId(pub u32);

/// `DRM_IOCTL_VERSION`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverVersion {
    /// `i915` for devices that we can use.
    pub name: String,
    /// Major, minor, patch level.
    pub version: (i32, i32, i32),
}

bitflags::bitflags! {
    /// `EXEC_OBJECT_*`
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct ObjectFlags: u64 {
        /// Needs a fence register, on devices before Gen4.
        const NEEDS_FENCE = 1 << 0;
        /// The batch writes to the object.
        const WRITE = 1 << 2;
        /// The object may be placed above 4 GiB.
        const SUPPORTS_48B_ADDRESS = 1 << 3;
        /// The object is placed at `offset` exactly (softpin).
        const PINNED = 1 << 4;
        /// The object takes at least `pad_to_size` bytes of the address space. Reads behind it return zeros,
        /// from the kernel's scratch page.
        const PAD_TO_SIZE = 1 << 5;
        /// No implicit synchronisation for this object.
        const ASYNC = 1 << 6;
        /// Save the object's contents with an error state.
        const CAPTURE = 1 << 7;
    }
    /// `I915_EXEC_*`, without the engine.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct ExecFlags: u64 {
        /// Relocations may be skipped if presumed offsets are correct.
        const NO_RELOC = 1 << 11;
        /// Relocations name objects by their index.
        const HANDLE_LUT = 1 << 12;
        /// The batch buffer is the first object, not the last.
        const BATCH_FIRST = 1 << 18;
    }
}

/// `drm_i915_gem_relocation_entry`: at `offset` of the object that holds it, the GPU address of
/// `target` plus `delta` is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Handle of the target, or its index with [`ExecFlags::HANDLE_LUT`].
    pub target: u32,
    /// Added to the target's address.
    pub delta: u32,
    /// Offset in the object in bytes.
    pub offset: u64,
    /// The target's address that was assumed when the batch was built.
    pub presumed_offset: u64,
    /// Cache domains that are read and written.
    pub read_domains: u32,
    /// See `read_domains`.
    pub write_domain: u32,
}

/// `drm_i915_gem_exec_object2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecObject {
    /// The buffer.
    pub handle: GemHandle,
    /// GPU address: required when pinned, else presumed; on return the actual one.
    pub offset: u64,
    /// Alignment in bytes when not pinned, 0 for the default.
    pub alignment: u64,
    /// Placement and synchronisation.
    pub flags: ObjectFlags,
    /// A multiple of 4096. Ignored without [`ObjectFlags::PAD_TO_SIZE`].
    pub pad_to_size: u64,
    /// Addresses to be written into the buffer.
    pub relocations: Vec<Relocation>,
}

/// Engines: values of `I915_EXEC_RING_MASK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Render command streamer, which also runs GPGPU work.
    Render = 1,
    /// Blitter.
    Blit = 3,
}

/// `drm_i915_gem_execbuffer2`.
#[derive(Debug)]
pub struct ExecBuffer<'a> {
    /// The context to run in.
    pub context: ContextId,
    /// Engine.
    pub engine: Engine,
    /// Options.
    pub flags: ExecFlags,
    /// All buffers that the batch uses, the batch last unless [`ExecFlags::BATCH_FIRST`].
    pub objects: &'a mut [ExecObject],
    /// Offset of the commands in the batch buffer in bytes, a multiple of 8.
    pub batch_start: u32,
    /// Length of the commands in bytes, a multiple of 8; 0 for the whole buffer.
    pub batch_length: u32,
    /// A hint: the caller calls [`RenderNode::gem_wait`] without timeout next, for this batch or for earlier
    /// ones of the context and then for this one. Only for a simulated GPU, whose thread need not be woken
    /// then.
    pub awaited: bool,
}

/// `DRM_IOCTL_I915_GET_RESET_STATS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ResetStats {
    /// Resets since boot.
    pub reset_count: u32,
    /// Batches of this context that were running when the GPU hung.
    pub batch_active: u32,
    /// Batches of this context that were queued then.
    pub batch_pending: u32,
}

/// Position of a kernel when its batch was stopped, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FaultPlace {
    /// The address that could not be accessed.
    pub address: Option<u64>,
    /// Work-group id.
    pub group: Option<[u32; 3]>,
    /// Thread within the work-group.
    pub thread: Option<u32>,
    /// Lane of the thread.
    pub lane: Option<u32>,
    /// Byte offset of the instruction from the kernel's first one.
    pub kernel_offset: Option<u32>,
}

/// What is known about the last hang or fault of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorState {
    /// Text for users: the head of the kernel's error state, or the simulator's description of the fault.
    pub text: String,
    /// Unknown on real devices.
    pub place: FaultPlace,
}

/// What the launches of a kernel most likely are, as far as that is known before the first one.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedLaunch<'a> {
    /// Machine code from the kernel's first instruction on.
    pub code: &'a [u8],
    /// Lanes of a thread: 8, 16 or 32.
    pub simd_width: u32,
    /// Work-items of a work-group, at least 1.
    pub work_items: u32,
    /// Bytes of cross-thread constants.
    pub cross_thread: usize,
    /// Per-thread constants of all threads, one after the other.
    pub per_thread: &'a [u8],
    /// Bytes of shared local memory; which number above 0 does not matter.
    pub local_memory: u32,
    /// Whether threads may use the barrier.
    pub barrier: bool,
    /// Bytes of scratch memory of a thread, as rounded up for the hardware.
    pub scratch: u32,
}

/// Dropping it withdraws the hint.
pub type LaunchHint = Box<dyn Any + Send + Sync>;

/// An i915 device file, real or simulated.
///
/// All methods may be called from any thread.
pub trait RenderNode: Send + Sync {
    /// `DRM_IOCTL_VERSION`
    fn version(&self) -> Result<DriverVersion>;
    /// `DRM_IOCTL_I915_GETPARAM`: `param` is an `I915_PARAM_*`. `EINVAL` for an unknown one.
    fn get_param(&self, param: i32) -> Result<i32>;
    /// `DRM_IOCTL_I915_QUERY`: one item, `DRM_I915_QUERY_*`, in the kernel's layout.
    fn query(&self, id: u64) -> Result<Vec<u8>>;
    /// `DRM_IOCTL_I915_REG_READ`: `offset` as in the kernel's list of readable registers (timestamp 0x2358).
    fn reg_read(&self, offset: u64) -> Result<u64>;
    /// `DRM_IOCTL_I915_GEM_CONTEXT_CREATE`
    fn context_create(&self) -> Result<ContextId>;
    /// `DRM_IOCTL_I915_GEM_CONTEXT_DESTROY`
    fn context_destroy(&self, context: ContextId) -> Result<()>;
    /// `DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM`: `I915_CONTEXT_PARAM_*`, for instance the size of the address
    /// space.
    fn context_get_param(&self, context: ContextId, param: u64) -> Result<u64>;
    /// `DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM`
    fn context_set_param(&self, context: ContextId, param: u64, value: u64) -> Result<()>;
    /// `DRM_IOCTL_I915_GET_RESET_STATS`
    fn reset_stats(&self, context: ContextId) -> Result<ResetStats>;
    /// `DRM_IOCTL_I915_GEM_CREATE`: zeroed memory, `size` bytes rounded up to whole pages.
    fn gem_create(&self, size: u64) -> Result<GemHandle>;
    /// `DRM_IOCTL_I915_GEM_USERPTR`: the caller's own memory; page-aligned address and length.
    ///
    /// # Safety
    /// The memory stays mapped until the handle is closed and the GPU is done with it.
    unsafe fn gem_userptr(&self, address: *mut u8, length: usize) -> Result<GemHandle>;
    /// `DRM_IOCTL_PRIME_HANDLE_TO_FD`: a file that shares the buffer's memory, and its size in bytes.
    /// `ENODEV` for userptr buffers.
    fn gem_export(&self, handle: GemHandle) -> Result<(OwnedFd, u64)>;
    /// `DRM_IOCTL_GEM_CLOSE`
    fn gem_close(&self, handle: GemHandle) -> Result<()>;
    /// Maps the whole buffer into the process, coherently (`DRM_IOCTL_I915_GEM_MMAP_OFFSET` and `mmap`).
    /// The mapping outlives the handle. Not for userptr buffers (`ENODEV`).
    fn gem_map(&self, handle: GemHandle) -> Result<HostMemory>;
    /// `DRM_IOCTL_I915_GEM_BUSY`: is a batch that uses the buffer still running?
    fn gem_busy(&self, handle: GemHandle) -> Result<bool>;
    /// `DRM_IOCTL_I915_GEM_WAIT`: waits until no batch uses the buffer; timeout in nanoseconds, negative:
    /// none. `ETIME`.
    fn gem_wait(&self, handle: GemHandle, timeout_ns: i64) -> Result<()>;
    /// `DRM_IOCTL_I915_GEM_EXECBUFFER2`: submits a batch. A later hang or fault of the batch is reported by
    /// [`RenderNode::reset_stats`].
    fn exec_buffer(&self, exec: &mut ExecBuffer<'_>) -> Result<()>;
    /// The last hang or fault of a context. `None` when there was none.
    fn error_state(&self, context: ContextId) -> Option<ErrorState>;
    /// A hint that a kernel will be launched. Only for a simulated GPU, which makes host code of it meanwhile.
    fn expect_launch(&self, _launch: &ExpectedLaunch<'_>) -> Option<LaunchHint> {
        None
    }
}

//! Structures, request numbers and constants of the kernel's `include/uapi/drm/i915_drm.h` that gencl and its
//! simulated render node use. Names are the header's, without prefixes.

#![allow(missing_docs, reason = "the kernel's header documents every field under the same name")]

use bytemuck::{Pod, Zeroable};

/// `DRM_IOCTL_BASE`: the ioctl type of all DRM requests.
pub const DRM: u8 = b'd';
/// `DRM_COMMAND_BASE`: the first request number of drivers.
const COMMAND_BASE: u32 = 0x40;

/// Directions of `_IOC` (`asm-generic/ioctl.h`).
const WRITE: u32 = 1;
const READ: u32 = 2;

/// `_IOC(direction, 'd', number, size)`
const fn request(direction: u32, number: u32, size: usize) -> u32 {
    request_of(DRM, direction, number, size)
}

/// `_IOC(direction, kind, number, size)`
const fn request_of(kind: u8, direction: u32, number: u32, size: usize) -> u32 {
    direction << 30 | (size as u32) << 16 | (kind as u32) << 8 | number
}

/// Declares a structure, with its size on 64-bit machines as a check.
macro_rules! structure {
    ($(#[$meta:meta])* $name:ident, $size:literal { $($field:ident: $ty:ty),* $(,)? }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
        pub struct $name { $(pub $field: $ty),* }
        const _: () = assert!(size_of::<$name>() == $size);
    };
}

structure!(
    /// `drm_gem_close`
    GemClose, 8 { handle: u32, pad: u32 }
);
structure!(
    /// `drm_i915_getparam`; `value` is the address of an `i32`.
    GetParam, 16 { param: i32, pad: u32, value: u64 }
);
structure!(
    /// `drm_i915_gem_create`
    GemCreate, 16 { size: u64, handle: u32, pad: u32 }
);
structure!(
    /// `drm_i915_gem_mmap_offset`
    GemMmapOffset, 32 { handle: u32, pad: u32, offset: u64, flags: u64, extensions: u64 }
);
structure!(
    /// `drm_i915_gem_relocation_entry`
    RelocationEntry, 32 {
        target_handle: u32,
        delta: u32,
        offset: u64,
        presumed_offset: u64,
        read_domains: u32,
        write_domain: u32,
    }
);
structure!(
    /// `drm_i915_gem_exec_object2`
    ExecObject2, 56 {
        handle: u32,
        relocation_count: u32,
        relocs_ptr: u64,
        alignment: u64,
        offset: u64,
        flags: u64,
        pad_to_size: u64,
        rsvd2: u64,
    }
);
structure!(
    /// `drm_i915_gem_execbuffer2`; `rsvd1` holds the context id.
    ExecBuffer2, 64 {
        buffers_ptr: u64,
        buffer_count: u32,
        batch_start_offset: u32,
        batch_len: u32,
        dr1: u32,
        dr4: u32,
        num_cliprects: u32,
        cliprects_ptr: u64,
        flags: u64,
        rsvd1: u64,
        rsvd2: u64,
    }
);
structure!(
    /// `drm_i915_gem_busy`
    GemBusy, 8 { handle: u32, busy: u32 }
);
structure!(
    /// `drm_i915_gem_wait`
    GemWait, 16 { handle: u32, flags: u32, timeout_ns: i64 }
);
structure!(
    /// `drm_i915_gem_context_create`
    ContextCreate, 8 { ctx_id: u32, pad: u32 }
);
structure!(
    /// `drm_i915_gem_context_destroy`
    ContextDestroy, 8 { ctx_id: u32, pad: u32 }
);
structure!(
    /// `drm_i915_gem_context_param`
    ContextParam, 24 { ctx_id: u32, size: u32, param: u64, value: u64 }
);
structure!(
    /// `drm_i915_reg_read`
    RegRead, 16 { offset: u64, val: u64 }
);
structure!(
    /// `drm_i915_reset_stats`
    ResetStats, 24 {
        ctx_id: u32,
        flags: u32,
        reset_count: u32,
        batch_active: u32,
        batch_pending: u32,
        pad: u32,
    }
);
structure!(
    /// `drm_i915_gem_userptr`
    GemUserptr, 24 { user_ptr: u64, user_size: u64, flags: u32, handle: u32 }
);
structure!(
    /// `drm_i915_query_item`
    QueryItem, 24 { query_id: u64, length: i32, flags: u32, data_ptr: u64 }
);
structure!(
    /// `drm_i915_query`
    Query, 16 { num_items: u32, flags: u32, items_ptr: u64 }
);
structure!(
    /// `drm_i915_query_topology_info`, the fixed part before the masks.
    QueryTopologyInfo, 16 {
        flags: u16,
        max_slices: u16,
        max_subslices: u16,
        max_eus_per_subslice: u16,
        subslice_offset: u16,
        subslice_stride: u16,
        eu_offset: u16,
        eu_stride: u16,
    }
);
structure!(
    /// `drm_i915_engine_info`
    EngineInfo, 56 {
        engine_class: u16,
        engine_instance: u16,
        rsvd0: u32,
        flags: u64,
        capabilities: u64,
        logical_instance: u16,
        rsvd1: [u16; 3],
        rsvd2: [u64; 3],
    }
);
structure!(
    /// `drm_i915_memory_region_info`
    MemoryRegionInfo, 88 {
        memory_class: u16,
        memory_instance: u16,
        rsvd0: u32,
        probed_size: u64,
        unallocated_size: u64,
        probed_cpu_visible_size: u64,
        unallocated_cpu_visible_size: u64,
        rsvd1: [u64; 6],
    }
);
structure!(
    /// `drm_syncobj_create`
    SyncobjCreate, 8 { handle: u32, flags: u32 }
);
structure!(
    /// `drm_syncobj_destroy`
    SyncobjDestroy, 8 { handle: u32, pad: u32 }
);
structure!(
    /// `drm_syncobj_handle`
    SyncobjHandle, 16 { handle: u32, flags: u32, fd: i32, pad: u32 }
);
structure!(
    /// `drm_syncobj_wait`; `timeout_nsec` is a time of the monotonic clock.
    SyncobjWait, 32 {
        handles: u64,
        timeout_nsec: i64,
        count_handles: u32,
        flags: u32,
        first_signaled: u32,
        pad: u32,
    }
);
structure!(
    /// `drm_syncobj_timeline_wait`
    SyncobjTimelineWait, 40 {
        handles: u64,
        points: u64,
        timeout_nsec: i64,
        count_handles: u32,
        flags: u32,
        first_signaled: u32,
        pad: u32,
    }
);
structure!(
    /// `drm_syncobj_array`
    SyncobjArray, 16 { handles: u64, count_handles: u32, pad: u32 }
);
structure!(
    /// `drm_syncobj_timeline_array`
    SyncobjTimelineArray, 24 { handles: u64, points: u64, count_handles: u32, flags: u32 }
);
structure!(
    /// `drm_syncobj_transfer`
    SyncobjTransfer, 32 {
        src_handle: u32,
        dst_handle: u32,
        src_point: u64,
        dst_point: u64,
        flags: u32,
        pad: u32,
    }
);
structure!(
    /// `drm_i915_gem_exec_fence`
    ExecFence, 8 { handle: u32, flags: u32 }
);
structure!(
    /// `drm_i915_gem_execbuffer_ext_timeline_fences`
    ExecTimelineFences, 56 { base: UserExtension, fence_count: u64, handles_ptr: u64, values_ptr: u64 }
);
structure!(
    /// `sync_merge_data` (`linux/sync_file.h`)
    SyncMergeData, 48 { name: [u8; 32], fd2: i32, fence: i32, flags: u32, pad: u32 }
);
structure!(
    /// `sync_file_info`
    SyncFileInfo, 56 {
        name: [u8; 32],
        status: i32,
        flags: u32,
        num_fences: u32,
        pad: u32,
        sync_fence_info: u64,
    }
);
structure!(
    /// `sync_fence_info`
    SyncFenceInfo, 80 {
        obj_name: [u8; 32],
        driver_name: [u8; 32],
        status: i32,
        flags: u32,
        timestamp_ns: u64,
    }
);
structure!(
    /// `dma_buf_export_sync_file` and `dma_buf_import_sync_file` (`linux/dma-buf.h`)
    DmaBufSyncFile, 8 { flags: u32, fd: i32 }
);
structure!(
    /// `drm_i915_perf_open_param`
    PerfOpenParam, 16 { flags: u32, num_properties: u32, properties_ptr: u64 }
);
structure!(
    /// `i915_context_engines_load_balance`, without the engines at its end
    EnginesLoadBalance, 48 { base: UserExtension, engine_index: u16, num_siblings: u16, flags: u32, mbz64: u64 }
);
structure!(
    /// `i915_context_engines_bond`, without the engines at its end
    EnginesBond, 80 {
        base: UserExtension,
        master: EngineClassInstance,
        virtual_index: u16,
        num_bonds: u16,
        flags: u64,
        mbz64: [u64; 4],
    }
);
structure!(
    /// `i915_context_engines_parallel_submit`, without the engines at its end
    EnginesParallelSubmit, 72 {
        base: UserExtension,
        engine_index: u16,
        width: u16,
        num_siblings: u16,
        mbz16: u16,
        flags: u64,
        mbz64: [u64; 3],
    }
);
structure!(
    /// `drm_i915_gem_create_ext_protected_content`
    GemCreateExtProtectedContent, 40 { base: UserExtension, pad: u32, flags: u32 }
);
structure!(
    /// The head of `drm_i915_query_engine_info` and `drm_i915_query_memory_regions`.
    QueryCount, 16 { count: u32, rsvd: [u32; 3] }
);

structure!(
    /// `drm_version`; the pointers are to buffers of the lengths given.
    Version, 64 {
        version_major: i32,
        version_minor: i32,
        version_patchlevel: i32,
        pad: u32,
        name_len: u64,
        name: u64,
        date_len: u64,
        date: u64,
        desc_len: u64,
        desc: u64,
    }
);
structure!(
    /// `drm_get_cap`
    GetCap, 16 { capability: u64, value: u64 }
);
structure!(
    /// `drm_prime_handle`
    PrimeHandle, 12 { handle: u32, flags: u32, fd: i32 }
);
structure!(
    /// `drm_i915_gem_create_ext`
    GemCreateExt, 24 { size: u64, handle: u32, flags: u32, extensions: u64 }
);
structure!(
    /// `drm_i915_gem_create_ext_memory_regions`; `regions` is the address of [`MemoryClassInstance`]s.
    GemCreateExtMemoryRegions, 48 { base: UserExtension, pad: u32, num_regions: u32, regions: u64 }
);
structure!(
    /// `drm_i915_gem_memory_class_instance`
    MemoryClassInstance, 4 { memory_class: u16, memory_instance: u16 }
);
structure!(
    /// `drm_i915_gem_pread` and `drm_i915_gem_pwrite`
    GemCopy, 32 { handle: u32, pad: u32, offset: u64, size: u64, data_ptr: u64 }
);
structure!(
    /// `drm_i915_gem_mmap`
    GemMmap, 40 { handle: u32, pad: u32, offset: u64, size: u64, addr_ptr: u64, flags: u64 }
);
structure!(
    /// `drm_i915_gem_set_domain`
    GemSetDomain, 12 { handle: u32, read_domains: u32, write_domain: u32 }
);
structure!(
    /// `drm_i915_gem_set_tiling`
    GemSetTiling, 16 { handle: u32, tiling_mode: u32, stride: u32, swizzle_mode: u32 }
);
structure!(
    /// `drm_i915_gem_get_tiling`
    GemGetTiling, 16 { handle: u32, tiling_mode: u32, swizzle_mode: u32, phys_swizzle_mode: u32 }
);
structure!(
    /// `drm_i915_gem_get_aperture`
    GemGetAperture, 16 { aper_size: u64, aper_available_size: u64 }
);
structure!(
    /// `drm_i915_gem_madvise`
    GemMadvise, 12 { handle: u32, madv: u32, retained: u32 }
);
structure!(
    /// `drm_i915_gem_caching`
    GemCaching, 8 { handle: u32, caching: u32 }
);
structure!(
    /// `drm_i915_gem_context_create_ext`
    ContextCreateExt, 16 { ctx_id: u32, flags: u32, extensions: u64 }
);
structure!(
    /// `i915_user_extension`, the head of every extension; `next_extension` is an address or 0.
    UserExtension, 32 { next_extension: u64, name: u32, flags: u32, rsvd: [u32; 4] }
);
structure!(
    /// `drm_i915_gem_context_create_ext_setparam`
    ContextCreateExtSetparam, 56 { base: UserExtension, param: ContextParam }
);
structure!(
    /// `drm_i915_gem_vm_control`
    GemVmControl, 16 { extensions: u64, flags: u32, vm_id: u32 }
);
structure!(
    /// `i915_engine_class_instance`
    EngineClassInstance, 4 { engine_class: u16, engine_instance: u16 }
);
structure!(
    /// `drm_i915_gem_context_param_sseu`
    ContextParamSseu, 32 {
        engine: EngineClassInstance,
        flags: u32,
        slice_mask: u64,
        subslice_mask: u64,
        min_eus_per_subslice: u16,
        max_eus_per_subslice: u16,
        rsvd: u32,
    }
);

/// Request numbers (`DRM_IOCTL_*`).
#[rustfmt::skip]
pub mod ioctl {
    use super::{
        COMMAND_BASE, ContextCreate, ContextCreateExt, ContextDestroy, ContextParam, ExecBuffer2, GemBusy, GemCaching,
        GemClose, GemCopy, GemCreate, GemCreateExt, GemGetAperture, GemGetTiling, GemMadvise, GemMmap, GemMmapOffset,
        GemSetDomain, GemSetTiling, GemUserptr, GemVmControl, GemWait, GetCap, GetParam, PrimeHandle, Query, READ,
        PerfOpenParam, RegRead, ResetStats, SyncFileInfo, SyncMergeData, SyncobjArray, SyncobjCreate, SyncobjDestroy,
        SyncobjHandle, SyncobjTimelineArray, SyncobjTimelineWait, SyncobjTransfer, SyncobjWait, Version, WRITE, request,
        request_of,
    };

    const fn both<T>(number: u32) -> u32 { request(READ | WRITE, COMMAND_BASE + number, size_of::<T>()) }
    const fn write<T>(number: u32) -> u32 { request(WRITE, COMMAND_BASE + number, size_of::<T>()) }

    pub const GEM_CLOSE: u32 = request(WRITE, 0x09, size_of::<GemClose>());
    pub const GETPARAM: u32 = both::<GetParam>(0x06);
    pub const GEM_BUSY: u32 = both::<GemBusy>(0x17);
    pub const GEM_CREATE: u32 = both::<GemCreate>(0x1b);
    pub const GEM_MMAP_OFFSET: u32 = both::<GemMmapOffset>(0x24);
    pub const GEM_EXECBUFFER2: u32 = write::<ExecBuffer2>(0x29);
    pub const GEM_WAIT: u32 = both::<GemWait>(0x2c);
    pub const GEM_CONTEXT_CREATE: u32 = both::<ContextCreate>(0x2d);
    pub const GEM_CONTEXT_DESTROY: u32 = write::<ContextDestroy>(0x2e);
    pub const REG_READ: u32 = both::<RegRead>(0x31);
    pub const GET_RESET_STATS: u32 = both::<ResetStats>(0x32);
    pub const GEM_USERPTR: u32 = both::<GemUserptr>(0x33);
    pub const GEM_CONTEXT_GETPARAM: u32 = both::<ContextParam>(0x34);
    pub const GEM_CONTEXT_SETPARAM: u32 = both::<ContextParam>(0x35);
    pub const QUERY: u32 = both::<Query>(0x39);

    pub const VERSION: u32 = request(READ | WRITE, 0x00, size_of::<Version>());
    pub const GET_CAP: u32 = request(READ | WRITE, 0x0c, size_of::<GetCap>());
    pub const PRIME_HANDLE_TO_FD: u32 = request(READ | WRITE, 0x2d, size_of::<PrimeHandle>());
    pub const GEM_THROTTLE: u32 = request(0, COMMAND_BASE + 0x18, 0);
    pub const GEM_PREAD: u32 = write::<GemCopy>(0x1c);
    pub const GEM_PWRITE: u32 = write::<GemCopy>(0x1d);
    pub const GEM_MMAP: u32 = both::<GemMmap>(0x1e);
    pub const GEM_SET_DOMAIN: u32 = write::<GemSetDomain>(0x1f);
    pub const GEM_SW_FINISH: u32 = write::<u32>(0x20);
    pub const GEM_SET_TILING: u32 = both::<GemSetTiling>(0x21);
    pub const GEM_GET_TILING: u32 = both::<GemGetTiling>(0x22);
    pub const GEM_GET_APERTURE: u32 = request(READ, COMMAND_BASE + 0x23, size_of::<GemGetAperture>());
    pub const GEM_MADVISE: u32 = both::<GemMadvise>(0x26);
    pub const GEM_EXECBUFFER2_WR: u32 = both::<ExecBuffer2>(0x29);
    pub const GEM_CONTEXT_CREATE_EXT: u32 = both::<ContextCreateExt>(0x2d);
    pub const GEM_SET_CACHING: u32 = write::<GemCaching>(0x2f);
    pub const GEM_GET_CACHING: u32 = both::<GemCaching>(0x30);
    pub const GEM_VM_CREATE: u32 = both::<GemVmControl>(0x3a);
    pub const GEM_VM_DESTROY: u32 = write::<GemVmControl>(0x3b);
    pub const GEM_CREATE_EXT: u32 = both::<GemCreateExt>(0x3c);
    pub const PERF_OPEN: u32 = write::<PerfOpenParam>(0x36);
    pub const PERF_ADD_CONFIG: u32 = write::<[u64; 9]>(0x37);
    pub const PERF_REMOVE_CONFIG: u32 = write::<u64>(0x38);

    pub const PRIME_FD_TO_HANDLE: u32 = request(READ | WRITE, 0x2e, size_of::<PrimeHandle>());
    pub const SYNCOBJ_CREATE: u32 = request(READ | WRITE, 0xbf, size_of::<SyncobjCreate>());
    pub const SYNCOBJ_DESTROY: u32 = request(READ | WRITE, 0xc0, size_of::<SyncobjDestroy>());
    pub const SYNCOBJ_HANDLE_TO_FD: u32 = request(READ | WRITE, 0xc1, size_of::<SyncobjHandle>());
    pub const SYNCOBJ_FD_TO_HANDLE: u32 = request(READ | WRITE, 0xc2, size_of::<SyncobjHandle>());
    pub const SYNCOBJ_WAIT: u32 = request(READ | WRITE, 0xc3, size_of::<SyncobjWait>());
    pub const SYNCOBJ_RESET: u32 = request(READ | WRITE, 0xc4, size_of::<SyncobjArray>());
    pub const SYNCOBJ_SIGNAL: u32 = request(READ | WRITE, 0xc5, size_of::<SyncobjArray>());
    pub const SYNCOBJ_TIMELINE_WAIT: u32 = request(READ | WRITE, 0xca, size_of::<SyncobjTimelineWait>());
    pub const SYNCOBJ_QUERY: u32 = request(READ | WRITE, 0xcb, size_of::<SyncobjTimelineArray>());
    pub const SYNCOBJ_TRANSFER: u32 = request(READ | WRITE, 0xcc, size_of::<SyncobjTransfer>());
    pub const SYNCOBJ_TIMELINE_SIGNAL: u32 = request(READ | WRITE, 0xcd, size_of::<SyncobjTimelineArray>());

    /// `SYNC_IOC_MERGE`, of descriptors of sync files.
    pub const SYNC_MERGE: u32 = request_of(b'>', READ | WRITE, 3, size_of::<SyncMergeData>());
    /// `SYNC_IOC_FILE_INFO`
    pub const SYNC_FILE_INFO: u32 = request_of(b'>', READ | WRITE, 4, size_of::<SyncFileInfo>());
    /// `DMA_BUF_IOCTL_SYNC`, of descriptors of exported buffers.
    pub const DMA_BUF_SYNC: u32 = request_of(b'b', WRITE, 0, 8);
    /// `DMA_BUF_IOCTL_EXPORT_SYNC_FILE`
    pub const DMA_BUF_EXPORT_SYNC_FILE: u32 = request_of(b'b', READ | WRITE, 2, 8);
    /// `DMA_BUF_IOCTL_IMPORT_SYNC_FILE`
    pub const DMA_BUF_IMPORT_SYNC_FILE: u32 = request_of(b'b', WRITE, 3, 8);
}

/// `I915_PARAM_*`
#[rustfmt::skip]
pub mod param {
    pub const CHIPSET_ID: i32 = 4;
    pub const HAS_GEM: i32 = 5;
    pub const NUM_FENCES_AVAIL: i32 = 6;
    pub const HAS_OVERLAY: i32 = 7;
    pub const HAS_PAGEFLIPPING: i32 = 8;
    pub const HAS_EXECBUF2: i32 = 9;
    pub const HAS_BSD: i32 = 10;
    pub const HAS_BLT: i32 = 11;
    pub const HAS_RELAXED_FENCING: i32 = 12;
    pub const HAS_COHERENT_RINGS: i32 = 13;
    pub const HAS_EXEC_CONSTANTS: i32 = 14;
    pub const HAS_RELAXED_DELTA: i32 = 15;
    pub const HAS_GEN7_SOL_RESET: i32 = 16;
    pub const HAS_LLC: i32 = 17;
    pub const HAS_ALIASING_PPGTT: i32 = 18;
    pub const HAS_WAIT_TIMEOUT: i32 = 19;
    pub const HAS_SEMAPHORES: i32 = 20;
    pub const HAS_PRIME_VMAP_FLUSH: i32 = 21;
    pub const HAS_VEBOX: i32 = 22;
    pub const HAS_SECURE_BATCHES: i32 = 23;
    pub const HAS_PINNED_BATCHES: i32 = 24;
    pub const HAS_EXEC_NO_RELOC: i32 = 25;
    pub const HAS_EXEC_HANDLE_LUT: i32 = 26;
    pub const HAS_WT: i32 = 27;
    pub const CMD_PARSER_VERSION: i32 = 28;
    pub const HAS_COHERENT_PHYS_GTT: i32 = 29;
    pub const MMAP_VERSION: i32 = 30;
    pub const HAS_BSD2: i32 = 31;
    pub const REVISION: i32 = 32;
    pub const SUBSLICE_TOTAL: i32 = 33;
    pub const EU_TOTAL: i32 = 34;
    pub const HAS_GPU_RESET: i32 = 35;
    pub const HAS_RESOURCE_STREAMER: i32 = 36;
    pub const HAS_EXEC_SOFTPIN: i32 = 37;
    pub const HAS_POOLED_EU: i32 = 38;
    pub const MIN_EU_IN_POOL: i32 = 39;
    pub const MMAP_GTT_VERSION: i32 = 40;
    pub const HAS_SCHEDULER: i32 = 41;
    pub const HUC_STATUS: i32 = 42;
    pub const HAS_EXEC_ASYNC: i32 = 43;
    pub const HAS_EXEC_FENCE: i32 = 44;
    pub const HAS_EXEC_CAPTURE: i32 = 45;
    pub const SLICE_MASK: i32 = 46;
    pub const SUBSLICE_MASK: i32 = 47;
    pub const HAS_EXEC_BATCH_FIRST: i32 = 48;
    pub const HAS_EXEC_FENCE_ARRAY: i32 = 49;
    pub const HAS_CONTEXT_ISOLATION: i32 = 50;
    pub const CS_TIMESTAMP_FREQUENCY: i32 = 51;
    pub const MMAP_GTT_COHERENT: i32 = 52;
    pub const HAS_EXEC_SUBMIT_FENCE: i32 = 53;
    pub const PERF_REVISION: i32 = 54;
    pub const HAS_EXEC_TIMELINE_FENCES: i32 = 55;
    pub const HAS_USERPTR_PROBE: i32 = 56;
}

/// `I915_CONTEXT_PARAM_*`
#[rustfmt::skip]
pub mod context_param {
    pub const BAN_PERIOD: u64 = 1;
    pub const NO_ZEROMAP: u64 = 2;
    pub const GTT_SIZE: u64 = 3;
    pub const NO_ERROR_CAPTURE: u64 = 4;
    pub const BANNABLE: u64 = 5;
    pub const PRIORITY: u64 = 6;
    pub const SSEU: u64 = 7;
    pub const RECOVERABLE: u64 = 8;
    pub const VM: u64 = 9;
    pub const ENGINES: u64 = 10;
    pub const PERSISTENCE: u64 = 11;
    pub const RINGSIZE: u64 = 12;
    pub const PROTECTED_CONTENT: u64 = 13;
}

/// `DRM_I915_QUERY_*`
#[rustfmt::skip]
pub mod query {
    pub const TOPOLOGY_INFO: u64 = 1;
    pub const ENGINE_INFO: u64 = 2;
    pub const PERF_CONFIG: u64 = 3;
    pub const MEMORY_REGIONS: u64 = 4;
    pub const HWCONFIG_BLOB: u64 = 5;
    pub const GEOMETRY_SUBSLICES: u64 = 6;
}

/// `I915_ENGINE_CLASS_*`
#[rustfmt::skip]
pub mod engine_class {
    pub const RENDER: u16 = 0;
    pub const COPY: u16 = 1;
}

/// `I915_EXEC_*` beside the engine and those of [`crate::ExecFlags`].
#[rustfmt::skip]
pub mod exec {
    pub const BSD: u64 = 2;
    pub const CONSTANTS_MASK: u64 = 3 << 6;
    pub const GEN7_SOL_RESET: u64 = 1 << 8;
    pub const SECURE: u64 = 1 << 9;
    pub const IS_PINNED: u64 = 1 << 10;
    pub const BSD_MASK: u64 = 3 << 13;
    pub const RESOURCE_STREAMER: u64 = 1 << 15;
    pub const FENCE_IN: u64 = 1 << 16;
    pub const FENCE_OUT: u64 = 1 << 17;
    pub const FENCE_ARRAY: u64 = 1 << 19;
    pub const FENCE_SUBMIT: u64 = 1 << 20;
    pub const USE_EXTENSIONS: u64 = 1 << 21;
    /// `__I915_EXEC_UNKNOWN_FLAGS`
    pub const UNKNOWN: u64 = !0 << 22;
    /// `DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES`, the only extension.
    pub const EXT_TIMELINE_FENCES: u32 = 0;
    /// `I915_EXEC_FENCE_WAIT` and `I915_EXEC_FENCE_SIGNAL`, flags of an [`super::ExecFence`].
    pub const FENCE_WAIT: u32 = 1;
    pub const FENCE_SIGNAL: u32 = 2;
}

/// `DRM_SYNCOBJ_*`
#[rustfmt::skip]
pub mod syncobj {
    pub const CREATE_SIGNALED: u32 = 1;
    /// `..._HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE` and `..._FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE`
    pub const SYNC_FILE: u32 = 1;
    pub const WAIT_ALL: u32 = 1;
    pub const WAIT_FOR_SUBMIT: u32 = 2;
    pub const WAIT_AVAILABLE: u32 = 4;
    pub const QUERY_LAST_SUBMITTED: u32 = 1;
}

/// `I915_CONTEXT_ENGINES_EXT_*`
#[rustfmt::skip]
pub mod engines_ext {
    pub const LOAD_BALANCE: u32 = 0;
    pub const BOND: u32 = 1;
    pub const PARALLEL_SUBMIT: u32 = 2;
}

/// `I915_MMAP_OFFSET_WB`: a cached mapping.
pub const MMAP_OFFSET_WB: u64 = 2;
/// The largest `I915_MMAP_OFFSET_*` for system memory: `UC`.
pub const MMAP_OFFSET_UC: u64 = 3;
/// `I915_MMAP_OFFSET_FIXED`: for devices with memory of their own.
pub const MMAP_OFFSET_FIXED: u64 = 4;
/// `I915_MMAP_WC`, the flag of `DRM_IOCTL_I915_GEM_MMAP`.
pub const MMAP_WC: u64 = 1;
/// `I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS`
pub const CONTEXT_CREATE_USE_EXTENSIONS: u32 = 1;
/// `I915_CONTEXT_CREATE_FLAGS_SINGLE_TIMELINE`
pub const CONTEXT_CREATE_SINGLE_TIMELINE: u32 = 2;
/// `I915_CONTEXT_CREATE_EXT_SETPARAM`
pub const CONTEXT_CREATE_EXT_SETPARAM: u32 = 0;
/// `I915_GEM_CREATE_EXT_MEMORY_REGIONS`
pub const GEM_CREATE_EXT_MEMORY_REGIONS: u32 = 0;
/// `I915_GEM_CREATE_EXT_PROTECTED_CONTENT`
pub const GEM_CREATE_EXT_PROTECTED_CONTENT: u32 = 1;
/// `I915_GEM_CREATE_EXT_FLAG_NEEDS_CPU_ACCESS`
pub const GEM_CREATE_EXT_NEEDS_CPU_ACCESS: u32 = 1;
/// `I915_CONTEXT_SSEU_FLAG_ENGINE_INDEX`
pub const SSEU_ENGINE_INDEX: u32 = 1;
/// `I915_USERPTR_UNSYNCHRONIZED`
pub const USERPTR_UNSYNCHRONIZED: u32 = 1 << 31;
/// `I915_USERPTR_READ_ONLY`
pub const USERPTR_READ_ONLY: u32 = 1;
/// `I915_USERPTR_PROBE`
pub const USERPTR_PROBE: u32 = 2;
/// `I915_MADV_WILLNEED` and `I915_MADV_DONTNEED` are 0 and 1.
pub const MADV_MAX: u32 = 1;
/// `I915_CACHING_DISPLAY`, the largest caching mode; `I915_CACHING_CACHED` is 1.
pub const CACHING_MAX: u32 = 2;
/// `I915_CACHING_CACHED`
pub const CACHING_CACHED: u32 = 1;
/// `I915_TILING_Y`, the largest tiling mode; 0 is none.
pub const TILING_MAX: u32 = 2;
/// `DRM_CAP_PRIME`
pub const CAP_PRIME: u64 = 5;
/// `DRM_CAP_TIMESTAMP_MONOTONIC`
pub const CAP_TIMESTAMP_MONOTONIC: u64 = 6;
/// `DRM_PRIME_CAP_IMPORT`
pub const PRIME_CAP_IMPORT: u64 = 1;
/// `DRM_PRIME_CAP_EXPORT`
pub const PRIME_CAP_EXPORT: u64 = 2;
/// `DRM_CAP_SYNCOBJ`
pub const CAP_SYNCOBJ: u64 = 0x13;
/// `DRM_CAP_SYNCOBJ_TIMELINE`
pub const CAP_SYNCOBJ_TIMELINE: u64 = 0x14;
/// `I915_EXEC_HANDLE_LUT` and the others are in [`crate::ExecFlags`]; these are the engine's bits.
pub const EXEC_RING_MASK: u64 = 0x3f;
/// The render engine's timestamp, for `DRM_IOCTL_I915_REG_READ`.
pub const TIMESTAMP_REGISTER: u64 = 0x2358;
/// `I915_REG_READ_8B_WA`, a flag in the low bits of the register offset: read it as one qword.
pub const REG_READ_8B_WA: u64 = 1;

#[cfg(test)]
mod tests {
    use super::ioctl::{DMA_BUF_EXPORT_SYNC_FILE, DMA_BUF_IMPORT_SYNC_FILE, DMA_BUF_SYNC};
    use super::ioctl::{
        GEM_BUSY, GEM_CLOSE, GEM_CONTEXT_CREATE, GEM_CONTEXT_CREATE_EXT, GEM_CONTEXT_DESTROY,
        GEM_CONTEXT_GETPARAM, GEM_CONTEXT_SETPARAM, GEM_CREATE, GEM_CREATE_EXT, GEM_EXECBUFFER2,
        GEM_EXECBUFFER2_WR, GEM_GET_APERTURE, GEM_GET_CACHING, GEM_GET_TILING, GEM_MADVISE, GEM_MMAP,
        GEM_MMAP_OFFSET, GEM_PREAD, GEM_PWRITE, GEM_SET_CACHING, GEM_SET_DOMAIN, GEM_SET_TILING,
        GEM_SW_FINISH, GEM_THROTTLE, GEM_USERPTR, GEM_VM_CREATE, GEM_VM_DESTROY, GEM_WAIT, GET_CAP,
        GET_RESET_STATS, GETPARAM, PERF_ADD_CONFIG, PERF_OPEN, PERF_REMOVE_CONFIG, PRIME_FD_TO_HANDLE,
        PRIME_HANDLE_TO_FD, QUERY, REG_READ, SYNC_FILE_INFO, SYNC_MERGE, SYNCOBJ_CREATE, SYNCOBJ_DESTROY,
        SYNCOBJ_FD_TO_HANDLE, SYNCOBJ_HANDLE_TO_FD, SYNCOBJ_QUERY, SYNCOBJ_RESET, SYNCOBJ_SIGNAL,
        SYNCOBJ_TIMELINE_SIGNAL, SYNCOBJ_TIMELINE_WAIT, SYNCOBJ_TRANSFER, SYNCOBJ_WAIT, VERSION,
    };

    #[test]
    fn request_numbers_are_those_of_the_header() {
        // As a C compiler gives them for libdrm's i915_drm.h on x86-64.
        let expected = [
            (GEM_CLOSE, 0x4008_6409),
            (GETPARAM, 0xc010_6446),
            (GEM_BUSY, 0xc008_6457),
            (GEM_CREATE, 0xc010_645b),
            (GEM_MMAP_OFFSET, 0xc020_6464),
            (GEM_EXECBUFFER2, 0x4040_6469),
            (GEM_WAIT, 0xc010_646c),
            (GEM_CONTEXT_CREATE, 0xc008_646d),
            (GEM_CONTEXT_DESTROY, 0x4008_646e),
            (REG_READ, 0xc010_6471),
            (GET_RESET_STATS, 0xc018_6472),
            (GEM_USERPTR, 0xc018_6473),
            (GEM_CONTEXT_GETPARAM, 0xc018_6474),
            (GEM_CONTEXT_SETPARAM, 0xc018_6475),
            (QUERY, 0xc010_6479),
            (VERSION, 0xc040_6400),
            (GET_CAP, 0xc010_640c),
            (PRIME_HANDLE_TO_FD, 0xc00c_642d),
            (GEM_THROTTLE, 0x6458),
            (GEM_PREAD, 0x4020_645c),
            (GEM_PWRITE, 0x4020_645d),
            (GEM_MMAP, 0xc028_645e),
            (GEM_SET_DOMAIN, 0x400c_645f),
            (GEM_SW_FINISH, 0x4004_6460),
            (GEM_SET_TILING, 0xc010_6461),
            (GEM_GET_TILING, 0xc010_6462),
            (GEM_GET_APERTURE, 0x8010_6463),
            (GEM_MADVISE, 0xc00c_6466),
            (GEM_EXECBUFFER2_WR, 0xc040_6469),
            (GEM_CONTEXT_CREATE_EXT, 0xc010_646d),
            (GEM_SET_CACHING, 0x4008_646f),
            (GEM_GET_CACHING, 0xc008_6470),
            (GEM_VM_CREATE, 0xc010_647a),
            (GEM_VM_DESTROY, 0x4010_647b),
            (GEM_CREATE_EXT, 0xc018_647c),
            (PERF_OPEN, 0x4010_6476),
            (PERF_ADD_CONFIG, 0x4048_6477),
            (PERF_REMOVE_CONFIG, 0x4008_6478),
            (PRIME_FD_TO_HANDLE, 0xc00c_642e),
            (SYNCOBJ_CREATE, 0xc008_64bf),
            (SYNCOBJ_DESTROY, 0xc008_64c0),
            (SYNCOBJ_HANDLE_TO_FD, 0xc010_64c1),
            (SYNCOBJ_FD_TO_HANDLE, 0xc010_64c2),
            (SYNCOBJ_WAIT, 0xc020_64c3),
            (SYNCOBJ_RESET, 0xc010_64c4),
            (SYNCOBJ_SIGNAL, 0xc010_64c5),
            (SYNCOBJ_TIMELINE_WAIT, 0xc028_64ca),
            (SYNCOBJ_QUERY, 0xc018_64cb),
            (SYNCOBJ_TRANSFER, 0xc020_64cc),
            (SYNCOBJ_TIMELINE_SIGNAL, 0xc018_64cd),
            (SYNC_MERGE, 0xc030_3e03),
            (SYNC_FILE_INFO, 0xc038_3e04),
            (DMA_BUF_SYNC, 0x4008_6200),
            (DMA_BUF_EXPORT_SYNC_FILE, 0xc008_6202),
            (DMA_BUF_IMPORT_SYNC_FILE, 0x4008_6203),
        ];
        for (number, of_the_header) in expected {
            assert_eq!(number, of_the_header, "{number:x}");
        }
    }
}

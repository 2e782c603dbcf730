//! The structures, request numbers and constants of the kernel's `include/uapi/drm/i915_drm.h`, as far as
//! gencl and its simulated render node use them. Names are the header's, without prefixes.

#![allow(missing_docs, reason = "the kernel's header documents every field under the same name")]

use bytemuck::{Pod, Zeroable};

/// `DRM_IOCTL_BASE`: the ioctl type of all DRM requests.
const DRM: u32 = b'd' as u32;
/// `DRM_COMMAND_BASE`: request numbers of drivers begin here.
const COMMAND_BASE: u32 = 0x40;

/// Directions of `_IOC` (`asm-generic/ioctl.h`).
const WRITE: u32 = 1;
const READ: u32 = 2;

/// `_IOC(direction, 'd', number, size)`
const fn request(direction: u32, number: u32, size: usize) -> u32 {
    direction << 30 | (size as u32) << 16 | DRM << 8 | number
}

/// Declares a structure with its size as the header's layout gives it on 64-bit machines.
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
        rsvd1: [u64; 8],
    }
);
structure!(
    /// The head of `drm_i915_query_engine_info` and `drm_i915_query_memory_regions`.
    QueryCount, 16 { count: u32, rsvd: [u32; 3] }
);

/// Request numbers (`DRM_IOCTL_*`).
#[rustfmt::skip]
pub mod ioctl {
    use super::{
        COMMAND_BASE, ContextCreate, ContextDestroy, ContextParam, ExecBuffer2, GemBusy, GemClose, GemCreate,
        GemMmapOffset, GemUserptr, GemWait, GetParam, Query, READ, RegRead, ResetStats, WRITE, request,
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
    pub const RECOVERABLE: u64 = 8;
    pub const PERSISTENCE: u64 = 11;
}

/// `DRM_I915_QUERY_*`
#[rustfmt::skip]
pub mod query {
    pub const TOPOLOGY_INFO: u64 = 1;
    pub const ENGINE_INFO: u64 = 2;
    pub const MEMORY_REGIONS: u64 = 4;
}

/// `I915_ENGINE_CLASS_*`
#[rustfmt::skip]
pub mod engine_class {
    pub const RENDER: u16 = 0;
    pub const COPY: u16 = 1;
}

/// `I915_MMAP_OFFSET_WB`: a cached mapping.
pub const MMAP_OFFSET_WB: u64 = 2;
/// `I915_EXEC_HANDLE_LUT` and the others are in [`crate::ExecFlags`]; these are the engine's bits.
pub const EXEC_RING_MASK: u64 = 0x3f;
/// The render engine's timestamp in `DRM_IOCTL_I915_REG_READ`'s white list.
pub const TIMESTAMP_REGISTER: u64 = 0x2358;
/// `I915_REG_READ_8B_WA`, a flag in the low bits of the register offset: read it as one qword.
pub const REG_READ_8B_WA: u64 = 1;

#[cfg(test)]
mod tests {
    use super::ioctl::{
        GEM_BUSY, GEM_CLOSE, GEM_CONTEXT_CREATE, GEM_CONTEXT_DESTROY, GEM_CONTEXT_GETPARAM,
        GEM_CONTEXT_SETPARAM, GEM_CREATE, GEM_EXECBUFFER2, GEM_MMAP_OFFSET, GEM_USERPTR, GEM_WAIT,
        GET_RESET_STATS, GETPARAM, QUERY, REG_READ,
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
        ];
        for (number, of_the_header) in expected {
            assert_eq!(number, of_the_header, "{number:x}");
        }
    }
}

//! Parameters and queries: what the driver reports about itself and the device.

use bytemuck::bytes_of;
use gencl_i915::uapi::{
    EngineInfo, MemoryRegionInfo, QueryCount, QueryTopologyInfo, engine_class, param, query,
};
use gencl_i915::{Errno, Result};

use gencl_eu::device::Device;

/// A parameter: number and value.
type Param = (i32, fn(&Device) -> i32);

/// `I915_PARAM_*` as Linux 6.1 reports them for these devices to an unprivileged program (`i915_getparam.c`),
/// except where this driver has less: no video engines, no preemption and no semaphores.
#[rustfmt::skip]
const PARAMS: &[Param] = &[
    (param::CHIPSET_ID,               |d| i32::from(d.pci_id)),
    (param::REVISION,                 |d| i32::from(d.revision)),
    (param::HAS_GEM,                  |_| 1),
    (param::NUM_FENCES_AVAIL,         |_| 32),
    (param::HAS_OVERLAY,              |_| 0),
    (param::HAS_PAGEFLIPPING,         |_| 1),
    (param::HAS_EXECBUF2,             |_| 1),
    (param::HAS_BSD,                  |_| 0),
    (param::HAS_BLT,                  |_| 1),
    (param::HAS_RELAXED_FENCING,      |_| 1),
    (param::HAS_COHERENT_RINGS,       |_| 1),
    (param::HAS_RELAXED_DELTA,        |_| 1),
    (param::HAS_GEN7_SOL_RESET,       |_| 1),
    (param::HAS_LLC,                  |d| i32::from(d.llc)),
    // I915_GEM_PPGTT_ALIASING and _FULL.
    (param::HAS_ALIASING_PPGTT,       |d| if d.driver.full_ppgtt { 2 } else { 1 }),
    (param::HAS_WAIT_TIMEOUT,         |_| 1),
    (param::HAS_SEMAPHORES,           |_| 0),
    (param::HAS_PRIME_VMAP_FLUSH,     |_| 1),
    (param::HAS_VEBOX,                |_| 0),
    (param::HAS_SECURE_BATCHES,       |_| 0),
    (param::HAS_PINNED_BATCHES,       |_| 1),
    (param::HAS_EXEC_NO_RELOC,        |_| 1),
    (param::HAS_EXEC_HANDLE_LUT,      |_| 1),
    (param::HAS_WT,                   |_| 0),
    // Gen7's batches are parsed, and those of Gen9's blitter; what is refused is a fault of the batch here,
    // or dropped.
    (param::CMD_PARSER_VERSION,       |_| 10),
    (param::HAS_COHERENT_PHYS_GTT,    |_| 1),
    (param::MMAP_VERSION,             |_| 1),
    (param::HAS_BSD2,                 |_| 0),
    (param::HAS_GPU_RESET,            |_| 2),
    (param::HAS_RESOURCE_STREAMER,    |_| 0),
    (param::HAS_EXEC_SOFTPIN,         |_| 1),
    (param::HAS_POOLED_EU,            |d| i32::from(d.eu_pool > 0)),
    (param::MIN_EU_IN_POOL,           |d| d.eu_pool as i32),
    (param::MMAP_GTT_VERSION,         |_| 4),
    (param::HAS_SCHEDULER,            |d| d.driver.scheduler),
    (param::HAS_EXEC_ASYNC,           |_| 1),
    (param::HAS_EXEC_FENCE,           |_| 1),
    (param::HAS_EXEC_CAPTURE,         |_| 1),
    (param::HAS_EXEC_BATCH_FIRST,     |_| 1),
    (param::HAS_EXEC_FENCE_ARRAY,     |_| 1),
    (param::HAS_CONTEXT_ISOLATION,    |d| d.driver.isolated_engines),
    (param::CS_TIMESTAMP_FREQUENCY,   |d| d.timestamp_frequency as i32),
    (param::MMAP_GTT_COHERENT,        |_| 1),
    (param::HAS_EXEC_SUBMIT_FENCE,    |_| 1),
    // The revision of the interface; opening a stream fails, as there are no counters.
    (param::PERF_REVISION,            |_| 5),
    (param::HAS_EXEC_TIMELINE_FENCES, |_| 1),
    (param::HAS_USERPTR_PROBE,        |_| 1),
];

/// Parameters of the topology; `ENODEV` on devices whose topology the kernel does not report.
#[rustfmt::skip]
const TOPOLOGY_PARAMS: &[Param] = &[
    (param::SUBSLICE_TOTAL,           |d| (d.slices * d.subslices) as i32),
    (param::EU_TOTAL,                 |d| d.total_eus() as i32),
    (param::SLICE_MASK,               |d| low_bits(d.slices) as i32),
    (param::SUBSLICE_MASK,            |d| low_bits(d.subslices) as i32),
];

/// `I915_ENGINE_INFO_HAS_LOGICAL_INSTANCE`
const HAS_LOGICAL_INSTANCE: u64 = 1;

/// Parameters of removed interfaces, for which the kernel returns `ENODEV`.
const REMOVED: &[i32] = &[1, 2, 3, param::HAS_EXEC_CONSTANTS, param::HUC_STATUS];

const fn low_bits(count: u32) -> u32 {
    u32::MAX >> (32 - count)
}

/// `DRM_IOCTL_I915_GETPARAM`
pub fn get_param(device: &Device, number: i32) -> Result<i32> {
    let find = |table: &[Param]| table.iter().find(|(n, _)| *n == number).map(|(_, value)| value(device));
    match find(TOPOLOGY_PARAMS) {
        Some(_) if !device.topology => return Err(Errno(libc::ENODEV)),
        Some(value) => return Ok(value),
        None => {}
    }
    find(PARAMS).ok_or(Errno(if REMOVED.contains(&number) { libc::ENODEV } else { libc::EINVAL }))
}

/// `DRM_IOCTL_I915_QUERY` for one item.
pub fn query(device: &Device, id: u64) -> Result<Vec<u8>> {
    match id {
        query::TOPOLOGY_INFO if !device.topology => Err(Errno(libc::ENODEV)),
        query::TOPOLOGY_INFO => Ok(topology(device)),
        query::ENGINE_INFO => Ok(engines()),
        query::MEMORY_REGIONS => Ok(memory_regions()),
        // There are no performance counters, no configuration blob before Gen12, and one kind of subslices.
        query::PERF_CONFIG | query::HWCONFIG_BLOB | query::GEOMETRY_SUBSLICES => Err(Errno(libc::ENODEV)),
        _ => Err(Errno(libc::EINVAL)),
    }
}

/// `drm_i915_query_topology_info`: slices, subslices and EUs, none of them fused off. The masks, in whole
/// bytes, are those of the slices, of the subslices of each slice, and of the EUs of each subslice.
fn topology(device: &Device) -> Vec<u8> {
    let bytes_for = |count: u32| count.div_ceil(8) as u16;
    let subslice_offset = bytes_for(device.slices);
    let subslice_stride = bytes_for(device.subslices);
    let eu_offset = subslice_offset + device.slices as u16 * subslice_stride;
    let head = QueryTopologyInfo {
        flags: 0,
        max_slices: device.slices as u16,
        max_subslices: device.subslices as u16,
        max_eus_per_subslice: device.eus as u16,
        subslice_offset,
        subslice_stride,
        eu_offset,
        eu_stride: bytes_for(device.eus),
    };
    let mut out = bytes_of(&head).to_vec();
    let mut mask = |count: u32, times: u32| {
        for _ in 0..times {
            out.extend(&low_bits(count).to_le_bytes()[..usize::from(bytes_for(count))]);
        }
    };
    mask(device.slices, 1);
    mask(device.subslices, device.slices);
    mask(device.eus, device.slices * device.subslices);
    out
}

/// One render engine and one blitter.
fn engines() -> Vec<u8> {
    let classes = [engine_class::RENDER, engine_class::COPY];
    let mut out = bytes_of(&QueryCount { count: classes.len() as u32, rsvd: [0; 3] }).to_vec();
    for engine_class in classes {
        out.extend(bytes_of(&EngineInfo { engine_class, flags: HAS_LOGICAL_INSTANCE, ..Default::default() }));
    }
    out
}

/// System memory is the only region (`I915_MEMORY_CLASS_SYSTEM`, 0).
fn memory_regions() -> Vec<u8> {
    let size = host_memory();
    let mut out = bytes_of(&QueryCount { count: 1, rsvd: [0; 3] }).to_vec();
    out.extend(bytes_of(&MemoryRegionInfo {
        probed_size: size,
        unallocated_size: size,
        probed_cpu_visible_size: size,
        unallocated_cpu_visible_size: size,
        ..Default::default()
    }));
    out
}

/// Size of the host's memory in bytes, which limits the size of buffers. It is asked for with each buffer, and
/// `/proc/meminfo` took a quarter of the time of programs that create many.
pub fn host_memory() -> u64 {
    let [pages, bytes] = [libc::_SC_PHYS_PAGES, libc::_SC_PAGESIZE].map(|name| {
        // SAFETY: a query of the C library without pointers.
        unsafe { libc::sysconf(name) }
    });
    pages as u64 * bytes as u64
}

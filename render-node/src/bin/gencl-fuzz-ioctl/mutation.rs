//! One thing of a right request becomes another.

use std::mem::offset_of;

use gencl_i915::uapi::{
    ContextCreateExt, ContextParam, ExecBuffer2, GemCopy, GemCreateExt, GemMmapOffset, GemUserptr,
    GemVmControl, GetParam, Query, SyncFileInfo, SyncobjArray, SyncobjTimelineArray, SyncobjTimelineWait,
    SyncobjWait, Version, ioctl,
};
use gencl_testing::Random;

use crate::layout::Layout;
use crate::odd::odd;

/// Bits of a request that say how large its argument is.
pub const SIZE: u32 = 0x3fff << 16;

/// Where arguments have addresses.
static ADDRESSES: &[(u32, &[usize])] = &[
    (ioctl::VERSION, &[offset_of!(Version, name), offset_of!(Version, date), offset_of!(Version, desc)]),
    (ioctl::GETPARAM, &[offset_of!(GetParam, value)]),
    (ioctl::QUERY, &[offset_of!(Query, items_ptr)]),
    (ioctl::GEM_CREATE_EXT, &[offset_of!(GemCreateExt, extensions)]),
    (ioctl::GEM_MMAP_OFFSET, &[offset_of!(GemMmapOffset, extensions)]),
    (ioctl::GEM_PREAD, &[offset_of!(GemCopy, data_ptr)]),
    (ioctl::GEM_PWRITE, &[offset_of!(GemCopy, data_ptr)]),
    (ioctl::GEM_USERPTR, &[offset_of!(GemUserptr, user_ptr)]),
    (ioctl::GEM_CONTEXT_CREATE_EXT, &[offset_of!(ContextCreateExt, extensions)]),
    (ioctl::GEM_CONTEXT_SETPARAM, &[offset_of!(ContextParam, value)]),
    (ioctl::GEM_CONTEXT_GETPARAM, &[offset_of!(ContextParam, value)]),
    (ioctl::GEM_VM_CREATE, &[offset_of!(GemVmControl, extensions)]),
    (
        ioctl::GEM_EXECBUFFER2_WR,
        &[offset_of!(ExecBuffer2, buffers_ptr), offset_of!(ExecBuffer2, cliprects_ptr)],
    ),
    (ioctl::SYNCOBJ_WAIT, &[offset_of!(SyncobjWait, handles)]),
    (
        ioctl::SYNCOBJ_TIMELINE_WAIT,
        &[offset_of!(SyncobjTimelineWait, handles), offset_of!(SyncobjTimelineWait, points)],
    ),
    (ioctl::SYNCOBJ_RESET, &[offset_of!(SyncobjArray, handles)]),
    (ioctl::SYNCOBJ_SIGNAL, &[offset_of!(SyncobjArray, handles)]),
    (
        ioctl::SYNCOBJ_QUERY,
        &[offset_of!(SyncobjTimelineArray, handles), offset_of!(SyncobjTimelineArray, points)],
    ),
    (
        ioctl::SYNCOBJ_TIMELINE_SIGNAL,
        &[offset_of!(SyncobjTimelineArray, handles), offset_of!(SyncobjTimelineArray, points)],
    ),
    (ioctl::SYNC_FILE_INFO, &[offset_of!(SyncFileInfo, sync_fence_info)]),
];

/// Where arguments have times to wait until: later ones would take long.
static TIMES: &[(u32, usize)] = &[
    (ioctl::SYNCOBJ_WAIT, offset_of!(SyncobjWait, timeout_nsec)),
    (ioctl::SYNCOBJ_TIMELINE_WAIT, offset_of!(SyncobjTimelineWait, timeout_nsec)),
];

/// Changes an argument or its request, which is returned. `bad` are addresses at which the node may read and
/// write without harm, since there is nothing.
pub fn change(random: &mut Random, request: u32, argument: &mut [u8], bad: &[u64]) -> u32 {
    match random.below(12) {
        0 => return request & !SIZE | (random.below(140) as u32) << 16,
        1 => return request ^ 1 << (30 + random.below(2)),
        _ if argument.len() < 4 => return request,
        _ => {}
    }
    let offset = 4 * random.below(argument.len() as u64 / 4) as usize;
    let addresses = ADDRESSES.iter().find(|(of, _)| *of == request).map_or(&[][..], |(_, offsets)| offsets);
    let is_within = |field: usize| (field..field + 8).contains(&offset);
    if let Some(field) = addresses.iter().copied().find(|field| is_within(*field)) {
        argument[field..field + 8].copy_from_slice(&random.pick(bad).to_le_bytes());
    } else if TIMES.iter().any(|(of, field)| *of == request && is_within(*field)) {
        argument[offset..offset + 4].fill(random.pick(&[0, 0x80]));
    } else {
        dword(random, &mut argument[offset..offset + 4]);
    }
    request
}

/// Changes something of an array.
pub fn change_list(random: &mut Random, list: &mut [u8], layout: &Layout, bad: &[u64]) {
    if list.len() < 4 {
        return;
    }
    let offset = 4 * random.below(list.len() as u64 / 4) as usize;
    match layout.address_at(offset) {
        Some(address) => list[address..address + 8].copy_from_slice(&random.pick(bad).to_le_bytes()),
        None => dword(random, &mut list[offset..offset + 4]),
    }
}

/// Changes a dword.
pub fn dword(random: &mut Random, bytes: &mut [u8]) {
    let before = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let after = match random.below(4) {
        0 => odd(random) as u32,
        1 => before.wrapping_add(1),
        2 => before.wrapping_sub(1),
        _ => before ^ 1 << random.below(32),
    };
    bytes.copy_from_slice(&after.to_le_bytes());
}

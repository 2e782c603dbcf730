//! Requests on buffers: mapping, copying, domains, tiling and caching.

use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

use gencl_i915::uapi::{
    CACHING_CACHED, CACHING_MAX, GEM_CREATE_EXT_MEMORY_REGIONS, GEM_CREATE_EXT_NEEDS_CPU_ACCESS,
    GEM_CREATE_EXT_PROTECTED_CONTENT, GemBusy, GemCaching, GemClose, GemCopy, GemCreate, GemCreateExt,
    GemCreateExtMemoryRegions, GemCreateExtProtectedContent, GemGetAperture, GemGetTiling, GemMadvise,
    GemMmap, GemMmapOffset, GemSetDomain, GemSetTiling, GemUserptr, GemWait, MADV_MAX, MMAP_OFFSET_FIXED,
    MMAP_OFFSET_UC, MMAP_WC, MemoryClassInstance, USERPTR_PROBE, USERPTR_READ_ONLY, USERPTR_UNSYNCHRONIZED,
    engine_class,
};
use gencl_i915::{Engine, Errno, GemHandle, HostMemory, RenderNode, Result};
use gencl_simulator::{Buffer, Fence};

use crate::open_file::OpenFile;
use crate::submissions::{self, Unmapping};
use crate::{caller, descriptors, real};

const EINVAL: Errno = Errno(libc::EINVAL);
const ENXIO: Errno = Errno(libc::ENXIO);
const ENODEV: Errno = Errno(libc::ENODEV);

/// `I915_GEM_GPU_DOMAINS`: not for `DRM_IOCTL_I915_GEM_SET_DOMAIN`, which is for CPU domains.
const GPU_DOMAINS: u32 = 0x3e;

/// Bits of a mapping's offset below the handle: the size of the largest buffer.
const OFFSET_BITS: u32 = 36;

/// The buffer of a handle. `ENOENT`.
fn find(file: &OpenFile, handle: u32) -> Result<Arc<Buffer>> {
    file.simulator.buffer(GemHandle(handle))
}

/// `DRM_IOCTL_I915_GEM_CREATE`
pub fn create(file: &OpenFile, args: &mut GemCreate) -> Result<()> {
    args.handle = file.simulator.gem_create(args.size)?.0;
    args.size = args.size.next_multiple_of(4096);
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_CREATE_EXT`: buffers are in the only region, system memory.
pub fn create_ext(file: &OpenFile, args: &mut GemCreateExt) -> Result<()> {
    if args.flags & !GEM_CREATE_EXT_NEEDS_CPU_ACCESS != 0 {
        return Err(EINVAL);
    }
    let mut is_placed = false;
    caller::extensions(args.extensions, |name, address| match name {
        GEM_CREATE_EXT_MEMORY_REGIONS => {
            check_regions(&caller::read(address)?)?;
            if std::mem::replace(&mut is_placed, true) { Err(EINVAL) } else { Ok(()) }
        }
        GEM_CREATE_EXT_PROTECTED_CONTENT => {
            let extension: GemCreateExtProtectedContent = caller::read(address)?;
            // There are no protected sessions (PXP).
            Err(if extension.flags != 0 { EINVAL } else { ENODEV })
        }
        _ => Err(EINVAL),
    })?;
    if args.flags & GEM_CREATE_EXT_NEEDS_CPU_ACCESS != 0 {
        // For buffers with several placements.
        return Err(EINVAL);
    }
    args.handle = file.simulator.gem_create(args.size)?.0;
    args.size = args.size.next_multiple_of(4096);
    Ok(())
}

/// Largest number of regions of a list (`INTEL_REGION_UNKNOWN` of Linux 6.1).
const MAX_REGIONS: u32 = 4;

/// `set_placements`: there is one region, and duplicates are not allowed.
fn check_regions(extension: &GemCreateExtMemoryRegions) -> Result<()> {
    if extension.pad != 0 || extension.num_regions == 0 || extension.num_regions > MAX_REGIONS {
        return Err(EINVAL);
    }
    let system = MemoryClassInstance { memory_class: 0, memory_instance: 0 };
    for index in 0..extension.num_regions {
        let address = extension.regions.wrapping_add(u64::from(index) * 4);
        let region: MemoryClassInstance = caller::read(address)?;
        if region != system || index > 0 {
            return Err(EINVAL);
        }
    }
    Ok(())
}

/// `DRM_IOCTL_GEM_CLOSE`
pub fn close(file: &OpenFile, args: &mut GemClose) -> Result<()> {
    file.shared.lock().forget(args.handle);
    file.buffers.lock().forget(args.handle);
    file.simulator.gem_close(GemHandle(args.handle))
}

/// End of the addresses that a program may have (`access_ok`, `TASK_SIZE_MAX`).
const USER_END: u64 = 0x7fff_ffff_f000;

/// Whether a range is within the addresses that a program may have.
pub fn is_users(address: u64, length: u64) -> bool {
    address.checked_add(length).is_some_and(|end| end <= USER_END)
}

/// `DRM_IOCTL_I915_GEM_USERPTR`. The memory is checked when a batch uses it, or at once with `PROBE`.
pub fn userptr(file: &OpenFile, args: &mut GemUserptr) -> Result<()> {
    if args.flags & !(USERPTR_READ_ONLY | USERPTR_PROBE | USERPTR_UNSYNCHRONIZED) != 0 {
        return Err(EINVAL);
    }
    if args.user_size >> 12 > i32::MAX as u64 {
        return Err(Errno(libc::E2BIG));
    }
    if args.user_size == 0 || (args.user_ptr | args.user_size) & 4095 != 0 {
        return Err(EINVAL);
    }
    if !is_users(args.user_ptr, args.user_size) {
        return Err(Errno(libc::EFAULT));
    }
    if args.flags & (USERPTR_UNSYNCHRONIZED | USERPTR_READ_ONLY) != 0 {
        // As on real devices whose page tables have no read-only pages.
        return Err(ENODEV);
    }
    let length = usize::try_from(args.user_size).map_err(|_| EINVAL)?;
    // SAFETY: the memory is checked before a batch uses it. The program's contract, by this request, is that
    // it remains.
    let handle = unsafe { file.simulator.gem_userptr(args.user_ptr as *mut u8, length) }?;
    let buffer = file.simulator.buffer(handle)?;
    descriptors::remember_userptr(&buffer);
    if args.flags & USERPTR_PROBE != 0
        && let Err(error) = buffer.check_memory()
    {
        // The handle has not been returned, so it is not in use, unless guessed.
        let _ = file.simulator.gem_close(handle);
        return Err(error);
    }
    args.handle = handle.0;
    Ok(())
}

/// Invalidates userptr buffers before memory of the program is unmapped, moved or protected: waits for
/// batches that use them; later ones check the memory again (`i915_gem_userptr_invalidate`). The result is to
/// be held until the change is made.
pub fn before_unmapping(address: *const c_void, length: usize) -> Option<Unmapping> {
    let (address, length) = (address as u64, length as u64);
    let concerned = descriptors::userptrs_within(address, length);
    if concerned.is_empty() || submissions::is_queueing() {
        return None;
    }
    let unmapping = Unmapping::begin();
    for buffer in concerned {
        wait_for(&buffer.fences(false));
        buffer.memory_changed(address, length);
    }
    unmapping
}

fn wait_for(fences: &[Fence]) {
    fences.iter().for_each(|fence| {
        fence.wait(None);
    });
}

/// `DRM_IOCTL_I915_GEM_MMAP_OFFSET`
pub fn mmap_offset(file: &OpenFile, args: &mut GemMmapOffset) -> Result<()> {
    caller::extensions(args.extensions, |_, _| Err(EINVAL))?;
    if args.flags > MMAP_OFFSET_FIXED {
        return Err(EINVAL);
    }
    if find(file, args.handle)?.is_userptr() || args.flags > MMAP_OFFSET_UC {
        return Err(ENODEV);
    }
    args.offset = u64::from(args.handle) << OFFSET_BITS;
    Ok(())
}

/// The buffer for an offset of [`mmap_offset`]. A mapping has to begin at the beginning of the buffer
/// (`drm_vma_offset_exact_lookup_locked`) and must not exceed it.
pub fn at_offset(file: &OpenFile, offset: u64, length: usize) -> Result<OwnedFd> {
    let handle = u32::try_from(offset >> OFFSET_BITS).map_err(|_| EINVAL)?;
    let (buffer, size) = file.simulator.gem_export(GemHandle(handle)).map_err(|_| EINVAL)?;
    if offset & ((1 << OFFSET_BITS) - 1) != 0 || length as u64 > size {
        return Err(EINVAL);
    }
    Ok(buffer)
}

/// Maps a buffer's file with the parameters of the program's `mmap`.
///
/// # Safety
/// As for `mmap`.
pub unsafe fn map(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    buffer: &OwnedFd,
    offset: i64,
) -> *mut c_void {
    // SAFETY: the contract of this function.
    unsafe { real::mmap(address, length, protection, flags, buffer.as_raw_fd(), offset) }
}

/// `DRM_IOCTL_I915_GEM_MMAP`
pub fn mmap(file: &OpenFile, args: &mut GemMmap) -> Result<()> {
    if args.flags & !MMAP_WC != 0 {
        return Err(EINVAL);
    }
    let buffer = find(file, args.handle)?;
    if buffer.is_userptr() {
        return Err(ENXIO);
    }
    check_range(&buffer, args.offset, args.size)?;
    let buffer = buffer.file()?;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let length = usize::try_from(args.size).map_err(|_| EINVAL)?;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let address = unsafe {
        map(std::ptr::null_mut(), length, protection, libc::MAP_SHARED, &buffer, args.offset as i64)
    };
    if address == libc::MAP_FAILED {
        return Err(Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::ENOMEM)));
    }
    args.addr_ptr = address as u64;
    Ok(())
}

/// `range_overflows`: a range begins within the buffer and does not exceed it.
fn check_range(buffer: &Buffer, offset: u64, size: u64) -> Result<()> {
    let fits = offset < buffer.size() && size <= buffer.size() - offset;
    if fits { Ok(()) } else { Err(EINVAL) }
}

/// The buffer of `pread` and `pwrite`, mapped; `None` when nothing is to be copied.
fn copied(file: &OpenFile, args: &GemCopy) -> Result<Option<(Arc<Buffer>, HostMemory)>> {
    if args.size == 0 {
        return Ok(None);
    }
    if !is_users(args.data_ptr, args.size) {
        return Err(Errno(libc::EFAULT));
    }
    let buffer = find(file, args.handle)?;
    check_range(&buffer, args.offset, args.size)?;
    if buffer.is_userptr() {
        return Err(EINVAL);
    }
    let memory = buffer.map()?;
    Ok(Some((buffer, memory)))
}

/// Number of bytes that are copied at once.
const PIECE: usize = 1 << 20;

/// The pieces of a range: offset in the buffer, address in the program, bytes.
fn pieces(args: &GemCopy) -> impl Iterator<Item = (usize, u64, usize)> + use<> {
    let (offset, address, size) = (args.offset as usize, args.data_ptr, args.size as usize);
    let piece = move |at: usize| (offset + at, address + at as u64, PIECE.min(size - at));
    (0..size).step_by(PIECE).map(piece)
}

/// `DRM_IOCTL_I915_GEM_PREAD`
pub fn pread(file: &OpenFile, args: &mut GemCopy) -> Result<()> {
    let Some((buffer, memory)) = copied(file, args)? else { return Ok(()) };
    wait_for(&buffer.fences(true));
    let mut data = vec![0; PIECE.min(args.size as usize)];
    for (offset, address, length) in pieces(args) {
        memory.read(offset, &mut data[..length]);
        caller::write_bytes(address, &data[..length])?;
    }
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_PWRITE`
pub fn pwrite(file: &OpenFile, args: &mut GemCopy) -> Result<()> {
    let Some((buffer, memory)) = copied(file, args)? else { return Ok(()) };
    wait_for(&buffer.fences(false));
    let mut data = vec![0; PIECE.min(args.size as usize)];
    for (offset, address, length) in pieces(args) {
        caller::read_bytes(address, &mut data[..length])?;
        memory.write(offset, &data[..length]);
    }
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_SET_DOMAIN`: waits for batches that use the buffer.
pub fn set_domain(file: &OpenFile, args: &mut GemSetDomain) -> Result<()> {
    let (read, write) = (args.read_domains, args.write_domain);
    if (read | write) & GPU_DOMAINS != 0 || (write != 0 && read != write) {
        return Err(EINVAL);
    }
    if read == 0 {
        return Ok(());
    }
    let buffer = find(file, args.handle)?;
    wait_for(&buffer.fences(write == 0));
    // Drivers use this to probe memory of the program.
    buffer.check_memory()
}

/// `DRM_IOCTL_I915_GEM_SW_FINISH`: for buffers that are displayed.
pub fn sw_finish(file: &OpenFile, handle: &mut u32) -> Result<()> {
    find(file, *handle).map(|_| ())
}

/// The bit for the class of a reading engine (`__busy_read_flag`).
fn reads(fence: &Fence) -> u32 {
    let class = match fence.engine() {
        Some(Engine::Render) => engine_class::RENDER,
        Some(Engine::Blit) => engine_class::COPY,
        // Fences that are no batches are not reported.
        None => return 0,
    };
    0x1_0000 << class
}

/// `DRM_IOCTL_I915_GEM_BUSY`: readers as bits from bit 16 on, the writer as its class plus 1 below
/// (`__busy_write_id`).
pub fn busy(file: &OpenFile, args: &mut GemBusy) -> Result<()> {
    let buffer = find(file, args.handle)?;
    args.busy = buffer.fences(false).iter().fold(0, |busy, fence| busy | reads(fence));
    for writer in buffer.fences(true).iter().map(reads).filter(|bit| *bit != 0) {
        args.busy |= writer | (writer.trailing_zeros() - 16 + 1);
    }
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_WAIT`: returns the remaining time to the caller.
pub fn wait(file: &OpenFile, args: &mut GemWait) -> Result<()> {
    if args.flags != 0 {
        return Err(EINVAL);
    }
    let begin = Instant::now();
    let result = file.simulator.gem_wait(GemHandle(args.handle), args.timeout_ns);
    if args.timeout_ns > 0 {
        let elapsed = i64::try_from(begin.elapsed().as_nanos()).unwrap_or(i64::MAX);
        args.timeout_ns = args.timeout_ns.saturating_sub(elapsed).max(0);
    }
    result
}

/// `DRM_IOCTL_I915_GEM_MADVISE`: pages are never purged.
pub fn madvise(file: &OpenFile, args: &mut GemMadvise) -> Result<()> {
    if args.madv > MADV_MAX {
        return Err(EINVAL);
    }
    find(file, args.handle)?;
    args.retained = 1;
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_SET_CACHING`
pub fn set_caching(file: &OpenFile, args: &mut GemCaching) -> Result<()> {
    if args.caching > CACHING_MAX {
        return Err(EINVAL);
    }
    if find(file, args.handle)?.is_userptr() {
        return if args.caching == CACHING_CACHED { Ok(()) } else { Err(ENXIO) };
    }
    // Only devices with eDRAM have a separate mode for display.
    file.buffers.lock().get(args.handle).caching = args.caching & CACHING_CACHED;
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_GET_CACHING`
pub fn get_caching(file: &OpenFile, args: &mut GemCaching) -> Result<()> {
    find(file, args.handle)?;
    args.caching = file.buffers.lock().get(args.handle).caching;
    Ok(())
}

/// Bytes of a row of a tile, by tiling mode: none, X, Y.
const TILE_WIDTHS: [u32; 3] = [0, 512, 128];
/// Largest pitch of a fence register, in units of 128 bytes (`GEN7_FENCE_MAX_PITCH_VAL`).
const MAX_PITCH: u32 = 0x800;

/// `i915_tiling_ok`
fn check_tiling(mode: u32, stride: u32) -> Result<()> {
    let width = *TILE_WIDTHS.get(mode as usize).ok_or(EINVAL)?;
    let fits = stride != 0 && stride / 128 <= MAX_PITCH && stride.is_multiple_of(width.max(1));
    if mode == 0 || fits { Ok(()) } else { Err(EINVAL) }
}

/// `DRM_IOCTL_I915_GEM_SET_TILING`: only stored, for `GET_TILING`. Only mappings through the aperture detile,
/// and there are none.
pub fn set_tiling(file: &OpenFile, args: &mut GemSetTiling) -> Result<()> {
    if find(file, args.handle)?.is_userptr() {
        return Err(ENXIO);
    }
    check_tiling(args.tiling_mode, args.stride)?;
    if args.tiling_mode == 0 {
        args.stride = 0;
    }
    args.swizzle_mode = 0;
    file.buffers.lock().get(args.handle).tiling = args.tiling_mode;
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_GET_TILING`
pub fn get_tiling(file: &OpenFile, args: &mut GemGetTiling) -> Result<()> {
    find(file, args.handle)?;
    args.tiling_mode = file.buffers.lock().get(args.handle).tiling;
    (args.swizzle_mode, args.phys_swizzle_mode) = (0, 0);
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_GET_APERTURE`: the global GTT.
pub fn get_aperture(file: &OpenFile, args: &mut GemGetAperture) -> Result<()> {
    let size = file.simulator.device().driver.global_gtt;
    (args.aper_size, args.aper_available_size) = (size, size);
    Ok(())
}

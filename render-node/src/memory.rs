//! Requests about buffers: mapping, copying, domains, and the state that drivers set and ask for.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::time::Instant;

use gencl_i915::uapi::{
    CACHING_CACHED, CACHING_MAX, GEM_CREATE_EXT_MEMORY_REGIONS, GemBusy, GemCaching, GemClose, GemCopy,
    GemCreate, GemCreateExt, GemCreateExtMemoryRegions, GemGetAperture, GemGetTiling, GemMadvise, GemMmap,
    GemMmapOffset, GemSetDomain, GemSetTiling, GemUserptr, GemWait, MADV_MAX, MMAP_OFFSET_UC, MMAP_WC,
    MemoryClassInstance, PrimeHandle, TILING_MAX, USERPTR_PROBE, USERPTR_READ_ONLY,
};
use gencl_i915::{Errno, GemHandle, HostMemory, RenderNode, Result};

use crate::files::OpenFile;
use crate::{caller, real};

const EINVAL: Errno = Errno(libc::EINVAL);
const ENOENT: Errno = Errno(libc::ENOENT);

/// `I915_GEM_GPU_DOMAINS`: not for `DRM_IOCTL_I915_GEM_SET_DOMAIN`, which is about the processor.
const GPU_DOMAINS: u32 = 0x3e;

/// Offsets at which a buffer is mapped through the node: the handle above so many bits, which is room for the
/// largest buffer.
const OFFSET_BITS: u32 = 36;

/// Tiling and caching of one buffer.
#[derive(Clone, Copy, Debug)]
pub struct BufferState {
    tiling: u32,
    caching: u32,
}

/// Those of all buffers of a file that differ from a new buffer's.
#[derive(Debug, Default)]
pub struct BufferStates(HashMap<u32, BufferState>);

impl BufferStates {
    fn get(&mut self, handle: u32) -> &mut BufferState {
        // The processor's caches are coherent with the GPU's (`I915_PARAM_HAS_LLC`).
        self.0.entry(handle).or_insert(BufferState { tiling: 0, caching: CACHING_CACHED })
    }
}

/// `ENOENT` unless there is such a buffer.
fn check(file: &OpenFile, handle: u32) -> Result<()> {
    file.simulator.gem_busy(GemHandle(handle)).map(|_| ())
}

/// `DRM_IOCTL_I915_GEM_CREATE`
pub fn create(file: &OpenFile, args: &mut GemCreate) -> Result<()> {
    args.handle = file.simulator.gem_create(args.size)?.0;
    args.size = args.size.next_multiple_of(4096);
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_CREATE_EXT`: the only extension says that the buffer is to be in the only region, system memory.
pub fn create_ext(file: &OpenFile, args: &mut GemCreateExt) -> Result<()> {
    if args.flags != 0 {
        return Err(EINVAL);
    }
    caller::extensions(args.extensions, |name, address| {
        if name != GEM_CREATE_EXT_MEMORY_REGIONS {
            return Err(EINVAL);
        }
        let extension: GemCreateExtMemoryRegions = caller::read(address)?;
        let system = MemoryClassInstance { memory_class: 0, memory_instance: 0 };
        // One region there is, and none may be named twice.
        if extension.pad != 0 || extension.num_regions != 1 {
            return Err(EINVAL);
        }
        let region: MemoryClassInstance = caller::read(extension.regions)?;
        if region == system { Ok(()) } else { Err(EINVAL) }
    })?;
    args.handle = file.simulator.gem_create(args.size)?.0;
    args.size = args.size.next_multiple_of(4096);
    Ok(())
}

/// `DRM_IOCTL_GEM_CLOSE`
pub fn close(file: &OpenFile, args: &mut GemClose) -> Result<()> {
    file.buffers.lock().0.remove(&args.handle);
    file.simulator.gem_close(GemHandle(args.handle))
}

/// `DRM_IOCTL_I915_GEM_USERPTR`
pub fn userptr(file: &OpenFile, args: &mut GemUserptr) -> Result<()> {
    if args.flags & !(USERPTR_READ_ONLY | USERPTR_PROBE) != 0 {
        return Err(EINVAL);
    }
    if args.flags & USERPTR_READ_ONLY != 0 {
        // As on real devices whose page tables cannot say so.
        return Err(Errno(libc::ENODEV));
    }
    let length = usize::try_from(args.user_size).map_err(|_| EINVAL)?;
    // The kernel finds out when the pages are used; here they must be there from the beginning.
    if length > 0 {
        for address in [args.user_ptr, args.user_ptr.wrapping_add(args.user_size - 1)] {
            caller::read::<u8>(address)?;
        }
    }
    // SAFETY: the interface's contract, which the program takes on with this request.
    args.handle = unsafe { file.simulator.gem_userptr(args.user_ptr as *mut u8, length) }?.0;
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_MMAP_OFFSET`
pub fn mmap_offset(file: &OpenFile, args: &mut GemMmapOffset) -> Result<()> {
    if args.extensions != 0 || args.flags > MMAP_OFFSET_UC {
        return Err(EINVAL);
    }
    // Fails for what cannot be mapped.
    file.simulator.gem_export(GemHandle(args.handle))?;
    args.offset = u64::from(args.handle) << OFFSET_BITS;
    Ok(())
}

/// The buffer, and the place within it, that an offset of [`mmap_offset`] stands for.
pub fn at_offset(file: &OpenFile, offset: u64, length: usize) -> Result<(OwnedFd, i64)> {
    let handle = u32::try_from(offset >> OFFSET_BITS).map_err(|_| EINVAL)?;
    let within = offset & ((1 << OFFSET_BITS) - 1);
    let (buffer, size) = file.simulator.gem_export(GemHandle(handle)).map_err(|_| EINVAL)?;
    let end = within.checked_add(length as u64).ok_or(EINVAL)?;
    if end > size.next_multiple_of(4096) {
        return Err(EINVAL);
    }
    Ok((buffer, within as i64))
}

/// Maps a buffer's file as the program asks for.
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
    let (buffer, size) = file.simulator.gem_export(GemHandle(args.handle)).map_err(|error| match error {
        Errno(libc::ENODEV) => Errno(libc::ENXIO),
        other => other,
    })?;
    let end = args.offset.checked_add(args.size).ok_or(EINVAL)?;
    if end > size {
        return Err(EINVAL);
    }
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

/// The range of `pread` and `pwrite`, mapped; `None` when nothing is to be copied.
fn copied(file: &OpenFile, args: &GemCopy) -> Result<Option<(HostMemory, usize, usize)>> {
    if args.size == 0 {
        return Ok(None);
    }
    let memory = HostMemory::from_mapping(file.simulator.gem_map(GemHandle(args.handle))?);
    let (offset, size) = (usize::try_from(args.offset), usize::try_from(args.size));
    let (Ok(offset), Ok(size)) = (offset, size) else { return Err(EINVAL) };
    if offset.checked_add(size).is_none_or(|end| end > memory.len()) {
        return Err(EINVAL);
    }
    Ok(Some((memory, offset, size)))
}

/// `DRM_IOCTL_I915_GEM_PREAD`
pub fn pread(file: &OpenFile, args: &mut GemCopy) -> Result<()> {
    let Some((memory, offset, size)) = copied(file, args)? else { return Ok(()) };
    file.simulator.gem_wait(GemHandle(args.handle), -1)?;
    let mut data = vec![0; size];
    memory.read(offset, &mut data);
    caller::write_bytes(args.data_ptr, &data)
}

/// `DRM_IOCTL_I915_GEM_PWRITE`
pub fn pwrite(file: &OpenFile, args: &mut GemCopy) -> Result<()> {
    let Some((memory, offset, size)) = copied(file, args)? else { return Ok(()) };
    let data = caller::read_array::<u8>(args.data_ptr, size)?;
    file.simulator.gem_wait(GemHandle(args.handle), -1)?;
    memory.write(offset, &data);
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
    file.simulator.gem_wait(GemHandle(args.handle), -1)
}

/// `DRM_IOCTL_I915_GEM_SW_FINISH`: for buffers that are displayed.
pub fn sw_finish(file: &OpenFile, handle: &mut u32) -> Result<()> {
    check(file, *handle)
}

/// `DRM_IOCTL_I915_GEM_BUSY`. Which engine uses the buffer is not known, so the render engine is said to write.
pub fn busy(file: &OpenFile, args: &mut GemBusy) -> Result<()> {
    let busy = file.simulator.gem_busy(GemHandle(args.handle))?;
    // Readers: a bit for each class above bit 16. The writer: its class and one, below.
    args.busy = if busy { 1 << 16 | 1 } else { 0 };
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_WAIT`: the time that is left goes back to the caller.
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

/// `DRM_IOCTL_I915_GEM_MADVISE`: no page is ever taken away.
pub fn madvise(file: &OpenFile, args: &mut GemMadvise) -> Result<()> {
    if args.madv > MADV_MAX {
        return Err(EINVAL);
    }
    check(file, args.handle)?;
    args.retained = 1;
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_SET_CACHING`
pub fn set_caching(file: &OpenFile, args: &mut GemCaching) -> Result<()> {
    if args.caching > CACHING_MAX {
        return Err(EINVAL);
    }
    check(file, args.handle)?;
    file.buffers.lock().get(args.handle).caching = args.caching;
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_GET_CACHING`
pub fn get_caching(file: &OpenFile, args: &mut GemCaching) -> Result<()> {
    check(file, args.handle)?;
    args.caching = file.buffers.lock().get(args.handle).caching;
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_SET_TILING`: kept for those who ask. Only mappings through the aperture would untile, and
/// there are none.
pub fn set_tiling(file: &OpenFile, args: &mut GemSetTiling) -> Result<()> {
    check(file, args.handle)?;
    if args.tiling_mode > TILING_MAX || (args.tiling_mode != 0 && !args.stride.is_multiple_of(128)) {
        return Err(EINVAL);
    }
    args.swizzle_mode = 0;
    file.buffers.lock().get(args.handle).tiling = args.tiling_mode;
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_GET_TILING`
pub fn get_tiling(file: &OpenFile, args: &mut GemGetTiling) -> Result<()> {
    check(file, args.handle)?;
    args.tiling_mode = file.buffers.lock().get(args.handle).tiling;
    (args.swizzle_mode, args.phys_swizzle_mode) = (0, 0);
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_GET_APERTURE`: the global GTT, 4 GiB on these devices.
pub fn get_aperture(_: &OpenFile, args: &mut GemGetAperture) -> Result<()> {
    (args.aper_size, args.aper_available_size) = (4 << 30, 4 << 30);
    Ok(())
}

/// `DRM_IOCTL_PRIME_HANDLE_TO_FD`
pub fn export(file: &OpenFile, args: &mut PrimeHandle) -> Result<()> {
    let known = (libc::O_CLOEXEC | libc::O_RDWR) as u32;
    if args.flags & !known != 0 {
        return Err(EINVAL);
    }
    let (buffer, _) = file.simulator.gem_export(GemHandle(args.handle)).map_err(|error| match error {
        Errno(libc::ENODEV) => error,
        _ => ENOENT,
    })?;
    args.fd = if args.flags & libc::O_CLOEXEC as u32 != 0 {
        buffer.into_raw_fd()
    } else {
        // SAFETY: a descriptor of our own; the duplicate is the program's.
        let copy = unsafe { real::dup(buffer.as_raw_fd()) };
        if copy < 0 {
            return Err(Errno(libc::EMFILE));
        }
        copy
    };
    Ok(())
}

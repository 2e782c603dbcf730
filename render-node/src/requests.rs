//! Requests of the DRM interface: which there are, and how their arguments go in and out.

use bytemuck::Pod;
use gencl_i915::uapi::{
    self, CAP_PRIME, CAP_TIMESTAMP_MONOTONIC, GetCap, GetParam, PRIME_CAP_EXPORT, Query, QueryItem, RegRead,
    Version, ioctl,
};
use gencl_i915::{ContextId, Errno, RenderNode, Result};

use crate::files::OpenFile;
use crate::{caller, contexts, memory, options, submit};

/// `_IOC_READ`: the caller gets the argument back.
const OUT: u32 = 2 << 30;
/// `_IOC_WRITE`: the caller gives the argument.
const IN: u32 = 1 << 30;
/// Bytes of the largest argument, as 64-bit numbers.
const MAX_ARGUMENT: usize = 8;

/// One request: `name` for people, its number, and what answers it.
struct Row {
    name: &'static str,
    request: u32,
    answer: fn(&OpenFile, &mut [u8]) -> Result<()>,
}

/// Rows of the table: request and typed function.
macro_rules! rows {
    ($($request:ident => $answer:path;)*) => {
        &[$(Row {
            name: stringify!($request),
            request: ioctl::$request,
            answer: |file, bytes| typed($answer, file, bytes),
        }),*]
    };
}

static REQUESTS: &[Row] = rows! {
    VERSION => version;
    GET_CAP => get_cap;
    GEM_CLOSE => memory::close;
    PRIME_HANDLE_TO_FD => memory::export;
    GETPARAM => get_param;
    QUERY => query;
    REG_READ => reg_read;
    GET_RESET_STATS => reset_stats;
    GEM_THROTTLE => throttle;
    GEM_CREATE => memory::create;
    GEM_CREATE_EXT => memory::create_ext;
    GEM_USERPTR => memory::userptr;
    GEM_MMAP => memory::mmap;
    GEM_MMAP_OFFSET => memory::mmap_offset;
    GEM_PREAD => memory::pread;
    GEM_PWRITE => memory::pwrite;
    GEM_SET_DOMAIN => memory::set_domain;
    GEM_SW_FINISH => memory::sw_finish;
    GEM_BUSY => memory::busy;
    GEM_WAIT => memory::wait;
    GEM_MADVISE => memory::madvise;
    GEM_SET_CACHING => memory::set_caching;
    GEM_GET_CACHING => memory::get_caching;
    GEM_SET_TILING => memory::set_tiling;
    GEM_GET_TILING => memory::get_tiling;
    GEM_GET_APERTURE => memory::get_aperture;
    GEM_CONTEXT_CREATE_EXT => contexts::create;
    GEM_CONTEXT_DESTROY => contexts::destroy;
    GEM_CONTEXT_GETPARAM => contexts::get_param;
    GEM_CONTEXT_SETPARAM => contexts::set_param;
    GEM_VM_CREATE => contexts::vm_create;
    GEM_VM_DESTROY => contexts::vm_destroy;
    GEM_EXECBUFFER2_WR => submit::exec_buffer;
};

/// Calls a function with the argument's structure, which stands at the beginning of `bytes`.
fn typed<T: Pod>(
    answer: fn(&OpenFile, &mut T) -> Result<()>,
    file: &OpenFile,
    bytes: &mut [u8],
) -> Result<()> {
    answer(file, bytemuck::from_bytes_mut(&mut bytes[..size_of::<T>()]))
}

const fn number(request: u32) -> u32 {
    request & 0xff
}

const fn size(request: u32) -> usize {
    (request >> 16 & 0x3fff) as usize
}

/// Answers a request as the kernel's `drm_ioctl` does: it goes by the number alone. A caller's shorter structure is
/// filled up with zeros, of a longer one only the part that is known counts.
pub fn answer(file: &OpenFile, request: u32, address: u64) -> Result<()> {
    if request >> 8 & 0xff != u32::from(b'd') {
        return Err(Errno(libc::ENOTTY));
    }
    let row = REQUESTS.iter().find(|row| number(row.request) == number(request));
    let result = match row {
        Some(row) => answer_row(row, file, request, address),
        None => Err(Errno(libc::EINVAL)),
    };
    if options::get().trace {
        let name = row.map_or("an unknown request", |row| row.name);
        match &result {
            Ok(()) => eprintln!("gencl-sim: {name} 0x{request:08x}"),
            Err(error) => eprintln!("gencl-sim: {name} 0x{request:08x}: {error}"),
        }
    }
    result
}

fn answer_row(row: &Row, file: &OpenFile, request: u32, address: u64) -> Result<()> {
    let mut buffer = [0u64; MAX_ARGUMENT];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut buffer);
    let length = size(request).min(size(row.request));
    if request & row.request & IN != 0 {
        caller::read_bytes(address, &mut bytes[..length])?;
    }
    let result = (row.answer)(file, bytes);
    if request & row.request & OUT != 0 {
        caller::write_bytes(address, &bytes[..length])?;
    }
    result
}

/// `DRM_IOCTL_VERSION`: strings are cut to the caller's room, lengths are told in full.
fn version(file: &OpenFile, args: &mut Version) -> Result<()> {
    let version = file.simulator.version()?;
    (args.version_major, args.version_minor, args.version_patchlevel) = version.version;
    let strings = [
        (&mut args.name_len, args.name, version.name.as_str()),
        (&mut args.date_len, args.date, "20201103"),
        (&mut args.desc_len, args.desc, "Intel Graphics"),
    ];
    for (length, address, text) in strings {
        let room = usize::try_from(*length).unwrap_or(usize::MAX).min(text.len());
        if address != 0 {
            caller::write_bytes(address, &text.as_bytes()[..room])?;
        }
        *length = text.len() as u64;
    }
    Ok(())
}

/// `DRM_IOCTL_GET_CAP`: nothing is displayed, buffers can be exported.
fn get_cap(_: &OpenFile, args: &mut GetCap) -> Result<()> {
    args.value = match args.capability {
        CAP_PRIME => PRIME_CAP_EXPORT,
        CAP_TIMESTAMP_MONOTONIC => 1,
        _ => return Err(Errno(libc::EOPNOTSUPP)),
    };
    Ok(())
}

fn get_param(file: &OpenFile, args: &mut GetParam) -> Result<()> {
    caller::write(args.value, &file.simulator.get_param(args.param)?)
}

/// `DRM_IOCTL_I915_QUERY`: an item's own errors go into its length.
fn query(file: &OpenFile, args: &mut Query) -> Result<()> {
    if args.flags != 0 {
        return Err(Errno(libc::EINVAL));
    }
    for index in 0..u64::from(args.num_items) {
        let address = args.items_ptr.wrapping_add(index * size_of::<QueryItem>() as u64);
        let mut item: QueryItem = caller::read(address)?;
        item.length = match query_item(file, &item) {
            Ok(length) => length,
            Err(error) => -error.0,
        };
        caller::write(address, &item)?;
    }
    Ok(())
}

fn query_item(file: &OpenFile, item: &QueryItem) -> Result<i32> {
    const EINVAL: Errno = Errno(libc::EINVAL);
    if item.query_id == 0 || item.flags != 0 {
        return Err(EINVAL);
    }
    let data = file.simulator.query(item.query_id)?;
    let length = i32::try_from(data.len()).map_err(|_| EINVAL)?;
    if item.length != 0 {
        if item.length < length {
            return Err(EINVAL);
        }
        caller::write_bytes(item.data_ptr, &data)?;
    }
    Ok(length)
}

fn reg_read(file: &OpenFile, args: &mut RegRead) -> Result<()> {
    args.val = file.simulator.reg_read(args.offset)?;
    Ok(())
}

/// `DRM_IOCTL_I915_GET_RESET_STATS`
fn reset_stats(file: &OpenFile, args: &mut uapi::ResetStats) -> Result<()> {
    if args.flags != 0 || args.pad != 0 {
        return Err(Errno(libc::EINVAL));
    }
    let stats = file.simulator.reset_stats(ContextId(args.ctx_id))?;
    (args.batch_active, args.batch_pending) = (stats.batch_active, stats.batch_pending);
    args.reset_count = stats.reset_count;
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_THROTTLE`: it may return at once when nothing is known to be old.
fn throttle(_: &OpenFile, _: &mut [u8; 0]) -> Result<()> {
    Ok(())
}

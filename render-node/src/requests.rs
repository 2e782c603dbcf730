//! The table of requests, and the copying of their arguments.

use bytemuck::Pod;
use gencl_i915::uapi::{DRM, ioctl};
use gencl_i915::{Errno, Result};

use crate::denied::NOT_FOR_RENDER;
use crate::open_file::OpenFile;
use crate::{caller, contexts, driver, memory, options, prime, submit, syncobj};

/// `_IOC_READ`: the argument is copied to the caller.
const OUT: u32 = 2 << 30;
/// `_IOC_WRITE`: the argument is copied from the caller.
const IN: u32 = 1 << 30;
/// Size of the largest argument, in qwords and in bytes.
const MAX_ARGUMENT: usize = 9;
const ROOM: usize = 8 * MAX_ARGUMENT;

/// A request: name for messages, number, and handler.
struct Row {
    name: &'static str,
    request: u32,
    handler: Handler,
}

/// Rows of the table: request and typed handler.
macro_rules! rows {
    ($($request:ident => $handler:path;)*) => {
        &[$(Row {
            name: stringify!($request),
            request: ioctl::$request,
            handler: |file, bytes| typed($handler, file, bytes),
        }),*]
    };
}

static REQUESTS: &[Row] = rows! {
    VERSION => driver::version;
    GET_CAP => driver::get_cap;
    GEM_CLOSE => memory::close;
    PRIME_HANDLE_TO_FD => prime::export;
    PRIME_FD_TO_HANDLE => prime::import;
    SYNCOBJ_CREATE => syncobj::create;
    SYNCOBJ_DESTROY => syncobj::destroy;
    SYNCOBJ_HANDLE_TO_FD => syncobj::handle_to_fd;
    SYNCOBJ_FD_TO_HANDLE => syncobj::fd_to_handle;
    SYNCOBJ_WAIT => syncobj::wait;
    SYNCOBJ_RESET => syncobj::reset;
    SYNCOBJ_SIGNAL => syncobj::signal;
    SYNCOBJ_TIMELINE_WAIT => syncobj::timeline_wait;
    SYNCOBJ_QUERY => syncobj::query;
    SYNCOBJ_TRANSFER => syncobj::transfer;
    SYNCOBJ_TIMELINE_SIGNAL => syncobj::timeline_signal;
    GETPARAM => driver::get_param;
    QUERY => driver::query;
    REG_READ => driver::reg_read;
    PERF_OPEN => driver::perf_open;
    PERF_ADD_CONFIG => driver::perf_add_config;
    PERF_REMOVE_CONFIG => driver::perf_remove_config;
    GET_RESET_STATS => contexts::reset_stats;
    GEM_THROTTLE => driver::throttle;
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

/// Calls a handler with the argument's structure, at the beginning of `bytes`.
fn typed<T: Pod>(
    handler: fn(&OpenFile, &mut T) -> Result<()>,
    file: &OpenFile,
    bytes: &mut [u8],
) -> Result<()> {
    handler(file, bytemuck::from_bytes_mut(&mut bytes[..size_of::<T>()]))
}

const fn number(request: u32) -> u32 {
    request & 0xff
}

const fn size(request: u32) -> usize {
    (request >> 16 & 0x3fff) as usize
}

/// A handler, which gets and modifies the argument.
type Handler = fn(&OpenFile, &mut [u8]) -> Result<()>;

/// Name and handler of a request; no handler if it is not allowed on render nodes.
struct KnownRequest {
    name: &'static str,
    request: u32,
    handler: Option<Handler>,
}

fn find(number: u32) -> Option<KnownRequest> {
    let row = REQUESTS.iter().find(|row| self::number(row.request) == number);
    let row =
        row.map(|row| KnownRequest { name: row.name, request: row.request, handler: Some(row.handler) });
    row.or_else(|| {
        let (name, request) = NOT_FOR_RENDER.iter().find(|(_, request)| self::number(*request) == number)?;
        Some(KnownRequest { name, request: *request, handler: None })
    })
}

/// Dispatches a request by its number alone, as the kernel's `drm_ioctl` does. A shorter structure of the
/// caller is extended with zeros, the unknown end of a longer one is ignored. `file` is `None` after a fork.
pub fn dispatch(file: Option<&OpenFile>, request: u32, address: u64) -> Result<()> {
    if request >> 8 & 0xff != u32::from(DRM) {
        return Err(Errno(libc::ENOTTY));
    }
    let known = find(number(request));
    let result = match (&known, file) {
        (Some(known), Some(file)) => handle_known(known, file, request, address),
        (Some(_), None) => Err(Errno(libc::EIO)),
        (None, _) => Err(Errno(libc::EINVAL)),
    };
    if options::get().trace {
        let name = known.map_or("an unknown request", |known| known.name);
        match &result {
            Ok(()) => eprintln!("gencl-sim: {name} 0x{request:08x}"),
            Err(error) => eprintln!("gencl-sim: {name} 0x{request:08x}: {error}"),
        }
    }
    result
}

fn handle_known(known: &KnownRequest, file: &OpenFile, request: u32, address: u64) -> Result<()> {
    let given = |direction| if request & known.request & direction != 0 { size(request) } else { 0 };
    let (taken, returned) = (given(IN), given(OUT));
    let mut small = [0u64; MAX_ARGUMENT];
    let mut large;
    // Aligned for structures of qwords.
    let buffer: &mut [u64] = match taken.max(returned) {
        0..=ROOM => &mut small,
        bytes => {
            large = vec![0u64; bytes.div_ceil(8)];
            &mut large
        }
    };
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(buffer);
    caller::read_bytes(address, &mut bytes[..taken])?;
    // Bytes beyond the structure are returned unchanged.
    let result = match known.handler {
        Some(handler) => handler(file, bytes),
        None => Err(Errno(libc::EACCES)),
    };
    caller::write_bytes(address, &bytes[..returned])?;
    result
}

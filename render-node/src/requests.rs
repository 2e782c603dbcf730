//! Requests of the DRM interface: which there are, and how their arguments go in and out.

use bytemuck::Pod;
use gencl_i915::uapi::{DRM, ioctl};
use gencl_i915::{Errno, Result};

use crate::denied::NOT_FOR_RENDER;
use crate::files::OpenFile;
use crate::{caller, contexts, driver, memory, options, prime, submit, syncobj};

/// `_IOC_READ`: the caller gets the argument back.
const OUT: u32 = 2 << 30;
/// `_IOC_WRITE`: the caller gives the argument.
const IN: u32 = 1 << 30;
/// Room for the largest argument, in 64-bit numbers and in bytes.
const MAX_ARGUMENT: usize = 9;
const ROOM: usize = 8 * MAX_ARGUMENT;

/// One request: `name` for people, its number, and what answers it.
struct Row {
    name: &'static str,
    request: u32,
    answer: Answer,
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

/// Answers a request, whose argument it gets and changes.
type Answer = fn(&OpenFile, &mut [u8]) -> Result<()>;

/// What a request is, and who answers it: nobody, if a render node does not take it.
struct Known {
    name: &'static str,
    request: u32,
    answer: Option<Answer>,
}

fn find(number: u32) -> Option<Known> {
    let row = REQUESTS.iter().find(|row| self::number(row.request) == number);
    let row = row.map(|row| Known { name: row.name, request: row.request, answer: Some(row.answer) });
    row.or_else(|| {
        let (name, request) = NOT_FOR_RENDER.iter().find(|(_, request)| self::number(*request) == number)?;
        Some(Known { name, request: *request, answer: None })
    })
}

/// Answers a request as the kernel's `drm_ioctl` does: it goes by the number alone. A caller's shorter
/// structure is filled up with zeros, of a longer one only the part that is known counts. `file` is `None`
/// after a fork.
pub fn answer(file: Option<&OpenFile>, request: u32, address: u64) -> Result<()> {
    if request >> 8 & 0xff != u32::from(DRM) {
        return Err(Errno(libc::ENOTTY));
    }
    let known = find(number(request));
    let result = match (&known, file) {
        (Some(known), Some(file)) => answer_known(known, file, request, address),
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

fn answer_known(known: &Known, file: &OpenFile, request: u32, address: u64) -> Result<()> {
    let given = |direction| if request & known.request & direction != 0 { size(request) } else { 0 };
    let (taken, returned) = (given(IN), given(OUT));
    let mut small = [0u64; MAX_ARGUMENT];
    let mut large;
    // Structures of 64-bit numbers are read from it, so it is aligned as they are.
    let buffer: &mut [u64] = match taken.max(returned) {
        0..=ROOM => &mut small,
        bytes => {
            large = vec![0u64; bytes.div_ceil(8)];
            &mut large
        }
    };
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(buffer);
    caller::read_bytes(address, &mut bytes[..taken])?;
    // What is longer than the structure comes back as it was.
    let result = match known.answer {
        Some(answer) => answer(file, bytes),
        None => Err(Errno(libc::EACCES)),
    };
    caller::write_bytes(address, &bytes[..returned])?;
    result
}

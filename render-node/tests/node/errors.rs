//! Invalid requests, through a real descriptor and `ioctl`: error numbers are those of Linux 6.1
//! (`drivers/gpu/drm/i915/gem/*.c`, `drm_ioctl.c`, `drm_syncobj.c`, `drm_prime.c`).
#![expect(clippy::field_reassign_with_default, reason = "the macros get what is right as an expression")]

use crate::support::{PINNED, ask, batch, create, open, read, send, send_address};
use crate::under_gencl_sim::run_with;
use gencl_i915::uapi::{
    ContextCreateExt, ContextCreateExtSetparam, ContextDestroy, ContextParam, ExecBuffer2, ExecFence,
    ExecObject2, ExecTimelineFences, GemBusy, GemCaching, GemClose, GemCopy, GemCreate, GemCreateExt,
    GemCreateExtMemoryRegions, GemGetAperture, GemGetTiling, GemMadvise, GemMmap, GemMmapOffset,
    GemSetDomain, GemSetTiling, GemUserptr, GemVmControl, GemWait, GetCap, GetParam, PerfOpenParam,
    PrimeHandle, Query, QueryItem, RegRead, RelocationEntry, ResetStats, SyncobjArray, SyncobjCreate,
    SyncobjDestroy, SyncobjHandle, SyncobjTimelineArray, SyncobjTimelineWait, SyncobjTransfer, SyncobjWait,
    UserExtension, Version, ioctl,
};
use libc::{
    E2BIG, EACCES, EBADF, EFAULT, EINVAL, EMFILE, ENODEV, ENOENT, ENOTTY, ENXIO, EOPNOTSUPP, EPERM, ETIME,
};

/// No error.
const OK: i32 = 0;
/// `ENOTSUPP`, internal to the kernel, which programs get nevertheless.
const ENOTSUPP: i32 = 524;
/// A handle, context, sync object or address space that does not exist.
const NONE: u32 = 777;
/// An unmapped address.
const NOWHERE: u64 = 8;
/// An address outside of user space.
const KERNELS: u64 = 0xffff_8000_0000_0000;

/// Makes a valid request, then the same with fields changed, each time with a new argument, and compares
/// errors.
macro_rules! errors {
    ($fd:expr, $request:ident, $base:expr; $([$($field:ident = $value:expr),+] => $errno:expr;)*) => {{
        let mut argument = $base;
        assert_eq!(send($fd, ioctl::$request, &mut argument), OK, "{} as it is right", stringify!($request));
        bad_address($fd, stringify!($request), ioctl::$request);
        wrong!($fd, $request, $base; $([$($field = $value),+] => $errno;)*);
    }};
}

/// As `errors`, without the valid request.
macro_rules! wrong {
    ($fd:expr, $request:ident, $base:expr; $([$($field:ident = $value:expr),+] => $errno:expr;)*) => {{$(
        let mut argument = $base;
        $(argument.$field = $value;)+
        let errno = send($fd, ioctl::$request, &mut argument);
        assert_eq!(errno, $errno, "{}: {}", stringify!($request), stringify!($($field = $value),+));
    )*}};
}

/// An invalid address of an argument.
fn bad_address(fd: i32, name: &str, request: u32) {
    if request >> 16 & 0x3fff != 0 {
        for address in [0, NOWHERE, KERNELS, u64::MAX - 3] {
            assert_eq!(send_address(fd, request, address), EFAULT, "{name}: argument at 0x{address:x}");
        }
    }
}

/// The address of a value that lives as long as the test.
fn at<T>(value: &T) -> u64 {
    std::ptr::from_ref(value) as u64
}

/// A userptr buffer of two pages.
fn userptr(fd: i32) -> (u64, u32) {
    let all = libc::PROT_READ | libc::PROT_WRITE;
    let anonymous = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping.
    let memory = unsafe { libc::mmap(std::ptr::null_mut(), 8192, all, anonymous, -1, 0) };
    assert_ne!(memory, libc::MAP_FAILED);
    let user_ptr = memory as u64;
    let right = GemUserptr { user_ptr, user_size: 8192, ..Default::default() };
    (user_ptr, ask(fd, ioctl::GEM_USERPTR, right).handle)
}

/// For devices whose contexts share the global GTT's addresses.
fn one_address_space() {
    let fd = open();
    let vm = GemVmControl::default;
    wrong!(fd, GEM_VM_CREATE, vm(); [flags = 0] => ENODEV; [flags = 1] => ENODEV;);
    let param = |param| ContextParam { ctx_id: 0, size: 0, param, value: 0 };
    wrong!(fd, GEM_CONTEXT_GETPARAM, param(9); [size = 0] => ENODEV;);
    wrong!(fd, GEM_CONTEXT_SETPARAM, param(6); [value = 0] => ENODEV; [value = 1024] => EINVAL;);
    let size = ask(fd, ioctl::GEM_GET_APERTURE, GemGetAperture::default()).aper_size;
    assert_eq!(size, 2 << 30);
    assert_eq!(ask(fd, ioctl::GEM_CONTEXT_GETPARAM, param(3)).value, 2 << 30);
    // Stream output is reset on the render engine.
    let object = batch(fd, &[0x0500_0000]);
    let exec = |flags| ExecBuffer2 { buffers_ptr: at(&object), buffer_count: 1, flags, ..Default::default() };
    errors!(fd, GEM_EXECBUFFER2_WR, exec(1 | 1 << 8); [flags = 3 | 1 << 8] => EINVAL;);
}

#[test]
fn errors_without_address_spaces() {
    run_with("errors::errors_without_address_spaces", &["--device", "hsw"], &[], one_address_space);
}

fn driver() {
    let fd = open();
    let text = [0u8; 16];
    errors!(fd, VERSION, Version { name_len: 4, name: at(&text), ..Default::default() };
        [name = NOWHERE] => EFAULT; [name_len = u64::MAX] => OK; [name = 0] => OK;);
    errors!(fd, GET_CAP, GetCap { capability: 5, value: 0 };
        [capability = 0x10] => EOPNOTSUPP; [capability = 1] => EOPNOTSUPP; [capability = u64::MAX] => EOPNOTSUPP;);
    let value = 0u32;
    errors!(fd, GETPARAM, GetParam { param: 4, pad: 0, value: at(&value) };
        [value = 0] => EFAULT; [value = KERNELS] => EFAULT; [param = 0] => EINVAL; [param = -1] => EINVAL;
        [param = 9999] => EINVAL; [param = 1] => ENODEV; [pad = 1] => OK;);
    errors!(fd, REG_READ, RegRead { offset: 0x2358, val: 0 };
        [offset = 0x2359] => OK; [offset = 0x235a] => EINVAL; [offset = 0x2350] => EINVAL; [offset = u64::MAX] => EINVAL;);
    errors!(fd, GEM_GET_APERTURE, GemGetAperture::default(););
    assert_eq!(send_address(fd, ioctl::GEM_THROTTLE, 0), OK);
    wrong!(fd, PERF_OPEN, PerfOpenParam::default(); [flags = 0] => ENOTSUPP;);
}

fn queries() {
    let fd = open();
    let item = QueryItem { query_id: 1, ..Default::default() };
    errors!(fd, QUERY, Query { num_items: 1, flags: 0, items_ptr: at(&item) };
        [flags = 1] => EINVAL; [items_ptr = NOWHERE] => EFAULT; [num_items = 0, items_ptr = NOWHERE] => OK;);
    // An error of an item is stored in its length.
    let data = [0u64; 64];
    let lengths = [
        (QueryItem { query_id: 99, ..item }, -EINVAL),
        (QueryItem { query_id: u64::MAX, ..item }, -EINVAL),
        (QueryItem { flags: 1, ..item }, -EINVAL),
        (QueryItem { length: 3, data_ptr: at(&data), ..item }, -EINVAL),
        (QueryItem { length: -1, data_ptr: at(&data), ..item }, -EINVAL),
        (QueryItem { length: 512, data_ptr: NOWHERE, ..item }, -EFAULT),
        (QueryItem { query_id: 5, ..item }, -ENODEV),
    ];
    for (mut item, expected) in lengths {
        let wish = item;
        ask(
            fd,
            ioctl::QUERY,
            Query { num_items: 1, flags: 0, items_ptr: std::ptr::from_mut(&mut item) as u64 },
        );
        // SAFETY: a variable of our own, which the request has changed.
        assert_eq!(unsafe { std::ptr::from_ref(&item).read_volatile() }.length, expected, "{wish:?}");
    }
    let none = QueryItem { query_id: 0, ..item };
    wrong!(fd, QUERY, Query { num_items: 1, flags: 0, items_ptr: at(&none) }; [flags = 0] => EINVAL;);
}

fn buffers() {
    let fd = open();
    errors!(fd, GEM_CREATE, GemCreate { size: 1, ..Default::default() };
        [size = 0] => EINVAL; [size = u64::MAX] => EINVAL; [size = 1 << 46] => E2BIG; [pad = 7] => OK;);
    let region = 0u32;
    let wrong_region = 1u32;
    let list =
        |num_regions, regions| GemCreateExtMemoryRegions { num_regions, regions, ..Default::default() };
    let (one, other, gone) = (list(1, at(&region)), list(1, at(&wrong_region)), list(1, NOWHERE));
    let (many, padded) = (list(9, at(&region)), GemCreateExtMemoryRegions { pad: 1, ..one });
    let unknown = UserExtension { name: 5, ..Default::default() };
    let (flagged, reserved) = (
        UserExtension { flags: 1, ..Default::default() },
        UserExtension { rsvd: [0, 0, 0, 1], ..Default::default() },
    );
    errors!(fd, GEM_CREATE_EXT, GemCreateExt { size: 4096, extensions: at(&one), ..Default::default() };
        [extensions = 0] => OK; [extensions = NOWHERE] => EFAULT; [extensions = at(&unknown)] => EINVAL;
        [extensions = at(&flagged)] => EINVAL; [extensions = at(&reserved)] => EINVAL;
        [extensions = at(&other)] => EINVAL; [extensions = at(&gone)] => EFAULT; [extensions = at(&many)] => EINVAL;
        [extensions = at(&padded)] => EINVAL; [flags = 2] => EINVAL; [flags = 1] => EINVAL; [size = 0] => EINVAL;);
    errors!(fd, GEM_CLOSE, GemClose { handle: create(fd, 4096), pad: 0 };
        [handle = NONE] => EINVAL; [handle = 0] => EINVAL; [handle = u32::MAX] => EINVAL;);
    let handle = create(fd, 8192);
    let (user_ptr, of_program) = userptr(fd);
    errors!(fd, GEM_USERPTR, GemUserptr { user_ptr, user_size: 8192, ..Default::default() };
        [user_size = 0] => EINVAL; [user_size = 4097] => EINVAL; [user_ptr = user_ptr + 1] => EINVAL;
        [user_size = 1 << 46] => E2BIG; [user_ptr = KERNELS] => EFAULT; [user_ptr = 0x7fff_ffff_f000] => EFAULT;
        [flags = 4] => EINVAL; [flags = 1 << 31] => ENODEV; [flags = 2] => OK; [flags = 2, user_ptr = 0] => EFAULT;);
    errors!(fd, GEM_MMAP, GemMmap { handle, size: 8192, ..Default::default() };
        [handle = NONE] => ENOENT; [handle = of_program] => ENXIO; [flags = 2] => EINVAL; [flags = 1] => OK;
        [offset = 8192] => EINVAL; [size = 8193] => EINVAL; [offset = 4096] => EINVAL; [size = 0] => EINVAL;
        [offset = u64::MAX - 4095] => EINVAL; [offset = 4096, size = 4096] => OK; [offset = 1, size = 1] => EINVAL;);
    errors!(fd, GEM_MMAP_OFFSET, GemMmapOffset { handle, flags: 2, ..Default::default() };
        [handle = NONE] => ENOENT; [handle = of_program] => ENODEV; [flags = 4] => ENODEV; [flags = 5] => EINVAL;
        [flags = u64::MAX] => EINVAL; [extensions = NOWHERE] => EFAULT; [extensions = at(&unknown)] => EINVAL;);
    let data = [0u8; 64];
    let copy = || GemCopy { handle, pad: 0, offset: 8128, size: 64, data_ptr: at(&data) };
    errors!(fd, GEM_PREAD, copy();
        [handle = NONE] => ENOENT; [handle = of_program, offset = 0] => EINVAL; [offset = 8129] => EINVAL;
        [offset = u64::MAX] => EINVAL; [data_ptr = NOWHERE] => EFAULT; [data_ptr = KERNELS] => EFAULT;
        [size = u64::MAX] => EFAULT; [size = 0, handle = NONE] => OK;);
    errors!(fd, GEM_PWRITE, copy();
        [handle = NONE] => ENOENT; [handle = of_program, offset = 0] => EINVAL; [offset = 8129] => EINVAL;
        [offset = u64::MAX] => EINVAL; [data_ptr = NOWHERE] => EFAULT; [data_ptr = KERNELS] => EFAULT;
        [size = u64::MAX] => EFAULT; [size = 0, handle = NONE] => OK;);
}

fn states() {
    let fd = open();
    let handle = create(fd, 8192);
    let (_, of_program) = userptr(fd);
    errors!(fd, GEM_SET_DOMAIN, GemSetDomain { handle, read_domains: 0x40, write_domain: 0x40 };
        [handle = NONE] => ENOENT; [read_domains = 2] => EINVAL; [write_domain = 2] => EINVAL;
        [read_domains = 1] => EINVAL; [write_domain = 0] => OK; [read_domains = 0, write_domain = 0, handle = NONE] => OK;);
    let mut unknown = NONE;
    assert_eq!(send(fd, ioctl::GEM_SW_FINISH, &mut unknown), ENOENT);
    bad_address(fd, "GEM_SW_FINISH", ioctl::GEM_SW_FINISH);
    errors!(fd, GEM_BUSY, GemBusy { handle, busy: 0 }; [handle = NONE] => ENOENT; [handle = 0] => ENOENT;);
    errors!(fd, GEM_WAIT, GemWait { handle, flags: 0, timeout_ns: 0 };
        [handle = NONE] => ENOENT; [flags = 1] => EINVAL; [timeout_ns = -1] => OK; [timeout_ns = i64::MIN] => OK;);
    errors!(fd, GEM_MADVISE, GemMadvise { handle, madv: 0, retained: 0 };
        [handle = NONE] => ENOENT; [madv = 2] => EINVAL; [madv = 2, handle = NONE] => EINVAL;);
    errors!(fd, GEM_SET_CACHING, GemCaching { handle, caching: 1 };
        [handle = NONE] => ENOENT; [caching = 3] => EINVAL; [handle = of_program] => OK;
        [handle = of_program, caching = 0] => ENXIO;);
    errors!(fd, GEM_GET_CACHING, GemCaching { handle, caching: 0 }; [handle = NONE] => ENOENT;);
    errors!(fd, GEM_SET_TILING, GemSetTiling { handle, tiling_mode: 1, stride: 512, swizzle_mode: 0 };
        [handle = NONE] => ENOENT; [handle = of_program] => ENXIO; [tiling_mode = 3] => EINVAL; [stride = 0] => EINVAL;
        [stride = 128] => EINVAL; [tiling_mode = 2, stride = 128] => OK; [stride = 1 << 19] => EINVAL;
        [tiling_mode = 0, stride = 7] => OK;);
    errors!(fd, GEM_GET_TILING, GemGetTiling { handle, ..Default::default() }; [handle = NONE] => ENOENT;);
}

fn contexts() {
    let fd = open();
    let context = || ask(fd, ioctl::GEM_CONTEXT_CREATE_EXT, ContextCreateExt::default()).ctx_id;
    let param = |param, value| ContextParam { ctx_id: 0, size: 0, param, value };
    let set =
        |name, param| ContextCreateExtSetparam { base: UserExtension { name, ..Default::default() }, param };
    let (right, cloned, unknown) = (set(0, param(8, 0)), set(1, param(8, 0)), set(2, param(8, 0)));
    let (named, odd, gone) =
        (set(0, ContextParam { ctx_id: 1, ..param(8, 0) }), set(0, param(99, 0)), set(0, param(9, 99)));
    let looped = ContextCreateExtSetparam {
        base: UserExtension { next_extension: at(&right), ..Default::default() },
        ..right
    };
    errors!(fd, GEM_CONTEXT_CREATE_EXT, ContextCreateExt { ctx_id: 0, flags: 1, extensions: at(&right) };
        [flags = 4] => EINVAL; [flags = 0, extensions = NOWHERE] => OK; [extensions = NOWHERE] => EFAULT;
        [extensions = at(&cloned)] => EINVAL; [extensions = at(&unknown)] => EINVAL; [extensions = at(&named)] => EINVAL;
        [extensions = at(&odd)] => EINVAL; [extensions = at(&gone)] => ENOENT; [extensions = at(&looped)] => OK;);
    let mut circle = right;
    circle.base.next_extension = at(&circle);
    wrong!(fd, GEM_CONTEXT_CREATE_EXT, ContextCreateExt { ctx_id: 0, flags: 1, extensions: circle.base.next_extension };
        [flags = 1] => E2BIG;);
    errors!(fd, GEM_CONTEXT_DESTROY, ContextDestroy { ctx_id: context(), pad: 0 };
        [pad = 1] => EINVAL; [ctx_id = 0] => ENOENT; [ctx_id = NONE] => ENOENT;);
    errors!(fd, GEM_CONTEXT_GETPARAM, ContextParam { ctx_id: context(), param: 3, ..Default::default() };
        [ctx_id = NONE] => ENOENT; [param = 1] => EINVAL; [param = 10] => EINVAL; [param = 12] => EINVAL; [param = 99] => EINVAL;
        [param = 7, size = 8] => EINVAL; [param = 7, size = 32, value = NOWHERE] => EFAULT; [param = 7] => OK;);
    let map = [0u64, 0];
    let alien = [0u64, 0x0000_0007];
    errors!(fd, GEM_CONTEXT_SETPARAM, ContextParam { ctx_id: context(), param: 8, ..Default::default() };
        [ctx_id = NONE] => ENOENT; [size = 1] => EINVAL; [param = 3] => EINVAL; [param = 1] => EINVAL; [param = 99] => EINVAL;
        [param = 5, value = 0] => EPERM; [param = 6, value = 1] => EPERM; [param = 6, value = 1024] => EINVAL;
        [param = 6, value = -1024i64 as u64] => EINVAL; [param = 6, value = -1023i64 as u64] => OK; [param = 7] => EINVAL;
        [param = 7, size = 32] => ENODEV; [param = 9, value = 99] => ENOENT; [param = 9, size = 8] => EINVAL;
        [param = 10, size = 4] => EINVAL; [param = 10, size = 10, value = at(&map)] => EINVAL;
        [param = 10, size = 12, value = NOWHERE] => EFAULT; [param = 10, size = 12, value = at(&alien)] => ENOENT;
        [param = 10, size = 12, value = at(&map)] => OK; [param = 13, value = 1] => ENODEV;);
    // Address space and engines of a used context cannot be changed.
    wrong!(fd, GEM_CONTEXT_SETPARAM, ContextParam::default(); [param = 9] => EINVAL; [param = 10, size = 8, value = at(&map)] => EINVAL;);
    errors!(fd, GET_RESET_STATS, ResetStats::default(); [ctx_id = NONE] => ENOENT; [flags = 1] => EINVAL; [pad = 1] => EINVAL;);
    let extension = UserExtension::default();
    errors!(fd, GEM_VM_CREATE, GemVmControl::default();
        [flags = 1] => EINVAL; [extensions = NOWHERE] => EFAULT; [extensions = at(&extension)] => EINVAL;);
    errors!(fd, GEM_VM_DESTROY, ask(fd, ioctl::GEM_VM_CREATE, GemVmControl::default());
        [flags = 1] => EINVAL; [extensions = NOWHERE] => EINVAL; [vm_id = 0] => ENOENT; [vm_id = NONE] => ENOENT;);
}

/// MI_BATCH_BUFFER_END
const END: u32 = 0x0500_0000;

fn batches() {
    let fd = open();
    let right = batch(fd, &[END]);
    let base = || ExecBuffer2 { buffers_ptr: at(&right), buffer_count: 1, flags: 1, ..Default::default() };
    errors!(fd, GEM_EXECBUFFER2_WR, base();
        [buffer_count = 0] => EINVAL; [buffer_count = u32::MAX] => EINVAL; [buffers_ptr = NOWHERE] => EFAULT;
        [buffers_ptr = KERNELS] => EFAULT; [batch_start_offset = 4] => EINVAL; [batch_start_offset = 8192] => EINVAL;
        [batch_len = 4] => EINVAL; [batch_len = 8200] => EINVAL; [dr1 = 1] => EINVAL; [dr4 = 1] => EINVAL; [dr4 = u32::MAX] => OK;
        [num_cliprects = 1] => EINVAL; [cliprects_ptr = 8] => EINVAL; [rsvd1 = u64::from(NONE)] => ENOENT;
        [flags = 2] => EINVAL; [flags = 63] => EINVAL; [flags = 1 | 1 << 6] => EINVAL; [flags = 1 | 1 << 8] => EINVAL;
        [flags = 1 | 1 << 9] => EPERM; [flags = 1 | 1 << 13] => EINVAL; [flags = 1 | 1 << 15] => EINVAL;
        [flags = 1 | 1 << 22] => EINVAL; [flags = 1 | 1 << 63] => EINVAL; [flags = 0] => OK; [flags = 3] => OK;
        [flags = 1 | 1 << 16, rsvd2 = 0] => EINVAL; [flags = 1 | 1 << 16, rsvd2 = u64::from(NONE)] => EINVAL;
        [flags = 1 | 1 << 16 | 1 << 20] => EINVAL; [flags = 1 | 1 << 19 | 1 << 21] => EINVAL;
        [flags = 1 | 1 << 19, num_cliprects = 1, cliprects_ptr = NOWHERE] => EFAULT;
        [flags = 1 | 1 << 21, cliprects_ptr = NOWHERE] => EFAULT; [flags = 1 | 1 << 21, num_cliprects = 1] => EINVAL;);
    let sync_object = ask(fd, ioctl::SYNCOBJ_CREATE, SyncobjCreate::default()).handle;
    for (handle, flags, errno) in
        [(sync_object, 2, OK), (NONE, 2, ENOENT), (sync_object, 4, EINVAL), (0, 1, ENOENT)]
    {
        let fence = ExecFence { handle, flags };
        wrong!(fd, GEM_EXECBUFFER2_WR, base(); [flags = 1 | 1 << 19, num_cliprects = 1, cliprects_ptr = at(&fence)] => errno;);
    }
    let empty = ask(fd, ioctl::SYNCOBJ_CREATE, SyncobjCreate::default()).handle;
    let waits = ExecFence { handle: empty, flags: 1 };
    wrong!(fd, GEM_EXECBUFFER2_WR, base(); [flags = 1 | 1 << 19, num_cliprects = 1, cliprects_ptr = at(&waits)] => EINVAL;);
    let fence = ExecFence { handle: empty, flags: 2 };
    let point = 3u64;
    let timeline = |handles_ptr, values_ptr, name| ExecTimelineFences {
        base: UserExtension { name, ..Default::default() },
        fence_count: 1,
        handles_ptr,
        values_ptr,
    };
    for (list, errno) in [
        (timeline(at(&fence), at(&point), 0), OK),
        (timeline(NOWHERE, at(&point), 0), EFAULT),
        (timeline(at(&fence), NOWHERE, 0), EFAULT),
        (timeline(at(&fence), at(&point), 1), EINVAL),
    ] {
        wrong!(fd, GEM_EXECBUFFER2_WR, base(); [flags = 1 | 1 << 21, cliprects_ptr = at(&list)] => errno;);
    }
}

fn objects() {
    let fd = open();
    let (batch, handle) = (batch(fd, &[END]), create(fd, 8192));
    let send_objects = |first: ExecObject2, flags: u64| {
        let objects = [first, batch];
        let mut args = ExecBuffer2 {
            buffers_ptr: at(&objects),
            buffer_count: 2,
            flags: flags | 1,
            ..Default::default()
        };
        send(fd, ioctl::GEM_EXECBUFFER2_WR, &mut args)
    };
    let right = ExecObject2 { handle, offset: 0x20_0000, flags: PINNED, ..Default::default() };
    for (object, errno) in [
        (right, OK),
        (ExecObject2 { handle: NONE, ..right }, ENOENT),
        (ExecObject2 { flags: PINNED | 1 << 8, ..right }, EINVAL),
        (ExecObject2 { flags: u64::MAX, ..right }, EINVAL),
        (ExecObject2 { alignment: 3, ..right }, EINVAL),
        (ExecObject2 { offset: 0x20_0008, ..right }, EINVAL),
        (ExecObject2 { offset: 1 << 47, ..right }, EINVAL),
        (ExecObject2 { offset: 0x10_0000, ..right }, libc::ENOSPC),
        (ExecObject2 { flags: PINNED | 1 << 5, pad_to_size: 5, ..right }, EINVAL),
        (ExecObject2 { relocation_count: 1, relocs_ptr: NOWHERE, ..right }, EFAULT),
        (ExecObject2 { relocation_count: 1 << 30, relocs_ptr: KERNELS, ..right }, EFAULT),
    ] {
        assert_eq!(send_objects(object, 0), errno, "{object:?}");
    }
    let entry = RelocationEntry { target_handle: 1, presumed_offset: u64::MAX, ..Default::default() };
    for (entry, errno) in [
        (entry, OK),
        (RelocationEntry { target_handle: 2, ..entry }, ENOENT),
        (RelocationEntry { offset: 8184, ..entry }, OK),
        (RelocationEntry { offset: 8188, ..entry }, EINVAL),
        (RelocationEntry { offset: u64::MAX - 3, ..entry }, EINVAL),
        (RelocationEntry { offset: 2, ..entry }, EINVAL),
        (RelocationEntry { read_domains: 1, ..entry }, EINVAL),
        (RelocationEntry { write_domain: 0x40, ..entry }, EINVAL),
        (RelocationEntry { read_domains: 6, write_domain: 6, ..entry }, EINVAL),
    ] {
        let object = ExecObject2 { relocation_count: 1, relocs_ptr: at(&entry), ..right };
        assert_eq!(send_objects(object, 1 << 12), errno, "{entry:?}");
    }
}

fn sync_objects() {
    let fd = open();
    let create = |flags| ask(fd, ioctl::SYNCOBJ_CREATE, SyncobjCreate { handle: 0, flags }).handle;
    errors!(fd, SYNCOBJ_CREATE, SyncobjCreate::default(); [flags = 2] => EINVAL; [flags = 1] => OK;);
    errors!(fd, SYNCOBJ_DESTROY, SyncobjDestroy { handle: create(0), pad: 0 };
        [pad = 1] => EINVAL; [handle = 0] => EINVAL; [handle = NONE] => EINVAL;);
    let (signaled, empty) = (create(1), create(0));
    errors!(fd, SYNCOBJ_HANDLE_TO_FD, SyncobjHandle { handle: signaled, flags: 0, fd: -1, pad: 0 };
        [handle = NONE] => EINVAL; [flags = 2] => EINVAL; [pad = 1] => EINVAL; [flags = 1] => OK;
        [flags = 1, handle = NONE] => ENOENT; [flags = 1, handle = empty] => EINVAL;);
    let exported = |flags| {
        ask(fd, ioctl::SYNCOBJ_HANDLE_TO_FD, SyncobjHandle { handle: signaled, flags, fd: -1, pad: 0 }).fd
    };
    let (object_fd, file_fd) = (exported(0), exported(1));
    errors!(fd, SYNCOBJ_FD_TO_HANDLE, SyncobjHandle { handle: 0, flags: 0, fd: object_fd, pad: 0 };
        [fd = -1] => EINVAL; [fd = 0] => EINVAL; [fd = file_fd] => EINVAL; [flags = 2] => EINVAL; [pad = 1] => EINVAL;
        [flags = 1, fd = object_fd] => EINVAL; [flags = 1, fd = file_fd] => ENOENT;
        [flags = 1, fd = file_fd, handle = empty] => OK;);
    let (one, gone) = ([create(1)], [NONE]);
    let nothing = [create(0)];
    errors!(fd, SYNCOBJ_WAIT, SyncobjWait { handles: at(&one), count_handles: 1, ..Default::default() };
        [count_handles = 0] => EINVAL; [handles = NOWHERE] => EFAULT; [handles = at(&gone)] => ENOENT; [flags = 4] => EINVAL;
        [handles = at(&nothing)] => EINVAL; [handles = at(&nothing), flags = 2] => ETIME;);
    let point = [0u64];
    errors!(fd, SYNCOBJ_TIMELINE_WAIT, SyncobjTimelineWait { handles: at(&one), points: at(&point), count_handles: 1, ..Default::default() };
        [count_handles = 0] => EINVAL; [handles = NOWHERE] => EFAULT; [points = NOWHERE] => EFAULT; [points = 0] => OK;
        [handles = at(&gone)] => ENOENT; [flags = 8] => EINVAL; [handles = at(&nothing), flags = 4] => ETIME;);
    errors!(fd, SYNCOBJ_RESET, SyncobjArray { handles: at(&nothing), count_handles: 1, pad: 0 };
        [pad = 1] => EINVAL; [count_handles = 0] => EINVAL; [handles = NOWHERE] => EFAULT; [handles = at(&gone)] => ENOENT;);
    errors!(fd, SYNCOBJ_SIGNAL, SyncobjArray { handles: at(&one), count_handles: 1, pad: 0 };
        [pad = 1] => EINVAL; [count_handles = 0] => EINVAL; [handles = NOWHERE] => EFAULT; [handles = at(&gone)] => ENOENT;);
    let array = || SyncobjTimelineArray { handles: at(&one), points: at(&point), count_handles: 1, flags: 0 };
    errors!(fd, SYNCOBJ_QUERY, array();
        [flags = 2] => EINVAL; [flags = 1] => OK; [count_handles = 0] => EINVAL; [handles = NOWHERE] => EFAULT;
        [points = NOWHERE] => EFAULT; [handles = at(&gone)] => ENOENT;);
    errors!(fd, SYNCOBJ_TIMELINE_SIGNAL, array();
        [flags = 1] => EINVAL; [count_handles = 0] => EINVAL; [handles = NOWHERE] => EFAULT; [points = NOWHERE] => EFAULT;
        [handles = at(&gone)] => ENOENT;);
    let transfer = || SyncobjTransfer { src_handle: signaled, dst_handle: empty, ..Default::default() };
    errors!(fd, SYNCOBJ_TRANSFER, transfer();
        [pad = 1] => EINVAL; [src_handle = NONE] => ENOENT; [dst_handle = NONE] => ENOENT; [src_handle = create(0)] => EINVAL;
        [dst_point = 4] => OK;);
}

fn descriptors() {
    let fd = open();
    let handle = create(fd, 4096);
    let (_, of_program) = userptr(fd);
    errors!(fd, PRIME_HANDLE_TO_FD, PrimeHandle { handle, flags: 0, fd: -1 };
        [handle = NONE] => ENOENT; [handle = of_program] => EINVAL; [flags = 4] => EINVAL; [flags = libc::O_CLOEXEC as u32] => OK;);
    let exported = ask(fd, ioctl::PRIME_HANDLE_TO_FD, PrimeHandle { handle, flags: 0, fd: -1 }).fd;
    errors!(fd, PRIME_FD_TO_HANDLE, PrimeHandle { handle: 0, flags: 0, fd: exported };
        [fd = -1] => EBADF; [fd = 999] => EBADF; [fd = 0] => EINVAL; [fd = fd] => EINVAL;);
    // No request of a render node, of this driver, of DRM.
    let mut argument = [0u64; 16];
    for (request, errno) in [
        (0xc008_640a, EACCES),
        (0x0000_641e, EACCES),
        (0xc020_64b2, EACCES),
        (0xc010_649e, EINVAL),
        (0xc010_64ff, EINVAL),
        (0xc010_6546, ENOTTY),
    ] {
        assert_eq!(send(fd, request, &mut argument), errno, "request 0x{request:08x}");
    }
    // The same requests to other files.
    assert_eq!(send(-1, ioctl::GEM_CREATE, &mut argument), EBADF);
    assert_eq!(send(exported, ioctl::GEM_CREATE, &mut argument), ENOTTY);
    // SAFETY: the descriptor is this test's.
    unsafe { libc::close(fd) };
    assert_eq!(send(fd, ioctl::GEM_CREATE, &mut argument), EBADF);
}

/// A batch does not run if the descriptor of its fence cannot be created.
fn no_more_descriptors() {
    let fd = open();
    let handle = create(fd, 8192);
    let value = [7u32];
    // MI_STORE_DATA_IMM
    let batch = batch(fd, &[0x1000_0002, 0x20_0000, 0, value[0], END]);
    let objects = [ExecObject2 { handle, offset: 0x20_0000, flags: PINNED | 4, ..Default::default() }, batch];
    let limit = libc::rlimit { rlim_cur: 64, rlim_max: 64 };
    // SAFETY: the limit of this test's own process.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
    // SAFETY: duplicates that are closed with the process.
    while unsafe { libc::dup(fd) } >= 0 {}
    let base = || ExecBuffer2 { buffers_ptr: at(&objects), buffer_count: 2, flags: 1, ..Default::default() };
    wrong!(fd, GEM_EXECBUFFER2_WR, base(); [flags = 1 | 1 << 17] => EMFILE;);
    ask(fd, ioctl::GEM_WAIT, GemWait { handle, flags: 0, timeout_ns: -1 });
    assert_eq!(read(fd, handle, 0), 0);
    ask(fd, ioctl::GEM_EXECBUFFER2_WR, base());
    ask(fd, ioctl::GEM_WAIT, GemWait { handle, flags: 0, timeout_ns: -1 });
    assert_eq!(read(fd, handle, 0), value[0]);
    wrong!(fd, PRIME_HANDLE_TO_FD, PrimeHandle { handle, flags: 0, fd: -1 }; [fd = -1] => EMFILE;);
}

crate::support::under_gencl_sim! {
    errors_of_the_driver: driver;
    errors_of_queries: queries;
    errors_of_buffers: buffers;
    errors_of_states: states;
    errors_of_contexts: contexts;
    errors_of_batches: batches;
    errors_of_objects: objects;
    errors_of_sync_objects: sync_objects;
    errors_of_descriptors: descriptors;
    errors_without_descriptors: no_more_descriptors;
}

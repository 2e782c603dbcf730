//! Support for tests that use the node directly: running under `gencl-sim`, and requests.

use bytemuck::Pod;
use gencl_i915::uapi::{ExecBuffer2, ExecObject2, GemCopy, GemCreate, GemWait, ioctl};

pub use crate::under_gencl_sim::gencl_sim;
use crate::under_gencl_sim::run_with;

/// Declares tests that `gencl-sim` runs: names and functions.
macro_rules! under_gencl_sim {
    ($($name:ident: $body:ident;)*) => {$(
        #[test]
        fn $name() {
            crate::support::run(concat!(module_path!(), "::", stringify!($name)), $body);
        }
    )*};
}
pub(crate) use under_gencl_sim;

/// Runs `body` in a process under `gencl-sim`: this test, started again.
pub fn run(path: &str, body: fn()) {
    let (_, test) = path.split_once("::").expect("a test in a module");
    run_with(test, &[], &[], body);
}

/// Opens the node.
pub fn open() -> i32 {
    // SAFETY: a C string.
    let fd = unsafe { libc::open(c"/dev/dri/renderD128".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
    assert!(fd >= 0, "{}", std::io::Error::last_os_error());
    fd
}

/// Makes a request with the argument at any address. Returns 0 or the error number.
pub fn send_address(fd: i32, request: u32, address: u64) -> i32 {
    // SAFETY: where there is something, it is an argument of the right size; the rest the node has to refuse.
    let result = unsafe { libc::ioctl(fd, u64::from(request), address) };
    if result == 0 { 0 } else { std::io::Error::last_os_error().raw_os_error().unwrap_or(0) }
}

/// Makes a request. Returns 0 or the error number.
pub fn send<T: Pod>(fd: i32, request: u32, argument: &mut T) -> i32 {
    assert!(size_of::<T>() >= (request >> 16 & 0x3fff) as usize);
    send_address(fd, request, std::ptr::from_mut(argument) as u64)
}

/// Makes a request that has to succeed. Returns the argument.
pub fn ask<T: Pod>(fd: i32, request: u32, mut argument: T) -> T {
    assert_eq!(send(fd, request, &mut argument), 0, "request 0x{request:08x}");
    argument
}

/// A new buffer's handle.
pub fn create(fd: i32, size: u64) -> u32 {
    ask(fd, ioctl::GEM_CREATE, GemCreate { size, ..Default::default() }).handle
}

/// Flags of an object with a fixed address (`EXEC_OBJECT_PINNED`, `EXEC_OBJECT_SUPPORTS_48B_ADDRESS`).
pub const PINNED: u64 = 0x18;
/// `EXEC_OBJECT_WRITE`
const WRITTEN: u64 = 4;
/// The GPU's address of the buffer that [`store`] writes to.
const TARGET: u64 = 0x20_0000;

/// A buffer with a batch: an object at a fixed address.
pub fn batch(fd: i32, dwords: &[u32]) -> ExecObject2 {
    let handle = create(fd, 8192);
    write(fd, handle, 0, dwords);
    ExecObject2 { handle, offset: 0x10_0000, flags: PINNED, ..Default::default() }
}

fn copy(handle: u32, offset: u64, dwords: &[u32]) -> GemCopy {
    GemCopy { handle, pad: 0, offset, size: size_of_val(dwords) as u64, data_ptr: dwords.as_ptr() as u64 }
}

/// Writes to a buffer.
pub fn write(fd: i32, handle: u32, offset: u64, dwords: &[u32]) {
    ask(fd, ioctl::GEM_PWRITE, copy(handle, offset, dwords));
}

/// A dword of a buffer.
pub fn read(fd: i32, handle: u32, offset: u64) -> u32 {
    let dword = [0];
    ask(fd, ioctl::GEM_PREAD, copy(handle, offset, &dword));
    // SAFETY: a variable of our own, which the request has changed.
    unsafe { dword.as_ptr().read_volatile() }
}

/// Submits a batch that writes a dword to a buffer, and waits for it.
pub fn store(fd: i32, handle: u32, offset: u64, value: u32) {
    // MI_STORE_DATA_IMM, MI_BATCH_BUFFER_END
    let batch = batch(fd, &[0x1000_0002, (TARGET + offset) as u32, 0, value, 0x0500_0000]);
    let target = ExecObject2 { handle, offset: TARGET, flags: PINNED | WRITTEN, ..Default::default() };
    let objects = [target, batch];
    let buffers_ptr = objects.as_ptr() as u64;
    ask(
        fd,
        ioctl::GEM_EXECBUFFER2_WR,
        ExecBuffer2 { buffers_ptr, buffer_count: 2, flags: 1, ..Default::default() },
    );
    ask(fd, ioctl::GEM_WAIT, GemWait { handle, flags: 0, timeout_ns: -1 });
}

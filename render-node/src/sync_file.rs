//! Sync files: descriptors of fences (`drivers/dma-buf/sync_file.c`).
//!
//! A sync file can be polled, merged with another, and queried for its fences. The program has one end of a
//! socket pair. The other end is shut down when the fences are signaled, or when the process that owns them
//! ends, which makes the program's end readable. The other end has a name, by which another process
//! recognises the descriptor; there the fence can only be waited for.

use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bytemuck::Zeroable;
use gencl_i915::uapi::{SyncFenceInfo, SyncFileInfo, SyncMergeData};
use gencl_i915::{Engine, Errno, Result};
use gencl_simulator::Fence;

use crate::descriptors::{self, Descriptor, Lookup, SyncFile};
use crate::{caller, real};

const EINVAL: Errno = Errno(libc::EINVAL);

/// Prefix of the sockets' names, which are abstract, without files.
const NAME: &[u8] = b"\0gencl-sync-file-";

/// The end that is shut down when all fences are signaled.
struct Signal {
    socket: OwnedFd,
    missing: AtomicUsize,
}

impl Signal {
    fn one_less(&self) {
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            // Shut down, not only closed, as a child may have a duplicate.
            // SAFETY: no pointers.
            unsafe { libc::shutdown(self.socket.as_raw_fd(), libc::SHUT_RDWR) };
        }
    }
}

fn last_error() -> Errno {
    Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EMFILE))
}

/// Keeps the last fence of each timeline (`dma_fence_unwrap_merge`).
fn last_of_each_line(fences: impl IntoIterator<Item = Fence>) -> Vec<Fence> {
    let mut last: Vec<Fence> = Vec::new();
    for fence in fences {
        match last.iter_mut().find(|other| other.context() == fence.context()) {
            Some(other) if other.number() < fence.number() => *other = fence,
            Some(_) => {}
            None => last.push(fence),
        }
    }
    last
}

/// A new descriptor for fences, close-on-exec as in the kernel. Errors: `EMFILE` and others.
pub fn create(fences: impl IntoIterator<Item = Fence>) -> Result<RawFd> {
    Ok(Reserved::new()?.fill(fences))
}

/// Descriptors reserved for a sync file, so that creating it cannot fail.
pub struct Reserved {
    programs: OwnedFd,
    ours: OwnedFd,
}

impl Reserved {
    /// Errors: `EMFILE` and others.
    pub fn new() -> Result<Reserved> {
        let (programs, ours) = sockets()?;
        Ok(Reserved { programs, ours })
    }

    /// The descriptor for these fences.
    pub fn fill(self, fences: impl IntoIterator<Item = Fence>) -> RawFd {
        self.fill_named(last_of_each_line(fences), [0; 32])
    }

    fn fill_named(self, fences: Vec<Fence>, name: [u8; 32]) -> RawFd {
        let signal = Arc::new(Signal { socket: self.ours, missing: AtomicUsize::new(fences.len() + 1) });
        for fence in &fences {
            let signal = Arc::clone(&signal);
            fence.on_signal(move || signal.one_less());
        }
        signal.one_less();
        let fd = self.programs.into_raw_fd();
        descriptors::insert(fd, Descriptor::SyncFile(Arc::new(SyncFile { fences, name })));
        fd
    }
}

/// A socket pair: the program's end and ours.
fn sockets() -> Result<(OwnedFd, OwnedFd)> {
    let mut pair = [-1; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: the array has room for the two descriptors.
    if unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, pair.as_mut_ptr()) } < 0 {
        return Err(last_error());
    }
    // SAFETY: the descriptors are new and not owned elsewhere.
    let pair = pair.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
    let [programs, ours] = pair;
    let ours = real::out_of_the_way(ours);
    let (address, length) = socket_name();
    // SAFETY: the address and its length are our own.
    if unsafe { libc::bind(ours.as_raw_fd(), (&raw const address).cast(), length) } < 0 {
        return Err(last_error());
    }
    Ok((programs, ours))
}

fn socket_name() -> (libc::sockaddr_un, libc::socklen_t) {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let mut address = libc::sockaddr_un { sun_family: libc::AF_UNIX as u16, sun_path: [0; 108] };
    let name = NAME.iter().chain(number.as_bytes());
    let length = address.sun_path.iter_mut().zip(name).map(|(to, from)| *to = *from as libc::c_char).count();
    (address, (size_of::<libc::sa_family_t>() + length) as libc::socklen_t)
}

/// The fences of a descriptor (`sync_file_get_fence`). `EINVAL` for other descriptors.
pub fn fences(fd: RawFd) -> Result<Vec<Fence>> {
    match descriptors::get(fd) {
        Lookup::Is(Descriptor::SyncFile(file)) => Ok(file.fences.clone()),
        Lookup::Unknown => foreign(fd).map(|fence| vec![fence]),
        Lookup::Is(_) | Lookup::Dead => Err(EINVAL),
    }
}

/// A sync file of another process, with a fence that is signaled when its descriptor is readable.
fn foreign(fd: RawFd) -> Result<Fence> {
    let mut address = libc::sockaddr_un { sun_family: 0, sun_path: [0; 108] };
    let mut length = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: the address has the room that is said.
    let result = unsafe { libc::getpeername(fd, (&raw mut address).cast(), &mut length) };
    let is_ours = NAME.iter().zip(&address.sun_path).all(|(a, b)| *a == *b as u8);
    if result < 0 || !is_ours {
        return Err(EINVAL);
    }
    // SAFETY: no pointers; the result is checked.
    let copy = unsafe { real::fcntl(fd, libc::F_DUPFD_CLOEXEC, real::LOWEST_OWN as usize) };
    if copy < 0 {
        return Err(last_error());
    }
    // SAFETY: the descriptor is new and not owned elsewhere.
    let copy = unsafe { OwnedFd::from_raw_fd(copy) };
    let fence = Fence::pending();
    let signaled = fence.clone();
    let wait = move || {
        let mut poll = libc::pollfd { fd: copy.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one structure of our own.
        while unsafe { libc::poll(&mut poll, 1, -1) } < 1 {}
        signaled.complete(0);
    };
    let thread = std::thread::Builder::new().name("gencl-fence".into());
    thread.spawn(wait).map_err(|_| Errno(libc::ENOMEM))?;
    Ok(fence)
}

fn status(fences: &[Fence]) -> i32 {
    let each = fences.iter().map(Fence::status);
    each.min_by_key(|status| if *status < 0 { -1 } else { *status }).unwrap_or(1)
}

fn text(out: &mut [u8; 32], text: &str) {
    for (to, from) in out[..31].iter_mut().zip(text.bytes()) {
        *to = from;
    }
}

fn timeline_name(fence: &Fence) -> &'static str {
    match fence.engine() {
        Some(Engine::Render) => "rcs0",
        Some(Engine::Blit) => "bcs0",
        None => "stub",
    }
}

impl SyncFile {
    /// `SYNC_IOC_MERGE`
    pub fn merge(&self, address: u64) -> Result<()> {
        let mut data: SyncMergeData = caller::read(address)?;
        if data.flags != 0 || data.pad != 0 {
            return Err(EINVAL);
        }
        let others = fences(data.fd2).map_err(|_| Errno(libc::ENOENT))?;
        data.name[31] = 0;
        let all = last_of_each_line(self.fences.iter().cloned().chain(others));
        let fd = Reserved::new()?.fill_named(all, data.name);
        data.fence = fd;
        caller::write(address, &data).inspect_err(|_| {
            // SAFETY: it is new, and the program does not know it.
            unsafe { libc::close(fd) };
        })
    }

    /// `SYNC_IOC_FILE_INFO`
    pub fn info(&self, address: u64) -> Result<()> {
        let mut info: SyncFileInfo = caller::read(address)?;
        if info.flags != 0 || info.pad != 0 {
            return Err(EINVAL);
        }
        let count = self.fences.len() as u32;
        if info.num_fences != 0 {
            if info.num_fences < count {
                return Err(EINVAL);
            }
            let each: Vec<SyncFenceInfo> = self.fences.iter().map(fence_info).collect();
            caller::write_bytes(info.sync_fence_info, bytemuck::cast_slice(&each))?;
        }
        info.status = status(&self.fences);
        info.num_fences = count;
        info.name = self.name;
        if let Some(fence) = self.fences.first().filter(|_| self.name[0] == 0) {
            let name = format!("i915-{}{}-{}", timeline_name(fence), fence.context(), fence.number());
            info.name = [0; 32];
            text(&mut info.name, &name);
        }
        caller::write(address, &info)
    }
}

fn fence_info(fence: &Fence) -> SyncFenceInfo {
    let mut info = SyncFenceInfo::zeroed();
    text(&mut info.obj_name, timeline_name(fence));
    text(&mut info.driver_name, "i915");
    info.status = fence.status();
    info.timestamp_ns = fence.timestamp() as u64;
    info
}

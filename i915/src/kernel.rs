//! Render nodes of the kernel: device files under `/dev/dri`.
//!
//! Requests of all DRM drivers use the `drm` crate, built to make its system calls through the C library
//! (feature `use-libc` of `rustix`), so that a preload library can intercept them. Requests of i915 are made
//! here.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use drm::Device;
use drm_ffi::gem;
use memmap2::MmapOptions;

use crate::facts;
use crate::uapi::{self, ioctl};
use crate::{
    ContextId, DriverVersion, Errno, ErrorState, ExecBuffer, FaultPlace, GemHandle, HostMemory, RenderNode,
    ResetStats, Result,
};

/// An open device file of the i915 driver.
#[derive(Debug)]
pub struct KernelNode {
    file: File,
    path: PathBuf,
    /// Bytes of the buffers that were created here: the kernel does not tell the size of a handle.
    sizes: Mutex<HashMap<GemHandle, usize>>,
}

/// A device file, and its device or the reason why it cannot be used.
#[derive(Debug)]
pub struct FoundNode {
    /// `/dev/dri/renderD128`
    pub path: PathBuf,
    /// The PCI device id of an i915 device, or the reason why it cannot be used.
    pub device: std::result::Result<u16, String>,
}

/// Folder of the device files of GPUs.
const FOLDER: &str = "/dev/dri";

/// The render nodes of this machine in the order of their numbers, usable or not. Empty when there is
/// no `/dev/dri`.
pub fn find() -> Vec<FoundNode> {
    find_in(Path::new(FOLDER))
}

/// Whether this machine has a render node of any driver. Opens no files.
pub fn has_nodes() -> bool {
    !nodes_in(Path::new(FOLDER)).is_empty()
}

fn nodes_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let number = |name: &OsStr| name.to_str()?.strip_prefix("renderD")?.parse::<u32>().ok();
    let mut nodes: Vec<(u32, PathBuf)> =
        entries.filter_map(|e| e.ok()).filter_map(|e| Some((number(&e.file_name())?, e.path()))).collect();
    nodes.sort();
    nodes.into_iter().map(|(_, path)| path).collect()
}

fn find_in(folder: &Path) -> Vec<FoundNode> {
    let probe = |path: PathBuf| {
        let device = KernelNode::open(&path)
            .and_then(|node| node.get_param(uapi::param::CHIPSET_ID).map_err(|e| e.to_string()))
            .map(|id| id as u16);
        FoundNode { path, device }
    };
    nodes_in(folder).into_iter().map(probe).collect()
}

/// The `errno` of an I/O error.
fn errno(error: &io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::EIO))
}

/// The address of a device on the PCI bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PciAddress {
    /// 16 bits.
    pub domain: u32,
    /// 8 bits.
    pub bus: u32,
    /// 5 bits.
    pub device: u32,
    /// 3 bits.
    pub function: u32,
}

impl PciAddress {
    /// Parses the kernel's name of a device: `0000:00:02.0`, in hexadecimal digits.
    fn parse(name: &str) -> Option<Self> {
        let (rest, function) = name.split_once('.')?;
        let [domain, bus, device] = rest.split(':').collect::<Vec<_>>().try_into().ok()?;
        let number = |text| u32::from_str_radix(text, 16).ok();
        Some(Self {
            domain: number(domain)?,
            bus: number(bus)?,
            device: number(device)?,
            function: number(function)?,
        })
    }
}

impl KernelNode {
    /// Opens a device file. The error says why it cannot be used, and what to do about it: no permission, another driver.
    pub fn open(path: &Path) -> std::result::Result<KernelNode, String> {
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.map_err(|error| facts::why_closed(path, &error, || nodes_in(Path::new(FOLDER))))?;
        let node = KernelNode { file, path: path.to_owned(), sizes: Mutex::default() };
        let name = node.version().map_err(|_| "it is no GPU's device file".to_owned())?.name;
        if name != "i915" {
            return Err(format!("its kernel driver is {name}, gencl needs i915"));
        }
        Ok(node)
    }

    /// The device file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The address of the device, if it is on a PCI bus.
    pub fn pci_address(&self) -> Option<PciAddress> {
        let link = Path::new("/sys/class/drm").join(self.path.file_name()?).join("device");
        PciAddress::parse(std::fs::read_link(link).ok()?.file_name()?.to_str()?)
    }

    fn sizes(&self) -> MutexGuard<'_, HashMap<GemHandle, usize>> {
        self.sizes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text of the card's last error state, which only root can read on most machines.
    fn error_file(&self) -> Option<String> {
        let cards = Path::new("/sys/class/drm").join(self.path.file_name()?).join("device/drm");
        let is_card =
            |path: &PathBuf| path.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b"card"));
        let card = std::fs::read_dir(cards).ok()?.filter_map(|e| Some(e.ok()?.path())).find(is_card)?;
        std::fs::read_to_string(card.join("error")).ok()
    }

    /// Makes a request, repeated while it is interrupted.
    ///
    /// # Safety
    /// `request` must be a request whose argument is a `T`, and pointers within the argument
    /// must be valid for what the request does with them.
    unsafe fn request<T>(&self, request: u32, argument: &mut T) -> Result<()> {
        loop {
            // SAFETY: the argument is what the request takes (contract of this function).
            let result = unsafe {
                libc::ioctl(self.file.as_raw_fd(), libc::c_ulong::from(request) as _, &raw mut *argument)
            };
            if result != -1 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            // Also for EAGAIN, like libdrm's drmIoctl.
            if !matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN)) {
                return Err(errno(&error));
            }
        }
    }
}

impl AsFd for KernelNode {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Device for KernelNode {}

impl RenderNode for KernelNode {
    fn version(&self) -> Result<DriverVersion> {
        let driver = self.get_driver().map_err(|e| errno(&e))?;
        Ok(DriverVersion { name: driver.name().to_string_lossy().into_owned(), version: driver.version })
    }

    fn get_param(&self, param: i32) -> Result<i32> {
        let mut value = 0i32;
        let mut args = uapi::GetParam { param, pad: 0, value: &raw mut value as u64 };
        // SAFETY: `value` is an `i32` that outlives the call.
        unsafe { self.request(ioctl::GETPARAM, &mut args) }?;
        Ok(value)
    }

    fn query(&self, id: u64) -> Result<Vec<u8>> {
        let mut item = uapi::QueryItem { query_id: id, ..Default::default() };
        let mut args = uapi::Query { num_items: 1, flags: 0, items_ptr: &raw mut item as u64 };
        // SAFETY: one item that outlives the call; with length 0 the kernel only writes the length.
        unsafe { self.request(ioctl::QUERY, &mut args) }?;
        // The kernel reports an item's error as a negative length.
        let length = usize::try_from(item.length).map_err(|_| Errno(-item.length))?;
        let mut data = vec![0u8; length];
        item.data_ptr = data.as_mut_ptr() as u64;
        // SAFETY: one item that outlives the call, and so does `data`, which has the `length` bytes that it
        // says.
        unsafe { self.request(ioctl::QUERY, &mut args) }?;
        if item.length < 0 {
            return Err(Errno(-item.length));
        }
        data.truncate(item.length as usize);
        Ok(data)
    }

    fn reg_read(&self, offset: u64) -> Result<u64> {
        let mut args = uapi::RegRead { offset, val: 0 };
        // SAFETY: no pointers.
        unsafe { self.request(ioctl::REG_READ, &mut args) }?;
        Ok(args.val)
    }

    fn context_create(&self) -> Result<ContextId> {
        let mut args = uapi::ContextCreate::default();
        // SAFETY: no pointers.
        unsafe { self.request(ioctl::GEM_CONTEXT_CREATE, &mut args) }?;
        Ok(ContextId(args.ctx_id))
    }

    fn context_destroy(&self, context: ContextId) -> Result<()> {
        let mut args = uapi::ContextDestroy { ctx_id: context.0, pad: 0 };
        // SAFETY: no pointers.
        unsafe { self.request(ioctl::GEM_CONTEXT_DESTROY, &mut args) }
    }

    fn context_get_param(&self, context: ContextId, param: u64) -> Result<u64> {
        let mut args = uapi::ContextParam { ctx_id: context.0, param, ..Default::default() };
        // SAFETY: size 0, so the value is no pointer.
        unsafe { self.request(ioctl::GEM_CONTEXT_GETPARAM, &mut args) }?;
        Ok(args.value)
    }

    fn context_set_param(&self, context: ContextId, param: u64, value: u64) -> Result<()> {
        let mut args = uapi::ContextParam { ctx_id: context.0, size: 0, param, value };
        // SAFETY: size 0, so the value is no pointer.
        unsafe { self.request(ioctl::GEM_CONTEXT_SETPARAM, &mut args) }
    }

    fn reset_stats(&self, context: ContextId) -> Result<ResetStats> {
        let mut args = uapi::ResetStats { ctx_id: context.0, ..Default::default() };
        // SAFETY: no pointers.
        unsafe { self.request(ioctl::GET_RESET_STATS, &mut args) }?;
        Ok(ResetStats {
            reset_count: args.reset_count,
            batch_active: args.batch_active,
            batch_pending: args.batch_pending,
        })
    }

    fn gem_create(&self, size: u64) -> Result<GemHandle> {
        let mut args = uapi::GemCreate { size, ..Default::default() };
        // SAFETY: no pointers.
        unsafe { self.request(ioctl::GEM_CREATE, &mut args) }?;
        // The kernel writes the rounded size back.
        self.sizes().insert(GemHandle(args.handle), args.size as usize);
        Ok(GemHandle(args.handle))
    }

    unsafe fn gem_userptr(&self, address: *mut u8, length: usize) -> Result<GemHandle> {
        let mut args =
            uapi::GemUserptr { user_ptr: address as u64, user_size: length as u64, ..Default::default() };
        // SAFETY: the memory stays mapped (contract of this method).
        unsafe { self.request(ioctl::GEM_USERPTR, &mut args) }?;
        Ok(GemHandle(args.handle))
    }

    fn gem_export(&self, handle: GemHandle) -> Result<(OwnedFd, u64)> {
        let length = self.sizes().get(&handle).copied().ok_or(Errno(libc::ENODEV))?;
        let flags = drm::CLOEXEC | drm::RDWR;
        let prime = gem::handle_to_fd(self.as_fd(), handle.0, flags).map_err(|e| errno(&e))?;
        // SAFETY: the kernel has created the descriptor for this request, and nothing else owns it.
        Ok((unsafe { OwnedFd::from_raw_fd(prime.fd) }, length as u64))
    }

    fn gem_close(&self, handle: GemHandle) -> Result<()> {
        // Removed first, as after the request another thread may get the same handle for a new buffer.
        self.sizes().remove(&handle);
        gem::close(self.as_fd(), handle.0).map(|_| ()).map_err(|e| errno(&e))
    }

    fn gem_map(&self, handle: GemHandle) -> Result<HostMemory> {
        let length = self.sizes().get(&handle).copied().ok_or(Errno(libc::ENODEV))?;
        let mut args =
            uapi::GemMmapOffset { handle: handle.0, flags: uapi::MMAP_OFFSET_WB, ..Default::default() };
        // SAFETY: no pointers.
        unsafe { self.request(ioctl::GEM_MMAP_OFFSET, &mut args) }?;
        let mapping = MmapOptions::new().offset(args.offset).len(length).map_raw(&self.file);
        mapping.map(HostMemory::from_mapping).map_err(|e| errno(&e))
    }

    fn gem_busy(&self, handle: GemHandle) -> Result<bool> {
        let mut args = uapi::GemBusy { handle: handle.0, busy: 0 };
        // SAFETY: no pointers.
        unsafe { self.request(ioctl::GEM_BUSY, &mut args) }?;
        Ok(args.busy != 0)
    }

    fn gem_wait(&self, handle: GemHandle, timeout_ns: i64) -> Result<()> {
        let mut args = uapi::GemWait { handle: handle.0, flags: 0, timeout_ns };
        // SAFETY: no pointers.
        unsafe { self.request(ioctl::GEM_WAIT, &mut args) }
    }

    fn exec_buffer(&self, exec: &mut ExecBuffer<'_>) -> Result<()> {
        let mut entries: Vec<Vec<uapi::RelocationEntry>> = exec
            .objects
            .iter()
            .map(|object| {
                let entry = |r: &crate::Relocation| uapi::RelocationEntry {
                    target_handle: r.target,
                    delta: r.delta,
                    offset: r.offset,
                    presumed_offset: r.presumed_offset,
                    read_domains: r.read_domains,
                    write_domain: r.write_domain,
                };
                object.relocations.iter().map(entry).collect()
            })
            .collect();
        let mut objects: Vec<uapi::ExecObject2> = exec
            .objects
            .iter()
            .zip(&mut entries)
            .map(|(object, entries)| uapi::ExecObject2 {
                handle: object.handle.0,
                relocation_count: entries.len() as u32,
                relocs_ptr: entries.as_mut_ptr() as u64,
                alignment: object.alignment,
                offset: object.offset,
                flags: object.flags.bits(),
                pad_to_size: object.pad_to_size,
                rsvd2: 0,
            })
            .collect();
        let mut args = uapi::ExecBuffer2 {
            buffers_ptr: objects.as_mut_ptr() as u64,
            buffer_count: objects.len() as u32,
            batch_start_offset: exec.batch_start,
            batch_len: exec.batch_length,
            flags: exec.engine as u64 | exec.flags.bits(),
            rsvd1: u64::from(exec.context.0),
            ..Default::default()
        };
        // SAFETY: the pointers are to arrays of the counts given, which outlive the call. The kernel writes
        // to both (presumed offsets of relocations too), and nothing else refers to them.
        let result = unsafe { self.request(ioctl::GEM_EXECBUFFER2, &mut args) };
        for (object, now) in exec.objects.iter_mut().zip(&objects) {
            object.offset = now.offset;
        }
        result
    }

    fn error_state(&self, context: ContextId) -> Option<ErrorState> {
        let stats = self.reset_stats(context).ok()?;
        if stats.batch_active == 0 && stats.batch_pending == 0 {
            return None;
        }
        let counters =
            format!("GPU hang: {} batches running, {} waiting", stats.batch_active, stats.batch_pending);
        let head = self.error_file().map(|text| text.lines().take(40).collect::<Vec<_>>().join("\n"));
        let text = head.map_or(counters.clone(), |head| format!("{counters}\n{head}"));
        Some(ErrorState { text, place: FaultPlace::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_in_order_with_reasons() {
        let folder = std::env::temp_dir().join(format!("gencl-i915-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for name in ["renderD129", "renderD128", "card0", "renderDxyz", "by-path"] {
            std::fs::write(folder.join(name), b"").unwrap();
        }
        let found = find_in(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        let names: Vec<_> = found.iter().map(|f| f.path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["renderD128", "renderD129"]);
        for node in found {
            let reason = node.device.unwrap_err();
            assert_eq!(reason, "it is no GPU's device file");
        }
    }

    #[test]
    fn pci_addresses() {
        let address = PciAddress { domain: 0x10, bus: 3, device: 0x1f, function: 7 };
        assert_eq!(PciAddress::parse("0010:03:1f.7"), Some(address));
        assert_eq!(PciAddress::parse("0000:00:02"), None);
        assert_eq!(PciAddress::parse("virtio0.1"), None);
    }

    #[test]
    fn without_a_folder_there_are_no_nodes() {
        assert!(find_in(Path::new("/nonexistent/dri")).is_empty());
    }

    #[test]
    fn requests_on_a_plain_file_fail_with_enotty() {
        let file = File::open("/dev/null").unwrap();
        let node = KernelNode { file, path: "/dev/null".into(), sizes: Mutex::default() };
        let enotty = Errno(libc::ENOTTY);
        assert_eq!(node.get_param(uapi::param::CHIPSET_ID), Err(enotty));
        assert_eq!(node.query(uapi::query::TOPOLOGY_INFO), Err(enotty));
        assert_eq!(node.gem_create(4096), Err(enotty));
        assert_eq!(node.gem_wait(GemHandle(1), 0), Err(enotty));
        assert_eq!(node.gem_map(GemHandle(1)).unwrap_err(), Errno(libc::ENODEV));
        let mut exec = ExecBuffer {
            context: ContextId(0),
            engine: crate::Engine::Render,
            flags: crate::ExecFlags::empty(),
            objects: &mut [],
            batch_start: 0,
            batch_length: 0,
            awaited: false,
        };
        assert_eq!(node.exec_buffer(&mut exec), Err(enotty));
    }
}

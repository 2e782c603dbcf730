//! Memory that all devices of a context can access.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use gencl_i915::HostMemory;
use gencl_program::finding::Finding;
use smallvec::SmallVec;

use super::storage::{Storage, Zone, no_memory};
use super::va::PAGE;
use crate::Result;
use crate::context::DeviceContext;
use crate::sync::Mutex;

/// Memory of a memory object: a GEM buffer on each device of the context, all with the same bytes.
///
/// With one device it is an ordinary GEM buffer. Devices cannot share those, so with several devices the
/// buffers are made of pages of the process (userptr). Nothing is copied between devices: when a batch has
/// ended, the other devices and the host see what it has written.
#[derive(Debug)]
pub(crate) struct Allocation {
    /// In the order of the devices.
    storages: SmallVec<[Storage; 1]>,
    /// Whether this is the application's own memory.
    host: bool,
    /// Number in the process, that of no other allocation.
    number: u64,
    /// See [`super::shadow`].
    shadow: OnceLock<Box<Allocation>>,
    /// Copies of undefined values to it that are reported if the host reads them: offset in bytes, and what to report.
    copies: Mutex<Vec<(u64, Finding)>>,
}

impl Allocation {
    /// Zeroed memory of `size` bytes, for all devices of a context. `MEM_OBJECT_ALLOCATION_FAILURE` when there is none.
    pub(crate) fn new(devices: &[Arc<DeviceContext>], size: u64) -> Result<Self> {
        if let [device] = devices {
            let storage = Storage::new(device.space(), Zone::Buffers, size)?;
            return Ok(Self::of(SmallVec::from_buf([storage]), false));
        }
        let whole = size.next_multiple_of(PAGE);
        let pages =
            HostMemory::zeros(whole as usize).map_err(|error| no_memory(whole, &error.to_string()))?;
        Self::of_pages(devices, &pages, false)
    }

    /// The application's memory itself, if it consists of whole pages and the kernel driver accepts it;
    /// otherwise new memory with a copy.
    pub(crate) fn of_host(devices: &[Arc<DeviceContext>], host: &HostMemory) -> Result<Self> {
        if (host.address() as u64 | host.len() as u64).is_multiple_of(PAGE) {
            match Self::of_pages(devices, host, true) {
                Ok(allocation) => return Ok(allocation),
                Err(error) => tracing::debug!("host memory is copied: {error}"),
            }
        }
        let allocation = Self::new(devices, host.len() as u64)?;
        allocation.memory().copy_from(0, host, 0, host.len());
        Ok(allocation)
    }

    fn of_pages(devices: &[Arc<DeviceContext>], pages: &HostMemory, host: bool) -> Result<Self> {
        let each = devices.iter();
        let storages = each.map(|device| Storage::of_pages(device.space(), pages.clone()));
        Ok(Self::of(storages.collect::<Result<_>>()?, host))
    }

    /// Pages of the host, at the host's address on devices with shared virtual memory. Errors: see
    /// [`Storage::shared`].
    pub(crate) fn shared(devices: &[Arc<DeviceContext>], pages: &HostMemory) -> Result<Self> {
        let storages = devices.iter().map(|device| match device.shares_addresses() {
            true => Storage::shared(device.space(), pages.clone()),
            false => Storage::of_pages(device.space(), pages.clone()),
        });
        Ok(Self::of(storages.collect::<Result<_>>()?, true))
    }

    fn of(storages: SmallVec<[Storage; 1]>, host: bool) -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        Self { storages, host, number, shadow: OnceLock::new(), copies: Mutex::default() }
    }

    /// The buffer on a device.
    pub(crate) fn on(&self, device: &DeviceContext) -> &Storage {
        &self.storages[device.index()]
    }

    /// Number in the process, that of no other allocation.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The bytes, mapped for the host.
    pub(crate) fn memory(&self) -> &HostMemory {
        self.storages[0].memory()
    }

    /// Its shadow memory, if there is any.
    pub(super) fn shadow(&self) -> Option<&Self> {
        self.shadow.get().map(AsRef::as_ref)
    }

    /// Its shadow memory ([`super::shadow`]), which says that all is defined if there was none. Errors as [`Allocation::new`].
    pub(crate) fn shadow_for(&self, devices: &[Arc<DeviceContext>]) -> Result<&Self> {
        if self.shadow().is_none() {
            let new = Self::new(devices, self.memory().len() as u64)?;
            // Another thread may have been faster.
            let _ = self.shadow.set(Box::new(new));
        }
        Ok(self.shadow().expect("it was set"))
    }

    /// Its shadow memory on a device.
    pub(crate) fn shadow_on(&self, device: &DeviceContext) -> Option<&Storage> {
        Some(self.shadow()?.on(device))
    }

    /// Says that nothing is defined. Errors as [`Allocation::new`].
    pub(crate) fn make_undefined(&self, devices: &[Arc<DeviceContext>]) -> Result<()> {
        let shadow = self.shadow_for(devices)?.memory();
        shadow.fill(0, shadow.len(), 0xff);
        Ok(())
    }

    /// A kernel has copied an undefined value to an offset.
    pub(crate) fn add_copy(&self, offset: u64, finding: Finding) {
        self.copies.lock().push((offset, finding));
    }

    /// Takes the copies of undefined values in a range, but those that were written again.
    pub(super) fn take_copies(&self, begin: u64, end: u64) -> Vec<Finding> {
        let mut copies = self.copies.lock();
        let Some(shadow) = self.shadow().filter(|_| !copies.is_empty()) else { return Vec::new() };
        let is_undefined = |offset: u64| {
            let mut bits = [0; 4];
            let count = bits.len().min(shadow.memory().len().saturating_sub(offset as usize));
            shadow.memory().read(offset as usize, &mut bits[..count]);
            bits != [0; 4]
        };
        let read = copies.extract_if(.., |(offset, _)| (begin..end).contains(offset));
        read.filter(|(offset, _)| is_undefined(*offset)).map(|(_, finding)| finding).collect()
    }

    /// Says that all is defined.
    pub(crate) fn define_all(&self) {
        if let Some(shadow) = self.shadow() {
            shadow.memory().fill(0, shadow.memory().len(), 0);
        }
    }

    /// Whether this is the application's own memory.
    pub(crate) fn is_host(&self) -> bool {
        self.host
    }
}

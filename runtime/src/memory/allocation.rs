//! Memory that all devices of a context can access.

use std::sync::Arc;

use gencl_i915::HostMemory;
use smallvec::SmallVec;

use super::storage::{Storage, Zone, no_memory};
use super::va::PAGE;
use crate::Result;
use crate::context::DeviceContext;

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
}

impl Allocation {
    /// Zeroed memory of `size` bytes, for all devices of a context. `MEM_OBJECT_ALLOCATION_FAILURE` when there is none.
    pub(crate) fn new(devices: &[Arc<DeviceContext>], size: u64) -> Result<Self> {
        if let [device] = devices {
            let storage = Storage::new(device.space(), Zone::Buffers, size)?;
            return Ok(Self { storages: SmallVec::from_buf([storage]), host: false });
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
        Ok(Self { storages: storages.collect::<Result<_>>()?, host })
    }

    /// Pages of the host, at the host's address on devices with shared virtual memory. Errors: see
    /// [`Storage::shared`].
    pub(crate) fn shared(devices: &[Arc<DeviceContext>], pages: &HostMemory) -> Result<Self> {
        let storages = devices.iter().map(|device| match device.shares_addresses() {
            true => Storage::shared(device.space(), pages.clone()),
            false => Storage::of_pages(device.space(), pages.clone()),
        });
        Ok(Self { storages: storages.collect::<Result<_>>()?, host: true })
    }

    /// The buffer on a device.
    pub(crate) fn on(&self, device: &DeviceContext) -> &Storage {
        &self.storages[device.index()]
    }

    /// The bytes, mapped for the host.
    pub(crate) fn memory(&self) -> &HostMemory {
        self.storages[0].memory()
    }

    /// Whether this is the application's own memory.
    pub(crate) fn is_host(&self) -> bool {
        self.host
    }
}

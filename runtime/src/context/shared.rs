//! Shared virtual memory of a context.

use std::sync::Arc;

use crate::memory::{MAX_ALIGNMENT, SharedKind, SharedList, SharedMemory};
use crate::{Code, Context, Device, Error, Result};

impl Context {
    /// `INVALID_OPERATION` when no device has shared virtual memory.
    pub fn check_shared(&self) -> Result<()> {
        let able = self.members().iter().find(|device| device.shares_addresses());
        able.unwrap_or(&self.members()[0]).check_shared()
    }

    /// Whether a device has fine-grained shared virtual memory.
    pub fn has_fine_grain(&self) -> bool {
        self.members().iter().any(|device| device.device().facts().fine_grain())
    }

    /// Allocates zeroed shared virtual memory, which all devices with such memory can access; `device` is
    /// kept for queries. `INVALID_DEVICE`, `INVALID_OPERATION` when `device`, or without one all devices,
    /// lack shared virtual memory, `INVALID_BUFFER_SIZE` for 0 or more than the devices' largest allocation,
    /// `INVALID_VALUE` for an alignment that is neither 0 nor a power of two up to [`MAX_ALIGNMENT`],
    /// `MEM_OBJECT_ALLOCATION_FAILURE`.
    pub fn allocate_shared(
        &self,
        kind: SharedKind,
        device: Option<&Arc<Device>>,
        flags: u64,
        size: usize,
        alignment: usize,
    ) -> Result<Arc<SharedMemory>> {
        match device {
            Some(device) => self.on(device)?.check_shared()?,
            None => self.check_shared()?,
        }
        let limit = self.max_allocation();
        if size == 0 || size as u64 > limit {
            let reason = format!("{size} bytes: an allocation has between 1 and {limit} bytes");
            return Err(Error::new(Code::InvalidBufferSize, reason));
        }
        if alignment != 0 && !alignment.is_power_of_two() || alignment > MAX_ALIGNMENT {
            return Err(Error::new(Code::InvalidValue, format!("an alignment of {alignment}")));
        }
        let memory = SharedMemory::new(self.members(), kind, device, flags, size)?;
        self.shared().insert(&memory);
        Ok(memory)
    }

    /// Frees the allocation that begins at an address. No effect for other addresses.
    pub fn free_shared(&self, address: usize) {
        drop(self.shared().remove(address));
    }

    /// As [`Context::free_shared`], and waits until all commands that may use the allocation have ended: those that
    /// it is given to, and all launches, which may follow pointers.
    /// `INVALID_VALUE` when no allocation begins at `address`.
    pub fn free_shared_and_wait(&self, address: usize) -> Result<()> {
        let (memory, list) = self.shared().remove(address);
        drop(list);
        let memory =
            memory.ok_or_else(|| Error::new(Code::InvalidValue, "no allocation begins at the address"))?;
        memory.drop_and_wait();
        if let Some(conflicts) = self.conflicts() {
            conflicts.observe_all();
        }
        Ok(())
    }

    /// All allocations, by increasing address; the same list until one comes or goes. `None`: there are none.
    pub(crate) fn all_shared(&self) -> Option<SharedList> {
        self.shared().all()
    }

    /// The allocation that an address is in.
    pub fn shared_at(&self, address: usize) -> Option<Arc<SharedMemory>> {
        self.shared().at(address)
    }
}

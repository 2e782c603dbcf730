//! A device as part of a context.

use std::sync::Arc;

use gencl_program::debug::{self, Debug};
use gencl_program::tools::Tools;

use crate::launch::{RacePool, SlotPool};
use crate::memory::AddressSpace;
use crate::printf::PrintfPool;
use crate::{Code, Device, Error, Result};

/// A device as part of a context: its address space there, and memory pools.
pub(crate) struct DeviceContext {
    device: Arc<Device>,
    /// Index in the context.
    index: usize,
    space: Arc<AddressSpace>,
    slots: SlotPool,
    printf: PrintfPool,
    races: RacePool,
    shares_addresses: bool,
    dumps_batches: bool,
    tools: Tools,
}

impl std::fmt::Debug for DeviceContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("DeviceContext").field(&self.index).field(&self.device.facts().name).finish()
    }
}

impl DeviceContext {
    /// A device of a context, with its index there.
    pub(super) fn new(device: &Arc<Device>, index: usize) -> Self {
        let (debug, _) = Debug::from_environment();
        Self {
            device: device.clone(),
            index,
            space: Arc::new(AddressSpace::new(device.node().clone(), device.info().address_space)),
            slots: SlotPool::default(),
            printf: PrintfPool::default(),
            races: RacePool::default(),
            shares_addresses: device.facts().profile().shared_memory,
            dumps_batches: debug.is_set(debug::BATCH),
            tools: Tools::of(&debug),
        }
    }

    /// The device.
    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Index in the context.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// The address space of its buffers.
    pub(crate) fn space(&self) -> &Arc<AddressSpace> {
        &self.space
    }

    /// What kernels are checked for.
    pub(crate) fn tools(&self) -> Tools {
        self.tools
    }

    /// Buffers for batches.
    pub(crate) fn slots(&self) -> &SlotPool {
        &self.slots
    }

    /// Buffers for `printf`.
    pub(crate) fn printf(&self) -> &PrintfPool {
        &self.printf
    }

    /// Buffers for checks of data races.
    pub(crate) fn races(&self) -> &RacePool {
        &self.races
    }

    /// Whether the device can access shared virtual memory: allocations at the host's addresses.
    pub(crate) fn shares_addresses(&self) -> bool {
        self.shares_addresses
    }

    /// Whether batches are printed (`GENCL_DEBUG=batch`).
    pub(crate) fn dumps_batches(&self) -> bool {
        self.dumps_batches
    }

    /// `INVALID_OPERATION` when the device has no shared virtual memory.
    pub(crate) fn check_shared(&self) -> Result<()> {
        if self.shares_addresses {
            return Ok(());
        }
        Err(Error::new(Code::InvalidOperation, "the device has no shared virtual memory"))
    }
}

//! Contexts: devices with an address space each, and what is shared by everything made for them.

use std::sync::Arc;

use parking_lot::Mutex;

use gencl_program::debug::{self, Debug};
use gencl_program::report;

use crate::launch::SlotPool;
use crate::memory::{AddressSpace, SharedMemories};
use crate::printf::PrintfPool;
use crate::{Code, Device, Error, Result};

/// Called with the reason when a command fails or something else deserves to be told.
/// May be called from any thread.
pub type ContextNotify = Box<dyn Fn(&Error) + Send + Sync>;

/// A device in a context: its address space there, and memory pools.
pub(crate) struct DeviceContext {
    device: Arc<Device>,
    /// Its number in the context.
    index: usize,
    space: Arc<AddressSpace>,
    slots: SlotPool,
    printf: PrintfPool,
    shares_addresses: bool,
    dumps_batches: bool,
}

impl std::fmt::Debug for DeviceContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("DeviceContext").field(&self.index).field(&self.device.facts().name).finish()
    }
}

impl DeviceContext {
    fn new(device: &Arc<Device>, index: usize) -> Self {
        let (debug, _) = Debug::from_environment();
        Self {
            device: device.clone(),
            index,
            space: Arc::new((device.hardware().model.family.addresses)(device.node().clone())),
            slots: SlotPool::default(),
            printf: PrintfPool::default(),
            shares_addresses: device.facts().profile().shared_memory,
            dumps_batches: debug.is_set(debug::BATCH),
        }
    }

    /// The device.
    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Its number in the context.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Where its buffers are.
    pub(crate) fn space(&self) -> &Arc<AddressSpace> {
        &self.space
    }

    /// Memory for batches.
    pub(crate) fn slots(&self) -> &SlotPool {
        &self.slots
    }

    /// Memory for what kernels print.
    pub(crate) fn printf(&self) -> &PrintfPool {
        &self.printf
    }

    /// Does it know memory by the host's addresses?
    pub(crate) fn shares_addresses(&self) -> bool {
        self.shares_addresses
    }

    /// Are batches to be printed?
    pub(crate) fn dumps_batches(&self) -> bool {
        self.dumps_batches
    }

    /// `INVALID_OPERATION` when the device has no memory that host and device know by one address.
    pub(crate) fn check_shared(&self) -> Result<()> {
        if self.shares_addresses {
            return Ok(());
        }
        Err(Error::new(Code::InvalidOperation, "the device has no shared virtual memory"))
    }
}

/// A context of one or several devices. Memory objects are known to all of them; queues and built programs
/// are of one each.
pub struct Context {
    devices: Box<[Arc<DeviceContext>]>,
    shared: SharedMemories,
    notify: Option<ContextNotify>,
    destructors: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("devices", &self.devices).finish_non_exhaustive()
    }
}

impl Context {
    /// Makes a context of devices, each of which is given once. `INVALID_VALUE` when there are none.
    pub fn new(devices: &[Arc<Device>], notify: Option<ContextNotify>) -> Result<Arc<Self>> {
        if devices.is_empty() {
            return Err(Error::new(Code::InvalidValue, "a context of no devices"));
        }
        gencl_client::expect_builds();
        let members = devices.iter().enumerate();
        Ok(Arc::new(Self {
            devices: members.map(|(index, device)| Arc::new(DeviceContext::new(device, index))).collect(),
            shared: SharedMemories::default(),
            notify,
            destructors: Mutex::default(),
        }))
    }

    /// Its devices, at least one.
    pub fn devices(&self) -> impl ExactSizeIterator<Item = &Arc<Device>> {
        self.devices.iter().map(|member| member.device())
    }

    /// The same with what the context has for each.
    pub(crate) fn members(&self) -> &[Arc<DeviceContext>] {
        &self.devices
    }

    /// What it has for a device. `INVALID_DEVICE` when that is not one of its own.
    pub(crate) fn on(&self, device: &Arc<Device>) -> Result<&Arc<DeviceContext>> {
        let member = self.devices.iter().find(|member| Arc::ptr_eq(member.device(), device));
        member.ok_or_else(|| Error::new(Code::InvalidDevice, "a device of another context"))
    }

    /// Most bytes of a memory object: all devices have it.
    pub(crate) fn max_allocation(&self) -> u64 {
        self.devices().map(|device| device.facts().max_allocation).min().unwrap_or(0)
    }

    /// Shared virtual memory.
    pub(crate) fn shared(&self) -> &SharedMemories {
        &self.shared
    }

    /// Runs `function` when the context is destroyed; the last one registered runs first.
    pub fn on_destroy(&self, function: Box<dyn FnOnce() + Send>) {
        self.destructors.lock().push(function);
    }

    /// Tells the application's callback about an error, and the user of the first that has to do with a
    /// subject.
    pub(crate) fn report(&self, subject: &str, error: &Error) {
        tracing::warn!("{error}");
        report::once(subject, &error.to_string());
        if let Some(notify) = &self.notify {
            notify(error);
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        for function in self.destructors.get_mut().drain(..).rev() {
            function();
        }
    }
}

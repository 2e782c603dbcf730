//! Contexts: devices, each with an address space, and the state that their objects share.

mod device;
mod shared;

use std::sync::Arc;

use parking_lot::Mutex;

use gencl_program::report;

pub(crate) use device::DeviceContext;

use crate::conflicts::Conflicts;
use crate::memory::SharedMemories;
use crate::{Code, Device, Error, Result};

/// The application's callback for errors (`pfn_notify` of `clCreateContext`). Called from any thread.
pub type ContextNotify = Box<dyn Fn(&Error) + Send + Sync>;

/// A context of one or several devices. All can access its memory objects; a queue and a built program belong
/// to one device.
pub struct Context {
    devices: Box<[Arc<DeviceContext>]>,
    shared: SharedMemories,
    /// If commands are checked.
    conflicts: Option<Conflicts>,
    notify: Option<ContextNotify>,
    destructors: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("devices", &self.devices).finish_non_exhaustive()
    }
}

impl Context {
    /// A context of devices, without duplicates. `INVALID_VALUE` when there are none.
    pub fn new(devices: &[Arc<Device>], notify: Option<ContextNotify>) -> Result<Arc<Self>> {
        if devices.is_empty() {
            return Err(Error::new(Code::InvalidValue, "a context of no devices"));
        }
        gencl_client::expect_builds();
        let members = devices.iter().enumerate();
        Ok(Arc::new(Self {
            devices: members.map(|(index, device)| Arc::new(DeviceContext::new(device, index))).collect(),
            shared: SharedMemories::default(),
            conflicts: Conflicts::new(),
            notify,
            destructors: Mutex::default(),
        }))
    }

    /// The devices, at least one.
    pub fn devices(&self) -> impl ExactSizeIterator<Item = &Arc<Device>> {
        self.devices.iter().map(|member| member.device())
    }

    /// The devices as parts of this context.
    pub(crate) fn members(&self) -> &[Arc<DeviceContext>] {
        &self.devices
    }

    /// A device as part of this context. `INVALID_DEVICE` when it is not.
    pub(crate) fn on(&self, device: &Arc<Device>) -> Result<&Arc<DeviceContext>> {
        let member = self.devices.iter().find(|member| Arc::ptr_eq(member.device(), device));
        member.ok_or_else(|| Error::new(Code::InvalidDevice, "a device of another context"))
    }

    /// `INVALID_CONTEXT` unless `other`, that of an object which a command uses, is this one.
    pub(crate) fn check_same(self: &Arc<Self>, other: &Arc<Self>) -> Result<()> {
        if Arc::ptr_eq(self, other) {
            return Ok(());
        }
        Err(Error::new(Code::InvalidContext, "objects of different contexts"))
    }

    /// Largest memory object in bytes: the smallest limit of the devices.
    pub(crate) fn max_allocation(&self) -> u64 {
        self.devices().map(|device| device.facts().max_allocation).min().unwrap_or(0)
    }

    /// Whether the sampler of some device selects the channels that it returns.
    pub fn selects_channels(&self) -> bool {
        self.devices().any(|device| device.facts().images.channel_selects)
    }

    /// Allocations in shared virtual memory.
    pub(crate) fn shared(&self) -> &SharedMemories {
        &self.shared
    }

    /// Commands that use the same memory in no order, if these are looked for.
    pub(crate) fn conflicts(&self) -> Option<&Conflicts> {
        self.conflicts.as_ref()
    }

    /// Runs `function` when the context is destroyed; the last one registered runs first.
    pub fn on_destroy(&self, function: Box<dyn FnOnce() + Send>) {
        self.destructors.lock().push(function);
    }

    /// Logs an error and passes it to the application's callback; the first error of a subject is also
    /// printed to standard error.
    pub(crate) fn report(&self, subject: &str, error: &Error) {
        tracing::warn!("{error}");
        let text = if error.reason.is_empty() { error.code.to_string() } else { error.reason.to_string() };
        report::once(subject, &text);
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

//! The software i915: a render node whose GPU is simulated.

mod buffers;
mod context;
mod core;
mod exec;
mod fence;
mod info;
mod vm;

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use gencl_i915::{
    ContextId, DriverVersion, Errno, ErrorState, ExecBuffer, ExpectedLaunch, GemHandle, HostMemory,
    LaunchHint, RenderNode, ResetStats, Result, uapi,
};
use gencl_sync::Mutex;

use self::core::Core;
use buffers::Buffers;
use context::Context;
use exec::InlineRelocations;

pub use buffers::Buffer;
pub use exec::{Relocations, Submission};
pub use fence::Fence;
pub use vm::Vm;

use crate::clock;
use crate::debug::engine::DebugEngine;
use crate::engine::Engine;
use crate::gpu::{Executor, Gpu, LaunchLog, LaunchStatistics};
use crate::host_thread::has_room;
use crate::settings::Settings;
use crate::watchdog::Watchdog;
use gencl_eu::device::Device;
use gencl_eu::memory::{Object, PAGE_SIZE, enlarge_descriptor_table};

/// A simulated, opened render node.
///
/// Dropping it stops all batches and waits for their threads.
pub struct Simulator {
    core: Arc<Core>,
    buffers: Buffers,
    contexts: Mutex<Contexts>,
    /// Locked while a batch is queued, so that batches of several contexts that share buffers have one order.
    submission: Mutex<()>,
}

struct Contexts {
    all: HashMap<u32, Arc<Context>>,
    /// Closed contexts whose threads may still execute batches.
    closed: Vec<Arc<Context>>,
}

/// The error for a device name that is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no simulated device is called {0:?}; there are: {names}", names = names())]
pub struct UnknownDevice(pub String);

fn names() -> String {
    Device::all().iter().map(|device| device.name()).collect::<Vec<_>>().join(", ")
}

impl Simulator {
    /// A simulated device by its name (`skl`), with default settings.
    pub fn new(name: &str) -> std::result::Result<Simulator, UnknownDevice> {
        Simulator::with_settings(name, Settings::default())
    }

    /// A simulated device by its name (`skl`).
    pub fn with_settings(name: &str, settings: Settings) -> std::result::Result<Simulator, UnknownDevice> {
        let device = Device::named(name).ok_or_else(|| UnknownDevice(name.to_owned()))?;
        // Before this simulator creates threads.
        enlarge_descriptor_table();
        let executor: Box<dyn Executor> = match &settings.debugger {
            Some(debugger) => Box::new(DebugEngine::new(device, settings.strict, debugger.clone())),
            None => Box::new(Engine::new(device, &settings)),
        };
        Simulator::with_executor(name, settings, executor)
    }

    /// A simulated device by its name (`skl`), whose launches a given engine executes.
    pub fn with_executor(
        name: &str,
        settings: Settings,
        executor: Box<dyn Executor>,
    ) -> std::result::Result<Simulator, UnknownDevice> {
        let device = Device::named(name).ok_or_else(|| UnknownDevice(name.to_owned()))?;
        let core = Arc::new(Core {
            watchdog: Watchdog::new(&settings),
            gpu: Gpu { device, settings, executor, launches: LaunchLog::default() },
            reset_count: AtomicU32::new(0),
            closing: AtomicBool::new(false),
            shared_vm: Vm::new(),
        });
        // Context 0 always exists.
        let all = HashMap::from([(0, Context::new(&core))]);
        let contexts = Mutex::new(Contexts { all, closed: Vec::new() });
        Ok(Simulator { core, buffers: Buffers::default(), contexts, submission: Mutex::new(()) })
    }

    /// The device that is simulated.
    pub fn device(&self) -> &'static Device {
        self.core.gpu.device
    }

    /// Removes and returns the statistics of the last kernel launches, oldest first. At most 1024 are kept.
    pub fn take_launches(&self) -> Vec<LaunchStatistics> {
        self.core.gpu.launches.take()
    }

    /// The buffer of a handle. `ENOENT` for an unknown one.
    pub fn buffer(&self, handle: GemHandle) -> Result<Arc<Buffer>> {
        self.buffers.get(handle)
    }

    /// Creates a handle of a buffer, perhaps of another device.
    pub fn insert_buffer(&self, buffer: Arc<Buffer>) -> GemHandle {
        self.buffers.insert(buffer)
    }

    /// All buffers that have handles.
    pub fn all_buffers(&self) -> Vec<Arc<Buffer>> {
        self.buffers.all()
    }

    /// The address space of a context. `ENOENT` for an unknown one.
    pub fn context_vm(&self, context: ContextId) -> Result<Arc<Vm>> {
        Ok(self.context(context)?.vm())
    }

    /// Replaces the address space of a context. `ENOENT` for an unknown one.
    pub fn set_context_vm(&self, context: ContextId, vm: Arc<Vm>) -> Result<()> {
        self.context(context)?.set_vm(vm);
        Ok(())
    }

    /// `DRM_IOCTL_I915_GEM_EXECBUFFER2` with fences: queues a batch and returns its fence.
    pub fn submit(&self, exec: &mut ExecBuffer<'_>, mut submission: Submission<'_>) -> Result<Fence> {
        let context = self.context(exec.context)?;
        let prepared = exec::prepare(self.core.gpu.device, &self.buffers, &context, exec, &mut submission)?;
        let Submission { mut in_fences, submit_fences, .. } = submission;
        let _order = self.submission.lock();
        let order = |fence: &Fence| {
            in_fences.extend(prepared.uses.order(fence));
            in_fences
        };
        let awaited = exec.awaited && has_room();
        context.submit(exec.context, prepared.job, order, submit_fences, awaited)
    }

    /// Waits until all batches that are queued or running have ended.
    pub fn finish(&self) {
        let every: Vec<_> = {
            let contexts = self.contexts.lock();
            contexts.all.values().chain(&contexts.closed).cloned().collect()
        };
        every.iter().for_each(|context| context.finish());
    }

    fn context(&self, id: ContextId) -> Result<Arc<Context>> {
        self.contexts.lock().all.get(&id.0).cloned().ok_or(Errno(libc::ENOENT))
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.core.closing.store(true, Ordering::Relaxed);
        let mut contexts = self.contexts.lock();
        let Contexts { all, closed, .. } = &mut *contexts;
        let every: Vec<_> = all.drain().map(|(_, context)| context).chain(closed.drain(..)).collect();
        every.iter().for_each(|context| context.close());
        self.core.watchdog.cancel_all();
        every.iter().for_each(|context| context.join());
    }
}

/// Maximum size of a buffer in pages (`i915_gem_object_size_2big`).
const MAX_PAGES: u64 = i32::MAX as u64;

/// Rounds a size up to whole pages.
fn round_up(size: u64) -> Option<u64> {
    size.checked_next_multiple_of(PAGE_SIZE)
}

impl RenderNode for Simulator {
    fn version(&self) -> Result<DriverVersion> {
        Ok(DriverVersion { name: "i915".into(), version: (1, 6, 0) })
    }

    fn get_param(&self, param: i32) -> Result<i32> {
        info::get_param(self.core.gpu.device, param)
    }

    fn query(&self, id: u64) -> Result<Vec<u8>> {
        info::query(self.core.gpu.device, id)
    }

    fn reg_read(&self, offset: u64) -> Result<u64> {
        if offset & !uapi::REG_READ_8B_WA != uapi::TIMESTAMP_REGISTER {
            return Err(Errno(libc::EINVAL));
        }
        Ok(clock::timestamp(self.core.gpu.device))
    }

    fn context_create(&self) -> Result<ContextId> {
        let mut contexts = self.contexts.lock();
        // The smallest free id, as in the kernel.
        let free = (1..).find(|id| !contexts.all.contains_key(id));
        let id = free.ok_or(Errno(libc::ENOMEM))?;
        contexts.all.insert(id, Context::new(&self.core));
        Ok(ContextId(id))
    }

    fn context_destroy(&self, context: ContextId) -> Result<()> {
        let mut contexts = self.contexts.lock();
        if context.0 == 0 {
            return Err(Errno(libc::ENOENT));
        }
        let removed = contexts.all.remove(&context.0).ok_or(Errno(libc::ENOENT))?;
        removed.destroy();
        contexts.closed.retain(|context| !context.is_finished());
        contexts.closed.push(removed);
        Ok(())
    }

    fn context_get_param(&self, context: ContextId, param: u64) -> Result<u64> {
        self.context(context)?.get_param(param)
    }

    fn context_set_param(&self, context: ContextId, param: u64, value: u64) -> Result<()> {
        self.context(context)?.set_param(param, value)
    }

    fn reset_stats(&self, context: ContextId) -> Result<ResetStats> {
        Ok(self.context(context)?.reset_stats())
    }

    fn gem_create(&self, size: u64) -> Result<GemHandle> {
        // A size that wraps around to 0 is also invalid.
        let size = round_up(size).filter(|size| *size != 0).ok_or(Errno(libc::EINVAL))?;
        if size / PAGE_SIZE > MAX_PAGES {
            return Err(Errno(libc::E2BIG));
        }
        // The kernel would only fail when the pages are used.
        if size > info::host_memory() {
            return Err(Errno(libc::ENOMEM));
        }
        let create = if self.core.gpu.settings.shared { Object::create } else { Object::private };
        let object = create(size).map_err(|e| Errno(e.raw_os_error().unwrap_or(libc::ENOMEM)))?;
        Ok(self.buffers.insert(Buffer::new(object)))
    }

    unsafe fn gem_userptr(&self, address: *mut u8, length: usize) -> Result<GemHandle> {
        if length as u64 / PAGE_SIZE > MAX_PAGES {
            return Err(Errno(libc::E2BIG));
        }
        let unaligned = (address as u64 | length as u64) & (PAGE_SIZE - 1) != 0;
        if length == 0 || unaligned {
            return Err(Errno(libc::EINVAL));
        }
        // SAFETY: the caller keeps the memory until the handle is closed and no batch uses it; only the
        // handle and batches refer to the object.
        Ok(self.buffers.insert(Buffer::new(unsafe { Object::userptr(address, length as u64) })))
    }

    fn gem_export(&self, handle: GemHandle) -> Result<(OwnedFd, u64)> {
        let buffer = self.buffers.get(handle)?;
        Ok((buffer.file()?, buffer.size()))
    }

    fn gem_close(&self, handle: GemHandle) -> Result<()> {
        self.buffers.remove(handle)
    }

    fn gem_map(&self, handle: GemHandle) -> Result<HostMemory> {
        self.buffers.get(handle)?.map()
    }

    fn gem_busy(&self, handle: GemHandle) -> Result<bool> {
        Ok(!self.buffers.get(handle)?.fences(false).is_empty())
    }

    fn gem_wait(&self, handle: GemHandle, timeout_ns: i64) -> Result<()> {
        let pending = self.buffers.get(handle)?.fences(false);
        let timeout = u64::try_from(timeout_ns).ok().map(Duration::from_nanos);
        // A deadline beyond the range of the clock is none.
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        if timeout.is_none() && has_room() {
            pending.iter().for_each(|fence| fence.run_inline());
        }
        match pending.iter().all(|fence| fence.wait(deadline)) {
            true => Ok(()),
            false => Err(Errno(libc::ETIME)),
        }
    }

    fn exec_buffer(&self, exec: &mut ExecBuffer<'_>) -> Result<()> {
        let relocations = exec.objects.iter_mut().map(|o| std::mem::take(&mut o.relocations)).collect();
        let mut relocations = InlineRelocations(relocations);
        let submission =
            Submission { relocations: &mut relocations, in_fences: Vec::new(), submit_fences: Vec::new() };
        let result = self.submit(exec, submission);
        for (object, relocations) in exec.objects.iter_mut().zip(relocations.0) {
            object.relocations = relocations;
        }
        result.map(|_| ())
    }

    fn error_state(&self, context: ContextId) -> Option<ErrorState> {
        self.context(context).ok()?.error()
    }

    fn expect_launch(&self, launch: &ExpectedLaunch<'_>) -> Option<LaunchHint> {
        self.core.gpu.executor.expect(launch)
    }
}

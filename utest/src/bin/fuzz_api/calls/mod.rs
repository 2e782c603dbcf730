//! Random calls.
//!
//! The application's memory that valid calls read or write is always valid. Everything else is random.

mod absent;
mod command_buffers;
mod commands;
mod events;
mod images;
mod information;
mod objects;
mod older;
mod programs;
mod semaphores;
mod shared_memory;

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};
use std::sync::Mutex;

use gencl_testing::{Journal, Random};
use gencl_utest::raw::{Api, CommandBuffers, ImageRequirements, Semaphores, Unified};
use opencl_sys::{cl_device_id, cl_event, cl_int, clGetKernelSuggestedLocalWorkSizeKHR_t};

use crate::handles::{Handles, Kind};
use crate::sizes::usual_limit;

/// Memory of the application, which is there as long as the process. The rectangles of [`Caller::rect`] need
/// most.
pub const ARENA: usize = 4 << 20;

/// Sources of programs; the last cannot be built.
pub const SOURCES: [&CStr; 4] = [
    c"kernel void add(global int *p, int n) { p[get_global_id(0)] += n; }
      kernel void pass(global int *p, int n, local int *l) {
          l[get_local_id(0)] = n; barrier(CLK_LOCAL_MEM_FENCE); p[get_global_id(0)] = l[0]; }",
    c"kernel void wild(global int *p, int n) { p[(ulong)n << 30] = 1; }",
    c"kernel void spin(global volatile int *p, int n) { while (p[0] != n + 12345) p[1] = n; }",
    c"kernel void wrong(",
];

const NAMES: [&CStr; 5] = [c"add", c"pass", c"wild", c"spin", c"none"];
/// What all threads of a process share.
pub struct Shared {
    pub api: &'static Api,
    /// `None` for devices without.
    pub unified: Option<&'static Unified>,
    pub buffers: Option<&'static CommandBuffers>,
    pub semaphores: Option<&'static Semaphores>,
    pub requirements: Option<&'static ImageRequirements>,
    pub suggested_local_size: clGetKernelSuggestedLocalWorkSizeKHR_t,
    pub platform: usize,
    pub device: usize,
    pub handles: Handles,
    /// User events whose status may not have been set.
    pub user_events: Mutex<Vec<usize>>,
    pub arena: usize,
    /// That of the first of [`SOURCES`].
    pub binary: Vec<u8>,
    pub journal: Journal,
}

/// A thread's calls.
pub struct Caller {
    pub shared: &'static Shared,
    pub thread: usize,
    pub random: Random,
}

/// Makes a call, or a few that belong together.
type Call = fn(&mut Caller);

/// Each call, and how often it is made beside the others.
const CALLS: &[(usize, Call)] = &[
    (1, Caller::create_context_or_queue),
    (1, Caller::create_buffer),
    (1, Caller::create_sub_buffer),
    (2, Caller::create_image),
    (1, Caller::sampler),
    (1, Caller::program),
    (1, Caller::compile_or_link),
    (1, Caller::program_of_binary),
    (1, Caller::program_of_il),
    (1, Caller::create_kernel),
    (2, Caller::retain_or_release),
    (4, Caller::set_argument),
    (5, Caller::launch),
    (4, Caller::read_or_write),
    (2, Caller::copy_or_fill),
    (1, Caller::rect),
    (1, Caller::map),
    (2, Caller::image_read_or_write),
    (2, Caller::image_copy_or_fill),
    (1, Caller::image_map),
    (1, Caller::synchronize),
    (1, Caller::older_synchronization),
    (1, Caller::user_event),
    (1, Caller::callback),
    (1, Caller::destructor_callback),
    (1, Caller::wait),
    (3, Caller::information),
    (1, Caller::other_information),
    (3, Caller::shared_memory),
    (2, Caller::command_buffer),
    (2, Caller::semaphore),
    (1, Caller::absent),
    (1, Caller::unload_or_look_up),
    (1, Caller::flush),
];

/// A wait list.
struct Waits(Vec<cl_event>);

impl Waits {
    fn length(&self) -> u32 {
        self.0.len() as u32
    }

    fn pointer(&self) -> *const cl_event {
        if self.0.is_empty() { null() } else { self.0.as_ptr() }
    }
}

impl Caller {
    fn note(&self, text: impl std::fmt::Display) {
        self.shared.journal.write(self.thread, &text.to_string());
    }

    /// Reports a fault, which ends the run.
    fn fault(&self, text: impl std::fmt::Display) {
        eprintln!("gencl-fuzz-api: thread {}: {text}", self.thread);
    }

    fn pick(&mut self, kind: Kind) -> *mut c_void {
        self.shared.handles.pick(kind, &mut self.random)
    }

    /// The device, or now and then something else.
    fn device(&mut self) -> cl_device_id {
        if self.random.one_in(20) { self.pick(Kind::Queue) } else { self.shared.device as cl_device_id }
    }

    /// A place in the application's memory with 64 KiB and more behind it.
    fn memory(&mut self) -> *mut c_void {
        let place = self.random.below(usual_limit());
        if self.random.one_in(40) { null_mut() } else { (self.shared.arena + place) as *mut c_void }
    }

    fn waits(&mut self) -> Waits {
        let count = if self.random.one_in(3) { self.random.below(4) } else { 0 };
        Waits((0..count).map(|_| self.pick(Kind::Event)).collect())
    }

    /// Keeps a new reference, and gives back one of the kind when there are too many.
    fn keep(&mut self, kind: Kind, handle: *mut c_void) {
        if let Some(other) = self.shared.handles.add(kind, handle, &mut self.random) {
            release(self.shared.api, kind, other);
        }
    }

    /// Keeps what a call has made, which is something exactly when there was no error.
    fn created(&mut self, kind: Kind, handle: *mut c_void, error: cl_int) {
        if handle.is_null() == (error == 0) {
            self.fault(format_args!("a {kind:?} {handle:?} came with error {error}"));
        }
        self.keep(kind, handle);
    }

    /// What callbacks of the driver are given.
    fn user_data(&self) -> *mut c_void {
        std::ptr::from_ref(self.shared).cast_mut().cast()
    }

    /// Makes one random call, or a few that belong together.
    pub fn call(&mut self) {
        let total: usize = CALLS.iter().map(|(often, _)| often).sum();
        let mut place = self.random.below(total);
        for (often, call) in CALLS {
            if place < *often {
                return call(self);
            }
            place -= often;
        }
    }
}

/// Releases a reference.
pub fn release(api: &Api, kind: Kind, handle: *mut c_void) -> cl_int {
    let call = match kind {
        Kind::Context => api.clReleaseContext,
        Kind::Queue => api.clReleaseCommandQueue,
        Kind::Memory => api.clReleaseMemObject,
        Kind::Program => api.clReleaseProgram,
        Kind::Kernel => api.clReleaseKernel,
        Kind::Event => api.clReleaseEvent,
        Kind::Sampler => api.clReleaseSampler,
        Kind::Image => api.clReleaseMemObject,
    };
    // SAFETY: a handle, alive or not.
    unsafe { call(handle) }
}

/// Takes a further reference.
fn retain(api: &Api, kind: Kind, handle: *mut c_void) -> cl_int {
    let call = match kind {
        Kind::Context => api.clRetainContext,
        Kind::Queue => api.clRetainCommandQueue,
        Kind::Memory => api.clRetainMemObject,
        Kind::Program => api.clRetainProgram,
        Kind::Kernel => api.clRetainKernel,
        Kind::Event => api.clRetainEvent,
        Kind::Sampler => api.clRetainSampler,
        Kind::Image => api.clRetainMemObject,
    };
    // SAFETY: a handle, alive or not.
    unsafe { call(handle) }
}

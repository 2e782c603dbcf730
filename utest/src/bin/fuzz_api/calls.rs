//! Random calls.
//!
//! What the driver is promised holds: memory of the application that a right call reads or writes is there. Everything else is chance.

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};
use std::sync::Mutex;

use gencl_utest::raw::Api;
use opencl_sys::{cl_buffer_region, cl_device_id, cl_event, cl_int, cl_mem};

use crate::handles::{Handles, KINDS, Kind};
use crate::journal::Journal;
use crate::random::{Random, usual_limit};

/// Memory of the application, which is there as long as the process. The rectangles of [`Caller::rect`] need most.
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
    pub device: usize,
    pub handles: Handles,
    /// User events whose status has not been set, as far as anybody knows.
    pub user_events: Mutex<Vec<usize>>,
    pub arena: usize,
    pub journal: Journal,
}

/// A thread's calls.
pub struct Caller<'a> {
    pub shared: &'a Shared,
    pub thread: usize,
    pub random: Random,
}

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

impl Caller<'_> {
    fn note(&self, text: impl std::fmt::Display) {
        self.shared.journal.write(self.thread, &text.to_string());
    }

    fn pick(&mut self, kind: Kind) -> *mut c_void {
        self.shared.handles.pick(kind, &mut self.random)
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

    /// Makes one random call, or a few that belong together.
    pub fn call(&mut self) {
        match self.random.below(26) {
            0 => self.create_context_or_queue(),
            1 => self.create_buffer(),
            2 => self.create_sub_buffer(),
            3 => self.program(),
            4 => self.create_kernel(),
            5 => self.retain_or_release(),
            6..=8 => self.set_argument(),
            9..=12 => self.launch(),
            13..=15 => self.read_or_write(),
            16 => self.copy_or_fill(),
            17 => self.rect(),
            18 => self.map(),
            19 => self.synchronize(),
            20 => self.user_event(),
            21 => self.callback(),
            22 => self.wait(),
            23 => self.information(),
            24 => self.shared_memory(),
            _ => self.flush(),
        }
    }

    fn create_context_or_queue(&mut self) {
        let (api, device, mut error) = (self.shared.api, self.shared.device as cl_device_id, 0);
        if self.random.one_in(4) {
            self.note("clCreateContext");
            // SAFETY: one device.
            let context = unsafe { (api.clCreateContext)(null(), 1, &device, None, null_mut(), &mut error) };
            return self.keep(Kind::Context, context);
        }
        let context = self.pick(Kind::Context);
        let properties = [0x1093, self.random.next() % 5, 0];
        self.note(format_args!("clCreateCommandQueueWithProperties {context:?} {properties:?}"));
        // SAFETY: a list that ends with 0.
        let queue = unsafe {
            (api.clCreateCommandQueueWithProperties)(context, device, properties.as_ptr(), &mut error)
        };
        self.keep(Kind::Queue, queue);
    }

    fn create_buffer(&mut self) {
        let (context, host, mut error) = (self.pick(Kind::Context), self.memory(), 0);
        // Nothing between what is usual and what no device has, as the calls on buffers rely on it.
        let size =
            Some(self.random.size(usual_limit())).filter(|size| *size <= usual_limit()).unwrap_or(usize::MAX);
        let flags = self.random.of(&[
            0,
            1,
            2,
            4,
            1 << 3,
            1 << 4,
            1 << 5,
            1 | 1 << 3,
            1 << 5 | 1 << 4,
            1 << 7,
            1 << 9,
            3,
            1 << 40,
        ]);
        let host = if flags & (1 << 3 | 1 << 5) != 0 || self.random.one_in(20) { host } else { null_mut() };
        self.note(format_args!("clCreateBuffer {context:?} {flags:#x} {size} {host:?}"));
        // SAFETY: the memory is there as long as the process.
        let buffer = unsafe { (self.shared.api.clCreateBuffer)(context, flags, size, host, &mut error) };
        self.keep(Kind::Memory, buffer);
    }

    fn create_sub_buffer(&mut self) {
        let (buffer, mut error) = (self.pick(Kind::Memory), 0);
        let origin = self.random.size(usual_limit());
        let origin = if self.random.one_in(3) { origin } else { origin & !0xfff };
        let region = cl_buffer_region { origin, size: self.random.size(usual_limit()) };
        self.note(format_args!("clCreateSubBuffer {buffer:?} {origin} {}", region.size));
        // SAFETY: the region is there during the call.
        let part = unsafe {
            (self.shared.api.clCreateSubBuffer)(buffer, 0, 0x1220, (&raw const region).cast(), &mut error)
        };
        self.keep(Kind::Memory, part);
    }

    fn program(&mut self) {
        let (api, mut error) = (self.shared.api, 0);
        if self.random.one_in(3) {
            let program = self.pick(Kind::Program);
            self.note(format_args!("clBuildProgram {program:?}"));
            // SAFETY: no lists, no options.
            unsafe { (api.clBuildProgram)(program, 0, null(), null(), None, null_mut()) };
            return;
        }
        let (context, index) = (self.pick(Kind::Context), self.random.below(SOURCES.len()));
        let mut text = SOURCES[index].as_ptr();
        self.note(format_args!("clCreateProgramWithSource {context:?} {index}"));
        // SAFETY: one string.
        let program = unsafe { (api.clCreateProgramWithSource)(context, 1, &mut text, null(), &mut error) };
        if !program.is_null() {
            // SAFETY: the program is ours until it is kept.
            unsafe { (api.clBuildProgram)(program, 0, null(), null(), None, null_mut()) };
        }
        self.keep(Kind::Program, program);
    }

    fn create_kernel(&mut self) {
        let mut error = 0;
        let kernel = if self.random.one_in(4) {
            let kernel = self.pick(Kind::Kernel);
            self.note(format_args!("clCloneKernel {kernel:?}"));
            // SAFETY: a handle.
            unsafe { (self.shared.api.clCloneKernel)(kernel, &mut error) }
        } else {
            let (program, name) = (self.pick(Kind::Program), self.random.of(&NAMES));
            self.note(format_args!("clCreateKernel {program:?} {name:?}"));
            // SAFETY: a string.
            unsafe { (self.shared.api.clCreateKernel)(program, name.as_ptr(), &mut error) }
        };
        self.keep(Kind::Kernel, kernel);
    }

    fn retain_or_release(&mut self) {
        let (kind, random) = (self.random.of(&KINDS), &mut self.random);
        if random.one_in(2) {
            if let Some(handle) = self.shared.handles.take(kind, random) {
                self.note(format_args!("release {kind:?} {handle:?}"));
                release(self.shared.api, kind, handle);
            }
            return;
        }
        let handle = self.pick(kind);
        self.note(format_args!("retain {kind:?} {handle:?}"));
        if retain(self.shared.api, kind, handle) == 0 {
            self.keep(kind, handle);
        }
    }

    fn set_argument(&mut self) {
        let (kernel, buffer) = (self.pick(Kind::Kernel), self.pick(Kind::Memory));
        let index = self.random.below(3) as u32 + u32::from(self.random.one_in(50));
        let number = if self.random.one_in(100) { 12345 } else { 0 };
        let (size, value): (usize, *const c_void) = match index {
            0 => (size_of::<cl_mem>(), (&raw const buffer).cast()),
            1 => (4, (&raw const number).cast()),
            _ => (self.random.size(256), null()),
        };
        // A smaller or larger size, of which as much is there.
        let size = if self.random.one_in(20) { self.random.below(5) } else { size };
        self.note(format_args!("clSetKernelArg {kernel:?} {index} {size} {buffer:?}"));
        // SAFETY: the value has as many bytes as are read, which is the argument's size or none.
        unsafe { (self.shared.api.clSetKernelArg)(kernel, index, size, value) };
    }

    fn launch(&mut self) {
        const HUGE: [usize; 4] = [usize::MAX, usize::MAX - 1, 1 << 62, usize::MAX / 2];
        let (queue, kernel, waits) = (self.pick(Kind::Queue), self.pick(Kind::Kernel), self.waits());
        let dimensions = if self.random.one_in(30) {
            self.random.below(9) as u32
        } else {
            1 + self.random.below(3) as u32
        };
        let limits = [512, 8, 4];
        let sizes =
            limits.map(
                |limit| if self.random.one_in(60) { self.random.of(&HUGE) } else { self.random.below(limit) },
            );
        let locals = limits
            .map(|_| if self.random.one_in(60) { self.random.size(512) } else { 1 + self.random.below(4) });
        let offsets =
            limits.map(|_| if self.random.one_in(60) { self.random.of(&HUGE) } else { self.random.below(4) });
        let global = if self.random.one_in(60) { null() } else { sizes.as_ptr() };
        let local = if self.random.one_in(2) { null() } else { locals.as_ptr() };
        let offset = if self.random.one_in(2) { null() } else { offsets.as_ptr() };
        let mut event = null_mut();
        self.note(format_args!(
            "clEnqueueNDRangeKernel {queue:?} {kernel:?} {dimensions} {offsets:?} {sizes:?} {locals:?} {:?}",
            waits.0
        ));
        let out: *mut cl_event = if self.random.one_in(2) { &mut event } else { null_mut() };
        // SAFETY: three sizes each, of which more than are there are not asked for: the number of dimensions is checked first.
        unsafe {
            (self.shared.api.clEnqueueNDRangeKernel)(
                queue,
                kernel,
                dimensions,
                offset,
                global,
                local,
                waits.length(),
                waits.pointer(),
                out,
            )
        };
        self.keep(Kind::Event, event);
    }

    fn read_or_write(&mut self) {
        let (queue, buffer, waits, memory) =
            (self.pick(Kind::Queue), self.pick(Kind::Memory), self.waits(), self.memory());
        let (offset, size) = (self.random.size(4096), self.random.size(4096));
        let (blocking, reads) = (u32::from(self.random.one_in(4)), self.random.one_in(2));
        let mut event = null_mut();
        self.note(format_args!(
            "read or write {queue:?} {buffer:?} {blocking} {offset} {size} {memory:?} {:?}",
            waits.0
        ));
        let (api, length, list) = (self.shared.api, waits.length(), waits.pointer());
        // SAFETY: buffers have at most as many bytes as there are behind the pointer, for as long as the process.
        unsafe {
            if reads {
                (api.clEnqueueReadBuffer)(
                    queue, buffer, blocking, offset, size, memory, length, list, &mut event,
                );
            } else {
                (api.clEnqueueWriteBuffer)(
                    queue, buffer, blocking, offset, size, memory, length, list, &mut event,
                );
            }
        }
        self.keep(Kind::Event, event);
    }

    fn copy_or_fill(&mut self) {
        let (queue, from, to, waits) =
            (self.pick(Kind::Queue), self.pick(Kind::Memory), self.pick(Kind::Memory), self.waits());
        let (a, b, size) = (self.random.size(4096), self.random.size(4096), self.random.size(4096));
        let (api, length, list) = (self.shared.api, waits.length(), waits.pointer());
        let mut event = null_mut();
        match self.random.below(3) {
            0 => {
                self.note(format_args!("clEnqueueCopyBuffer {queue:?} {from:?} {to:?} {a} {b} {size}"));
                // SAFETY: handles and numbers.
                unsafe { (api.clEnqueueCopyBuffer)(queue, from, to, a, b, size, length, list, &mut event) };
            }
            1 => {
                let (pattern, width) =
                    (self.memory(), self.random.of(&[0, 1, 2, 3, 4, 8, 16, 32, 64, 128, 256]));
                self.note(format_args!("clEnqueueFillBuffer {queue:?} {to:?} {width} {a} {size}"));
                // SAFETY: the pattern has more bytes than the largest width.
                unsafe {
                    (api.clEnqueueFillBuffer)(
                        queue,
                        to,
                        pattern,
                        width,
                        a & !127,
                        size & !127,
                        length,
                        list,
                        &mut event,
                    )
                };
            }
            _ => {
                let list_of = [from, to];
                self.note(format_args!("clEnqueueMigrateMemObjects {queue:?} {list_of:?}"));
                // SAFETY: two handles.
                unsafe {
                    (api.clEnqueueMigrateMemObjects)(
                        queue,
                        2,
                        list_of.as_ptr(),
                        a as u64 % 4,
                        length,
                        list,
                        &mut event,
                    )
                };
            }
        }
        self.keep(Kind::Event, event);
    }

    /// On the side of the host all is small or without pitches, so that what is right stays within the memory.
    fn rect(&mut self) {
        let (queue, buffer, other, waits, memory) = (
            self.pick(Kind::Queue),
            self.pick(Kind::Memory),
            self.pick(Kind::Memory),
            self.waits(),
            self.memory(),
        );
        let origin: [usize; 3] = [64, 8, 4].map(|usual| self.random.size(usual));
        let region: [usize; 3] = [64, 8, 4].map(|usual| self.random.size(usual));
        let host: [usize; 3] = [64, 8, 4].map(|usual| self.random.below(usual));
        let small = region.iter().zip([64, 8, 4]).all(|(size, limit)| *size <= limit);
        let (row, slice) = (self.random.size(256), self.random.size(4096));
        let (row, slice) = if self.random.one_in(2) { (row, slice) } else { (0, 0) };
        let (host_row, host_slice) =
            if small { (self.random.below(256), self.random.below(4096)) } else { (0, 0) };
        self.note(format_args!(
            "rect {queue:?} {buffer:?} {origin:?} {region:?} {host:?} {row} {slice} {host_row} {host_slice}"
        ));
        let (api, length, list) = (self.shared.api, waits.length(), waits.pointer());
        let (at, extent, on_host) = (origin.as_ptr(), region.as_ptr(), host.as_ptr());
        let (blocking, mut event) = (u32::from(self.random.one_in(4)), null_mut());
        // SAFETY: triples; what a right rectangle covers of the host's memory is there.
        unsafe {
            match self.random.below(3) {
                0 => (api.clEnqueueReadBufferRect)(
                    queue, buffer, blocking, at, on_host, extent, row, slice, host_row, host_slice, memory,
                    length, list, &mut event,
                ),
                1 => (api.clEnqueueWriteBufferRect)(
                    queue, buffer, blocking, at, on_host, extent, row, slice, host_row, host_slice, memory,
                    length, list, &mut event,
                ),
                _ => (api.clEnqueueCopyBufferRect)(
                    queue, buffer, other, at, on_host, extent, row, slice, row, slice, length, list,
                    &mut event,
                ),
            };
        }
        self.keep(Kind::Event, event);
    }

    /// Mapped memory is not touched: another thread may unmap it.
    fn map(&mut self) {
        let (queue, buffer, waits) = (self.pick(Kind::Queue), self.pick(Kind::Memory), self.waits());
        let (offset, size) = (self.random.size(1024), self.random.size(1024));
        let (flags, blocking) = (self.random.next() % 9, u32::from(self.random.one_in(2)));
        let (api, length, list) = (self.shared.api, waits.length(), waits.pointer());
        let (mut events, mut error) = ([null_mut(); 2], 0);
        self.note(format_args!("clEnqueueMapBuffer {queue:?} {buffer:?} {flags} {offset} {size}"));
        // SAFETY: handles and numbers; what is unmapped is an address, right or not.
        unsafe {
            let map = api.clEnqueueMapBuffer;
            let mapped =
                map(queue, buffer, blocking, flags, offset, size, length, list, &mut events[0], &mut error);
            let address = if self.random.one_in(20) { self.memory() } else { mapped };
            (api.clEnqueueUnmapMemObject)(queue, buffer, address, 0, null(), &mut events[1]);
        }
        events.into_iter().for_each(|event| self.keep(Kind::Event, event));
    }

    fn synchronize(&mut self) {
        let (queue, waits, mut event) = (self.pick(Kind::Queue), self.waits(), null_mut());
        let api = self.shared.api;
        let call = if self.random.one_in(2) {
            api.clEnqueueMarkerWithWaitList
        } else {
            api.clEnqueueBarrierWithWaitList
        };
        self.note(format_args!("marker or barrier {queue:?} {:?}", waits.0));
        // SAFETY: a list of its length.
        unsafe { call(queue, waits.length(), waits.pointer(), &mut event) };
        self.keep(Kind::Event, event);
    }

    fn user_event(&mut self) {
        if self.random.one_in(3) {
            let (event, status) =
                (self.pick(Kind::Event), self.random.of(&[0, 0, 1, 2, 3, -1, -5, i32::MIN, i32::MAX]));
            self.note(format_args!("clSetUserEventStatus {event:?} {status}"));
            // SAFETY: a handle and a number.
            unsafe { (self.shared.api.clSetUserEventStatus)(event, status) };
            return;
        }
        let (context, mut error) = (self.pick(Kind::Context), 0);
        self.note(format_args!("clCreateUserEvent {context:?}"));
        // SAFETY: a handle.
        let event = unsafe { (self.shared.api.clCreateUserEvent)(context, &mut error) };
        if !event.is_null()
            && let Ok(mut events) = self.shared.user_events.lock()
        {
            events.push(event as usize);
        }
        self.keep(Kind::Event, event);
    }

    fn callback(&mut self) {
        unsafe extern "C" fn look(event: cl_event, _: cl_int, shared: *mut c_void) {
            // SAFETY: what all threads share lives as long as the process.
            let shared = unsafe { &*shared.cast::<Shared>() };
            let mut status = 0u32;
            // SAFETY: an int, and its size.
            unsafe {
                (shared.api.clGetEventInfo)(event, 0x11D3, 4, (&raw mut status).cast(), null_mut());
            }
            let queue = shared.handles.pick(Kind::Queue, &mut Random::new(event as u64));
            // SAFETY: a handle.
            unsafe { (shared.api.clFlush)(queue) };
        }
        let (event, at) = (self.pick(Kind::Event), self.random.below(5) as i32 - 1);
        self.note(format_args!("clSetEventCallback {event:?} {at}"));
        let user = std::ptr::from_ref(self.shared).cast_mut().cast();
        // SAFETY: a function with the right signature.
        unsafe { (self.shared.api.clSetEventCallback)(event, at, Some(look), user) };
    }

    fn wait(&mut self) {
        let events: Vec<_> = (0..self.random.below(4)).map(|_| self.pick(Kind::Event)).collect();
        self.note(format_args!("clWaitForEvents {events:?}"));
        // SAFETY: a list of its length.
        unsafe { (self.shared.api.clWaitForEvents)(events.len() as u32, events.as_ptr()) };
    }

    fn information(&mut self) {
        let kind = self.random.of(&KINDS);
        let handle = self.pick(kind);
        let (first, name) = match kind {
            Kind::Context => (0x1080, self.random.below(6)),
            Kind::Queue => (0x1090, self.random.below(10)),
            Kind::Memory => (0x1100, self.random.below(12)),
            Kind::Program => (0x1160, self.random.below(14)),
            Kind::Kernel => (0x1190, self.random.below(8)),
            Kind::Event => (0x11D0, self.random.below(6)),
        };
        let name = first + name as u32;
        // What is larger than that is not asked for with a size that suffices, as binaries are written where the answer's pointers point.
        let mut room = [0u64; 16];
        let size = if kind == Kind::Program { self.random.below(8) } else { self.random.below(129) };
        self.note(format_args!("information {kind:?} {handle:?} {name:#x} {size}"));
        let (api, mut needed) = (self.shared.api, 0usize);
        let to = if self.random.one_in(5) { null_mut() } else { room.as_mut_ptr().cast() };
        let query = match kind {
            Kind::Context => api.clGetContextInfo,
            Kind::Queue => api.clGetCommandQueueInfo,
            Kind::Memory => api.clGetMemObjectInfo,
            Kind::Program => api.clGetProgramInfo,
            Kind::Kernel => api.clGetKernelInfo,
            Kind::Event => api.clGetEventInfo,
        };
        // SAFETY: there is room for 128 bytes.
        unsafe { query(handle, name, size, to, &mut needed) };
    }

    /// Memory of this call alone, as memory that another thread frees may not be used, and of the queue's context, as other contexts' may not either.
    fn shared_memory(&mut self) {
        let (queue, waits) = (self.pick(Kind::Queue), self.waits());
        let mut context: *mut c_void = null_mut();
        let to = (&raw mut context).cast();
        // SAFETY: room for a handle.
        unsafe { (self.shared.api.clGetCommandQueueInfo)(queue, 0x1090, size_of::<usize>(), to, null_mut()) };
        let size =
            Some(self.random.size(usual_limit())).filter(|size| *size <= usual_limit()).unwrap_or(usize::MAX);
        let alignment = self.random.of(&[0, 1, 3, 64, 128, 4096, u32::MAX]);
        let api = self.shared.api;
        self.note(format_args!("clSVMAlloc {context:?} {size} {alignment}"));
        // SAFETY: numbers, and memory that is this call's.
        unsafe {
            let memory = (api.clSVMAlloc)(context, 1, size, alignment);
            if memory.is_null() {
                return;
            }
            let kernel = self.pick(Kind::Kernel);
            (api.clSetKernelArgSVMPointer)(kernel, 0, memory);
            let (pattern, mut event) = ([7u8; 16], null_mut());
            self.note(format_args!("clEnqueueSVMMemFill {queue:?} {memory:?} {size} {:?}", waits.0));
            let fill = api.clEnqueueSVMMemFill;
            fill(
                queue,
                memory,
                pattern.as_ptr().cast(),
                1,
                size,
                waits.length(),
                waits.pointer(),
                &mut event,
            );
            if event.is_null() {
                return (api.clSVMFree)(context, memory);
            }
            let mut list = [memory];
            let free = api.clEnqueueSVMFree;
            if free(queue, 1, list.as_mut_ptr(), None, null_mut(), 1, &event, null_mut()) != 0 {
                (api.clWaitForEvents)(1, &event);
                (api.clSVMFree)(context, memory);
            }
            self.keep(Kind::Event, event);
        }
    }

    fn flush(&mut self) {
        let queue = self.pick(Kind::Queue);
        let finishes = self.random.one_in(3);
        self.note(format_args!("{} {queue:?}", if finishes { "clFinish" } else { "clFlush" }));
        let api = self.shared.api;
        // SAFETY: a handle.
        unsafe { if finishes { (api.clFinish)(queue) } else { (api.clFlush)(queue) } };
    }
}

/// Gives a reference back.
pub fn release(api: &Api, kind: Kind, handle: *mut c_void) -> cl_int {
    let call = match kind {
        Kind::Context => api.clReleaseContext,
        Kind::Queue => api.clReleaseCommandQueue,
        Kind::Memory => api.clReleaseMemObject,
        Kind::Program => api.clReleaseProgram,
        Kind::Kernel => api.clReleaseKernel,
        Kind::Event => api.clReleaseEvent,
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
    };
    // SAFETY: a handle, alive or not.
    unsafe { call(handle) }
}

//! Shared virtual memory and unified shared memory.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use gencl_utest::raw::Unified;
use opencl_sys::{cl_command_queue, cl_context, cl_event};

use super::{Caller, Shared};
use crate::handles::Kind;
use crate::sizes::{size, usual_limit};

/// Memory of one sequence of calls, as memory that another thread frees may not be used.
struct Allocation {
    queue: cl_command_queue,
    /// The queue's context, as memory of other contexts must not be used.
    context: cl_context,
    memory: *mut c_void,
    size: usize,
}

/// The context of a queue; null if it is none.
fn context_of(shared: &Shared, queue: cl_command_queue) -> cl_context {
    let mut context: *mut c_void = null_mut();
    let to = (&raw mut context).cast();
    // SAFETY: room for a handle.
    unsafe { (shared.api.clGetCommandQueueInfo)(queue, 0x1090, size_of::<usize>(), to, null_mut()) };
    context
}

impl Caller {
    /// Allocates, makes some calls with what was allocated, and frees it.
    pub fn shared_memory(&mut self) {
        let queue = self.pick(Kind::Queue);
        let context = context_of(self.shared, queue);
        let size = Some(size(&mut self.random, usual_limit()))
            .filter(|size| *size <= usual_limit())
            .unwrap_or(usize::MAX);
        let alignment = self.random.pick(&[0, 1, 3, 64, 128, 4096, u32::MAX]);
        let unified = self.shared.unified.filter(|_| self.random.one_in(2));
        let memory = match unified {
            Some(unified) => self.allocate_unified(unified, context, size, alignment),
            None => {
                let flags = self.random.pick(&[0, 1, 1, 2, 4, 1 << 10, 1 << 11]);
                self.note(format_args!("clSVMAlloc {context:?} {flags} {size} {alignment}"));
                // SAFETY: the call takes numbers and a handle, which gencl checks.
                unsafe { (self.shared.api.clSVMAlloc)(context, flags, size, alignment) }
            }
        };
        if memory.is_null() {
            return;
        }
        let allocation = Allocation { queue, context, memory, size };
        let mut last = null_mut();
        for _ in 0..self.random.below(4) {
            let event = match self.shared.unified.filter(|_| self.random.one_in(2)) {
                Some(other) => self.use_unified(other, &allocation),
                None => self.use_shared(&allocation),
            };
            if !event.is_null() {
                self.keep(Kind::Event, std::mem::replace(&mut last, event));
            }
        }
        match unified {
            Some(unified) => self.free_unified(unified, &allocation),
            None => self.free_shared(&allocation, last),
        }
        self.keep(Kind::Event, last);
    }

    fn allocate_unified(
        &mut self,
        unified: &Unified,
        context: cl_context,
        size: usize,
        alignment: u32,
    ) -> *mut c_void {
        let (which, device, mut error) = (self.random.below(3), self.device(), 0);
        let list = [0x4195, self.random.pick(&[0, 0, 1, 1 << 16, 1 << 17, 3 << 16]), 0];
        let list = if self.random.one_in(2) { null() } else { list.as_ptr() };
        self.note(format_args!("unified memory {which} {context:?} {device:?} {size} {alignment}"));
        // SAFETY: a list that ends with 0.
        let memory = unsafe {
            match which {
                0 => (unified.clHostMemAllocINTEL)(context, list, size, alignment, &mut error),
                1 => (unified.clDeviceMemAllocINTEL)(context, device, list, size, alignment, &mut error),
                _ => (unified.clSharedMemAllocINTEL)(context, device, list, size, alignment, &mut error),
            }
        };
        if memory.is_null() == (error == 0) {
            self.fault(format_args!("unified memory at {memory:?} came with error {error}"));
        }
        memory
    }

    /// A part of an allocation: address and size.
    fn part_of(&mut self, allocation: &Allocation) -> (*mut c_void, usize) {
        let offset = if self.random.one_in(2) { 0 } else { self.random.below(allocation.size) };
        // SAFETY: within the allocation.
        (unsafe { allocation.memory.add(offset) }, self.random.below(allocation.size - offset + 1))
    }

    /// A call with shared virtual memory's functions. Gives the event, or null.
    fn use_shared(&mut self, allocation: &Allocation) -> cl_event {
        let (waits, blocking, which) = (self.waits(), u32::from(self.random.one_in(4)), self.random.below(6));
        let ((place, size), host, kernel) =
            (self.part_of(allocation), self.memory(), self.pick(Kind::Kernel));
        let (queue, api, mut event) = (allocation.queue, self.shared.api, null_mut());
        let (length, list) = (waits.length(), waits.pointer());
        let (width, flags) =
            (self.random.pick(&[0, 1, 1, 2, 3, 4, 8, 16, 128, 256]), self.random.next_u64() % 9);
        self.note(format_args!("shared memory {which} {queue:?} {place:?} {size} {width} {:?}", waits.0));
        // SAFETY: both places have as many bytes, patterns and values too, and lists have their lengths.
        unsafe {
            match which {
                0 => {
                    let fill = api.clEnqueueSVMMemFill;
                    fill(queue, place, self.shared.arena as _, width, size, length, list, &mut event)
                }
                1 => {
                    let copy = api.clEnqueueSVMMemcpy;
                    let (to, from) = if self.random.one_in(2) { (place, host) } else { (host, place) };
                    copy(queue, blocking, to, from, size, length, list, &mut event)
                }
                2 => {
                    let mut second = null_mut();
                    let mapped =
                        (api.clEnqueueSVMMap)(queue, blocking, flags, place, size, length, list, &mut event);
                    if mapped == 0 || self.random.one_in(10) {
                        (api.clEnqueueSVMUnmap)(queue, place, length, list, &mut second);
                    }
                    self.keep(Kind::Event, second);
                    mapped
                }
                3 => {
                    let (mut places, sizes) = ([place.cast_const(), null()], [size, 0]);
                    let count = self.random.below(3) as u32;
                    let sizes = if self.random.one_in(2) { null() } else { sizes.as_ptr() };
                    let migrate = api.clEnqueueSVMMigrateMem;
                    migrate(queue, count, places.as_mut_ptr(), sizes, flags, length, list, &mut event)
                }
                4 => (api.clSetKernelArgSVMPointer)(kernel, self.random.below(3) as u32, place),
                _ => {
                    let pointers = [place, null_mut()];
                    let name = self.random.pick(&[0x11B6, 0x11B6, 0x11B7, 0x4200, 0x4201, 0x4202, 0x4203, 7]);
                    let size = self.random.pick(&[0, 1, 4, 7, 8, 16]);
                    (api.clSetKernelExecInfo)(kernel, name, size, pointers.as_ptr().cast())
                }
            }
        };
        event
    }

    /// A call with unified shared memory's functions. Gives the event, or null.
    fn use_unified(&mut self, unified: &Unified, allocation: &Allocation) -> cl_event {
        let (waits, blocking, which) = (self.waits(), u32::from(self.random.one_in(4)), self.random.below(6));
        let ((place, size), host, kernel) =
            (self.part_of(allocation), self.memory(), self.pick(Kind::Kernel));
        let (queue, mut event) = (allocation.queue, null_mut());
        let (length, list) = (waits.length(), waits.pointer());
        let (width, number) =
            (self.random.pick(&[0, 1, 1, 2, 3, 4, 8, 16, 128, 256]), self.random.below(3) as u32);
        self.note(format_args!("unified memory {which} {queue:?} {place:?} {size} {width} {:?}", waits.0));
        // SAFETY: both places have as many bytes, patterns too, and lists have their lengths.
        unsafe {
            match which {
                0 => {
                    let fill = unified.clEnqueueMemFillINTEL;
                    fill(queue, place, self.shared.arena as _, width, size, length, list, &mut event)
                }
                1 => {
                    let copy = unified.clEnqueueMemcpyINTEL;
                    let (to, from) = if self.random.one_in(2) { (place, host) } else { (host, place) };
                    copy(queue, blocking, to, from, size, length, list, &mut event)
                }
                2 => {
                    let migrate = unified.clEnqueueMigrateMemINTEL;
                    migrate(queue, place, size, number.into(), length, list, &mut event)
                }
                3 => {
                    let advise = unified.clEnqueueMemAdviseINTEL;
                    advise(queue, place, size, number, length, list, &mut event)
                }
                4 => (unified.clSetKernelArgMemPointerINTEL)(kernel, number, place),
                _ => {
                    let (mut answer, mut needed) = ([0u64; 2], 0);
                    let (name, room) = (0x4195 + self.random.below(7) as u32, self.random.below(17));
                    let about = if self.random.one_in(5) { host } else { place };
                    let (ask, to) = (unified.clGetMemAllocInfoINTEL, (&raw mut answer).cast());
                    ask(allocation.context, about, name, room, to, &mut needed)
                }
            }
        };
        event
    }

    /// After the last command that has an event, or at once: commands keep what they use.
    fn free_shared(&mut self, allocation: &Allocation, last: cl_event) {
        unsafe extern "C" fn free(
            queue: cl_command_queue,
            count: u32,
            list: *mut *mut c_void,
            shared: *mut c_void,
        ) {
            // SAFETY: what all threads share lives as long as the process.
            let shared = unsafe { &*shared.cast::<Shared>() };
            let context = context_of(shared, queue);
            for index in 0..count as usize {
                // SAFETY: the list has so many, each of this context.
                unsafe { (shared.api.clSVMFree)(context, *list.add(index)) };
            }
        }
        let &Allocation { queue, context, memory, .. } = allocation;
        let (api, mut list) = (self.shared.api, [memory]);
        let user = self.user_data();
        self.note(format_args!("free {queue:?} {memory:?} {last:?}"));
        let (count, waits) = if last.is_null() { (0, null()) } else { (1, &raw const last) };
        let call = if self.random.one_in(2) { None } else { Some(free as _) };
        // SAFETY: one pointer, which nobody else has.
        unsafe {
            let enqueue = api.clEnqueueSVMFree;
            if self.random.one_in(3)
                || enqueue(queue, 1, list.as_mut_ptr(), call, user, count, waits, null_mut()) != 0
            {
                (api.clSVMFree)(context, memory);
            }
        }
    }

    fn free_unified(&mut self, unified: &Unified, allocation: &Allocation) {
        let &Allocation { context, memory, size, .. } = allocation;
        let blocking = self.random.one_in(3);
        self.note(format_args!("free {memory:?} {blocking}"));
        let free = if blocking { unified.clMemBlockingFreeINTEL } else { unified.clMemFreeINTEL };
        // SAFETY: what was allocated, which nobody else has; a place within it is refused.
        unsafe {
            let inside = memory.add(size.min(1));
            if self.random.one_in(20) && free(context, inside) == 0 {
                self.fault("memory was freed that begins elsewhere");
            }
            let error = free(context, memory);
            if error != 0 {
                self.fault(format_args!("unified memory was not freed: {error}"));
            }
        }
    }
}

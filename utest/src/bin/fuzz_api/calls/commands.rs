//! Commands on buffers, and launches.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use opencl_sys::cl_event;

use super::Caller;
use crate::handles::Kind;
use crate::sizes::size;

impl Caller {
    pub fn launch(&mut self) {
        const HUGE: [usize; 4] = [usize::MAX, usize::MAX - 1, 1 << 62, usize::MAX / 2];
        let (queue, kernel, waits) = (self.pick(Kind::Queue), self.pick(Kind::Kernel), self.waits());
        let dimensions = if self.random.one_in(30) {
            self.random.below(9) as u32
        } else {
            1 + self.random.below(3) as u32
        };
        let limits = [512, 8, 4];
        let sizes = limits.map(|limit| {
            if self.random.one_in(60) { self.random.pick(&HUGE) } else { self.random.below(limit) }
        });
        let locals = limits.map(|_| {
            if self.random.one_in(60) { size(&mut self.random, 512) } else { 1 + self.random.below(4) }
        });
        let offsets = limits
            .map(|_| if self.random.one_in(60) { self.random.pick(&HUGE) } else { self.random.below(4) });
        let global = if self.random.one_in(60) { null() } else { sizes.as_ptr() };
        let local = if self.random.one_in(2) { null() } else { locals.as_ptr() };
        let offset = if self.random.one_in(2) { null() } else { offsets.as_ptr() };
        let mut event = null_mut();
        if self.random.one_in(10) {
            return self.launch_otherwise(queue, kernel, dimensions, offset, global);
        }
        self.note(format_args!(
            "clEnqueueNDRangeKernel {queue:?} {kernel:?} {dimensions} {offsets:?} {sizes:?} {locals:?} {:?}",
            waits.0
        ));
        let out: *mut cl_event = if self.random.one_in(2) { &mut event } else { null_mut() };
        // SAFETY: three sizes each, of which more than are there are not asked for: the number of dimensions
        // is checked first.
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

    pub fn read_or_write(&mut self) {
        let (queue, buffer, waits, memory) =
            (self.pick(Kind::Queue), self.pick(Kind::Memory), self.waits(), self.memory());
        let (offset, size) = (size(&mut self.random, 4096), size(&mut self.random, 4096));
        let (blocking, reads) = (u32::from(self.random.one_in(4)), self.random.one_in(2));
        let mut event = null_mut();
        self.note(format_args!(
            "read or write {queue:?} {buffer:?} {blocking} {offset} {size} {memory:?} {:?}",
            waits.0
        ));
        let (api, length, list) = (self.shared.api, waits.length(), waits.pointer());
        // SAFETY: buffers have at most as many bytes as there are behind the pointer, for as long as the
        // process.
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

    pub fn copy_or_fill(&mut self) {
        let (queue, from, to, waits) =
            (self.pick(Kind::Queue), self.pick(Kind::Memory), self.pick(Kind::Memory), self.waits());
        let (a, b, size) =
            (size(&mut self.random, 4096), size(&mut self.random, 4096), size(&mut self.random, 4096));
        let (api, length, list) = (self.shared.api, waits.length(), waits.pointer());
        let mut event = null_mut();
        match self.random.below(3) {
            0 => {
                self.note(format_args!("clEnqueueCopyBuffer {queue:?} {from:?} {to:?} {a} {b} {size}"));
                // SAFETY: the call takes numbers and handles, which gencl checks.
                unsafe { (api.clEnqueueCopyBuffer)(queue, from, to, a, b, size, length, list, &mut event) };
            }
            1 => {
                let (pattern, width) =
                    (self.memory(), self.random.pick(&[0, 1, 2, 3, 4, 8, 16, 32, 64, 128, 256]));
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
                // SAFETY: the call takes handles, which gencl checks.
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

    /// On the side of the host all is small or without pitches, so that what is right stays within the
    /// memory.
    pub fn rect(&mut self) {
        let (queue, buffer, other, waits, memory) = (
            self.pick(Kind::Queue),
            self.pick(Kind::Memory),
            self.pick(Kind::Memory),
            self.waits(),
            self.memory(),
        );
        let origin: [usize; 3] = [64, 8, 4].map(|usual| size(&mut self.random, usual));
        let region: [usize; 3] = [64, 8, 4].map(|usual| size(&mut self.random, usual));
        let host: [usize; 3] = [64, 8, 4].map(|usual| self.random.below(usual));
        let small = region.iter().zip([64, 8, 4]).all(|(size, limit)| *size <= limit);
        let (row, slice) = (size(&mut self.random, 256), size(&mut self.random, 4096));
        let (row, slice) = if self.random.one_in(3) { (row, slice) } else { (0, 0) };
        let (host_row, host_slice) = if small && self.random.one_in(3) {
            (self.random.below(256), self.random.below(4096))
        } else {
            (0, 0)
        };
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
    pub fn map(&mut self) {
        let (queue, buffer, waits) = (self.pick(Kind::Queue), self.pick(Kind::Memory), self.waits());
        let (offset, size) = (size(&mut self.random, 1024), size(&mut self.random, 1024));
        let (flags, blocking) = (self.random.next_u64() % 9, u32::from(self.random.one_in(2)));
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

    pub fn synchronize(&mut self) {
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

    pub fn flush(&mut self) {
        let queue = self.pick(Kind::Queue);
        let finishes = self.random.one_in(3);
        self.note(format_args!("{} {queue:?}", if finishes { "clFinish" } else { "clFlush" }));
        let api = self.shared.api;
        // SAFETY: the call takes a handle, which gencl checks.
        unsafe { if finishes { (api.clFinish)(queue) } else { (api.clFlush)(queue) } };
    }

    /// The size of work-groups that would be chosen, or a launch of one work-item.
    fn launch_otherwise(
        &mut self,
        queue: *mut c_void,
        kernel: *mut c_void,
        dimensions: u32,
        offset: *const usize,
        global: *const usize,
    ) {
        let (waits, mut event, mut size) = (self.waits(), null_mut(), [0usize; 3]);
        if let Some(suggested) = self.shared.suggested_local_size
            && self.random.one_in(2)
        {
            self.note(format_args!("clGetKernelSuggestedLocalWorkSize {queue:?} {kernel:?} {dimensions}"));
            // SAFETY: three sizes each, of which more than are there are not asked for.
            unsafe { suggested(queue, kernel, dimensions, offset, global, size.as_mut_ptr()) };
            return;
        }
        self.note(format_args!("clEnqueueTask {queue:?} {kernel:?} {:?}", waits.0));
        // SAFETY: a list of its length.
        unsafe {
            (self.shared.api.clEnqueueTask)(queue, kernel, waits.length(), waits.pointer(), &mut event)
        };
        self.keep(Kind::Event, event);
    }
}

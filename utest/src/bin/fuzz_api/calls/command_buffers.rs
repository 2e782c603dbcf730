//! Command-buffers: recorded, finalized, changed and enqueued by one thread, with everybody's objects.

use std::ptr::{null, null_mut};

use gencl_utest::raw::CommandBuffers;
use opencl_sys::{
    cl_command_buffer_khr, cl_mutable_command_khr, cl_mutable_dispatch_arg_khr,
    cl_mutable_dispatch_config_khr,
};

use super::Caller;
use crate::handles::Kind;
use crate::sizes::size;

/// A command-buffer under test, and the handles of its launches.
struct List {
    handle: cl_command_buffer_khr,
    commands: Vec<cl_mutable_command_khr>,
    /// Number of the last sync point.
    points: u32,
}

impl Caller {
    /// Creates one, makes some calls with it, and releases it.
    pub fn command_buffer(&mut self) {
        let Some(buffers) = self.shared.buffers else { return };
        let (queue, flags, mut error) = (self.pick(Kind::Queue), self.random.below(9) as u64, 0);
        let properties = [0x1293, flags, 0];
        let list = if self.random.one_in(3) { null() } else { properties.as_ptr() };
        self.note(format_args!("clCreateCommandBufferKHR {queue:?} {flags}"));
        // SAFETY: one queue, and a list that ends with 0.
        let handle = unsafe { (buffers.clCreateCommandBufferKHR)(1, &queue, list, &mut error) };
        if handle.is_null() == (error == 0) {
            self.fault(format_args!("a command-buffer {handle:?} came with error {error}"));
        }
        let mut list = List { handle, commands: Vec::new(), points: 0 };
        if handle.is_null() && self.random.one_in(2) {
            return;
        }
        for _ in 0..self.random.below(24) {
            self.record(buffers, &mut list);
        }
        self.note(format_args!("clFinalizeCommandBufferKHR {handle:?}"));
        // SAFETY: the calls take handles, which gencl checks.
        unsafe { (buffers.clFinalizeCommandBufferKHR)(handle) };
        for _ in 0..self.random.below(6) {
            match self.random.below(4) {
                0 => self.change(buffers, &list),
                1 => self.ask(buffers, &list),
                _ => self.enqueue_list(buffers, handle),
            }
        }
        // SAFETY: as above.
        unsafe {
            if self.random.one_in(4) && (buffers.clRetainCommandBufferKHR)(handle) == 0 {
                (buffers.clReleaseCommandBufferKHR)(handle);
            }
            (buffers.clReleaseCommandBufferKHR)(handle);
        }
    }

    /// Records a command of any kind.
    fn record(&mut self, buffers: &CommandBuffers, list: &mut List) {
        let kind = self.random.below(14);
        let [from, to] = [(); 2].map(|()| self.pick(Kind::Memory));
        let [image, other] = [(); 2].map(|()| self.pick(Kind::Image));
        let queue = if self.random.one_in(30) { self.pick(Kind::Queue) } else { null_mut() };
        let [a, b, c] = [(); 3].map(|()| size(&mut self.random, 512));
        let [origin, target, region] = [(); 3].map(|()| [8, 4, 2].map(|usual| size(&mut self.random, usual)));
        let (pattern, width) = (self.memory(), self.random.pick(&[0, 1, 2, 3, 4, 16, 128]));
        let waits: Vec<u32> =
            (0..self.random.below(3)).map(|_| self.random.below(list.points as usize + 2) as u32).collect();
        let (count, waits) = (waits.len() as u32, if waits.is_empty() { null() } else { waits.as_ptr() });
        let (own, none, mut point, mut command) = (list.handle, null(), 0, null_mut());
        let odd: *mut cl_mutable_command_khr = if self.random.one_in(30) { &mut command } else { null_mut() };
        let (place, little) = (self.memory(), self.random.below(512));
        self.note(format_args!(
            "record {kind} {own:?} {queue:?} {from:?} {to:?} {image:?} {other:?} {a} {b} {c}"
        ));
        let (origin, target, region) = (origin.as_ptr(), target.as_ptr(), region.as_ptr());
        let out = &raw mut point;
        // SAFETY: origins and regions have three numbers, patterns and colors more bytes than any, the application's
        // memory more than are copied; lists have their lengths.
        unsafe {
            match kind {
                0 => (buffers.clCommandBarrierWithWaitListKHR)(own, queue, none, count, waits, out, odd),
                1 => (buffers.clCommandCopyBufferKHR)(
                    own, queue, none, from, to, a, b, c, count, waits, out, odd,
                ),
                2 => (buffers.clCommandCopyBufferRectKHR)(
                    own, queue, none, from, to, origin, target, region, a, b, a, c, count, waits, out, odd,
                ),
                3 => (buffers.clCommandCopyBufferToImageKHR)(
                    own, queue, none, from, image, a, target, region, count, waits, out, odd,
                ),
                4 => (buffers.clCommandCopyImageKHR)(
                    own, queue, none, image, other, origin, target, region, count, waits, out, odd,
                ),
                5 => (buffers.clCommandCopyImageToBufferKHR)(
                    own, queue, none, image, to, origin, region, a, count, waits, out, odd,
                ),
                6 => (buffers.clCommandFillBufferKHR)(
                    own,
                    queue,
                    none,
                    to,
                    pattern,
                    width,
                    a & !127,
                    c & !127,
                    count,
                    waits,
                    out,
                    odd,
                ),
                7 => (buffers.clCommandFillImageKHR)(
                    own, queue, none, image, pattern, target, region, count, waits, out, odd,
                ),
                8 => (buffers.clCommandSVMMemcpyKHR)(
                    own, queue, none, place, pattern, little, count, waits, out, odd,
                ),
                9 => (buffers.clCommandSVMMemFillKHR)(
                    own, queue, none, place, pattern, width, little, count, waits, out, odd,
                ),
                _ => {
                    let fields = [0x12B1, self.random.below(33) as u64, 0];
                    let properties = if self.random.one_in(2) { none } else { fields.as_ptr() };
                    let (kernel, global) = (self.pick(Kind::Kernel), [self.random.below(64), 2, 2]);
                    let local = [1 + self.random.below(4), 1, 1];
                    let local = if self.random.one_in(2) { null() } else { local.as_ptr() };
                    let dimensions = self.random.below(5) as u32;
                    let launch = buffers.clCommandNDRangeKernelKHR;
                    launch(
                        own,
                        queue,
                        properties,
                        kernel,
                        dimensions,
                        origin,
                        global.as_ptr(),
                        local,
                        count,
                        waits,
                        out,
                        &mut command,
                    )
                }
            }
        };
        list.points = list.points.max(point);
        list.commands.extend(Some(command).filter(|command| !command.is_null()));
    }

    /// Changes launches.
    fn change(&mut self, buffers: &CommandBuffers, list: &List) {
        let (memory, number) = (self.pick(Kind::Memory), self.random.next_u32());
        let arguments = [
            cl_mutable_dispatch_arg_khr { arg_index: 0, arg_size: 8, arg_value: (&raw const memory).cast() },
            cl_mutable_dispatch_arg_khr {
                arg_index: self.random.below(3) as u32,
                arg_size: self.random.pick(&[4, 4, 8, usize::MAX]),
                arg_value: (&raw const number).cast(),
            },
        ];
        let (offset, global) = ([3usize; 3], [self.random.below(64), 1, 1]);
        let configs: Vec<_> = (0..self.random.below(4))
            .map(|_| {
                let chosen = list.commands.len().min(8);
                let other = chosen == 0 || self.random.one_in(20);
                let command =
                    if other { self.pick(Kind::Event) } else { list.commands[self.random.below(chosen)] };
                let num_args = self.random.below(3) as u32;
                cl_mutable_dispatch_config_khr {
                    command,
                    num_args,
                    num_svm_args: 0,
                    num_exec_infos: 0,
                    work_dim: self.random.below(3) as u32,
                    arg_list: if num_args == 0 { null() } else { arguments.as_ptr() },
                    arg_svm_list: null(),
                    exec_info_list: null(),
                    global_work_offset: if self.random.one_in(2) { null() } else { offset.as_ptr() },
                    global_work_size: if self.random.one_in(2) { null() } else { global.as_ptr() },
                    local_work_size: null(),
                }
            })
            .collect();
        let types = [0, 0, 0];
        let mut pointers: Vec<_> = configs.iter().map(|config| std::ptr::from_ref(config).cast()).collect();
        self.note(format_args!("clUpdateMutableCommandsKHR {:?} {configs:?}", list.handle));
        let (handle, count) = (list.handle, configs.len() as u32);
        // SAFETY: lists of at most three with their length, of structures that are there during the call.
        unsafe { (buffers.clUpdateMutableCommandsKHR)(handle, count, types.as_ptr(), pointers.as_mut_ptr()) };
    }

    /// Queries of it and of a command.
    fn ask(&mut self, buffers: &CommandBuffers, list: &List) {
        let (mut room, mut size) = ([0u64; 8], 0);
        let (bytes, value) = (size_of_val(&room), room.as_mut_ptr().cast());
        let names = [0x1294, 0x12A0].map(|first| first + self.random.below(10) as u32);
        self.note(format_args!("queries {:?} {names:x?}", list.handle));
        let command = list.commands.first().copied().unwrap_or_else(|| self.pick(Kind::Kernel));
        // SAFETY: room for more than any answer about these.
        unsafe {
            (buffers.clGetCommandBufferInfoKHR)(list.handle, names[0], bytes, value, &mut size);
            (buffers.clGetMutableCommandInfoKHR)(command, names[1], bytes, value, &mut size);
        }
    }

    fn enqueue_list(&mut self, buffers: &CommandBuffers, handle: cl_command_buffer_khr) {
        let (mut queue, waits, mut event) = (self.pick(Kind::Queue), self.waits(), null_mut());
        let (count, queues) = if self.random.one_in(2) { (0, null_mut()) } else { (1, &raw mut queue) };
        self.note(format_args!("clEnqueueCommandBufferKHR {handle:?} {count} {queue:?} {:?}", waits.0));
        let enqueue = buffers.clEnqueueCommandBufferKHR;
        // SAFETY: lists of their lengths.
        unsafe { enqueue(count, queues, handle, waits.length(), waits.pointer(), &mut event) };
        self.keep(Kind::Event, event);
    }
}

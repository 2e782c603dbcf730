//! Contexts, queues, memory, samplers: made, kept and given back.

use std::ptr::{null, null_mut};

use opencl_sys::{cl_buffer_region, cl_device_id};

use super::{Caller, release, retain};
use crate::handles::{KINDS, Kind};
use crate::sizes::{size, usual_limit};

impl Caller {
    pub fn create_context_or_queue(&mut self) {
        let (api, device, mut error) = (self.shared.api, self.shared.device as cl_device_id, 0);
        if self.random.one_in(4) {
            let device = self.device();
            let ty = self.random.pick(&[1 << 1, 1 << 2, 1, u64::from(u32::MAX), 0, 1 << 40]);
            let list = [self.random.pick(&[0x1084, 0x1085, 7]), self.shared.platform as isize, 0];
            let properties = if self.random.one_in(2) { null() } else { list.as_ptr() };
            self.note(format_args!(
                "clCreateContext or clCreateContextFromType {device:?} {ty:#x} {list:x?}"
            ));
            // SAFETY: one device, a list that ends with 0.
            let context = unsafe {
                if self.random.one_in(2) {
                    (api.clCreateContext)(properties, 1, &device, None, null_mut(), &mut error)
                } else {
                    (api.clCreateContextFromType)(properties, ty, None, null_mut(), &mut error)
                }
            };
            return self.created(Kind::Context, context, error);
        }
        let context = self.pick(Kind::Context);
        let properties =
            [self.random.pick(&[0x1093, 0x1093, 0x1093, 0x1096, 0x1097]), self.random.next_u64() % 5, 0];
        self.note(format_args!("clCreateCommandQueue {context:?} {properties:?}"));
        // SAFETY: a list that ends with 0.
        let queue = unsafe {
            if self.random.one_in(3) {
                (api.clCreateCommandQueue)(context, device, properties[1], &mut error)
            } else {
                (api.clCreateCommandQueueWithProperties)(context, device, properties.as_ptr(), &mut error)
            }
        };
        self.created(Kind::Queue, queue, error);
    }

    pub fn create_buffer(&mut self) {
        let (context, host, mut error) = (self.pick(Kind::Context), self.memory(), 0);
        // Nothing between what is usual and what no device has, as the calls on buffers rely on it.
        let size = Some(size(&mut self.random, usual_limit()))
            .filter(|size| *size <= usual_limit())
            .unwrap_or(usize::MAX);
        let flags = self.random.pick(&[
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
        let list = [self.random.pick(&[0, 0, 0x1122]), 1, 0];
        let api = self.shared.api;
        self.note(format_args!("clCreateBuffer {context:?} {flags:#x} {size} {host:?}"));
        // SAFETY: the memory is there as long as the process; a list that ends with 0.
        let buffer = unsafe {
            if self.random.one_in(3) {
                (api.clCreateBufferWithProperties)(context, list.as_ptr(), flags, size, host, &mut error)
            } else {
                (api.clCreateBuffer)(context, flags, size, host, &mut error)
            }
        };
        self.created(Kind::Memory, buffer, error);
    }

    pub fn create_sub_buffer(&mut self) {
        let (buffer, mut error) = (self.pick(Kind::Memory), 0);
        let origin = size(&mut self.random, usual_limit());
        let origin = if self.random.one_in(3) { origin } else { origin & !0xfff };
        let region = cl_buffer_region { origin, size: size(&mut self.random, usual_limit()) };
        self.note(format_args!("clCreateSubBuffer {buffer:?} {origin} {}", region.size));
        // SAFETY: the region is there during the call.
        let part = unsafe {
            (self.shared.api.clCreateSubBuffer)(buffer, 0, 0x1220, (&raw const region).cast(), &mut error)
        };
        self.created(Kind::Memory, part, error);
    }

    pub fn retain_or_release(&mut self) {
        let (kind, random) = (self.random.pick(&KINDS), &mut self.random);
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

    pub fn sampler(&mut self) {
        let (context, api, mut error) = (self.pick(Kind::Context), self.shared.api, 0);
        let (normalized, addressing) = (self.random.below(3) as u32, self.random.below(7) as u32 + 0x112F);
        let filter = self.random.below(3) as u32 + 0x1140;
        let names = [0x1152, 0x1153, 0x1154, 0x1155, 7];
        let values = [normalized, addressing, filter];
        let list = [0; 3].map(|_: u64| self.random.pick(&names));
        let list =
            [list[0], u64::from(values[0]), list[1], u64::from(values[1]), list[2], u64::from(values[2]), 0];
        self.note(format_args!("clCreateSampler {context:?} {values:x?} {list:x?}"));
        // SAFETY: a list that ends with 0.
        let sampler = unsafe {
            if self.random.one_in(2) {
                (api.clCreateSampler)(context, normalized, addressing, filter, &mut error)
            } else {
                let list = if self.random.one_in(10) { null() } else { list.as_ptr() };
                (api.clCreateSamplerWithProperties)(context, list, &mut error)
            }
        };
        self.created(Kind::Sampler, sampler, error);
    }
}

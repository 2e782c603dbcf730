//! Semaphores: signaled and waited for by one thread, with everybody's queues and events.

use std::ptr::{null, null_mut};

use super::Caller;
use crate::handles::Kind;

impl Caller {
    /// Creates one, makes some calls with it, and releases it, which ends waits without a signal.
    pub fn semaphore(&mut self) {
        let Some(semaphores) = self.shared.semaphores else { return };
        let (context, device, mut error) = (self.pick(Kind::Context), self.device() as u64, 0);
        let list =
            if self.random.one_in(3) { vec![0x203D, 1, 0x2053, device, 0, 0] } else { vec![0x203D, 1, 0] };
        self.note(format_args!("clCreateSemaphoreWithPropertiesKHR {context:?} {list:x?}"));
        // SAFETY: a list that ends with 0.
        let own =
            unsafe { (semaphores.clCreateSemaphoreWithPropertiesKHR)(context, list.as_ptr(), &mut error) };
        if own.is_null() == (error == 0) {
            self.fault(format_args!("a semaphore {own:?} came with error {error}"));
        }
        // Each wait has its signal before it, but perhaps the last one, as nobody could end it in the same queue.
        let turns = self.random.below(8);
        let mut is_signaled = false;
        for turn in 0..turns {
            let (queue, waits, mut event) = (self.pick(Kind::Queue), self.waits(), null_mut());
            let handles = [own, self.pick(Kind::Event)];
            let count = if self.random.one_in(10) { self.random.pick(&[0, 2]) } else { 1 };
            let is_wait = is_signaled || turn + 1 == turns;
            let call = if is_wait {
                semaphores.clEnqueueWaitSemaphoresKHR
            } else {
                semaphores.clEnqueueSignalSemaphoresKHR
            };
            self.note(format_args!("semaphore {is_wait} {queue:?} {handles:?} {count} {:?}", waits.0));
            let (length, pointer) = (waits.length(), waits.pointer());
            // SAFETY: lists of their lengths.
            if unsafe { call(queue, count, handles.as_ptr(), null(), length, pointer, &mut event) } == 0 {
                is_signaled = !is_wait;
            }
            self.keep(Kind::Event, event);
        }
        let (mut room, mut size, mut descriptor) = ([0u64; 8], 0, 0i32);
        let name = self.random.pick(&[0x2039, 0x203A, 0x203B, 0x203C, 0x203D, 0x2053, 0x2054]);
        let device = self.device();
        self.note(format_args!("query {own:?} {name:x}"));
        // SAFETY: room for more than any answer; handles, which gencl checks.
        unsafe {
            let (bytes, value) = (size_of_val(&room), room.as_mut_ptr().cast());
            (semaphores.clGetSemaphoreInfoKHR)(own, name, bytes, value, &mut size);
            let place = (&raw mut descriptor).cast();
            (semaphores.clGetSemaphoreHandleForTypeKHR)(own, device, 0x2055, 4, place, null_mut());
            if self.random.one_in(4) && (semaphores.clRetainSemaphoreKHR)(own) == 0 {
                (semaphores.clReleaseSemaphoreKHR)(own);
            }
            (semaphores.clReleaseSemaphoreKHR)(own);
        }
    }
}

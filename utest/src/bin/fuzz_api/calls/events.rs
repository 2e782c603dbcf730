//! User events, callbacks and waiting.

use std::ffi::c_void;
use std::ptr::null_mut;

use gencl_testing::Random;
use opencl_sys::{cl_event, cl_int};

use super::{Caller, Shared};
use crate::handles::Kind;

impl Caller {
    pub fn user_event(&mut self) {
        if self.random.one_in(3) {
            let (event, status) =
                (self.pick(Kind::Event), self.random.pick(&[0, 0, 1, 2, 3, -1, -5, i32::MIN, i32::MAX]));
            self.note(format_args!("clSetUserEventStatus {event:?} {status}"));
            // SAFETY: a handle and a number.
            unsafe { (self.shared.api.clSetUserEventStatus)(event, status) };
            return;
        }
        let (context, mut error) = (self.pick(Kind::Context), 0);
        self.note(format_args!("clCreateUserEvent {context:?}"));
        // SAFETY: the call takes a handle, which gencl checks.
        let event = unsafe { (self.shared.api.clCreateUserEvent)(context, &mut error) };
        if !event.is_null()
            && let Ok(mut events) = self.shared.user_events.lock()
        {
            events.push(event as usize);
        }
        self.created(Kind::Event, event, error);
    }

    pub fn callback(&mut self) {
        unsafe extern "C" fn look(event: cl_event, _: cl_int, shared: *mut c_void) {
            // SAFETY: what all threads share lives as long as the process.
            let shared = unsafe { &*shared.cast::<Shared>() };
            let mut status = 0u32;
            // SAFETY: an int, and its size.
            unsafe {
                (shared.api.clGetEventInfo)(event, 0x11D3, 4, (&raw mut status).cast(), null_mut());
            }
            let queue = shared.handles.pick(Kind::Queue, &mut Random::new(event as u64));
            // SAFETY: the call takes a handle, which gencl checks.
            unsafe { (shared.api.clFlush)(queue) };
        }
        let (event, at) = (self.pick(Kind::Event), self.random.below(5) - 1);
        self.note(format_args!("clSetEventCallback {event:?} {at}"));
        let look = if self.random.one_in(40) { None } else { Some(look as _) };
        // SAFETY: a function with the right signature.
        unsafe { (self.shared.api.clSetEventCallback)(event, at, look, self.user_data()) };
    }

    pub fn wait(&mut self) {
        let events: Vec<_> = (0..self.random.below(4)).map(|_| self.pick(Kind::Event)).collect();
        self.note(format_args!("clWaitForEvents {events:?}"));
        // SAFETY: a list of its length.
        unsafe { (self.shared.api.clWaitForEvents)(events.len() as u32, events.as_ptr()) };
    }

    pub fn destructor_callback(&mut self) {
        unsafe extern "C" fn gone(object: *mut c_void, shared: *mut c_void) {
            // SAFETY: what all threads share lives as long as the process.
            let shared = unsafe { &*shared.cast::<Shared>() };
            let queue = shared.handles.pick(Kind::Queue, &mut Random::new(object as u64));
            let mut count = 0u32;
            // SAFETY: handles, of which the object's is no longer to be used, and an int.
            unsafe {
                (shared.api.clFlush)(queue);
                (shared.api.clGetMemObjectInfo)(object, 0x1105, 4, (&raw mut count).cast(), null_mut());
            }
        }
        let kind = self.random.pick(&[Kind::Context, Kind::Memory, Kind::Image]);
        let (object, api) = (self.pick(kind), self.shared.api);
        let call = match kind {
            Kind::Context => api.clSetContextDestructorCallback,
            _ => api.clSetMemObjectDestructorCallback,
        };
        let gone = if self.random.one_in(20) { None } else { Some(gone as _) };
        self.note(format_args!("destructor callback {kind:?} {object:?}"));
        // SAFETY: a function with the right signature.
        unsafe { call(object, gone, self.user_data()) };
    }
}

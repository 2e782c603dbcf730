//! Functions that no device of gencl supports: each call is an error, whatever its arguments.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use opencl_sys::cl_int;

use super::Caller;
use crate::handles::Kind;

/// The error that a call gave.
type Absent = fn(&mut Caller) -> cl_int;

/// The error of a call that makes an object, by what follows the parameter for it.
macro_rules! creation {
    ($function:ident, $kind:ident $(, $argument:expr)*) => {
        |caller| {
            let (object, mut error) = (caller.pick(Kind::$kind), 0);
            // SAFETY: a handle, and what is there for the call at most.
            let made = unsafe { (caller.shared.api.$function)(object $(, $argument)*, &mut error) };
            if !made.is_null() {
                caller.fault(concat!(stringify!($function), " made an object"));
            }
            error
        }
    };
}

/// The error of a command on memory objects of another API.
macro_rules! sharing {
    ($function:ident) => {
        |caller| {
            let (queue, objects, waits) =
                (caller.pick(Kind::Queue), [0; 2].map(|_| caller.pick(Kind::Memory)), caller.waits());
            let (count, mut event) = (caller.random.below(3) as u32, null_mut());
            let call = caller.shared.api.$function;
            // SAFETY: lists of their lengths.
            unsafe { call(queue, count, objects.as_ptr(), waits.length(), waits.pointer(), &mut event) }
        }
    };
}

const CALLS: &[(&str, Absent)] = &[
    ("clCreatePipe", creation!(clCreatePipe, Context, 0, 4, 4, null())),
    ("clCreateFromGLBuffer", creation!(clCreateFromGLBuffer, Context, 1, 0)),
    ("clCreateFromGLTexture", creation!(clCreateFromGLTexture, Context, 1, 0xDE1, 0, 0)),
    ("clCreateFromGLTexture2D", creation!(clCreateFromGLTexture2D, Context, 1, 0xDE1, 0, 0)),
    ("clCreateFromGLTexture3D", creation!(clCreateFromGLTexture3D, Context, 1, 0x806F, 0, 0)),
    ("clCreateFromGLRenderbuffer", creation!(clCreateFromGLRenderbuffer, Context, 1, 0)),
    ("clCreateEventFromGLsyncKHR", creation!(clCreateEventFromGLsyncKHR, Context, null_mut())),
    (
        "clCreateFromEGLImageKHR",
        creation!(clCreateFromEGLImageKHR, Context, null_mut(), null_mut(), 1, null()),
    ),
    ("clCreateEventFromEGLSyncKHR", creation!(clCreateEventFromEGLSyncKHR, Context, null_mut(), null_mut())),
    ("clEnqueueAcquireGLObjects", sharing!(clEnqueueAcquireGLObjects)),
    ("clEnqueueReleaseGLObjects", sharing!(clEnqueueReleaseGLObjects)),
    ("clEnqueueAcquireEGLObjectsKHR", sharing!(clEnqueueAcquireEGLObjectsKHR)),
    ("clEnqueueReleaseEGLObjectsKHR", sharing!(clEnqueueReleaseEGLObjectsKHR)),
    ("clGetGLObjectInfo", |caller| {
        let (memory, mut ty, mut name) = (caller.pick(Kind::Memory), 0, 0);
        // SAFETY: room for a type and a name.
        unsafe { (caller.shared.api.clGetGLObjectInfo)(memory, &mut ty, &mut name) }
    }),
    ("clGetGLContextInfoKHR", |caller| {
        let (list, mut device, mut size) =
            ([0x1084, caller.shared.platform as isize, 0], null_mut::<c_void>(), 0);
        // SAFETY: a list that ends with 0, and room for a handle.
        unsafe {
            let ask = caller.shared.api.clGetGLContextInfoKHR;
            ask(list.as_ptr(), 0x2006, size_of::<usize>(), (&raw mut device).cast(), &mut size)
        }
    }),
    ("clCreateProgramWithBuiltInKernels", |caller| {
        let (context, device, mut error) = (caller.pick(Kind::Context), caller.device(), 0);
        let create = caller.shared.api.clCreateProgramWithBuiltInKernels;
        // SAFETY: one device, and a string.
        unsafe { create(context, 1, &device, c"none".as_ptr(), &mut error) };
        error
    }),
    ("clSetProgramSpecializationConstant", |caller| {
        let (program, value) = (caller.pick(Kind::Program), 7u64);
        let (id, size) = (caller.random.below(3) as u32, caller.random.below(9));
        // SAFETY: as many bytes as there are.
        unsafe {
            let set = caller.shared.api.clSetProgramSpecializationConstant;
            set(program, id, size, (&raw const value).cast())
        }
    }),
    ("clSetProgramReleaseCallback", |caller| {
        unsafe extern "C" fn never(_: *mut c_void, _: *mut c_void) {}
        let program = caller.pick(Kind::Program);
        // SAFETY: a function with the right signature.
        unsafe { (caller.shared.api.clSetProgramReleaseCallback)(program, Some(never), null_mut()) }
    }),
    ("clEnqueueNativeKernel", |caller| {
        unsafe extern "C" fn never(_: *mut c_void) {}
        let (queue, waits, mut event) = (caller.pick(Kind::Queue), caller.waits(), null_mut());
        let (length, list) = (waits.length(), waits.pointer());
        let enqueue = caller.shared.api.clEnqueueNativeKernel;
        // SAFETY: no arguments and objects, and a list of its length.
        unsafe { enqueue(queue, Some(never), null_mut(), 0, 0, null(), null_mut(), length, list, &mut event) }
    }),
    ("clCreateSubDevices", |caller| {
        let (device, mut parts, mut count) = (caller.device(), [null_mut(); 2], 0);
        let list = [0x1086 + caller.random.below(3) as isize, 1, 0, 0];
        let create = caller.shared.api.clCreateSubDevices;
        // SAFETY: a list that ends with 0, and room for two devices.
        unsafe { create(device, list.as_ptr(), 2, parts.as_mut_ptr(), &mut count) }
    }),
    ("clCreateSubDevicesEXT", |caller| {
        let (device, mut parts, mut count) = (caller.device(), [null_mut(); 2], 0);
        let list = [0x4050 + caller.random.next_u64() % 4, 1, 0, 0];
        let create = caller.shared.api.clCreateSubDevicesEXT;
        // SAFETY: a list that ends with 0, and room for two devices.
        unsafe { create(device, list.as_ptr(), 2, parts.as_mut_ptr(), &mut count) }
    }),
    ("clSetDefaultDeviceCommandQueue", |caller| {
        let (context, device, queue) =
            (caller.pick(Kind::Context), caller.device(), caller.pick(Kind::Queue));
        // SAFETY: the call takes handles, which gencl checks.
        unsafe { (caller.shared.api.clSetDefaultDeviceCommandQueue)(context, device, queue) }
    }),
];

impl Caller {
    pub fn absent(&mut self) {
        let (name, call) = self.random.pick(CALLS);
        self.note(name);
        if call(self) == 0 {
            self.fault(format_args!("{name} succeeded"));
        }
    }
}

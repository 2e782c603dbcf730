//! What applications do in callbacks.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use gencl_utest::Outcome;
use opencl_sys::{
    CL_COMPLETE, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_MEM_READ_WRITE, CL_OUT_OF_RESOURCES,
    cl_command_queue, cl_event, cl_int, cl_uint,
};

use super::World;
use super::world::{code, well};

/// For so long nothing takes.
const LONG: Duration = Duration::from_secs(60);

/// What a callback does, once: its user data.
type Act = Box<dyn FnOnce() + Send>;

fn data(act: impl FnOnce() + Send + 'static) -> *mut c_void {
    let act: Act = Box::new(act);
    Box::into_raw(Box::new(act)).cast()
}

/// # Safety
/// The result of [`data`], which has not been given here before.
unsafe fn act(data: *mut c_void) {
    // SAFETY: the caller vouches for it.
    (unsafe { Box::from_raw(data.cast::<Act>()) })();
}

unsafe extern "C" fn on_event(_: cl_event, _: cl_int, data: *mut c_void) {
    // SAFETY: tests give what `data` made, and a callback is called once.
    unsafe { act(data) }
}

unsafe extern "C" fn on_object(_: *mut c_void, data: *mut c_void) {
    // SAFETY: tests give what `data` made, and a callback is called once.
    unsafe { act(data) }
}

unsafe extern "C" fn on_free(_: cl_command_queue, _: cl_uint, _: *mut *mut c_void, data: *mut c_void) {
    // SAFETY: tests give what `data` made, and a callback is called once.
    unsafe { act(data) }
}

/// A handle for another thread.
#[derive(Clone, Copy)]
struct Shared<T>(T);

// SAFETY: handles may be used by any thread.
unsafe impl<T> Send for Shared<T> {}

impl<T> Shared<T> {
    // Methods, so that closures capture the whole.
    fn into_inner(self) -> T {
        self.0
    }
}

impl<T: Copy> Shared<T> {
    fn get(self) -> T {
        self.0
    }
}

fn received<T>(receiver: &Receiver<T>) -> Result<T, String> {
    receiver.recv_timeout(LONG).map_err(|_| "the callback did not come to its end".into())
}

/// Has `act` called when the world's kernel, which then is let loose, has ended.
fn when_launch_ends(world: &World, act: impl FnOnce(cl_event) + Send + 'static) -> Outcome {
    let event = Shared(world.launch(1, &[world.user])?);
    let act = data(move || act(event.get()));
    // SAFETY: the event is alive, and `act` is called once.
    unsafe {
        well(
            (world.api.clSetEventCallback)(event.get(), CL_COMPLETE, Some(on_event), act),
            "clSetEventCallback",
        )?;
        well((world.api.clSetUserEventStatus)(world.user, CL_COMPLETE), "clSetUserEventStatus")
    }
}

/// The callback of an event releases the last references to event, queue and context.
pub fn release() -> Outcome {
    let world = World::new()?;
    let (sender, receiver) = channel();
    let event = Shared(world.launch(1, &[world.user])?);
    let user = world.user;
    let api = world.api;
    let mut world = world;
    // The callback's own.
    world.user = null_mut();
    let world = Shared(world);
    let everything = data(move || {
        let world = world.into_inner();
        // SAFETY: the last reference of the application to it.
        let code = unsafe { (world.api.clReleaseEvent)(event.get()) };
        drop(world);
        // If the receiver is gone, the test has timed out.
        let _ = sender.send(code);
    });
    // SAFETY: the event is alive until the callback, which comes after the user event's end.
    unsafe {
        let set = (api.clSetEventCallback)(event.get(), CL_COMPLETE, Some(on_event), everything);
        well(set, "clSetEventCallback")?;
        well((api.clSetUserEventStatus)(user, CL_COMPLETE), "clSetUserEventStatus")?;
    }
    well(received(&receiver)?, "clReleaseEvent")?;
    // SAFETY: the last reference.
    well(unsafe { (api.clReleaseEvent)(user) }, "clReleaseEvent")
}

/// The destructor callback of a buffer, called on whatever thread, releases another buffer and makes a third.
pub fn release_in_destructor() -> Outcome {
    let world = World::new()?;
    let api = world.api;
    let mut error = 0;
    let (sender, receiver) = channel();
    // SAFETY: handles that are alive; a callback that is called once.
    unsafe {
        let make = |error: &mut cl_int| {
            (api.clCreateBuffer)(world.context, CL_MEM_READ_WRITE, 64, null_mut(), error)
        };
        let (first, second) = (make(&mut error), Shared(make(&mut error)));
        let context = Shared(world.context);
        let act = data(move || {
            let mut error = 0;
            let released = (api.clReleaseMemObject)(second.get());
            let third = (api.clCreateBuffer)(context.get(), CL_MEM_READ_WRITE, 64, null_mut(), &mut error);
            let _ = sender.send([released, error, (api.clReleaseMemObject)(third)]);
        });
        well(
            (api.clSetMemObjectDestructorCallback)(first, Some(on_object), act),
            "clSetMemObjectDestructorCallback",
        )?;
        let fill = [1u8];
        let call = api.clEnqueueFillBuffer;
        well(call(world.queue, first, fill.as_ptr().cast(), 1, 0, 64, 0, null(), null_mut()), "fill")?;
        well((api.clReleaseMemObject)(first), "clReleaseMemObject")?;
    }
    world.finish()?;
    let codes = received(&receiver)?;
    if codes == [0; 3] { world.works() } else { Err(format!("{codes:?}")) }
}

/// `clFinish` for the same queue.
pub fn finish() -> Outcome {
    let world = World::new()?;
    let (sender, receiver) = channel();
    let (api, queue) = (world.api, Shared(world.queue));
    when_launch_ends(&world, move |event| {
        // SAFETY: the queue is alive until the answer is there.
        let codes = unsafe { [(api.clFinish)(queue.get()), (api.clReleaseEvent)(event)] };
        let _ = sender.send(codes);
    })?;
    let codes = received(&receiver)?;
    if codes == [0; 2] { world.works() } else { Err(format!("{codes:?}")) }
}

/// A blocking read, and a wait for a later command.
pub fn read() -> Outcome {
    let world = World::new()?;
    let (sender, receiver) = channel();
    let (api, queue, buffer) = (world.api, Shared(world.queue), Shared(world.buffer));
    when_launch_ends(&world, move |event| {
        let mut value = 0i32;
        let to = (&raw mut value).cast();
        // SAFETY: the objects are alive until the answer is there; the read blocks.
        let code = unsafe {
            let read = api.clEnqueueReadBuffer;
            let code = read(queue.get(), buffer.get(), 1, 0, 4, to, 0, null(), null_mut());
            (api.clReleaseEvent)(event);
            code
        };
        let _ = sender.send((code, value));
    })?;
    world.finish()?;
    match received(&receiver)? {
        (0, 2) => world.works(),
        other => Err(format!("{other:?}")),
    }
}

/// The function of clEnqueueSVMFree waits for its queue, that is for itself: that has to be an error.
pub fn finish_in_free() -> Outcome {
    let world = World::new()?;
    let api = world.api;
    let (sender, receiver): (Sender<cl_int>, _) = channel();
    let queue = Shared(world.queue);
    // SAFETY: the memory is not used; the queue is alive until it has finished.
    unsafe {
        let memory = (api.clSVMAlloc)(world.context, CL_MEM_READ_WRITE, 4096, 0);
        if memory.is_null() {
            return Err("clSVMAlloc".into());
        }
        let (context, pointer) = (Shared(world.context), Shared(memory));
        let act = data(move || {
            let code = (api.clFinish)(queue.get());
            (api.clSVMFree)(context.get(), pointer.get());
            let _ = sender.send(code);
        });
        let mut list = [memory];
        let free = api.clEnqueueSVMFree;
        let found = free(world.queue, 1, list.as_mut_ptr(), Some(on_free), act, 0, null(), null_mut());
        well(found, "clEnqueueSVMFree")?;
    }
    world.finish()?;
    if received(&receiver)? >= 0 {
        return Err("clFinish has finished before its end".into());
    }
    world.works()
}

/// Told of a fault, the context's callback waits for the queue in which it was.
pub fn finish_in_notify() -> Outcome {
    struct Told {
        api: &'static gencl_utest::raw::Api,
        queue: std::sync::Mutex<Shared<cl_command_queue>>,
        sender: Sender<(String, cl_int)>,
    }
    unsafe extern "C" fn on_error(text: *const c_char, _: *const c_void, _: usize, data: *mut c_void) {
        // SAFETY: the test gives a `Told` that lives as long as the context, and the text is a string.
        let (told, text) = unsafe { (&*data.cast::<Told>(), CStr::from_ptr(text)) };
        let Ok(queue) = told.queue.lock().map(|queue| queue.get()) else { return };
        // SAFETY: the queue is alive as long as its commands run.
        let code = unsafe { (told.api.clFinish)(queue) };
        let _ = told.sender.send((text.to_string_lossy().into_owned(), code));
    }
    let outer = World::new()?;
    let api = outer.api;
    let (sender, receiver) = channel();
    let told = Told { api, queue: std::sync::Mutex::new(Shared(null_mut())), sender };
    let user = std::ptr::from_ref(&told).cast_mut().cast();
    let mut error = 0;
    // SAFETY: handles that are alive, `told` lives until the context is gone.
    unsafe {
        let context = (api.clCreateContext)(null(), 1, &outer.device, Some(on_error), user, &mut error);
        well(error, "clCreateContext")?;
        let queue = (api.clCreateCommandQueueWithProperties)(context, outer.device, null(), &mut error);
        well(error, "clCreateCommandQueueWithProperties")?;
        *told.queue.lock().map_err(|e| e.to_string())? = Shared(queue);
        let mut source = c"kernel void bad(global int *p) { p[0x12345678900UL] = 1; }".as_ptr();
        let program = (api.clCreateProgramWithSource)(context, 1, &mut source, null(), &mut error);
        well((api.clBuildProgram)(program, 0, null(), null(), None, null_mut()), "clBuildProgram")?;
        let kernel = (api.clCreateKernel)(program, c"bad".as_ptr(), &mut error);
        well(error, "clCreateKernel")?;
        let nothing: *mut c_void = null_mut();
        well((api.clSetKernelArg)(kernel, 0, 8, (&raw const nothing).cast()), "clSetKernelArg")?;
        let (one, launch) = (1usize, api.clEnqueueNDRangeKernel);
        well(launch(queue, kernel, 1, null(), &one, null(), 0, null(), null_mut()), "launch")?;
        code((api.clFinish)(queue), CL_OUT_OF_RESOURCES, "clFinish")?;
        let (text, found) = received(&receiver)?;
        if !text.contains("page fault") {
            return Err(text);
        }
        if found >= 0 {
            return Err("clFinish has finished before the failed command".into());
        }
        well((api.clReleaseKernel)(kernel), "clReleaseKernel")?;
        well((api.clReleaseProgram)(program), "clReleaseProgram")?;
        well((api.clReleaseCommandQueue)(queue), "clReleaseCommandQueue")?;
        well((api.clReleaseContext)(context), "clReleaseContext")?;
    }
    outer.works()
}

/// A build's callback releases the program.
pub fn release_in_build() -> Outcome {
    let world = World::new()?;
    let api: &'static _ = world.api;
    let mut error = 0;
    for source in [c"kernel void f(void) {}", c"no kernel"] {
        let (sender, receiver) = channel();
        // SAFETY: the callback has the only reference.
        unsafe {
            let mut text = source.as_ptr();
            let program = (api.clCreateProgramWithSource)(world.context, 1, &mut text, null(), &mut error);
            well(error, "clCreateProgramWithSource")?;
            let handle = Shared(program);
            let act = data(move || {
                let _ = sender.send((api.clReleaseProgram)(handle.get()));
            });
            let built = (api.clBuildProgram)(program, 0, null(), null(), Some(on_object), act);
            if built != 0 && built != -11 {
                return Err(format!("clBuildProgram: {built}"));
            }
        }
        well(received(&receiver)?, "clReleaseProgram")?;
    }
    world.works()
}

/// Each callback ends the user event for which the next command waits.
pub fn chain() -> Outcome {
    let world = World::new()?;
    let api: &'static _ = world.api;
    let mut error = 0;
    let mut events = Vec::new();
    // SAFETY: all events live until the last has ended.
    unsafe {
        let marker = api.clEnqueueMarkerWithWaitList;
        for _ in 0..1000 {
            let user = (api.clCreateUserEvent)(world.context, &mut error);
            well(error, "clCreateUserEvent")?;
            let mut event = null_mut();
            well(marker(world.queue, 1, &user, &mut event), "clEnqueueMarkerWithWaitList")?;
            events.push((user, event));
        }
        for pair in events.windows(2) {
            let next = Shared(pair[1].0);
            let act = data(move || {
                (api.clSetUserEventStatus)(next.get(), CL_COMPLETE);
            });
            well(
                (api.clSetEventCallback)(pair[0].1, CL_COMPLETE, Some(on_event), act),
                "clSetEventCallback",
            )?;
        }
        well((api.clSetUserEventStatus)(events[0].0, CL_COMPLETE), "clSetUserEventStatus")?;
        well((api.clWaitForEvents)(1, &events[999].1), "clWaitForEvents")?;
        for (user, event) in events {
            well((api.clReleaseEvent)(user), "clReleaseEvent")?;
            well((api.clReleaseEvent)(event), "clReleaseEvent")?;
        }
    }
    world.works()
}

/// Commands that wait for a user event that can no longer end fail.
pub fn dropped_user_event() -> Outcome {
    let world = World::new()?;
    let api = world.api;
    let mut error = 0;
    // SAFETY: handles that are alive.
    unsafe {
        let user = (api.clCreateUserEvent)(world.context, &mut error);
        well(error, "clCreateUserEvent")?;
        let event = world.launch(1, &[user])?;
        well((api.clReleaseEvent)(user), "clReleaseEvent")?;
        let found = (api.clWaitForEvents)(1, &event);
        code(found, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "clWaitForEvents")?;
        code(world.status(event)?, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "status")?;
        well((api.clReleaseEvent)(event), "clReleaseEvent")?;
    }
    world.works()
}

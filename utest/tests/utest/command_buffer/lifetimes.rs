//! Objects that a command-buffer keeps, and what ends with it.

use gencl_utest::{Gpu, Outcome};
use opencl_sys::{
    CL_INVALID_COMMAND_BUFFER_KHR, CL_INVALID_MUTABLE_COMMAND_KHR, CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR,
};
use opencl3::error_codes::ClError;
use opencl3::event::{Event, create_user_event, set_user_event_status};
use opencl3::memory::ClMem;

use super::list::{List, program, queue_with, set, well};
use crate::information::expect;
use crate::memory::same;

/// Queue, kernel, program and buffers of copies may be released when they are recorded.
pub fn kept() -> Outcome {
    let gpu = Gpu::get()?;
    let b = gpu.buffer(&[0i32; 8])?;
    let list = {
        let (queue, a, program) = (queue_with(0)?, gpu.buffer(&[21i32; 8])?, program()?);
        let add = program.kernel("add")?;
        set(&add, 0, &b.memory().get())?;
        set(&add, 1, &4i32)?;
        let list = List::new(&queue, 0)?;
        list.copy((a.memory().get(), 0), (b.memory().get(), 0), 32, &[])?;
        list.launch(&add, 8, &[])?;
        list.finalize()?;
        list
    };
    for _ in 0..2 {
        list.run()?;
        same(&b.read()?, &[25; 8])?;
    }
    Ok(())
}

/// It may be released while it is enqueued. Its handle and those of its commands end with it.
pub fn released() -> Outcome {
    let (gpu, program, queue) = (Gpu::get()?, program()?, queue_with(0)?);
    let a = gpu.buffer(&[0i32; 8])?;
    let add = program.kernel("add")?;
    set(&add, 0, &a.memory().get())?;
    set(&add, 1, &3i32)?;
    let list = List::new(&queue, 0)?;
    let (_, command) = list.launch_as(add.get(), &[], [0, 8, 0], &[])?;
    list.finalize()?;
    let hold = create_user_event(gpu.context.get()).map(Event::new);
    let hold = hold.map_err(|code| ClError(code).to_string())?;
    let event = list.enqueue(None, &[hold.get()])?;
    let (functions, handle) = (list.functions, list.handle);
    // SAFETY: a reference more and one less.
    unsafe {
        well((functions.clRetainCommandBufferKHR)(handle), "clRetainCommandBufferKHR")?;
        well((functions.clReleaseCommandBufferKHR)(handle), "clReleaseCommandBufferKHR")?;
    }
    drop(list);
    set_user_event_status(hold.get(), 0).map_err(|code| ClError(code).to_string())?;
    event.wait().map_err(|error| error.to_string())?;
    same(&a.read()?, &[3; 8])?;
    let mut size = 0;
    // SAFETY: handles that were, which the driver is to know.
    unsafe {
        for call in [
            functions.clReleaseCommandBufferKHR,
            functions.clRetainCommandBufferKHR,
            functions.clFinalizeCommandBufferKHR,
        ] {
            expect(call(handle), CL_INVALID_COMMAND_BUFFER_KHR, "a released command-buffer")?;
        }
        let (name, none) = (CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR, std::ptr::null_mut());
        let code = (functions.clGetMutableCommandInfoKHR)(command, name, 0, none, &mut size);
        expect(code, CL_INVALID_MUTABLE_COMMAND_KHR, "a command of a released command-buffer")
    }
}

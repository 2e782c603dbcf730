//! The order of commands: sync points, queues, wait lists, and what becomes of failures.

use gencl_utest::{Gpu, Outcome};
use opencl_sys::CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR;
use opencl3::command_queue::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
use opencl3::error_codes::ClError;
use opencl3::event::{Event, create_user_event, set_user_event_status};
use opencl3::memory::ClMem;

use super::list::{List, program, queue_with, set};
use crate::memory::same;

/// A user event of the test-suite's context.
fn user_event() -> Result<Event, String> {
    let event = create_user_event(Gpu::get()?.context.get());
    event.map(Event::new).map_err(|code| ClError(code).to_string())
}

fn end(event: &Event, status: i32) -> Outcome {
    set_user_event_status(event.get(), status).map_err(|code| ClError(code).to_string())
}

/// Sync points order the commands of an out-of-order queue, and so do barriers.
pub fn sync_points() -> Outcome {
    let (gpu, program) = (Gpu::get()?, program()?);
    let queue = queue_with(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)?;
    let buffers = [gpu.buffer(&[1i32; 64])?, gpu.buffer(&[0i32; 64])?, gpu.buffer(&[0i32; 64])?];
    let [a, b, c] = [0, 1, 2].map(|index: usize| buffers[index].memory().get());
    let (add, scale) = (program.kernel("add")?, program.kernel("scale")?);
    let list = List::new(&queue, 0)?;
    set(&add, 0, &a)?;
    set(&add, 1, &4i32)?;
    let added = list.launch(&add, 64, &[])?;
    let filled = list.fill(c, 2, [0, 256], &[])?;
    set(&scale, 0, &b)?;
    set(&scale, 1, &a)?;
    set(&scale, 2, &10i32)?;
    let scaled = list.launch(&scale, 64, &[added])?;
    list.copy((b, 0), (c, 128), 128, &[filled, scaled])?;
    list.barrier(&[])?;
    set(&add, 0, &c)?;
    list.launch(&add, 64, &[])?;
    list.finalize()?;
    list.run()?;
    let expected: Vec<i32> = (0..64).map(|i| if i < 32 { 6 } else { 50 + (i - 32) + 4 }).collect();
    same(&buffers[2].read()?, &expected)
}

/// Enqueued in other queues than its own, in order and out of order.
pub fn queues() -> Outcome {
    let (gpu, program, own) = (Gpu::get()?, program()?, queue_with(0)?);
    let a = gpu.buffer(&[0i32; 32])?;
    let add = program.kernel("add")?;
    set(&add, 0, &a.memory().get())?;
    let list = List::new(&own, 0)?;
    for number in [1i32, 10] {
        set(&add, 1, &number)?;
        list.launch(&add, 32, &[])?;
    }
    list.finalize()?;
    let mut before: Option<Event> = None;
    for properties in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let other = queue_with(properties)?;
        for queue in [None, Some(&other), Some(&other)] {
            let waits: Vec<_> = before.iter().map(|event| event.get()).collect();
            let event = list.enqueue(queue, &waits)?;
            let found = event.command_queue().map_err(|error| error.to_string())?;
            if found != queue.unwrap_or(&own).get() {
                return Err("the event is of another queue".into());
            }
            before = Some(event);
        }
    }
    before.map_or(Ok(()), |event| event.wait()).map_err(|error| error.to_string())?;
    same(&a.read()?, &[66; 32])
}

/// Enqueued again before the last time has ended, in one queue and in several. Adding is done atomically in this
/// device's order of batches, so each of the queues has a buffer of its own.
pub fn simultaneous() -> Outcome {
    let (gpu, program) = (Gpu::get()?, program()?);
    let queue = queue_with(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)?;
    let (from, to) = (gpu.buffer(&[3i32; 32])?, gpu.buffer(&[0i32; 32])?);
    let scale = program.kernel("scale")?;
    set(&scale, 0, &to.memory().get())?;
    set(&scale, 1, &from.memory().get())?;
    set(&scale, 2, &2i32)?;
    let list = List::new(&queue, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR)?;
    list.launch(&scale, 32, &[])?;
    list.launch(&scale, 32, &[])?;
    list.finalize()?;
    let others = [queue_with(0)?, queue_with(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)?];
    let hold = user_event()?;
    let mut events = Vec::new();
    for number in 0..30 {
        let other = others.get(number % 3);
        let waits = if number % 4 == 0 { vec![hold.get()] } else { Vec::new() };
        events.push(list.enqueue(other, &waits)?);
    }
    end(&hold, 0)?;
    for event in events {
        event.wait().map_err(|error| error.to_string())?;
    }
    same(&to.read()?, &(0..32).map(|i| 6 + i).collect::<Vec<_>>())
}

/// It begins behind its wait list, and what waits for it behind its last command.
pub fn waits() -> Outcome {
    let (gpu, program) = (Gpu::get()?, program()?);
    for properties in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = queue_with(properties)?;
        let a = gpu.buffer(&[0i32; 8])?;
        let (put, add) = (program.kernel("put")?, program.kernel("add")?);
        for kernel in [&put, &add] {
            set(kernel, 0, &a.memory().get())?;
            set(kernel, 1, &5i32)?;
        }
        let list = List::new(&queue, 0)?;
        list.launch(&add, 8, &[])?;
        list.copy((a.memory().get(), 0), (a.memory().get(), 16), 16, &[])?;
        list.launch(&add, 8, &[])?;
        list.finalize()?;
        let hold = user_event()?;
        let (none, size) = (std::ptr::null(), [8usize]);
        let enqueue = |kernel: &opencl3::kernel::Kernel, waits: &[_]| {
            // SAFETY: one dimension, and arguments that are set.
            unsafe { queue.enqueue_nd_range_kernel(kernel.get(), 1, none, size.as_ptr(), none, waits) }
                .map_err(|error| error.to_string())
        };
        let first = enqueue(&put, &[hold.get()])?;
        let second = list.enqueue(None, &[first.get()])?;
        set(&add, 1, &100i32)?;
        let third = enqueue(&add, &[second.get()])?;
        queue.flush().map_err(|error| error.to_string())?;
        let status = second.command_execution_status().map_err(|error| error.to_string())?.0;
        if status < 2 {
            return Err(format!("status {status} before the event that it waits for"));
        }
        end(&hold, 0)?;
        third.wait().map_err(|error| error.to_string())?;
        same(&a.read()?, &[115; 8])?;
    }
    Ok(())
}

/// Behind an event that fails nothing of it runs, and its own event fails. It can be enqueued again.
pub fn failures() -> Outcome {
    let (gpu, program) = (Gpu::get()?, program()?);
    for properties in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = queue_with(properties)?;
        let a = gpu.buffer(&[0i32; 8])?;
        let add = program.kernel("add")?;
        set(&add, 0, &a.memory().get())?;
        set(&add, 1, &1i32)?;
        let list = List::new(&queue, 0)?;
        for _ in 0..3 {
            list.launch(&add, 8, &[])?;
            list.fill(a.memory().get(), 7, [0, 4], &[])?;
        }
        list.finalize()?;
        let hold = user_event()?;
        let event = list.enqueue(None, &[hold.get()])?;
        end(&hold, -5)?;
        if event.wait().is_ok() {
            return Err("it has run behind an event that failed".into());
        }
        let status = event.command_execution_status().map_err(|error| error.to_string())?.0;
        if status >= 0 {
            return Err(format!("its status is {status}"));
        }
        same(&a.read()?, &[0; 8])?;
        list.run()?;
        same(&a.read()?, &[7, 3, 3, 3, 3, 3, 3, 3])?;
    }
    Ok(())
}

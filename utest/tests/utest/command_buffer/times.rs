//! The event of a command-buffer.

use gencl_utest::{Gpu, Outcome};
use opencl_sys::CL_COMMAND_COMMAND_BUFFER_KHR;
use opencl3::memory::ClMem;

use super::list::{List, program, queue_with, set};

/// Its type, and its status when it has ended.
pub fn events() -> Outcome {
    let queue = queue_with(0)?;
    let list = List::new(&queue, 0)?;
    list.launch(&program()?.kernel("nothing")?, 4, &[])?;
    list.finalize()?;
    let text = |error: opencl3::error_codes::ClError| error.to_string();
    let event = list.enqueue(None, &[])?;
    event.wait().map_err(text)?;
    let (kind, status) =
        (event.command_type().map_err(text)?, event.command_execution_status().map_err(text)?.0);
    if (kind.0, status) == (CL_COMMAND_COMMAND_BUFFER_KHR, 0) {
        Ok(())
    } else {
        Err(format!("type {:#x}, status {status}", kind.0))
    }
}

/// Times are in order, and those of two commands behind each other, too.
pub fn times() -> Outcome {
    let (gpu, program, queue) = (Gpu::get()?, program()?, queue_with(0)?);
    let a = gpu.buffer(&[0i32; 1024])?;
    let add = program.kernel("add")?;
    set(&add, 0, &a.memory().get())?;
    set(&add, 1, &1i32)?;
    let list = List::new(&queue, 0)?;
    for _ in 0..5 {
        list.launch(&add, 1024, &[])?;
        list.fill(a.memory().get(), 0, [0, 16], &[])?;
        list.launch(&add, 1024, &[])?;
    }
    list.finalize()?;
    let mut end_before = 0;
    let mut events = Vec::new();
    for _ in 0..3 {
        events.push(list.enqueue(None, &[])?);
    }
    queue.finish().map_err(|error| error.to_string())?;
    for event in events {
        let text = |error: opencl3::error_codes::ClError| error.to_string();
        let times = [
            event.profiling_command_queued().map_err(text)?,
            event.profiling_command_submit().map_err(text)?,
            event.profiling_command_start().map_err(text)?,
            event.profiling_command_end().map_err(text)?,
        ];
        if !times.is_sorted() || times[0] == 0 || times[2] == times[3] || times[2] < end_before {
            return Err(format!("{times:?}, the one before ended at {end_before}"));
        }
        end_before = times[3];
    }
    Ok(())
}

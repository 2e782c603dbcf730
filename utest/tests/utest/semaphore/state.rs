//! The state of semaphores and of commands on them.

use gencl_utest::Outcome;
use opencl_sys::{CL_INVALID_SEMAPHORE_KHR, CL_SEMAPHORE_REFERENCE_COUNT_KHR};
use opencl3::command_queue::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;

use super::{Semaphore, end, ends, functions, status, user_event};
use crate::command_buffer::queue_with;
use crate::information::{expect, number};
use crate::memory::same;

/// Signaled from the end of the signal to the end of the wait.
pub fn payload() -> Outcome {
    let (queue, semaphore) = (queue_with(0)?, Semaphore::new()?);
    for _ in 0..2 {
        semaphore.payload_is(0, "at first")?;
        let [before, after] = [user_event()?, user_event()?];
        let signal = semaphore.signal(&queue, &[before.get()])?;
        semaphore.payload_is(0, "before the signal has ended")?;
        end(&before, 0)?;
        ends(&signal)?;
        semaphore.payload_is(1, "after the signal")?;
        let wait = semaphore.wait(&queue, &[after.get()])?;
        semaphore.payload_is(1, "before the wait has ended")?;
        end(&after, 0)?;
        ends(&wait)?;
        semaphore.payload_is(0, "after the wait")?;
    }
    Ok(())
}

/// Types and times of the commands' events.
pub fn events() -> Outcome {
    for properties in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let (queue, semaphore) = (queue_with(properties)?, Semaphore::new()?);
        let events = [semaphore.signal(&queue, &[])?, semaphore.wait(&queue, &[])?];
        ends(&events[1])?;
        for (event, expected) in events.iter().zip([0x2043, 0x2042]) {
            let kind = event.command_type().map_err(|error| error.to_string())?;
            same(&[kind.0], &[expected])?;
            let times = [
                event.profiling_command_queued(),
                event.profiling_command_submit(),
                event.profiling_command_start(),
                event.profiling_command_end(),
                event.profiling_command_complete(),
            ];
            let times: Vec<u64> =
                times.into_iter().collect::<Result<_, _>>().map_err(|error| error.to_string())?;
            if !times.is_sorted() || times[0] == 0 {
                return Err(format!("times {times:?}"));
            }
        }
    }
    Ok(())
}

/// A wait for a signal that fails, fails. The next pair works.
pub fn failures() -> Outcome {
    for waits_first in [false, true] {
        let (queue, other, semaphore) = (queue_with(0)?, queue_with(0)?, Semaphore::new()?);
        let hold = user_event()?;
        let early = if waits_first { Some(semaphore.wait(&other, &[])?) } else { None };
        let signal = semaphore.signal(&queue, &[hold.get()])?;
        let wait = match early {
            Some(wait) => wait,
            None => semaphore.wait(&other, &[])?,
        };
        end(&hold, -5)?;
        if wait.wait().is_ok() {
            return Err("the wait has ended well".into());
        }
        same(&[status(&signal)?, status(&wait)?], &[-14, -14])?;
        semaphore.payload_is(0, "after a failed signal")?;
        semaphore.signal(&queue, &[])?;
        ends(&semaphore.wait(&other, &[])?)?;
    }
    Ok(())
}

/// Commands keep the semaphore. A wait fails when nobody can signal it any more.
pub fn released() -> Outcome {
    let (functions, queue, other) = (functions()?, queue_with(0)?, queue_with(0)?);
    let (semaphore, hold) = (Semaphore::new()?, user_event()?);
    let handle = semaphore.handle;
    for (count, step) in [(2, functions.clRetainSemaphoreKHR), (1, functions.clReleaseSemaphoreKHR)] {
        // SAFETY: the handle is alive, and the last reference stays.
        expect(unsafe { step(handle) }, 0, "a reference")?;
        same(&[number(&semaphore.about(), CL_SEMAPHORE_REFERENCE_COUNT_KHR)?], &[count])?;
    }
    semaphore.signal(&queue, &[hold.get()])?;
    let wait = semaphore.wait(&other, &[])?;
    drop(semaphore);
    // SAFETY: a handle that was, which the driver is to know.
    expect(unsafe { (functions.clRetainSemaphoreKHR)(handle) }, CL_INVALID_SEMAPHORE_KHR, "a released one")?;
    end(&hold, 0)?;
    ends(&wait)?;
    let semaphore = Semaphore::new()?;
    let wait = semaphore.wait(&other, &[])?;
    drop(semaphore);
    if wait.wait().is_ok() {
        return Err("the wait for a semaphore that is gone has ended well".into());
    }
    Ok(())
}

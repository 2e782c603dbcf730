//! What a wait comes after.

use gencl_utest::{Gpu, Outcome, Program};
use opencl_sys::{cl_event, cl_mem};
use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::event::Event;
use opencl3::memory::ClMem;

use super::{Semaphore, end, ends, signal, status, user_event, wait};
use crate::command_buffer::{queue_with, set};
use crate::memory::same;

/// Appends a number to those that are there; the first word counts them.
const SOURCE: &str = "kernel void append(global int *all, int n) { all[0]++; all[all[0]] = n; }";

/// Properties of two queues.
const QUEUES: [[u64; 2]; 3] = [
    [0, 0],
    [CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE],
    [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE],
];

fn queues(properties: [u64; 2]) -> Result<[CommandQueue; 2], String> {
    Ok([queue_with(properties[0])?, queue_with(properties[1])?])
}

fn append(
    program: &Program,
    queue: &CommandQueue,
    all: cl_mem,
    number: i32,
    waits: &[cl_event],
) -> Result<Event, String> {
    let kernel = program.kernel("append")?;
    set(&kernel, 0, &all)?;
    set(&kernel, 1, &number)?;
    let none = std::ptr::null();
    // SAFETY: one work-item, and arguments that are set.
    unsafe { queue.enqueue_nd_range_kernel(kernel.get(), 1, none, [1usize].as_ptr(), none, waits) }
        .map_err(|error| error.to_string())
}

/// A launch behind the wait runs after one before the signal, in another queue and in the same one.
pub fn order() -> Outcome {
    let (gpu, program) = (Gpu::get()?, Gpu::get()?.build_unchecked(SOURCE, "")?);
    for properties in QUEUES {
        let [first, second] = queues(properties)?;
        for consumer in [&second, &first] {
            let (semaphore, all, hold) = (Semaphore::new()?, gpu.buffer(&[0i32; 8])?, user_event()?);
            let before = append(&program, &first, all.memory().get(), 1, &[hold.get()])?;
            let signal = semaphore.signal(&first, &[before.get()])?;
            let wait = semaphore.wait(consumer, &[])?;
            let after = append(&program, consumer, all.memory().get(), 2, &[wait.get()])?;
            consumer.flush().map_err(|error| error.to_string())?;
            for event in [&signal, &wait, &after] {
                let status = status(event)?;
                if status < 2 {
                    return Err(format!("status {status} before the event that it waits for"));
                }
            }
            end(&hold, 0)?;
            ends(&after)?;
            same(&[status(&signal)?, status(&wait)?], &[0, 0])?;
            same(&all.read()?[..3], &[2, 1, 2])?;
        }
    }
    Ok(())
}

/// The wait is enqueued before the signal; in one queue, if that is out of order.
pub fn wait_first() -> Outcome {
    let (gpu, program) = (Gpu::get()?, Gpu::get()?.build_unchecked(SOURCE, "")?);
    for properties in QUEUES {
        let [first, second] = queues(properties)?;
        let alone = properties[1] != 0;
        for consumer in [Some(&first), alone.then_some(&second)].into_iter().flatten() {
            let (semaphore, all) = (Semaphore::new()?, gpu.buffer(&[0i32; 8])?);
            let wait = semaphore.wait(consumer, &[])?;
            let after = append(&program, consumer, all.memory().get(), 2, &[wait.get()])?;
            let before = append(&program, &second, all.memory().get(), 1, &[])?;
            ends(&before)?;
            if status(&wait)? < 2 {
                return Err("the wait has ended without a signal".into());
            }
            semaphore.signal(&second, &[before.get()])?;
            ends(&after)?;
            same(&all.read()?[..3], &[2, 1, 2])?;
            semaphore.payload_is(0, "after the wait")?;
        }
    }
    Ok(())
}

/// Two queues take turns by two semaphores. Everything is enqueued before the first command can run.
pub fn again() -> Outcome {
    const TURNS: i32 = 40;
    let (gpu, program) = (Gpu::get()?, Gpu::get()?.build_unchecked(SOURCE, "")?);
    for properties in QUEUES {
        let queues = queues(properties)?;
        let semaphores = [Semaphore::new()?, Semaphore::new()?];
        let (all, hold) = (gpu.buffer(&[0i32; TURNS as usize + 1])?, user_event()?);
        let mut last = semaphores[0].signal(&queues[1], &[hold.get()])?;
        for turn in 0..TURNS {
            let side = turn as usize % 2;
            let wait = semaphores[side].wait(&queues[side], &[])?;
            let launch = append(&program, &queues[side], all.memory().get(), turn, &[wait.get()])?;
            last = semaphores[1 - side].signal(&queues[side], &[launch.get()])?;
        }
        if status(&last)? < 2 {
            return Err("the last signal has ended before the first".into());
        }
        end(&hold, 0)?;
        ends(&last)?;
        let expected: Vec<i32> = std::iter::once(TURNS).chain(0..TURNS).collect();
        same(&all.read()?, &expected)?;
    }
    Ok(())
}

/// Signals of several semaphores, and waits for several.
pub fn several() -> Outcome {
    for properties in QUEUES {
        let [first, second] = queues(properties)?;
        let all = [Semaphore::new()?, Semaphore::new()?, Semaphore::new()?];
        let [a, b, c] = &all;
        let holds = [user_event()?, user_event()?];
        // An out-of-order queue each, so that no signal waits for the other.
        let queues = [queue_with(0)?, queue_with(0)?];
        signal(&[a, b], &queues[0], &[holds[0].get()])?;
        c.signal(&queues[1], &[holds[1].get()])?;
        let both = wait(&[a, c], &first, &[])?;
        let one = b.wait(&second, &[])?;
        end(&holds[0], 0)?;
        ends(&one)?;
        if status(&both)? < 2 {
            return Err("the wait has ended before the second semaphore was signaled".into());
        }
        end(&holds[1], 0)?;
        ends(&both)?;
        for semaphore in [a, b, c] {
            semaphore.payload_is(0, "after the waits")?;
        }
    }
    Ok(())
}

/// Two threads give each other turns.
pub fn threads() -> Outcome {
    const TURNS: i32 = 200;
    let (gpu, program) = (Gpu::get()?, Gpu::get()?.build_unchecked(SOURCE, "")?);
    let (queues, semaphores) = (queues([0, 0])?, [Semaphore::new()?, Semaphore::new()?]);
    let all = gpu.buffer(&[0i32; TURNS as usize + 1])?;
    let place = all.memory().get() as usize;
    let turns = |side: usize| -> Outcome {
        for turn in (0..TURNS).filter(|turn| *turn as usize % 2 == side) {
            let wait = semaphores[side].wait(&queues[side], &[])?;
            append(&program, &queues[side], place as cl_mem, turn, &[])?;
            // What it signals has been waited for once this wait has ended.
            ends(&wait)?;
            semaphores[1 - side].signal(&queues[side], &[])?;
        }
        Ok(())
    };
    semaphores[0].signal(&queues[1], &[])?;
    std::thread::scope(|scope| {
        let other = scope.spawn(|| turns(1));
        turns(0)?;
        other.join().map_err(|_| "a thread ended in a panic")?
    })?;
    ends(&semaphores[0].wait(&queues[0], &[])?)?;
    let expected: Vec<i32> = std::iter::once(TURNS).chain(0..TURNS).collect();
    same(&all.read()?, &expected)
}

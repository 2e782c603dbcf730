//! Many of something, and many threads.

use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};

use gencl_utest::Outcome;
use opencl_sys::{CL_MEM_READ_WRITE, cl_int};

use super::World;
use super::world::{code, well};

/// For threads of a test: handles may be used by any.
struct Everywhere<'a>(&'a World);

// SAFETY: handles may be used by any thread, and nothing else of the world is changed.
unsafe impl Sync for Everywhere<'_> {}

impl Everywhere<'_> {
    fn get(&self) -> &World {
        self.0
    }
}

/// Runs `each` on threads, with their numbers; the first complaint.
fn on_threads(count: i32, world: &World, each: impl Fn(&World, i32) -> Outcome + Sync) -> Outcome {
    let everywhere = Everywhere(world);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|number| {
                let (everywhere, each) = (&everywhere, &each);
                scope.spawn(move || each(everywhere.get(), number))
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a panic")?)
    })
}

/// Two thousand contexts at once, some with queues that have worked.
pub fn contexts() -> Outcome {
    let world = World::new()?;
    let api = world.api;
    let (mut contexts, mut queues, mut error) = (Vec::new(), Vec::new(), 0);
    // SAFETY: handles that are alive.
    unsafe {
        for number in 0..2000 {
            let context = (api.clCreateContext)(null(), 1, &world.device, None, null_mut(), &mut error);
            well(error, "clCreateContext")?;
            contexts.push(context);
            if number % 10 == 0 {
                let queue =
                    (api.clCreateCommandQueueWithProperties)(context, world.device, null(), &mut error);
                well(error, "clCreateCommandQueueWithProperties")?;
                let buffer = (api.clCreateBuffer)(context, CL_MEM_READ_WRITE, 64, null_mut(), &mut error);
                well(error, "clCreateBuffer")?;
                let fill = [1u8];
                let call = api.clEnqueueFillBuffer;
                well(call(queue, buffer, fill.as_ptr().cast(), 1, 0, 64, 0, null(), null_mut()), "fill")?;
                well((api.clReleaseMemObject)(buffer), "clReleaseMemObject")?;
                queues.push(queue);
            }
        }
        for queue in queues {
            well((api.clFinish)(queue), "clFinish")?;
            well((api.clReleaseCommandQueue)(queue), "clReleaseCommandQueue")?;
        }
        for context in contexts {
            well((api.clReleaseContext)(context), "clReleaseContext")?;
        }
    }
    world.works()
}

/// 64 threads launch into one queue, and wait, flush and ask in between.
pub fn one_queue() -> Outcome {
    let world = World::new()?;
    let before = world.first()?;
    on_threads(64, &world, |world, number| {
        let api = world.api;
        for round in 0..50 {
            let event = world.launch(1, &[])?;
            // SAFETY: handles that are alive.
            unsafe {
                match (number + round) % 4 {
                    0 => well((api.clWaitForEvents)(1, &event), "clWaitForEvents")?,
                    1 => world.finish()?,
                    2 => well((api.clFlush)(world.queue), "clFlush")?,
                    _ => drop(world.status(event)?),
                }
                well((api.clReleaseEvent)(event), "clReleaseEvent")?;
            }
        }
        Ok(())
    })?;
    let after = world.first()?;
    if after == before + 64 * 50 { Ok(()) } else { Err(format!("{before} + {} = {after}", 64 * 50)) }
}

/// References of one buffer, taken and given back by all threads.
pub fn references() -> Outcome {
    let world = World::new()?;
    on_threads(16, &world, |world, _| {
        for _ in 0..2000 {
            // SAFETY: the world's own reference keeps the buffer.
            unsafe {
                well((world.api.clRetainMemObject)(world.buffer), "clRetainMemObject")?;
                well((world.api.clReleaseMemObject)(world.buffer), "clReleaseMemObject")?;
            }
        }
        Ok(())
    })?;
    world.works()
}

/// Threads make, use and release buffers whose handles others use at the same time: success or an error code.
pub fn release_while_used() -> Outcome {
    let world = World::new()?;
    let shared: Vec<std::sync::atomic::AtomicUsize> = (0..4).map(|_| Default::default()).collect();
    let done = AtomicBool::new(false);
    on_threads(8, &world, |world, number| {
        let api = world.api;
        let (mut error, mut value) = (0, 0i32);
        let to = (&raw mut value).cast();
        if number < 4 {
            for _ in 0..500 {
                // SAFETY: what others do with the handle is what is tested.
                unsafe {
                    let buffer =
                        (api.clCreateBuffer)(world.context, CL_MEM_READ_WRITE, 64, null_mut(), &mut error);
                    well(error, "clCreateBuffer")?;
                    shared[number as usize].store(buffer as usize, Ordering::Relaxed);
                    std::thread::yield_now();
                    well((api.clReleaseMemObject)(buffer), "clReleaseMemObject")?;
                }
            }
            done.store(true, Ordering::Relaxed);
            return Ok(());
        }
        while !done.load(Ordering::Relaxed) {
            for buffer in &shared {
                let buffer = buffer.load(Ordering::Relaxed) as *mut _;
                let read = api.clEnqueueReadBuffer;
                // SAFETY: four bytes, and the read blocks.
                let found: cl_int = unsafe { read(world.queue, buffer, 1, 0, 4, to, 0, null(), null_mut()) };
                if found != 0 {
                    code(found, -38, "clEnqueueReadBuffer")?;
                }
            }
        }
        Ok(())
    })?;
    world.works()
}

/// Setting arguments of one kernel on several threads: each launch has one of the values.
pub fn one_kernel() -> Outcome {
    let world = World::new()?;
    on_threads(16, &world, |world, number| {
        for _ in 0..100 {
            world.set_arguments(world.buffer, number % 2 + 1)?;
            let event = world.launch(1, &[])?;
            // SAFETY: the event is ours.
            well(unsafe { (world.api.clReleaseEvent)(event) }, "clReleaseEvent")?;
        }
        Ok(())
    })?;
    let sum = world.first()?;
    if (1601..=3201).contains(&sum) { world.works() } else { Err(format!("{sum}")) }
}

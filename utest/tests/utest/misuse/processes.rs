//! What needs a process of its own: ends of processes, forks, libraries that are closed. The test-suite's
//! program is run again for it.

use std::ffi::c_void;
use std::process::Command;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gencl_testing::wait_until;
use gencl_utest::Outcome;
use opencl_sys::{CL_COMPLETE, CL_OUT_OF_RESOURCES, cl_event, cl_int};

use super::World;
use super::world::{code, well};

/// Tells a process of this program what it is to do.
const VARIABLE: &str = "GENCL_UTEST_MISUSE";

/// How a process ends that has come to its end.
const WELL: i32 = 42;

/// For so long no process takes.
const LONG: Duration = Duration::from_secs(120);

/// What a child is called, and what it does.
type Child = (&'static str, fn() -> Outcome);

const CHILDREN: &[Child] = &[
    ("exit_without_release", exit_without_release),
    ("exit_in_callback", exit_in_callback),
    ("exit_blocked", exit_blocked),
    ("release_at_exit", release_at_exit),
    ("fork_before_use", fork_before_use),
    ("fork_after_use", fork_after_use),
    ("fork_while_in_use", fork_while_in_use),
    ("dlclose", dlclose),
    ("thread_that_ends", thread_that_ends),
];

/// In a process that was started for a case: runs the action that the variable names. Otherwise nothing.
pub fn run_as_child() {
    let Ok(name) = std::env::var(VARIABLE) else { return };
    let found = CHILDREN.iter().find(|(child, _)| *child == name);
    match found.map_or_else(|| Err("no such child".into()), |(_, run)| run()) {
        Ok(()) => std::process::exit(WELL),
        Err(why) => {
            eprintln!("{name}: {why}");
            std::process::exit(1);
        }
    }
}

/// Runs a child, which has to end well and in time.
pub fn child(name: &str) -> Outcome {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(program).env(VARIABLE, name).spawn().map_err(|error| error.to_string())?;
    match wait_until(&mut child, Instant::now() + LONG).map_err(|error| error.to_string())? {
        Some(status) if status.code() == Some(WELL) => Ok(()),
        Some(status) => Err(status.to_string()),
        None => {
            // It is reported whether that works or not.
            let _ = child.kill();
            Err("it hangs".into())
        }
    }
}

/// Commands run, wait and are forgotten when the process ends.
fn exit_without_release() -> Outcome {
    for _ in 0..10 {
        let world = World::new()?;
        for _ in 0..500 {
            world.launch(64, &[])?;
        }
        std::mem::forget(world);
    }
    Ok(())
}

/// The process ends on a thread of the driver.
fn exit_in_callback() -> Outcome {
    unsafe extern "C" fn end(_: cl_event, _: cl_int, _: *mut c_void) {
        std::process::exit(WELL);
    }
    let world = World::new()?;
    let event = world.launch(1, &[world.user])?;
    // SAFETY: handles that are alive.
    unsafe {
        well(
            (world.api.clSetEventCallback)(event, CL_COMPLETE, Some(end), null_mut()),
            "clSetEventCallback",
        )?;
        well((world.api.clSetUserEventStatus)(world.user, CL_COMPLETE), "clSetUserEventStatus")?;
    }
    world.finish()?;
    std::thread::sleep(LONG);
    Err("the callback did not end the process".into())
}

/// Commands wait for an event that is never completed, also in a queue that was released, and another thread
/// waits for them.
fn exit_blocked() -> Outcome {
    let world = World::new()?;
    let event = world.launch(1, &[world.user])? as usize;
    let api = world.api;
    std::thread::spawn(move || {
        let event = event as cl_event;
        // SAFETY: the event is alive.
        unsafe { (api.clWaitForEvents)(1, &event) };
    });
    let other = World::new()?;
    other.launch(1, &[other.user])?;
    // SAFETY: the last reference, but for the command.
    well(unsafe { (api.clReleaseCommandQueue)(other.queue) }, "clReleaseCommandQueue")?;
    std::thread::sleep(Duration::from_millis(20));
    std::mem::forget((world, other));
    Ok(())
}

/// Objects are released by a function of `atexit`, registered before the driver was loaded, so that it runs
/// after the driver's own.
fn release_at_exit() -> Outcome {
    static WORLD: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn release() {
        let world = WORLD.load(Ordering::Relaxed) as *mut World;
        if !world.is_null() {
            // SAFETY: it was made for this function alone.
            drop(unsafe { Box::from_raw(world) });
        }
    }
    // SAFETY: a function without parameters.
    if unsafe { libc::atexit(release) } != 0 {
        return Err("atexit".into());
    }
    let world = Box::new(World::new()?);
    world.launch(64, &[])?;
    WORLD.store(Box::into_raw(world) as usize, Ordering::Relaxed);
    Ok(())
}

/// Forks; the child does `in_child` and ends. Its end is waited for.
fn fork(in_child: impl FnOnce() -> Outcome) -> Outcome {
    // SAFETY: the child does what is tested, and ends without running what the parent has registered.
    let child = unsafe { libc::fork() };
    match child {
        -1 => Err("fork".into()),
        0 => {
            let status = match in_child() {
                Ok(()) => WELL,
                Err(why) => {
                    eprintln!("in the forked child: {why}");
                    1
                }
            };
            // SAFETY: ends the process.
            unsafe { libc::_exit(status) }
        }
        child => {
            let mut status = 0;
            // SAFETY: the status is a variable of ours.
            unsafe { libc::waitpid(child, &mut status, 0) };
            if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == WELL {
                Ok(())
            } else {
                Err(format!("the forked child ended with status {status:#x}"))
            }
        }
    }
}

/// Parent and child both use OpenCL, which neither has before.
fn fork_before_use() -> Outcome {
    fork(|| World::new()?.works())?;
    World::new()?.works()
}

/// The child's calls fail, releasing works, and the parent continues to work.
fn fork_after_use() -> Outcome {
    let world = World::new()?;
    let api = world.api;
    world.launch(1, &[world.user])?;
    fork(|| {
        let mut error = 0;
        // SAFETY: handles of the parent, which gencl knows not to be the child's.
        unsafe {
            code((api.clFinish)(world.queue), CL_OUT_OF_RESOURCES, "clFinish")?;
            code((api.clWaitForEvents)(1, &world.user), CL_OUT_OF_RESOURCES, "clWaitForEvents")?;
            (api.clCreateContext)(null(), 1, &world.device, None, null_mut(), &mut error);
            code(error, CL_OUT_OF_RESOURCES, "clCreateContext")?;
            code(world.read(&mut 0), CL_OUT_OF_RESOURCES, "clEnqueueReadBuffer")?;
            well((api.clReleaseMemObject)(world.buffer), "clReleaseMemObject")?;
            well((api.clReleaseContext)(world.context), "clReleaseContext")
        }
    })?;
    // SAFETY: the event is alive.
    well(unsafe { (api.clSetUserEventStatus)(world.user, CL_COMPLETE) }, "clSetUserEventStatus")?;
    world.works()
}

/// Forks while other threads are in the middle of calls, locks held.
fn fork_while_in_use() -> Outcome {
    let world = World::new()?;
    let (api, queue) = (world.api, world.queue as usize);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    // SAFETY: the queue is alive until the threads have ended.
                    unsafe {
                        (api.clEnqueueMarkerWithWaitList)(queue as *mut _, 0, null(), null_mut());
                        (api.clFinish)(queue as *mut _);
                    }
                }
            });
        }
        let result = (0..20).try_for_each(|_| {
            fork(|| {
                // SAFETY: the handle is the parent's, which gencl knows not to be the child's.
                code(unsafe { (api.clFinish)(queue as *mut _) }, CL_OUT_OF_RESOURCES, "clFinish")
            })
        });
        stop.store(true, Ordering::Relaxed);
        result
    })?;
    world.works()
}

/// The loader is opened, used and closed, several times, while commands of the driver may still run.
fn dlclose() -> Outcome {
    type Ids = unsafe extern "C" fn(u32, *mut *mut c_void, *mut u32) -> cl_int;
    for _ in 0..5 {
        let library = dlopen2::raw::Library::open("libOpenCL.so.1").map_err(|error| error.to_string())?;
        let (mut platform, mut count) = (null_mut(), 0);
        // SAFETY: the type is that of clGetPlatformIDs, and there is room for one.
        unsafe {
            let ids: Ids = library.symbol("clGetPlatformIDs").map_err(|error| error.to_string())?;
            well(ids(1, &mut platform, &mut count), "clGetPlatformIDs")?;
        }
    }
    let world = World::new()?;
    world.launch(64, &[world.user])?;
    drop(world);
    let driver = gencl_utest::library()?;
    for _ in 0..5 {
        // The driver itself, which stays: it has threads.
        drop(dlopen2::raw::Library::open(&driver).map_err(|error| error.to_string())?);
    }
    World::new()?.works()
}

/// Threads that have used OpenCL end before their commands, and one after the other uses what another has
/// made.
fn thread_that_ends() -> Outcome {
    struct Owned(World);
    // SAFETY: handles may be used by any thread.
    unsafe impl Send for Owned {}
    let mut worlds = Vec::new();
    for _ in 0..20 {
        let thread = std::thread::spawn(|| {
            let world = World::new()?;
            world.launch(64, &[])?;
            Ok::<_, String>(Owned(world))
        });
        worlds.push(thread.join().map_err(|_| "a panic")??);
    }
    worlds.iter().try_for_each(|Owned(world)| world.works())
}

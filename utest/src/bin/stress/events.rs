//! Long chains of events: time and memory grow with their length, not with its square.

use std::ptr::null;
use std::time::Duration;

use gencl_testing::processor_time;
use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::event::Event;
use opencl3::kernel::Kernel;
use opencl3::memory::ClMem;
use opencl3::types::{cl_event, cl_int};

use crate::child::{Stage, Task};
use crate::process::status;
use crate::tally::Tally;
use crate::work::{Session, of};

/// Events of the longest chain; the others have a half, a quarter and an eighth.
const LONGEST: usize = 20_000;

/// KiB that an event may take, and what may come on top.
const EACH: u64 = 8;
const REST: u64 = 32 << 10;

/// Twice as many events take at most so many times the processor time (wall time depends on what else the
/// machine does). Below `SHORT` seconds the launches themselves do not dominate, and nothing is compared.
const RATIO: f64 = 3.5;
const SHORT: f64 = 0.5;

/// What is done with the chain's first event; the error that all end with.
const CHAINS: [(&str, cl_int); 2] = [("chain", 0), ("failing-chain", -5)];

pub fn repeat(stage: &Stage) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let roles = CHAINS.iter().map(|(name, _)| *name).chain(["markers", "markers-out-of-order"]);
    let mut wrong = Vec::new();
    for role in roles {
        match stage.run(role, stage.seed, Duration::ZERO, &[]) {
            Ok(more) => tally += more,
            Err(why) => wrong.push(why),
        }
    }
    if wrong.is_empty() { Ok(tally) } else { Err(wrong.join("\n")) }
}

pub fn work(task: &Task) -> Result<Tally, String> {
    let mut before = f64::INFINITY;
    let mut tally = Tally::default();
    for length in [LONGEST / 8, LONGEST / 4, LONGEST / 2, LONGEST] {
        let memory = status(std::process::id(), "VmRSS:");
        let begin = processor_time();
        match CHAINS.iter().find(|(name, _)| *name == task.role) {
            Some((_, first)) => chain(length, *first)?,
            None => markers(length, task.role == "markers-out-of-order")?,
        }
        let took = (processor_time() - begin).as_secs_f64();
        let grown = status(std::process::id(), "VmHWM:").saturating_sub(memory);
        let figure = format!("of {length} in {took:.1} s and {} MiB", grown >> 10);
        let what = format!("{} {figure}", task.role);
        if grown > REST + EACH * length as u64 {
            return Err(format!("too much memory: {what}"));
        }
        if took > SHORT && took > RATIO * before.max(SHORT / RATIO) {
            return Err(format!("too long: {what}, half of them in {before:.1} s"));
        }
        before = took;
        tally.add("events", length as u64);
        tally.figure(&task.role, figure);
    }
    Ok(tally)
}

fn out_of_order(session: &Session) -> Result<CommandQueue, String> {
    // SAFETY: context and device are alive and belong together.
    let queue = unsafe {
        CommandQueue::create(&session.context, session.device.id(), CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
    };
    Ok(queue.map_err(of("clCreateCommandQueue"))?)
}

/// Launches of which each waits for the one before, and the first for a user event.
fn chain(length: usize, first: cl_int) -> Result<(), String> {
    let session = Session::new(0)?;
    let queue = out_of_order(&session)?;
    let program = session.build("kernel void add(global int *p) { p[0] += 1; }", "")?;
    let kernel = Kernel::create(&program, "add").map_err(of("clCreateKernel"))?;
    let buffer = session.buffer(64)?;
    // SAFETY: the argument is that of the kernel.
    unsafe { kernel.set_arg(0, &buffer.get()) }.map_err(of("clSetKernelArg"))?;
    let begin = user_event(&session)?;
    let mut events: Vec<Event> = Vec::with_capacity(length);
    let one = 1usize;
    for _ in 0..length {
        let before: cl_event = events.last().map_or(begin.get(), Event::get);
        // SAFETY: the size has as many elements as there are dimensions.
        let event = unsafe {
            queue.enqueue_nd_range_kernel(kernel.get(), 1, null(), &raw const one, null(), &[before])
        };
        events.push(event.map_err(of("clEnqueueNDRangeKernel"))?);
    }
    opencl3::event::set_user_event_status(begin.get(), first).map_err(|code| format!("status: {code}"))?;
    let ended = events.last().map_or(Ok(()), Event::wait);
    if ended.is_ok() == (first == 0) {
        Ok(())
    } else {
        Err(format!("a chain that begins with {first} ends with {ended:?}"))
    }
}

fn user_event(session: &Session) -> Result<Event, String> {
    let event = opencl3::event::create_user_event(session.context.get());
    Ok(Event::new(event.map_err(|code| format!("clCreateUserEvent: {code}"))?))
}

/// Markers behind each other.
fn markers(length: usize, is_out_of_order: bool) -> Result<(), String> {
    let session = Session::new(0)?;
    let queue = if is_out_of_order { &out_of_order(&session)? } else { &session.queue };
    let mark = || {
        // SAFETY: there is no list.
        unsafe { queue.enqueue_marker_with_wait_list(&[]) }.map_err(of("clEnqueueMarkerWithWaitList"))
    };
    let events = (0..length).map(|_| mark()).collect::<Result<Vec<_>, _>>()?;
    for event in &events {
        event.wait().map_err(of("clWaitForEvents"))?;
    }
    Ok(())
}

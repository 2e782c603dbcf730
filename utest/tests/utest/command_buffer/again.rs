//! Long lists of launches, enqueued again and again: what was made for one time serves for the next.

use std::ptr::{null, null_mut};

use gencl_utest::raw::api;
use gencl_utest::{Gpu, Outcome, Random};
use opencl_sys::{
    CL_COMMAND_BUFFER_MUTABLE_KHR, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, CL_MEM_READ_WRITE,
    cl_command_buffer_khr, cl_command_queue, cl_mutable_command_khr,
};
use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::memory::ClMem;

use super::list::{List, argument, new_arguments, program, queue_with, set};
use crate::child;
use crate::information::{ask, number};
use crate::memory::same;

const LAUNCHES: usize = 40;

/// A list of launches that add to one buffer or the other.
struct Adding {
    list: List,
    commands: Vec<cl_mutable_command_khr>,
    values: Vec<i32>,
}

impl Adding {
    fn new(queue: &CommandQueue, buffers: [opencl_sys::cl_mem; 2], first: i32) -> Result<Self, String> {
        let (list, add) = (List::new(queue, CL_COMMAND_BUFFER_MUTABLE_KHR)?, program()?.kernel("add")?);
        let values: Vec<i32> = (first..).take(LAUNCHES).collect();
        let record = |(number, value): (usize, &i32)| {
            set(&add, 0, &buffers[number % 2])?;
            set(&add, 1, value)?;
            Ok(list.launch_as(add.get(), &[], [0, 16, 0], &[])?.1)
        };
        let commands = values.iter().enumerate().map(record).collect::<Result<_, String>>()?;
        list.finalize()?;
        Ok(Self { list, commands, values })
    }
}

/// In several queues, with changes, with other lists between, and with shared virtual memory that comes and goes.
pub fn often() -> Outcome {
    let gpu = Gpu::get()?;
    let queues = [queue_with(0)?, queue_with(0)?, queue_with(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)?];
    let buffers = [gpu.buffer(&[0i32; 16])?, gpu.buffer(&[0i32; 16])?];
    let handles = buffers.each_ref().map(|buffer| buffer.memory().get());
    let mut lists = [Adding::new(&queues[0], handles, 1)?, Adding::new(&queues[0], handles, 1000)?];
    let shares =
        number(&ask!(clGetDeviceInfo, gpu.device.id()), opencl_sys::CL_DEVICE_SVM_CAPABILITIES)? != 0;
    let mut expected = [0i32; 2];
    let mut random = Random::new(7);
    for round in 0..60 {
        let mut below = |limit: usize| random.next_u32() as usize % limit;
        let Adding { list, commands, values } = &mut lists[below(5) / 4];
        if below(6) == 0 {
            let (changed, value) = (below(LAUNCHES), below(100) as i32);
            list.update(&[new_arguments(commands[changed], &[argument(1, &value)])])?;
            values[changed] = value;
        }
        let (size, mut memory) = (4096, null_mut());
        if shares && below(4) == 0 {
            // SAFETY: the context is alive, and the memory is not used.
            memory = unsafe { (list.api.clSVMAlloc)(gpu.context.get(), CL_MEM_READ_WRITE, size, 0) };
        }
        let times = 1 + below(3);
        let queue = &queues[below(9) / 4];
        let mut events: Vec<opencl3::event::Event> = Vec::new();
        for _ in 0..times {
            let waits: Vec<_> = events.last().iter().map(|event| event.get()).collect();
            events.push(list.enqueue(Some(queue), &waits)?);
        }
        for event in events {
            event.wait().map_err(|error| error.to_string())?;
        }
        if !memory.is_null() {
            // SAFETY: the test's own.
            unsafe { (list.api.clSVMFree)(gpu.context.get(), memory) };
        }
        for (number, value) in values.iter().enumerate() {
            expected[number % 2] += value * times as i32;
        }
        for (buffer, sum) in buffers.iter().zip(expected) {
            same(&buffer.read()?, &[sum; 16]).map_err(|error| format!("round {round}: {error}"))?;
        }
    }
    Ok(())
}

/// Several threads enqueue it at a time, each in a queue of its own.
pub fn threads() -> Outcome {
    let (gpu, program) = (Gpu::get()?, program()?);
    let queues: Vec<_> =
        [0, 0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE]
            .into_iter()
            .map(queue_with)
            .collect::<Result<_, _>>()?;
    let (from, to) = (gpu.buffer(&[5i32; 32])?, gpu.buffer(&[0i32; 32])?);
    let scale = program.kernel("scale")?;
    set(&scale, 0, &to.memory().get())?;
    set(&scale, 1, &from.memory().get())?;
    let list = List::new(&queues[0], CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR)?;
    for by in 0..LAUNCHES as i32 {
        set(&scale, 2, &by)?;
        list.launch(&scale, 32, &[])?;
    }
    list.finalize()?;
    let (functions, api, handle) = (list.functions, list.api, list.handle as usize);
    let codes: Vec<_> = std::thread::scope(|scope| {
        let enqueue = |queue: &CommandQueue| {
            let queue = queue.get() as usize;
            scope.spawn(move || {
                let (mut queue, list, none, event) =
                    (queue as cl_command_queue, handle as cl_command_buffer_khr, null(), null_mut());
                let enqueue = functions.clEnqueueCommandBufferKHR;
                // SAFETY: one queue, which is alive, as the list is.
                let call = |number| unsafe {
                    let code = enqueue(1, &mut queue, list, 0, none, event);
                    if code == 0 && number % 3 == 0 { (api.clFinish)(queue) } else { code }
                };
                (0..60).map(call).find(|code| *code != 0)
            })
        };
        let threads: Vec<_> = queues.iter().map(enqueue).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or(Some(1))).collect()
    });
    if let Some(code) = codes.into_iter().flatten().next() {
        return Err(format!("a thread got {code}"));
    }
    queues.iter().try_for_each(|queue| queue.finish().map_err(|error| error.to_string()))?;
    let last = LAUNCHES as i32 - 1;
    same(&to.read()?, &(0..32).map(|i| 5 * last + i).collect::<Vec<_>>())
}

/// Kernels with private memory of their own, whose batches serve one queue.
pub fn private() -> Outcome {
    let (gpu, program) = (Gpu::get()?, program()?);
    let queues = [queue_with(0)?, queue_with(0)?];
    let a = gpu.buffer(&[0i32; 64])?;
    let turn = program.kernel("turn")?;
    set(&turn, 0, &a.memory().get())?;
    let list = List::new(&queues[0], 0)?;
    for number in 0..20i32 {
        set(&turn, 1, &number)?;
        list.launch(&turn, 64, &[])?;
    }
    list.finalize()?;
    let mut expected = [0i32; 64];
    for round in 0..6 {
        list.enqueue(Some(&queues[round % 2]), &[])?.wait().map_err(|error| error.to_string())?;
        for number in 0..20 {
            (0..).zip(&mut expected).for_each(|(i, value)| *value += ((i + number) & 63) * 3 + i);
        }
        same(&a.read()?, &expected)?;
    }
    Ok(())
}

/// A launch of a long list that fails ends the list. What is behind it in the queue fails until that is told; then all
/// is well again.
pub fn faults() -> Outcome {
    let (gpu, program, queue) = (Gpu::get()?, program()?, queue_with(0)?);
    let a = gpu.buffer(&[0i32; 4])?;
    let (add, wild) = (program.kernel("add")?, program.kernel("wild")?);
    set(&add, 0, &a.memory().get())?;
    set(&add, 1, &1i32)?;
    set(&wild, 0, &a.memory().get())?;
    set(&wild, 1, &0i32)?;
    let list = List::new(&queue, CL_COMMAND_BUFFER_MUTABLE_KHR)?;
    (0..20).try_for_each(|_| list.launch(&add, 4, &[]).map(drop))?;
    let (_, command) = list.launch_as(wild.get(), &[], [0, 1, 0], &[])?;
    (0..20).try_for_each(|_| list.launch(&add, 4, &[]).map(drop))?;
    list.finalize()?;
    (0..3).try_for_each(|_| list.run())?;
    same(&a.read()?, &[120; 4])?;
    list.update(&[new_arguments(command, &[argument(1, &1i32)])])?;
    let events = [list.enqueue(None, &[])?, list.enqueue(None, &[])?];
    if events.iter().any(|event| event.wait().is_ok()) || queue.finish().is_ok() {
        return Err("a wild store has succeeded".into());
    }
    list.update(&[new_arguments(command, &[argument(1, &0i32)])])?;
    let before = a.read()?[0];
    if before != 140 {
        return Err(format!("{before} when the list had failed"));
    }
    (0..2).try_for_each(|_| list.run())?;
    same(&a.read()?, &[220; 4])
}

/// Kernels of a long list print each time.
pub fn prints() -> Outcome {
    const NAME: &str = "command_buffer_prints";
    if !child::is_child() {
        let output = child::run(NAME, "print", &[])?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let printed = text.lines().filter(|line| line.starts_with("number ")).count();
        let right = output.status.success() && printed == 60 && text.matches("number 19\n").count() == 3;
        return if right { Ok(()) } else { Err(text) };
    }
    let (print, queue) = (program()?.kernel("tell")?, queue_with(0)?);
    let list = List::new(&queue, 0)?;
    for number in 0..20i32 {
        set(&print, 0, &number)?;
        list.launch(&print, 1, &[])?;
    }
    list.finalize()?;
    (0..3).try_for_each(|_| list.run())
}

/// A profile has each launch, with a number of its own and its times.
pub fn traced() -> Outcome {
    const NAME: &str = "command_buffer_traced";
    if child::is_child() {
        return often();
    }
    let folder = std::env::temp_dir().join(format!("gencl-{NAME}-{}", std::process::id()));
    let debug = format!("profile={}", folder.display());
    let output = child::run(NAME, "trace", &[("GENCL_DEBUG", &debug)]);
    let found = std::fs::read_dir(&folder).map_err(|error| error.to_string()).and_then(|mut processes| {
        let process = processes.next().ok_or("no process")?.map_err(|error| error.to_string())?;
        let text = std::fs::read_to_string(process.path().join("trace.jsonl"));
        text.map_err(|error| error.to_string())
    });
    let _ = std::fs::remove_dir_all(&folder);
    let output = output?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let trace = found?;
    let of =
        |kind: &str| trace.lines().filter(|line| line.starts_with(&format!("{{\"type\":\"{kind}\""))).count();
    let commands = trace.lines().filter(|line| line.contains("\"command\":\"NdRangeKernel\"")).count();
    let launches = of("launch");
    if launches > 0 && launches == commands && launches % LAUNCHES == 0 && !trace.contains("\"start\":0,") {
        Ok(())
    } else {
        Err(format!("{launches} launches, {commands} of them ended"))
    }
}

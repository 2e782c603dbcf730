//! After a fault nothing that depends on its results succeeds, until the application has got the error.

use std::ptr::null_mut;

use gencl_utest::{Buffer, Case, Gpu, Launch, Outcome, Program};
use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::error_codes::{CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_OUT_OF_RESOURCES, ClError};
use opencl3::event::{Event, wait_for_events};
use opencl3::memory::{CL_MAP_READ, ClMem};
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_event};

pub fn cases() -> Vec<Case> {
    vec![
        Case::of_gencl("others lose the queue", "after_fault_in_order", in_order),
        Case::of_gencl("others lose the queue", "after_fault_out_of_order", out_of_order),
    ]
}

const SOURCE: &str = "
    kernel void good(global uint *p) { p[get_global_id(0)] += 1; }
    kernel void bad(global uint *p) { if (get_global_id(0) == 7) p[0x10000000] = 1; }";

/// A queue with a buffer and both kernels.
struct Bench {
    queue: CommandQueue,
    program: Program,
    buffer: Buffer<u32>,
}

impl Bench {
    fn new(properties: u64) -> Result<Self, String> {
        let gpu = Gpu::get()?;
        // SAFETY: context and device belong together.
        let queue = unsafe { CommandQueue::create(&gpu.context, gpu.device.id(), properties) };
        let queue = queue.map_err(|error| error.to_string())?;
        Ok(Self { queue, program: gpu.build_source(SOURCE, "")?, buffer: gpu.buffer(&[0u32; 16])? })
    }

    fn launch(&self, kernel: &str) -> Result<Event, String> {
        self.program.enqueue(&self.queue, kernel, &[self.buffer.arg()], &Launch::linear(16, 16))
    }

    /// A blocking read of the first number.
    fn read(&self, waits: &[cl_event]) -> Result<u32, i32> {
        let mut bytes = [0; 4];
        let memory = self.buffer.memory();
        // SAFETY: the call blocks.
        let read = unsafe { self.queue.enqueue_read_buffer(memory, CL_BLOCKING, 0, &mut bytes, waits) };
        read.map(|_| u32::from_ne_bytes(bytes)).map_err(|ClError(code)| code)
    }

    fn finish(&self) -> Result<(), i32> {
        self.queue.finish().map_err(|ClError(code)| code)
    }
}

/// A call that blocks; the result is its code.
type Call = fn(&Bench) -> Result<(), i32>;

const CALLS: [(&str, Call, i32); 5] = [
    ("clEnqueueReadBuffer", |bench| bench.read(&[]).map(drop), CL_OUT_OF_RESOURCES),
    (
        "clEnqueueWriteBuffer",
        |bench| {
            let handle = bench.buffer.memory().get();
            let (queue, bytes) = (bench.queue.get(), [0u8; 4]);
            // SAFETY: four bytes, and the call blocks.
            let write = unsafe {
                opencl3::command_queue::enqueue_write_buffer(
                    queue,
                    handle,
                    CL_BLOCKING,
                    0,
                    4,
                    bytes.as_ptr().cast(),
                    0,
                    std::ptr::null(),
                )
            };
            write.map(|event| drop(Event::new(event)))
        },
        CL_OUT_OF_RESOURCES,
    ),
    (
        "clEnqueueMapBuffer",
        |bench| {
            let (memory, mut pointer) = (bench.buffer.memory(), null_mut());
            // SAFETY: the pointer is not used.
            let map = unsafe {
                bench.queue.enqueue_map_buffer(memory, CL_BLOCKING, CL_MAP_READ, 0, 4, &mut pointer, &[])
            };
            map.map(drop).map_err(|ClError(code)| code)
        },
        CL_OUT_OF_RESOURCES,
    ),
    (
        "clWaitForEvents",
        |bench| {
            let event = bench.launch("good").map_err(|_| 0)?;
            wait_for_events(&[event.get()])
        },
        CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
    ),
    ("clFinish", |bench| bench.finish(), CL_OUT_OF_RESOURCES),
];

fn expect<T: std::fmt::Debug + PartialEq>(
    found: Result<T, i32>,
    expected: Result<T, i32>,
    what: &str,
) -> Outcome {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?}, expected {expected:?}")) }
}

/// Each call as the first after a fault that has not been waited for, with a command between; then all
/// others.
fn in_order() -> Outcome {
    for (first, call, code) in CALLS {
        let bench = Bench::new(0)?;
        bench.launch("good")?;
        bench.launch("bad")?;
        let behind = bench.launch("good")?;
        expect(call(&bench), Err(code), &format!("{first} after a fault"))?;
        if first != "clFinish" {
            for (second, call, code) in CALLS {
                expect(call(&bench), Err(code), &format!("{second} after a fault and {first}"))?;
            }
        }
        let status = behind.command_execution_status().map_err(|error| error.to_string())?.0;
        expect(Err::<(), _>(status), Err(CL_OUT_OF_RESOURCES), "the status of a launch behind the fault")?;
        let maps = bench.buffer.memory().map_count().map_err(|error| error.to_string())?;
        expect(Ok(maps), Ok(0), "mappings after one that failed")?;
        // The application has got the error: the queue works again, and commands before the fault have run.
        expect(bench.finish(), Ok(()), "clFinish after clFinish")?;
        bench.launch("good")?;
        expect(bench.read(&[]), Ok(2), "clEnqueueReadBuffer after clFinish")?;
    }
    Ok(())
}

/// What depends on the fault fails, by its wait list or by a barrier; the rest runs.
fn out_of_order() -> Outcome {
    let bench = Bench::new(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)?;
    let bad = bench.launch("bad")?;
    expect(bench.read(&[]), Ok(0), "a read that depends on nothing")?;
    let depends = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    expect(bench.read(&[bad.get()]), Err(depends), "a read that waits for the fault")?;
    let text = |error: ClError| error.to_string();
    let mut bytes = [0; 4];
    // SAFETY: the bytes outlive the command, which is waited for below.
    unsafe {
        let memory = bench.buffer.memory();
        bench.queue.enqueue_barrier_with_wait_list(&[]).map_err(text)?;
        let read =
            bench.queue.enqueue_read_buffer(memory, CL_NON_BLOCKING, 0, &mut bytes, &[]).map_err(text)?;
        expect(wait_for_events(&[read.get()]), Err(depends), "a read behind a barrier")?;
    }
    expect(bench.read(&[]), Err(CL_OUT_OF_RESOURCES), "another read behind a barrier")?;
    expect(bench.finish(), Err(CL_OUT_OF_RESOURCES), "clFinish after a fault")?;
    expect(bench.finish(), Ok(()), "clFinish after clFinish")?;
    bench.launch("good")?.wait().map_err(text)?;
    expect(bench.read(&[]), Ok(1), "a read after clFinish")
}

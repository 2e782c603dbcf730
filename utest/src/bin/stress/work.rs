//! What an application does: it builds a program, launches it, and looks at the result.

use std::ptr::{null, null_mut};

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::error_codes::ClError;
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_int};

/// `CL_BUILD_PROGRAM_FAILURE`
pub const BUILD_FAILURE: cl_int = -11;

/// Why there is no right result.
#[derive(Debug)]
pub enum Trouble {
    /// A call has failed.
    Failed { call: &'static str, code: cl_int, log: String },
    /// What no driver may do.
    Wrong(String),
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed { call, code, log } => write!(f, "{call}: {} {log}", ClError(*code)),
            Self::Wrong(what) => f.write_str(what),
        }
    }
}

impl From<Trouble> for String {
    fn from(trouble: Trouble) -> Self {
        trouble.to_string()
    }
}

/// The error of a call.
pub fn of<E: Into<ClError>>(call: &'static str) -> impl Fn(E) -> Trouble {
    move |error| Trouble::Failed { call, code: error.into().0, log: String::new() }
}

/// A context of its own, with a queue.
pub struct Session {
    pub device: Device,
    // Released in this order.
    pub queue: CommandQueue,
    pub context: Context,
}

impl Session {
    pub fn new(properties: u64) -> Result<Self, Trouble> {
        let platforms = get_platforms().map_err(of("clGetPlatformIDs"))?;
        let platform = platforms.first().ok_or_else(|| of("clGetPlatformIDs")(ClError(-1001)))?;
        let ids = platform.get_devices(CL_DEVICE_TYPE_ALL).map_err(of("clGetDeviceIDs"))?;
        let device = Device::new(*ids.first().ok_or_else(|| of("clGetDeviceIDs")(ClError(-1)))?);
        let context = Context::from_device(&device).map_err(of("clCreateContext"))?;
        // SAFETY: context and device are alive and belong together.
        let queue = unsafe { CommandQueue::create(&context, device.id(), properties) };
        Ok(Self { device, queue: queue.map_err(of("clCreateCommandQueue"))?, context })
    }

    pub fn buffer(&self, bytes: usize) -> Result<Buffer<u32>, Trouble> {
        // SAFETY: no host pointer is given.
        let buffer = unsafe { Buffer::create(&self.context, CL_MEM_READ_WRITE, bytes / 4, null_mut()) };
        buffer.map_err(of("clCreateBuffer"))
    }

    pub fn build(&self, source: &str, options: &str) -> Result<Program, Trouble> {
        let program =
            Program::create_from_source(&self.context, source).map_err(of("clCreateProgramWithSource"))?;
        self.built(program, options)
    }

    /// A program of a binary.
    pub fn load(&self, binary: &[u8]) -> Result<Program, Trouble> {
        // SAFETY: context and device belong together; binaries may hold anything.
        let program = unsafe { Program::create_from_binary(&self.context, &[self.device.id()], &[binary]) };
        self.built(program.map_err(of("clCreateProgramWithBinary"))?, "")
    }

    fn built(&self, mut program: Program, options: &str) -> Result<Program, Trouble> {
        match program.build(&[self.device.id()], options) {
            Ok(()) => Ok(program),
            Err(ClError(code)) => {
                let log = program.get_build_log(self.device.id()).unwrap_or_default();
                Err(Trouble::Failed { call: "clBuildProgram", code, log })
            }
        }
    }

    /// Launches a kernel in one dimension and waits for its end.
    pub fn launch(&self, kernel: &Kernel, global: usize, local: Option<usize>) -> Result<(), Trouble> {
        let local = local.as_ref().map_or(null(), std::ptr::from_ref);
        // SAFETY: the sizes have as many elements as there are dimensions, or are null.
        let event = unsafe {
            self.queue.enqueue_nd_range_kernel(kernel.get(), 1, null(), &raw const global, local, &[])
        };
        event.map_err(of("clEnqueueNDRangeKernel"))?.wait().map_err(of("clWaitForEvents"))
    }
}

/// Work-items of a round, and of a work-group.
const ITEMS: usize = 96;
const GROUP: usize = 16;

/// The source of one of many programs.
fn source(variant: u64) -> String {
    let factor = factor(variant);
    format!(
        "kernel void work(global uint *p, uint rounds, local uint *l) {{
            uint id = get_local_id(0), x = p[get_global_id(0)];
            for (uint i = 0; i < rounds; i++)
                x = x * {factor}u + id;
            l[id] = x;
            barrier(CLK_LOCAL_MEM_FENCE);
            p[get_global_id(0)] = l[id ^ 1] + {variant}u;
        }}"
    )
}

fn factor(variant: u64) -> u32 {
    (variant as u32).wrapping_mul(2_654_435_761) | 1
}

/// What it makes of what is in the buffer.
fn expected(variant: u64, rounds: u32, inputs: &[u32]) -> Vec<u32> {
    let value = |index: usize| {
        let id = (index % GROUP) as u32;
        (0..rounds).fold(inputs[index], |x, _| x.wrapping_mul(factor(variant)).wrapping_add(id))
    };
    (0..inputs.len()).map(|index| value(index ^ 1).wrapping_add(variant as u32)).collect()
}

/// Makes everything that one of many programs needs, launches it, checks the result and releases everything.
pub fn round(variant: u64) -> Result<(), Trouble> {
    // Programs differ by a number of 32 bits.
    let variant = variant & 0x7fff_ffff;
    let session = Session::new(0)?;
    let program = session.build(&source(variant), "")?;
    let kernel = Kernel::create(&program, "work").map_err(of("clCreateKernel"))?;
    let mut buffer = session.buffer(ITEMS * 4)?;
    let inputs: Vec<u32> = (0..ITEMS as u32).map(|index| index.wrapping_mul(0x9e37_79b9)).collect();
    let rounds = 20 + variant as u32 % 20;
    // SAFETY: the call blocks, so that the slice outlives it.
    unsafe { session.queue.enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, &inputs, &[]) }
        .map_err(of("clEnqueueWriteBuffer"))?;
    // SAFETY: the arguments are those of the kernel.
    unsafe {
        kernel.set_arg(0, &buffer.get()).map_err(of("clSetKernelArg"))?;
        kernel.set_arg(1, &rounds).map_err(of("clSetKernelArg"))?;
        kernel.set_arg_local_buffer(2, GROUP * 4).map_err(of("clSetKernelArg"))?;
    }
    session.launch(&kernel, ITEMS, Some(GROUP))?;
    let mut results = vec![0u32; ITEMS];
    // SAFETY: the call blocks, so that the vector outlives it.
    unsafe { session.queue.enqueue_read_buffer(&buffer, CL_BLOCKING, 0, &mut results, &[]) }
        .map_err(of("clEnqueueReadBuffer"))?;
    session.queue.finish().map_err(of("clFinish"))?;
    if results == expected(variant, rounds, &inputs) {
        Ok(())
    } else {
        Err(Trouble::Wrong(format!("wrong result of program {variant}: {results:x?}")))
    }
}

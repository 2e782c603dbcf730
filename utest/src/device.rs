//! The device under test: a thin layer over `opencl3` that makes tests short.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::OnceLock;

use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::error_codes::ClError;
use opencl3::event::Event;
use opencl3::kernel::Kernel;
use opencl3::memory::{self, CL_MEM_READ_WRITE, ClMem};
use opencl3::platform::get_platforms;
use opencl3::types::{CL_BLOCKING, cl_mem, cl_uchar};

use crate::witness;

/// The first device of the driver under test, with a context. Queues are made per test.
pub struct Gpu {
    /// The device.
    pub device: Device,
    /// A context of that device.
    pub context: Context,
}

/// A program that was built.
pub struct Program(opencl3::program::Program);

/// A device buffer of `len` elements.
pub struct Buffer<T> {
    memory: memory::Buffer<cl_uchar>,
    len: usize,
    element: PhantomData<T>,
}

/// One kernel argument.
#[derive(Clone, Copy)]
pub enum Arg<'a> {
    /// A buffer's handle; the buffer outlives the launch, which tests wait for.
    Memory(cl_mem),
    /// A pointer to shared virtual memory.
    Shared(*const c_void),
    /// A null pointer.
    Null,
    /// A value, as the bytes of its type.
    Bytes(&'a [u8]),
    /// `__local` memory of so many bytes.
    Local(usize),
}

/// How a kernel is launched.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// Global offset, empty for none.
    pub offset: Vec<usize>,
    /// Global size, one to three dimensions.
    pub global: Vec<usize>,
    /// Local size, empty for the driver's choice.
    pub local: Vec<usize>,
}

impl Launch {
    /// One dimension with the local size given.
    pub fn linear(global: usize, local: usize) -> Launch {
        Launch { global: vec![global], local: vec![local], ..Launch::default() }
    }
}

fn text<T>(what: &str) -> impl Fn(T) -> String + '_
where
    T: std::fmt::Display,
{
    move |error| format!("{what}: {error}")
}

impl Gpu {
    /// The device, opened once.
    pub fn get() -> Result<&'static Gpu, String> {
        static GPU: OnceLock<Result<Gpu, String>> = OnceLock::new();
        GPU.get_or_init(Gpu::open).as_ref().map_err(Clone::clone)
    }

    fn open() -> Result<Gpu, String> {
        // Otherwise it would be the first of whatever is installed.
        if std::env::var_os("OCL_ICD_VENDORS").is_none() {
            return Err("OCL_ICD_VENDORS does not say which driver is to be tested".into());
        }
        let platforms = get_platforms().map_err(text("clGetPlatformIDs"))?;
        let platform = platforms.first().ok_or("no OpenCL platform")?;
        let ids = platform.get_devices(CL_DEVICE_TYPE_ALL).map_err(text("clGetDeviceIDs"))?;
        let device = Device::new(*ids.first().ok_or("the platform has no device")?);
        let context = Context::from_device(&device).map_err(text("clCreateContext"))?;
        Ok(Gpu { device, context })
    }

    /// The name of the platform when the driver is not gencl.
    pub fn foreign_platform(&self) -> Option<String> {
        let platform = self.device.platform().ok()?;
        let name = opencl3::platform::Platform::new(platform).name().ok()?;
        (name != "gencl").then_some(name)
    }

    /// The SIMD widths that kernels can ask for with `intel_reqd_sub_group_size`.
    pub fn simd_widths(&self) -> Vec<u32> {
        const SUB_GROUP_SIZES_INTEL: u32 = 0x4108;
        let word = size_of::<usize>();
        match self.device.get_data(SUB_GROUP_SIZES_INTEL) {
            Ok(data) if !data.is_empty() => data
                .chunks_exact(word)
                .map(|size| size.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)))
                .collect(),
            // Others refuse the attribute or ignore it.
            _ => vec![8, 16, 32],
        }
    }

    /// Why the machine code of kernels cannot be shown to an independent disassembler, if so.
    pub(crate) fn missing_witness(&self) -> Option<String> {
        if self.foreign_platform().is_some() {
            return Some("the driver's binaries are its own".into());
        }
        let target = || {
            let program = self.build_unchecked("kernel void k(void) {}", "")?;
            let binaries = program.0.get_binaries().map_err(text("CL_PROGRAM_BINARIES"))?;
            let binary = binaries.first().ok_or("no binary")?;
            let program = gencl_program::elf::read(binary).map_err(|error| error.to_string())?;
            witness::missing(&program.target)
        };
        target().unwrap_or_else(Some)
    }

    /// A new in-order queue with profiling.
    pub fn queue(&self) -> Result<CommandQueue, String> {
        // SAFETY: context and device are alive and belong together.
        unsafe { CommandQueue::create(&self.context, self.device.id(), CL_QUEUE_PROFILING_ENABLE) }
            .map_err(text("clCreateCommandQueue"))
    }

    /// Builds a source text; the error is the build log.
    pub fn build_source(&self, source: &str, options: &str) -> Result<Program, String> {
        let program = self.build_unchecked(source, options)?;
        for binary in program.0.get_binaries().map_err(text("CL_PROGRAM_BINARIES"))? {
            witness::check_program(&binary)?;
        }
        Ok(program)
    }

    /// The same without looking at the binary, which takes longer than many a build.
    pub fn build_unchecked(&self, source: &str, options: &str) -> Result<Program, String> {
        let mut program = opencl3::program::Program::create_from_source(&self.context, source)
            .map_err(text("clCreateProgramWithSource"))?;
        if let Err(error) = program.build(&[self.device.id()], options) {
            let log = program.get_build_log(self.device.id()).unwrap_or_default();
            return Err(format!("clBuildProgram: {error}\n{log}"));
        }
        Ok(Program(program))
    }

    /// Builds `utest/kernels/NAME.cl`, all kernels in it with the sub-group size `width` when it is given.
    pub fn build(&self, name: &str, width: Option<u32>) -> Result<Program, String> {
        self.build_with(name, width, "")
    }

    /// The same with build options.
    pub fn build_with(&self, name: &str, width: Option<u32>, options: &str) -> Result<Program, String> {
        let path = format!("{}/kernels/{name}.cl", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(&path).map_err(text(&path))?;
        let prefix = match width {
            Some(width) => format!(
                "#define __kernel __attribute__((intel_reqd_sub_group_size({width}))) kernel\n#line 1\n"
            ),
            None => String::new(),
        };
        self.build_source(&(prefix + &source), options)
    }

    /// A buffer with the given contents.
    pub fn buffer<T: Copy>(&self, contents: &[T]) -> Result<Buffer<T>, String> {
        let mut buffer = self.empty(contents.len())?;
        buffer.write(contents)?;
        Ok(buffer)
    }

    /// A buffer of `len` elements.
    pub fn empty<T: Copy>(&self, len: usize) -> Result<Buffer<T>, String> {
        self.empty_with(CL_MEM_READ_WRITE, len)
    }

    /// The same with flags, which want no host pointer.
    pub fn empty_with<T: Copy>(&self, flags: u64, len: usize) -> Result<Buffer<T>, String> {
        let bytes = len * size_of::<T>();
        // SAFETY: no host pointer is given.
        let memory =
            unsafe { memory::Buffer::create(&self.context, flags, bytes, std::ptr::null_mut::<c_void>()) }
                .map_err(text("clCreateBuffer"))?;
        Ok(Buffer { memory, len, element: PhantomData })
    }
}

impl<T: Copy> Buffer<T> {
    /// As an argument.
    pub fn arg(&self) -> Arg<'_> {
        Arg::Memory(self.memory.get())
    }

    /// The buffer's handle.
    pub fn memory(&self) -> &memory::Buffer<cl_uchar> {
        &self.memory
    }

    /// The buffer itself, for commands that change it.
    pub fn into_memory(self) -> memory::Buffer<cl_uchar> {
        self.memory
    }

    /// Overwrites the buffer from its beginning.
    pub fn write(&mut self, contents: &[T]) -> Result<(), String> {
        let queue = Gpu::get()?.queue()?;
        // SAFETY: the slice is valid for its length in bytes, and `T: Copy` has no destructor.
        let bytes =
            unsafe { std::slice::from_raw_parts(contents.as_ptr().cast::<u8>(), size_of_val(contents)) };
        // SAFETY: the call blocks, so that the slice outlives it.
        unsafe { queue.enqueue_write_buffer(&mut self.memory, CL_BLOCKING, 0, bytes, &[]) }
            .map_err(text("clEnqueueWriteBuffer"))?;
        Ok(())
    }

    /// The contents.
    pub fn read(&self) -> Result<Vec<T>, String>
    where
        T: Default,
    {
        let queue = Gpu::get()?.queue()?;
        let mut contents = vec![T::default(); self.len];
        // SAFETY: the vector is valid for its length in bytes; tests use plain numbers, for which every bit
        // pattern is a value.
        let bytes = unsafe {
            std::slice::from_raw_parts_mut(contents.as_mut_ptr().cast::<u8>(), self.len * size_of::<T>())
        };
        // SAFETY: the call blocks, so that the slice outlives it.
        unsafe { queue.enqueue_read_buffer(&self.memory, CL_BLOCKING, 0, bytes, &[]) }
            .map_err(text("clEnqueueReadBuffer"))?;
        Ok(contents)
    }
}

impl Program {
    /// The program's handle.
    pub fn program(&self) -> &opencl3::program::Program {
        &self.0
    }

    /// A kernel of the program.
    pub fn kernel(&self, name: &str) -> Result<Kernel, String> {
        Kernel::create(&self.0, name).map_err(|error| format!("clCreateKernel({name}): {error}"))
    }

    /// Enqueues a kernel. The error of the queue's call is in the text by name.
    pub fn enqueue(
        &self,
        queue: &CommandQueue,
        name: &str,
        args: &[Arg<'_>],
        launch: &Launch,
    ) -> Result<Event, String> {
        enqueue(queue, &self.kernel(name)?, args, launch)
    }

    /// Runs a kernel and waits for it.
    pub fn run(&self, name: &str, args: &[Arg<'_>], launch: &Launch) -> Result<(), String> {
        run(&self.kernel(name)?, args, launch).map_err(|error| format!("kernel {name}: {error}"))
    }
}

/// Runs a kernel, of whatever program, and waits for it.
pub fn run(kernel: &Kernel, args: &[Arg<'_>], launch: &Launch) -> Result<(), String> {
    let event = enqueue(&Gpu::get()?.queue()?, kernel, args, launch)?;
    event.wait().map_err(|error| format!("it failed: {error}"))
}

/// Sets all arguments and enqueues the kernel.
pub fn enqueue(
    queue: &CommandQueue,
    kernel: &Kernel,
    args: &[Arg<'_>],
    launch: &Launch,
) -> Result<Event, String> {
    for (index, arg) in args.iter().enumerate() {
        set_arg(kernel, index as u32, *arg).map_err(|error| format!("clSetKernelArg({index}): {error}"))?;
    }
    let pointer = |sizes: &[usize]| if sizes.is_empty() { std::ptr::null() } else { sizes.as_ptr() };
    // SAFETY: the size arrays have as many elements as there are dimensions, or are null.
    unsafe {
        queue.enqueue_nd_range_kernel(
            kernel.get(),
            launch.global.len() as u32,
            pointer(&launch.offset),
            launch.global.as_ptr(),
            pointer(&launch.local),
            &[],
        )
    }
    .map_err(text("clEnqueueNDRangeKernel"))
}

fn set_arg(kernel: &Kernel, index: u32, arg: Arg<'_>) -> Result<(), String> {
    use opencl3::kernel::{set_kernel_arg, set_kernel_arg_svm_pointer};
    let failed = |code| ClError(code).to_string();
    if let Arg::Shared(pointer) = arg {
        // SAFETY: the driver says whether the pointer is one of its own.
        return unsafe { set_kernel_arg_svm_pointer(kernel.get(), index, pointer) }.map_err(failed);
    }
    let (size, value) = match arg {
        Arg::Memory(ref memory) => (size_of::<cl_mem>(), std::ptr::from_ref(memory).cast::<c_void>()),
        Arg::Null => (size_of::<usize>(), std::ptr::null()),
        Arg::Bytes(bytes) => (bytes.len(), bytes.as_ptr().cast()),
        Arg::Local(size) => (size, std::ptr::null()),
        Arg::Shared(pointer) => (size_of::<usize>(), pointer),
    };
    // SAFETY: the value points to `size` readable bytes, or is null where the specification allows it.
    unsafe { set_kernel_arg(kernel.get(), index, size, value) }.map_err(failed)
}

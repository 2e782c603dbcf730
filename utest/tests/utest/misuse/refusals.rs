//! One invalid argument in each call, and the code that the specification has for it.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use gencl_utest::Outcome;
use gencl_utest::raw::Api;
use opencl_sys::{
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_BINARY, CL_INVALID_BUFFER_SIZE,
    CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT, CL_INVALID_DEVICE, CL_INVALID_EVENT,
    CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_GL_OBJECT, CL_INVALID_KERNEL, CL_INVALID_KERNEL_ARGS,
    CL_INVALID_KERNEL_NAME, CL_INVALID_MEM_OBJECT, CL_INVALID_OPERATION, CL_INVALID_PROGRAM,
    CL_INVALID_PROGRAM_EXECUTABLE, CL_INVALID_VALUE, CL_INVALID_WORK_DIMENSION, CL_INVALID_WORK_GROUP_SIZE,
    CL_MEM_COPY_HOST_PTR, CL_MEM_HOST_NO_ACCESS, CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY,
    CL_MISALIGNED_SUB_BUFFER_OFFSET, cl_buffer_region, cl_event, cl_int, cl_kernel, cl_mem, cl_mem_flags,
    cl_program,
};

use super::World;
use super::world::{SIZE, well};

const REGION: u32 = 0x1220;
const ZERO: [usize; 3] = [0; 3];
const ONE: [usize; 3] = [1; 3];

/// What calls are made with.
struct Scene {
    world: World,
    /// Of another context.
    other: World,
    /// Not built.
    program: cl_program,
    /// Without arguments.
    bare: cl_kernel,
    /// For kernels to read only.
    constant: cl_mem,
    /// Not for the host.
    private: cl_mem,
    /// A part of the world's buffer.
    part: cl_mem,
    /// A user event that has failed.
    failed: cl_event,
    region: cl_buffer_region,
    memory: [u8; SIZE],
}

/// A wrong call: the function, what is wrong, the code that is due, and the call.
type Row = (&'static str, &'static str, cl_int, fn(&mut Scene) -> cl_int);

/// Rows from calls. After `call` stands a function that returns its code, after `make` one that writes it to
/// its last parameter, which is left out here, and that returns nothing then.
macro_rules! rows {
    (|$scene:ident| $($way:ident $function:ident($($argument:expr),*) if $wrong:literal => $code:ident;)*) => {
        &[$((stringify!($function), $wrong, $code, |$scene| {
            let api = $scene.world.api;
            // SAFETY: pointers are to what the call asks for, or null; lists have their lengths.
            unsafe { rows!(@$way api $function $($argument),*) }
        }),)*]
    };
    (@call $api:ident $function:ident $($argument:expr),*) => { ($api.$function)($($argument),*) };
    (@make $api:ident $function:ident $($argument:expr),*) => {{
        let mut error = 0;
        let made = ($api.$function)($($argument,)* &mut error);
        if made.is_null() { error } else { MADE }
    }};
}

/// What stands for the code of a call that has made something.
const MADE: cl_int = cl_int::MAX;

const BUFFERS: &[Row] = rows! { |s|
    call clEnqueueReadBuffer(null_mut(), s.world.buffer, 1, 0, 4, s.at(), 0, null(), null_mut()) if "no queue" => CL_INVALID_COMMAND_QUEUE;
    call clEnqueueReadBuffer(s.world.queue, null_mut(), 1, 0, 4, s.at(), 0, null(), null_mut()) if "no buffer" => CL_INVALID_MEM_OBJECT;
    call clEnqueueReadBuffer(s.world.queue, s.other.buffer, 1, 0, 4, s.at(), 0, null(), null_mut()) if "a buffer of another context" => CL_INVALID_CONTEXT;
    call clEnqueueReadBuffer(s.world.queue, s.world.buffer, 1, 0, 4, s.at(), 1, &s.other.event, null_mut()) if "an event of another context" => CL_INVALID_CONTEXT;
    call clEnqueueReadBuffer(s.world.queue, s.world.buffer, 1, 1, SIZE, s.at(), 0, null(), null_mut()) if "a byte too many" => CL_INVALID_VALUE;
    call clEnqueueReadBuffer(s.world.queue, s.world.buffer, 1, 0, 4, null_mut(), 0, null(), null_mut()) if "nowhere to read to" => CL_INVALID_VALUE;
    call clEnqueueReadBuffer(s.world.queue, s.world.buffer, 1, 0, 4, s.at(), 1, null(), null_mut()) if "no list of events" => CL_INVALID_EVENT_WAIT_LIST;
    call clEnqueueReadBuffer(s.world.queue, s.world.buffer, 1, 0, 4, s.at(), 0, &s.world.event, null_mut()) if "a list of no events" => CL_INVALID_EVENT_WAIT_LIST;
    call clEnqueueReadBuffer(s.world.queue, s.world.buffer, 1, 0, 4, s.at(), 1, &null_mut(), null_mut()) if "an event that is none" => CL_INVALID_EVENT_WAIT_LIST;
    call clEnqueueReadBuffer(s.world.queue, s.world.buffer, 1, 0, 4, s.at(), 1, &s.failed, null_mut()) if "an event that has failed" => CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    call clEnqueueReadBuffer(s.world.queue, s.private, 1, 0, 4, s.at(), 0, null(), null_mut()) if "not for the host" => CL_INVALID_OPERATION;

    call clEnqueueReadBufferRect(null_mut(), s.world.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), ONE.as_ptr(), 0, 0, 0, 0, s.at(), 0, null(), null_mut()) if "no queue" => CL_INVALID_COMMAND_QUEUE;
    call clEnqueueReadBufferRect(s.world.queue, null_mut(), 1, ZERO.as_ptr(), ZERO.as_ptr(), ONE.as_ptr(), 0, 0, 0, 0, s.at(), 0, null(), null_mut()) if "no buffer" => CL_INVALID_MEM_OBJECT;
    call clEnqueueReadBufferRect(s.world.queue, s.other.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), ONE.as_ptr(), 0, 0, 0, 0, s.at(), 0, null(), null_mut()) if "a buffer of another context" => CL_INVALID_CONTEXT;
    call clEnqueueReadBufferRect(s.world.queue, s.world.buffer, 1, null(), ZERO.as_ptr(), ONE.as_ptr(), 0, 0, 0, 0, s.at(), 0, null(), null_mut()) if "no origin" => CL_INVALID_VALUE;
    call clEnqueueReadBufferRect(s.world.queue, s.world.buffer, 1, ZERO.as_ptr(), null(), ONE.as_ptr(), 0, 0, 0, 0, s.at(), 0, null(), null_mut()) if "no origin on the host" => CL_INVALID_VALUE;
    call clEnqueueReadBufferRect(s.world.queue, s.world.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), null(), 0, 0, 0, 0, s.at(), 0, null(), null_mut()) if "no region" => CL_INVALID_VALUE;
    call clEnqueueReadBufferRect(s.world.queue, s.world.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), [4, 0, 1].as_ptr(), 0, 0, 0, 0, s.at(), 0, null(), null_mut()) if "an empty region" => CL_INVALID_VALUE;
    call clEnqueueReadBufferRect(s.world.queue, s.world.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), [4, 1, 1].as_ptr(), 3, 0, 0, 0, s.at(), 0, null(), null_mut()) if "a row pitch below the region" => CL_INVALID_VALUE;
    call clEnqueueReadBufferRect(s.world.queue, s.world.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), [4, 1, 1].as_ptr(), 0, 0, 3, 0, s.at(), 0, null(), null_mut()) if "a host's row pitch below the region" => CL_INVALID_VALUE;
    call clEnqueueReadBufferRect(s.world.queue, s.world.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), [4, 2, 1].as_ptr(), 4, 7, 0, 0, s.at(), 0, null(), null_mut()) if "a slice pitch below the region" => CL_INVALID_VALUE;
    call clEnqueueReadBufferRect(s.world.queue, s.world.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), [4, 2, 1].as_ptr(), 0, 0, 4, 7, s.at(), 0, null(), null_mut()) if "a host's slice pitch below the region" => CL_INVALID_VALUE;
    call clEnqueueReadBufferRect(s.world.queue, s.world.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), [4, 2, 1].as_ptr(), 4, 9, 0, 0, s.at(), 0, null(), null_mut()) if "a slice pitch of two rows and a bit" => CL_INVALID_VALUE;
    call clEnqueueReadBufferRect(s.world.queue, s.world.buffer, 1, [1, 0, 0].as_ptr(), ZERO.as_ptr(), [SIZE, 1, 1].as_ptr(), 0, 0, 0, 0, s.at(), 0, null(), null_mut()) if "a byte too many" => CL_INVALID_VALUE;
    call clEnqueueReadBufferRect(s.world.queue, s.world.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), ONE.as_ptr(), 0, 0, 0, 0, null_mut(), 0, null(), null_mut()) if "nowhere to read to" => CL_INVALID_VALUE;
    call clEnqueueReadBufferRect(s.world.queue, s.world.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), ONE.as_ptr(), 0, 0, 0, 0, s.at(), 1, null(), null_mut()) if "no list of events" => CL_INVALID_EVENT_WAIT_LIST;
    call clEnqueueReadBufferRect(s.world.queue, s.world.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), ONE.as_ptr(), 0, 0, 0, 0, s.at(), 1, &s.failed, null_mut()) if "an event that has failed" => CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    call clEnqueueReadBufferRect(s.world.queue, s.private, 1, ZERO.as_ptr(), ZERO.as_ptr(), ONE.as_ptr(), 0, 0, 0, 0, s.at(), 0, null(), null_mut()) if "not for the host" => CL_INVALID_OPERATION;

    call clEnqueueWriteBufferRect(null_mut(), s.world.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), ONE.as_ptr(), 0, 0, 0, 0, s.at(), 0, null(), null_mut()) if "no queue" => CL_INVALID_COMMAND_QUEUE;
    call clEnqueueWriteBufferRect(s.world.queue, null_mut(), 1, ZERO.as_ptr(), ZERO.as_ptr(), ONE.as_ptr(), 0, 0, 0, 0, s.at(), 0, null(), null_mut()) if "no buffer" => CL_INVALID_MEM_OBJECT;
    call clEnqueueWriteBufferRect(s.world.queue, s.other.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), ONE.as_ptr(), 0, 0, 0, 0, s.at(), 0, null(), null_mut()) if "a buffer of another context" => CL_INVALID_CONTEXT;
    call clEnqueueWriteBufferRect(s.world.queue, s.world.buffer, 1, null(), ZERO.as_ptr(), ONE.as_ptr(), 0, 0, 0, 0, s.at(), 0, null(), null_mut()) if "no origin" => CL_INVALID_VALUE;
    call clEnqueueWriteBufferRect(s.world.queue, s.world.buffer, 1, ZERO.as_ptr(), null(), ONE.as_ptr(), 0, 0, 0, 0, s.at(), 0, null(), null_mut()) if "no origin on the host" => CL_INVALID_VALUE;
    call clEnqueueWriteBufferRect(s.world.queue, s.world.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), null(), 0, 0, 0, 0, s.at(), 0, null(), null_mut()) if "no region" => CL_INVALID_VALUE;
    call clEnqueueWriteBufferRect(s.world.queue, s.world.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), [0, 1, 1].as_ptr(), 0, 0, 0, 0, s.at(), 0, null(), null_mut()) if "an empty region" => CL_INVALID_VALUE;
    call clEnqueueWriteBufferRect(s.world.queue, s.world.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), [4, 1, 1].as_ptr(), 3, 0, 0, 0, s.at(), 0, null(), null_mut()) if "a row pitch below the region" => CL_INVALID_VALUE;
    call clEnqueueWriteBufferRect(s.world.queue, s.world.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), [4, 2, 1].as_ptr(), 0, 0, 4, 7, s.at(), 0, null(), null_mut()) if "a host's slice pitch below the region" => CL_INVALID_VALUE;
    call clEnqueueWriteBufferRect(s.world.queue, s.world.buffer, 1, [1, 0, 0].as_ptr(), ZERO.as_ptr(), [SIZE, 1, 1].as_ptr(), 0, 0, 0, 0, s.at(), 0, null(), null_mut()) if "a byte too many" => CL_INVALID_VALUE;
    call clEnqueueWriteBufferRect(s.world.queue, s.world.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), ONE.as_ptr(), 0, 0, 0, 0, null(), 0, null(), null_mut()) if "nothing to write" => CL_INVALID_VALUE;
    call clEnqueueWriteBufferRect(s.world.queue, s.world.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), ONE.as_ptr(), 0, 0, 0, 0, s.at(), 1, null(), null_mut()) if "no list of events" => CL_INVALID_EVENT_WAIT_LIST;
    call clEnqueueWriteBufferRect(s.world.queue, s.world.buffer, 1, ZERO.as_ptr(), ZERO.as_ptr(), ONE.as_ptr(), 0, 0, 0, 0, s.at(), 1, &s.failed, null_mut()) if "an event that has failed" => CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    call clEnqueueWriteBufferRect(s.world.queue, s.private, 1, ZERO.as_ptr(), ZERO.as_ptr(), ONE.as_ptr(), 0, 0, 0, 0, s.at(), 0, null(), null_mut()) if "not for the host" => CL_INVALID_OPERATION;

    call clEnqueueUnmapMemObject(null_mut(), s.world.buffer, s.at(), 0, null(), null_mut()) if "no queue" => CL_INVALID_COMMAND_QUEUE;
    call clEnqueueUnmapMemObject(s.world.queue, null_mut(), s.at(), 0, null(), null_mut()) if "no buffer" => CL_INVALID_MEM_OBJECT;
    call clEnqueueUnmapMemObject(s.world.queue, s.other.buffer, s.at(), 0, null(), null_mut()) if "a buffer of another context" => CL_INVALID_CONTEXT;
    call clEnqueueUnmapMemObject(s.world.queue, s.world.buffer, s.at(), 0, null(), null_mut()) if "an address that is not mapped" => CL_INVALID_VALUE;
    call clEnqueueUnmapMemObject(s.world.queue, s.world.buffer, s.at(), 1, null(), null_mut()) if "no list of events" => CL_INVALID_EVENT_WAIT_LIST;

    call clEnqueueMigrateMemObjects(null_mut(), 1, &s.world.buffer, 0, 0, null(), null_mut()) if "no queue" => CL_INVALID_COMMAND_QUEUE;
    call clEnqueueMigrateMemObjects(s.world.queue, 0, null(), 0, 0, null(), null_mut()) if "no objects" => CL_INVALID_VALUE;
    call clEnqueueMigrateMemObjects(s.world.queue, 1, null(), 0, 0, null(), null_mut()) if "no list of objects" => CL_INVALID_VALUE;
    call clEnqueueMigrateMemObjects(s.world.queue, 1, &s.world.buffer, 4, 0, null(), null_mut()) if "flags that there are not" => CL_INVALID_VALUE;
    call clEnqueueMigrateMemObjects(s.world.queue, 2, [s.world.buffer, null_mut()].as_ptr(), 0, 0, null(), null_mut()) if "an object that is none" => CL_INVALID_MEM_OBJECT;
    call clEnqueueMigrateMemObjects(s.world.queue, 1, &s.other.buffer, 0, 0, null(), null_mut()) if "an object of another context" => CL_INVALID_CONTEXT;
    call clEnqueueMigrateMemObjects(s.world.queue, 1, &s.world.buffer, 0, 1, null(), null_mut()) if "no list of events" => CL_INVALID_EVENT_WAIT_LIST;

    make clCreateSubBuffer(null_mut(), 0, REGION, s.region(0, 4)) if "no buffer" => CL_INVALID_MEM_OBJECT;
    make clCreateSubBuffer(s.part, 0, REGION, s.region(0, 4)) if "a part of a part" => CL_INVALID_MEM_OBJECT;
    make clCreateSubBuffer(s.world.buffer, 0, REGION + 1, s.region(0, 4)) if "a way that there is not" => CL_INVALID_VALUE;
    make clCreateSubBuffer(s.world.buffer, 0, REGION, null()) if "no region" => CL_INVALID_VALUE;
    make clCreateSubBuffer(s.world.buffer, 0, REGION, s.region(0, SIZE + 1)) if "a byte too many" => CL_INVALID_VALUE;
    make clCreateSubBuffer(s.world.buffer, 0, REGION, s.region(0, 0)) if "no bytes" => CL_INVALID_BUFFER_SIZE;
    make clCreateSubBuffer(s.world.buffer, 0, REGION, s.region(4, 4)) if "not aligned" => CL_MISALIGNED_SUB_BUFFER_OFFSET;
    make clCreateSubBuffer(s.constant, CL_MEM_READ_WRITE, REGION, s.region(0, 4)) if "more than the buffer's flags allow" => CL_INVALID_VALUE;
    make clCreateSubBuffer(s.constant, CL_MEM_WRITE_ONLY, REGION, s.region(0, 4)) if "the opposite of the buffer's flags" => CL_INVALID_VALUE;
    make clCreateSubBuffer(s.world.buffer, CL_MEM_COPY_HOST_PTR, REGION, s.region(0, 4)) if "host pointer flags" => CL_INVALID_VALUE;
};

const PROGRAMS: &[Row] = rows! { |s|
    make clCreateProgramWithSource(null_mut(), 1, [c"".as_ptr()].as_mut_ptr(), null()) if "no context" => CL_INVALID_CONTEXT;
    make clCreateProgramWithSource(s.world.context, 0, [c"".as_ptr()].as_mut_ptr(), null()) if "no strings" => CL_INVALID_VALUE;
    make clCreateProgramWithSource(s.world.context, 1, null_mut(), null()) if "no list of strings" => CL_INVALID_VALUE;
    make clCreateProgramWithSource(s.world.context, 2, [c"".as_ptr(), null()].as_mut_ptr(), null()) if "a string that is none" => CL_INVALID_VALUE;

    make clCreateProgramWithBinary(null_mut(), 1, &s.world.device, &4, [s.memory.as_ptr()].as_mut_ptr(), null_mut()) if "no context" => CL_INVALID_CONTEXT;
    make clCreateProgramWithBinary(s.world.context, 0, &s.world.device, &4, [s.memory.as_ptr()].as_mut_ptr(), null_mut()) if "no devices" => CL_INVALID_VALUE;
    make clCreateProgramWithBinary(s.world.context, 1, null(), &4, [s.memory.as_ptr()].as_mut_ptr(), null_mut()) if "no list of devices" => CL_INVALID_VALUE;
    make clCreateProgramWithBinary(s.world.context, 1, &null_mut(), &4, [s.memory.as_ptr()].as_mut_ptr(), null_mut()) if "a device that is none" => CL_INVALID_DEVICE;
    make clCreateProgramWithBinary(s.world.context, 1, &s.world.device, null(), [s.memory.as_ptr()].as_mut_ptr(), null_mut()) if "no lengths" => CL_INVALID_VALUE;
    make clCreateProgramWithBinary(s.world.context, 1, &s.world.device, &4, null_mut(), null_mut()) if "no binaries" => CL_INVALID_VALUE;
    make clCreateProgramWithBinary(s.world.context, 1, &s.world.device, &0, [s.memory.as_ptr()].as_mut_ptr(), null_mut()) if "an empty binary" => CL_INVALID_VALUE;
    make clCreateProgramWithBinary(s.world.context, 1, &s.world.device, &4, [null()].as_mut_ptr(), null_mut()) if "a binary that is none" => CL_INVALID_VALUE;
    make clCreateProgramWithBinary(s.world.context, 1, &s.world.device, &SIZE, [s.memory.as_ptr()].as_mut_ptr(), null_mut()) if "zeros" => CL_INVALID_BINARY;

    call clCompileProgram(null_mut(), 0, null(), null(), 0, null(), null_mut(), None, null_mut()) if "no program" => CL_INVALID_PROGRAM;
    call clCompileProgram(s.program, 0, &s.world.device, null(), 0, null(), null_mut(), None, null_mut()) if "no number of devices" => CL_INVALID_VALUE;
    call clCompileProgram(s.program, 1, null(), null(), 0, null(), null_mut(), None, null_mut()) if "no list of devices" => CL_INVALID_VALUE;
    call clCompileProgram(s.program, 1, &null_mut(), null(), 0, null(), null_mut(), None, null_mut()) if "a device that is none" => CL_INVALID_DEVICE;
    call clCompileProgram(s.program, 0, null(), null(), 1, &s.program, null_mut(), None, null_mut()) if "no names of headers" => CL_INVALID_VALUE;
    call clCompileProgram(s.program, 0, null(), null(), 0, null(), null_mut(), None, s.at()) if "user data for no callback" => CL_INVALID_VALUE;
    call clCompileProgram(s.program, 0, null(), null(), 1, &s.other.program, [c"h".as_ptr()].as_mut_ptr(), None, null_mut()) if "a header of another context" => CL_INVALID_CONTEXT;
    call clCompileProgram(s.world.program, 0, null(), null(), 0, null(), null_mut(), None, null_mut()) if "a program with kernels" => CL_INVALID_OPERATION;

    make clLinkProgram(null_mut(), 0, null(), null(), 1, &s.world.program, None, null_mut()) if "no context" => CL_INVALID_CONTEXT;
    make clLinkProgram(s.world.context, 0, &s.world.device, null(), 1, &s.world.program, None, null_mut()) if "no number of devices" => CL_INVALID_VALUE;
    make clLinkProgram(s.world.context, 1, null(), null(), 1, &s.world.program, None, null_mut()) if "no list of devices" => CL_INVALID_VALUE;
    make clLinkProgram(s.world.context, 0, null(), null(), 0, null(), None, null_mut()) if "no programs" => CL_INVALID_VALUE;
    make clLinkProgram(s.world.context, 0, null(), null(), 1, &null_mut(), None, null_mut()) if "a program that is none" => CL_INVALID_PROGRAM;
    make clLinkProgram(s.world.context, 0, null(), null(), 1, &s.other.program, None, null_mut()) if "a program of another context" => CL_INVALID_CONTEXT;
    make clLinkProgram(s.world.context, 0, null(), null(), 1, &s.program, None, null_mut()) if "a program that is not compiled" => CL_INVALID_OPERATION;
    make clLinkProgram(s.world.context, 0, null(), null(), 1, [s.world.program].as_ptr(), None, s.at()) if "user data for no callback" => CL_INVALID_VALUE;

    call clSetKernelArg(s.world.kernel, 0, 8, (&raw const s.other.buffer).cast()) if "a buffer of another context" => CL_INVALID_CONTEXT;
    call clEnqueueNDRangeKernel(s.world.queue, s.world.kernel, 1, null(), &1, &0, 0, null(), null_mut()) if "an empty work-group" => CL_INVALID_WORK_GROUP_SIZE;

    make clCreateKernel(null_mut(), c"add".as_ptr()) if "no program" => CL_INVALID_PROGRAM;
    make clCreateKernel(s.program, c"add".as_ptr()) if "a program that is not built" => CL_INVALID_PROGRAM_EXECUTABLE;
    make clCreateKernel(s.world.program, c"sub".as_ptr()) if "a name that there is not" => CL_INVALID_KERNEL_NAME;
    make clCreateKernel(s.world.program, null()) if "no name" => CL_INVALID_VALUE;

    call clEnqueueNDRangeKernel(null_mut(), s.world.kernel, 1, null(), &1, null(), 0, null(), null_mut()) if "no queue" => CL_INVALID_COMMAND_QUEUE;
    call clEnqueueNDRangeKernel(s.world.queue, null_mut(), 1, null(), &1, null(), 0, null(), null_mut()) if "no kernel" => CL_INVALID_KERNEL;
    call clEnqueueNDRangeKernel(s.world.queue, s.other.kernel, 1, null(), &1, null(), 0, null(), null_mut()) if "a kernel of another context" => CL_INVALID_CONTEXT;
    call clEnqueueNDRangeKernel(s.world.queue, s.bare, 1, null(), &1, null(), 0, null(), null_mut()) if "arguments that are not set" => CL_INVALID_KERNEL_ARGS;
    call clEnqueueNDRangeKernel(s.world.queue, s.world.kernel, 0, null(), &1, null(), 0, null(), null_mut()) if "no dimensions" => CL_INVALID_WORK_DIMENSION;
    call clEnqueueNDRangeKernel(s.world.queue, s.world.kernel, 4, null(), &1, null(), 0, null(), null_mut()) if "four dimensions" => CL_INVALID_WORK_DIMENSION;
    call clEnqueueNDRangeKernel(s.world.queue, s.world.kernel, 1, null(), &1, null(), 1, null(), null_mut()) if "no list of events" => CL_INVALID_EVENT_WAIT_LIST;
    call clEnqueueNDRangeKernel(s.world.queue, s.world.kernel, 1, null(), &1, null(), 1, &s.other.event, null_mut()) if "an event of another context" => CL_INVALID_CONTEXT;
};

const OTHERS: &[Row] = rows! { |s|
    make clCreateUserEvent(null_mut()) if "no context" => CL_INVALID_CONTEXT;

    call clEnqueueWaitForEvents(null_mut(), 1, &s.world.event) if "no queue" => CL_INVALID_COMMAND_QUEUE;
    call clEnqueueWaitForEvents(s.world.queue, 0, &s.world.event) if "no events" => CL_INVALID_VALUE;
    call clEnqueueWaitForEvents(s.world.queue, 1, null()) if "no list of events" => CL_INVALID_VALUE;
    call clEnqueueWaitForEvents(s.world.queue, 1, &null_mut()) if "an event that is none" => CL_INVALID_EVENT;
    call clEnqueueWaitForEvents(s.world.queue, 1, &s.other.event) if "an event of another context" => CL_INVALID_CONTEXT;
    call clEnqueueMarker(null_mut(), &mut null_mut()) if "no queue" => CL_INVALID_COMMAND_QUEUE;
    call clEnqueueMarker(s.world.queue, null_mut()) if "nowhere to return the event" => CL_INVALID_VALUE;
    call clEnqueueBarrier(null_mut()) if "no queue" => CL_INVALID_COMMAND_QUEUE;

    call clGetCommandQueueInfo(null_mut(), 0x1090, 8, s.at(), null_mut()) if "no queue" => CL_INVALID_COMMAND_QUEUE;
    call clGetCommandQueueInfo(s.world.queue, 0x1090, 7, s.at(), null_mut()) if "too little room" => CL_INVALID_VALUE;
    call clGetCommandQueueInfo(s.world.queue, 0x109F, 8, s.at(), null_mut()) if "a name that there is not" => CL_INVALID_VALUE;
    call clGetCommandQueueInfo(s.world.queue, 0x1094, 8, s.at(), null_mut()) if "the size of a queue on the host" => CL_INVALID_COMMAND_QUEUE;

    make clCreateFromGLBuffer(null_mut(), 1, 0) if "no context" => CL_INVALID_CONTEXT;
    make clCreateFromGLBuffer(s.world.context, 1, 0) if "no OpenGL" => CL_INVALID_OPERATION;
    make clCreateFromGLTexture(null_mut(), 1, 0xDE1, 0, 0) if "no context" => CL_INVALID_CONTEXT;
    make clCreateFromGLTexture(s.world.context, 1, 0xDE1, 0, 0) if "no OpenGL" => CL_INVALID_OPERATION;
    make clCreateFromGLTexture2D(null_mut(), 1, 0xDE1, 0, 0) if "no context" => CL_INVALID_CONTEXT;
    make clCreateFromGLTexture2D(s.world.context, 1, 0xDE1, 0, 0) if "no OpenGL" => CL_INVALID_OPERATION;
    make clCreateFromGLTexture3D(null_mut(), 1, 0x806F, 0, 0) if "no context" => CL_INVALID_CONTEXT;
    make clCreateFromGLTexture3D(s.world.context, 1, 0x806F, 0, 0) if "no OpenGL" => CL_INVALID_OPERATION;
    make clCreateFromGLRenderbuffer(null_mut(), 1, 0) if "no context" => CL_INVALID_CONTEXT;
    make clCreateFromGLRenderbuffer(s.world.context, 1, 0) if "no OpenGL" => CL_INVALID_OPERATION;
    make clCreateEventFromGLsyncKHR(null_mut(), null_mut()) if "no context" => CL_INVALID_CONTEXT;
    make clCreateEventFromGLsyncKHR(s.world.context, null_mut()) if "no OpenGL" => CL_INVALID_OPERATION;
    call clGetGLObjectInfo(null_mut(), null_mut(), null_mut()) if "no buffer" => CL_INVALID_MEM_OBJECT;
    call clGetGLObjectInfo(s.world.buffer, null_mut(), null_mut()) if "no object of OpenGL" => CL_INVALID_GL_OBJECT;
    call clGetGLTextureInfo(null_mut(), 0x2004, 0, null_mut(), null_mut()) if "no buffer" => CL_INVALID_MEM_OBJECT;
    call clGetGLTextureInfo(s.world.buffer, 0x2004, 0, null_mut(), null_mut()) if "no object of OpenGL" => CL_INVALID_GL_OBJECT;
    call clEnqueueAcquireGLObjects(null_mut(), 1, &s.world.buffer, 0, null(), null_mut()) if "no queue" => CL_INVALID_COMMAND_QUEUE;
    call clEnqueueAcquireGLObjects(s.world.queue, 1, &s.world.buffer, 0, null(), null_mut()) if "no OpenGL" => CL_INVALID_OPERATION;
    call clEnqueueReleaseGLObjects(null_mut(), 1, &s.world.buffer, 0, null(), null_mut()) if "no queue" => CL_INVALID_COMMAND_QUEUE;
    call clEnqueueReleaseGLObjects(s.world.queue, 1, &s.world.buffer, 0, null(), null_mut()) if "no OpenGL" => CL_INVALID_OPERATION;
    make clCreateFromEGLImageKHR(null_mut(), null_mut(), null_mut(), 1, null()) if "no context" => CL_INVALID_CONTEXT;
    make clCreateFromEGLImageKHR(s.world.context, null_mut(), null_mut(), 1, null()) if "no EGL" => CL_INVALID_OPERATION;
    make clCreateEventFromEGLSyncKHR(null_mut(), null_mut(), null_mut()) if "no context" => CL_INVALID_CONTEXT;
    make clCreateEventFromEGLSyncKHR(s.world.context, null_mut(), null_mut()) if "no EGL" => CL_INVALID_OPERATION;
    call clEnqueueAcquireEGLObjectsKHR(null_mut(), 1, &s.world.buffer, 0, null(), null_mut()) if "no queue" => CL_INVALID_COMMAND_QUEUE;
    call clEnqueueAcquireEGLObjectsKHR(s.world.queue, 1, &s.world.buffer, 0, null(), null_mut()) if "no EGL" => CL_INVALID_OPERATION;
    call clEnqueueReleaseEGLObjectsKHR(null_mut(), 1, &s.world.buffer, 0, null(), null_mut()) if "no queue" => CL_INVALID_COMMAND_QUEUE;
    call clEnqueueReleaseEGLObjectsKHR(s.world.queue, 1, &s.world.buffer, 0, null(), null_mut()) if "no EGL" => CL_INVALID_OPERATION;

    call clSetProgramReleaseCallback(null_mut(), None, null_mut()) if "no program" => CL_INVALID_PROGRAM;
    call clSetProgramReleaseCallback(s.world.program, None, null_mut()) if "no destructors on the device" => CL_INVALID_OPERATION;
    call clSetProgramSpecializationConstant(null_mut(), 0, 4, s.at()) if "no program" => CL_INVALID_PROGRAM;
    call clSetProgramSpecializationConstant(s.world.program, 0, 4, s.at()) if "a program of source" => CL_INVALID_PROGRAM;
    make clCreateProgramWithIL(null_mut(), s.at(), 4) if "no context" => CL_INVALID_CONTEXT;
    make clCreateProgramWithIL(s.world.context, null(), 20) if "no module" => CL_INVALID_VALUE;
    make clCreateProgramWithIL(s.world.context, s.at(), 0) if "an empty module" => CL_INVALID_VALUE;
    make clCreateProgramWithIL(s.world.context, s.at(), 4) if "bytes that are no module" => CL_INVALID_VALUE;
    make clCreateProgramWithBuiltInKernels(null_mut(), 1, &s.world.device, c"none".as_ptr()) if "no context" => CL_INVALID_CONTEXT;
    make clCreateProgramWithBuiltInKernels(s.world.context, 0, null(), c"none".as_ptr()) if "no devices" => CL_INVALID_VALUE;
    make clCreateProgramWithBuiltInKernels(s.world.context, 1, &null_mut(), c"none".as_ptr()) if "a device that is none" => CL_INVALID_DEVICE;
    make clCreateProgramWithBuiltInKernels(s.world.context, 1, &s.world.device, c"none".as_ptr()) if "a name that there is not" => CL_INVALID_VALUE;
    call clEnqueueNativeKernel(null_mut(), None, null_mut(), 0, 0, null(), null_mut(), 0, null(), null_mut()) if "no queue" => CL_INVALID_COMMAND_QUEUE;
    call clEnqueueNativeKernel(s.world.queue, None, null_mut(), 0, 0, null(), null_mut(), 0, null(), null_mut()) if "no native kernels" => CL_INVALID_OPERATION;
    call clSetDefaultDeviceCommandQueue(null_mut(), s.world.device, s.world.queue) if "no context" => CL_INVALID_CONTEXT;
    call clSetDefaultDeviceCommandQueue(s.world.context, s.world.device, s.world.queue) if "no queues on the device" => CL_INVALID_OPERATION;
    call clCreateSubDevices(null_mut(), [0x1086, 1, 0].as_ptr(), 0, null_mut(), null_mut()) if "no device" => CL_INVALID_DEVICE;
    call clCreateSubDevices(s.world.device, [0x1086, 1, 0].as_ptr(), 0, null_mut(), null_mut()) if "no parts" => CL_INVALID_VALUE;
    call clCreateSubDevicesEXT(null_mut(), [0x4050, 1, 0].as_ptr(), 0, null_mut(), null_mut()) if "no device" => CL_INVALID_DEVICE;
    call clCreateSubDevicesEXT(s.world.device, [0x4050, 1, 0].as_ptr(), 0, null_mut(), null_mut()) if "no parts" => CL_INVALID_VALUE;
};

impl Scene {
    fn new() -> Result<Self, String> {
        let (world, other) = (World::new()?, World::new()?);
        let (api, context, mut errors): (&Api, _, _) = (world.api, world.context, [0; 7]);
        let buffer = |flags: cl_mem_flags, error: &mut cl_int| {
            // SAFETY: no memory of the host.
            unsafe { (api.clCreateBuffer)(context, flags, SIZE, null_mut(), error) }
        };
        let constant = buffer(CL_MEM_READ_ONLY, &mut errors[0]);
        let private = buffer(CL_MEM_HOST_NO_ACCESS, &mut errors[1]);
        let region = cl_buffer_region { origin: 0, size: 64 };
        // SAFETY: one string; a region; handles of ours.
        let (program, bare, part, failed) = unsafe {
            let mut text = c"kernel void add() {}".as_ptr();
            let program = (api.clCreateProgramWithSource)(context, 1, &mut text, null(), &mut errors[2]);
            let bare = (api.clCreateKernel)(world.program, c"add".as_ptr(), &mut errors[3]);
            let part =
                (api.clCreateSubBuffer)(world.buffer, 0, REGION, (&raw const region).cast(), &mut errors[4]);
            let failed = (api.clCreateUserEvent)(context, &mut errors[5]);
            errors[6] = (api.clSetUserEventStatus)(failed, -1);
            (program, bare, part, failed)
        };
        errors.iter().try_for_each(|error| well(*error, "the scene"))?;
        Ok(Self { world, other, program, bare, constant, private, part, failed, region, memory: [0; SIZE] })
    }

    /// A region of a buffer, as `clCreateSubBuffer` takes it.
    fn region(&mut self, origin: usize, size: usize) -> *const c_void {
        self.region = cl_buffer_region { origin, size };
        (&raw const self.region).cast()
    }

    /// Memory of the host.
    fn at(&mut self) -> *mut c_void {
        self.memory.as_mut_ptr().cast()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let api = self.world.api;
        // SAFETY: handles of ours.
        unsafe {
            (api.clReleaseEvent)(self.failed);
            (api.clReleaseMemObject)(self.part);
            (api.clReleaseMemObject)(self.private);
            (api.clReleaseMemObject)(self.constant);
            (api.clReleaseKernel)(self.bare);
            (api.clReleaseProgram)(self.program);
        }
    }
}

/// Every row returns its code, and everything works afterwards.
pub fn all() -> Outcome {
    let mut scene = Scene::new()?;
    let mut wrong = Vec::new();
    for (function, what, expected, call) in [BUFFERS, PROGRAMS, OTHERS].into_iter().flatten() {
        match call(&mut scene) {
            found if found == *expected => {}
            MADE => wrong.push(format!("{function}, {what}: something was made, expected {expected}")),
            found => wrong.push(format!("{function}, {what}: {found}, expected {expected}")),
        }
    }
    if wrong.is_empty() { scene.world.works() } else { Err(wrong.join("\n")) }
}

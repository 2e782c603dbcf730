//! The program that runs with a broken installation: one kernel, with the error codes as they come.

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};

use gencl_utest::Outcome;
use gencl_utest::raw::api;
use opencl_sys::{
    CL_DEVICE_TYPE_ALL, CL_MEM_COPY_HOST_PTR, CL_PROGRAM_BUILD_LOG, CL_SUCCESS, cl_device_id, cl_int, cl_mem,
    cl_program,
};

use super::Row;

/// What it builds, when a row has nothing else.
const GOOD: &str = "kernel void k(global int *p) { p[get_global_id(0)] += 1; }";

/// Its last line when all went well.
pub const WORKED: &str = "it has worked";

/// Its last line after an error.
pub fn ending(function: &str, code: cl_int) -> String {
    format!("{function} returned {code}.")
}

/// Prints how far it gets.
pub fn run(row: &Row) -> Outcome {
    println!(
        "{}",
        compute(row)?.map_or_else(|| WORKED.to_owned(), |(function, code)| ending(function, code))
    );
    Ok(())
}

type Error = Option<(&'static str, cl_int)>;

/// Builds and launches the kernel. Returns the first error.
fn compute(row: &Row) -> Result<Error, String> {
    let api = api()?;
    let mut code = CL_SUCCESS;
    let (mut platform, mut device) = (null_mut(), null_mut());
    // SAFETY: pointers to variables and arrays with the sizes that are passed, and handles that were returned without an error.
    unsafe {
        code = code.min((api.clGetPlatformIDs)(1, &raw mut platform, null_mut()));
        if code != CL_SUCCESS {
            return Ok(Some(("clGetPlatformIDs", code)));
        }
        code = (api.clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 1, &raw mut device, null_mut());
        if code != CL_SUCCESS {
            return Ok(Some(("clGetDeviceIDs", code)));
        }
        let context = (api.clCreateContext)(null(), 1, &raw const device, None, null_mut(), &raw mut code);
        if code != CL_SUCCESS {
            return Ok(Some(("clCreateContext", code)));
        }
        let queue = (api.clCreateCommandQueueWithProperties)(context, device, null(), &raw mut code);
        if code != CL_SUCCESS {
            return Ok(Some(("clCreateCommandQueueWithProperties", code)));
        }
        let source = if row.source.is_empty() { GOOD } else { row.source };
        let text = CString::new(source).map_err(|error| error.to_string())?;
        let options = CString::new(row.options).map_err(|error| error.to_string())?;
        let mut line = text.as_ptr();
        let program = (api.clCreateProgramWithSource)(context, 1, &raw mut line, null(), &raw mut code);
        code = (api.clBuildProgram)(program, 1, &raw const device, options.as_ptr(), None, null_mut());
        println!("{}", log(program, device)?);
        if code != CL_SUCCESS {
            return Ok(Some(("clBuildProgram", code)));
        }
        let kernel = (api.clCreateKernel)(program, c"k".as_ptr(), &raw mut code);
        if code != CL_SUCCESS {
            return Ok(Some(("clCreateKernel", code)));
        }
        let mut values = [0i32; 64];
        let size = size_of_val(&values);
        let memory: *mut c_void = values.as_mut_ptr().cast();
        let buffer: cl_mem = (api.clCreateBuffer)(context, CL_MEM_COPY_HOST_PTR, size, memory, &raw mut code);
        (api.clSetKernelArg)(kernel, 0, size_of::<cl_mem>(), (&raw const buffer).cast());
        let items = 64usize;
        let (none, global) = (null(), &raw const items);
        code = (api.clEnqueueNDRangeKernel)(queue, kernel, 1, none, global, none, 0, null(), null_mut());
        if code != CL_SUCCESS {
            return Ok(Some(("clEnqueueNDRangeKernel", code)));
        }
        code = (api.clFinish)(queue);
    }
    Ok((code != CL_SUCCESS).then_some(("clFinish", code)))
}

fn log(program: cl_program, device: cl_device_id) -> Result<String, String> {
    let mut text = vec![0u8; 1 << 16];
    let (room, bytes) = (text.len(), text.as_mut_ptr().cast());
    // SAFETY: a program, a device of it, and an array with the size that is passed.
    unsafe { (api()?.clGetProgramBuildInfo)(program, device, CL_PROGRAM_BUILD_LOG, room, bytes, null_mut()) };
    text.truncate(text.iter().position(|&byte| byte == 0).unwrap_or(0));
    Ok(String::from_utf8_lossy(&text).into_owned())
}

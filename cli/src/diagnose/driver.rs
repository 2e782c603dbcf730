//! The driver's library: its report on itself, and a small kernel on each of its devices.

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::ptr::{null, null_mut};
use std::time::Instant;

use dlopen2::Error;
use dlopen2::raw::Library;
use gencl_program::diagnosis::{Diagnosis, PLATFORM_QUERY};
use opencl_sys::cl_icd::cl_icd_dispatch;
use opencl_sys::{
    CL_DEVICE_NAME, CL_DEVICE_TYPE_ALL, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE, CL_PLATFORM_NAME,
    CL_PLATFORM_NOT_FOUND_KHR, CL_PROGRAM_BUILD_LOG, CL_SUCCESS, CL_TRUE, cl_context, cl_device_id, cl_int,
    cl_mem, cl_platform_id, cl_program, cl_uint,
};
use serde::{Deserialize, Serialize};

/// The name of the library.
pub(crate) const LIBRARY: &str = "libgencl.so";

/// A kernel that needs the compiler, memory and the index space.
const SOURCE: &CStr =
    c"kernel void square(global uint *p) { size_t i = get_global_id(0); p[i] = p[i] * p[i] + 1; }";

/// The kernel's name.
const KERNEL: &CStr = c"square";

/// Work-items.
const ITEMS: usize = 1024;

/// The run of the small kernel on a device.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KernelRun {
    /// `CL_DEVICE_NAME`
    pub device: String,
    /// Time from the program's source to its result, in milliseconds.
    pub milliseconds: f64,
    /// What went wrong.
    pub problem: Option<String>,
}

type GetAddress = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type GetPlatforms = unsafe extern "C" fn(cl_uint, *mut cl_platform_id, *mut cl_uint) -> cl_int;

/// A loaded library and its platform.
pub(crate) struct Driver {
    /// Never unloaded.
    _library: Library,
    platform: cl_platform_id,
}

/// Calls a function of the dispatch table of an object.
macro_rules! call {
    ($handle:expr, $function:ident($($argument:expr),*)) => {
        match table($handle.cast()).$function {
            // SAFETY: OpenCL's function of this name, with a handle that is alive, and pointers to variables and arrays of this
            // process with the sizes that are passed.
            Some(function) => unsafe { function($($argument),*) },
            None => panic!("the driver has no {}", stringify!($function)),
        }
    };
}

impl Driver {
    /// Loads a library as the ICD loader does.
    ///
    /// # Errors
    /// It cannot be loaded, or has no platform: a text for users.
    pub(crate) fn load(path: &Path) -> Result<Self, String> {
        let library = open(path)?;
        let platform = platforms(&library)?.first().copied().ok_or("the library has no platform")?;
        Ok(Self { _library: library, platform })
    }

    /// The driver's report on itself.
    pub(crate) fn diagnosis(&self) -> Result<Diagnosis, String> {
        let text = self
            .platform_info(PLATFORM_QUERY)
            .ok_or("it is not gencl, or another version: it has no diagnosis")?;
        serde_json::from_str(&text)
            .map_err(|error| format!("its diagnosis cannot be read ({error}): it is of another version"))
    }

    fn platform_info(&self, query: u32) -> Option<String> {
        let mut size = 0;
        if call!(self.platform, clGetPlatformInfo(self.platform, query, 0, null_mut(), &raw mut size))
            != CL_SUCCESS
        {
            return None;
        }
        // The second query may be a little longer, as it measures again.
        let mut text = vec![0u8; size + 4096];
        let (room, bytes) = (text.len(), text.as_mut_ptr().cast());
        if call!(self.platform, clGetPlatformInfo(self.platform, query, room, bytes, null_mut()))
            != CL_SUCCESS
        {
            return None;
        }
        until_zero(text)
    }

    /// Builds and runs the small kernel on each device.
    pub(crate) fn run_kernels(&self) -> Vec<KernelRun> {
        let mut count: cl_uint = 0;
        let platform = self.platform;
        if call!(platform, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, null_mut(), &raw mut count))
            != CL_SUCCESS
        {
            return Vec::new();
        }
        let mut devices: Vec<cl_device_id> = vec![null_mut(); count as usize];
        call!(
            platform,
            clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.as_mut_ptr(), null_mut())
        );
        devices.into_iter().map(run_kernel).collect()
    }
}

/// The dispatch table of an object.
fn table(handle: *mut c_void) -> &'static cl_icd_dispatch {
    // SAFETY: all objects of a driver with `cl_khr_icd` begin with a pointer to its table, which is a constant of the library,
    // and no handle here is null.
    unsafe { &**handle.cast::<*const cl_icd_dispatch>() }
}

/// Loads a library.
pub(super) fn open(path: &Path) -> Result<Library, String> {
    Library::open(path).map_err(|error| match error {
        Error::OpeningLibraryError(reason) => format!("it cannot be loaded: {reason}"),
        other => format!("it cannot be loaded: {other}"),
    })
}

/// The platforms of the ICD loader.
pub(super) fn platforms_of_loader(library: &Library) -> Result<Vec<cl_platform_id>, String> {
    // SAFETY: OpenCL's function of this name has this type.
    let function: GetPlatforms = unsafe { library.symbol("clGetPlatformIDs") }
        .map_err(|_| "it is no ICD loader: it has no clGetPlatformIDs".to_owned())?;
    list(function)
}

/// The platforms of a library, as the ICD loader finds them.
pub(super) fn platforms(library: &Library) -> Result<Vec<cl_platform_id>, String> {
    // SAFETY: OpenCL's function of this name has this type.
    let address: GetAddress = unsafe { library.symbol("clGetExtensionFunctionAddress") }
        .map_err(|_| "it is no OpenCL driver: it has no clGetExtensionFunctionAddress".to_owned())?;
    // SAFETY: a string that ends with a zero.
    let function = unsafe { address(c"clIcdGetPlatformIDsKHR".as_ptr()) };
    if function.is_null() {
        return Err("it is no driver for the ICD loader: it has no clIcdGetPlatformIDsKHR".to_owned());
    }
    // SAFETY: the extension's function of this name has this type.
    list(unsafe { std::mem::transmute::<*mut c_void, GetPlatforms>(function) })
}

/// The platforms that a function returns.
fn list(function: GetPlatforms) -> Result<Vec<cl_platform_id>, String> {
    let mut count: cl_uint = 0;
    // SAFETY: a variable for the number.
    let code = unsafe { function(0, null_mut(), &raw mut count) };
    // What loaders return when no driver has one.
    if code == CL_PLATFORM_NOT_FOUND_KHR {
        return Ok(Vec::new());
    }
    if code != CL_SUCCESS {
        return Err(format!("it has no platform (error {code})"));
    }
    let mut platforms = vec![null_mut(); count as usize];
    // SAFETY: an array with the size that is passed.
    let code = unsafe { function(count, platforms.as_mut_ptr(), null_mut()) };
    if code == CL_SUCCESS { Ok(platforms) } else { Err(format!("it has no platform (error {code})")) }
}

/// The name of a platform of any driver.
pub(super) fn platform_name(platform: cl_platform_id) -> String {
    let mut text = vec![0u8; 1024];
    let (room, bytes) = (text.len(), text.as_mut_ptr().cast());
    if let Some(function) = table(platform.cast()).clGetPlatformInfo {
        // SAFETY: a platform that is alive, and an array with the size that is passed.
        unsafe { function(platform, CL_PLATFORM_NAME, room, bytes, null_mut()) };
    }
    until_zero(text).unwrap_or_default()
}

fn until_zero(mut text: Vec<u8>) -> Option<String> {
    text.truncate(text.iter().position(|&byte| byte == 0)?);
    String::from_utf8(text).ok()
}

fn run_kernel(device: cl_device_id) -> KernelRun {
    let mut name = vec![0u8; 1024];
    let (room, bytes) = (name.len(), name.as_mut_ptr().cast());
    call!(device, clGetDeviceInfo(device, CL_DEVICE_NAME, room, bytes, null_mut()));
    let begin = Instant::now();
    let problem = compute(device).err();
    let milliseconds = begin.elapsed().as_secs_f64() * 1e3;
    KernelRun { device: until_zero(name).unwrap_or_default(), milliseconds, problem }
}

/// An error code with the name of the function that returned it.
fn check(function: &str, code: cl_int) -> Result<(), String> {
    if code == CL_SUCCESS { Ok(()) } else { Err(format!("{function} returned error {code}")) }
}

/// Computes squares. The process ends soon, so objects are not released.
fn compute(device: cl_device_id) -> Result<(), String> {
    let mut code: cl_int = 0;
    let context: cl_context =
        call!(device, clCreateContext(null(), 1, &raw const device, None, null_mut(), &raw mut code));
    check("clCreateContext", code)?;
    let queue = call!(context, clCreateCommandQueueWithProperties(context, device, null(), &raw mut code));
    check("clCreateCommandQueueWithProperties", code)?;
    let mut source = SOURCE.as_ptr();
    let program =
        call!(context, clCreateProgramWithSource(context, 1, &raw mut source, null(), &raw mut code));
    check("clCreateProgramWithSource", code)?;
    let built = call!(program, clBuildProgram(program, 1, &raw const device, null(), None, null_mut()));
    if built != CL_SUCCESS {
        return Err(format!("it does not build (error {built}): {}", build_log(program, device)));
    }
    let kernel = call!(program, clCreateKernel(program, KERNEL.as_ptr(), &raw mut code));
    check("clCreateKernel", code)?;
    let mut values: Vec<u32> = (0..ITEMS as u32).collect();
    let (flags, size) = (CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size_of_val(&values[..]));
    let buffer: cl_mem =
        call!(context, clCreateBuffer(context, flags, size, values.as_mut_ptr().cast(), &raw mut code));
    check("clCreateBuffer", code)?;
    let argument = (&raw const buffer).cast();
    check("clSetKernelArg", call!(kernel, clSetKernelArg(kernel, 0, size_of::<cl_mem>(), argument)))?;
    let items = ITEMS;
    let (none, global) = (null(), &raw const items);
    let launched =
        call!(queue, clEnqueueNDRangeKernel(queue, kernel, 1, none, global, none, 0, null(), null_mut()));
    check("clEnqueueNDRangeKernel", launched)?;
    let result = values.as_mut_ptr().cast();
    let read =
        call!(queue, clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, size, result, 0, null(), null_mut()));
    check("clEnqueueReadBuffer", read)?;
    let wrong =
        (0..).zip(&values).filter(|&(index, &value): &(u32, &u32)| value != index * index + 1).count();
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} of {ITEMS} results are wrong")) }
}

fn build_log(program: cl_program, device: cl_device_id) -> String {
    let mut log = vec![0u8; 1 << 16];
    let (room, bytes) = (log.len(), log.as_mut_ptr().cast());
    call!(program, clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, room, bytes, null_mut()));
    until_zero(log).unwrap_or_default().trim().to_owned()
}

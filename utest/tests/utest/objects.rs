//! Life and creation of objects: callbacks at their end, properties, parts of devices.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Mutex;

use gencl_utest::raw::api;
use gencl_utest::{Case, Gpu, Need, Outcome};
use opencl_sys::{
    CL_INVALID_CONTEXT, CL_INVALID_DEVICE, CL_INVALID_MEM_OBJECT, CL_INVALID_OPERATION, CL_INVALID_PROGRAM,
    CL_INVALID_VALUE, CL_MEM_READ_WRITE, CL_SUCCESS, cl_context, cl_int, cl_mem, cl_program,
};

use crate::information::{answer, ask, expect, number};

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("object_context_destructors", context_destructors),
        Case::new("object_memory_destructors", memory_destructors),
        Case::new("object_program_release_callback", program_release_callback),
        Case::new("object_queue_hints", queue_hints)
            .needing(Need::Extension("cl_khr_priority_hints"))
            .needing(Need::Extension("cl_khr_throttle_hints")),
        Case::of_gencl("others can be partitioned", "object_sub_devices", sub_devices),
        Case::of_gencl("others make none of them", "object_device_uuid", device_uuid),
    ]
}

/// What callbacks were called with, in their order. The user data are the address of such a list and a number
/// behind it.
struct Called {
    list: Mutex<Vec<(usize, u32)>>,
}

/// One callback's user data.
struct Note<'a> {
    called: &'a Called,
    number: u32,
}

extern "C" fn note(object: *mut c_void, data: *mut c_void) {
    // SAFETY: tests give a `Note` that outlives the object.
    let note = unsafe { &*data.cast::<Note>() };
    if let Ok(mut list) = note.called.list.lock() {
        list.push((object as usize, note.number));
    }
}

impl Called {
    fn new() -> Self {
        Self { list: Mutex::default() }
    }

    fn note(&self, number: u32) -> Note<'_> {
        Note { called: self, number }
    }

    /// Complains unless the callbacks so far were these, about `object`.
    fn expect(&self, object: *mut c_void, numbers: &[u32]) -> Outcome {
        let list = self.list.lock().map_err(|error| error.to_string())?;
        let expected: Vec<_> = numbers.iter().map(|number| (object as usize, *number)).collect();
        if *list == expected { Ok(()) } else { Err(format!("callbacks {list:x?}, expected {expected:x?}")) }
    }
}

fn data(note: &Note) -> *mut c_void {
    std::ptr::from_ref(note).cast_mut().cast()
}

fn new_context() -> Result<cl_context, String> {
    let (api, device) = (api()?, Gpu::get()?.device.id());
    let mut code = 0;
    // SAFETY: one device, no callback.
    let context = unsafe { (api.clCreateContext)(null(), 1, &device, None, null_mut(), &mut code) };
    expect(code, CL_SUCCESS, "clCreateContext")?;
    Ok(context)
}

/// Called when the context is destroyed, not when it is released; the last one registered first.
fn context_destructors() -> Outcome {
    let api = api()?;
    let called = Called::new();
    let notes = [called.note(1), called.note(2)];
    let context = new_context()?;
    // SAFETY: handles of live or released objects of this test; the notes outlive them.
    unsafe {
        for one in &notes {
            expect((api.clSetContextDestructorCallback)(context, Some(note), data(one)), CL_SUCCESS, "set")?;
        }
        let missing = (api.clSetContextDestructorCallback)(context, None, null_mut());
        expect(missing, CL_INVALID_VALUE, "no callback")?;
        let nothing = (api.clSetContextDestructorCallback)(null_mut(), Some(note), data(&notes[0]));
        expect(nothing, CL_INVALID_CONTEXT, "no context")?;
        let mut code = 0;
        let buffer = (api.clCreateBuffer)(context, CL_MEM_READ_WRITE, 64, null_mut(), &mut code);
        expect(code, CL_SUCCESS, "clCreateBuffer")?;
        // The buffer needs the context.
        expect((api.clReleaseContext)(context), CL_SUCCESS, "clReleaseContext")?;
        called.expect(context, &[])?;
        expect((api.clReleaseMemObject)(buffer), CL_SUCCESS, "clReleaseMemObject")?;
    }
    called.expect(context, &[2, 1])
}

/// Called before the memory is freed, the last one registered first.
fn memory_destructors() -> Outcome {
    let api = api()?;
    let called = Called::new();
    let notes = [called.note(1), called.note(2), called.note(3)];
    let context = Gpu::get()?.context.get();
    // SAFETY: handles of live or released objects of this test; the notes outlive them.
    unsafe {
        let mut code = 0;
        let buffer: cl_mem = (api.clCreateBuffer)(context, CL_MEM_READ_WRITE, 64, null_mut(), &mut code);
        expect(code, CL_SUCCESS, "clCreateBuffer")?;
        for one in &notes {
            expect((api.clSetMemObjectDestructorCallback)(buffer, Some(note), data(one)), CL_SUCCESS, "set")?;
        }
        let missing = (api.clSetMemObjectDestructorCallback)(buffer, None, null_mut());
        expect(missing, CL_INVALID_VALUE, "no callback")?;
        let nothing = (api.clSetMemObjectDestructorCallback)(null_mut(), Some(note), data(&notes[0]));
        expect(nothing, CL_INVALID_MEM_OBJECT, "no buffer")?;
        called.expect(buffer, &[])?;
        expect((api.clReleaseMemObject)(buffer), CL_SUCCESS, "clReleaseMemObject")?;
        called.expect(buffer, &[3, 2, 1])
    }
}

/// Destructors of global variables are not supported, so their callbacks are rejected.
fn program_release_callback() -> Outcome {
    let (api, gpu) = (api()?, Gpu::get()?);
    let program = opencl3::program::Program::create_from_source(&gpu.context, "kernel void k() { }");
    let program = program.map_err(|error| error.to_string())?;
    let called = Called::new();
    let one = called.note(1);
    let set = |program: cl_program| -> cl_int {
        // SAFETY: a live program or null; the note outlives it.
        unsafe { (api.clSetProgramReleaseCallback)(program, Some(note), data(&one)) }
    };
    expect(set(null_mut()), CL_INVALID_PROGRAM, "no program")?;
    match set(program.get()) {
        CL_INVALID_OPERATION => {}
        // A driver may have them; the callback comes when the program goes.
        CL_SUCCESS => drop(program),
        code => return Err(format!("clSetProgramReleaseCallback: {code}")),
    }
    Ok(())
}

/// Hints are accepted, and come back as they were given.
fn queue_hints() -> Outcome {
    use opencl_sys::{
        CL_QUEUE_PRIORITY_KHR, CL_QUEUE_PRIORITY_LOW_KHR, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_PROPERTIES,
        CL_QUEUE_PROPERTIES_ARRAY, CL_QUEUE_THROTTLE_HIGH_KHR, CL_QUEUE_THROTTLE_KHR,
    };
    let (api, gpu) = (api()?, Gpu::get()?);
    let (context, device) = (gpu.context.get(), gpu.device.id());
    let create = |properties: &[u64]| {
        let mut code = 0;
        // SAFETY: the list ends with zero.
        let queue = unsafe {
            (api.clCreateCommandQueueWithProperties)(context, device, properties.as_ptr().cast(), &mut code)
        };
        (queue, code)
    };
    let list = [
        CL_QUEUE_PRIORITY_KHR,
        CL_QUEUE_PRIORITY_LOW_KHR.into(),
        CL_QUEUE_PROPERTIES.into(),
        CL_QUEUE_PROFILING_ENABLE,
        CL_QUEUE_THROTTLE_KHR,
        CL_QUEUE_THROTTLE_HIGH_KHR.into(),
        0,
    ];
    let (queue, code) = create(&list);
    expect(code, CL_SUCCESS, "a queue with hints")?;
    let ask = ask!(clGetCommandQueueInfo, queue);
    let bytes = answer(&ask, CL_QUEUE_PROPERTIES_ARRAY)?;
    let flags = number(&ask, CL_QUEUE_PROPERTIES)?;
    // SAFETY: the queue is alive.
    expect(unsafe { (api.clReleaseCommandQueue)(queue) }, CL_SUCCESS, "clReleaseCommandQueue")?;
    if bytes != list.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<_>>() {
        return Err(format!("the properties have become {bytes:?}"));
    }
    if flags != CL_QUEUE_PROFILING_ENABLE {
        return Err(format!("CL_QUEUE_PROPERTIES: {flags:#x}"));
    }
    // Intel's driver takes any number for a hint.
    if gpu.foreign_platform().is_none() {
        for name in [CL_QUEUE_PRIORITY_KHR, CL_QUEUE_THROTTLE_KHR] {
            expect(create(&[name, 77, 0]).1, CL_INVALID_VALUE, "a hint that there is not")?;
        }
    }
    Ok(())
}

fn sub_devices() -> Outcome {
    use opencl_sys::{
        CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, CL_DEVICE_PARTITION_BY_COUNTS, CL_DEVICE_PARTITION_EQUALLY,
    };
    let (api, device) = (api()?, Gpu::get()?.device.id());
    let lists: [&[isize]; 4] = [
        &[CL_DEVICE_PARTITION_EQUALLY, 4, 0],
        &[CL_DEVICE_PARTITION_BY_COUNTS, 4, 4, 0, 0],
        &[CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, 1, 0],
        &[0],
    ];
    let mut count = 77;
    for list in lists {
        // SAFETY: the lists end with zero.
        let code = unsafe { (api.clCreateSubDevices)(device, list.as_ptr(), 0, null_mut(), &mut count) };
        expect(code, CL_INVALID_VALUE, "a partition that the device does not support")?;
    }
    // SAFETY: null is the driver's to refuse.
    let code = unsafe { (api.clCreateSubDevices)(null_mut(), lists[0].as_ptr(), 0, null_mut(), &mut count) };
    expect(code, CL_INVALID_DEVICE, "no device")?;
    // SAFETY: the device is alive, and null is the driver's to refuse.
    let code = unsafe { (api.clCreateSubDevices)(device, null(), 0, null_mut(), &mut count) };
    expect(code, CL_INVALID_VALUE, "no properties")?;
    if count == 77 { Ok(()) } else { Err(format!("{count} parts")) }
}

/// The device's id names its place on the bus, if it has one.
fn device_uuid() -> Outcome {
    let device = Gpu::get()?.device.id();
    let ask = ask!(clGetDeviceInfo, device);
    let uuid = answer(&ask, opencl_sys::CL_DEVICE_UUID)?;
    let vendor = number(&ask, opencl_sys::CL_DEVICE_VENDOR_ID)? as u16;
    if uuid[..2] != vendor.to_le_bytes() {
        return Err(format!("{uuid:x?} does not begin with the vendor {vendor:#x}"));
    }
    let Ok(address) = answer(&ask, opencl_sys::CL_DEVICE_PCI_BUS_INFO_KHR) else {
        return if &uuid[11..15] == b"none" { Ok(()) } else { Err(format!("{uuid:x?} of no bus")) };
    };
    // Domain, bus, device and function have 32 bits there, and 16, 8, 8 and 8 here.
    let expected = [address[0], address[1], address[4], address[8], address[12]];
    if uuid[6..11] == expected { Ok(()) } else { Err(format!("{uuid:x?} of the device at {expected:x?}")) }
}

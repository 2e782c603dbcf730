//! Command-buffers and shared virtual memory.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use gencl_utest::raw::unified;
use gencl_utest::{Gpu, Outcome};
use opencl_sys::{
    CL_COMMAND_BUFFER_MUTABLE_KHR, CL_INVALID_ARG_VALUE, CL_INVALID_VALUE, CL_KERNEL_EXEC_INFO_SVM_PTRS,
    CL_MEM_COPY_OVERLAP, CL_MEM_READ_WRITE, cl_mutable_dispatch_arg_khr, cl_mutable_dispatch_config_khr,
    cl_mutable_dispatch_exec_info_khr,
};

use super::list::{List, no_change, program, queue_with, set, well};
use crate::information::expect;
use crate::memory::same;

/// Numbers in shared virtual memory, mapped for the host all the time that no command uses them.
struct Numbers {
    pointer: *mut i32,
    len: usize,
}

impl Numbers {
    fn new(numbers: &[i32]) -> Result<Self, String> {
        let (gpu, api) = (Gpu::get()?, gencl_utest::raw::api()?);
        let len = numbers.len();
        // SAFETY: the context is alive.
        let pointer = unsafe { (api.clSVMAlloc)(gpu.context.get(), CL_MEM_READ_WRITE, len * 4, 0) };
        if pointer.is_null() {
            return Err("clSVMAlloc".into());
        }
        let own = Self { pointer: pointer.cast(), len };
        own.with(|mapped| mapped.copy_from_slice(numbers))?;
        Ok(own)
    }

    /// Maps them for the host meanwhile.
    fn with<T>(&self, work: impl FnOnce(&mut [i32]) -> T) -> Result<T, String> {
        let (api, queue) = (gencl_utest::raw::api()?, queue_with(0)?);
        let (map, pointer) = (api.clEnqueueSVMMap, self.pointer.cast());
        // SAFETY: an allocation of this size, mapped for reading and writing until it is unmapped.
        let (result, code) = unsafe {
            well(map(queue.get(), 1, 3, pointer, self.len * 4, 0, null(), null_mut()), "clEnqueueSVMMap")?;
            let result = work(std::slice::from_raw_parts_mut(self.pointer, self.len));
            (result, (api.clEnqueueSVMUnmap)(queue.get(), pointer, 0, null(), null_mut()))
        };
        well(code, "clEnqueueSVMUnmap")?;
        queue.finish().map_err(|error| error.to_string())?;
        Ok(result)
    }

    fn are(&self, expected: &[i32]) -> Outcome {
        same(&self.with(|mapped| mapped.to_vec())?, expected)
    }
}

impl Drop for Numbers {
    fn drop(&mut self) {
        if let (Ok(gpu), Ok(api)) = (Gpu::get(), gencl_utest::raw::api()) {
            // SAFETY: the test's own, and commands that use it have ended.
            unsafe { (api.clSVMFree)(gpu.context.get(), self.pointer.cast()) };
        }
    }
}

fn copy(list: &List, to: *mut i32, from: *const i32, size: usize) -> i32 {
    let call = list.functions.clCommandSVMMemcpyKHR;
    let (own, to, from) = (list.handle, to.cast::<c_void>(), from.cast::<c_void>());
    // SAFETY: what the pointers are to is there when it is enqueued.
    unsafe { call(own, null_mut(), null(), to, from, size, 0, null(), null_mut(), null_mut()) }
}

fn fill(list: &List, to: *mut i32, value: i32, pattern_size: usize, size: usize) -> i32 {
    let call = list.functions.clCommandSVMMemFillKHR;
    let (own, to, pattern) = (list.handle, to.cast::<c_void>(), (&raw const value).cast());
    // SAFETY: as of `copy`.
    unsafe {
        call(own, null_mut(), null(), to, pattern, pattern_size, size, 0, null(), null_mut(), null_mut())
    }
}

/// Copies and fills.
pub fn commands() -> Outcome {
    let queue = queue_with(0)?;
    let (a, b) = (Numbers::new(&[1, 2, 3, 4, 5, 6, 7, 8])?, Numbers::new(&[0; 8])?);
    let list = List::new(&queue, 0)?;
    well(fill(&list, b.pointer, -3, 4, 32), "clCommandSVMMemFillKHR")?;
    // SAFETY: inside of the allocations.
    let (to, from) = unsafe { (b.pointer.add(1), a.pointer.add(2)) };
    well(copy(&list, to, from, 16), "clCommandSVMMemcpyKHR")?;
    expect(copy(&list, a.pointer, from, 16), CL_MEM_COPY_OVERLAP, "overlapping ranges")?;
    expect(copy(&list, null_mut(), from, 16), CL_INVALID_VALUE, "nowhere to copy to")?;
    expect(fill(&list, null_mut(), 0, 4, 16), CL_INVALID_VALUE, "nothing to fill")?;
    expect(fill(&list, b.pointer, 0, 3, 12), CL_INVALID_VALUE, "a pattern of three bytes")?;
    list.finalize()?;
    for _ in 0..2 {
        list.run()?;
        b.are(&[-3, 3, 4, 5, 6, -3, -3, -3])?;
    }
    Ok(())
}

/// Arguments that are pointers, also changed ones, and execution information.
pub fn pointers() -> Outcome {
    let (queue, program) = (queue_with(0)?, program()?);
    let (a, b) = (Numbers::new(&[0; 8])?, Numbers::new(&[0; 8])?);
    let (add, api) = (program.kernel("add")?, gencl_utest::raw::api()?);
    // SAFETY: an allocation of eight numbers.
    well(unsafe { (api.clSetKernelArgSVMPointer)(add.get(), 0, a.pointer.cast()) }, "the pointer")?;
    set(&add, 1, &2i32)?;
    let list = List::new(&queue, CL_COMMAND_BUFFER_MUTABLE_KHR)?;
    let (_, command) = list.launch_as(add.get(), &[], [0, 8, 0], &[])?;
    list.finalize()?;
    list.run()?;
    a.are(&[2; 8])?;
    let argument = |pointer| cl_mutable_dispatch_arg_khr { arg_index: 0, arg_size: 0, arg_value: pointer };
    let (good, bad) = (argument(b.pointer.cast_const().cast()), argument(16 as *const c_void));
    let with = |argument: &cl_mutable_dispatch_arg_khr| cl_mutable_dispatch_config_khr {
        num_svm_args: 1,
        arg_svm_list: argument,
        ..no_change(command)
    };
    expect(list.try_update(&[with(&bad)]), CL_INVALID_ARG_VALUE, "a pointer to nothing")?;
    list.update(&[with(&good)])?;
    let pointers = [a.pointer];
    let information = |param_value_size| cl_mutable_dispatch_exec_info_khr {
        param_name: CL_KERNEL_EXEC_INFO_SVM_PTRS,
        param_value_size,
        param_value: pointers.as_ptr().cast(),
    };
    let (right, wrong) = (information(8), information(5));
    let informed = |information: &cl_mutable_dispatch_exec_info_khr| cl_mutable_dispatch_config_khr {
        num_exec_infos: 1,
        exec_info_list: information,
        ..no_change(command)
    };
    list.update(&[informed(&right)])?;
    expect(list.try_update(&[informed(&wrong)]), CL_INVALID_VALUE, "half a pointer")?;
    list.run()?;
    a.are(&[2; 8])?;
    b.are(&[2; 8])
}

/// Memory that a command-buffer uses may be freed, also when that waits for all commands.
pub fn freed() -> Outcome {
    let (gpu, queue, program) = (Gpu::get()?, queue_with(0)?, program()?);
    let Some(unified) = unified()? else { return Err("no unified shared memory".into()) };
    let mut code = 1;
    // SAFETY: the context is alive.
    let pointer = unsafe { (unified.clHostMemAllocINTEL)(gpu.context.get(), null(), 64, 0, &mut code) };
    well(code, "clHostMemAllocINTEL")?;
    let (add, list) = (program.kernel("add")?, List::new(&queue, 0)?);
    // SAFETY: an allocation of 16 numbers.
    let code = unsafe { (unified.clSetKernelArgMemPointerINTEL)(add.get(), 0, pointer) };
    well(code, "clSetKernelArgMemPointerINTEL")?;
    set(&add, 1, &1i32)?;
    list.launch(&add, 16, &[])?;
    well(fill(&list, pointer.cast(), 0, 4, 64), "clCommandSVMMemFillKHR")?;
    list.finalize()?;
    list.run()?;
    // SAFETY: no command uses it any more.
    well(unsafe { (unified.clMemBlockingFreeINTEL)(gpu.context.get(), pointer) }, "clMemBlockingFreeINTEL")
}

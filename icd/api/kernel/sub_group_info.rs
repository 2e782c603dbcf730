//! `clGetKernelSubGroupInfo`, and the same of `cl_khr_subgroups`. A sub-group is a thread.

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{BuiltKernel, Code, Error};
use opencl_sys::{
    CL_KERNEL_COMPILE_NUM_SUB_GROUPS, CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL,
    CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, CL_KERNEL_MAX_NUM_SUB_GROUPS,
    CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, cl_device_id, cl_kernel,
    cl_kernel_sub_group_info,
};

use crate::abi::{Bytes, HostPointer, Out};
use crate::handle::Handle;
use crate::info::{InfoWriter, Written};
use crate::object::Kernel;
use crate::{CLResult, refuse_if};

/// Bytes of a `size_t`.
const WORD: usize = size_of::<usize>();

#[cl_entrypoint(clGetKernelSubGroupInfo, clGetKernelSubGroupInfoKHR)]
fn get_kernel_sub_group_info(
    kernel: cl_kernel,
    device: cl_device_id,
    name: cl_kernel_sub_group_info,
    input_size: usize,
    input: HostPointer<*const c_void>,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    let kernel = Handle::<Kernel>::get(kernel)?;
    let kernel = kernel.on(device)?;
    let info = InfoWriter::new(room, value, size_ret);
    let width = kernel.info().simd_width as usize;
    // Larger groups have fewer sub-groups, of more lanes.
    let largest = kernel.own_work_group_size() as usize;
    let width_for = |items: usize| kernel.lanes(items.try_into().unwrap_or(u32::MAX)) as usize;
    match name {
        CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE => {
            info.value(width_for(items(&local_size(input_size, &input)?)))
        }
        CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE => {
            let items = items(&local_size(input_size, &input)?);
            info.value(items.div_ceil(width_for(items)))
        }
        CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT => {
            // CL_INVALID_VALUE if the size in bytes specified by input_value_size is not valid.
            refuse_if(input_size != WORD, Code::InvalidValue, "the number of sub-groups is one size_t")?;
            let [count] = words(&input)?;
            let dimensions = if value.is_null() { 3 } else { room / WORD };
            refuse_if(!(1..=3).contains(&dimensions), Code::InvalidValue, "there are 1 to 3 dimensions")?;
            let size = size_of_groups(kernel, count, width, largest);
            info.values(&size[..dimensions])
        }
        CL_KERNEL_MAX_NUM_SUB_GROUPS => info.value(largest / width),
        // No attribute of OpenCL C requires a number of sub-groups.
        CL_KERNEL_COMPILE_NUM_SUB_GROUPS => info.value(0usize),
        CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL => {
            info.value(kernel.info().required_sub_group_size.unwrap_or(0) as usize)
        }
        _ => info.unknown(name),
    }
}

/// The local size that an application asks about: one to three numbers.
fn local_size(size: usize, input: &HostPointer<*const c_void>) -> CLResult<Vec<usize>> {
    match size / WORD {
        1 if size == WORD => words::<1>(input).map(Vec::from),
        2 if size == 2 * WORD => words::<2>(input).map(Vec::from),
        3 if size == 3 * WORD => words::<3>(input).map(Vec::from),
        // CL_INVALID_VALUE if the size in bytes specified by input_value_size is not valid.
        _ => Err(Error::new(Code::InvalidValue, "a local size has 1 to 3 dimensions")),
    }
}

/// Work-items of a local size; the largest number when there are more.
fn items(size: &[usize]) -> usize {
    size.iter().fold(1, |items: usize, size| items.saturating_mul(*size))
}

fn words<const N: usize>(input: &HostPointer<*const c_void>) -> CLResult<[usize; N]> {
    // SAFETY: the caller has compared the size that the application says with `N` words.
    let words = unsafe { input.to_words() };
    words.ok_or_else(|| Error::new(Code::InvalidValue, "the query needs an input value"))
}

/// A local size that gives `count` sub-groups; zeros when there is none.
fn size_of_groups(kernel: &BuiltKernel, count: usize, width: usize, largest: usize) -> [usize; 3] {
    let size = match kernel.info().required_work_group_size {
        Some(required) => required.map(|size| size as usize),
        None => [count.saturating_mul(width), 1, 1],
    };
    let items = items(&size);
    let fits = count > 0 && items <= largest && items.div_ceil(width) == count;
    if fits { size } else { [0; 3] }
}

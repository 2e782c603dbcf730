//! `clGetProgramInfo`

use std::ffi::c_uchar;
use std::sync::Arc;

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{
    CL_PROGRAM_BINARIES, CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_CONTEXT, CL_PROGRAM_DEVICES, CL_PROGRAM_IL,
    CL_PROGRAM_KERNEL_NAMES, CL_PROGRAM_NUM_DEVICES, CL_PROGRAM_NUM_KERNELS, CL_PROGRAM_REFERENCE_COUNT,
    CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT, CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT, CL_PROGRAM_SOURCE,
    cl_program, cl_program_info,
};

use crate::CLResult;
use crate::abi::{Bytes, Out};
use crate::handle::Handle;
use crate::info::{InfoWriter, Written};
use crate::object::Program;

#[cl_entrypoint(clGetProgramInfo)]
fn get_program_info(
    program: cl_program,
    name: cl_program_info,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    let program = Handle::<Program>::get(program)?;
    let info = InfoWriter::new(room, value, size_ret);
    match name {
        CL_PROGRAM_REFERENCE_COUNT => info.value(program.references()),
        CL_PROGRAM_CONTEXT => info.value(program.context.raw()),
        CL_PROGRAM_NUM_DEVICES => info.value(program.runtime.devices().len() as u32),
        CL_PROGRAM_DEVICES => {
            let handles = program.runtime.devices().map(|device| program.context.handle(device));
            info.values(&handles.collect::<Vec<_>>())
        }
        CL_PROGRAM_SOURCE => info.string(program.runtime.source().unwrap_or_default()),
        CL_PROGRAM_IL => info.values(program.runtime.il().unwrap_or_default()),
        CL_PROGRAM_BINARY_SIZES => {
            info.values(&binaries(&program)?.iter().map(|binary| binary.len()).collect::<Vec<_>>())
        }
        CL_PROGRAM_BINARIES => {
            let binaries = binaries(&program)?;
            info.filled(size_of::<*mut c_uchar>() * binaries.len(), || {
                // SAFETY: there is a pointer for each device, to memory of CL_PROGRAM_BINARY_SIZES bytes.
                unsafe { value.write_behind(&binaries) }
            })
        }
        // CL_INVALID_PROGRAM_EXECUTABLE if param_name is CL_PROGRAM_NUM_KERNELS or CL_PROGRAM_KERNEL_NAMES
        // and a successful program executable has not been built for at least one device.
        CL_PROGRAM_NUM_KERNELS => info.value(program.runtime.kernel_names()?.len()),
        CL_PROGRAM_KERNEL_NAMES => info.string(&program.runtime.kernel_names()?.join(";")),
        CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT | CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT => info.boolean(false),
        _ => info.unknown(name),
    }
}

/// A property of the program on each device, in their order.
fn binaries(program: &Program) -> CLResult<Vec<Arc<[u8]>>> {
    program.runtime.devices().map(|device| program.runtime.binary(device)).collect()
}

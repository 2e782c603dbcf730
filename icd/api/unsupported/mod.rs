//! Functions of features that no device supports. Each returns the error that the specification defines for
//! that.

pub mod egl;
pub mod gl;
pub mod pipe;
pub mod semaphore;

use gencl_runtime::{Code, Error};
use opencl_sys::{cl_command_queue, cl_context};

use crate::CLResult;
use crate::handle::Handle;
use crate::object::{Context, Queue};

/// `CL_INVALID_OPERATION` for a feature that the devices of the context do not have, after the check of the
/// context.
fn of_context<T>(context: cl_context, reason: &'static str) -> CLResult<T> {
    Handle::<Context>::get(context)?;
    Err(Error::new(Code::InvalidOperation, reason))
}

/// `CL_INVALID_OPERATION` for a command that the device of the queue does not have, after the check of the
/// queue.
fn of_queue(queue: cl_command_queue, reason: &'static str) -> CLResult<()> {
    Handle::<Queue>::get(queue)?;
    Err(Error::new(Code::InvalidOperation, reason))
}

//! Semaphores.

use std::sync::Arc;

use gencl_runtime::Code;
use opencl_sys::cl_semaphore_properties_khr;

use super::Context;
use crate::handle::{Handle, Object};

/// A binary semaphore.
pub struct Semaphore {
    /// The runtime's object.
    pub runtime: Arc<gencl_runtime::Semaphore>,
    /// Its context.
    pub context: Arc<Handle<Context>>,
    /// As given to clCreateSemaphoreWithPropertiesKHR, including its terminating 0.
    pub properties: Vec<cl_semaphore_properties_khr>,
}

impl Object for Semaphore {
    const INVALID: Code = Code::InvalidSemaphore;
    const NAME: &'static str = "semaphore";
}

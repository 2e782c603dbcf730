//! Samplers.

use std::sync::Arc;

use gencl_runtime::Code;
use opencl_sys::cl_sampler_properties;

use super::Context;
use crate::handle::{Handle, Object};

/// A sampler.
pub struct Sampler {
    /// The runtime's object.
    pub runtime: Arc<gencl_runtime::Sampler>,
    /// Its context.
    pub context: Arc<Handle<Context>>,
    /// As given to clCreateSamplerWithProperties, including its terminating 0; empty for null and for
    /// clCreateSampler.
    pub properties: Vec<cl_sampler_properties>,
}

impl Object for Sampler {
    const INVALID: Code = Code::InvalidSampler;
    const NAME: &'static str = "sampler";
}

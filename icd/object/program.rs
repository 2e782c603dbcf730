//! Programs.

use std::sync::Arc;

use gencl_runtime::Code;

use super::Context;
use crate::handle::{Handle, Object};

/// A program for some or all of the context's devices.
pub struct Program {
    /// The runtime's object.
    pub runtime: Arc<gencl_runtime::Program>,
    /// Its context.
    pub context: Arc<Handle<Context>>,
}

impl Object for Program {
    const INVALID: Code = Code::InvalidProgram;
    const NAME: &'static str = "program";
}

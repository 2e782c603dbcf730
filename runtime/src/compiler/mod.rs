//! The client of the compile server.

use gencl_program::protocol::{BuildResult, CompileRequest};

use crate::{Code, Error, Result};

/// Has a program built. `COMPILER_NOT_AVAILABLE` when there is no compile server.
pub(crate) fn compile(_request: CompileRequest) -> Result<BuildResult> {
    Err(Error::new(Code::CompilerNotAvailable, "no compile server"))
}

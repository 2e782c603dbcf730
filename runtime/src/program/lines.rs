//! Line tables of programs that were built without `-g`.
//!
//! A build makes none, as they take time and room that nobody may want. When a fault is to be told with its line, the
//! program is compiled once more, with them; its code is the same.

use std::sync::Arc;

use gencl_program::protocol::{CompileRequest, Status, ToServer, WidenRequest};
use gencl_program::{DebugSection, Kernel, elf};

use crate::trace;

/// Makes the compiler write line tables.
const LINES: &str = "-gline-tables-only";

/// How a program was made.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) request: Arc<CompileRequest>,
    /// The SIMD width for which it was compiled again.
    pub(super) lanes: Option<u32>,
}

impl Origin {
    /// The line tables of the program, whose kernels are these. `None` when it cannot be compiled to the same code
    /// again: a header may have changed.
    pub(super) fn line_tables(&self, kernels: &[Kernel]) -> Option<Vec<DebugSection>> {
        let options = format!("{} {LINES}", self.request.options);
        let request = CompileRequest { options, ..(*self.request).clone() };
        let mut binary = build(&ToServer::Compile(request))?;
        if let Some(lanes) = self.lanes {
            binary = build(&ToServer::Widen(WidenRequest { program: binary, lanes }))?;
        }
        let program = elf::read(&binary).ok()?;
        let same = program.kernels.iter().map(|kernel| &kernel.code).eq(kernels.iter().map(|own| &own.code));
        same.then_some(program.debug)
    }
}

fn build(request: &ToServer) -> Option<Vec<u8>> {
    let result = trace::build("lines", || gencl_client::build(request)).ok()?;
    (result.status == Status::Success).then_some(result.binary)
}

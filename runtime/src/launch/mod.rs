//! Launches.

use std::sync::Arc;

use crate::{Code, Context, Error, Kernel, NdRange, Result};

/// A launch with everything that it needs, taken when it was enqueued.
pub(crate) struct Launch {}

/// A batch that the kernel driver has.
pub(crate) struct InFlight {}

impl Launch {
    pub(crate) fn new(_kernel: &Arc<Kernel>, _range: &NdRange) -> Result<Self> {
        Err(Error::new(Code::InvalidOperation, "launches come next"))
    }

    pub(crate) fn submit(self: Box<Self>, _context: &Arc<Context>, _profiled: bool) -> Result<InFlight> {
        Ok(InFlight {})
    }
}

impl InFlight {
    pub(crate) fn wait(self, _context: &Arc<Context>) -> Result<(u64, u64)> {
        Ok((0, 0))
    }
}

//! Values of program-scope variables that C++ computes at run time: C++ for OpenCL 1.0 and 2021, "Construction,
//! initialization and destruction". They are there before any kernel of the program is launched.

use std::sync::Arc;

use super::{Queue, QueueFlags};
use crate::event::CommandKind;
use crate::{Kernel, NdRange, Result};

impl Queue {
    /// Runs the initializers of a kernel's program on this queue's device, if it has any that have not run, and waits
    /// for them. They have a queue of their own, as this one may have commands that wait for the application. Errors
    /// are those of launches.
    pub(super) fn initialize(&self, kernel: &Arc<Kernel>) -> Result<()> {
        let build = kernel.executable_on(self.core.device())?;
        build.executable().initialize(|names| {
            let queue = Self::new(&self.context, self.device(), QueueFlags::empty())?;
            let one = NdRange { dimensions: 1, offset: [0; 3], global: [1; 3], local: Some([1; 3]) };
            for name in names {
                let initializer = Kernel::initializer(kernel.program(), name)?;
                queue.launch_initialized(CommandKind::Task, &initializer, &one, &[])?;
            }
            queue.finish()
        })
    }
}

//! Prepared launches: what is the same each time that one is enqueued.

use std::sync::Arc;

use gencl_program::report;

use super::kept::KeptBatches;
use super::local_size::{check_range, local_size};
use super::walk::Space;
use crate::context::DeviceContext;
use crate::kernel::{ArgumentBlock, ArgumentValue};
use crate::program::Executable;
use crate::{Code, Error, Kernel, NdRange, Result};

/// A prepared launch: executable, argument values and index space, checked. Empty before [`Launch::divide`] and after
/// [`Launch::end`], for reuse.
#[derive(Default)]
pub(crate) struct Launch {
    /// `None` when empty.
    executable: Option<Arc<Executable>>,
    /// Index of the kernel in the executable.
    pub(super) number: usize,
    pub(super) arguments: ArgumentBlock,
    pub(super) space: Space,
    /// If it is of a command-buffer.
    pub(super) kept: Arc<KeptBatches>,
}

impl Launch {
    /// Copies the values of arguments. Errors: see [`crate::Queue::launch`].
    pub(crate) fn bind(
        &mut self,
        kernel: &Kernel,
        values: &[Option<ArgumentValue>],
        device: &DeviceContext,
    ) -> Result<()> {
        let build = kernel.executable_on(device)?;
        kernel.bind_arguments(build, values, device, &mut self.arguments)?;
        if self.arguments.has_shared_pointers() {
            device.check_shared()?;
        }
        Ok(())
    }

    /// Divides the index space into work-groups, once arguments are bound. Errors: see [`crate::Queue::launch`].
    pub(crate) fn divide(&mut self, kernel: &Kernel, range: &NdRange, device: &DeviceContext) -> Result<()> {
        let build = kernel.executable_on(device)?;
        let info = build.info();
        let facts = device.device().facts();
        check_range(range, facts.address_bits)?;
        let uneven = build.executable().uneven_groups();
        let local = match range.local {
            None => build.chosen_local_size(range.global, || build.suggested_local_size(range))?,
            Some(_) => local_size(info, range, build.limits(), uneven)?,
        };
        self.space = Space::new(range, local, uneven)?;
        let executable = build.executable_for(local.iter().product())?;
        let local_memory = self.arguments.local_memory();
        if local_memory > u64::from(facts.local_memory) {
            let what = format!("kernel {}: local memory per work-group", info.name);
            let reason = report::beyond_limit(&what, local_memory, "bytes", facts.local_memory.into());
            report::once(&what, &reason);
            return Err(Error::new(Code::OutOfResources, reason));
        }
        (self.executable, self.number) = (Some(executable), build.number());
        Ok(())
    }

    pub(super) fn executable(&self) -> &Arc<Executable> {
        self.executable.as_ref().expect("the launch is not empty")
    }

    pub(super) fn kernel(&self) -> &gencl_program::Kernel {
        &self.executable().kernels()[self.number]
    }

    pub(crate) fn name(&self) -> &str {
        &self.kernel().name
    }

    /// Whether all its work-groups have the same size.
    pub(crate) fn is_uniform(&self) -> bool {
        self.space.is_uniform()
    }

    /// Would both have the same commands and state, timestamps and shared virtual memory aside?
    pub(super) fn is_same(&self, other: &Launch) -> bool {
        Arc::ptr_eq(self.executable(), other.executable())
            && self.number == other.number
            && self.space == other.space
            && self.arguments.is_same(&other.arguments)
    }

    /// Releases executable and arguments.
    pub(crate) fn end(&mut self) {
        self.executable = None;
        self.arguments.clear();
        self.kept.clear();
    }
}

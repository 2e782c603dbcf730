//! Enqueued launches.

use std::sync::Arc;

use gencl_eu::dispatch::LaunchMark;
use gencl_program::report;

use super::argument_text;
use super::local_size::{check_range, local_size};
use super::walk::Space;
use crate::context::DeviceContext;
use crate::kernel::ArgumentBlock;
use crate::program::Executable;
use crate::trace::{self, LaunchRecord, Record};
use crate::{Code, Error, Kernel, NdRange, Result, profile};

/// An enqueued launch: executable, argument values and index space. Empty before [`Launch::begin`] and after
/// [`Launch::end`], for reuse.
#[derive(Default)]
pub(crate) struct Launch {
    /// `None` when empty.
    pub(super) executable: Option<Arc<Executable>>,
    /// Index of the kernel in the executable.
    pub(super) number: usize,
    pub(super) arguments: ArgumentBlock,
    pub(super) space: Space,
    /// How a profile finds it; `None` when there is none.
    pub(super) mark: Option<LaunchMark>,
}

impl Launch {
    /// Checks a launch on a device and copies arguments and index space. Errors: see
    /// [`crate::Queue::launch`].
    pub(crate) fn begin(&mut self, kernel: &Kernel, range: &NdRange, device: &DeviceContext) -> Result<()> {
        let build = kernel.executable_on(device)?;
        let info = build.info();
        let facts = device.device().facts();
        kernel.bind_arguments(build, device, &mut self.arguments)?;
        if self.arguments.has_shared_pointers() {
            device.check_shared()?;
        }
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
        self.mark = trace::is_on().then(|| self.enter());
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

    /// Writes it to the trace, and gives it a number.
    fn enter(&self) -> LaunchMark {
        let mark = profile::mark(self.executable().first_number() + self.number as u32, self.name());
        let arguments = argument_text::of(self.kernel(), &self.arguments);
        trace::write(&Record::Launch { kernel_number: mark.kernel, arguments, launch: self.record_of(mark) });
        mark
    }

    /// Its description in a trace.
    pub(crate) fn record(&self) -> LaunchRecord<'_> {
        self.record_of(self.mark.unwrap_or_default())
    }

    fn record_of(&self, mark: LaunchMark) -> LaunchRecord<'_> {
        LaunchRecord {
            number: mark.launch,
            kernel: self.name(),
            simd_width: self.kernel().simd_width,
            global: self.space.global,
            local: self.space.local,
        }
    }

    /// Would both have the same commands and state, timestamps aside?
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
    }
}

//! Recorded launches.

use std::sync::Arc;

use crate::context::DeviceContext;
use crate::kernel::ArgumentValue;
use crate::launch::Launch;
use crate::{Code, Error, Kernel, NdRange, Result};

/// A launch of a command-buffer, with what it was prepared from. Enqueued launches share the prepared one, which is
/// replaced when the command is changed.
pub(crate) struct RecordedLaunch {
    kernel: Arc<Kernel>,
    /// By index; `None` for those that are not set.
    values: Vec<Option<ArgumentValue>>,
    range: NdRange,
    launch: Arc<Launch>,
}

/// A change of a recorded launch.
#[derive(Clone, Debug, Default)]
pub struct LaunchUpdate {
    /// Number of the command.
    pub command: usize,
    /// Arguments by index, a later one replacing an earlier one.
    pub arguments: Vec<(u32, ArgumentValue)>,
    /// `None`: as before, as of the following.
    pub offset: Option<[u64; 3]>,
    /// In work-items.
    pub global: Option<[u64; 3]>,
    /// In work-items.
    pub local: Option<[u32; 3]>,
}

impl RecordedLaunch {
    /// Captures arguments and prepares the launch. Errors as [`crate::Queue::launch`], without `INVALID_KERNEL_ARGS` for
    /// arguments that are not set where it is `deferred`.
    pub(super) fn new(
        kernel: &Arc<Kernel>,
        range: &NdRange,
        deferred: bool,
        device: &DeviceContext,
    ) -> Result<Self> {
        let values = kernel.values().clone();
        Self::prepare(kernel.clone(), values, *range, deferred, device)
    }

    fn prepare(
        kernel: Arc<Kernel>,
        values: Vec<Option<ArgumentValue>>,
        range: NdRange,
        deferred: bool,
        device: &DeviceContext,
    ) -> Result<Self> {
        let mut launch = Launch::default();
        if !deferred || are_set(&values) {
            launch.bind(&kernel, &values, device)?;
        }
        launch.divide(&kernel, &range, device)?;
        Ok(Self { kernel, values, range, launch: Arc::new(launch) })
    }

    /// The launch after a change. Errors: see [`super::CommandBuffer::update`].
    pub(super) fn updated(&self, update: &LaunchUpdate, device: &DeviceContext) -> Result<Self> {
        let (mut values, mut range) = (self.values.clone(), self.range);
        for (index, value) in &update.arguments {
            self.kernel.check_argument(*index, value)?;
            values[*index as usize] = Some(value.clone());
        }
        range.offset = update.offset.unwrap_or(range.offset);
        range.global = update.global.unwrap_or(range.global);
        range.local = update.local.or(range.local);
        let updated = Self::prepare(self.kernel.clone(), values, range, true, device)?;
        // Sizes that the runtime chooses are its own business.
        if range.local.is_some() && updated.launch.is_uniform() != self.launch.is_uniform() {
            return Err(Error::new(Code::InvalidOperation, "the uniformity of work-groups would change"));
        }
        Ok(updated)
    }

    pub(crate) fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }

    /// The prepared launch.
    pub(crate) fn launch(&self) -> &Arc<Launch> {
        &self.launch
    }

    pub(super) fn range(&self) -> &NdRange {
        &self.range
    }

    /// Whether all arguments are set.
    pub(super) fn is_bound(&self) -> bool {
        are_set(&self.values)
    }
}

fn are_set(values: &[Option<ArgumentValue>]) -> bool {
    values.iter().all(Option::is_some)
}

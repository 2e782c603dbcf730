//! Launches: from a kernel with arguments and an index space to a submitted batch.
//!
//! Successive launches share a batch. One buffer, the slot, holds everything that is written for them:
//! commands, timestamps, interface descriptors, the constants of each walker, argument blocks. The buffers
//! that these refer to (code, scratch, the arguments' buffers) are the batch's validation list.

mod argument_text;
mod assemble;
mod batch;
mod clock;
mod command_sets;
mod commands;
mod constants;
#[cfg(test)]
mod described;
mod dump;
mod expected;
mod failure;
mod field;
mod gen7;
mod gen8;
mod gen9;
mod hardware;
mod images;
mod local_size;
#[cfg(test)]
mod moving;
mod relocate;
mod slot;
mod source_line;
mod surfaces;
mod walk;

use std::sync::Arc;

pub(crate) use assemble::{Batch, InFlight, MAX_LAUNCHES, Progress, Submitted};
pub(crate) use command_sets::command_set;
pub(crate) use commands::CommandSet;
pub(crate) use constants::{check, max_threads};
pub(crate) use expected::expect;
use gencl_eu::dispatch::LaunchMark;
use gencl_program::report;
pub(crate) use hardware::Hardware;
pub(crate) use slot::SlotPool;
use walk::Space;

use crate::context::DeviceContext;
use crate::kernel::{ArgumentBlock, BuiltKernel};
use crate::program::Executable;
use crate::trace::{self, LaunchRecord, Record};
use crate::{Code, Error, Kernel, NdRange, Result, profile};

/// Alignment of state in a slot, in bytes.
const ALIGNMENT: usize = 64;

/// An enqueued launch: executable, argument values and index space. Empty before [`Launch::begin`] and after
/// [`Launch::end`], for reuse.
#[derive(Default)]
pub(crate) struct Launch {
    /// `None` when empty.
    executable: Option<Arc<Executable>>,
    /// Index of the kernel in the executable.
    number: usize,
    arguments: ArgumentBlock,
    space: Space,
    /// How a profile finds it; `None` when there is none.
    mark: Option<LaunchMark>,
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
            None => build.chosen_local_size(range.global, || work_group_size(build, range))?,
            Some(_) => local_size(info, range, limits(build), uneven)?,
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

    fn executable(&self) -> &Arc<Executable> {
        self.executable.as_ref().expect("the launch is not empty")
    }

    fn kernel(&self) -> &gencl_program::Kernel {
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
    fn is_same(&self, other: &Launch) -> bool {
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

fn put_dwords(bytes: &mut [u8], dwords: &[u32]) {
    for (bytes, dword) in bytes.chunks_exact_mut(4).zip(dwords) {
        bytes.copy_from_slice(&dword.to_le_bytes());
    }
}

/// Checks an index space. `INVALID_WORK_DIMENSION`; `INVALID_GLOBAL_WORK_SIZE` and `INVALID_GLOBAL_OFFSET`
/// when a size or the last global id exceeds the device's `size_t`, which has `address_bits` bits.
fn check_range(range: &NdRange, address_bits: u32) -> Result<()> {
    let most = u64::MAX >> (64 - address_bits);
    if !(1..=3).contains(&range.dimensions) {
        return Err(Error::new(Code::InvalidWorkDimension, format!("{} dimensions", range.dimensions)));
    }
    for (offset, global) in range.offset.into_iter().zip(range.global) {
        if global > most {
            return Err(Error::new(Code::InvalidGlobalWorkSize, format!("{global} work-items")));
        }
        if offset.checked_add(global).is_none_or(|end| end > most) {
            return Err(Error::new(Code::InvalidGlobalOffset, format!("{offset} + {global} overflows")));
        }
    }
    Ok(())
}

/// The work-group size of a launch. Errors: see [`crate::Queue::launch`].
pub(crate) fn work_group_size(kernel: &BuiltKernel, range: &NdRange) -> Result<[u32; 3]> {
    check_range(range, kernel.device().facts().address_bits)?;
    local_size(kernel.info(), range, limits(kernel), kernel.executable().uneven_groups())
}

/// Limits of work-group sizes, in work-items.
#[derive(Clone, Copy)]
struct Limits {
    /// Of each dimension, on the device.
    dimension: u32,
    /// Of a work-group of the kernel.
    group: u32,
    /// Of a work-group whose size the runtime chooses: at the kernel's own SIMD width.
    chosen: u32,
}

fn limits(kernel: &BuiltKernel) -> Limits {
    let [dimension, ..] = kernel.device().facts().max_work_item_sizes;
    Limits { dimension, group: kernel.work_group_size(), chosen: kernel.own_work_group_size() }
}

/// The work-group size: the application's, checked, or one that the runtime chooses.
fn local_size(
    kernel: &gencl_program::Kernel,
    range: &NdRange,
    limits: Limits,
    uneven: bool,
) -> Result<[u32; 3]> {
    let local = match (range.local, kernel.required_work_group_size) {
        (None, None) => {
            return Ok(local_size::choose(range.global, kernel.simd_width, limits.chosen, uneven));
        }
        (Some(local), Some(required)) if local != required => {
            let reason = format!("{} requires work-groups of {required:?}, not {local:?}", kernel.name);
            return Err(Error::new(Code::InvalidWorkGroupSize, reason));
        }
        (Some(local), _) => local,
        (None, Some(required)) => required,
    };
    if local.contains(&0) {
        return Err(Error::new(Code::InvalidWorkGroupSize, format!("{local:?}")));
    }
    if local.iter().any(|&size| size > limits.dimension) {
        let reason = format!("{local:?}: at most {} work-items in each dimension", limits.dimension);
        return Err(Error::new(Code::InvalidWorkItemSize, reason));
    }
    if local.iter().product::<u32>() > limits.group {
        let reason =
            format!("{local:?}: at most {} work-items in a work-group of {}", limits.group, kernel.name);
        return Err(Error::new(Code::InvalidWorkGroupSize, reason));
    }
    Ok(local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_sizes_are_checked() {
        let kernel = gencl_program::Kernel { simd_width: 16, ..Default::default() };
        let limits = Limits { dimension: 256, group: 256, chosen: 256 };
        let range = |local| NdRange { dimensions: 1, offset: [0; 3], global: [256, 1, 1], local };
        let code = |kernel, local| local_size(kernel, &range(Some(local)), limits, false).unwrap_err().code;
        assert_eq!(local_size(&kernel, &range(None), limits, false).unwrap(), [64, 1, 1]);
        assert_eq!(code(&kernel, [0, 1, 1]), Code::InvalidWorkGroupSize);
        assert_eq!(code(&kernel, [257, 1, 1]), Code::InvalidWorkItemSize);
        assert_eq!(code(&kernel, [32, 16, 1]), Code::InvalidWorkGroupSize);
        let required = gencl_program::Kernel { required_work_group_size: Some([8, 1, 1]), ..kernel.clone() };
        assert_eq!(code(&required, [16, 1, 1]), Code::InvalidWorkGroupSize);
        assert_eq!(local_size(&required, &range(None), limits, false).unwrap(), [8, 1, 1]);
        let large = gencl_program::Kernel { required_work_group_size: Some([16, 32, 1]), ..kernel.clone() };
        let few = Limits { dimension: 512, group: 256, chosen: 256 };
        let range_of_512 = NdRange { local: Some([512, 1, 1]), global: [512, 1, 1], ..range(None) };
        let refused = local_size(&kernel, &range_of_512, few, false).unwrap_err();
        assert_eq!(refused.code, Code::InvalidWorkGroupSize, "more than the kernel's threads have");
        let refused = local_size(&large, &range(None), limits, false).unwrap_err();
        assert_eq!(refused.code, Code::InvalidWorkGroupSize, "more than the device has");
    }

    #[test]
    fn ranges_are_checked() {
        let range = NdRange { dimensions: 1, offset: [0; 3], global: [256, 1, 1], local: None };
        assert!(check_range(&range, 32).is_ok());
        let code = |range| check_range(&range, 64).unwrap_err().code;
        assert_eq!(code(NdRange { dimensions: 4, ..range }), Code::InvalidWorkDimension);
        assert_eq!(code(NdRange { offset: [u64::MAX, 0, 0], ..range }), Code::InvalidGlobalOffset);
        let code = |range| check_range(&range, 32).unwrap_err().code;
        assert_eq!(code(NdRange { global: [1 << 32, 1, 1], ..range }), Code::InvalidGlobalWorkSize);
        assert_eq!(code(NdRange { offset: [u32::MAX.into(), 0, 0], ..range }), Code::InvalidGlobalOffset);
    }
}

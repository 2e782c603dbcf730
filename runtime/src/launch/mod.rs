//! Launches: from a kernel with arguments and an index space to a batch that the kernel driver has.
//!
//! Launches that follow each other share a batch. One buffer, a slot, holds everything that is made for them:
//! commands, timestamps, interface descriptors, constants for each walker, argument blocks. What it refers to
//! (code, scratch, the arguments' buffers) is listed with it.

mod assemble;
mod batch;
mod clock;
mod commands;
mod constants;
#[cfg(test)]
mod described;
mod dump;
mod failure;
mod field;
pub(crate) mod gen7;
pub(crate) mod gen8;
pub(crate) mod gen9;
mod hardware;
mod local_size;
#[cfg(test)]
mod moving;
mod slot;
mod surfaces;
mod walk;

use std::sync::Arc;

pub(crate) use assemble::{Batch, InFlight, MAX_LAUNCHES, Progress, Submitted};
pub(crate) use commands::CommandSet;
pub(crate) use constants::{check, most_threads};
pub(crate) use hardware::Hardware;
pub(crate) use slot::SlotPool;
use walk::Space;

use crate::context::DeviceContext;
use crate::kernel::{Arguments, Bound, BuiltKernel, LocalLayout};
use crate::program::Executable;
use crate::{Code, Error, Kernel, NdRange, Result};

/// Alignment of state.
const ALIGNMENT: usize = 64;

/// A launch with everything that it needs, taken when it was enqueued; or the memory for one.
#[derive(Default)]
pub(crate) struct Launch {
    /// There from when it is enqueued until it has ended.
    executable: Option<Arc<Executable>>,
    /// The kernel's number in it.
    number: usize,
    arguments: Arguments,
    space: Space,
    local_memory: u32,
}

impl Launch {
    /// Checks a launch on a device and takes what it needs; errors as [`crate::Queue::launch`].
    pub(crate) fn begin(&mut self, kernel: &Kernel, range: &NdRange, device: &DeviceContext) -> Result<()> {
        let build = kernel.executable_on(device)?;
        let info = build.info();
        let facts = device.device().facts();
        kernel.snapshot(&mut self.arguments)?;
        let is_shared = |bound: &Bound| matches!(bound, Bound::Shared(..));
        if !device.shares_addresses() && self.arguments.bound().iter().any(is_shared) {
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
        let mut layout = LocalLayout::new(info);
        for (argument, bound) in info.arguments.iter().zip(self.arguments.bound()) {
            if let Bound::Local(size) = bound {
                layout.place(argument.alignment, *size);
            }
        }
        if layout.size > u64::from(facts.local_memory) {
            let reason = format!(
                "{} needs {} bytes of local memory, the device has {}",
                info.name, layout.size, facts.local_memory
            );
            return Err(Error::new(Code::OutOfResources, reason));
        }
        self.local_memory = layout.size as u32;
        (self.executable, self.number) = (Some(executable), build.number());
        Ok(())
    }

    /// The program.
    fn executable(&self) -> &Arc<Executable> {
        self.executable.as_ref().expect("the launch has begun and did not end")
    }

    /// What is launched.
    fn kernel(&self) -> &gencl_program::Kernel {
        &self.executable().kernels()[self.number]
    }

    /// The kernel's name.
    pub(crate) fn name(&self) -> &str {
        &self.kernel().name
    }

    /// Is it the same as another, in all that a batch has of it?
    fn is_like(&self, other: &Launch) -> bool {
        Arc::ptr_eq(self.executable(), other.executable())
            && self.number == other.number
            && self.space == other.space
            && self.local_memory == other.local_memory
            && self.arguments.are_like(&other.arguments)
    }

    /// Releases what it has; the memory is for another launch.
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

/// `INVALID_WORK_DIMENSION`; `INVALID_GLOBAL_WORK_SIZE` and `INVALID_GLOBAL_OFFSET` when sizes or the last
/// global id are more than a `size_t` of the device's holds, which has so many bits as addresses.
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

/// The work-group size that a launch of `kernel` has; errors as [`crate::Queue::launch`].
pub(crate) fn work_group_size(kernel: &BuiltKernel, range: &NdRange) -> Result<[u32; 3]> {
    check_range(range, kernel.device().facts().address_bits)?;
    local_size(kernel.info(), range, limits(kernel), kernel.executable().uneven_groups())
}

/// Most work-items of a group.
#[derive(Clone, Copy)]
struct Limits {
    /// In each dimension, on the device.
    dimension: u32,
    /// Altogether, of the kernel.
    group: u32,
    /// The same where the size is ours to choose: what it has threads for as it is.
    chosen: u32,
}

fn limits(kernel: &BuiltKernel) -> Limits {
    let [dimension, ..] = kernel.device().facts().max_work_item_sizes;
    Limits { dimension, group: kernel.work_group_size(), chosen: kernel.own_work_group_size() }
}

/// The work-group size: the application's, checked, or one that we choose.
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

//! A kernel on one device.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::context::DeviceContext;
use crate::launch::{Limits, check_range, local_size, max_threads};
use crate::program::Executable;
use crate::{Device, NdRange, Result};

/// A kernel that is built for a device.
pub struct BuiltKernel {
    device: Arc<DeviceContext>,
    executable: Arc<Executable>,
    /// Index in the executable.
    number: usize,
    /// Largest SIMD width that the kernel can be compiled for.
    max_width: u32,
    /// Largest work-group in work-items at the kernel's own SIMD width.
    own_limit: u32,
    /// Largest work-group in work-items at the largest SIMD width, a power of two.
    work_group_size: u32,
    /// The last global size without a local size, and the local size chosen for it: choosing takes longer
    /// than launching.
    chosen: Mutex<Option<([u64; 3], [u32; 3])>>,
}

impl std::fmt::Debug for BuiltKernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("BuiltKernel").field(&self.info().name).field(&self.device).finish()
    }
}

impl Clone for BuiltKernel {
    fn clone(&self) -> Self {
        Self::new(self.device.clone(), self.executable.clone(), self.number)
    }
}

impl BuiltKernel {
    pub(super) fn new(device: Arc<DeviceContext>, executable: Arc<Executable>, number: usize) -> Self {
        let info = &executable.kernels()[number];
        let max_width = executable.max_width(number, device.device().facts().profile().widths);
        let limits = [info.simd_width, max_width].map(|width| group_limit(device.device(), info, width));
        Self {
            device,
            executable,
            number,
            max_width,
            own_limit: limits[0],
            work_group_size: 1 << limits[1].ilog2(),
            chosen: Mutex::default(),
        }
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        self.device.device()
    }

    /// The device as part of its context.
    pub(crate) fn member(&self) -> &DeviceContext {
        &self.device
    }

    /// The compiler's description of the kernel.
    pub fn info(&self) -> &gencl_program::Kernel {
        &self.executable.kernels()[self.number]
    }

    /// Index in the executable.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    pub(crate) fn executable(&self) -> &Arc<Executable> {
        &self.executable
    }

    /// `CL_KERNEL_PRIVATE_MEM_SIZE`: private memory of a work-item in bytes.
    pub fn private_memory_size(&self) -> u64 {
        u64::from(self.info().private_size)
    }

    /// `CL_KERNEL_SPILL_MEM_SIZE_INTEL`: spilled registers of a thread in bytes.
    pub fn spill_memory_size(&self) -> u64 {
        u64::from(self.info().spill_size)
    }

    /// `CL_KERNEL_WORK_GROUP_SIZE`: the largest work-group in work-items, a power of two. It may be too large
    /// for threads of the kernel's SIMD width; a launch that has so large groups compiles the kernel once
    /// more, at the largest width.
    pub fn work_group_size(&self) -> u32 {
        self.work_group_size
    }

    /// The largest work-group in work-items at the kernel's own SIMD width.
    pub fn own_work_group_size(&self) -> u32 {
        self.own_limit.min(self.work_group_size)
    }

    /// Limits of work-group sizes.
    pub(crate) fn limits(&self) -> Limits {
        let [dimension, ..] = self.device().facts().max_work_item_sizes;
        Limits { dimension, group: self.work_group_size(), chosen: self.own_work_group_size() }
    }

    /// SIMD width of a launch with work-groups of `group` work-items.
    pub fn lanes(&self, group: u32) -> u32 {
        if group <= self.own_limit { self.info().simd_width } else { self.max_width }
    }

    /// The executable for a launch with work-groups of `group` work-items. `OUT_OF_RESOURCES` when these need
    /// a larger SIMD width and compiling for that fails.
    pub(crate) fn executable_for(&self, group: u32) -> Result<Arc<Executable>> {
        match group <= self.own_limit {
            true => Ok(self.executable.clone()),
            false => self.executable.widened(&self.device, self.max_width),
        }
    }

    /// The work-group size that the runtime chooses for a launch over `range`
    /// (`clGetKernelSuggestedLocalWorkSize`). `INVALID_WORK_DIMENSION`, `INVALID_GLOBAL_OFFSET`.
    pub fn suggested_local_size(&self, range: &NdRange) -> Result<[u32; 3]> {
        check_range(range, self.device().facts().address_bits)?;
        local_size(self.info(), range, self.limits(), self.executable.uneven_groups())
    }

    /// `CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE`: the SIMD width.
    pub fn preferred_multiple(&self) -> u32 {
        self.info().simd_width
    }

    /// The work-group size for `global` work-items: the last choice, if it was for the same global size, else
    /// what `choose` returns.
    pub(crate) fn chosen_local_size(
        &self,
        global: [u64; 3],
        choose: impl FnOnce() -> Result<[u32; 3]>,
    ) -> Result<[u32; 3]> {
        let mut chosen = self.chosen.lock();
        if let Some((for_global, local)) = *chosen
            && for_global == global
        {
            return Ok(local);
        }
        let local = choose()?;
        *chosen = Some((global, local));
        Ok(local)
    }
}

/// Largest work-group in work-items that a subslice and its CURBE have room for with threads of `width`
/// lanes.
fn group_limit(device: &Device, kernel: &gencl_program::Kernel, width: u32) -> u32 {
    let (facts, most) = (device.facts(), device.hardware().model.threads.constant_registers);
    let constants = max_threads(kernel, width, device.commands().shares_constants(), most);
    let threads = facts.threads_per_group.min(constants);
    facts.max_work_group_size.min(threads * width)
}

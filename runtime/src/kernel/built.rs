//! A kernel on one device.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::context::DeviceContext;
use crate::program::Executable;
use crate::{Device, NdRange, Result};

/// A kernel as it is built for a device.
pub struct BuiltKernel {
    device: Arc<DeviceContext>,
    executable: Arc<Executable>,
    /// Its number in the executable.
    number: usize,
    /// Lanes of the widest threads that it can be compiled to.
    most_lanes: u32,
    /// Work-items of a group that it has threads for as it is.
    room: u32,
    /// The most with the widest threads, a power of two.
    work_group_size: u32,
    /// The work-group size that was chosen last, and for which global size: choosing takes longer than
    /// launching.
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
        let most_lanes = executable.most_lanes(number, device.device().facts().profile().widths);
        let [own, most] = [info.simd_width, most_lanes].map(|lanes| room(device.device(), info, lanes));
        Self {
            device,
            executable,
            number,
            most_lanes,
            room: own,
            work_group_size: 1 << most.ilog2(),
            chosen: Mutex::default(),
        }
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        self.device.device()
    }

    /// The same with what the context has for it.
    pub(crate) fn member(&self) -> &DeviceContext {
        &self.device
    }

    /// What the compiler says of it.
    pub fn info(&self) -> &gencl_program::Kernel {
        &self.executable.kernels()[self.number]
    }

    /// Its number in its executable.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    pub(crate) fn executable(&self) -> &Arc<Executable> {
        &self.executable
    }

    /// Private memory of a work-item in bytes.
    pub fn private_memory_size(&self) -> u64 {
        u64::from(self.info().private_size)
    }

    /// Memory of a thread for registers that were spilled, in bytes.
    pub fn spill_memory_size(&self) -> u64 {
        u64::from(self.info().spill_size)
    }

    /// `CL_KERNEL_WORK_GROUP_SIZE`: most work-items of a group of this kernel, a power of two. Threads of the
    /// kernel's width may have room for less; then it is compiled once more, with wider ones, for a launch
    /// that takes them.
    pub fn work_group_size(&self) -> u32 {
        self.work_group_size
    }

    /// Most work-items of a group that the kernel has threads for as it is.
    pub fn own_work_group_size(&self) -> u32 {
        self.room.min(self.work_group_size)
    }

    /// Lanes of the threads that a launch with groups of so many work-items has.
    pub fn lanes(&self, group: u32) -> u32 {
        if group <= self.room { self.info().simd_width } else { self.most_lanes }
    }

    /// What a launch with groups of so many work-items executes. `OUT_OF_RESOURCES` when it takes wider
    /// threads, and they cannot be had.
    pub(crate) fn executable_for(&self, group: u32) -> Result<Arc<Executable>> {
        match group <= self.room {
            true => Ok(self.executable.clone()),
            false => self.executable.widened(&self.device, self.most_lanes),
        }
    }

    /// The work-group size that a launch over `range` has, where the application leaves it to us
    /// (`clGetKernelSuggestedLocalWorkSize`). `INVALID_WORK_DIMENSION`, `INVALID_GLOBAL_OFFSET`.
    pub fn suggested_local_size(&self, range: &NdRange) -> Result<[u32; 3]> {
        crate::launch::work_group_size(self, range)
    }

    /// `CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE`: the lanes of a thread.
    pub fn preferred_multiple(&self) -> u32 {
        self.info().simd_width
    }

    /// The work-group size that was chosen for `global` work-items, which is what `choose` gives if that was
    /// not the last choice.
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

/// Work-items of a group that fit into a subslice with threads of `lanes` lanes.
fn room(device: &Device, kernel: &gencl_program::Kernel, lanes: u32) -> u32 {
    let (facts, most) = (device.facts(), device.hardware().model.family.constant_registers);
    let constants = crate::launch::most_threads(kernel, lanes, device.commands().shares_constants(), most);
    let threads = facts.threads_per_group.min(constants);
    facts.max_work_group_size.min(threads * lanes)
}

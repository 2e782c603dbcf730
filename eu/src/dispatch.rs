//! Kernel launches, and the initial registers of threads.
//!
//! The command streamer builds a [`Launch`] from MEDIA_VFE_STATE, the interface descriptor, the CURBE and
//! GPGPU_WALKER; the EUs execute it work-group by work-group.

use std::ops::AddAssign;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::control;
use crate::device::Device;

/// Bytes of a general register.
pub const GRF_SIZE: usize = 32;

/// Rounding modes in the encoding of the interface descriptor and of `cr0.0` bits 5:4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Rounding {
    /// To nearest or even.
    #[default]
    NearestEven,
    /// Towards plus infinity.
    Up,
    /// Towards minus infinity.
    Down,
    /// Towards zero.
    Zero,
}

/// Scratch memory of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scratch {
    /// Address of the scratch space of the hardware thread with number 0, relative to the General State Base
    /// Address; a multiple of 1024. That of number `n` is `n * per_thread` bytes further.
    pub base: u64,
    /// Bytes per thread, up to 2 MiB.
    pub per_thread: u32,
    /// The encoding of this size in MEDIA_VFE_STATE and in the thread's header.
    pub code: u32,
    /// Number of thread slots with scratch memory; threads only run in these.
    pub slots: u32,
}

/// The base addresses that messages and pointers of the thread's header are relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Bases {
    /// General State Base Address: scratch and A32 stateless messages.
    pub general: u64,
    /// Surface State Base Address: binding table and surface states.
    pub surface: u64,
    /// Dynamic State Base Address: sampler states.
    pub dynamic: u64,
    /// Indirect Object Base Address.
    pub indirect: u64,
    /// Instruction Base Address.
    pub instruction: u64,
    /// Bindless Surface State Base Address.
    pub bindless: u64,
}

/// Numbers of states that a kernel uses; `None` where they are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Used {
    /// Entries of the binding table.
    pub surfaces: Option<u32>,
    /// Sampler states.
    pub samplers: Option<u32>,
}

/// How a driver marks the launches of a batch, for profiles: by the numbers of MI_NOOPs with Identification Number Register Write
/// Enable (Volume 2a, MI_NOOP), which have 22 bits and no effect on execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LaunchMark {
    /// Number of the kernel in the process, from 1; 0 without a mark.
    pub kernel: u32,
    /// Number of the launch in the process, from 1; 0 without a mark.
    pub launch: u32,
    /// It is left out of statistics.
    pub hidden: bool,
}

impl LaunchMark {
    /// The bit of a number that is a kernel's. The other numbers are those of launches.
    const KERNEL: u32 = 1 << 21;
    /// Stands for the kernel of hidden launches.
    const HIDDEN: u32 = Self::KERNEL - 1;

    /// The mark of a launch; numbers that are too large are taken for unknown.
    pub fn new(kernel: u32, launch: u32) -> LaunchMark {
        let known = |number| if number < Self::HIDDEN { number } else { 0 };
        LaunchMark { kernel: known(kernel), launch: known(launch), hidden: false }
    }

    /// That of a launch that is left out of statistics.
    pub fn hidden() -> LaunchMark {
        LaunchMark { hidden: true, ..LaunchMark::default() }
    }

    /// The numbers of the MI_NOOPs before the launch.
    pub fn numbers(self) -> [u32; 2] {
        [Self::KERNEL | if self.hidden { Self::HIDDEN } else { self.kernel }, self.launch]
    }

    /// Sets what the number of an MI_NOOP says.
    pub fn set(&mut self, number: u32) {
        match number ^ Self::KERNEL {
            Self::HIDDEN => *self = LaunchMark::hidden(),
            kernel if kernel < Self::KERNEL => (self.kernel, self.hidden) = (kernel, false),
            _ => self.launch = number,
        }
    }
}

/// A kernel launch: the parameters of GPGPU_WALKER and of the state that it uses.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Launch {
    /// GPU address of the kernel's first instruction.
    pub kernel: u64,
    /// Lanes of a thread: 8, 16 or 32.
    pub simd_width: u32,
    /// Threads of a work-group: columns, rows, layers. Threads are numbered along columns first.
    pub threads: [u32; 3],
    /// First work-group id of each dimension.
    pub first_group: [u32; 3],
    /// End of the work-group ids of each dimension (exclusive).
    pub end_group: [u32; 3],
    /// Lanes of the threads of the last column.
    pub right_mask: u32,
    /// Lanes of the threads of the last row.
    pub bottom_mask: u32,
    /// Cross-thread constants, a multiple of 32 bytes, the same for all threads.
    pub cross_thread: Vec<u8>,
    /// Per-thread constants of all threads one after the other.
    pub per_thread: Vec<u8>,
    /// Bytes of them for one thread, a multiple of 32.
    pub per_thread_size: usize,
    /// The constants are the walker's indirect data, not the CURBE: in the registers, per-thread constants
    /// precede cross-thread ones. In memory the order is always the opposite.
    pub indirect_data: bool,
    /// Shared local memory in bytes, 0 for none.
    pub slm_size: u32,
    /// Whether the threads may use the work-group barrier.
    pub barrier: bool,
    /// Scratch memory, if there is any.
    pub scratch: Option<Scratch>,
    /// Base addresses.
    pub bases: Bases,
    /// Binding table, relative to the Surface State Base Address, a multiple of 32.
    pub binding_table: u32,
    /// Sampler states, relative to the Dynamic State Base Address, a multiple of 32.
    pub samplers: u32,
    /// How many entries of the binding table and sampler states the kernel uses at most, as far as the
    /// interface descriptor says it.
    pub used: Used,
    /// Alternative floating-point mode (no NaNs and infinities) instead of IEEE-754.
    pub alternate_float: bool,
    /// Rounding mode that `cr0` starts with.
    pub rounding: Rounding,
    /// Single program flow: all channels execute together (`cr0.0` bit 2).
    pub single_program_flow: bool,
    /// How the driver has marked it.
    pub mark: LaunchMark,
}

impl Launch {
    /// Threads of one work-group.
    pub fn threads_per_group(&self) -> u32 {
        self.threads.iter().product()
    }

    /// Work-groups of each dimension.
    pub fn groups(&self) -> [u64; 3] {
        std::array::from_fn(|i| u64::from(self.end_group[i].saturating_sub(self.first_group[i])))
    }

    /// The dispatch mask of a thread: the lanes that run. The right mask applies to the last column, the
    /// bottom mask to the last row, both to the thread that is in both (Volume 2a, GPGPU_WALKER).
    pub fn dispatch_mask(&self, thread: u32) -> u32 {
        let [columns, rows, _] = self.threads;
        let mut mask = u32::MAX >> (32 - self.simd_width);
        if thread % columns == columns - 1 {
            mask &= self.right_mask;
        }
        if thread / columns % rows == rows - 1 {
            mask &= self.bottom_mask;
        }
        mask
    }

    /// Initial `cr0.0` of each thread.
    pub fn control(&self) -> u32 {
        let mut cr0 = (self.rounding as u32) << control::ROUNDING_SHIFT;
        if self.alternate_float {
            cr0 |= control::ALTERNATE;
        }
        if self.single_program_flow {
            cr0 |= control::SINGLE_PROGRAM_FLOW;
        }
        cr0
    }

    /// Number of registers of the payload, including `g0`.
    pub fn payload_registers(&self) -> usize {
        1 + (self.cross_thread.len() + self.per_thread_size) / GRF_SIZE
    }

    /// The header of a thread's payload, `g0`.
    ///
    /// `number` is that of the hardware thread that it runs on ([`HardwareThread::number`]), distinct from
    /// those of all threads that run at the same time; it selects the thread's scratch memory.
    ///
    /// Its layout: Skylake manual, Volume 7 "3D-Media-GPGPU", "GPGPU Thread Payload", confirmed
    /// by what Mesa (`brw_fs_visitor.cpp` for the barrier id, `brw_eu_emit.c` for the scratch pointer) and
    /// Beignet (`gen_reg_allocation.cpp`) read from it.
    ///
    /// | dword | bits | |
    /// | --- | --- | --- |
    /// | 0 | 27:24 | first 4 KiB block of the shared local memory (here always 0) |
    /// | 1 | | work-group id x |
    /// | 2 | 27:24, 31 | barrier id (here always 0) |
    /// | 3 | 31:5 | sampler state pointer |
    /// | 3 | 3:0 | per-thread scratch space, as MEDIA_VFE_STATE codes it |
    /// | 4 | 31:5 | binding table pointer |
    /// | 5 | 31:10 | scratch space pointer, relative to the General State Base Address |
    /// | 5 | 9:0 | FFTID: the number of the hardware thread |
    /// | 6 | | work-group id y |
    /// | 7 | | work-group id z |
    pub fn header(&self, group: [u32; 3], number: u32) -> [u32; 8] {
        let (scratch_pointer, scratch_code) = match self.scratch {
            Some(s) => {
                (s.base.wrapping_add(u64::from(number) * u64::from(s.per_thread)) as u32 & !0x3ff, s.code)
            }
            None => (0, 0),
        };
        let state = [self.samplers | scratch_code, self.binding_table, scratch_pointer | (number & 0x3ff)];
        [0, group[0], 0, state[0], state[1], state[2], group[1], group[2]]
    }

    /// Writes a thread's payload to its registers from `g0` on: header, cross-thread constants, per-thread
    /// constants. Writes only the first [`Launch::payload_registers`] registers.
    ///
    /// `number` is that of the hardware thread, see [`Launch::header`].
    /// Panics when `registers` is too short or `thread` is not below [`Launch::threads_per_group`].
    ///
    /// Cross-thread constants precede per-thread ones, in memory and in registers: Mesa's `iris_state.c`
    /// (`iris_fill_cs_push_const_buffer`) writes them in this order, and the interface descriptor's
    /// "Cross-Thread Constant Data Read Length" counts from the beginning. Indirect data is pushed in the
    /// opposite order: the kernels of Intel's compiler have local ids from `g1` on and their arguments after
    /// them (`docs/measurements/witness.md`).
    pub fn write_payload(&self, group: [u32; 3], thread: u32, number: u32, registers: &mut [u8]) {
        let (head, rest) = registers.split_at_mut(GRF_SIZE);
        for (bytes, dword) in head.chunks_exact_mut(4).zip(self.header(group, number)) {
            bytes.copy_from_slice(&dword.to_le_bytes());
        }
        let first = thread as usize * self.per_thread_size;
        let own = &self.per_thread[first..first + self.per_thread_size];
        let parts =
            if self.indirect_data { [own, &self.cross_thread] } else { [&self.cross_thread[..], own] };
        let (before, after) = rest.split_at_mut(parts[0].len());
        before.copy_from_slice(parts[0]);
        after[..parts[1].len()].copy_from_slice(parts[1]);
    }
}

/// A flag that tells all threads of a batch to stop, or to find out whether they can end at all. The
/// interpreter checks it every few thousand instructions of a thread, translated code at every backward branch.
#[derive(Debug, Default)]
pub struct CancelFlag(AtomicU8);

/// Values of a [`CancelFlag`] other than 0.
const SUSPECTED: u8 = 1;
const CANCELLED: u8 = 2;

impl CancelFlag {
    /// Whether the batch is to stop.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) == CANCELLED
    }

    /// Whether the batch is to stop, or its threads are to look whether they can end.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Address of a byte that is not 0 when the flag is raised, for translated code.
    pub fn address(&self) -> *const u8 {
        self.0.as_ptr()
    }

    /// Stops the batch.
    pub fn set(&self) {
        self.0.store(CANCELLED, Ordering::Relaxed);
    }

    /// Has threads look whether they can end, or no longer. A batch that is to stop is not affected.
    pub fn suspect(&self, suspected: bool) {
        let [from, to] = if suspected { [0, SUSPECTED] } else { [SUSPECTED, 0] };
        // It fails when there is nothing to change.
        let _ = self.0.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// Statistics of one work-group, or sums over several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupStatistics {
    /// EU threads.
    pub threads: u64,
    /// Threads that translated code executed; the counts below do not include them.
    pub translated: u64,
    /// Instructions executed, each once per thread.
    pub instructions: u64,
    /// Instructions executed, each once per enabled channel.
    pub lane_instructions: u64,
    /// Message instructions among the instructions.
    pub messages: u64,
    /// EU clocks, summed over threads, by the cycle model.
    pub cycles: u64,
}

impl AddAssign for GroupStatistics {
    fn add_assign(&mut self, other: GroupStatistics) {
        self.threads += other.threads;
        self.translated += other.translated;
        self.instructions += other.instructions;
        self.lane_instructions += other.lane_instructions;
        self.messages += other.messages;
        self.cycles += other.cycles;
    }
}

/// The position of a hardware thread on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HardwareThread {
    /// Slice, then subslice within the slice, EU within the subslice, thread within the EU.
    pub slice: u32,
    /// See `slice`.
    pub subslice: u32,
    /// See `slice`.
    pub eu: u32,
    /// See `slice`.
    pub thread: u32,
}

impl HardwareThread {
    /// The thread number (FFTID) of a slot: the slot itself, or bit fields, see [`Device::scratch_ids`].
    pub fn number(device: &Device, slot: u32) -> u32 {
        match device.scratch_ids {
            0 => slot,
            ids => {
                let (subslice, within) = (slot / device.subslice_threads(), slot % device.subslice_threads());
                subslice * ids + (((within % device.eus) << 3) | (within / device.eus))
            }
        }
    }

    /// The position of a thread slot: consecutive slots are on consecutive EUs of a subslice, then on the
    /// next thread of each EU, then on the next subslice.
    pub fn of_slot(device: &Device, slot: u32) -> HardwareThread {
        let (subslice, within) = (slot / device.subslice_threads(), slot % device.subslice_threads());
        HardwareThread {
            slice: subslice / device.subslices % device.slices,
            subslice: subslice % device.subslices,
            eu: within % device.eus,
            thread: within / device.eus,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LaunchMark;

    #[test]
    fn marks_are_read_as_they_were_written() {
        let marks = [(1, 1), (400, 77_000), (0, 9), (1 << 21, 1 << 22)].map(|(k, l)| LaunchMark::new(k, l));
        assert_eq!(marks[3], LaunchMark::default(), "too large");
        let mut read = LaunchMark::default();
        for mark in marks.into_iter().chain([LaunchMark::hidden(), marks[1]]) {
            mark.numbers().into_iter().for_each(|number| read.set(number));
            assert_eq!(read, mark);
        }
        assert!(LaunchMark::hidden().numbers().into_iter().all(|number| number < 1 << 22));
    }
}

//! The state of one EU thread.

use crate::control;
use crate::dispatch::{GRF_SIZE, GroupStatistics, Launch, Rounding};
use crate::file::{self, CONTROL, FILE_BYTES, FLAG, File};

/// The floating-point mode, from `cr0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FloatMode {
    /// Rounding.
    pub rounding: Rounding,
    /// Flush denormals of `HF` to zero.
    pub flush_16: bool,
    /// Flush denormals of `F` to zero.
    pub flush_32: bool,
    /// Flush denormals of `DF` to zero.
    pub flush_64: bool,
}

impl FloatMode {
    /// Decodes `cr0.0`.
    pub fn of_control(cr0: u32) -> FloatMode {
        FloatMode {
            rounding: match cr0 >> control::ROUNDING_SHIFT & 3 {
                0 => Rounding::NearestEven,
                1 => Rounding::Up,
                2 => Rounding::Down,
                _ => Rounding::Zero,
            },
            flush_16: cr0 & control::DENORMALS_16 == 0,
            flush_32: cr0 & control::DENORMALS_32 == 0,
            flush_64: cr0 & control::DENORMALS_64 == 0,
        }
    }

    /// Whether `F` arithmetic rounds as the host does.
    #[inline(always)]
    pub fn rounds_as_host(self) -> bool {
        matches!(self.rounding, Rounding::NearestEven)
    }
}

/// The state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Can execute.
    Ready,
    /// In `wait` on a notification counter that is 0.
    Waiting,
    /// Can execute, but seems to spin: others have their turn first.
    Spinning,
    /// Has sent its end of thread.
    Ended,
}

/// The integer accumulators, which have more bits than their registers show: for each word of the registers,
/// the full value of the element that begins there.
pub type WideAccumulator = [i64; file::ACCUMULATORS * 16];

/// One EU thread.
#[derive(Clone)]
pub struct Thread {
    /// The register file.
    pub file: Box<File>,
    /// Index of the current instruction.
    pub ip: usize,
    /// Index of the next instruction.
    pub next: usize,
    /// Enabled channels.
    pub active: u32,
    /// Channels that are parked at another instruction.
    pub parked: u32,
    /// The instruction at which each of them is parked.
    pub parked_at: [u32; 32],
    /// Channels that it was dispatched with.
    pub dispatch_mask: u32,
    /// Bit set of general registers that have been written.
    pub written: u128,
    /// Floating-point mode.
    pub float: FloatMode,
    /// See [`WideAccumulator`].
    pub wide_accumulator: Box<WideAccumulator>,
    /// State.
    pub status: Status,
    /// The last atomic operation whose result it has asked for, if that has left memory as it was.
    pub polls: Option<usize>,
    /// Number within the work-group.
    pub number: u32,
    /// Hardware thread slot.
    pub slot: u32,
    /// Counts of what it has executed.
    pub statistics: GroupStatistics,
}

impl Default for Thread {
    fn default() -> Thread {
        Thread {
            file: Box::new([0; FILE_BYTES]),
            ip: 0,
            next: 0,
            active: 0,
            parked: 0,
            parked_at: [0; 32],
            dispatch_mask: 0,
            written: 0,
            float: FloatMode::default(),
            wide_accumulator: Box::new([0; file::ACCUMULATORS * 16]),
            status: Status::Ended,
            polls: None,
            number: 0,
            slot: 0,
            statistics: GroupStatistics::default(),
        }
    }
}

impl Thread {
    /// Starts a new thread of a launch, at instruction 0. General registers outside of the payload keep the
    /// values of the previous thread, as on hardware.
    ///
    /// `id` is the number (FFTID) of the hardware thread in `slot`.
    pub fn start(&mut self, launch: &Launch, group: [u32; 3], number: u32, slot: u32, id: u32) {
        launch.write_payload(group, number, id, &mut self.file[..file::GRF_BYTES]);
        self.file[file::NULL..].fill(0);
        self.wide_accumulator.fill(0);
        let cr0 = launch.control();
        file::set_dword(&mut self.file, CONTROL, cr0);
        self.float = FloatMode::of_control(cr0);
        self.dispatch_mask = launch.dispatch_mask(number);
        self.active = self.dispatch_mask;
        self.parked = 0;
        self.ip = 0;
        self.next = 0;
        self.written = file::grf_mask(0, launch.payload_registers() * GRF_SIZE);
        self.status = Status::Ready;
        self.polls = None;
        self.number = number;
        self.slot = slot;
        self.statistics = GroupStatistics { threads: 1, ..GroupStatistics::default() };
    }

    /// Its atomic operation, whose result it asks for, has left memory as it was. When it does so twice with none
    /// between that has changed memory, it probably waits for what another thread is to write, such as a lock.
    pub fn poll(&mut self) {
        if self.polls.replace(self.ip) == Some(self.ip) {
            self.status = Status::Spinning;
        }
    }

    /// Clears the accumulators.
    pub fn clear_accumulators(&mut self) {
        self.file[file::ACCUMULATOR..file::FLAG].fill(0);
        self.wide_accumulator.fill(0);
    }

    /// Both flag registers: `f1` above `f0`.
    #[inline(always)]
    pub fn flags(&self) -> u64 {
        bytemuck::pod_read_unaligned(&self.file[FLAG..FLAG + 8])
    }

    /// Sets the flag bits from `first` on that `mask` enables to those of `bits`.
    #[inline(always)]
    pub fn set_flags(&mut self, first: u8, mask: u32, bits: u32) {
        let mask = u64::from(mask) << first;
        let flags = self.flags() & !mask | u64::from(bits) << first & mask;
        self.file[FLAG..FLAG + 8].copy_from_slice(&flags.to_le_bytes());
    }

    /// Parks channels (bit 0: channel 0 of the thread) at an instruction.
    pub fn park(&mut self, channels: u32, at: usize) {
        let mut left = channels;
        while left != 0 {
            self.parked_at[left.trailing_zeros() as usize] = at as u32;
            left &= left - 1;
        }
        self.active &= !channels;
        self.parked |= channels;
    }

    /// Enables the channels that are parked at the current instruction.
    pub fn unpark(&mut self) {
        let mut left = self.parked;
        while left != 0 {
            let channel = left.trailing_zeros();
            if self.parked_at[channel as usize] as usize == self.ip {
                self.active |= 1 << channel;
            }
            left &= left - 1;
        }
        self.parked &= !self.active;
    }

    /// Whether a channel is parked at an instruction.
    pub fn has_parked_at(&self, at: usize) -> bool {
        (0..32).any(|c| self.parked >> c & 1 != 0 && self.parked_at[c] as usize == at)
    }
}

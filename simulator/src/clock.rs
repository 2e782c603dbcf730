//! The GPU's clock: the timestamp that registers and PIPE_CONTROL give.

use std::sync::OnceLock;

use crate::device::Device;

/// When this process looked at the clock first, in nanoseconds.
static ORIGIN: OnceLock<i64> = OnceLock::new();

const SECOND: u64 = 1_000_000_000;

/// The GPU was switched on a second before: a timestamp of 0 means "never" to many programs.
const SINCE_BOOT: u64 = SECOND;

/// The timestamp now, in ticks of [`Device::timestamp_frequency`]; 36 bits wide as the register
/// (Skylake manual, Volume 2c, TIMESTAMP). All simulated devices of a process share the clock's origin.
pub fn timestamp(device: &Device) -> u64 {
    let elapsed = (monotonic_ns() - ORIGIN.get_or_init(monotonic_ns)) as u64 + SINCE_BOOT;
    let frequency = device.timestamp_frequency;
    let within_second = elapsed % SECOND * frequency / SECOND;
    (elapsed / SECOND).wrapping_mul(frequency).wrapping_add(within_second) & ((1 << 36) - 1)
}

/// The host's monotonic clock in nanoseconds, as fences' timestamps and time limits of requests have it.
pub fn monotonic_ns() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the result goes to a variable of our own; this clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

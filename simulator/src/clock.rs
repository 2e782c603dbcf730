//! The GPU's clock: the timestamp that registers and PIPE_CONTROL give.

use std::sync::OnceLock;

use gencl_eu::device::Device;

/// The time at which this process first read the clock, in nanoseconds of the monotonic clock.
static ORIGIN: OnceLock<i64> = OnceLock::new();

const SECOND: u64 = 1_000_000_000;

/// Nanoseconds between the start of the GPU's clock and [`ORIGIN`]: many programs take a timestamp of 0 for
/// "never".
const SINCE_BOOT: u64 = SECOND;

/// The current timestamp, in ticks of [`Device::timestamp_frequency`]; 36 bits wide as the register
/// (Skylake manual, Volume 2c, TIMESTAMP). All simulated devices of a process share the clock's origin.
pub fn timestamp(device: &Device) -> u64 {
    let origin = *ORIGIN.get_or_init(monotonic_ns);
    // Another thread may have set the origin to a later time than this one has read.
    ticks(device.timestamp_frequency, u64::try_from(monotonic_ns() - origin).unwrap_or(0))
}

/// The timestamp `elapsed` nanoseconds after the origin.
fn ticks(frequency: u64, elapsed: u64) -> u64 {
    let since_boot = elapsed.wrapping_add(SINCE_BOOT);
    let within_second = since_boot % SECOND * frequency / SECOND;
    (since_boot / SECOND).wrapping_mul(frequency).wrapping_add(within_second) & ((1 << 36) - 1)
}

/// The host's monotonic clock in nanoseconds: the clock of fence timestamps and of timeouts in requests.
pub fn monotonic_ns() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the result goes to a variable of our own; this clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

#[cfg(test)]
mod tests {
    use super::{SECOND, ticks};

    #[test]
    fn ticks_begin_at_one_second_and_have_36_bits() {
        const SKYLAKE: u64 = 12_000_000;
        assert_eq!(ticks(SKYLAKE, 0), SKYLAKE);
        assert_eq!(ticks(SKYLAKE, SECOND / 2 + 83), SKYLAKE * 3 / 2);
        assert_eq!(ticks(SKYLAKE, SECOND / 2 + 84), SKYLAKE * 3 / 2 + 1);
        let wraps = (1_u64 << 36).div_ceil(SKYLAKE);
        assert_eq!(ticks(SKYLAKE, (wraps - 1) * SECOND), wraps * SKYLAKE - (1 << 36));
    }
}

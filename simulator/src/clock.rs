//! The GPU's clock: the timestamp that registers and PIPE_CONTROL give.

use std::sync::OnceLock;
use std::time::Instant;

use crate::device::Device;

/// When this process's simulated GPUs were switched on.
static ORIGIN: OnceLock<Instant> = OnceLock::new();

/// The timestamp now, in ticks of [`Device::timestamp_frequency`]; 36 bits wide as the register
/// (Skylake manual, Volume 2c, TIMESTAMP). All simulated devices of a process share the clock's origin.
pub fn timestamp(device: &Device) -> u64 {
    let elapsed = ORIGIN.get_or_init(Instant::now).elapsed().as_nanos();
    let ticks = elapsed * u128::from(device.timestamp_frequency) / 1_000_000_000;
    ticks as u64 & ((1 << 36) - 1)
}

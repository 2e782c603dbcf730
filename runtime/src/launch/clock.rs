//! Conversion of GPU timestamps to the host's clock.

use gencl_i915::RenderNode;

use crate::{Device, host_time};

/// Offset of the timestamp register, as I915_REG_READ takes it.
const TIMESTAMP: u64 = 0x2358;

/// Valid bits of a timestamp (Skylake manual, Volume 2c, TIMESTAMP).
const BITS: u64 = (1 << 36) - 1;

/// The GPU's timestamp and the host's clock at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Correlation {
    ticks: u64,
    host_ns: u64,
    hz: u64,
}

impl Correlation {
    /// Reads both clocks. `None` when the kernel driver does not allow reading the GPU's.
    pub(crate) fn now(node: &dyn RenderNode, device: &Device) -> Option<Self> {
        let ticks = node.reg_read(TIMESTAMP).ok()?;
        Some(Self { ticks, host_ns: host_time(), hz: device.facts().timestamp_hz })
    }

    /// Begin and end in nanoseconds of the host's clock; the timestamps were taken after this correlation.
    pub(crate) fn convert(&self, begin: u64, end: u64) -> (u64, u64) {
        let start = self.host_ns + nanoseconds(begin.wrapping_sub(self.ticks) & BITS, self.hz);
        (start, start + duration(begin, end, self.hz))
    }
}

/// Nanoseconds between two timestamps.
pub(crate) fn duration(begin: u64, end: u64, hz: u64) -> u64 {
    nanoseconds(end.wrapping_sub(begin) & BITS, hz)
}

fn nanoseconds(ticks: u64, hz: u64) -> u64 {
    (u128::from(ticks) * 1_000_000_000 / u128::from(hz)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_nanoseconds() {
        let correlation = Correlation { ticks: 100, host_ns: 1_000_000, hz: 12_000_000 };
        assert_eq!(correlation.convert(112, 124), (1_001_000, 1_002_000));
    }

    #[test]
    fn timestamps_wrap() {
        let correlation = Correlation { ticks: BITS - 11, host_ns: 0, hz: 12_000_000 };
        assert_eq!(correlation.convert(0, 12), (1_000, 2_000));
    }
}

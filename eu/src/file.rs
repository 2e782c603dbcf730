//! The register file of a thread as a flat array of bytes: general registers, followed by architecture
//! registers, so that every direct operand is a byte offset.

use gencl_isa::{Arf, Register};

use crate::dispatch::GRF_SIZE;

/// Number of general registers.
pub const GRF_COUNT: usize = 128;
/// Bytes of all general registers.
pub const GRF_BYTES: usize = GRF_COUNT * GRF_SIZE;

/// Offset of `null`, the first architecture register. Each register number has [`GRF_SIZE`] bytes.
pub const NULL: usize = GRF_BYTES;
/// Size of `null`: that of the largest operand, so that reads of it need no bounds check.
const NULL_BYTES: usize = 8 * GRF_SIZE;
/// `a0`
pub const ADDRESS: usize = NULL + NULL_BYTES;
/// `acc0`-`acc9` (`acc2`-`acc9` are the `mme` registers of Gen8+).
pub const ACCUMULATOR: usize = ADDRESS + GRF_SIZE;
/// Number of accumulator registers.
pub const ACCUMULATORS: usize = 10;
/// `f0`, `f1`: one after the other, so that both are one qword
pub const FLAG: usize = ACCUMULATOR + ACCUMULATORS * GRF_SIZE;
/// `ce`
pub const CHANNEL_ENABLE: usize = FLAG + GRF_SIZE;
/// `sp`
pub const STACK_POINTER: usize = CHANNEL_ENABLE + GRF_SIZE;
/// `sr0`, `sr1`
pub const STATE: usize = STACK_POINTER + GRF_SIZE;
/// `cr0`
pub const CONTROL: usize = STATE + 2 * GRF_SIZE;
/// `n0`-`n2` as the dwords of one register
pub const NOTIFICATION: usize = CONTROL + GRF_SIZE;
/// `ip`
pub const IP: usize = NOTIFICATION + GRF_SIZE;
/// `tdr0`
pub const THREAD_DEPENDENCY: usize = IP + GRF_SIZE;
/// `tm0`
pub const TIMESTAMP: usize = THREAD_DEPENDENCY + GRF_SIZE;
/// `fc0`-`fc4`
pub const FLOW_CONTROL: usize = TIMESTAMP + GRF_SIZE;
/// Bytes of the whole file. After the last register there is room for the largest operand.
pub const FILE_BYTES: usize = FLOW_CONTROL + 5 * GRF_SIZE + NULL_BYTES;

/// The register file of one thread.
pub type File = [u8; FILE_BYTES];

/// The offset of a register's first byte; `None` for one that does not exist.
pub fn offset_of(register: Register) -> Option<usize> {
    let numbered = |base: usize, number: u8, count: usize| {
        (usize::from(number) < count).then(|| base + usize::from(number) * GRF_SIZE)
    };
    match register {
        Register::Grf(number) => numbered(0, number, GRF_COUNT),
        Register::Arf(arf) => match arf {
            Arf::Null => Some(NULL),
            Arf::Address => Some(ADDRESS),
            Arf::Accumulator(n) => numbered(ACCUMULATOR, n, ACCUMULATORS),
            Arf::Flag(n) => (n < 2).then(|| FLAG + usize::from(n) * 4),
            Arf::ChannelEnable => Some(CHANNEL_ENABLE),
            Arf::StackPointer => Some(STACK_POINTER),
            Arf::State(n) => numbered(STATE, n, 2),
            Arf::Control(n) => numbered(CONTROL, n, 1),
            // All of them are dwords of one register.
            Arf::Notification(n) => (n < 3).then(|| NOTIFICATION + usize::from(n) * 4),
            Arf::Ip => Some(IP),
            Arf::ThreadDependency => Some(THREAD_DEPENDENCY),
            Arf::Timestamp => Some(TIMESTAMP),
            Arf::FlowControl(n) => numbered(FLOW_CONTROL, n, 5),
        },
    }
}

/// Bit set of the general registers that overlap bytes `start..end` of the file.
pub fn grf_mask(start: usize, end: usize) -> u128 {
    let (first, last) = (start / GRF_SIZE, end.saturating_sub(1) / GRF_SIZE);
    if start >= end || first >= GRF_COUNT {
        return 0;
    }
    let count = last.min(GRF_COUNT - 1) - first + 1;
    (u128::MAX >> (GRF_COUNT - count)) << first
}

/// Reads a dword.
#[inline]
pub fn dword(file: &File, offset: usize) -> u32 {
    bytemuck::pod_read_unaligned(&file[offset..offset + 4])
}

/// Writes a dword.
#[inline]
pub fn set_dword(file: &mut File, offset: usize, value: u32) {
    file[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
}

/// The zero-extended value of 1, 2, 4 or 8 bytes. Each length has its own load: a copy of variable length is
/// a call of `memcpy`, whose loads may have other widths than the preceding stores, which prevents
/// forwarding.
#[inline]
pub fn element(bytes: &[u8]) -> u64 {
    use bytemuck::pod_read_unaligned as value;
    match bytes.len() {
        1 => u64::from(bytes[0]),
        2 => u64::from(value::<u16>(bytes)),
        4 => u64::from(value::<u32>(bytes)),
        _ => value(bytes),
    }
}

/// Stores the low 1, 2, 4 or 8 bytes of an element.
#[inline]
pub fn set_element(bytes: &mut [u8], element: u64) {
    match bytes.len() {
        1 => bytes[0] = element as u8,
        2 => bytes.copy_from_slice(&(element as u16).to_le_bytes()),
        4 => bytes.copy_from_slice(&(element as u32).to_le_bytes()),
        _ => bytes.copy_from_slice(&element.to_le_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn register_sets() {
        assert_eq!(grf_mask(0, 32), 1);
        assert_eq!(grf_mask(31, 33), 3);
        assert_eq!(grf_mask(127 * 32, GRF_BYTES), 1 << 127);
        assert_eq!(grf_mask(0, GRF_BYTES), u128::MAX);
        assert_eq!(grf_mask(NULL, NULL + 32), 0);
        assert_eq!(grf_mask(64, 64), 0);
    }

    #[test]
    fn registers_do_not_overlap() {
        let all = [
            Register::Grf(127),
            Register::NULL,
            Register::Arf(Arf::Flag(1)),
            Register::Arf(Arf::FlowControl(4)),
        ];
        let offsets: Vec<_> = all.iter().map(|r| offset_of(*r).unwrap()).collect();
        assert!(offsets.windows(2).all(|w| w[0] + 4 <= w[1]));
        assert!(offsets[3] + GRF_SIZE <= FILE_BYTES);
        assert_eq!(offset_of(Register::Grf(128)), None);
        assert_eq!(offset_of(Register::Arf(Arf::Flag(2))), None);
    }
}

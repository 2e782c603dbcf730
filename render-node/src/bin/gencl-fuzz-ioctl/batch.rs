//! Batches: right ones, and such as chance makes of them.

use gencl_testing::Random;

use crate::odd::odd;

/// Flags of an object with a fixed address (`EXEC_OBJECT_PINNED`, `EXEC_OBJECT_SUPPORTS_48B_ADDRESS`).
pub const PINNED: u64 = 0x18;
/// The flag of an object that the batch writes (`EXEC_OBJECT_WRITE`).
pub const WRITTEN: u64 = 4;
/// The request's flag that the first object is the batch (`I915_EXEC_BATCH_FIRST`).
pub const FIRST: u64 = 1 << 18;
/// The request's flag that relocations name objects by their index (`I915_EXEC_HANDLE_LUT`).
pub const BY_INDEX: u64 = 1 << 12;

/// MI_BATCH_BUFFER_END
pub const END: u32 = 0x0500_0000;

/// Commands by their first dword, and how many dwords they are long (Skylake manual, Volume 2a).
const COMMANDS: &[(u32, usize)] = &[
    (0x0000_0000, 1),  // MI_NOOP
    (0x1000_0002, 4),  // MI_STORE_DATA_IMM
    (0x1020_0003, 5),  // MI_STORE_DATA_IMM of a qword
    (0x1100_0001, 3),  // MI_LOAD_REGISTER_IMM
    (0x1200_0002, 4),  // MI_STORE_REGISTER_MEM
    (0x1480_0002, 4),  // MI_LOAD_REGISTER_MEM
    (0x1500_0001, 3),  // MI_LOAD_REGISTER_REG
    (0x1700_0003, 5),  // MI_COPY_MEM_MEM
    (0x1880_0101, 3),  // MI_BATCH_BUFFER_START
    (0x0d00_0002, 4),  // MI_MATH
    (0x0600_0000, 1),  // MI_PREDICATE
    (0x0e00_0002, 4),  // MI_SEMAPHORE_WAIT
    (0x6904_0300, 1),  // PIPELINE_SELECT
    (0x6101_0011, 19), // STATE_BASE_ADDRESS
    (0x7000_0007, 9),  // MEDIA_VFE_STATE
    (0x7001_0002, 4),  // MEDIA_CURBE_LOAD
    (0x7002_0002, 4),  // MEDIA_INTERFACE_DESCRIPTOR_LOAD
    (0x7004_0000, 2),  // MEDIA_STATE_FLUSH
    (0x7105_000d, 15), // GPGPU_WALKER
    (0x7a00_0004, 6),  // PIPE_CONTROL
    (0x6102_0001, 3),  // STATE_SIP
    (0x7905_0002, 4),  // something of the 3D pipeline
];

/// A batch that writes `value` to `address` and ends.
pub fn store(address: u64, value: u32) -> [u32; 5] {
    [0x1000_0002, address as u32, (address >> 32) as u32, value, END]
}

/// A batch of random commands about `addresses`, with an end most of the time.
pub fn any(random: &mut Random, addresses: &[u64]) -> Vec<u32> {
    let mut batch = Vec::new();
    for _ in 0..random.below(24) {
        let (head, length) = random.pick(COMMANDS);
        batch.push(if random.one_in(24) { head ^ 1 << random.below(32) } else { head });
        while batch.len() % 64 != 0 && random.below(length as u64 + 1) > 0 && batch.len() < 400 {
            batch.push(dword(random, addresses));
        }
    }
    if !random.one_in(12) {
        batch.push(END);
    }
    batch
}

fn dword(random: &mut Random, addresses: &[u64]) -> u32 {
    match random.below(6) {
        0 | 1 if !addresses.is_empty() => random.pick(addresses) as u32 + 4 * random.below(64) as u32,
        2 => 0,
        3 => random.below(256) as u32,
        4 => 0x2000 + 4 * random.below(0x400) as u32,
        _ => odd(random) as u32,
    }
}

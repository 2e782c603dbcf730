//! Numbers such as faults like.

use gencl_testing::Random;

/// Numbers at which things change.
const EDGES: [u64; 18] = [
    0,
    1,
    2,
    3,
    7,
    8,
    63,
    64,
    4095,
    4096,
    4097,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    1 << 47,
    0x7fff_ffff_ffff_f000,
    u64::MAX - 4095,
    u64::MAX,
];

/// An edge, a small number, a power of two, any.
pub fn odd(random: &mut Random) -> u64 {
    match random.below(4) {
        0 => random.next_u64(),
        1 => random.below(32),
        2 => 1 << random.below(64),
        _ => random.pick(&EDGES),
    }
}

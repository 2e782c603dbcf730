//! Sizes of memory and of its parts.

use gencl_testing::Random;

/// A size: mostly up to `usual`, sometimes one that is at a limit of something.
pub fn size(random: &mut Random, usual: usize) -> usize {
    const ODD: [usize; 12] = [
        0,
        1,
        usual_limit(),
        usual_limit() + 1,
        1 << 31,
        1 << 32,
        (1 << 32) + 1,
        1 << 62,
        usize::MAX / 2,
        usize::MAX / 2 + 1,
        usize::MAX - 1,
        usize::MAX,
    ];
    if random.one_in(12) { random.pick(&ODD) } else { random.below(usual + 1) }
}

/// The largest buffer.
pub const fn usual_limit() -> usize {
    1 << 16
}

//! What chance decides in one thread.

/// A pseudo random sequence (splitmix64), so that a thread's calls follow from its seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    /// One of a list, which is not empty.
    pub fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// A size: mostly up to `usual`, sometimes one that is at a limit of something.
    pub fn size(&mut self, usual: usize) -> usize {
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
        if self.one_in(12) { self.of(&ODD) } else { self.below(usual + 1) }
    }
}

/// The largest buffer.
pub const fn usual_limit() -> usize {
    1 << 16
}

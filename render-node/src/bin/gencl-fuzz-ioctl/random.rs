//! A random generator with a seed.

/// A generator (xorshift64*).
pub struct Random(u64);

/// Boundary values.
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

impl Random {
    /// Accepts any seed.
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        random.next();
        random
    }

    /// 64 random bits.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Less than `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// True once in `times`.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// A boundary value, a small or an arbitrary number.
    pub fn odd(&mut self) -> u64 {
        match self.below(4) {
            0 => self.next(),
            1 => self.below(32),
            2 => 1 << self.below(64),
            _ => self.pick(&EDGES),
        }
    }
}

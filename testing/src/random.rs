//! Pseudo-random numbers.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

/// A sequence that depends on its seed only, the same in every run and on every machine: the algorithm is
/// fixed.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The sequence of a seed; different seeds have different sequences.
    pub fn new(seed: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// From 0 to below `limit`, which is above 0.
    pub fn below<N: TryFrom<u64>>(&mut self, limit: N) -> N
    where
        u64: TryFrom<N>,
    {
        let limit = u64::try_from(limit).ok().expect("the limit is not negative");
        N::try_from(self.next_u64() % limit).ok().expect("it is below the limit")
    }

    /// True once in `times`, which is above 0.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// A float in `low..high`.
    pub fn float(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * (self.next_u32() >> 8) as f32 / (1 << 24) as f32
    }

    /// The bits of a number of some type that is likely to be special: small, extreme, floats around 1,
    /// denormals, infinities, NaN.
    pub fn dword(&mut self) -> u32 {
        let floats = [0.0, -0.0, 1.0, -1.5, 0.75, 3e9, -3e9, 1e-40, f32::MAX, f32::INFINITY, f32::NAN];
        match self.below(7) {
            0 => self.below(70),
            1 => self.pick(&[0, u32::MAX, 0x8000_0000, 0x7fff_ffff, 0x8000, 0xffff, 0x80, 0xff]),
            2 => self.pick(&floats).to_bits(),
            3 => (self.below(2000u32) as f32 / 7.0 - 100.0).to_bits(),
            // The upper half of doubles around 1.
            4 => 0x3ff0_0000 + (self.next_u32() & 0x000f_ffff) - if self.one_in(2) { 0x40_0000 } else { 0 },
            // Half floats around 1, and denormal ones.
            5 => (0..2).fold(0, |all, _| all << 16 | (self.next_u32() & self.pick(&[0xbfff, 0x83ff]))),
            _ => self.next_u32(),
        }
    }
}

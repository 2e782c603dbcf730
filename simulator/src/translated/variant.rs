//! Finds the properties of a launch that translated code can be specialised for.

use gencl_eu::abi::{Pattern, Variant};
use gencl_eu::dispatch::Launch;

use super::surfaces::LaunchSurfaces;

/// Bytes of a half register, the granularity of patterns.
const HALF: usize = 16;

/// The most specialised variant of a launch, without counters. `spins` and `strict` are those of [`Variant`].
pub fn of(launch: &Launch, surfaces: &LaunchSurfaces, spins: bool, strict: bool) -> Variant {
    let lanes = u32::MAX >> (32 - launch.simd_width);
    Variant {
        simd_width: launch.simd_width,
        full: (0..launch.threads_per_group()).all(|thread| launch.dispatch_mask(thread) == lanes),
        cross_thread: launch.cross_thread.len() as u32,
        per_thread: patterns(&launch.per_thread, launch.per_thread_size, launch.simd_width),
        indirect_data: launch.indirect_data,
        control: launch.control(),
        local: launch.slm_size > 0,
        scratch: launch.scratch.map_or(0, |scratch| scratch.per_thread),
        flat: surfaces.flat,
        images: surfaces.facts(),
        barrier: launch.barrier,
        single_thread: launch.barrier && launch.threads_per_group() == 1,
        spins,
        strict,
        counted: false,
    }
}

/// The most specialised pattern that each half register has in the per-thread constants of all threads.
/// `size` is the number of bytes per thread.
///
/// [`Pattern::Repeats`] and [`Pattern::Continues`] only relate half registers that hold lanes of one word
/// value, which fills `2 * simd_width` bytes.
fn patterns(constants: &[u8], size: usize, simd_width: u32) -> Vec<Pattern> {
    let value = (2 * simd_width as usize).max(2 * HALF);
    let mut all = vec![ALL_PATTERNS; size / HALF];
    for thread in constants.chunks_exact(size.max(1)) {
        for (index, half) in thread.chunks_exact(HALF).enumerate() {
            let start = index * HALF;
            let before = (!start.is_multiple_of(value)).then(|| &thread[start - HALF..start]);
            all[index] &= fitting(half, before);
        }
    }
    let best = |fits: u32| SPECIAL.iter().rev().find(|(_, bit)| fits & bit != 0);
    // Without constants nothing is known.
    let known = !constants.is_empty();
    all.into_iter()
        .map(|fits| best(fits).filter(|_| known).map_or(Pattern::Any, |(pattern, _)| *pattern))
        .collect()
}

/// The patterns other than `Any`, each with its bit, from general to specialised.
const SPECIAL: [(Pattern, u32); 4] =
    [(Pattern::Uniform, 1), (Pattern::Consecutive, 2), (Pattern::Repeats, 4), (Pattern::Continues, 8)];

/// The bits of all of them.
const ALL_PATTERNS: u32 = 15;

/// The patterns of a half register, given the one before it, as bits.
fn fitting(half: &[u8], before: Option<&[u8]>) -> u32 {
    let word =
        |half: &[u8], index: usize| u32::from(u16::from_le_bytes([half[2 * index], half[2 * index + 1]]));
    let first = word(half, 0);
    let last = before.map(|before| word(before, HALF / 2 - 1));
    let follows = |step: u32| (1..HALF as u32 / 2).all(|n| word(half, n as usize) == first + n * step);
    let bit = |holds: bool, bit: u32| if holds { bit } else { 0 };
    let (uniform, consecutive) = (follows(0), follows(1));
    // The relation to the half register before is only useful if that one has a pattern itself.
    let before_uniform = before.is_some_and(|before| fitting(before, None) & 1 != 0);
    let before_consecutive = before.is_some_and(|before| fitting(before, None) & 2 != 0);
    bit(uniform, 1)
        | bit(consecutive, 2)
        | bit(uniform && before_uniform && last == Some(first), 4)
        | bit(consecutive && before_consecutive && last.map(|last| last + 1) == Some(first), 8)
}

/// The variant that is valid for all launches that differ only in dispatch masks, in the values of per-thread
/// constants, and in the number of threads.
pub fn general(variant: &Variant) -> Variant {
    let per_thread = vec![Pattern::Any; variant.per_thread.len()];
    Variant { full: false, single_thread: false, per_thread, ..variant.clone() }
}

/// As [`general`], and with any images.
pub fn most_general(variant: &Variant) -> Variant {
    Variant { images: vec![None; variant.images.len()], ..general(variant) }
}

/// Whether code for one variant is valid for launches of another.
pub fn covers(code: &Variant, launch: &Variant) -> bool {
    let patterns = || code.per_thread.iter().zip(&launch.per_thread);
    let images = || code.images.iter().zip(&launch.images);
    let Variant { full, single_thread, .. } = *launch;
    let (per_thread, own_images) = (launch.per_thread.clone(), launch.images.clone());
    let same = Variant { full, single_thread, per_thread, images: own_images, ..code.clone() };
    same == *launch
        && code.images.len() == launch.images.len()
        && images().all(|(code, launch)| code.is_none() || code == launch)
        && code.per_thread.len() == launch.per_thread.len()
        && (!code.full || launch.full)
        && (!code.single_thread || launch.single_thread)
        && patterns().all(|(code, launch)| implies(*launch, *code))
}

/// Whether one pattern implies the other.
fn implies(pattern: Pattern, other: Pattern) -> bool {
    match other {
        Pattern::Any => true,
        Pattern::Uniform => matches!(pattern, Pattern::Uniform | Pattern::Repeats),
        Pattern::Consecutive => matches!(pattern, Pattern::Consecutive | Pattern::Continues),
        Pattern::Repeats | Pattern::Continues => pattern == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gencl_eu::abi::ImageFacts;

    fn words(words: [u16; 8]) -> Vec<u8> {
        words.into_iter().flat_map(u16::to_le_bytes).collect()
    }

    /// Consecutive words.
    fn from(first: u16) -> Vec<u8> {
        words(std::array::from_fn(|n| first.wrapping_add(n as u16)))
    }

    #[test]
    fn patterns_hold_for_all_threads() {
        let any = words([1, 2, 3, 4, 5, 6, 7, 7]);
        let threads = [
            [words([3; 8]), from(8), from(8), any].concat(),
            [words([5; 8]), from(0), words([3; 8]), words([3; 8])].concat(),
        ];
        let expected = [Pattern::Uniform, Pattern::Consecutive, Pattern::Any, Pattern::Any];
        assert_eq!(patterns(&threads.concat(), 64, 16), expected);
        assert_eq!(patterns(&[], 0, 16), []);
        assert_eq!(patterns(&[], 32, 16), [Pattern::Any; 2]);
    }

    #[test]
    fn half_registers_continue_within_a_value() {
        use Pattern::{Any, Consecutive, Continues, Repeats, Uniform};
        let ids = [from(0), from(8), from(16), from(24), words([7; 8]), words([7; 8])].concat();
        assert_eq!(patterns(&ids, 96, 32), [Consecutive, Continues, Continues, Continues, Uniform, Repeats]);
        assert_eq!(
            patterns(&ids, 96, 16),
            [Consecutive, Continues, Consecutive, Continues, Uniform, Repeats]
        );
        let threads = [from(0), from(8), from(16), from(25), from(0), words([7; 8])].concat();
        assert_eq!(patterns(&threads, 32, 8), [Consecutive, Any]);
        assert_eq!(patterns(&threads[..64], 32, 8), [Consecutive, Consecutive]);
        let constants = [words([1, 2, 3, 4, 5, 6, 7, 9]), words([9; 8])].concat();
        assert_eq!(patterns(&constants, 32, 16), [Any, Uniform]);
    }

    #[test]
    fn words_that_wrap_around_are_not_consecutive() {
        assert_eq!(patterns(&from(0xfffc), 16, 8), [Pattern::Any]);
        assert_eq!(patterns(&[from(0xfff8), from(0)].concat(), 32, 16), [Pattern::Consecutive; 2]);
    }

    #[test]
    fn general_code_covers_specialised_launches() {
        let filter = None;
        let image = ImageFacts { format: 7, dimensions: 2, array: false, select: [4, 5, 6, 7], filter };
        let special = Variant {
            simd_width: 16,
            full: true,
            cross_thread: 32,
            per_thread: vec![Pattern::Consecutive, Pattern::Uniform],
            indirect_data: false,
            control: 0,
            local: false,
            scratch: 0,
            flat: false,
            images: vec![Some(image.clone()), None],
            barrier: true,
            single_thread: true,
            spins: false,
            strict: true,
            counted: false,
        };
        let general = general(&special);
        assert!(covers(&special, &special) && covers(&general, &special) && covers(&general, &general));
        assert!(!covers(&special, &general));
        let others =
            [Variant { cross_thread: 64, ..special.clone() }, Variant { spins: true, ..special.clone() }];
        assert!(others.iter().all(|other| !covers(&general, other) && !covers(other, &special)));
        let together = Variant { single_thread: false, ..special.clone() };
        assert!(covers(&together, &special) && covers(&general, &together) && !covers(&special, &together));
        let most = most_general(&special);
        assert!(covers(&most, &special) && covers(&most, &general) && !covers(&general, &most));
        let array = Some(ImageFacts { array: true, ..image });
        let other = Variant { images: vec![array.clone(), array], ..special.clone() };
        assert!(!covers(&special, &other) && !covers(&general, &other) && covers(&most, &other));
        let repeats = Variant { per_thread: vec![Pattern::Continues, Pattern::Repeats], ..special.clone() };
        assert!(covers(&special, &repeats) && !covers(&repeats, &special));
        let fewer = Variant { per_thread: vec![Pattern::Any], ..special.clone() };
        assert!(!covers(&fewer, &special) && !covers(&special, &fewer));
    }
}

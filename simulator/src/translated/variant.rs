//! What a launch has that translated code may rely on.

use super::abi::{Pattern, Variant};
use crate::dispatch::Launch;

/// Bytes that have a pattern of their own: half a register.
const HALF: usize = 16;

/// The variant of a launch, as special as it can be.
pub fn of(launch: &Launch, strict: bool) -> Variant {
    let lanes = u32::MAX >> (32 - launch.simd_width);
    Variant {
        simd_width: launch.simd_width,
        full: (0..launch.threads_per_group()).all(|thread| launch.dispatch_mask(thread) == lanes),
        cross_thread: launch.cross_thread.len() as u32,
        per_thread: patterns(&launch.per_thread, launch.per_thread_size),
        indirect_data: launch.indirect_data,
        control: launch.control(),
        local: launch.slm_size > 0,
        barrier: launch.barrier,
        strict,
    }
}

/// The pattern of each half register that the constants of all threads have. `size` are the bytes of one thread's.
fn patterns(constants: &[u8], size: usize) -> Vec<Pattern> {
    let mut all = vec![None; size / HALF];
    for (index, half) in constants.chunks_exact(HALF).enumerate() {
        let count = all.len();
        match &mut all[index % count] {
            Some(Pattern::Any) => {}
            Some(pattern) if *pattern == pattern_of(half) => {}
            Some(pattern) => *pattern = Pattern::Any,
            first => *first = Some(pattern_of(half)),
        }
    }
    all.into_iter().map(Option::unwrap_or_default).collect()
}

fn pattern_of(half: &[u8]) -> Pattern {
    let word = |index: usize| u32::from(u16::from_le_bytes([half[2 * index], half[2 * index + 1]]));
    let follows = |step: u32| (1..HALF as u32 / 2).all(|n| word(n as usize) == word(0) + n * step);
    match () {
        () if follows(0) => Pattern::Uniform,
        () if follows(1) => Pattern::Consecutive,
        () => Pattern::Any,
    }
}

/// The variant that holds for all launches that differ only in which lanes run and in their threads' own constants.
pub fn general(variant: &Variant) -> Variant {
    let per_thread = vec![Pattern::Any; variant.per_thread.len()];
    Variant { full: false, per_thread, ..variant.clone() }
}

/// Does code for a variant hold for the launches of another?
pub fn covers(code: &Variant, launch: &Variant) -> bool {
    let patterns = || code.per_thread.iter().zip(&launch.per_thread);
    let same = Variant { full: launch.full, per_thread: launch.per_thread.clone(), ..code.clone() };
    same == *launch
        && code.per_thread.len() == launch.per_thread.len()
        && (!code.full || launch.full)
        && patterns().all(|(code, launch)| *code == Pattern::Any || code == launch)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: [u16; 8]) -> Vec<u8> {
        words.into_iter().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn patterns_hold_for_all_threads() {
        let (uniform, consecutive) = (words([3; 8]), words(std::array::from_fn(|n| n as u16 + 8)));
        let any = words([1, 2, 3, 4, 5, 6, 7, 7]);
        let threads = [
            [&uniform[..], &consecutive, &consecutive, &any].concat(),
            [&words([5; 8])[..], &words(std::array::from_fn(|n| n as u16)), &uniform, &uniform].concat(),
        ];
        let expected = [Pattern::Uniform, Pattern::Consecutive, Pattern::Any, Pattern::Any];
        assert_eq!(patterns(&threads.concat(), 64), expected);
        assert_eq!(patterns(&[], 0), []);
    }

    #[test]
    fn words_that_wrap_around_do_not_follow_each_other() {
        let wrapping = words(std::array::from_fn(|n| (n as u16).wrapping_add(0xfffc)));
        assert_eq!(patterns(&wrapping, 16), [Pattern::Any]);
    }

    #[test]
    fn general_code_serves_special_launches() {
        let special = Variant {
            simd_width: 16,
            full: true,
            cross_thread: 32,
            per_thread: vec![Pattern::Consecutive, Pattern::Uniform],
            indirect_data: false,
            control: 0,
            local: false,
            barrier: false,
            strict: true,
        };
        let general = general(&special);
        assert!(covers(&special, &special) && covers(&general, &special) && covers(&general, &general));
        assert!(!covers(&special, &general));
        let other = Variant { cross_thread: 64, ..special.clone() };
        assert!(!covers(&general, &other) && !covers(&other, &special));
        let fewer = Variant { per_thread: vec![Pattern::Any], ..special.clone() };
        assert!(!covers(&fewer, &special) && !covers(&special, &fewer));
    }
}

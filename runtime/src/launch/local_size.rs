//! Choosing a work-group size when the application gives none.

/// A good work-group size for `global` work-items: a divisor in each dimension (x may be any size in `uneven`
/// spaces of one dimension), of at most `limit` work-items.
///
/// Small work-groups waste lanes and dispatch time, large ones occupy fewer EUs. The order of goals: full
/// threads; 64 work-items or more, 256 in large spaces; wide in x, where neighbouring work-items access
/// neighbouring memory.
pub(crate) fn choose(global: [u64; 3], simd_width: u32, limit: u32, uneven: bool) -> [u32; 3] {
    let enough = enough(global);
    if uneven && global[1] == 1 && global[2] == 1 {
        let whole = u64::from(limit.min(enough.max(simd_width)));
        if !global[0].is_multiple_of(whole) && global[0] > whole {
            return [whole as u32, 1, 1];
        }
    }
    let divisors: [Vec<u32>; 3] = std::array::from_fn(|dimension| {
        (1..=limit).filter(|&size| global[dimension].is_multiple_of(u64::from(size))).collect()
    });
    let mut best = ([1; 3], Score::of([1; 3], simd_width, enough));
    for &z in &divisors[2] {
        for &y in divisors[1].iter().take_while(|&&y| y * z <= limit) {
            for &x in divisors[0].iter().take_while(|&&x| x * y * z <= limit) {
                let score = Score::of([x, y, z], simd_width, enough);
                if score > best.1 {
                    best = ([x, y, z], score);
                }
            }
        }
    }
    best.0
}

/// Work-items beyond which a larger work-group is no better.
fn enough(global: [u64; 3]) -> u32 {
    // With 256 groups of 256 work-items, each EU has several.
    if global.iter().fold(1, |all: u64, one| all.saturating_mul(*one)) >= 256 * 256 { 256 } else { 64 }
}

/// Quality of a size, compared field by field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    /// Work-items up to [`enough`], times the fraction of lanes in use.
    useful: u32,
    /// Width in x, up to two threads.
    width: u32,
    /// Smaller groups are better.
    small: std::cmp::Reverse<u32>,
    /// Flatter groups are better.
    depth: std::cmp::Reverse<u32>,
}

impl Score {
    fn of([x, y, z]: [u32; 3], simd_width: u32, enough: u32) -> Self {
        let size = x * y * z;
        let lanes = size.next_multiple_of(simd_width);
        Self {
            useful: size.min(enough) * 16 * size / lanes,
            width: x.min(2 * simd_width),
            small: std::cmp::Reverse(size),
            depth: std::cmp::Reverse(z * 256 + y),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices() {
        let cases: [([u64; 3], u32, [u32; 3]); 10] = [
            ([1024, 1, 1], 16, [64, 1, 1]),
            ([1024, 32, 1], 16, [64, 1, 1]),
            ([1024, 768, 1], 16, [256, 1, 1]),
            ([1000, 1, 1], 16, [125, 1, 1]),
            ([48, 1, 1], 16, [48, 1, 1]),
            ([7, 1, 1], 16, [7, 1, 1]),
            ([1, 64, 1], 8, [1, 64, 1]),
            ([4, 4, 4], 16, [4, 4, 4]),
            ([10_007, 1, 1], 16, [1, 1, 1]),
            ([1, 1, 1], 16, [1, 1, 1]),
        ];
        for (global, simd, expected) in cases {
            assert_eq!(choose(global, simd, 256, false), expected, "{global:?} at SIMD{simd}");
        }
    }

    #[test]
    fn uneven_spaces_ignore_divisors() {
        assert_eq!(choose([10_007, 1, 1], 16, 256, true), [64, 1, 1]);
        assert_eq!(choose([128, 1, 1], 16, 256, true), [64, 1, 1]);
        assert_eq!(choose([20, 1, 1], 16, 256, true), [20, 1, 1]);
    }

    #[test]
    fn always_divides_and_keeps_the_limit() {
        for x in 1..200 {
            for limit in [16, 64, 256] {
                let local = choose([x, 12, 3], 16, limit, false);
                assert!(local.iter().product::<u32>() <= limit);
                for (global, local) in [x, 12, 3].into_iter().zip(local) {
                    assert_eq!(global % u64::from(local), 0);
                }
            }
        }
    }
}

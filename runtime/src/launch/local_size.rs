//! Work-group sizes: checking the application's, and choosing one when it gives none.

use crate::{Code, Error, NdRange, Result};

/// Checks an index space. `INVALID_WORK_DIMENSION`; `INVALID_GLOBAL_WORK_SIZE` and `INVALID_GLOBAL_OFFSET`
/// when a size or the last global id exceeds the device's `size_t`, which has `address_bits` bits.
pub(crate) fn check_range(range: &NdRange, address_bits: u32) -> Result<()> {
    let most = u64::MAX >> (64 - address_bits);
    if !(1..=3).contains(&range.dimensions) {
        return Err(Error::new(Code::InvalidWorkDimension, format!("{} dimensions", range.dimensions)));
    }
    for (offset, global) in range.offset.into_iter().zip(range.global) {
        if global > most {
            return Err(Error::new(Code::InvalidGlobalWorkSize, format!("{global} work-items")));
        }
        if offset.checked_add(global).is_none_or(|end| end > most) {
            return Err(Error::new(Code::InvalidGlobalOffset, format!("{offset} + {global} overflows")));
        }
    }
    Ok(())
}

/// Limits of work-group sizes, in work-items.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Of each dimension, on the device.
    pub(crate) dimension: u32,
    /// Of a work-group of the kernel.
    pub(crate) group: u32,
    /// Of a work-group whose size the runtime chooses: at the kernel's own SIMD width.
    pub(crate) chosen: u32,
}

/// The work-group size: the application's, checked, or one that the runtime chooses.
pub(crate) fn local_size(
    kernel: &gencl_program::Kernel,
    range: &NdRange,
    limits: Limits,
    uneven: bool,
) -> Result<[u32; 3]> {
    let local = match (range.local, kernel.required_work_group_size) {
        (None, None) => {
            return Ok(choose(range.global, kernel.simd_width, limits.chosen, uneven));
        }
        (Some(local), Some(required)) if local != required => {
            let reason = format!("{} requires work-groups of {required:?}, not {local:?}", kernel.name);
            return Err(Error::new(Code::InvalidWorkGroupSize, reason));
        }
        (Some(local), _) => local,
        (None, Some(required)) => required,
    };
    if local.contains(&0) {
        return Err(Error::new(Code::InvalidWorkGroupSize, format!("{local:?}")));
    }
    if local.iter().any(|&size| size > limits.dimension) {
        let reason = format!("{local:?}: at most {} work-items in each dimension", limits.dimension);
        return Err(Error::new(Code::InvalidWorkItemSize, reason));
    }
    if local.iter().product::<u32>() > limits.group {
        let reason =
            format!("{local:?}: at most {} work-items in a work-group of {}", limits.group, kernel.name);
        return Err(Error::new(Code::InvalidWorkGroupSize, reason));
    }
    Ok(local)
}

/// A good work-group size for `global` work-items: a divisor in each dimension (x may be any size in `uneven`
/// spaces of one dimension), of at most `limit` work-items.
///
/// Small work-groups waste lanes and dispatch time, large ones occupy fewer EUs. The order of goals: full
/// threads; 64 work-items or more, 256 in large spaces; wide in x, where neighbouring work-items access
/// neighbouring memory.
fn choose(global: [u64; 3], simd_width: u32, limit: u32, uneven: bool) -> [u32; 3] {
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

    #[test]
    fn local_sizes_are_checked() {
        let kernel = gencl_program::Kernel { simd_width: 16, ..Default::default() };
        let limits = Limits { dimension: 256, group: 256, chosen: 256 };
        let range = |local| NdRange { dimensions: 1, offset: [0; 3], global: [256, 1, 1], local };
        let code = |kernel, local| local_size(kernel, &range(Some(local)), limits, false).unwrap_err().code;
        assert_eq!(local_size(&kernel, &range(None), limits, false).unwrap(), [64, 1, 1]);
        assert_eq!(code(&kernel, [0, 1, 1]), Code::InvalidWorkGroupSize);
        assert_eq!(code(&kernel, [257, 1, 1]), Code::InvalidWorkItemSize);
        assert_eq!(code(&kernel, [32, 16, 1]), Code::InvalidWorkGroupSize);
        let required = gencl_program::Kernel { required_work_group_size: Some([8, 1, 1]), ..kernel.clone() };
        assert_eq!(code(&required, [16, 1, 1]), Code::InvalidWorkGroupSize);
        assert_eq!(local_size(&required, &range(None), limits, false).unwrap(), [8, 1, 1]);
        let large = gencl_program::Kernel { required_work_group_size: Some([16, 32, 1]), ..kernel.clone() };
        let few = Limits { dimension: 512, group: 256, chosen: 256 };
        let range_of_512 = NdRange { local: Some([512, 1, 1]), global: [512, 1, 1], ..range(None) };
        let refused = local_size(&kernel, &range_of_512, few, false).unwrap_err();
        assert_eq!(refused.code, Code::InvalidWorkGroupSize, "more than the kernel's threads have");
        let refused = local_size(&large, &range(None), limits, false).unwrap_err();
        assert_eq!(refused.code, Code::InvalidWorkGroupSize, "more than the device has");
    }

    #[test]
    fn ranges_are_checked() {
        let range = NdRange { dimensions: 1, offset: [0; 3], global: [256, 1, 1], local: None };
        assert!(check_range(&range, 32).is_ok());
        let code = |range| check_range(&range, 64).unwrap_err().code;
        assert_eq!(code(NdRange { dimensions: 4, ..range }), Code::InvalidWorkDimension);
        assert_eq!(code(NdRange { offset: [u64::MAX, 0, 0], ..range }), Code::InvalidGlobalOffset);
        let code = |range| check_range(&range, 32).unwrap_err().code;
        assert_eq!(code(NdRange { global: [1 << 32, 1, 1], ..range }), Code::InvalidGlobalWorkSize);
        assert_eq!(code(NdRange { offset: [u32::MAX.into(), 0, 0], ..range }), Code::InvalidGlobalOffset);
    }
}

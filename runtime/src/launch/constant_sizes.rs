//! How many registers of constants a kernel's threads have.

use gencl_program::Kernel;

/// Bytes of a GRF.
pub(crate) const REGISTER: usize = 32;

/// Bytes of local ids per thread: x, y, z, each with 16 bits per lane, padded to whole registers.
pub(crate) fn local_ids_size(kernel: &Kernel) -> usize {
    local_ids_size_at(kernel, kernel.simd_width)
}

/// As [`local_ids_size`], at a SIMD width of `lanes`.
fn local_ids_size_at(kernel: &Kernel, lanes: u32) -> usize {
    if kernel.local_ids { 3 * (2 * lanes as usize).next_multiple_of(REGISTER) } else { 0 }
}

/// Largest number of registers of per-thread constants (Ivy Bridge manual, Volume 2 Part 2, and Broadwell's,
/// Volume 2d: `INTERFACE_DESCRIPTOR_DATA`, Constant URB Entry Read Length, 0 to 63).
const MAX_PER_THREAD: usize = 63;

/// Registers of cross-thread and of per-thread constants. Without hardware support for cross-thread constants
/// (`shared` is false) they are part of each thread's.
fn registers(kernel: &Kernel, lanes: u32, shared: bool) -> (usize, usize) {
    let (cross, ids) =
        (kernel.cross_thread_size as usize / REGISTER, local_ids_size_at(kernel, lanes) / REGISTER);
    if shared { (cross, ids) } else { (0, cross + ids) }
}

/// Largest number of threads of a work-group whose constants fit into `limit` registers, at a SIMD width of
/// `lanes`.
pub(crate) fn max_threads(kernel: &Kernel, lanes: u32, shared: bool, limit: u32) -> u32 {
    let (all, each) = registers(kernel, lanes, shared);
    (limit as usize).saturating_sub(all).checked_div(each).map_or(u32::MAX, |threads| threads as u32)
}

/// Checks that the device can start a kernel; the error says why not. `shared`: see
/// [`super::CommandSet::shares_constants`].
pub(crate) fn check(kernel: &Kernel, shared: bool) -> Result<(), String> {
    let (_, own) = registers(kernel, kernel.simd_width, shared);
    if own > MAX_PER_THREAD {
        return Err(format!("{own} registers of constants per thread, more than {MAX_PER_THREAD}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_limit_threads() {
        let kernel = |cross_thread_size| Kernel {
            simd_width: 16,
            local_ids: true,
            cross_thread_size,
            ..Kernel::default()
        };
        // One copy, and three registers of ids for each thread.
        assert_eq!(max_threads(&kernel(32 * 32), 16, true, 2016), (2016 - 32) / 3);
        // A copy for each thread.
        assert_eq!(max_threads(&kernel(32 * 32), 16, false, 2016), 57);
        assert_eq!(max_threads(&kernel(32 * 32), 16, false, 992), 28);
        assert_eq!(max_threads(&Kernel { local_ids: false, ..kernel(0) }, 16, false, 992), u32::MAX);
        assert!(check(&kernel(60 * 32), false).is_ok());
        assert!(check(&kernel(61 * 32), false).is_err());
        assert!(check(&kernel(61 * 32), true).is_ok());
    }
}

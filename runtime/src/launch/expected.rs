//! What is known of a kernel's launches before the first one.

use gencl_i915::{ExpectedLaunch, LaunchHint};
use gencl_program::{ArgumentKind, PushSource};

use super::constant_sizes::local_ids_size;
use super::constants;
use crate::BuiltKernel;

/// Work-groups that are expected where the kernel does not say more, of kernels that ask for ids in x alone, and of others. Of
/// sizes that fill threads, code is specialised for the width of a row only, and for that only if it is less than a thread's.
const GROUPS: [[u32; 3]; 2] = [[64, 1, 1], [16, 4, 1]];

/// Has the device prepare for launches of a kernel while the result is kept. `None` when there is nothing to prepare.
pub(crate) fn expect(build: &BuiltKernel) -> Option<LaunchHint> {
    let (kernel, device) = (build.info(), build.device());
    let set = device.commands();
    let said = kernel.required_work_group_size.or(kernel.work_group_size_hint);
    let asks_for_y = |source| matches!(source, PushSource::LocalSize(1) | PushSource::EnqueuedLocalSize(1));
    let likely = GROUPS[usize::from(kernel.pushes.iter().any(|push| asks_for_y(push.source)))];
    let local = said.unwrap_or(likely);
    let group = local.iter().fold(1u32, |all, one| all.saturating_mul(*one));
    if group == 0 || group > build.own_work_group_size() {
        return None;
    }
    let threads = group.div_ceil(kernel.simd_width);
    let ids = local_ids_size(kernel);
    let mut per_thread = vec![0; threads as usize * ids];
    constants::local_ids(kernel, local, &mut per_thread);
    let mut cross_thread = kernel.cross_thread_size as usize;
    if !set.shares_constants() {
        // Each thread has a copy of the arguments. Code cannot be specialised for numbers like these.
        let arguments = (0..cross_thread as u32 / 2).flat_map(|n| ((n * n) as u16).to_le_bytes());
        per_thread.splice(..0, arguments);
        per_thread.resize(threads as usize * (cross_thread + ids), 0);
        constants::interleave(cross_thread, ids, threads as usize, &mut per_thread);
        cross_thread = 0;
    }
    let scratch = match kernel.scratch_size {
        0 => 0,
        size => (set.scratch_code)(size)?.1,
    };
    let has_local = kernel.arguments.iter().any(|argument| argument.kind == ArgumentKind::LocalPointer);
    device.node().expect_launch(&ExpectedLaunch {
        code: &kernel.code,
        simd_width: kernel.simd_width,
        work_items: group,
        cross_thread,
        per_thread: &per_thread,
        local_memory: kernel.local_size.max(has_local.into()),
        barrier: kernel.barrier,
        scratch,
    })
}

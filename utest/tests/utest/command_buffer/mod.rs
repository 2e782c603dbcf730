//! `cl_khr_command_buffer` and `cl_khr_command_buffer_mutable_dispatch`: recorded commands do what enqueued ones do.

mod again;
mod errors;
mod information;
mod lifetimes;
mod list;
mod mutable;
mod order;
mod random;
mod shared;
mod times;
mod values;

use gencl_utest::{Case, Need, all_needing};

pub use list::{queue_with, set};

/// Kernels of these tests.
const SOURCE: &str = r#"
kernel void add(global int *p, int n) { p[get_global_id(0)] += n; }
kernel void put(global int *p, int n) { p[get_global_id(0) - get_global_offset(0)] = n; }
kernel void scale(global int *to, global const int *from, int by) {
    int i = get_global_id(0);
    to[i] = from[i] * by + i;
}
kernel void sizes(global int *p) {
    if (get_global_id(0) == get_global_offset(0)) {
        p[0] = get_global_offset(0);
        p[1] = get_global_size(0);
        p[2] = get_local_size(0);
    }
}
kernel void sum(global int *p, local int *l) {
    int i = get_local_id(0);
    l[i] = p[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (int k = 0; k < (int)get_local_size(0); k++) sum += l[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    p[get_global_id(0)] = sum;
}
kernel void turn(global int *p, int n) {
    int i = get_global_id(0), a[64];
    for (int k = 0; k < 64; k++) a[(k + n) & 63] = k * 3 + i;
    p[i] += a[(i + 2 * n) & 63];
}
kernel void wild(global int *p, int n) { if (n) p[0x10000000] = n; }
kernel void tell(int n) { printf("number %d\n", n); }
kernel void nothing(void) {}"#;

pub fn cases() -> Vec<Case> {
    let cases = vec![
        Case::new("command_buffer_launches", values::launches),
        Case::new("command_buffer_arguments", values::arguments),
        Case::of_gencl(
            "others want the application to initialize",
            "command_buffer_constructed",
            values::constructed,
        )
        .needing(Need::Extension("cl_ext_cxx_for_opencl")),
        Case::new("command_buffer_copies", values::copies),
        Case::new("command_buffer_rectangles", values::rectangles),
        Case::new("command_buffer_images", values::images),
        Case::new("command_buffer_empty", values::empty),
        Case::new("command_buffer_long", values::long),
        Case::new("command_buffer_order", order::sync_points),
        Case::new("command_buffer_queues", order::queues),
        Case::new("command_buffer_simultaneous", order::simultaneous),
        Case::new("command_buffer_waits", order::waits),
        Case::of_gencl("others fail otherwise", "command_buffer_failures", order::failures),
        Case::new("command_buffer_events", times::events),
        Case::new("command_buffer_times", times::times),
        Case::new("command_buffer_random", random::programs),
        Case::new("command_buffer_often", again::often),
        Case::new("command_buffer_threads", again::threads),
        Case::new("command_buffer_private", again::private),
        Case::new("command_buffer_prints", again::prints),
        Case::of_gencl("others lose the context", "command_buffer_faults", again::faults)
            .needing(Need::Simulator),
        Case::of_gencl("its own trace", "command_buffer_traced", again::traced),
        Case::new("command_buffer_kept", lifetimes::kept),
        Case::new("command_buffer_released", lifetimes::released),
        Case::new("command_buffer_information", information::information),
        Case::new("command_buffer_device", information::device),
        Case::of_gencl("others accept more", "command_buffer_errors", errors::errors),
        Case::of_gencl("others accept more", "command_buffer_wait_lists", errors::wait_lists),
        Case::of_gencl("others accept more", "command_buffer_states", errors::states),
    ];
    let mutable = vec![
        Case::new("command_buffer_mutable_arguments", mutable::arguments),
        Case::new("command_buffer_mutable_sizes", mutable::sizes),
        Case::new("command_buffer_mutable_deferred", mutable::deferred),
        Case::new("command_buffer_mutable_running", mutable::running),
        Case::of_gencl("others accept more", "command_buffer_mutable_errors", mutable::errors),
        Case::of_gencl("others accept more", "command_buffer_mutable_nothing_kept", mutable::nothing_kept),
        Case::new("command_buffer_mutable_information", information::commands),
    ];
    let shared = vec![
        Case::new("command_buffer_shared", shared::commands),
        Case::new("command_buffer_shared_pointers", shared::pointers),
        Case::of_gencl("its blocking free", "command_buffer_shared_freed", shared::freed),
    ];
    let needs = [
        ("cl_khr_command_buffer", cases),
        ("cl_khr_command_buffer_mutable_dispatch", mutable),
        ("cl_khr_command_buffer", all_needing(Need::SharedMemory, shared)),
    ];
    needs.into_iter().flat_map(|(name, cases)| all_needing(Need::Extension(name), cases)).collect()
}

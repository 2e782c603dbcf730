/* All forms of C11 atomics on a global and a local variable. */
__kernel void c11_atomics(__global atomic_int *counters, __global atomic_float *real, __global atomic_flag *flags)
{
    __local atomic_int total;
    __local atomic_uint most;
    int i = get_global_id(0), l = get_local_id(0);
    if (l == 0) {
        atomic_init(&total, 0);
        atomic_init(&most, 0u);
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_add_explicit(&total, i, memory_order_relaxed, memory_scope_work_group);
    atomic_fetch_max_explicit(&most, (uint)i, memory_order_acq_rel, memory_scope_work_group);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        atomic_fetch_add(&counters[0], atomic_load_explicit(&total, memory_order_relaxed, memory_scope_work_group));
        atomic_fetch_max(&counters[1], (int)atomic_load(&most));
    }
    atomic_fetch_sub_explicit(&counters[2], 2, memory_order_acq_rel);
    atomic_fetch_or(&counters[3], 1 << (i & 31));
    atomic_fetch_xor(&counters[4], i);
    atomic_fetch_and(&counters[5], ~(1 << (i & 7)));
    atomic_fetch_min(&counters[6], -(i * 5 % 97));
    int old = atomic_load_explicit(&counters[7], memory_order_relaxed, memory_scope_device);
    while (!atomic_compare_exchange_strong(&counters[7], &old, old + 3))
        ;
    if (i == 5) {
        atomic_store_explicit(&counters[8], 77, memory_order_release, memory_scope_device);
        atomic_exchange(real, 2.25f);
    }
    /* No lock between lanes of one sub-group: they may wait for each other. Every work-item has a flag of its own. */
    bool before = atomic_flag_test_and_set_explicit(flags + i, memory_order_acquire, memory_scope_device);
    bool after = atomic_flag_test_and_set(flags + i);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    if (i & 1)
        atomic_flag_clear_explicit(flags + i, memory_order_release, memory_scope_device);
    if (before || !after)
        atomic_fetch_add(&counters[9], 1);
}

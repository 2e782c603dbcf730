/* The work-item that counts last sums what all have written before they counted, in one scope and with another: FIRST
   is that of the writers, SECOND that of the reader. */
__kernel void inclusive_scopes(__global int *written, __global atomic_int *counts, __global int *sums)
{
    int i = get_global_id(0), size = get_local_size(0), group = get_group_id(0);
    written[i] = i + 1;
#ifdef FENCES
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, FIRST);
    int before = atomic_fetch_add_explicit(counts + group, 1, memory_order_relaxed, SECOND);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, SECOND);
    bool last = before == size - 1;
#else
    atomic_fetch_add_explicit(counts + group, 1, memory_order_release, FIRST);
    int all = size;
    bool last = atomic_compare_exchange_strong_explicit(counts + group, &all, -1, memory_order_acquire,
                                                        memory_order_relaxed, SECOND);
#endif
    if (last) {
        int sum = 0;
        for (int k = 0; k < size; k++)
            sum += written[group * size + k];
        sums[group] = sum;
    }
}

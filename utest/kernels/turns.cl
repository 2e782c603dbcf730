#define ITEMS 1000

/* What needs other work-items of a group to have their turn: they meet without a barrier, share a queue, and hold a lock
 * for longer than a turn is. `own` are five counters of each group. */
__kernel void turns(__global volatile int *counters, __global int *queue, int rounds)
{
    __global volatile int *own = counters + 5 * get_group_id(0);
    int n = get_local_size(0), l = get_local_id(0);
    queue += ITEMS * get_group_id(0);
    for (int round = 1; round <= rounds; round++) {
        atomic_inc(&own[0]);
        while (atomic_add(&own[0], 0) < round * n)
            ;
    }
    for (int i = atomic_inc(&own[1]); i < ITEMS; i = atomic_inc(&own[1]))
        queue[i] = i * 3 + l / n;
    if (l % 32 == 0) {
        while (atomic_cmpxchg(&own[2], 0, 1) != 0)
            ;
        int before = own[4];
        for (int k = 0; k < 200; k++)
            if (atomic_inc(&own[3]) < 0)
                break;
        own[4] = before + 1;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        atomic_xchg(&own[2], 0);
    }
}

/* Work-items meet twice without a barrier, and find in their private memory what they have left there. */
__kernel void turns_private(__global volatile int *counters, __global int *dst, int rounds)
{
    int heap[40];
    int n = get_local_size(0), l = get_local_id(0), i = get_global_id(0);
    for (int k = 0; k < 40; k++)
        heap[k] = k * i;
    for (int round = 1; round <= rounds; round++) {
        atomic_inc(&counters[get_group_id(0)]);
        while (atomic_add(&counters[get_group_id(0)], 0) < round * n)
            ;
        heap[(l + 7 * round) % 40] += heap[(l + 11 * round) % 40];
    }
    int sum = 0;
    for (int k = 0; k < 40; k++)
        sum = sum * 3 + heap[k];
    dst[i] = sum;
}

__kernel void atomics(__global int *counters, __global uint *order)
{
    __local int total;
    int i = get_global_id(0), l = get_local_id(0);
    if (l == 0)
        total = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&total, i);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        atomic_add(&counters[0], total);
    atomic_inc(&counters[1]);
    atomic_max(&counters[2], i * 7 % 101);
    atomic_min(&counters[3], -(i * 5 % 97));
    atomic_or(&counters[4], 1 << (i & 31));
    atomic_xor(&counters[5], i);
    atomic_sub(&counters[6], 2);
    int old;
    do
        old = counters[7];
    while (atomic_cmpxchg(&counters[7], old, old + 3) != old);
    order[atomic_inc(&counters[8])] = i;
}

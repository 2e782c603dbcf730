#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

__kernel void atomics64(__global long *counters, __global long *groups)
{
    __local long total, most, steps, mixed;
    int i = get_global_id(0), l = get_local_id(0);
    long wide = (long)i << 33 | i;
    if (l == 0) {
        total = mixed = steps = 0;
        most = -1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atom_add(&total, wide);
    atom_max(&most, wide);
    atom_xor(&mixed, wide);
    long old = steps;
    for (;;) {
        long seen = atom_cmpxchg(&steps, old, old + 5);
        if (seen == old)
            break;
        old = seen;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        __global long *group = groups + 4 * get_group_id(0);
        group[0] = total;
        group[1] = most;
        group[2] = steps;
        group[3] = mixed;
    }
    atom_add(counters, wide);
    atom_inc(counters + 1);
    atom_dec(counters + 2);
    atom_max(counters + 3, wide);
    atom_min(counters + 4, -wide);
    atom_and(counters + 5, ~(1L << (32 + (i & 7))));
    atom_or(counters + 6, 1L << (32 + (i & 7)));
    atom_xor(counters + 7, wide);
    old = counters[8];
    for (;;) {
        long seen = atom_cmpxchg(counters + 8, old, old + (3L << 32));
        if (seen == old)
            break;
        old = seen;
    }
    atom_sub(counters + 9, 1L);
}

// Local memory, barriers, atomics, work-item functions.
// run 16 8
// buffer int zero 32
// buffer int zero 4
// local 32
constant int weights[4] = {1, 10, 100, 1000};
kernel void group(global int *out, global int *counters, local int *shared) {
    local int sum;
    int l = get_local_id(0), g = get_global_id(0);
    if (l == 0)
        sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    shared[l] = g * g;
    atomic_add(&sum, weights[l & 3]);
    atomic_inc(counters);
    atomic_max(counters + 1, g);
    atomic_cmpxchg(counters + 2, 0, 42);
    atomic_xor(counters + 3, g);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = shared[(l + 1) % get_local_size(0)] + sum;
    out[16 + g] = get_group_id(0) * 1000 + get_num_groups(0) * 100 + get_global_size(0) + get_work_dim() * 10000 +
                  get_global_offset(0) + get_local_id(1) + get_group_id(g & 3);
}
// expect
// 2223 2226 2231 2238 2247 2258 2271 2222 2303 2322 2343 2366 2391 2418 2447 2286 10216 10216 10216 10216 10216 10216 10216 10216 11217 11216 11216 11216 11217 11216 11216 11216
// 16 15 42 0

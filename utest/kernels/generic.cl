// Generic pointers (OpenCL C 3.0).
int sum(const int *values, int count) {
    int total = 0;
    for (int i = 0; i < count; i++)
        total += values[i];
    return total;
}

// Each lane reads and writes another space: which is not known before the kernel runs.
__kernel void mixed(__global int *out, __global int *data, __local int *group) {
    int id = get_global_id(0), lane = get_local_id(0);
    int own[4] = {id, id * 2, id * 3, id * 4};
    for (int i = 0; i < 4; i++)
        group[lane * 4 + i] = 1000 * lane + i;
    barrier(CLK_LOCAL_MEM_FENCE);
    int *pointer = id % 3 == 0 ? own : id % 3 == 1 ? (int *)(group + lane * 4) : (int *)(data + id * 4);
    pointer[id % 4] += 7;
    out[id] = sum(pointer, 4);
}

__kernel void wide(__global ulong *out, __global ulong4 *data, __local ulong4 *group) {
    int id = get_global_id(0), lane = get_local_id(0);
    ulong4 own = (ulong4)(id, id + 1, id + 2, id + 3);
    group[lane] = own * 10;
    data[id] = own * 100;
    ulong4 *pointer = id % 3 == 0 ? &own : id % 3 == 1 ? (ulong4 *)&group[lane] : (ulong4 *)&data[id];
    *pointer += (ulong4)(1, 2, 3, 4) << 32;
    char *bytes = (char *)pointer;
    bytes[id % 32] ^= 0x11;
    short *words = (short *)pointer;
    words[(id + 5) % 16] += 0x101;
    ulong4 result = *pointer;
    vstore4(result, id, out);
}

__kernel void spaces(__global int *out, __local int *group) {
    int id = get_global_id(0);
    __local int variable;
    int own;
    int *pointers[4] = {&own, group, out, &variable};
    int *pointer = pointers[id % 4];
    int answer = (to_private(pointer) != 0) + 2 * (to_local(pointer) != 0) + 4 * (to_global(pointer) != 0);
    if (get_fence(pointer) == CLK_LOCAL_MEM_FENCE)
        answer += 8;
    if (to_local(pointer) == &variable)
        answer += 16;
    if (pointer == &variable)
        answer += 32;
    out[id] = answer;
}

struct item {
    int *pointer;
    int number;
};

// Pointers that go through memory; structures copied through them.
__kernel void stored(__global int *out, __global struct item *items, __local struct item *local_items) {
    int id = get_global_id(0), lane = get_local_id(0);
    int own = id;
    items[id].pointer = id % 2 ? &own : (int *)&out[id];
    items[id].number = 3 * id;
    struct item *from = &items[id], *to = (struct item *)&local_items[lane];
    *to = *from;
    out[id] = 50;
    *to->pointer += to->number;
    if (id % 2)
        out[id] = own;
}

__kernel void library(__global float *out, __local float *group) {
    int id = get_global_id(0), lane = get_local_id(0);
    float own, x = 1.25f * id + 0.5f;
    float *pointer = id % 2 ? &own : (float *)&group[lane];
    float result = fract(x, pointer);
    result += *pointer;
    int exponent, *where = id % 3 ? &exponent : (int *)&group[lane];
    result += frexp(x, where);
    result += *where;
    out[id] = result;
}

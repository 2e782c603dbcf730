// Program-scope variables (OpenCL C 3.0).
__global int counter = 5;
__global int table[8] = {1, 2, 3, 4, [7] = 80};
__constant int primes[4] = {2, 3, 5, 7};
__constant char *__constant names[3] = {"zero", "one", "three"};

struct node {
    int value;
    __global struct node *next;
    __constant int *prime;
};
__global struct node third = {30, 0, primes};
__global struct node second = {20, &third, primes + 3};
__global struct node first = {10, &second, &primes[1]};

__global int *__global pointer = &table[2];
__global int *__constant fixed = table + 7;

__kernel void count(__global int *out) {
    if (get_global_id(0) == 0) {
        out[0] = counter;
        counter += 10;
        *pointer += 100;
        pointer++;
        out[1] = table[2];
        out[2] = table[3];
        out[3] = *fixed;
    }
}

__kernel void other(__global int *out) {
    if (get_global_id(0) == 0)
        counter *= 2;
    static __global int calls = 0;
    atomic_inc((volatile __global int *)&calls);
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        out[get_group_id(0)] = calls;
}

__kernel void follow(__global int *out) {
    __global struct node *node = get_global_id(0) % 2 ? &second : &first;
    out[get_global_id(0)] = node->value + node->next->value * 100 + *node->next->prime * 10000;
}

__kernel void strings(__global char *out) {
    size_t id = get_global_id(0);
    __constant char *name = names[id % 3];
    int length = 0;
    while (name[length])
        length++;
    out[id] = name[0] + length;
}

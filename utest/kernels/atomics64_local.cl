#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

#define OPERATIONS 11
#define PLACES 5
#define ROUNDS 8

/* All atomics on local memory, by some of the items: in each round on one place or on several, each item for as
   many rounds as it has. What an operation has found there is in `found`, what is there at the end in `left`. */
__kernel void atomics64_local(__global TYPE *found, __global TYPE *left, __global uint *noise, uint busy)
{
    __local TYPE places[OPERATIONS][PLACES];
    uint i = get_global_id(0), l = get_local_id(0), items = get_global_size(0);
    /* Long enough for a simulator to suspect that it spins, and to interrupt all of the group again and again. */
    if (l < 8) {
        uint number = i;
        for (uint n = 0; n < busy; n++)
            number = number * 1664525 + 1013904223 ^ number >> 7;
        noise[i] = number;
    }
    for (uint k = l; k < OPERATIONS * PLACES; k += get_local_size(0))
        places[k / PLACES][k % PLACES] = k / PLACES == 5 ? -1 : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = 0; r < ROUNDS - l % 3; r++) {
        if ((l + r) % 5 == 0)
            continue;
        TYPE x = (TYPE)((i * ROUNDS + r + 1) * 0x9e3779b97f4a7c15UL);
        uint place = r & 1 ? 0 : 1 + l % 4;
#define DO(NUMBER, FUNCTION, ...) \
        found[(NUMBER * ROUNDS + r) * items + i] = FUNCTION(&places[NUMBER][place] __VA_ARGS__)
        DO(0, atom_add, , x);
        DO(1, atom_sub, , x);
        DO(2, atom_xchg, , x);
        DO(3, atom_min, , x);
        DO(4, atom_max, , x);
        DO(5, atom_and, , x);
        DO(6, atom_or, , x);
        DO(7, atom_xor, , x);
        DO(8, atom_inc, );
        DO(9, atom_dec, );
        DO(10, atom_cmpxchg, , (TYPE)((l + r) % 3), (TYPE)((l + r + 1) % 3));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = l; k < OPERATIONS * PLACES; k += get_local_size(0))
        left[get_group_id(0) * OPERATIONS * PLACES + k] = places[k / PLACES][k % PLACES];
}

__constant int primes[8] = { 2, 3, 5, 7, 11, 13, 17, 19 };
__constant float scale = 0.5f;
__constant struct { char c; short s; int i; } mixed[2] = { { 1, 2, 3 }, { -4, -5, -6 } };

__kernel void constants(__global float *dst, __constant int *given)
{
    int i = get_global_id(0);
    dst[i] = primes[i & 7] * scale + given[i & 3] + mixed[i & 1].s + mixed[1].i;
}

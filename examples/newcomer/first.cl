// Five kernels as one writes them first, each with a fault that costs time.
#define N 512
#define ROWS 128
#define TERMS 16

// The work-items of a thread are below each other: each has a cache line of its own.
__kernel void brighten(__global const float *in, __global float *out) {
    int row = get_global_id(0), column = get_global_id(1);
    out[row * N + column] = 2 * in[row * N + column];
}

// Neighbours take different branches: a thread executes both.
__kernel void choose(__global const float *in, __global float *out) {
    int column = get_global_id(0), row = get_global_id(1);
    float x = in[row * N + column];
    if (column % 2) {
        for (int i = 0; i < TERMS; i++)
            x = sqrt(x) + 1;
    } else {
        for (int i = 0; i < TERMS; i++)
            x = x * (0.5f - 0.01f * x) + 0.25f;
    }
    out[row * N + column] = x;
}

// The elements of a column are all in one bank.
__kernel void transpose(__global const float *in, __global float *out) {
    __local float tile[16][16];
    int x = get_local_id(0), y = get_local_id(1);
    int column = get_group_id(0) * 16, row = get_group_id(1) * 16;
    tile[y][x] = in[(row + y) * N + column + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(column + y) * N + row + x] = tile[x][y];
}

// Nothing is written in the loop.
__kernel void window(__global const float *in, __global float *out) {
    __local float line[64];
    int column = get_global_id(0), row = get_global_id(1), x = get_local_id(0);
    line[x] = in[row * N + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int k = 0; k < TERMS; k++) {
        sum += line[(x + k) & 63];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[row * N + column] = sum;
}

// More averages than there are registers.
__kernel void average(__global const float *in, __global float *out) {
    int column = get_global_id(0), row = get_global_id(1) * ROWS;
    float average[ROWS];
    for (int i = 0; i < ROWS; i++)
        average[i] = 0;
    for (int k = 0; k < TERMS; k++) {
        float next = in[k * N + column];
        for (int i = 0; i < ROWS; i++)
            average[i] = mad(average[i] - next, (float)i / ROWS, next);
    }
    for (int i = 0; i < ROWS; i++)
        out[(row + i) * N + column] = average[i];
}

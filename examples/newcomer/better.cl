// The kernels of first.cl after the first advice that the profile gives for each.
#define N 512
#define ROWS 128
#define BLOCK 32
#define TERMS 16

// The first dimension is the column: the work-items of a thread are side by side.
__kernel void brighten(__global const float *in, __global float *out) {
    int column = get_global_id(0), row = get_global_id(1);
    out[row * N + column] = 2 * in[row * N + column];
}

// Half of the row is of one kind: a thread executes one branch.
__kernel void choose(__global const float *in, __global float *out) {
    int item = get_global_id(0), row = get_global_id(1);
    int column = item < N / 2 ? 2 * item + 1 : 2 * (item - N / 2);
    float x = in[row * N + column];
    if (item < N / 2) {
        for (int i = 0; i < TERMS; i++)
            x = sqrt(x) + 1;
    } else {
        for (int i = 0; i < TERMS; i++)
            x = x * (0.5f - 0.01f * x) + 0.25f;
    }
    out[row * N + column] = x;
}

// A row has an element more, so that those of a column are in different banks.
__kernel void transpose(__global const float *in, __global float *out) {
    __local float tile[16][17];
    int x = get_local_id(0), y = get_local_id(1);
    int column = get_group_id(0) * 16, row = get_group_id(1) * 16;
    tile[y][x] = in[(row + y) * N + column + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(column + y) * N + row + x] = tile[x][y];
}

// One barrier is enough.
__kernel void window(__global const float *in, __global float *out) {
    __local float line[64];
    int column = get_global_id(0), row = get_global_id(1), x = get_local_id(0);
    line[x] = in[row * N + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int k = 0; k < TERMS; k++)
        sum += line[(x + k) & 63];
    out[row * N + column] = sum;
}

// The averages are computed in blocks that fit into the registers.
__kernel void average(__global const float *in, __global float *out) {
    int column = get_global_id(0), row = get_global_id(1) * ROWS;
    for (int first = 0; first < ROWS; first += BLOCK) {
        float average[BLOCK];
        for (int i = 0; i < BLOCK; i++)
            average[i] = 0;
        for (int k = 0; k < TERMS; k++) {
            float next = in[k * N + column];
            for (int i = 0; i < BLOCK; i++)
                average[i] = mad(average[i] - next, (float)(first + i) / ROWS, next);
        }
        for (int i = 0; i < BLOCK; i++)
            out[(row + first + i) * N + column] = average[i];
    }
}

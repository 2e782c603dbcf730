/* Kernels of the benchmarks that are launched large. */
__kernel void axpy(__global const float *x, __global float *y, float a)
{
    int i = get_global_id(0);
    y[i] += a * x[i];
}

/* One sum for each work-group. */
__kernel void sum(__global const float *x, __global float *sums, int count)
{
    __local float part[256];
    int id = get_local_id(0);
    float own = 0;
    for (int i = get_global_id(0); i < count; i += get_global_size(0))
        own += x[i];
    part[id] = own;
    for (int step = 128; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < step)
            part[id] += part[id + step];
    }
    if (id == 0)
        sums[get_group_id(0)] = part[0];
}

/* c = a * b, square matrices, in tiles of 16 x 16. */
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void matmul(__global const float *a, __global const float *b, __global float *c, int n)
{
    __local float left[16][16], right[16][16];
    int x = get_local_id(0), y = get_local_id(1);
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (int tile = 0; tile < n; tile += 16) {
        left[y][x] = a[row * n + tile + x];
        right[y][x] = b[(tile + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++)
            sum += left[y][k] * right[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}

/* A sparse matrix by a vector: a row for each work-item, whose numbers are in places starts[row] to starts[row + 1]. */
__kernel void rows(__global const int *starts, __global const int *columns, __global const float *x,
                   __global float *y)
{
    int row = get_global_id(0);
    float sum = 0;
    for (int i = starts[row]; i < starts[row + 1]; i++)
        sum += 0.5f * x[columns[i]];
    y[row] = sum;
}

/* As many multiplications with additions as a float16 allows: 2 * 16 * 64 * rounds operations for each work-item. */
__kernel void fma16(__global float *out, float a, int rounds)
{
    float16 x = (float16)(a, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7, a + 8, a + 9, a + 10, a + 11, a + 12,
                          a + 13, a + 14, a + 15);
    float16 y = (float16)get_local_id(0);
    for (int i = 0; i < rounds; i++) {
#pragma unroll
        for (int k = 0; k < 32; k++) {
            x = mad(y, x, y);
            y = mad(x, y, x);
        }
    }
    float8 t = y.lo + y.hi;
    float4 u = t.lo + t.hi;
    out[get_global_id(0)] = u.x + u.y + u.z + u.w;
}

/* Reads 16 float4 for each work-item. */
__kernel void read4(__global const float4 *in, __global float *out)
{
    int id = get_group_id(0) * get_local_size(0) * 16 + get_local_id(0);
    float4 sum = 0;
#pragma unroll
    for (int k = 0; k < 16; k++)
        sum += in[id + k * get_local_size(0)];
    out[get_global_id(0)] = sum.x + sum.y + sum.z + sum.w;
}

/* Two pictures as one, by floats. */
__kernel void blend(__global const uchar4 *a, __global const uchar4 *b, __global uchar4 *out, float part)
{
    int id = get_global_id(0);
    float4 first = convert_float4(a[id]), second = convert_float4(b[id]);
    out[id] = convert_uchar4_sat(first * part + second * (1 - part));
}

/* How bright a picture is. */
__kernel void gray(__global const uchar4 *in, __global uchar *out)
{
    int id = get_global_id(0);
    uchar4 pixel = in[id];
    out[id] = (pixel.x * 77 + pixel.y * 151 + pixel.z * 28) >> 8;
}

/* Each place and its neighbours, but not at the margins. */
__kernel void stencil(__global const float *in, __global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1), at = y * width + x;
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1)
        out[at] = 0.2f * (in[at] + in[at - 1] + in[at + 1] + in[at - width] + in[at + width]);
}

/* Sums of all before, for each work-group. */
__kernel void scan(__global const float *in, __global float *out)
{
    __local float sums[256];
    int id = get_local_id(0);
    sums[id] = in[get_global_id(0)];
    for (int step = 1; step < 256; step *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        float before = id >= step ? sums[id - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[id] += before;
    }
    out[get_global_id(0)] = sums[id];
}

/* Quotients and remainders. */
__kernel void divide(__global const uint *a, __global const uint *b, __global uint *out)
{
    int id = get_global_id(0);
    out[id] = a[id] / (b[id] | 1) + a[id] % (b[id] >> 7 | 1);
}

/* Fourier transforms of rows of 1024 complex numbers, one for each work-group, in five passes of radix 4. */
float2 multiply(float2 a, float2 b)
{
    return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void fft(__global float2 *out, __global const float2 *in)
{
    __local float2 row[1024];
    int item = get_local_id(0);
    int first = get_group_id(0) * 1024 + item;
    float2 v[4];
    for (int i = 0; i < 4; i++)
        v[i] = in[first + i * 256];
    for (int size = 1; size < 1024; size *= 4) {
        int k = item & (size - 1);
        float angle = -2 * M_PI_F * k / (4 * size);
        for (int i = 1; i < 4; i++)
            v[i] = multiply(v[i], (float2)(cos(i * angle), sin(i * angle)));
        float2 a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = v[1] - v[3];
        float2 turned = (float2)(d.y, -d.x);
        int to = (item - k) * 4 + k;
        row[to] = a + c;
        row[to + size] = b + turned;
        row[to + 2 * size] = a - c;
        row[to + 3 * size] = b - turned;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < 4; i++)
            v[i] = row[item + i * 256];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < 4; i++)
        out[first + i * 256] = v[i];
}

#define ROWS 8
__kernel void multiply(__global const float *a, __global const float *b, __global float *c, int n) {
    int row = get_global_id(1) * ROWS;
    int column = get_global_id(0);
    float sum[ROWS] = {0};
    for (int k = 0; k < n; k += 4) {
        float value[4];
        for (int j = 0; j < 4; j++)
            value[j] = b[(k + j) * n + column];
        for (int i = 0; i < ROWS; i++) {
            float4 left = vload4(0, a + (row + i) * n + k);
            sum[i] += left.x * value[0] + left.y * value[1] + left.z * value[2] + left.w * value[3];
        }
    }
    for (int i = 0; i < ROWS; i++)
        c[(row + i) * n + column] = sum[i];
}

#define ROWS 8
__kernel void multiply(__global const float *a, __global const float *b, __global float *c, int n) {
    int row = get_global_id(1) * ROWS;
    int column = get_global_id(0);
    float sum[ROWS] = {0};
    for (int k = 0; k < n; k++) {
        float value = b[k * n + column];
        for (int i = 0; i < ROWS; i++)
            sum[i] += a[(row + i) * n + k] * value;
    }
    for (int i = 0; i < ROWS; i++)
        c[(row + i) * n + column] = sum[i];
}

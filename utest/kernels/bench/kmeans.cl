/* The nearest of 16 centers for points of 8 coordinates. */
__kernel void kmeans(__global uint *nearest, __global const float *points, __constant float *centers, int count)
{
    int i = get_global_id(0);
    float best = FLT_MAX;
    uint index = 0;
    for (int k = 0; k < 16; k++) {
        float distance = 0;
        for (int c = 0; c < 8; c++) {
            float difference = points[c * count + i] - centers[k * 8 + c];
            distance += difference * difference;
        }
        if (distance < best) {
            best = distance;
            index = k;
        }
    }
    nearest[i] = index;
}

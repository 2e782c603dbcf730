/* Squared distances of a query to points of many features, a point for each work-item. */
__kernel void nearest(__global float *distances, __global const float *points, __constant float *query, int features)
{
    int point = get_global_id(0);
    float sum = 0;
    for (int i = 0; i < features; i++) {
        float difference = points[point * features + i] - query[i];
        sum += difference * difference;
    }
    distances[point] = sum;
}

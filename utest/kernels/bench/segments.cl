/* Mean and largest value of segments of different length. */
__kernel void segments(__global float2 *out, __global const float *values, __global const uint *starts)
{
    int segment = get_global_id(0);
    uint first = starts[segment], end = starts[segment + 1];
    float sum = 0, most = -INFINITY;
    for (uint i = first; i < end; i++) {
        float value = values[i];
        sum += value;
        most = fmax(most, value);
    }
    out[segment] = (float2)(sum / (end - first), most);
}

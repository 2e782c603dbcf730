// clamp of floats, their vectors, and bounds that are scalars.
// run 8 8
// buffer float zero 72
// buffer float 0.5 -0.5 2.5 -2.5 1e30 -0 -inf inf
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void clamps(global float *out, global const float *in) {
    int i = get_global_id(0);
    float x = in[i];
    global float *o = out + i * 9;
    o[0] = clamp(x, -1.0f, 2.0f);
    vstore2(clamp((float2)(x, -x), -1.0f, 2.0f), 0, o + 1);
    vstore2(clamp((float2)(x, -x), (float2)(0.0f, -3.0f), (float2)(1.0f, 3.0f)), 0, o + 3);
    o[5] = clamp((double)x, -1.5, 1.5);
    o[6] = clamp((double3)(x, -x, x), -0.25, 0.25).y;
    o[7] = clamp((half)x, (half)-4, (half)4);
    o[8] = clamp((half4)(half)x, (half)0, (half)1).w;
}
// expect
// 0.5 0.5 -0.5 0.5 -0.5 0.5 -0.25 0.5 0.5 -0.5 -0.5 0.5 0 0.5 -0.5 0.25 -0.5 0 2 2 -1 1 -2.5 1.5 -0.25 2.5 1 -1 -1 2 0 2.5 -1.5 0.25 -2.5 0 2 2 -1 1 -3 1.5 -0.25 4 1 -0 -0 0 -0 0 -0 0 -0 -0 -1 -1 2 0 3 -1.5 0.25 -4 0 2 2 -1 1 -3 1.5 -0.25 4 1
// 0.5 -0.5 2.5 -2.5 1000000000000000000000000000000 -0 -inf inf

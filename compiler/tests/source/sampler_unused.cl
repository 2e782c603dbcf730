// Samplers that nobody reads with: constants of the program and of functions, handed on to functions that read a buffer.
// run 4 4
// buffer float iota 4
// buffer float zero 4
constant sampler_t whole = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
float read_at(global const float *p, sampler_t s, int2 at) { return p[at.x]; }
static float chosen(global const float *p, sampler_t s, int at) { return at & 1 ? read_at(p, s, at) : read_at(p, whole, at); }
kernel void k(global const float *in, global float *out) {
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    int g = get_global_id(0);
    out[g] = read_at(in, s, (int2)(g, 0)) + chosen(in, s, 3 - g);
}
// expect
// 0 1 2 3
// 3 3 3 3

/* Lists of lists, whose lengths are in memory; bytes, and wide elements, are read too. */
__kernel void compiler_gather_nested(__global const int *src, __global int *dst)
{
    int i = get_global_id(0);
    long sum = src[i + 1];
    for (uint k = src[i] & 7; k < ((uint)src[k & 15] & 31); k++) {
        uint at = k & 7;
        do {
            sum += ((__global const uchar *)src)[at * 3];
            at += 1 + (src[at] & 3);
        } while (at < 15);
        sum ^= ((__global const int2 *)src)[at & 7].y;
    }
    dst[i] = (int)(sum ^ (sum >> 32));
}

// A loop over a small private array that runs a number of rounds known only at run time, with a condition on its progress: one round, fewer
// rounds than the condition's bound, as many, more.
// run 8 8
// buffer uint zero 8
// buffer uint 1 2 3 4 5 6 7 12
kernel void split_loop(global uint *out, global const uint *in) {
    uint i = get_global_id(0);
    uint ring[4] = {1, 2, 3, 4};
    for (uint k = 0; k < in[i]; ++k) {
        if (k < 4)
            ring[k & 3] += k + 10;
        else
            ring[k & 3] ^= 0x100 << (k & 7);
    }
    out[i] = ring[0] + ring[1] + ring[2] + ring[3];
}
// expect
// 0x14 0x1f 0x2b 0x38 0x1038 0x3038 0x7038 0xff38
// 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0xc

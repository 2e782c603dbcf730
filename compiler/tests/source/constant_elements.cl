// Elements at a constant place of a variable and a variable index, in loops of which none dominates the other: LLVM
// makes a constant expression of the place, whose address each block computes.
// run 8 8
// buffer int iota 8
// buffer float zero 8

constant float first[4] = {1, 2, 3, 4};
constant float table[16] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120};

kernel void constant_elements(global const int *in, global float *out) {
    size_t id = get_global_id(0);
    float sum = first[id & 3];
    if (in[id] > 4) {
        for (int i = 0; i < in[id]; i++) {
            sum += (table + in[i])[3];
            out[id] = sum;
        }
    } else {
        for (int i = 0; i < in[id]; i++) {
            sum += (table + in[i + 1])[3];
            out[id] = sum * 2;
        }
    }
}
// expect
// 0 1 2 3 4 5 6 7
// 0 104 226 368 522 302 393 494

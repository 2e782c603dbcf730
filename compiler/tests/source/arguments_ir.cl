// Case 1 is pushed, case 2 is loaded, case 3 is copied.
// ir
struct Block { int first; int rest[4]; };
kernel void direct(global int *out, struct Block block) { out[0] = block.first + block.rest[2]; }
kernel void indirect(global int *out, struct Block block, int i) { out[0] = block.rest[i]; }
kernel void written(global int *out, struct Block block, int i, int j) {
    block.rest[i] = 5;
    out[0] = block.rest[j];
}

// By-value structures: read at known places (pushed constants), at computed places (from memory), written (private copy).
// run 8 8
// buffer int zero 8
// value int 10 11 12 13 14 15 16 17 18
// value int 100 101 102 103
struct Block { int first; int rest[8]; };
kernel void arguments(global int *out, struct Block block, int4 vector) {
    int i = get_global_id(0);
    int direct = block.first + vector.y;
    int indirect = block.rest[i];
    block.rest[i & 3] = -i;
    int written = block.rest[(i + 1) & 7] + block.rest[i & 3];
    out[i] = direct * 1000000 + indirect * 1000 + written;
}
// expect
// 111011012 111012012 111013012 111014012 111015012 111016012 111017012 111018004

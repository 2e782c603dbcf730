// Generic pointers of which nobody knows before the run where they point.
// options -cl-std=CL3.0
// run 12 12
// buffer int zero 12
// buffer int iota 24
// local 96

kernel void by_generic_pointers(global int *out, global int *data, local int *group) {
    int id = get_global_id(0);
    int own[2] = {100 * id, 100 * id + 1};
    group[2 * id] = 1000 * id;
    group[2 * id + 1] = 1000 * id + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    int *pointer = id % 3 == 0 ? own : id % 3 == 1 ? (int *)(group + 2 * id) : (int *)(data + 2 * id);
    *((short *)pointer + 2) += 10000;
    int8 wide = 0;
    wide.s01 = vload2(0, pointer);
    int space = to_private(pointer) ? 1 : to_local(pointer) ? 2 : to_global(pointer) ? 3 : 0;
    out[id] = wide.s0 + wide.s1 + space * 1000000;
}
// expect
// 1010001 2012001 3010009 1010601 2018001 3010021 1011201 2024001 3010033 1011801 2030001 3010045
// 0 1 2 3 4 10005 6 7 8 9 10 10011 12 13 14 15 16 10017 18 19 20 21 22 10023

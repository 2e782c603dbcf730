// The number of a pointer to a local variable, a constant expression, is not that of null.
// options -cl-std=CL3.0
// run 4 4
// buffer int zero 4

kernel void null_number(global int *out) {
    local int group;
    group = 7;
    out[get_global_id(0)] = group + ((size_t)&group != 0);
}
// expect
// 8 8 8 8

// No variable has the address null.
// options -cl-std=CL3.0
// run 4 4
// buffer int zero 4

kernel void null(global int *out) {
    local int group;
    int own = get_global_id(0);
    group = 7;
    int *pointer = &group;
    int answer = to_local(pointer) != 0;
    pointer = &own;
    answer += 2 * (to_private(pointer) != 0);
    out[get_global_id(0)] = answer;
}
// expect
// 3 3 3 3

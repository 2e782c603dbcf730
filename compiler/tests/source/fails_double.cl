// Errors of clang have line and column.
// fails
kernel void k(global float *x) {
    double d = x[0];
    x[1] = undeclared;
}
// expect
// fails_double.cl:4:5: error: use of type 'double' requires cl_khr_fp64 support
//     4 |     double d = x[0];
//       |     ^
// fails_double.cl:5:12: error: use of undeclared identifier 'undeclared'
//     5 |     x[1] = undeclared;
//       |            ^

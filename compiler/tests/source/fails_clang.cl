// Errors of clang have line and column.
// fails
kernel void k(global float *x) {
    double d = x[0] +;
    x[1] = undeclared;
}
// expect
// fails_clang.cl:4:22: error: expected expression
//     4 |     double d = x[0] +;
//       |                      ^
// fails_clang.cl:5:12: error: use of undeclared identifier 'undeclared'
//     5 |     x[1] = undeclared;
//       |            ^

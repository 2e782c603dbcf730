// Errors of clang have line and column.
// fails
kernel void k(global float *x) {
    double d = x[0];
    x[1] = undeclared;
}

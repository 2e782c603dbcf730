// The plainest kernel, as IR.
// ir
// run 6 4
// buffer float iota 6
// buffer float 1 2 3 4 5 6
// value float 0.5
// value int 5
kernel void saxpy(global float *y, global const float *x, float a, int n) {
    int i = get_global_id(0);
    if (i < n)
        y[i] = a * x[i] + y[i];
}

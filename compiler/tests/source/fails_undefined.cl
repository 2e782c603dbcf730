// fails
void missing(global int *x);
kernel void k(global int *x) {
    x[0] = 1;
    missing(x + 1);
}
// expect
// fails_undefined.cl:5:5: error: kernel k: missing is not defined

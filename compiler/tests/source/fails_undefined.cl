// fails
void missing(global int *x);
kernel void k(global int *x) {
    x[0] = 1;
    missing(x + 1);
}

// Errors of the translation have them, too.
// fails
int even(int n);
int odd(int n) { return n == 0 ? 0 : even(n - 1) + 2; }
int even(int n) { return n == 0 ? 1 : odd(n - 1) * 3; }
kernel void k(global int *x) {
    x[0] = even(x[1]);
}
// expect
// fails_recursion.cl:7:12: error: kernel k: even calls itself; recursion is not supported

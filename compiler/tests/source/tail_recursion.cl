// Tail recursion becomes a loop: selection of the k-th smallest of an array, and a factorial (an accumulator).
// run 8 8
// buffer uint zero 16
// buffer int 5 3 9 1 7 2 8 4
int kth(int *a, int left, int right, int k) {
    int pivot = a[right], at = left;
    for (int i = left; i < right; ++i) {
        if (a[i] <= pivot) {
            int other = a[at];
            a[at++] = a[i];
            a[i] = other;
        }
    }
    a[right] = a[at];
    a[at] = pivot;
    if (at == k)
        return pivot;
    return at > k ? kth(a, left, at - 1, k) : kth(a, at + 1, right, k);
}
uint factorial(uint n) { return n == 0 ? 1 : n * factorial(n - 1); }
kernel void k(global uint *out, global const int *in) {
    uint i = get_global_id(0);
    int a[8];
    for (uint n = 0; n < 8; ++n)
        a[n] = in[n];
    out[i] = kth(a, 0, 7, i);
    out[8 + i] = factorial(i);
}
// expect
// 0x1 0x2 0x3 0x4 0x5 0x7 0x8 0x9 0x1 0x1 0x2 0x6 0x18 0x78 0x2d0 0x13b0
// 5 3 9 1 7 2 8 4

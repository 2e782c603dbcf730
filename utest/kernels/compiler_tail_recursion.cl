// Functions that call themselves last: loops.
int divisor(int a, int b) { return b == 0 ? a : divisor(b, a % b); }

// Two calls, several arguments that change places.
int steps(int n, int up, int down) {
    if (n <= 1) return up * 1000 + down;
    return n & 1 ? steps(n - 3, down + 1, up) : steps(n / 2, up, down + 1);
}

// The sum is not the last operation, but can be accumulated.
int sum(int n) { return n == 0 ? 0 : n * n + sum(n - 1); }

// Two functions that call each other.
int odd(int n, int rounds);
int even(int n, int rounds) { return n == 0 ? rounds : odd(n - 1, rounds + 2); }
int odd(int n, int rounds) { return n == 0 ? -rounds : even(n - 1, rounds + 1); }

kernel void compiler_tail_recursion(global const int *src, global int *dst) {
    size_t i = get_global_id(0);
    int a = abs(src[i]), b = abs(src[i + 1]);
    dst[i] = divisor(a, b) + 7 * steps(a, 0, 0) + 11 * sum(b & 31) + 13 * even(a & 15, b);
}

// Dividing by zero gives something, but it ends: 64 bits are divided in a loop.
// run 2 2
// buffer ulong zero 4
// buffer ulong 0x123456789abcdef0 0xffffffffffffffff
// buffer ulong 0 0
kernel void divides(global ulong *out, global const ulong *a, global const ulong *b) {
    int i = get_global_id(0);
    out[i * 2] = a[i] / b[i];
    out[i * 2 + 1] = a[i] % b[i];
}
// expect
// 0xffffffffffffffff 0x123456789abcdef0 0xffffffffffffffff 0xffffffffffffffff
// 0x123456789abcdef0 0xffffffffffffffff
// 0x0 0x0

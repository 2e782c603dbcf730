__kernel void compiler_short_circuit(__global const int *src, __global int *dst)
{
    int i = get_global_id(0);
    int a = src[i], b = src[i + 1], r = 0;
    if (a > 0 && (b > 0 || a > 10) && !(a == b)) r |= 1;
    if (a < 0 || (b < 0 && a < 50)) r |= 2;
    r |= (a > b ? (a > 7 ? 4 : 8) : (b > 7 ? 16 : 32));
    while (a > 0 && b > 0 && r < 4000) { r += 64; a -= 9; b -= 5; }
    dst[i] = r;
}

/* Divergent trip counts at two depths, with break and continue at both. */
__kernel void compiler_nested_loops(__global const int *src, __global int *dst)
{
    int i = get_global_id(0);
    int sum = 0, limit = src[i] & 15;
    for (int a = 0; a < limit; a++) {
        if (a == 3)
            continue;
        for (int b = a; b < 12; b++) {
            if (((b + src[i]) & 3) == 0)
                continue;
            if (b * a > 40)
                break;
            sum += a * 16 + b;
        }
        if (sum > 900)
            break;
        sum++;
    }
    dst[i] = sum;
}

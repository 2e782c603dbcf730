__kernel void compiler_switch(__global const int *src, __global int *dst)
{
    int i = get_global_id(0);
    int value = src[i], result = 0;
    for (int turn = 0; turn < 3; turn++) {
        switch ((value + turn) & 7) {
        case 0:
            result += 1;
            break;
        case 1:
        case 2:
            result += 20;
            /* falls through */
        case 3:
            result ^= 0x55;
            break;
        case 5:
            result *= 3;
            continue;
        case 6:
            goto out;
        default:
            result -= turn;
        }
        result += 100;
    }
out:
    switch (src[i]) {
    case -1000: result += 7; break;
    case 5: result += 70; break;
    case 100000: result += 700; break;
    }
    dst[i] = result;
}

// Loops, switch, break, continue, goto into a loop, short circuits.
// run 16 16
// buffer int zero 16
kernel void control(global int *out) {
    int i = get_global_id(0), sum = 0;
    for (int j = 0; j < i; ++j) {
        if (j == 3)
            continue;
        if (j > 9 && (i & 1))
            break;
        switch (j % 5) {
        case 0: sum += 1; break;
        case 1: sum += 20;
        case 2: sum ^= 300; break;
        default: sum -= j;
        }
    }
    int k = i;
    if (i & 4)
        goto inside;
    while (k > 0) {
        sum += k;
    inside:
        k -= 3;
        if ((k & 7) == 5 || (sum & 3) == 2)
            sum += 1000;
    }
    bool flag = sum > 500;
    do {
        flag = flag != ((sum & 1) == 0);
        sum = flag ? sum / 2 : sum * 3 + 1;
    } while (sum > 4 && sum < 3000);
    out[i] = sum * 2 + flag;
}
// expect
// 1 6014 6386 10304 6134 13328 9188 6416 9476 6710 9188 13328 7682 9188 13328 10628

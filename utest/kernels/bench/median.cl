/* The median of 3 x 3 pixels, by a sorting network; the image's border is repeated. */
#define SORT(a, b) { uchar least = min(a, b); b = max(a, b); a = least; }

__kernel void median(__global uchar *out, __global const uchar *in, int width)
{
    int x = get_global_id(0), y = get_global_id(1), height = get_global_size(1);
    uchar p[9];
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            p[j * 3 + i] = in[clamp(y + j - 1, 0, height - 1) * width + clamp(x + i - 1, 0, width - 1)];
    SORT(p[1], p[2]) SORT(p[4], p[5]) SORT(p[7], p[8])
    SORT(p[0], p[1]) SORT(p[3], p[4]) SORT(p[6], p[7])
    SORT(p[1], p[2]) SORT(p[4], p[5]) SORT(p[7], p[8])
    SORT(p[0], p[3]) SORT(p[5], p[8]) SORT(p[4], p[7])
    SORT(p[3], p[6]) SORT(p[1], p[4]) SORT(p[2], p[5])
    SORT(p[4], p[7]) SORT(p[4], p[2]) SORT(p[6], p[4]) SORT(p[4], p[2])
    out[y * width + x] = p[4];
}

// Comparisons with NaN, rounding, conversions.
// run 8 8
// buffer float zero 64
// buffer int zero 32
// buffer float 0.5 -0.5 2.5 -2.5 1e30 NaN -inf 100.25
kernel void floats(global float *out, global int *bits, global const float *in) {
    int i = get_global_id(0);
    float x = in[i];
    global float *o = out + i * 8;
    o[0] = round(x);
    o[1] = rint(x);
    o[2] = trunc(x) + 2 * floor(x) + 4 * ceil(x);
    o[3] = fmin(x, 1.0f);
    o[4] = fmax(x, 1.0f);
    o[5] = copysign(3.0f, x);
    o[6] = fabs(x) + convert_float(convert_int_sat(x)) + convert_float(convert_uchar_sat_rte(x));
    o[7] = x / 3.0f + sqrt(fabs(x));
    global int *b = bits + i * 4;
    b[0] = (x < 1.0f) | (x <= 1.0f) << 1 | (x > 1.0f) << 2 | (x >= 1.0f) << 3 | (x == x) << 4 | (x != 1.0f) << 5;
    b[1] = !(x < 1.0f) | !(x >= 1.0f) << 1 | isless(x, 1.0f) << 2 | islessgreater(x, 0.5f) << 3;
    b[2] = isnan(x) | isinf(x) << 1 | isfinite(x) << 2 | isnormal(x) << 3 | signbit(x) << 4 | isordered(x, x) << 5;
    b[3] = (int)fmin(fmax(x, -1000.0f), 1000.0f) + ilogb(fabs(x) + 1.0f);
}
// expect
// 1 0 4 0.5 1 3 0.5 0.87377346 -1 -0 -2 -0.5 1 -3 0.5 0.5404401 3 2 18 1 2.5 3 6.5 2.414472 -3 -2 -16 -2.5 1 -3 0.5 0.7478055 1000000000000000000000000000000 1000000000000000000000000000000 7000000000000000000000000000000 1 1000000000000000000000000000000 3 1000000000000000000000000000000 333333340000000000000000000000 NaN NaN NaN 1 1 3 NaN NaN -inf -inf -inf -inf 1 -3 inf NaN 100 100 704 1 100.25 3 300.25 43.42916
// 51 6 44 0 51 14 60 0 60 9 44 3 51 14 60 -1 60 9 44 1099 32 3 1 2147482647 51 14 50 2147482647 60 9 44 106
// 0.5 -0.5 2.5 -2.5 1000000000000000000000000000000 NaN -inf 100.25

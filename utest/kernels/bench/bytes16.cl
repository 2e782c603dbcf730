/* Blends two images of bytes, 16 at a time, and brightens where they differ. */
__kernel void bytes16(__global uchar16 *out, __global const uchar16 *a, __global const uchar16 *b, uint amount)
{
    int i = get_global_id(0);
    uchar16 first = a[i], second = b[i];
    ushort16 sum = convert_ushort16(first) * (ushort)(256 - amount) + convert_ushort16(second) * (ushort)amount;
    uchar16 mixed = convert_uchar16(sum >> (ushort16)8);
    out[i] = rhadd(add_sat(mixed, abs_diff(first, second)), max(first, second));
}

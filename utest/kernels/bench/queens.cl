/* Solutions of the n-queens problem whose first three rows are as the work-item's number says. */
__kernel void queens(__global uint *counts, uint n)
{
    uint code = get_global_id(0);
    uint all = (1u << n) - 1, column = 0, left = 0, right = 0, found = 0;
    int valid = code < n * n * n;
    for (int row = 0; row < 3; row++) {
        uint bit = 1u << code % n;
        code /= n;
        valid = valid && !((column | left | right) & bit);
        column |= bit;
        left = (left | bit) << 1;
        right = (right | bit) >> 1;
    }
    uint columns[16], lefts[16], rights[16], free[16];
    int depth = valid ? 0 : -1;
    columns[0] = column;
    lefts[0] = left;
    rights[0] = right;
    free[0] = all & ~(column | left | right);
    while (depth >= 0) {
        uint bit = free[depth] & -free[depth];
        if (bit == 0) {
            depth--;
            continue;
        }
        free[depth] ^= bit;
        column = columns[depth] | bit;
        if (column == all) {
            found++;
            continue;
        }
        left = (lefts[depth] | bit) << 1;
        right = (rights[depth] | bit) >> 1;
        depth++;
        columns[depth] = column;
        lefts[depth] = left;
        rights[depth] = right;
        free[depth] = all & ~(column | left | right);
    }
    counts[get_global_id(0)] = found;
}

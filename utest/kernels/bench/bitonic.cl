/* One pass of a bitonic sort: compares keys that are `distance` apart, in blocks of `size`. */
__kernel void bitonic(__global uint *keys, uint size, uint distance)
{
    uint id = get_global_id(0);
    uint left = 2 * id - (id & (distance - 1)), right = left + distance;
    uint a = keys[left], b = keys[right];
    int ascending = (left & size) == 0;
    if ((a > b) == ascending) {
        keys[left] = b;
        keys[right] = a;
    }
}

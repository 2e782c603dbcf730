// Marks of the bytes that a launch accesses (program/src/finding.rs describes the buffer): for commands that no event orders.

#include "gencl.h"

// In dwords from the beginning of the buffer.
#define TABLE 15

ulong2 __gencl_check_argument(uint argument);

// Marks `size` bytes from an offset in an argument's object on, of the kind that the table has them by. What is out of
// bounds is not accessed.
void __gencl_check_mark(uint argument, uint kind, ulong offset, ulong size) {
    global uint *buffer = __gencl_check_buffer();
    if (!buffer[TABLE])
        return;
    uint at = buffer[buffer[TABLE] / 4 + 3 * argument + kind];
    ulong end = __gencl_check_argument(argument).y;
    if (!at || size > end || offset > end - size)
        return;
    // Others write the same.
    volatile global uchar *marks = (volatile global uchar *)buffer + at + offset;
    if ((offset | size) % 4) {
        for (ulong i = 0; i < size; i++)
            marks[i] = 1;
    } else {
        for (ulong i = 0; i < size / 4; i++)
            ((volatile global uint *)marks)[i] = 0x01010101;
    }
}

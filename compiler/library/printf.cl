// Allocation of printf records (program/src/printf.rs describes the buffer). The compiler lowers calls of
// printf to these functions.

#include "gencl.h"

// Reserves `size` bytes; if the buffer is full, bytes after its end that are not read.
global uint *__gencl_printf_record(uint size) {
    global uint *buffer = __gencl_printf_buffer();
    uint end = buffer[1];
    // A full buffer is not counted any further, so that the number cannot overflow.
    if (*(volatile global uint *)buffer <= end - size) {
        uint at = atomic_add(buffer, size);
        if (at <= end - size)
            return buffer + at / 4;
    }
    atomic_inc(buffer + 2);
    return buffer + end / 4;
}

// The result of printf.
int __gencl_printf_result(global uint *record) {
    global uint *buffer = __gencl_printf_buffer();
    return record == buffer + buffer[1] / 4 ? -1 : 0;
}

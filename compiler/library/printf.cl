// Room for a record of printf (program/src/printf.rs describes the buffer): the calls themselves are made of this by
// the compiler.

#include "gencl.h"

// Room for `size` bytes, or, when there is none, for as much behind the end, where nobody looks.
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

// What printf returns.
int __gencl_printf_result(global uint *record) {
    global uint *buffer = __gencl_printf_buffer();
    return record == buffer + buffer[1] / 4 ? -1 : 0;
}

// Shadow memory: which bits of memory are undefined (program/src/finding.rs). That of local memory is behind it, by a
// number of bytes that is 0 where there is none.

#include "gencl.h"

// In dwords from the beginning of the buffer.
#define SPARE_SHADOW 48
#define NO_ALLOCATION ~0u

// In check.cl.
bool __gencl_check_knows(ulong address);
uint __gencl_check_allocation(ulong address);

// Shadow memory for accesses that are out of bounds.
global uint *__gencl_check_spare_shadow(void) {
    global uint *buffer = __gencl_check_buffer();
    return buffer + SPARE_SHADOW;
}

// That of an address in global memory, or of a generic one, if it is known.
global uchar *__gencl_check_shadow_of_address(ulong address) {
    global uint *buffer = __gencl_check_buffer();
    global uchar *spare = (global uchar *)(buffer + SPARE_SHADOW);
    if (!__gencl_check_knows(address))
        return spare;
    uint found = __gencl_check_allocation(address), count = buffer[3];
    if (found == NO_ALLOCATION)
        return spare;
    global ulong *allocations = (global ulong *)(buffer + buffer[4] / 4);
    ulong shadow = allocations[2 * count + found];
    return shadow ? (global uchar *)(shadow + (address - allocations[2 * found])) : spare;
}

// All local memory is undefined when a work-group begins.
void __attribute__((convergent)) __gencl_check_begin_local(uint distance) {
    if (!distance)
        return;
    uint items = __gencl_local_size(0) * __gencl_local_size(1) * __gencl_local_size(2);
    uint item = (__gencl_local_id(2) * __gencl_local_size(1) + __gencl_local_id(1)) * __gencl_local_size(0) +
                __gencl_local_id(0);
    local uint *shadow = (local uint *)(size_t)distance;
    for (uint i = item; i < distance / 4; i += items)
        shadow[i] = ~0u;
    __gencl_barrier(CLK_LOCAL_MEM_FENCE);
}

// Bytes of local memory are defined; the pointer is to their shadow.
void __gencl_check_define_local(local uchar *shadow, uint size, uint distance) {
    if (distance)
        for (uint i = 0; i < size; i++)
            shadow[i] = 0;
}

#define PUT(BITS, TYPE) \
    void __gencl_check_put_local##BITS(local TYPE *shadow, TYPE bits, uint distance) { \
        if (distance) \
            *shadow = bits; \
    }
PUT(8, uchar)
PUT(16, ushort)
PUT(32, uint)
PUT(64, ulong)

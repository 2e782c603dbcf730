// Checks of what kernels do (program/src/finding.rs describes the buffer).

#include "gencl.h"

#define RECORD_SIZE 40
#define RECORDS_OF_SITE 4
// In dwords from the beginning of the buffer.
#define SPARE 16
#define ARGUMENTS 80
#define NO_ALLOCATION ~0u
// Bits of an argument's flags.
#define FLAGS (7ul << 61)

// Leaves a record of a check that failed, the first times that it does. What it writes last tells debuggers that it is
// there.
void __gencl_check(uint failed, uint site, ulong address, ulong offset, ulong size) {
    if (!failed)
        return;
    global uint *buffer = __gencl_check_buffer();
    if (atomic_inc(buffer + buffer[2] / 4 + site) >= RECORDS_OF_SITE)
        return;
    uint at = atomic_add(buffer, RECORD_SIZE);
    if (at > buffer[1] - RECORD_SIZE)
        return;
    global uint *record = buffer + at / 4;
    record[0] = site;
    record[1] = get_global_id(0);
    record[2] = get_global_id(1);
    record[3] = get_global_id(2);
    record[4] = address;
    record[5] = address >> 32;
    record[6] = offset;
    record[7] = offset >> 32;
    record[8] = size;
    record[9] = size >> 32;
}

// Where an argument points to: offset in its object, and the object's size.
ulong2 __gencl_check_argument(uint argument) {
    global ulong *extent = (global ulong *)(__gencl_check_buffer() + ARGUMENTS + 4 * argument);
    return (ulong2)(extent[0] & ~FLAGS, extent[1]);
}

// Whether an argument has a flag, by its bit.
uint __gencl_check_flag(uint argument, uint bit) {
    global ulong *extent = (global ulong *)(__gencl_check_buffer() + ARGUMENTS + 4 * argument);
    return extent[0] >> bit & 1;
}

// Whether allocations are known that an address may be in: it is no generic one of other memory.
bool __gencl_check_knows(ulong address) {
    uint tag = address >> 61;
    return __gencl_check_buffer()[3] != ~0u && tag != 1 && tag != 2;
}

// The index of the allocation that has an address in global memory.
uint __gencl_check_allocation(ulong address) {
    global uint *buffer = __gencl_check_buffer();
    global ulong *allocations = (global ulong *)(buffer + buffer[4] / 4);
    uint below = 0, above = buffer[3];
    while (below < above) {
        uint middle = (below + above) / 2;
        if (address < allocations[2 * middle])
            above = middle;
        else if (address >= allocations[2 * middle + 1])
            below = middle + 1;
        else
            return middle;
    }
    return NO_ALLOCATION;
}

// Where a pointer of any kind in global memory, or a generic one, points to. The size is 0 if that is no allocation.
// Generic pointers to other memory, and all pointers where allocations are not known, are far from both ends of one.
ulong2 __gencl_check_pointer(ulong address) {
    global uint *buffer = __gencl_check_buffer();
    if (!__gencl_check_knows(address))
        return (ulong2)(1ul << 30, 1ul << 31);
    uint found = __gencl_check_allocation(address);
    if (found == NO_ALLOCATION)
        return (ulong2)(0, 0);
    global ulong *allocation = (global ulong *)(buffer + buffer[4] / 4) + 2 * found;
    return (ulong2)(address - allocation[0], allocation[1] - allocation[0]);
}

// Memory for accesses that are out of bounds.
global uint *__gencl_check_spare(void) {
    global uint *buffer = __gencl_check_buffer();
    return buffer + SPARE;
}

// Data races (program/src/finding.rs describes entries and words): accesses of different work-items to the same memory,
// of which one writes and which no barrier separates. An entry says who has written, read and atomically changed a granule
// of memory last. Work-groups on other processors change entries at the same time, and a granule replaces another one
// that has the same entry, so each word is complete by itself: a race can be overlooked, but none is made up.

#include "gencl.h"

#define SUB_GROUP 11
#define BARRIER 17
#define GROUP 33
#define GRANULE 51
#define ITEMS 0x7fful
#define COPY 0x7feul
#define SUB_GROUP_BARRIERS (0x3ful << SUB_GROUP)
#define BARRIERS (0xfffful << BARRIER)
#define GROUPS (0x3fffful << GROUP)

// The words of an entry.
#define LAST_WRITE 0
#define LAST_READ 1
#define LAST_ATOMIC 2
#define WORDS 3

// An entry: the first words of all entries are one after the other, as work-items access neighbours at the same time; then
// the second ones, the third ones, and the sites in the same order.
typedef struct {
    volatile global ulong *words;
    uint count, place;
} entry_t;

#define WORD(ENTRY, KIND) ENTRY.words[KIND * ENTRY.count + ENTRY.place]
#define SITE(ENTRY, KIND) \
    ((volatile global uint *)(ENTRY.words + WORDS * ENTRY.count))[KIND * ENTRY.count + ENTRY.place]

// The calling work-item, at the beginning of the kernel.
ulong __gencl_check_self(void) {
    uint row = __gencl_group_id(2) * __gencl_num_groups(1) + __gencl_group_id(1);
    uint group = row * __gencl_num_groups(0) + __gencl_group_id(0);
    uint line = __gencl_local_id(2) * __gencl_local_size(1) + __gencl_local_id(1);
    uint item = line * __gencl_local_size(0) + __gencl_local_id(0);
    return ((ulong)(group + 1) << GROUP & GROUPS) | item;
}

// Behind a barrier of the work-group, and one of the sub-group.
ulong __gencl_check_barrier(ulong self) {
    return (self & ~BARRIERS) | (self + (1ul << BARRIER) & BARRIERS);
}
ulong __gencl_check_sub_group_barrier(ulong self) {
    return (self & ~SUB_GROUP_BARRIERS) | (self + (1ul << SUB_GROUP) & SUB_GROUP_BARRIERS);
}

// In front of a copy by the work-group, and behind it: it happens at any time until it is waited for.
ulong __gencl_check_copy(ulong self) { return (self & ~ITEMS) | COPY; }
ulong __gencl_check_copied(ulong self, ulong own) { return (self & ~ITEMS) | (own & ITEMS); }

// Whether an access and one of the calling work-item are not ordered.
bool __gencl_check_races(ulong other, ulong self, bool across_groups) {
    ulong differs = other ^ self;
    if (!other || differs >> GRANULE)
        return false;
    if (differs & GROUPS)
        return across_groups;
    if (!(differs & ITEMS) || (differs & BARRIERS))
        return false;
    ulong sub_group = ITEMS & ~(ulong)(__gencl_simd_width() - 1);
    return (differs & sub_group) || !(differs & SUB_GROUP_BARRIERS);
}

void __gencl_check_put(entry_t entry, uint kind, ulong word, uint site) {
    WORD(entry, kind) = word;
    SITE(entry, kind) = site;
}

// Adds the calling work-item to those that have read or changed a granule. Lanes of one instruction overwrite each other.
void __gencl_check_add(entry_t entry, uint kind, ulong self, uint site, bool across_groups) {
    ulong several = self | ITEMS;
    ulong word = __gencl_check_races(WORD(entry, kind), self, across_groups) ? several : self;
    __gencl_check_put(entry, kind, word, site);
    if (WORD(entry, kind) != word)
        WORD(entry, kind) = several;
}

// The word and the site of the last access of a kind, if it races with one of the calling work-item; else zeros.
ulong2 __gencl_check_last(entry_t entry, uint kind, ulong self, bool across_groups) {
    ulong word = WORD(entry, kind);
    if (!__gencl_check_races(word, self, across_groups))
        return 0;
    return (ulong2)(word, SITE(entry, kind));
}

ulong2 __gencl_check_entry_read(entry_t entry, ulong self, uint site, bool across_groups) {
    ulong2 written = __gencl_check_last(entry, LAST_WRITE, self, across_groups);
    ulong2 atomic = __gencl_check_last(entry, LAST_ATOMIC, self, across_groups);
    __gencl_check_add(entry, LAST_READ, self, site, across_groups);
    return written.x ? written : atomic;
}

ulong2 __gencl_check_entry_write(entry_t entry, ulong self, uint site, bool across_groups) {
    ulong2 written = __gencl_check_last(entry, LAST_WRITE, self, across_groups);
    ulong2 read = __gencl_check_last(entry, LAST_READ, self, across_groups);
    ulong2 atomic = __gencl_check_last(entry, LAST_ATOMIC, self, across_groups);
    __gencl_check_put(entry, LAST_WRITE, self, site);
    return written.x ? written : read.x ? read : atomic;
}

ulong2 __gencl_check_entry_atomic(entry_t entry, ulong self, uint site, bool across_groups) {
    ulong2 written = __gencl_check_last(entry, LAST_WRITE, self, across_groups);
    ulong2 read = __gencl_check_last(entry, LAST_READ, self, across_groups);
    __gencl_check_add(entry, LAST_ATOMIC, self, site, across_groups);
    return written.x ? written : read;
}

// Who has written last, if that is another work-item: of two lanes of one instruction.
ulong2 __gencl_check_entry_overwritten(entry_t entry, ulong self, uint site, bool across_groups) {
    return __gencl_check_last(entry, LAST_WRITE, self, across_groups);
}

// What a kernel asks once. Local memory: the entries of all work-groups, their number, the group's first one, and the
// last one as seen from that. Global memory: all entries, their number, how many bits that has, and the number less 1.
ulong __gencl_check_local_entries(ulong self) {
    global uint *buffer = __gencl_check_buffer();
    return (ulong)(buffer + buffer[5] / 4);
}
uint __gencl_check_local_count(ulong self) {
    global uint *buffer = __gencl_check_buffer();
    return (buffer[6] + 1) * buffer[7];
}
uint __gencl_check_local_first(ulong self) {
    global uint *buffer = __gencl_check_buffer();
    return ((uint)(self >> GROUP) & buffer[6]) * buffer[7];
}
uint __gencl_check_local_last(ulong self) { return __gencl_check_buffer()[7] - 1; }
ulong __gencl_check_global_entries(ulong self) {
    global uint *buffer = __gencl_check_buffer();
    return (ulong)(buffer + buffer[8] / 4);
}
uint __gencl_check_global_count(ulong self) { return __gencl_check_buffer()[9] + 1; }
uint __gencl_check_global_first(ulong self) { return __gencl_check_buffer()[10]; }
uint __gencl_check_global_last(ulong self) { return __gencl_check_buffer()[9]; }

// An access to `size` granules of 1 << `shift` bytes from an address on. Word and site of an access that it races with, or
// zeros. The first four parameters are the numbers above. In local memory, what is beyond the last entry has that; nothing
// is looked at if it is certain that nobody writes there, or that nothing is accessed.
#define PARAMETERS \
    ulong entries, uint count, uint first, uint last, uint is_shared, ulong self, uint site, ulong address, uint size, uint shift
#define ACCESS(NAME) \
    ulong2 __gencl_check_local_##NAME(PARAMETERS) { \
        ulong2 found = 0; \
        if (!is_shared) \
            return found; \
        uint granule = (uint)address >> shift; \
        for (uint i = 0; i < size; i++, granule++) { \
            entry_t entry = {(volatile global ulong *)entries, count, first + min(granule, last)}; \
            ulong2 other = __gencl_check_entry_##NAME(entry, self, site, false); \
            found = other.x ? other : found; \
        } \
        return found; \
    } \
    ulong2 __gencl_check_global_##NAME(PARAMETERS) { \
        ulong2 found = 0; \
        if (!is_shared) \
            return found; \
        ulong granule = address >> shift; \
        for (uint i = 0; i < size; i++, granule++) { \
            uint above = granule >> first; \
            entry_t entry = {(volatile global ulong *)entries, count, (uint)granule + above * 0x9e37 & last}; \
            ulong own = self | (ulong)above << GRANULE; \
            ulong2 other = __gencl_check_entry_##NAME(entry, own, site, true); \
            found = other.x ? other : found; \
        } \
        return found; \
    }
ACCESS(read)
ACCESS(write)
ACCESS(atomic)
ACCESS(overwritten)

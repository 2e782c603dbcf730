// Copies between global and local memory by the whole group (OpenCL C 1.2, 6.12.10). Each work-item copies
// its share immediately; waiting for the event is a barrier. libclc's functions have another event type.

#include "gencl.h"

// The event of a copy, which is another one than the null event.
event_t CONST __gencl_event(void);

uint __gencl_item(void) {
    return (__gencl_local_id(2) * __gencl_local_size(1) + __gencl_local_id(1)) * __gencl_local_size(0) +
           __gencl_local_id(0);
}

uint __gencl_items(void) { return __gencl_local_size(0) * __gencl_local_size(1) * __gencl_local_size(2); }

#define COPY(TYPE) \
    event_t OVERLOAD async_work_group_copy(local TYPE *target, const global TYPE *source, size_t count, event_t event) { \
        for (uint i = __gencl_item(); i < count; i += __gencl_items()) \
            target[i] = source[i]; \
        return __gencl_event(); \
    } \
    event_t OVERLOAD async_work_group_copy(global TYPE *target, const local TYPE *source, size_t count, event_t event) { \
        for (uint i = __gencl_item(); i < count; i += __gencl_items()) \
            target[i] = source[i]; \
        return __gencl_event(); \
    } \
    event_t OVERLOAD async_work_group_strided_copy(local TYPE *target, const global TYPE *source, size_t count, \
                                                   size_t stride, event_t event) { \
        for (uint i = __gencl_item(); i < count; i += __gencl_items()) \
            target[i] = source[i * stride]; \
        return __gencl_event(); \
    } \
    event_t OVERLOAD async_work_group_strided_copy(global TYPE *target, const local TYPE *source, size_t count, \
                                                   size_t stride, event_t event) { \
        for (uint i = __gencl_item(); i < count; i += __gencl_items()) \
            target[i * stride] = source[i]; \
        return __gencl_event(); \
    }
#define SIZES(TYPE) COPY(TYPE) COPY(TYPE##2) COPY(TYPE##3) COPY(TYPE##4) COPY(TYPE##8) COPY(TYPE##16)

SIZES(char)
SIZES(uchar)
SIZES(short)
SIZES(ushort)
SIZES(int)
SIZES(uint)
SIZES(long)
SIZES(ulong)
SIZES(float)
SIZES(half)
SIZES(double)

// libclc has no prefetch of vectors of three. A prefetch is a hint, and these do nothing.
#define PREFETCH3(TYPE) \
    void OVERLOAD prefetch(const global TYPE##3 *source, size_t count) {}

PREFETCH3(char)
PREFETCH3(uchar)
PREFETCH3(short)
PREFETCH3(ushort)
PREFETCH3(int)
PREFETCH3(uint)
PREFETCH3(long)
PREFETCH3(ulong)
PREFETCH3(float)
PREFETCH3(double)

// libclc has none of half floats.
#define PREFETCH(N) \
    void OVERLOAD prefetch(const global half##N *source, size_t count) {}
PREFETCH()
PREFETCH(2)
PREFETCH(3)
PREFETCH(4)
PREFETCH(8)
PREFETCH(16)

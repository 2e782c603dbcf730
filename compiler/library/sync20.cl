// Synchronisation functions that came with OpenCL C 2.0 (3.0, 6.15.8), and those whose names have the generic
// address space in them. Waiting for events is a barrier: each work-item's share of a copy is already
// complete.

#include "gencl.h"

void OVERLOAD __attribute__((convergent)) work_group_barrier(cl_mem_fence_flags flags) { __gencl_barrier(flags); }

void OVERLOAD __attribute__((convergent)) work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) {
    __gencl_barrier(flags);
}

void OVERLOAD __attribute__((convergent)) intel_work_group_barrier_arrive(cl_mem_fence_flags flags, memory_scope scope) {
    __gencl_barrier_arrive(flags);
}

void OVERLOAD __attribute__((convergent)) intel_work_group_barrier_wait(cl_mem_fence_flags flags, memory_scope scope) {
    __gencl_barrier_wait();
}

void OVERLOAD __attribute__((convergent)) wait_group_events(int count, event_t *events) {
    __gencl_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

// Barriers and fences (OpenCL C 1.2, 6.12.8 and 6.12.9).

#include "gencl.h"

void OVERLOAD __attribute__((convergent)) barrier(cl_mem_fence_flags flags) { __gencl_barrier(flags); }
// cl_intel_split_work_group_barrier.
void OVERLOAD __attribute__((convergent)) intel_work_group_barrier_arrive(cl_mem_fence_flags flags) {
    __gencl_barrier_arrive(flags);
}
void OVERLOAD __attribute__((convergent)) intel_work_group_barrier_wait(cl_mem_fence_flags flags) {
    __gencl_barrier_wait();
}
void OVERLOAD mem_fence(cl_mem_fence_flags flags) { __gencl_fence(flags); }
void OVERLOAD read_mem_fence(cl_mem_fence_flags flags) { __gencl_fence(flags); }
void OVERLOAD write_mem_fence(cl_mem_fence_flags flags) { __gencl_fence(flags); }

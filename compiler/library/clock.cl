// cl_khr_kernel_clock (OpenCL C 3.1, 6.15.20): the clock of a sub-group, which is a thread. EUs have clocks of their own.

#include "gencl.h"

uint2 OVERLOAD CONVERGENT clock_read_hilo_sub_group(void) { return __gencl_clock(); }
ulong OVERLOAD CONVERGENT clock_read_sub_group(void) { return as_ulong(__gencl_clock()); }

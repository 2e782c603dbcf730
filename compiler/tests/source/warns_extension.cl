// log
#pragma OPENCL EXTENSION cl_khr_subgroup_rotate : enable
#pragma OPENCL EXTENSION cl_khr_byte_addressable_store : enable
#pragma OPENCL EXTENSION nobody_has_this : enable
kernel void k(global int *x) { x[0] = 1; }
// expect
// warns_extension.cl:4:26: warning: OpenCL extension 'nobody_has_this' unknown or does not require pragma - ignoring
//     4 | #pragma OPENCL EXTENSION nobody_has_this : enable
//       |                          ^

// Macros of optional features of OpenCL C 3.0 that clang's base header tests, and that clang does not define
// itself. Those that it knows, and the macros of extensions, are in `src/clang/options.rs`.

#if __OPENCL_C_VERSION__ >= 300
#define __opencl_c_work_group_collective_functions 1
#define __opencl_c_atomic_order_seq_cst 1
#define __opencl_c_atomic_scope_device 1
#define __opencl_c_atomic_scope_all_devices 1
#endif

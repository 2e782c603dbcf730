// Macros of versions and of optional features that clang's base header tests, and that clang does not define itself.
// Those that it knows, and the macros of extensions, are in `src/clang/options.rs`.

#define CL_VERSION_3_1 310

// Clang compiles OpenCL C 3.1 as 3.0.
#ifdef __GENCL_OPENCL_C_3_1
#undef __OPENCL_C_VERSION__
#define __OPENCL_C_VERSION__ CL_VERSION_3_1
#endif

#if __OPENCL_C_VERSION__ >= 300 || __OPENCL_CPP_VERSION__ >= 202100
#define __opencl_c_work_group_collective_functions 1
#define __opencl_c_atomic_order_seq_cst 1
#define __opencl_c_atomic_scope_device 1
#define __opencl_c_atomic_scope_all_devices 1
#endif

#ifdef cl_khr_kernel_clock
#define __opencl_c_kernel_clock_scope_sub_group 1
#endif

#ifdef cl_khr_integer_dot_product
#define __opencl_c_integer_dot_product_input_4x8bit 1
#define __opencl_c_integer_dot_product_input_4x8bit_packed 1
#endif

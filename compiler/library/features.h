// What clang's base header asks for before it declares types: optional features of OpenCL C 3.0 that are macros only, and
// extensions that clang does not know. What clang knows is in `src/options.rs`.

#define cl_khr_subgroup_extended_types 1
#define cl_khr_subgroup_non_uniform_vote 1
#define cl_khr_subgroup_ballot 1
#define cl_khr_subgroup_non_uniform_arithmetic 1
#define cl_khr_subgroup_shuffle 1
#define cl_khr_subgroup_shuffle_relative 1
#define cl_khr_subgroup_clustered_reduce 1
#define cl_khr_subgroup_rotate 1
#define cl_intel_subgroups 1
#define cl_intel_subgroups_char 1
#define cl_intel_subgroups_short 1
#define cl_intel_subgroups_long 1

#if __OPENCL_C_VERSION__ >= 300
#define __opencl_c_work_group_collective_functions 1
#define __opencl_c_atomic_order_seq_cst 1
#define __opencl_c_atomic_scope_device 1
#endif

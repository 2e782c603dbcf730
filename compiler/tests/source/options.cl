// Macros of the options, and those that the device has.
// options -DA=3 -D B -cl-std=CL3.0 -cl-fast-relaxed-math
// run 1 1
// buffer int zero 4
kernel void options(global int *out) {
    out[0] = A + B * 10 + __OPENCL_C_VERSION__ * 100;
    out[1] = __OPENCL_VERSION__ + __ENDIAN_LITTLE__ * 1000;
#ifdef __FAST_RELAXED_MATH__
    out[2] = 1;
#endif
#if defined(cl_khr_fp64) && defined(__opencl_c_fp64) && defined(cl_khr_fp16)
    out[2] += 2;
#endif
#if defined(cl_khr_gl_sharing) || defined(__IMAGE_SUPPORT__) || defined(__opencl_c_pipes)
    out[3] = 1;
#endif
}
// expect
// 30013 1310 3 1

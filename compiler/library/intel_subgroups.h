// cl_intel_subgroups, cl_intel_subgroups_char, _short and _long, cl_intel_media_block_io,
// cl_intel_split_work_group_barrier: functions that clang does not declare by itself. `src/clang/mod.rs` says which sources need them.
#ifdef __GENCL_INTEL_SUBGROUPS

#define __GENCL_FUNCTION __attribute__((overloadable, convergent))

void __GENCL_FUNCTION intel_work_group_barrier_arrive(cl_mem_fence_flags);
void __GENCL_FUNCTION intel_work_group_barrier_wait(cl_mem_fence_flags);
#if __OPENCL_C_VERSION__ >= 200 || defined(__OPENCL_CPP_VERSION__)
void __GENCL_FUNCTION intel_work_group_barrier_arrive(cl_mem_fence_flags, memory_scope);
void __GENCL_FUNCTION intel_work_group_barrier_wait(cl_mem_fence_flags, memory_scope);
#endif

#define __GENCL_SHUFFLES(TYPE) \
    TYPE __GENCL_FUNCTION intel_sub_group_shuffle(TYPE, uint); \
    TYPE __GENCL_FUNCTION intel_sub_group_shuffle_down(TYPE, TYPE, uint); \
    TYPE __GENCL_FUNCTION intel_sub_group_shuffle_up(TYPE, TYPE, uint); \
    TYPE __GENCL_FUNCTION intel_sub_group_shuffle_xor(TYPE, uint);
#define __GENCL_SHUFFLES_OF(TYPE) \
    __GENCL_SHUFFLES(TYPE) __GENCL_SHUFFLES(TYPE##2) __GENCL_SHUFFLES(TYPE##3) __GENCL_SHUFFLES(TYPE##4) \
    __GENCL_SHUFFLES(TYPE##8) __GENCL_SHUFFLES(TYPE##16)
__GENCL_SHUFFLES_OF(char)
__GENCL_SHUFFLES_OF(uchar)
__GENCL_SHUFFLES_OF(short)
__GENCL_SHUFFLES_OF(ushort)
__GENCL_SHUFFLES_OF(int)
__GENCL_SHUFFLES_OF(uint)
__GENCL_SHUFFLES_OF(float)
__GENCL_SHUFFLES(long)
__GENCL_SHUFFLES(ulong)
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__GENCL_SHUFFLES(half)
#pragma OPENCL EXTENSION cl_khr_fp16 : disable
#endif
#ifdef cl_khr_fp64
__GENCL_SHUFFLES(double)
#endif

// Element by element across the lanes from an address that is the same for all of them.
#define __GENCL_BLOCKS(TYPE, SUFFIX, COUNT) \
    TYPE __GENCL_FUNCTION intel_sub_group_block_read##SUFFIX##COUNT(const __global __GENCL_ELEMENT *); \
    void __GENCL_FUNCTION intel_sub_group_block_write##SUFFIX##COUNT(__global __GENCL_ELEMENT *, TYPE);
#define __GENCL_BLOCKS_OF(TYPE, SUFFIX) \
    __GENCL_BLOCKS(TYPE, SUFFIX, ) __GENCL_BLOCKS(TYPE##2, SUFFIX, 2) __GENCL_BLOCKS(TYPE##4, SUFFIX, 4) \
    __GENCL_BLOCKS(TYPE##8, SUFFIX, 8)
#define __GENCL_ELEMENT uint
__GENCL_BLOCKS_OF(uint, )
__GENCL_BLOCKS_OF(uint, _ui)
#undef __GENCL_ELEMENT
#define __GENCL_ELEMENT ushort
__GENCL_BLOCKS_OF(ushort, _us)
__GENCL_BLOCKS(ushort16, _us, 16)
#undef __GENCL_ELEMENT
#define __GENCL_ELEMENT uchar
__GENCL_BLOCKS_OF(uchar, _uc)
__GENCL_BLOCKS(uchar16, _uc, 16)
#undef __GENCL_ELEMENT
#define __GENCL_ELEMENT ulong
__GENCL_BLOCKS_OF(ulong, _ul)
#undef __GENCL_ELEMENT

#ifdef __IMAGE_SUPPORT__
// The same of an image: coordinates are byte and row, and each element of a lane has a row of its own.
#define __GENCL_IMAGE_BLOCKS(READ, WRITE, TYPE, SUFFIX, COUNT) \
    TYPE##COUNT __GENCL_FUNCTION intel_sub_group_block_read##SUFFIX##COUNT(READ image2d_t, int2); \
    void __GENCL_FUNCTION intel_sub_group_block_write##SUFFIX##COUNT(WRITE image2d_t, int2, TYPE##COUNT);
// Regions of a width and height.
#define __GENCL_MEDIA_BLOCKS(READ, WRITE, TYPE, SUFFIX, COUNT) \
    TYPE##COUNT __GENCL_FUNCTION intel_sub_group_media_block_read##SUFFIX##COUNT(int2, int, int, READ image2d_t); \
    void __GENCL_FUNCTION intel_sub_group_media_block_write##SUFFIX##COUNT(int2, int, int, TYPE##COUNT, WRITE image2d_t);
#define __GENCL_BLOCK_SIZES(DO, READ, WRITE, TYPE, SUFFIX) \
    DO(READ, WRITE, TYPE, SUFFIX, ) DO(READ, WRITE, TYPE, SUFFIX, 2) DO(READ, WRITE, TYPE, SUFFIX, 4) \
    DO(READ, WRITE, TYPE, SUFFIX, 8)
#define __GENCL_BLOCKS_OF_IMAGES(READ, WRITE) \
    __GENCL_BLOCK_SIZES(__GENCL_IMAGE_BLOCKS, READ, WRITE, uint, ) \
    __GENCL_BLOCK_SIZES(__GENCL_IMAGE_BLOCKS, READ, WRITE, uint, _ui) \
    __GENCL_BLOCK_SIZES(__GENCL_IMAGE_BLOCKS, READ, WRITE, ushort, _us) \
    __GENCL_BLOCK_SIZES(__GENCL_IMAGE_BLOCKS, READ, WRITE, uchar, _uc) \
    __GENCL_BLOCK_SIZES(__GENCL_IMAGE_BLOCKS, READ, WRITE, ulong, _ul) \
    __GENCL_IMAGE_BLOCKS(READ, WRITE, uchar, _uc, 16) \
    __GENCL_BLOCK_SIZES(__GENCL_MEDIA_BLOCKS, READ, WRITE, uint, _ui) \
    __GENCL_BLOCK_SIZES(__GENCL_MEDIA_BLOCKS, READ, WRITE, ushort, _us) \
    __GENCL_BLOCK_SIZES(__GENCL_MEDIA_BLOCKS, READ, WRITE, uchar, _uc) \
    __GENCL_MEDIA_BLOCKS(READ, WRITE, ushort, _us, 16) \
    __GENCL_MEDIA_BLOCKS(READ, WRITE, uchar, _uc, 16)
__GENCL_BLOCKS_OF_IMAGES(read_only, write_only)
#if __OPENCL_C_VERSION__ == 200 || defined(__opencl_c_read_write_images)
__GENCL_BLOCKS_OF_IMAGES(read_write, read_write)
#endif
#endif

#define __GENCL_ACROSS(TYPE, OP) \
    TYPE __GENCL_FUNCTION intel_sub_group_reduce_##OP(TYPE); \
    TYPE __GENCL_FUNCTION intel_sub_group_scan_inclusive_##OP(TYPE); \
    TYPE __GENCL_FUNCTION intel_sub_group_scan_exclusive_##OP(TYPE);
#define __GENCL_SMALL(TYPE) \
    TYPE __GENCL_FUNCTION intel_sub_group_broadcast(TYPE, uint); \
    __GENCL_ACROSS(TYPE, add) __GENCL_ACROSS(TYPE, min) __GENCL_ACROSS(TYPE, max)
__GENCL_SMALL(char)
__GENCL_SMALL(uchar)
__GENCL_SMALL(short)
__GENCL_SMALL(ushort)

#endif

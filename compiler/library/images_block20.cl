// Blocks of two-dimensional images: cl_intel_subgroups with _char, _short and _long, and cl_intel_media_block_io.
// Declared in intel_subgroups.h.
//
// A block is a region of bytes, whatever the image's format is, whose elements are those of all lanes, then the second
// ones of all lanes, and so on. Texels are accessed in memory, as those of images that one kernel reads and writes.
// Reads outside of the image repeat its nearest texel, writes there do nothing.

#include "images.h"

#define MEMORY(ACCESS) \
    TEXEL_MEMORY(ACCESS, image2d_t) \
    global uchar *OVERLOAD __gencl_block_row(ACCESS image2d_t image, int y) { \
        return __gencl_image_address__##ACCESS##_image2d_t(image) + \
               (size_t)y * __gencl_image_row_pitch__##ACCESS##_image2d_t(image); \
    } \
    int OVERLOAD __gencl_texel_size(ACCESS image2d_t image) { \
        return __gencl_image_texel_size__##ACCESS##_image2d_t(image); \
    }
MEMORY(read_only)
MEMORY(write_only)
MEMORY(read_write)

// An element at byte x of row y.
#define LOAD(TYPE, ACCESS) \
    TYPE OVERLOAD __gencl_block_load_##TYPE(ACCESS image2d_t image, int x, int y) { \
        const int texel = __gencl_texel_size(image), end = get_image_width(image) * texel; \
        const global uchar *row = __gencl_block_row(image, clamp(y, 0, get_image_height(image) - 1)); \
        if (x >= 0 && x + (int)sizeof(TYPE) <= end) return *(const global TYPE *)(row + x); \
        uint element = 0; \
        for (int i = 0; i < (int)sizeof(TYPE); ++i) { \
            const int at = x + i, within = at & (texel - 1); \
            element |= (uint)row[at < 0 ? within : at < end ? at : end - texel + within] << 8 * i; \
        } \
        return element; \
    }
#define STORE(TYPE, ACCESS) \
    void OVERLOAD __gencl_block_store_##TYPE(ACCESS image2d_t image, int x, int y, TYPE element) { \
        const int end = get_image_width(image) * __gencl_texel_size(image); \
        const bool inside = x >= 0 && x + (int)sizeof(TYPE) <= end && y >= 0 && y < get_image_height(image); \
        if (inside) *(global TYPE *)(__gencl_block_row(image, y) + x) = element; \
    }
#define LOADS_AND_STORES(TYPE) \
    LOAD(TYPE, read_only) LOAD(TYPE, read_write) STORE(TYPE, write_only) STORE(TYPE, read_write)
LOADS_AND_STORES(uchar)
LOADS_AND_STORES(ushort)
LOADS_AND_STORES(uint)

// Blocks are aligned to dwords.
#define LOAD_LONG(ACCESS) \
    ulong OVERLOAD __gencl_block_load_ulong(ACCESS image2d_t image, int x, int y) { \
        return as_ulong((uint2)(__gencl_block_load_uint(image, x, y), __gencl_block_load_uint(image, x + 4, y))); \
    }
#define STORE_LONG(ACCESS) \
    void OVERLOAD __gencl_block_store_ulong(ACCESS image2d_t image, int x, int y, ulong element) { \
        __gencl_block_store_uint(image, x, y, (uint)element); \
        __gencl_block_store_uint(image, x + 4, y, (uint)(element >> 32)); \
    }
LOAD_LONG(read_only)
LOAD_LONG(read_write)
STORE_LONG(write_only)
STORE_LONG(read_write)

// A function for each number of elements, from two of half the number.
#define BY_HALVES(DO, TYPE, SUFFIX, ACCESS) \
    DO(TYPE, SUFFIX, 2, , ACCESS) DO(TYPE, SUFFIX, 4, 2, ACCESS) DO(TYPE, SUFFIX, 8, 4, ACCESS)

// A row for each element of a lane.
#define READ(TYPE, SUFFIX, ACCESS) \
    TYPE OVERLOAD CONVERGENT intel_sub_group_block_read##SUFFIX(ACCESS image2d_t image, int2 at) { \
        return __gencl_block_load_##TYPE(image, at.x + (int)(__gencl_lane_id() * sizeof(TYPE)), at.y); \
    }
#define READS(TYPE, SUFFIX, COUNT, HALF, ACCESS) \
    TYPE##COUNT OVERLOAD CONVERGENT intel_sub_group_block_read##SUFFIX##COUNT(ACCESS image2d_t image, int2 at) { \
        return (TYPE##COUNT)(intel_sub_group_block_read##SUFFIX##HALF(image, at), \
                             intel_sub_group_block_read##SUFFIX##HALF(image, at + (int2)(0, COUNT / 2))); \
    }
#define WRITE(TYPE, SUFFIX, ACCESS) \
    void OVERLOAD CONVERGENT intel_sub_group_block_write##SUFFIX(ACCESS image2d_t image, int2 at, TYPE x) { \
        __gencl_block_store_##TYPE(image, at.x + (int)(__gencl_lane_id() * sizeof(TYPE)), at.y, x); \
    }
#define WRITES(TYPE, SUFFIX, COUNT, HALF, ACCESS) \
    void OVERLOAD CONVERGENT intel_sub_group_block_write##SUFFIX##COUNT(ACCESS image2d_t image, int2 at, \
                                                                       TYPE##COUNT x) { \
        intel_sub_group_block_write##SUFFIX##HALF(image, at, x.lo); \
        intel_sub_group_block_write##SUFFIX##HALF(image, at + (int2)(0, COUNT / 2), x.hi); \
    }
#define READS_OF(TYPE, SUFFIX, ACCESS) READ(TYPE, SUFFIX, ACCESS) BY_HALVES(READS, TYPE, SUFFIX, ACCESS)
#define WRITES_OF(TYPE, SUFFIX, ACCESS) WRITE(TYPE, SUFFIX, ACCESS) BY_HALVES(WRITES, TYPE, SUFFIX, ACCESS)
#define BLOCKS_OF(TYPE, SUFFIX) \
    READS_OF(TYPE, SUFFIX, read_only) READS_OF(TYPE, SUFFIX, read_write) \
    WRITES_OF(TYPE, SUFFIX, write_only) WRITES_OF(TYPE, SUFFIX, read_write)
#define SIXTEEN(TYPE, SUFFIX) \
    READS(TYPE, SUFFIX, 16, 8, read_only) READS(TYPE, SUFFIX, 16, 8, read_write) \
    WRITES(TYPE, SUFFIX, 16, 8, write_only) WRITES(TYPE, SUFFIX, 16, 8, read_write)
BLOCKS_OF(uint, )
BLOCKS_OF(uint, _ui)
BLOCKS_OF(ushort, _us)
BLOCKS_OF(uchar, _uc)
SIXTEEN(uchar, _uc)
BLOCKS_OF(ulong, _ul)

// The rows of the region follow each other without gaps. `first`: the region's element of lane 0.
#define MEDIA_READ(TYPE, SUFFIX, ACCESS) \
    TYPE OVERLOAD __gencl_media_read##SUFFIX(int2 at, int width, int height, ACCESS image2d_t image, uint first) { \
        const uint element = first + __gencl_lane_id(), column = element % width, row = element / width; \
        return __gencl_block_load_##TYPE(image, at.x + (int)(column * sizeof(TYPE)), at.y + (int)row); \
    }
#define MEDIA_READS(TYPE, SUFFIX, COUNT, HALF, ACCESS) \
    TYPE##COUNT OVERLOAD __gencl_media_read##SUFFIX##COUNT(int2 at, int width, int height, ACCESS image2d_t image, \
                                                           uint first) { \
        return (TYPE##COUNT)(__gencl_media_read##SUFFIX##HALF(at, width, height, image, first), \
                             __gencl_media_read##SUFFIX##HALF(at, width, height, image, \
                                                              first + COUNT / 2 * __gencl_simd_width())); \
    }
#define MEDIA_WRITE(TYPE, SUFFIX, ACCESS) \
    void OVERLOAD __gencl_media_write##SUFFIX(int2 at, int width, int height, TYPE x, ACCESS image2d_t image, \
                                              uint first) { \
        const uint element = first + __gencl_lane_id(), column = element % width, row = element / width; \
        if (row < (uint)height) \
            __gencl_block_store_##TYPE(image, at.x + (int)(column * sizeof(TYPE)), at.y + (int)row, x); \
    }
#define MEDIA_WRITES(TYPE, SUFFIX, COUNT, HALF, ACCESS) \
    void OVERLOAD __gencl_media_write##SUFFIX##COUNT(int2 at, int width, int height, TYPE##COUNT x, \
                                                     ACCESS image2d_t image, uint first) { \
        __gencl_media_write##SUFFIX##HALF(at, width, height, x.lo, image, first); \
        __gencl_media_write##SUFFIX##HALF(at, width, height, x.hi, image, first + COUNT / 2 * __gencl_simd_width()); \
    }
#define MEDIA_READ_FUNCTION(TYPE, SUFFIX, COUNT, ACCESS) \
    TYPE##COUNT OVERLOAD CONVERGENT intel_sub_group_media_block_read##SUFFIX##COUNT(int2 at, int width, int height, \
                                                                                   ACCESS image2d_t image) { \
        return __gencl_media_read##SUFFIX##COUNT(at, width, height, image, 0); \
    }
#define MEDIA_WRITE_FUNCTION(TYPE, SUFFIX, COUNT, ACCESS) \
    void OVERLOAD CONVERGENT intel_sub_group_media_block_write##SUFFIX##COUNT(int2 at, int width, int height, \
                                                                             TYPE##COUNT x, ACCESS image2d_t image) { \
        __gencl_media_write##SUFFIX##COUNT(at, width, height, x, image, 0); \
    }
#define MEDIA_READS_OF(TYPE, SUFFIX, ACCESS) \
    MEDIA_READ(TYPE, SUFFIX, ACCESS) BY_HALVES(MEDIA_READS, TYPE, SUFFIX, ACCESS) \
    MEDIA_READ_FUNCTION(TYPE, SUFFIX, , ACCESS) MEDIA_READ_FUNCTION(TYPE, SUFFIX, 2, ACCESS) \
    MEDIA_READ_FUNCTION(TYPE, SUFFIX, 4, ACCESS) MEDIA_READ_FUNCTION(TYPE, SUFFIX, 8, ACCESS)
#define MEDIA_WRITES_OF(TYPE, SUFFIX, ACCESS) \
    MEDIA_WRITE(TYPE, SUFFIX, ACCESS) BY_HALVES(MEDIA_WRITES, TYPE, SUFFIX, ACCESS) \
    MEDIA_WRITE_FUNCTION(TYPE, SUFFIX, , ACCESS) MEDIA_WRITE_FUNCTION(TYPE, SUFFIX, 2, ACCESS) \
    MEDIA_WRITE_FUNCTION(TYPE, SUFFIX, 4, ACCESS) MEDIA_WRITE_FUNCTION(TYPE, SUFFIX, 8, ACCESS)
#define MEDIA_OF(TYPE, SUFFIX) \
    MEDIA_READS_OF(TYPE, SUFFIX, read_only) MEDIA_READS_OF(TYPE, SUFFIX, read_write) \
    MEDIA_WRITES_OF(TYPE, SUFFIX, write_only) MEDIA_WRITES_OF(TYPE, SUFFIX, read_write)
#define MEDIA_SIXTEEN(TYPE, SUFFIX, ACCESS_READ, ACCESS_WRITE) \
    MEDIA_READS(TYPE, SUFFIX, 16, 8, ACCESS_READ) MEDIA_READ_FUNCTION(TYPE, SUFFIX, 16, ACCESS_READ) \
    MEDIA_WRITES(TYPE, SUFFIX, 16, 8, ACCESS_WRITE) MEDIA_WRITE_FUNCTION(TYPE, SUFFIX, 16, ACCESS_WRITE)
MEDIA_OF(uchar, _uc)
MEDIA_SIXTEEN(uchar, _uc, read_only, write_only)
MEDIA_SIXTEEN(uchar, _uc, read_write, read_write)
MEDIA_OF(ushort, _us)
MEDIA_SIXTEEN(ushort, _us, read_only, write_only)
MEDIA_SIXTEEN(ushort, _us, read_write, read_write)
MEDIA_OF(uint, _ui)

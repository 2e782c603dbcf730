// Images that one kernel reads and writes (OpenCL C 3.0, 6.15.15). Their texels are accessed in memory and converted
// here: typed reads of the data port convert few formats, on Ivy Bridge only those of one 32-bit channel (Mesa's
// `isl_storage_image.c`, `isl_lower_storage_image_format`).
//
// All decisions about the format are uniform. Reads outside of an image return zeros, writes there do nothing.

#include "images.h"

// The memory of a texel as dwords; those behind it are 0.
uint4 __gencl_load_texel(const global void *at, uint bytes) {
    uint4 bits = 0;
    switch (bytes) {
    case 1: bits.x = *(const global uchar *)at; break;
    case 2: bits.x = *(const global ushort *)at; break;
    case 4: bits.x = *(const global uint *)at; break;
    case 8: bits.xy = *(const global uint2 *)at; break;
    default: bits = *(const global uint4 *)at; break;
    }
    return bits;
}

void __gencl_store_texel(global void *at, uint bytes, uint4 bits) {
    switch (bytes) {
    case 1: *(global uchar *)at = bits.x; break;
    case 2: *(global ushort *)at = bits.x; break;
    case 4: *(global uint *)at = bits.x; break;
    case 8: *(global uint2 *)at = bits.xy; break;
    default: *(global uint4 *)at = bits; break;
    }
}

// From the order of memory to red, green, blue, alpha. `one` is 1 in the type of the channels.
uint4 __gencl_to_rgba(uint4 v, uint order, uint one) {
    switch (order) {
    case CLK_A: return (uint4)(0, 0, 0, v.x);
    case CLK_R: case CLK_DEPTH: return (uint4)(v.x, 0, 0, one);
    case CLK_RG: return (uint4)(v.xy, 0, one);
    case CLK_RGB: return (uint4)(v.xyz, one);
    case CLK_RA: return (uint4)(v.x, 0, 0, v.y);
    case CLK_BGRA: return v.zyxw;
    case CLK_ARGB: return v.yzwx;
    case CLK_ABGR: return v.wzyx;
    case CLK_INTENSITY: return v.xxxx;
    case CLK_LUMINANCE: return (uint4)(v.xxx, one);
    default: return v;
    }
}

uint4 __gencl_from_rgba(uint4 v, uint order) {
    switch (order) {
    case CLK_A: return v.wwww;
    case CLK_RA: return v.xwww;
    case CLK_BGRA: return v.zyxw;
    case CLK_ARGB: return v.wxyz;
    case CLK_ABGR: return v.wzyx;
    default: return v;
    }
}

// Packed texels: the lowest bits of red, green and blue, and their largest numbers.
float4 __gencl_unpack(uint bits, uint4 first, uint4 largest) {
    return convert_float4((uint4)bits >> first & largest) * (1 / convert_float4(largest));
}

uint4 __gencl_pack(float4 v, uint4 first, uint4 largest) {
    const uint4 bits = convert_uint4_rte(clamp(v, 0.0f, 1.0f) * convert_float4(largest)) << first;
    return (uint4)(bits.x | bits.y | bits.z, 0, 0, 0);
}

#define PACKED_565 (uint4)(11, 5, 0, 0), (uint4)(31, 63, 31, 1)
#define PACKED_555 (uint4)(10, 5, 0, 0), (uint4)(31, 31, 31, 1)
#define PACKED_101010 (uint4)(20, 10, 0, 0), (uint4)(1023, 1023, 1023, 1)

uint4 __gencl_decode_f(uint4 bits, uint type, uint order) {
    float4 v;
    switch (type) {
    case CLK_UNORM_SHORT_565: v = __gencl_unpack(bits.x, PACKED_565); break;
    case CLK_UNORM_SHORT_555: v = __gencl_unpack(bits.x, PACKED_555); break;
    case CLK_UNORM_INT_101010: v = __gencl_unpack(bits.x, PACKED_101010); break;
    case CLK_UNORM_INT8: v = convert_float4(as_uchar4(bits.x)) * (1 / 255.0f); break;
    case CLK_UNORM_INT16: v = convert_float4(as_ushort4(bits.xy)) * (1 / 65535.0f); break;
    case CLK_SNORM_INT8: v = fmax(convert_float4(as_char4(bits.x)) * (1 / 127.0f), -1.0f); break;
    case CLK_SNORM_INT16: v = fmax(convert_float4(as_short4(bits.xy)) * (1 / 32767.0f), -1.0f); break;
    case CLK_HALF_FLOAT: v = convert_float4(as_half4(bits.xy)); break;
    default: v = as_float4(bits); break;
    }
    return __gencl_to_rgba(as_uint4(v), order, as_uint(1.0f));
}

uint4 __gencl_encode_f(uint4 texel, uint type, uint order) {
    const uint4 channels = __gencl_from_rgba(texel, order);
    const float4 v = as_float4(channels);
    switch (type) {
    case CLK_UNORM_SHORT_565: return __gencl_pack(v, PACKED_565);
    case CLK_UNORM_SHORT_555: return __gencl_pack(v, PACKED_555);
    case CLK_UNORM_INT_101010: return __gencl_pack(v, PACKED_101010);
    case CLK_UNORM_INT8: return (uint4)(as_uint(convert_uchar4_sat_rte(v * 255)), 0, 0, 0);
    case CLK_UNORM_INT16: return (uint4)(as_uint2(convert_ushort4_sat_rte(v * 65535)), 0, 0);
    case CLK_SNORM_INT8: return (uint4)(as_uint(convert_char4_sat_rte(fmax(v, -1.0f) * 127)), 0, 0, 0);
    case CLK_SNORM_INT16: return (uint4)(as_uint2(convert_short4_sat_rte(fmax(v, -1.0f) * 32767)), 0, 0);
    case CLK_HALF_FLOAT: return (uint4)(as_uint2(convert_half4_rte(v)), 0, 0);
    default: return channels;
    }
}

// Integers: a channel is extended to 32 bits, and limited to what it holds.
#define INTEGERS_OF(NAME, CHAR, SHORT, INT, CLK) \
    uint4 __gencl_decode_##NAME(uint4 bits, uint type, uint order) { \
        uint4 v; \
        switch (type) { \
        case CLK##8: v = as_uint4(convert_##INT##4(as_##CHAR##4(bits.x))); break; \
        case CLK##16: v = as_uint4(convert_##INT##4(as_##SHORT##4(bits.xy))); break; \
        default: v = bits; break; \
        } \
        return __gencl_to_rgba(v, order, 1); \
    } \
    uint4 __gencl_encode_##NAME(uint4 texel, uint type, uint order) { \
        const uint4 channels = __gencl_from_rgba(texel, order); \
        const INT##4 v = as_##INT##4(channels); \
        switch (type) { \
        case CLK##8: return (uint4)(as_uint(convert_##CHAR##4_sat(v)), 0, 0, 0); \
        case CLK##16: return (uint4)(as_uint2(convert_##SHORT##4_sat(v)), 0, 0); \
        default: return channels; \
        } \
    }
INTEGERS_OF(i, char, short, int, CLK_SIGNED_INT)
INTEGERS_OF(ui, uchar, ushort, uint, CLK_UNSIGNED_INT)

// Kinds of images: type, components of a coordinate, row and slice of a texel, and the sizes that these have.
#define ZERO(image, c) 0
#define ONE(image, c) 1
#define X(image, c) ((c))
#define X_OF(image, c) ((c).x)
#define Y_OF(image, c) ((c).y)
#define Z_OF(image, c) ((c).z)
#define KINDS(DO) \
    DO(image1d_t, , X, ZERO, ZERO, ONE, ONE) \
    DO(image1d_buffer_t, , X, ZERO, ZERO, ONE, ONE) \
    DO(image1d_array_t, 2, X_OF, Y_OF, ZERO, LAYERS, ONE) \
    DO(image2d_t, 2, X_OF, Y_OF, ZERO, HEIGHT, ONE) \
    DO(image2d_array_t, 4, X_OF, Y_OF, Z_OF, HEIGHT, LAYERS) \
    DO(image3d_t, 4, X_OF, Y_OF, Z_OF, HEIGHT, DEPTH)
#define DEPTH_KINDS(DO) \
    DO(image2d_depth_t, 2, X_OF, Y_OF, ZERO, HEIGHT, ONE) \
    DO(image2d_array_depth_t, 4, X_OF, Y_OF, Z_OF, HEIGHT, LAYERS)
#define HEIGHT(image, c) get_image_height(image)
#define LAYERS(image, c) get_image_array_size(image)
#define DEPTH(image, c) get_image_depth(image)

// The address of a texel, null outside of the image.
#define ADDRESS(TYPE, N, COLUMN, ROW, SLICE, ROWS, SLICES) \
    TEXEL_MEMORY(read_write, TYPE) \
    global uchar *OVERLOAD __gencl_texel_address(read_write TYPE image, int##N c) { \
        const uint column = COLUMN(image, c), row = ROW(image, c), slice = SLICE(image, c); \
        const bool inside = column < (uint)get_image_width(image) && row < (uint)ROWS(image, c) && \
                            slice < (uint)SLICES(image, c); \
        const size_t offset = (size_t)slice * __gencl_image_slice_pitch__read_write_##TYPE(image) + \
                              (size_t)row * __gencl_image_row_pitch__read_write_##TYPE(image) + \
                              (size_t)column * __gencl_image_texel_size__read_write_##TYPE(image); \
        return inside ? __gencl_image_address__read_write_##TYPE(image) + offset : 0; \
    }
KINDS(ADDRESS)
DEPTH_KINDS(ADDRESS)

// An access: the function's suffix, type of a texel in the function, conversions from and to four channels.
#define ACCESS(NAME, TEXEL, FROM, TO, TYPE, N) \
    TEXEL OVERLOAD read_image##NAME(read_write TYPE image, int##N c) { \
        const global uchar *at = __gencl_texel_address(image, c); \
        const uint4 bits = at ? __gencl_load_texel(at, __gencl_image_texel_size__read_write_##TYPE(image)) : 0; \
        return FROM(__gencl_decode_##NAME(bits, get_image_channel_data_type(image), get_image_channel_order(image))); \
    } \
    void OVERLOAD write_image##NAME(read_write TYPE image, int##N c, TEXEL texel) { \
        global uchar *at = __gencl_texel_address(image, c); \
        if (!at) return; \
        const uint4 bits = \
            __gencl_encode_##NAME(TO(texel), get_image_channel_data_type(image), get_image_channel_order(image)); \
        __gencl_store_texel(at, __gencl_image_texel_size__read_write_##TYPE(image), bits); \
    }
#define ACCESSES(TYPE, N, ...) \
    ACCESS(f, float4, as_float4, as_uint4, TYPE, N) \
    ACCESS(i, int4, as_int4, as_uint4, TYPE, N) \
    ACCESS(ui, uint4, , , TYPE, N) \
    half4 OVERLOAD read_imageh(read_write TYPE image, int##N c) { return convert_half4(read_imagef(image, c)); } \
    void OVERLOAD write_imageh(read_write TYPE image, int##N c, half4 texel) { \
        write_imagef(image, c, convert_float4(texel)); \
    }
KINDS(ACCESSES)

#define DEPTH_FROM(v) (as_float4(v).x)
#define DEPTH_TO(depth) ((uint4)(as_uint(depth), 0, 0, 0))
#define DEPTH_ACCESSES(TYPE, N, ...) ACCESS(f, float, DEPTH_FROM, DEPTH_TO, TYPE, N)
DEPTH_KINDS(DEPTH_ACCESSES)

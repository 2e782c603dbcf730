// Reads and writes of images and queries of their properties (OpenCL C 3.0, 6.15.15).
//
// An access is one operation of Gen IR, `__gencl_image_OPERATION__TYPE`, whose coordinates are those of the image's
// dimensions and, of arrays, the layer behind them. The compiler finds the argument that an image is, so accesses of
// two images are never merged to one of either.

#include "images.h"

// Coordinates as the operations have them.
#define ONE(c) (c)
#define TWO(c) (c)
#define THREE(c) ((c).xyz)
#define convert_float1 convert_float

// Kinds of images: type, accesses follow; its coordinates as functions of the library take them, as operations do (suffix of the type
// and conversion).
#define SAMPLED_KINDS(DO) \
    DO(image1d_t, , , ONE) \
    DO(image1d_array_t, 2, 2, TWO) \
    DO(image2d_t, 2, 2, TWO) \
    DO(image2d_array_t, 4, 3, THREE) \
    DO(image3d_t, 4, 3, THREE)
#define SAMPLED_DEPTH_KINDS(DO) \
    DO(image2d_depth_t, 2, 2, TWO) \
    DO(image2d_array_depth_t, 4, 3, THREE)
#define BUFFER_KIND(DO) DO(image1d_buffer_t, , , ONE)

// The channels' types: name of the library's function, type of a texel, name of the operation.
#define TEXELS(DO, ...) DO(f, float4, f32, __VA_ARGS__) DO(i, int4, s32, __VA_ARGS__) DO(ui, uint4, u32, __VA_ARGS__)

#define SAMPLE(NAME, TEXEL, OP, TYPE, GIVEN, TAKEN, PICK) \
    TEXEL CONST NOMERGE __gencl_image_sample_##OP##__##TYPE(read_only TYPE, sampler_t, float##TAKEN); \
    TEXEL OVERLOAD read_image##NAME(read_only TYPE image, sampler_t sampler, float##GIVEN coordinate) { \
        return __gencl_image_sample_##OP##__##TYPE(image, sampler, PICK(coordinate)); \
    } \
    TEXEL OVERLOAD read_image##NAME(read_only TYPE image, sampler_t sampler, int##GIVEN coordinate) { \
        return __gencl_image_sample_##OP##__##TYPE(image, sampler, convert_float##TAKEN(PICK(coordinate))); \
    }
#define LOAD(NAME, TEXEL, OP, TYPE, GIVEN, TAKEN, PICK) \
    TEXEL CONST NOMERGE __gencl_image_load_##OP##__##TYPE(read_only TYPE, int##TAKEN); \
    TEXEL OVERLOAD read_image##NAME(read_only TYPE image, int##GIVEN coordinate) { \
        return __gencl_image_load_##OP##__##TYPE(image, PICK(coordinate)); \
    }
#define WRITE(NAME, TEXEL, OP, TYPE, GIVEN, TAKEN, PICK) \
    void NOMERGE __gencl_image_write_##OP##__##TYPE(write_only TYPE, int##TAKEN, TEXEL); \
    void OVERLOAD write_image##NAME(write_only TYPE image, int##GIVEN coordinate, TEXEL texel) { \
        __gencl_image_write_##OP##__##TYPE(image, PICK(coordinate), texel); \
    }
#define READS(TYPE, GIVEN, TAKEN, PICK) TEXELS(SAMPLE, TYPE, GIVEN, TAKEN, PICK)
#define LOADS(TYPE, GIVEN, TAKEN, PICK) TEXELS(LOAD, TYPE, GIVEN, TAKEN, PICK)
#define WRITES(TYPE, GIVEN, TAKEN, PICK) TEXELS(WRITE, TYPE, GIVEN, TAKEN, PICK)
SAMPLED_KINDS(READS)
SAMPLED_KINDS(LOADS)
SAMPLED_KINDS(WRITES)
BUFFER_KIND(LOADS)
BUFFER_KIND(WRITES)

// Half floats: the hardware's 16-bit texels are not used, so that a read gives what `read_imagef` rounds to.
#define HALVES(TYPE, GIVEN, TAKEN, PICK) \
    half4 OVERLOAD read_imageh(read_only TYPE image, sampler_t sampler, float##GIVEN coordinate) { \
        return convert_half4(read_imagef(image, sampler, coordinate)); \
    } \
    half4 OVERLOAD read_imageh(read_only TYPE image, sampler_t sampler, int##GIVEN coordinate) { \
        return convert_half4(read_imagef(image, sampler, coordinate)); \
    }
#define UNFILTERED_HALVES(TYPE, GIVEN, TAKEN, PICK) \
    half4 OVERLOAD read_imageh(read_only TYPE image, int##GIVEN coordinate) { \
        return convert_half4(read_imagef(image, coordinate)); \
    } \
    void OVERLOAD write_imageh(write_only TYPE image, int##GIVEN coordinate, half4 texel) { \
        write_imagef(image, coordinate, convert_float4(texel)); \
    }
SAMPLED_KINDS(HALVES)
SAMPLED_KINDS(UNFILTERED_HALVES)
BUFFER_KIND(UNFILTERED_HALVES)

// Depth images have one channel.
#define DEPTH(TYPE, GIVEN, TAKEN, PICK) \
    float4 CONST NOMERGE __gencl_image_sample_f32__##TYPE(read_only TYPE, sampler_t, float##TAKEN); \
    float4 CONST NOMERGE __gencl_image_load_f32__##TYPE(read_only TYPE, int##TAKEN); \
    void NOMERGE __gencl_image_write_f32__##TYPE(write_only TYPE, int##TAKEN, float4); \
    float OVERLOAD read_imagef(read_only TYPE image, sampler_t sampler, float##GIVEN coordinate) { \
        return __gencl_image_sample_f32__##TYPE(image, sampler, PICK(coordinate)).x; \
    } \
    float OVERLOAD read_imagef(read_only TYPE image, sampler_t sampler, int##GIVEN coordinate) { \
        return __gencl_image_sample_f32__##TYPE(image, sampler, convert_float##TAKEN(PICK(coordinate))).x; \
    } \
    float OVERLOAD read_imagef(read_only TYPE image, int##GIVEN coordinate) { \
        return __gencl_image_load_f32__##TYPE(image, PICK(coordinate)).x; \
    } \
    void OVERLOAD write_imagef(write_only TYPE image, int##GIVEN coordinate, float depth) { \
        __gencl_image_write_f32__##TYPE(image, PICK(coordinate), depth); \
    }
SAMPLED_DEPTH_KINDS(DEPTH)

// Properties: a parameter of the launch each.
#define PROPERTY(RESULT, FUNCTION, PROPERTY, TYPE, ACCESS) \
    uint CONST NOMERGE __gencl_image_##PROPERTY##__##ACCESS##_##TYPE(ACCESS TYPE); \
    RESULT OVERLOAD FUNCTION(ACCESS TYPE image) { return __gencl_image_##PROPERTY##__##ACCESS##_##TYPE(image); }
#define ALL_ACCESSES(DO, TYPE) DO(TYPE, read_only) DO(TYPE, write_only) DO(TYPE, read_write)
#define WIDTH(TYPE, ACCESS) \
    PROPERTY(int, get_image_width, width, TYPE, ACCESS) \
    PROPERTY(int, get_image_channel_data_type, channel_type, TYPE, ACCESS) \
    PROPERTY(int, get_image_channel_order, channel_order, TYPE, ACCESS)
#define HEIGHT(TYPE, ACCESS) \
    WIDTH(TYPE, ACCESS) \
    PROPERTY(int, get_image_height, height, TYPE, ACCESS)
#define PLANE(TYPE, ACCESS) \
    HEIGHT(TYPE, ACCESS) \
    int2 OVERLOAD get_image_dim(ACCESS TYPE image) { \
        return (int2)(get_image_width(image), get_image_height(image)); \
    }
#define VOLUME(TYPE, ACCESS) \
    HEIGHT(TYPE, ACCESS) \
    PROPERTY(int, get_image_depth, depth, TYPE, ACCESS) \
    int4 OVERLOAD get_image_dim(ACCESS TYPE image) { \
        return (int4)(get_image_width(image), get_image_height(image), get_image_depth(image), 0); \
    }
#define LAYERS(TYPE, ACCESS) PROPERTY(size_t, get_image_array_size, array_size, TYPE, ACCESS)
ALL_ACCESSES(WIDTH, image1d_t)
ALL_ACCESSES(WIDTH, image1d_buffer_t)
ALL_ACCESSES(WIDTH, image1d_array_t)
ALL_ACCESSES(LAYERS, image1d_array_t)
ALL_ACCESSES(PLANE, image2d_t)
ALL_ACCESSES(PLANE, image2d_depth_t)
ALL_ACCESSES(PLANE, image2d_array_t)
ALL_ACCESSES(LAYERS, image2d_array_t)
ALL_ACCESSES(PLANE, image2d_array_depth_t)
ALL_ACCESSES(LAYERS, image2d_array_depth_t)
ALL_ACCESSES(VOLUME, image3d_t)

// Reads of integer formats on hardware whose sampler has no border colour for them (Gen7 and Gen7.5; Beignet's
// `ocl_image.cl` does the same). A sampler that clamps to the border is replaced by an unfiltered read, which returns
// the border colour outside of an image, at coordinates that are computed here.
//
// `lower::integer_borders` calls these functions with the sampler's number.

#include "images.h"

// "Texture Coordinate Mode": the bits of a sampler's number for it.
#define ADDRESSING 0xe

int __gencl_texel_index(float coordinate, uint number, int side) {
    return convert_int_sat_rtn(number & CLK_NORMALIZED_COORDS_TRUE ? coordinate * side : coordinate);
}

int __gencl_layer_index(float coordinate, int layers) {
    return clamp(convert_int_sat_rte(coordinate), 0, layers - 1);
}

// Kinds of images: type, components of a coordinate, and the texel's place.
#define X(image, at, number) __gencl_texel_index(at, number, get_image_width(image))
#define X_OF(image, at, number) X(image, (at).x, number)
#define Y_OF(image, at, number) __gencl_texel_index((at).y, number, get_image_height(image))
#define Z_OF(image, at, number) __gencl_texel_index((at).z, number, get_image_depth(image))
#define XL(...) (int2)(X_OF(__VA_ARGS__), LAYER(y, __VA_ARGS__))
#define XY(...) (int2)(X_OF(__VA_ARGS__), Y_OF(__VA_ARGS__))
#define XYL(...) (int3)(X_OF(__VA_ARGS__), Y_OF(__VA_ARGS__), LAYER(z, __VA_ARGS__))
#define XYZ(...) (int3)(X_OF(__VA_ARGS__), Y_OF(__VA_ARGS__), Z_OF(__VA_ARGS__))
#define LAYER(COMPONENT, image, at, number) __gencl_layer_index((at).COMPONENT, get_image_array_size(image))
#define KINDS(DO, ...) \
    DO(image1d_t, , X, __VA_ARGS__) \
    DO(image1d_array_t, 2, XL, __VA_ARGS__) \
    DO(image2d_t, 2, XY, __VA_ARGS__) \
    DO(image2d_array_t, 3, XYL, __VA_ARGS__) \
    DO(image3d_t, 3, XYZ, __VA_ARGS__)

#define BORDERED(TYPE, N, PLACE, TEXEL, OP) \
    TEXEL CONST NOMERGE __gencl_image_sample_##OP##__##TYPE(read_only TYPE, sampler_t, float##N); \
    TEXEL CONST NOMERGE __gencl_image_load_##OP##__##TYPE(read_only TYPE, int##N); \
    TEXEL __gencl_bordered_##OP##__##TYPE(read_only TYPE image, sampler_t sampler, float##N at, uint number) { \
        if ((number & ADDRESSING) == CLK_ADDRESS_CLAMP) \
            return __gencl_image_load_##OP##__##TYPE(image, PLACE(image, at, number)); \
        return __gencl_image_sample_##OP##__##TYPE(image, sampler, at); \
    }
KINDS(BORDERED, int4, s32)
KINDS(BORDERED, uint4, u32)

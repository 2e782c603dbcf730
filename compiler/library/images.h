// What the library's functions on images share.

#include "gencl.h"

// Where the texels of an image are: address of the first one, sizes in bytes.
#define TEXEL_MEMORY(ACCESS, TYPE) \
    global uchar *CONST NOMERGE __gencl_image_address__##ACCESS##_##TYPE(ACCESS TYPE); \
    uint CONST NOMERGE __gencl_image_texel_size__##ACCESS##_##TYPE(ACCESS TYPE); \
    uint CONST NOMERGE __gencl_image_row_pitch__##ACCESS##_##TYPE(ACCESS TYPE); \
    uint CONST NOMERGE __gencl_image_slice_pitch__##ACCESS##_##TYPE(ACCESS TYPE);

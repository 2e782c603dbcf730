// Accesses to images of one kind. Build options: IMAGE is its type, COORDINATES the components of a coordinate,
// DEPTH is defined for depth images, BUFFER for those that samplers do not read.
#ifdef cl_khr_3d_image_writes
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
#endif

#if COORDINATES == 1
#define AT(v) ((v).x)
#elif COORDINATES == 2
#define AT(v) ((v).xy)
#else
#define AT(v) (v)
#endif

#ifdef DEPTH
#define NARROW(v) ((v).x)
#define WIDE(v) ((float4)((v), 0, 0, 1))
#else
#define NARROW(v) (v)
#define WIDE(v) (v)
#endif

#define ID ((int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0))
#define INDEX ((get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0))

// Accesses at coordinates of a list: `load`, `store`, `exchange`, `sample`, and `fetch` with a sampler and integers.
#define ACCESSES(NAME, TEXEL) \
    kernel void load_##NAME(read_only IMAGE image, global const int4 *at, global TEXEL *out) { \
        out[get_global_id(0)] = WIDE(read_image##NAME(image, AT(at[get_global_id(0)]))); \
    } \
    kernel void store_##NAME(write_only IMAGE image, global const int4 *at, global const TEXEL *in) { \
        write_image##NAME(image, AT(at[get_global_id(0)]), NARROW(in[get_global_id(0)])); \
    } \
    kernel void write_##NAME(write_only IMAGE image, global const TEXEL *in) { \
        write_image##NAME(image, AT(ID), NARROW(in[INDEX])); \
    } \
    kernel void read_##NAME(read_only IMAGE image, global TEXEL *out) { \
        out[INDEX] = WIDE(read_image##NAME(image, AT(ID))); \
    }
#define SAMPLES(NAME, TEXEL) \
    kernel void sample_##NAME(read_only IMAGE image, sampler_t sampler, global const float4 *at, global TEXEL *out) { \
        out[get_global_id(0)] = WIDE(read_image##NAME(image, sampler, AT(at[get_global_id(0)]))); \
    } \
    kernel void fetch_##NAME(read_only IMAGE image, sampler_t sampler, global const int4 *at, global TEXEL *out) { \
        out[get_global_id(0)] = WIDE(read_image##NAME(image, sampler, AT(at[get_global_id(0)]))); \
    }

#ifdef READ_WRITE
#define UPDATE(NAME, TEXEL) \
    kernel void exchange_##NAME(read_write IMAGE image, global const int4 *at, global const TEXEL *in, global TEXEL *out) { \
        out[get_global_id(0)] = WIDE(read_image##NAME(image, AT(at[get_global_id(0)]))); \
        write_image##NAME(image, AT(at[get_global_id(0)]), NARROW(in[get_global_id(0)])); \
    } \
    kernel void update_##NAME(read_write IMAGE image, global const TEXEL *in, global TEXEL *before, global TEXEL *after) { \
        before[INDEX] = WIDE(read_image##NAME(image, AT(ID))); \
        write_image##NAME(image, AT(ID), NARROW(in[INDEX])); \
        atomic_work_item_fence(CLK_IMAGE_MEM_FENCE, memory_order_acq_rel, memory_scope_work_item); \
        after[INDEX] = WIDE(read_image##NAME(image, AT(ID))); \
    }
UPDATE(f, float4)
#ifndef DEPTH
UPDATE(i, int4)
UPDATE(ui, uint4)
#endif
#define BOTH read_write
#else
ACCESSES(f, float4)
#ifndef BUFFER
SAMPLES(f, float4)
#endif
#ifndef DEPTH
ACCESSES(i, int4)
ACCESSES(ui, uint4)
#ifndef BUFFER
SAMPLES(i, int4)
SAMPLES(ui, uint4)
#endif
#endif
#define BOTH read_only
#endif

kernel void properties(BOTH IMAGE image, write_only IMAGE other, global int *out) {
    out[0] = get_image_width(image);
    out[1] = get_image_channel_data_type(image);
    out[2] = get_image_channel_order(image);
    out[3] = get_image_width(other);
#ifdef HEIGHT
    out[4] = get_image_height(image);
    out[5] = get_image_dim(image).y;
#endif
#ifdef SLICES
    out[6] = get_image_depth(image);
#endif
#ifdef LAYERS
    out[7] = get_image_array_size(image);
#endif
}

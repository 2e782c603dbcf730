// Reads of images under divergent control flow, in loops and in functions that images and samplers are handed to.
constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t border = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

uint first(read_only image2d_t image, sampler_t sampler, int2 at) { return read_imageui(image, sampler, at).x; }

// Each lane adds up as many texels as its number.
kernel void loops(read_only image2d_t image, global uint *out) {
    int id = get_global_id(0);
    uint sum = 0;
    for (int i = 0; i < id; i++)
        sum += read_imageui(image, edge, (int2)(i % 9 - 1, i / 9)).x;
    out[id] = sum;
}

kernel void branches(read_only image2d_t image, read_only image2d_t other, sampler_t given, global uint *out) {
    int id = get_global_id(0);
    int2 at = (int2)(id - 2, id & 3);
    uint value;
    switch (id % 3) {
    case 0:
        value = first(image, edge, at);
        break;
    case 1:
        value = first(other, border, at) + 1000;
        break;
    default:
        value = first(image, given, at) + 2000;
        if (id & 4)
            value += first(other, edge, at.yx);
    }
    out[id] = value;
}

// A sampler that all branches use, and what follows them: LLVM's GVN unites its values by a phi.
kernel void joined(read_only image2d_t image, read_only image2d_t other, global uint *out, global uint *sums) {
    int id = get_global_id(0);
    uint sum;
    if (id > 30) {
        sum = first(image, edge, (int2)(id, 1));
        sums[0] = sum;
    } else if (id > 15) {
        sum = first(other, edge, (int2)(id, 2));
        sums[1] = sum;
    } else {
        sum = first(image, edge, (int2)(3, id));
        sums[2] = sum;
    }
    out[id] = sum + first(image, edge, (int2)(id, id));
}

// Every second lane writes, from inside a loop.
kernel void writes(write_only image2d_t image) {
    int id = get_global_id(0);
    if (id & 1)
        for (int y = 0; y < id; y++)
            write_imageui(image, (int2)(id, y), (uint4)(id + 100 * y, 0, 0, 0));
}

kernel void step(read_only image2d_t from, write_only image2d_t to) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imageui(to, at, read_imageui(from, edge, at) + 1);
}

// A sub-group of 16 reads a block of an image and writes it to another one. Build options: VECTOR is the type of a
// lane's elements, READ and WRITE the functions, WIDTH and HEIGHT the size of a media block.
#ifdef WIDTH
#define READ_BLOCK(image, at) READ(at, WIDTH, HEIGHT, image)
#define WRITE_BLOCK(image, at, x) WRITE(at, WIDTH, HEIGHT, x, image)
#else
#define READ_BLOCK(image, at) READ(image, at)
#define WRITE_BLOCK(image, at, x) WRITE(image, at, x)
#endif

__attribute__((intel_reqd_sub_group_size(16)))
kernel void blocks(read_only image2d_t in, write_only image2d_t out, int2 from, int2 to, global VECTOR *copy) {
    const VECTOR block = READ_BLOCK(in, from);
    copy[get_sub_group_local_id()] = block;
    WRITE_BLOCK(out, to, block);
}

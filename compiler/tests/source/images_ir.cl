// Images of one to three dimensions and arrays, properties, dead channels, accesses that are never merged.
// ir
// options -cl-std=CL3.0
constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
kernel void kinds(read_only image1d_t a, read_only image1d_array_t b, read_only image2d_array_t c, read_only image3d_t d,
                  read_only image1d_buffer_t e, read_only image2d_depth_t f, write_only image3d_t g, int s) {
    uint4 sum = read_imageui(a, s) + read_imageui(b, edge, (int2)(s, 1)) + read_imageui(c, edge, (float4)(s, 2, 3, 4)) +
                read_imageui(d, edge, (int4)(s)) + read_imageui(e, s) + (uint)read_imagef(f, edge, (int2)(s)) +
                (uint4)(get_image_width(a), get_image_array_size(b), get_image_depth(g), get_image_channel_order(e));
    write_imageui(g, (int4)(s), sum);
}
kernel void either(read_only image2d_t a, read_only image2d_t b, global float *out, int s) {
    out[0] = s > 3 ? read_imagef(a, edge, (int2)(s)).y : read_imagef(b, edge, (int2)(s)).y;
}
// expect
// kernel "kinds" per_lane
//     register dword %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %12 %13 %14 %15
//     register dword %16 %17 %18 %19 %20 %21 %22 %23 %24 %25 %26 %27 %28 %29 %30 %31
//     register dword %32 %33 %34 %35 %36 %37 %38 %39 %40 %41 %42 %43 %44 %45 %46 %47
//     register dword %48 %49 %50 %51 %52 %53 %54 %55 %56 %57 %58 %59 %60 %61 %62 %63
//     register dword %64 %65 %66
// @0:
//     %0 = input.push.value 7, 0
//     %59 = input.push.image.width 0
//     %60 = input.push.image.array_size 1
//     %61 = input.push.image.depth 6
//     %62 = input.push.image.channel_order 4
//     %1, %2, %3, %4 = image.load.1d.u32 0, %0
//     %5 = immediate.u32 0
//     %6 = immediate.u32 1
//     %7 = convert.f32.s32 %0
//     %8 = convert.f32.s32 %6
//     %9, %10, %11, %12 = image.sample_constant.2d.u32 1, 18, %7, %8
//     %13 = add.u32 %9, %1
//     %14 = add.u32 %10, %2
//     %15 = add.u32 %11, %3
//     %16 = add.u32 %12, %4
//     %17 = convert.f32.s32 %0
//     %18 = immediate.f32 0x0 ; 0.0
//     %19 = immediate.f32 0x40000000 ; 2.0
//     %20 = immediate.f32 0x40400000 ; 3.0
//     %21, %22, %23, %24 = image.sample_constant.3d.u32 2, 18, %17, %19, %20
//     %25 = add.u32 %13, %21
//     %26 = add.u32 %14, %22
//     %27 = add.u32 %15, %23
//     %28 = add.u32 %16, %24
//     %29 = convert.f32.s32 %0
//     %30 = convert.f32.s32 %0
//     %31 = convert.f32.s32 %0
//     %32, %33, %34, %35 = image.sample_constant.3d.u32 3, 18, %29, %30, %31
//     %36 = add.u32 %25, %32
//     %37 = add.u32 %26, %33
//     %38 = add.u32 %27, %34
//     %39 = add.u32 %28, %35
//     %40, %41, %42, %43 = image.load.1d.u32 4, %0
//     %44 = add.u32 %36, %40
//     %45 = add.u32 %37, %41
//     %46 = add.u32 %38, %42
//     %47 = add.u32 %39, %43
//     %48 = convert.f32.s32 %0
//     %49 = convert.f32.s32 %5
//     %50, %51, %52, %53 = image.sample_constant.2d.f32 5, 18, %48, %48
//     %54 = convert.u32.f32 %50
//     %55 = add.u32 %44, %54
//     %56 = add.u32 %45, %54
//     %57 = add.u32 %46, %54
//     %58 = add.u32 %47, %54
//     %63 = add.u32 %55, %59
//     %64 = add.u32 %56, %60
//     %65 = add.u32 %57, %61
//     %66 = add.u32 %58, %62
//     image.write.3d.u32 6, %0, %0, %0, %63, %64, %65, %66
//     return
// end
// kernel "either" per_lane
//     register dword %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %11 %12 %13 %14 %15 %16
//     register dword %17 %18 %19 %20 %21 %22
//     register bool %10
//     register qword %23
// @0:
//     %8 = input.push.value 3, 0
//     %23 = input.push.pointer 2
//     %9 = immediate.u32 3
//     %10 = compare.greater.s32 %8, %9
//     %11 = immediate.u32 0
//     %12 = convert.f32.s32 %8
//     %13 = convert.f32.s32 %11
//     %14 = immediate.f32 0x0 ; 0.0
//     branch %10, @1, @2
// @1:
//     %15, %16, %17, %18 = image.sample_constant.2d.f32 0, 18, %12, %12
//     %4 = mov.u32 %15
//     %5 = mov.u32 %16
//     %6 = mov.u32 %17
//     %7 = mov.u32 %18
//     jump @3
// @2:
//     %19, %20, %21, %22 = image.sample_constant.2d.f32 1, 18, %12, %12
//     %4 = mov.u32 %19
//     %5 = mov.u32 %20
//     %6 = mov.u32 %21
//     %7 = mov.u32 %22
//     jump @3
// @3:
//     %0 = mov.u32 %4
//     %1 = mov.u32 %5
//     %2 = mov.u32 %6
//     %3 = mov.u32 %7
//     store.global.f32.align4 %23, %1
//     return
// end

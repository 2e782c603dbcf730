// A loop is not unrolled for a private array that stays in memory, as its index is what the loop has loaded.
// ir
kernel void histogram(global const uint *in, global uint *out) {
    uint counts[16];
    for (uint i = 0; i < 256; ++i)
        counts[in[i] & 15]++;
    out[0] = counts[out[0]];
}
// expect
// kernel "histogram" per_lane
//     private_size 64
//     register dword %0 %1 %2 %5 %6 %9 %10 %11 %12 %13 %14 %15 %16 %17 %18 %21
//     register dword %22 %23 %24 %25
//     register qword %3 %4 %7 %8 %20
//     register bool %19
// @0:
//     %4 = input.push.pointer 0
//     %20 = input.push.pointer 1
//     %2 = immediate.u32 0
//     %1 = mov.u32 %2
//     jump @1
// @1:
//     %0 = mov.u32 %1
//     %3 = convert.u64.u32 %0
//     %5 = immediate.u32 2
//     %6 = shl.u32 %0, %5
//     %7 = convert.s64.s32 %6
//     %8 = add.u64 %4, %7
//     %9 = load.global.u32.align4 %8
//     %10 = immediate.u32 15
//     %11 = and.u32 %9, %10
//     %12 = shl.u32 %11, %5
//     %13 = add.u32 %2, %12
//     %14 = load.private.u32.align4 %13
//     %15 = immediate.u32 1
//     %16 = add.u32 %14, %15
//     store.private.u32.align4 %13, %16
//     %17 = add.u32 %0, %15
//     %18 = immediate.u32 256
//     %19 = compare.equal.u32 %17, %18
//     %1 = mov.u32 %17
//     branch %19, @2, @1
// @2:
//     %21 = load.global.u32.align4 %20
//     %22 = immediate.u32 2
//     %23 = shl.u32 %21, %22
//     %24 = add.u32 %2, %23
//     %25 = load.private.u32.align4 %24
//     store.global.u32.align4 %20, %25
//     return
// end

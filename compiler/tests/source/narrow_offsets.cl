// Offsets of 64 bits that are computed from numbers of 32 bits: their low halves suffice.
// ir
// run 8 8
// buffer uint iota 8
// buffer uint zero 8
kernel void narrow_offsets(global const uint *in, global uint *out) {
    ulong i = (uint)get_local_id(0);
    long shifted = (long)(i << 32) >> 30;
    *(global uint *)((global char *)out + shifted) = in[i & 6 ^ 3];
}
// expect
// kernel "narrow_offsets" per_lane
//     register word %0
//     register dword %1 %12 %13 %14 %15 %16 %17 %20 %22
//     register qword %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %18 %19 %21 %23 %24
// @0:
//     %0 = input.local_id 0
//     %11 = input.push.pointer 0
//     %21 = input.push.pointer 1
//     %1 = convert.u32.u16 %0
//     %2 = convert.u64.u32 %1
//     %3 = immediate.u64 32
//     %4 = shl.u64 %2, %3
//     %5 = immediate.u64 30
//     %6 = shr.s64 %4, %5
//     %7 = immediate.u64 6
//     %8 = and.u64 %2, %7
//     %9 = immediate.u64 3
//     %10 = xor.u64 %8, %9
//     %12 = immediate.u32 6
//     %13 = and.u32 %1, %12
//     %14 = immediate.u32 3
//     %15 = xor.u32 %13, %14
//     %16 = immediate.u32 2
//     %17 = shl.u32 %15, %16
//     %18 = convert.s64.s32 %17
//     %19 = add.u64 %11, %18
//     %20 = load.global.u32.align4 %19
//     %22 = shl.u32 %1, %16
//     %23 = convert.s64.s32 %22
//     %24 = add.u64 %21, %23
//     store.global.u32.align4 %24, %20
//     return
// end
// 0x0 0x1 0x2 0x3 0x4 0x5 0x6 0x7
// 0x3 0x3 0x1 0x1 0x7 0x7 0x5 0x5

// A small private array that a loop indexes is in registers: nothing of private memory is left.
// ir
kernel void unrolled(global uint *out) {
    uint window[4] = {1, 2, 3, 4};
    for (uint i = 0; i < 6; ++i)
        window[i & 3] += window[(i + 1) & 3] * out[0];
    out[0] = window[0] ^ window[1] ^ window[2] ^ window[3];
}
// expect
// kernel "unrolled" per_lane
//     register qword %0
//     register dword %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %12 %13 %14 %15 %16
//     register dword %17 %18 %19 %20
// @0:
//     %0 = input.push.pointer 0
//     %1 = load.global.u32.align4 %0
//     %2 = immediate.u32 1
//     %3 = shl.u32 %1, %2
//     %4 = or.u32 %3, %2
//     %5 = immediate.u32 3
//     %6 = mul.u32 %1, %5
//     %7 = immediate.u32 2
//     %8 = add.u32 %6, %7
//     %9 = shl.u32 %1, %7
//     %10 = or.u32 %9, %5
//     %11 = mul.u32 %1, %4
//     %12 = immediate.u32 4
//     %13 = add.u32 %11, %12
//     %14 = mul.u32 %1, %8
//     %15 = add.u32 %4, %14
//     %16 = mul.u32 %1, %10
//     %17 = add.u32 %8, %16
//     %18 = xor.u32 %17, %15
//     %19 = xor.u32 %18, %13
//     %20 = xor.u32 %19, %10
//     store.global.u32.align4 %0, %20
//     return
// end

// Case 1 is pushed, case 2 is loaded, case 3 is copied (a small array would be in registers).
// ir
struct Block { int first; int rest[9]; };
kernel void direct(global int *out, struct Block block) { out[0] = block.first + block.rest[2]; }
kernel void indirect(global int *out, struct Block block, int i) { out[0] = block.rest[i]; }
kernel void written(global int *out, struct Block block, int i, int j) {
    block.rest[i] = 5;
    out[0] = block.rest[j];
}
// expect
// kernel "direct" per_lane
//     register dword %0 %1 %2
//     register qword %3
// @0:
//     %0 = input.push.value 1, 0
//     %1 = input.push.value 1, 12
//     %3 = input.push.pointer 0
//     %2 = add.u32 %1, %0
//     store.global.u32.align4 %3, %2
//     return
// end
// kernel "indirect" per_lane
//     register dword %0 %5 %6 %7 %8 %11
//     register qword %1 %2 %3 %4 %9 %10 %12
// @0:
//     %0 = input.push.value 2, 0
//     %2 = input.push.argument_block
//     %12 = input.push.pointer 0
//     %1 = convert.s64.s32 %0
//     %3 = immediate.u64 8
//     %4 = add.u64 %2, %3
//     %5 = immediate.u32 2
//     %6 = shl.u32 %0, %5
//     %7 = immediate.u32 4
//     %8 = add.u32 %6, %7
//     %9 = convert.s64.s32 %8
//     %10 = add.u64 %4, %9
//     %11 = load.constant.u32.align4 %10
//     store.global.u32.align4 %12, %11
//     return
// end
// kernel "written" per_lane
//     private_size 40
//     register dword %0 %4 %5 %6 %7 %10 %11 %12 %13 %14 %15 %18 %19 %20 %21 %22
//     register dword %23 %24 %25 %26 %27 %28 %29 %30 %31 %32
//     register qword %1 %2 %3 %8 %9 %16 %17 %33
// @0:
//     %1 = input.push.argument_block
//     %24 = input.push.value 2, 0
//     %29 = input.push.value 3, 0
//     %33 = input.push.pointer 0
//     %0 = immediate.u32 0
//     %2 = immediate.u64 8
//     %3 = add.u64 %1, %2
//     %4, %5, %6, %7 = load.constant.u32.align4 %3
//     store.private.u32.align4 %0, %4, %5, %6, %7
//     %8 = immediate.u64 16
//     %9 = add.u64 %3, %8
//     %10, %11, %12, %13 = load.constant.u32.align4 %9
//     %14 = immediate.u32 16
//     %15 = add.u32 %0, %14
//     store.private.u32.align4 %15, %10, %11, %12, %13
//     %16 = immediate.u64 32
//     %17 = add.u64 %3, %16
//     %18, %19 = load.constant.u32.align4 %17
//     %20 = immediate.u32 32
//     %21 = add.u32 %0, %20
//     store.private.u32.align4 %21, %18, %19
//     %22 = immediate.u32 4
//     %23 = add.u32 %0, %22
//     %25 = immediate.u32 2
//     %26 = shl.u32 %24, %25
//     %27 = add.u32 %23, %26
//     %28 = immediate.u32 5
//     store.private.u32.align4 %27, %28
//     %30 = shl.u32 %29, %25
//     %31 = add.u32 %23, %30
//     %32 = load.private.u32.align4 %31
//     store.global.u32.align4 %33, %32
//     return
// end

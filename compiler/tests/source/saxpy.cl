// The plainest kernel, as IR.
// ir
// run 6 4
// buffer float iota 6
// buffer float 1 2 3 4 5 6
// value float 0.5
// value int 5
kernel void saxpy(global float *y, global const float *x, float a, int n) {
    int i = get_global_id(0);
    if (i < n)
        y[i] = a * x[i] + y[i];
}
// expect
// kernel "saxpy" per_lane
//     register dword %0 %1 %2 %4 %5 %6 %7 %8 %12 %13 %16 %18 %21 %22 %23
//     register word %3
//     register bool %9
//     register qword %10 %11 %14 %15 %17 %19 %20
// @0:
//     %0 = input.group_id 0
//     %1 = input.push.enqueued_local_size 0
//     %3 = input.local_id 0
//     %6 = input.push.global_offset 0
//     %8 = input.push.value 3, 0
//     %11 = input.push.pointer 1
//     %17 = input.push.pointer 0
//     %22 = input.push.value 2, 0
//     %2 = mul.u32 %1, %0
//     %4 = convert.u32.u16 %3
//     %5 = add.u32 %2, %4
//     %7 = add.u32 %5, %6
//     %9 = compare.less.s32 %7, %8
//     branch %9, @1, @2
// @1:
//     %10 = convert.s64.s32 %7
//     %12 = immediate.u32 2
//     %13 = shl.u32 %7, %12
//     %14 = convert.s64.s32 %13
//     %15 = add.u64 %11, %14
//     %16 = load.global.f32.align4 %15
//     %18 = shl.u32 %7, %12
//     %19 = convert.s64.s32 %18
//     %20 = add.u64 %17, %19
//     %21 = load.global.f32.align4 %20
//     %23 = mad.f32 %22, %16, %21
//     store.global.f32.align4 %20, %23
//     jump @2
// @2:
//     return
// end
// 0.5 2 3.5 5 6.5 5
// 1 2 3 4 5 6

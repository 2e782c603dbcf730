// options -g
// ir
int twice(int x) {
  return 2 * x;
}

kernel void lines(global int *out) {
  int i = get_global_id(0);
  if (out[i] > 3)
    out[i] = twice(out[i]);
}
// expect
// kernel "lines" per_lane
//     register dword %0 %1 %2 %4 %5 %6 %7 %10 %11 %14 %15 %17 %18
//     register word %3
//     register qword %8 %9 %12 %13
//     register bool %16
// @0:
//     %0 = input.group_id 0 ; 7:0
//     %1 = input.push.enqueued_local_size 0 ; 7:0
//     %3 = input.local_id 0 ; 7:0
//     %6 = input.push.global_offset 0 ; 7:0
//     %9 = input.push.pointer 0 ; 7:0
//     %2 = mul.u32 %1, %0 ; 8:11
//     %4 = convert.u32.u16 %3 ; 8:11
//     %5 = add.u32 %2, %4 ; 8:11
//     %7 = add.u32 %5, %6 ; 8:11
//     %8 = convert.s64.s32 %7 ; 9:7
//     %10 = immediate.u32 2 ; 9:7
//     %11 = shl.u32 %7, %10 ; 9:7
//     %12 = convert.s64.s32 %11 ; 9:7
//     %13 = add.u64 %9, %12 ; 9:7
//     %14 = load.global.u32.align4 %13 ; 9:7
//     %15 = immediate.u32 3 ; 9:14
//     %16 = compare.greater.s32 %14, %15 ; 9:14
//     branch %16, @1, @2 ; 9:7
// @1:
//     %17 = immediate.u32 1 ; 4:12
//     %18 = shl.u32 %14, %17 ; 4:12
//     store.global.u32.align4 %13, %18 ; 10:12
//     jump @2 ; 10:5
// @2:
//     return ; 11:1
// end

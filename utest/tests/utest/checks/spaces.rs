//! The table of faults by memory, type and launch.

use gencl_utest::{DOUBLE, HALF, Need};

use super::Row;
use super::argument::Argument::{AddressOf, Float, Int, Ints, Local, Part, Shared, WriteOnly};
use super::rows::{found, right, row};

/// A row of what a device may lack.
const fn needing(needs: &'static [Need], row: Row) -> Row {
    Row { needs, ..row }
}

/// A row with another range.
const fn sized(sizes: &'static [(usize, usize)], offset: &'static [usize], row: Row) -> Row {
    Row { sizes, offset, ..row }
}

const MEMBER: &str = "index beyond a member of 4 elements";
const READ4: &str = "out-of-bounds read of 4 bytes";
const WRITE4: &str = "out-of-bounds write of 4 bytes";
const RESULT: &str = "result made of an undefined value";

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    // Parts of buffers, and shared virtual memory.
    row("part_write", &[Part(64)], "K(global int *p) {\n  int i = get_global_id(0);\n  p[i + 1] = i;\n}",
        &[found(WRITE4, 3, "(63, 0, 0): it begins 0 bytes behind argument 0 (p) of 256 bytes")]),
    row("part_read_before", &[Ints(64), Part(64)], "K(global int *p, global int *q) {\n  int i = get_global_id(0);\n  if (i < 32)\n    p[i] = q[i - 2];\n}",
        &[found(READ4, 4, "(0, 0, 0): it begins 8 bytes before argument 1 (q) of 256 bytes")]),
    right("part_right", &[Part(64), Part(64)], "K(global int *p, global int *q) {\n  int i = get_global_id(0);\n  p[i] = q[63 - i];\n}"),
    needing(&[Need::SharedMemory], row("shared_argument", &[Shared(64)], "K(global int *p) {\n  p[get_global_id(0) + 2] = 1;\n}",
        &[found(WRITE4, 2, "(62, 0, 0): it begins 0 bytes behind argument 0 (p) of 256 bytes")])),
    needing(&[Need::SharedMemory], row("shared_in_memory", &[AddressOf(64)], "K(global ulong *a) {\n  global int *p = (global int *)a[0];\n  int i = get_global_id(0);\n  p[i - 1] = i;\n}",
        &[found(WRITE4, 4, "(0, 0, 0): it begins 4 bytes before an allocation of 256 bytes")])),
    needing(&[Need::SharedMemory], row("shared_member_in_memory", &[AddressOf(64)], "typedef struct { global int *data; } list;\nint last(global list *l, int n) {\n  return l->data[n];\n}\nK(global list *l) {\n  int i = get_global_id(0);\n  if (last(l, i + 4) == 77) l->data[i] = 1;\n}",
        &[found(READ4, 3, "(60, 0, 0): it begins 0 bytes behind an allocation of 256 bytes")])),
    needing(&[Need::SharedMemory], row("null_in_memory", &[Ints(64)], "K(global ulong *a) {\n  int i = get_global_id(0);\n  global int *p = (global int *)(a[0] & 1);\n  if (i == 3) *p = i;\n}",
        &[found(WRITE4, 4, "(3, 0, 0): the pointer is to a null pointer; the address is 0x0")])),
    needing(&[Need::SharedMemory], right("shared_right", &[AddressOf(64), Shared(64)], "K(global ulong *a, global int *q) {\n  global int *p = (global int *)a[0];\n  int i = get_global_id(0);\n  p[i] = i; q[63 - i] = i;\n}")),
    needing(&[Need::Feature("__opencl_c_program_scope_global_variables")], row("program_variable", &[Ints(64)], "global int counts[16];\nK(global int *p) {\n  int i = get_global_id(0);\n  counts[i / 2] = p[i];\n}",
        &[found(WRITE4, 4, "(32, 0, 0): it begins 0 bytes behind program variable counts of 64 bytes"), found("data race: write of 4 bytes", 4, "(0, 0, 0)")])),
    // Constant memory.
    row("constant_structures", &[Ints(64), Int(3)], "typedef struct { int a, b; } pair;\nconstant pair table[3] = {{1, 2}, {3, 4}, {5, 6}};\nK(global int *p, int n) {\n  int sum = 0;\n  for (int k = 0; k <= n; k++)\n    sum += table[k].b;\n  p[get_global_id(0)] = sum;\n}",
        &[found(READ4, 6, "(0, 0, 0): it begins 4 bytes behind program variable table of 24 bytes")]),
    row("constant_rows", &[Ints(64)], "constant short table[4][8] = {{1}, {2}, {3}, {4}};\nK(global int *p) {\n  int i = get_global_id(0);\n  p[i] = table[i / 8][i & 7];\n}",
        &[found("out-of-bounds read of 2 bytes", 4, "(32, 0, 0): it begins 0 bytes behind program variable table of 64 bytes")]),
    row("constant_vector", &[Ints(256), Ints(255)], "K(global int4 *p, constant int4 *q) {\n  int i = get_global_id(0);\n  p[i] = q[i];\n}",
        &[found("out-of-bounds read of 16 bytes", 3, "(63, 0, 0): its last 4 bytes are behind argument 1 (q) of 1020 bytes")]),
    // Members.
    row("global_member", &[Ints(320)], "typedef struct { int a[4]; int b; } S;\nK(global S *p) {\n  int i = get_global_id(0);\n  p[i].a[i & 3] = i;\n  p[i].a[i > 60 ? 4 : 0] = 1;\n}",
        &[found(MEMBER, 5, "(61, 0, 0): the index is 4")]),
    row("local_member", &[Ints(64)], "typedef struct { short a[4]; int b; } S;\nK(global int *p) {\n  local S s[32];\n  int i = get_local_id(0);\n  for (int k = 0; k < 6; k += 5)\n    s[i].a[k] = i;\n}",
        &[found(MEMBER, 6, "(0, 0, 0): the index is 5")]),
    row("constant_member", &[Ints(64)], "typedef struct { int a[4]; int b; } S;\nconstant S s = {{1, 2, 3, 4}, 5};\nK(global int *p) {\n  int i = get_global_id(0);\n  p[i] = s.a[i & 4];\n}",
        &[found(MEMBER, 5, "(4, 0, 0): the index is 4")]),
    row("structure_copied", &[Ints(640), Ints(635)], "typedef struct { int a[10]; } S;\nK(global S *p, global S *q) {\n  int i = get_global_id(0);\n  p[i] = q[i];\n}",
        &[found("out-of-bounds read of 40 bytes", 4, "(63, 0, 0): its last 20 bytes are behind argument 1 (q) of 2540 bytes")]),
    // Types.
    row("long_write", &[Ints(64)], "K(global long *p) {\n  p[get_global_id(0)] = 1;\n}",
        &[found("out-of-bounds write of 8 bytes", 2, "(32, 0, 0): it begins 0 bytes behind argument 0 (p) of 256 bytes")]),
    row("char_read_before", &[Ints(64), Ints(16)], "K(global int *p, global char *q) {\n  int i = get_global_id(0);\n  p[i] = q[i - 3];\n}",
        &[found("out-of-bounds read of 1 byte", 3, "(0, 0, 0): it begins 3 bytes before argument 1 (q) of 64 bytes")]),
    needing(&[DOUBLE], row("double_read", &[Ints(128), Ints(120)], "K(global double *p, global double *q) {\n  int i = get_global_id(0);\n  p[i] = q[i] * 2;\n}",
        &[found("out-of-bounds read of 8 bytes", 3, "(60, 0, 0): it begins 0 bytes behind argument 1 (q) of 480 bytes")])),
    row("half_loaded", &[Ints(64), Ints(32)], "K(global float *p, global half *q) {\n  int i = get_global_id(0);\n  p[i] = vload_half(i + 1, q);\n}",
        &[found("out-of-bounds read of 2 bytes", 3, "(63, 0, 0): it begins 0 bytes behind argument 1 (q) of 128 bytes")]),
    needing(&[HALF], row("half_write", &[Ints(31)], "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\nK(global half *p) {\n  int i = get_global_id(0);\n  p[i] = (half)i * 2;\n}",
        &[found("out-of-bounds write of 2 bytes", 4, "(62, 0, 0): it begins 0 bytes behind argument 0 (p) of 124 bytes")])),
    row("shorts_stored", &[Ints(254)], "K(global short *p) {\n  int i = get_global_id(0);\n  vstore8((short8)(i), i, p);\n}",
        &[found("out-of-bounds write of 16 bytes", 3, "(63, 0, 0): its last 8 bytes are behind argument 0 (p) of 1016 bytes")]),
    row("local_vector", &[Ints(256), Local(500)], "K(global int4 *p, local int *t) {\n  int i = get_local_id(0);\n  vstore4((int4)(i), i, t);\n  p[get_global_id(0)] = i;\n}",
        &[found("out-of-bounds write of 16 bytes", 3, "(31, 0, 0): its last 12 bytes are behind argument 1 (t) of 500 bytes")]),
    row("private_vector", &[Ints(256), Int(4)], "K(global float4 *p, int n) {\n  float4 m[4];\n  for (int k = 0; k < 4; k++) m[k] = (float4)(k);\n  m[n - 5] = 2;\n  p[get_global_id(0)] = m[n & 3];\n}",
        &[found("out-of-bounds write of 16 bytes", 4, "(0, 0, 0): it begins 16 bytes before private variable m of 64 bytes")]),
    right("types_right", &[Ints(256), Ints(32), Ints(128)], "K(global int4 *p, global half *q, global long *r) {\n  int i = get_global_id(0);\n  r[i] = ((global char *)q)[i * 2 + 1];\n  p[i] = vload4(i, (global int *)p) + (int)vload_half(i, q);\n}"),
    // Control flow.
    row("branch_read", &[Ints(64), Ints(64)], "K(global int *p, global int *q) {\n  int i = get_global_id(0);\n  if (i & 1)\n    p[i] = i > 40 ? q[i + 8] : 0;\n}",
        &[found(READ4, 4, "(57, 0, 0): it begins 4 bytes behind argument 1 (q) of 256 bytes")]),
    row("loop_until_found", &[Ints(64), Ints(64)], "K(global int *p, global int *q) {\n  int k = 60;\n  while (q[k] >= 0 && k < 65)\n    k++;\n  p[get_global_id(0)] = k;\n}",
        &[found(READ4, 3, "(0, 0, 0): it begins 0 bytes behind argument 1 (q) of 256 bytes")]),
    row("switch_write", &[Ints(64)], "K(global int *p) {\n  int i = get_global_id(0);\n  switch (i % 5) {\n  case 0: p[i] = 1; break;\n  case 3: p[i + 60] = 2; break;\n  default: p[i] += 2;\n  }\n}",
        &[found(WRITE4, 5, "(8, 0, 0): it begins 16 bytes behind argument 0 (p) of 256 bytes")]),
    row("inlined_thrice", &[Ints(64)], "void put(global int *p, int i) {\n  *p = i;\n}\nvoid shift(global int *p, int i) {\n  put(p + i, i);\n}\nvoid twice(global int *p, int i) {\n  shift(p, 2 * i);\n}\nK(global int *p) {\n  twice(p, get_global_id(0));\n}",
        &[found(WRITE4, 2, "(32, 0, 0): it begins 0 bytes behind argument 0 (p) of 256 bytes")]),
    row("local_pointer_in_loop", &[Ints(64), Local(128)], "K(global int *p, local int *t) {\n  int i = get_local_id(0), sum = 0;\n  t[i] = i;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  for (local int *q = t; q <= t + 32; q++)\n    sum += *q;\n  p[get_global_id(0)] = sum;\n}",
        &[found(READ4, 6, "(0, 0, 0): it begins 0 bytes behind argument 1 (t) of 128 bytes")]),
    // Atomic operations.
    row("atomic_in_loop", &[Ints(64)], "K(global uint *p) {\n  for (int k = 0; k < 65; k++)\n    atomic_max(p + k, 5u);\n}",
        &[found("out-of-bounds atomic operation on 4 bytes", 3, "(0, 0, 0): it begins 0 bytes behind argument 0 (p) of 256 bytes")]),
    row("atomic_explicit", &[Ints(64)], "K(global atomic_int *p) {\n  int i = get_global_id(0);\n  atomic_fetch_add_explicit(p + i * 3, 1, memory_order_relaxed, memory_scope_work_group);\n}",
        &[found("out-of-bounds atomic operation on 4 bytes", 3, "(22, 0, 0): it begins 8 bytes behind argument 0 (p) of 256 bytes")]),
    needing(&[Need::Extension("cl_khr_int64_base_atomics")], row("atomic_long", &[Ints(64)], "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\nK(global long *p) {\n  atom_add(p + get_global_id(0), 1l);\n}",
        &[found("out-of-bounds atomic operation on 8 bytes", 3, "(32, 0, 0): it begins 0 bytes behind argument 0 (p) of 256 bytes")])),
    row("atomic_exchange", &[Ints(64)], "K(global int *p) {\n  local int t[8];\n  int i = get_local_id(0);\n  p[get_global_id(0)] = i < 8 ? 1 : atomic_xchg(t + i, i);\n}",
        &[found("out-of-bounds atomic operation on 4 bytes", 4, "(8, 0, 0): it begins 0 bytes behind local variable t of 32 bytes")]),
    // Launches.
    sized(&[(16, 8), (8, 4)], &[], row("plane_write", &[Ints(120)], "K(global int *p) {\n  int x = get_global_id(0), y = get_global_id(1);\n  p[y * 16 + x] = 1;\n}",
        &[found(WRITE4, 3, "(8, 7, 0): it begins 0 bytes behind argument 0 (p) of 480 bytes")])),
    sized(&[(8, 8), (4, 2), (2, 1)], &[], row("volume_write", &[Ints(63)], "K(global int *p) {\n  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n  p[(z * 4 + y) * 8 + x] = 1;\n}",
        &[found(WRITE4, 3, "(7, 3, 1): it begins 0 bytes behind argument 0 (p) of 252 bytes")])),
    sized(&[(64, 32)], &[100], row("offset_write", &[Ints(160)], "K(global int *p) {\n  p[get_global_id(0)] = 1;\n}",
        &[found(WRITE4, 2, "(160, 0, 0): it begins 0 bytes behind argument 0 (p) of 640 bytes")])),
    sized(&[(16, 8), (4, 4)], &[3, 5], row("offset_plane", &[Ints(160)], "K(global int *p) {\n  int x = get_global_id(0), y = get_global_id(1);\n  p[y * 16 + x] += 100 / (y - 7);\n}",
        &[found("division by zero", 3, "(3, 7, 0)")])),
    sized(&[(16, 8), (8, 4)], &[], row("local_plane", &[Ints(128)], "K(global int *p) {\n  local int tile[4][8];\n  int x = get_local_id(0), y = get_local_id(1);\n  tile[y][x + 1] = x;\n}",
        &[found(WRITE4, 4, "(7, 3, 0): it begins 0 bytes behind local variable tile of 128 bytes")])),
    sized(&[(16, 8), (8, 4)], &[2, 2], right("offset_right", &[Ints(180)], "K(global int *p) {\n  int x = get_global_id(0), y = get_global_id(1);\n  if (x + y * 18 < 180) p[y * 18 + x] = 1;\n}")),
    // Buffers of one direction.
    row("write_only_atomic", &[WriteOnly(64), Ints(64)], "K(global int *p, global int *q) {\n  int i = get_global_id(0);\n  if (i == 12) q[i] = p[i] + 1;\n  p[i] = 3;\n}",
        &[found("read of 4 bytes in a write-only buffer", 3, "(12, 0, 0): in argument 0 (p)")]),
    // Arithmetic.
    row("divide_long", &[Ints(128)], "long half_of(long a, long b) {\n  return a / b;\n}\nK(global long *p) {\n  int i = get_global_id(0);\n  p[i] = half_of(p[i], 40 - i);\n}",
        &[found("division by zero", 2, "(40, 0, 0)")]),
    row("remainder_bytes", &[Ints(64)], "K(global uchar4 *p) {\n  int i = get_global_id(0);\n  p[i] = (uchar4)(9) % (uchar4)(1, 2, 3, i & 15);\n}",
        &[found("division by zero", 3, "(0, 0, 0)")]),
    row("convert_byte", &[Ints(64), Float(8.5)], "K(global uchar *p, float x) {\n  int i = get_global_id(0);\n  for (int k = 0; k < 2; k++)\n    p[i] = (uchar)(x * i);\n}",
        &[found("conversion of a float that the integer's type cannot represent", 4, "(31, 0, 0)")]),
    row("convert_negative", &[Ints(64), Float(-0.5)], "K(global uint *p, float x) {\n  int i = get_global_id(0);\n  p[i] = x * i;\n}",
        &[found("conversion of a float that the integer's type cannot represent", 3, "(2, 0, 0)")]),
    needing(&[DOUBLE], row("convert_double", &[Ints(128)], "K(global long *p) {\n  int i = get_global_id(0);\n  p[i] = (long)(i * 1e18);\n}",
        &[found("conversion of a float that the integer's type cannot represent", 3, "(10, 0, 0)")])),
    // Alignment.
    row("aligned_long", &[Ints(66)], "K(global char *p) {\n  int i = get_global_id(0);\n  if (i < 16) *(global long *)(p + 16 * i + (i & 4)) = i;\n}",
        &[found("access at an address that is no multiple of 8 bytes", 3, "(4, 0, 0): it begins at byte 68 of argument 0 (p)")]),
    row("aligned_local", &[Ints(64), Local(132)], "K(global int *p, local char *t) {\n  int i = get_local_id(0);\n  *(local int *)(t + 4 * i + (i == 31)) = i;\n}",
        &[found("access at an address that is no multiple of 4 bytes", 3, "(31, 0, 0): it begins at byte 125 of argument 1 (t)")]),
    // Undefined values.
    needing(&[DOUBLE], row("undefined_double", &[Ints(128)], "K(global double *p) {\n  double sum;\n  int i = get_global_id(0);\n  if (i > 3) sum = 0;\n  p[i] = sum + 1;\n}",
        &[found(RESULT, 5, "(0, 0, 0)")])),
    row("undefined_half", &[Ints(32)], "K(global half *p) {\n  float x[2];\n  int i = get_global_id(0);\n  x[i & 1] = i;\n  vstore_half(x[0] * 2, i, p);\n}",
        &[found(RESULT, 5, "(1, 0, 0)")]),
    row("undefined_vector", &[Ints(256), Int(2)], "K(global int4 *p, int n) {\n  int4 v;\n  int i = get_global_id(0);\n  if (i != 17) v = n;\n  p[i] = v + 1;\n}",
        &[found(RESULT, 5, "(17, 0, 0)")]),
    row("undefined_local_member", &[Ints(64)], "typedef struct { int a, b; } pair;\nK(global int *p) {\n  local pair s[32];\n  int i = get_local_id(0);\n  s[i].a = i;\n  if (i & 1) s[i].b = i;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  p[get_global_id(0)] = s[i].a + s[i].b;\n}",
        &[found(RESULT, 8, "(0, 0, 0)")]),
    row("undefined_long", &[Ints(128)], "K(global long *p) {\n  long x;\n  int i = get_global_id(0);\n  *(int *)&x = i;\n  p[i] = x;\n}",
        &[found(RESULT, 5, "(0, 0, 0)")]),
];

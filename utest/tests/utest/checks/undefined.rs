//! The table of uses of undefined values.

use super::Row;
use super::argument::Argument::{Int, Ints, Local, Undefined};
use super::rows::{found, right, row};

const RESULT: &str = "result made of an undefined value";
const BRANCH: &str = "branch by an undefined value";
const ADDRESS: &str = "access by an undefined address";

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    // Private memory.
    row("undefined_sum", &[Ints(64)], "K(global int *p) {\n  int sum, i = get_global_id(0);\n  for (int k = 0; k < 4; k++)\n    sum += p[i];\n  p[i] = sum;\n}",
        &[found(RESULT, 5, "(0, 0, 0)")]),
    row("undefined_alone", &[Ints(64)], "K(global float *p) {\n  float x;\n  p[get_global_id(0)] = x;\n}",
        &[found(RESULT, 3, "(0, 0, 0)")]),
    row("undefined_branch", &[Ints(64)], "K(global int *p) {\n  int x, i = get_global_id(0);\n  if (i != 9)\n    x = 1;\n  if (x == 7)\n    p[i] = 1;\n}",
        &[found(BRANCH, 5, "(9, 0, 0)")]),
    row("undefined_switch", &[Ints(64)], "K(global int *p) {\n  int x, i = get_global_id(0);\n  if (i > 3)\n    x = i;\n  switch (x) {\n  case 17: p[i] = 1; break;\n  case 30: p[i] = 2; break;\n  case 31: p[i] = 5; break;\n  case 90: p[i] = 7; break;\n  }\n}",
        &[found(BRANCH, 5, "(0, 0, 0)")]),
    row("undefined_index", &[Ints(64)], "K(global int *p) {\n  int at;\n  if (get_global_id(0) == 5)\n    p[at & 7] = 1;\n}",
        &[found(ADDRESS, 4, "(5, 0, 0)")]),
    row("undefined_array", &[Ints(64)], "K(global int *p) {\n  int a[4], i = get_global_id(0);\n  a[0] = i;\n  a[2] = 1;\n  p[i] = a[i & 3] + 1;\n}",
        &[found(RESULT, 5, "(1, 0, 0)")]),
    row("undefined_member", &[Ints(64)], "typedef struct { int a, b; } pair;\nK(global int *p) {\n  pair s;\n  int i = get_global_id(0);\n  s.a = i;\n  if (i < 60) s.b = 1;\n  p[i] = s.a + s.b;\n}",
        &[found(RESULT, 7, "(60, 0, 0)")]),
    row("undefined_copied", &[Ints(64)], "typedef struct { int a, b; } pair;\nK(global int *p) {\n  pair s, t;\n  int i = get_global_id(0);\n  s.a = i;\n  t = s;\n  if (t.b > 3)\n    p[i] = t.a;\n}",
        &[found(BRANCH, 7, "(0, 0, 0)")]),
    row("undefined_in_loop", &[Ints(64)], "K(global int *p) {\n  int sum = 0, i = get_global_id(0);\n  for (int k = 1; k < i; k++) {\n    int x;\n    if (k < 8)\n      x = k;\n    sum += x;\n  }\n  p[i] = sum;\n}",
        &[found(RESULT, 9, "(9, 0, 0)")]),
    row("undefined_element", &[Ints(64)], "K(global int *p) {\n  int4 v;\n  v.x = 1;\n  v.z = get_global_id(0);\n  p[get_global_id(0)] = v.x + v.y;\n}",
        &[found(RESULT, 5, "(0, 0, 0)")]),
    row("undefined_inlined", &[Ints(64)], "void put(global int *p, int x) {\n  if (x > 4)\n    *p = x;\n}\nK(global int *p) {\n  int x, i = get_global_id(0);\n  if (i & 1) x = 3;\n  put(p + i, x);\n}",
        &[found(BRANCH, 2, "(0, 0, 0)")]),
    row("undefined_pointer_in_loop", &[Ints(64)], "K(global int *p) {\n  int a[8], sum = 0, i = get_global_id(0);\n  for (int *q = a; q < a + (i & 7); q++)\n    *q = 1;\n  for (int *q = a; q < a + 7; q++)\n    sum += *q;\n  p[i] = sum;\n}",
        &[found(RESULT, 7, "(0, 0, 0)")]),
    right("undefined_never_used", &[Ints(64)], "K(global int *p) {\n  int x, i = get_global_id(0);\n  if (i > 3) x = i;\n  p[i] = i > 3 ? x : 2;\n}"),
    right("undefined_elements_unused", &[Ints(64)], "K(global int *p) {\n  int4 v;\n  v.x = 1;\n  v.z = get_global_id(0);\n  p[get_global_id(0)] = v.x + v.z;\n}"),
    right("undefined_masked", &[Ints(64)], "K(global uint *p) {\n  uint x, i = get_global_id(0);\n  x = (x & ~0xffu) | i;\n  p[i] = x & 0xff;\n  if ((x | 0xffffff00u) == 0xffffff07u) p[i] = 1;\n}"),
    right("undefined_padding", &[Ints(128)], "typedef struct { char c; int i; } padded;\nK(global padded *p) {\n  padded s;\n  s.c = 1; s.i = 2;\n  p[get_global_id(0)] = s;\n}"),
    right("undefined_three", &[Ints(192), Ints(256)], "K(global int *p, global int3 *q) {\n  int i = get_global_id(0);\n  int3 v = vload3(i, p);\n  q[i] = v * 2;\n  vstore3(q[i].zyx, i, p);\n}"),
    right("undefined_filled", &[Ints(64)], "K(global int *p) {\n  int a[16], sum = 0, i = get_global_id(0);\n  for (int k = 0; k < 16; k++) a[k] = i + k;\n  for (int k = 0; k < 16; k++) sum += a[15 - k];\n  p[i] = sum;\n}"),
    // Local memory.
    row("undefined_local", &[Ints(64)], "K(global int *p) {\n  local int t[32];\n  int i = get_local_id(0);\n  if (i < 20) t[i] = i;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  p[get_global_id(0)] = t[31 - i] * 2;\n}",
        &[found(RESULT, 6, "(0, 0, 0)")]),
    row("undefined_local_argument", &[Ints(64), Local(128)], "K(global int *p, local char *t) {\n  int i = get_local_id(0);\n  t[2 * i] = i;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  if (t[2 * i + 1]) p[get_global_id(0)] = 1;\n}",
        &[found(BRANCH, 5, "(0, 0, 0)")]),
    row("undefined_counter", &[Ints(64)], "K(global int *p) {\n  local int n;\n  int i = get_local_id(0);\n  atomic_inc(&n);\n  barrier(CLK_LOCAL_MEM_FENCE);\n  if (i == 0) p[get_group_id(0)] = n;\n}",
        &[found(RESULT, 4, "(0, 0, 0)")]),
    right("undefined_local_filled", &[Ints(64), Local(512)], "K(global int *p, local int4 *t) {\n  local short u[32];\n  int i = get_local_id(0);\n  t[i] = (int4)(i, 1, 2, 3);\n  u[i] = i;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  int4 v = t[31 - i];\n  p[get_global_id(0)] = v.x + v.w + u[i ^ 1];\n}"),
    right("undefined_local_copied", &[Ints(64)], "K(global int *p) {\n  local int t[32];\n  event_t e = async_work_group_copy(t, p + 32 * get_group_id(0), 32, 0);\n  wait_group_events(1, &e);\n  p[get_global_id(0)] = t[31 - get_local_id(0)] + 1;\n}"),
    // Global memory.
    row("undefined_buffer", &[Ints(64), Undefined(64)], "K(global int *p, global int *q) {\n  int i = get_global_id(0);\n  p[i] = q[i] + 1;\n}",
        &[found(RESULT, 3, "(0, 0, 0)")]),
    row("undefined_buffer_partly", &[Ints(64), Undefined(64), Int(40)], "K(global int *p, global int *q, int n) {\n  int i = get_global_id(0);\n  if (i < n) q[i] = i;\n  if (q[i] > 3) p[i] = 1;\n}",
        &[found(BRANCH, 4, "(40, 0, 0)")]),
    row("undefined_buffer_bytes", &[Ints(64), Undefined(64)], "K(global int *p, global uchar *q) {\n  int i = get_global_id(0);\n  if (i != 17) q[4 * i] = i;\n  uchar4 v = ((global uchar4 *)q)[i];\n  p[i] = v.x + 1;\n}",
        &[found(RESULT, 5, "(17, 0, 0)")]),
    right("undefined_buffer_copied", &[Ints(64), Undefined(64)], "K(global int *p, global int *q) {\n  int i = get_global_id(0);\n  p[i] = i < 32 ? q[i] : 3;\n}"),
    right("undefined_buffer_written", &[Ints(64), Undefined(64)], "K(global int *p, global int *q) {\n  int i = get_global_id(0);\n  q[i] = i;\n  p[i] = q[i] * 2;\n}"),
];

//! The table of faults.

use gencl_utest::Need;

use super::argument::Argument::{self, Int, Ints, Local, Null, ReadOnly, WriteOnly};
use super::{Found, Row};

/// Generic pointers.
const GENERIC: Need = Need::Feature("__opencl_c_generic_address_space");

/// A kernel without a fault.
pub const fn right(name: &'static str, arguments: &'static [Argument], source: &'static str) -> Row {
    Row { name, source, arguments, sizes: &[(64, 32)], offset: &[], tools: "default", needs: &[], found: &[] }
}

/// A kernel with one fault: what is found, the line and the work-item.
pub const fn row(
    name: &'static str,
    arguments: &'static [Argument],
    source: &'static str,
    found: &'static [Found],
) -> Row {
    Row { found, ..right(name, arguments, source) }
}

/// A kernel with a fault that groups of one thread show.
const fn race(
    name: &'static str,
    arguments: &'static [Argument],
    source: &'static str,
    found: &'static [Found],
) -> Row {
    Row { found, sizes: &[(64, 8)], ..right(name, arguments, source) }
}

pub const fn found(what: &'static str, line: u32, work_item: &'static str) -> Found {
    Found { what, line, work_item }
}

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    // Global memory.
    row("global_write_behind", &[Ints(63)], "K(global int *p) {\n  int i = get_global_id(0);\n  p[i] = i;\n}",
        &[found("out-of-bounds write of 4 bytes", 3, "(63, 0, 0): it begins 0 bytes behind argument 0 (p) of 252 bytes")]),
    row("global_write_far", &[Ints(64)], "K(global int *p) {\n  if (get_global_id(0) == 9)\n    p[64 + 64] = 1;\n}",
        &[found("out-of-bounds write of 4 bytes", 3, "(9, 0, 0): it begins 256 bytes behind argument 0 (p) of 256 bytes")]),
    row("global_read_before", &[Ints(64), Ints(64)], "K(global int *p, const global int *q) {\n  int i = get_global_id(0);\n  p[i] = q[i - 1];\n}",
        &[found("out-of-bounds read of 4 bytes", 3, "(0, 0, 0): it begins 4 bytes before argument 1 (q) of 256 bytes")]),
    row("global_vector_partly", &[Ints(66), Ints(256)], "K(global int *p, global int *q) {\n  int i = get_global_id(0) & 15;\n  int4 v = vload4(i + 1, p);\n  vstore4(v, i, q);\n}",
        &[found("out-of-bounds read of 16 bytes", 3, "(15, 0, 0): its last 8 bytes are behind argument 0 (p) of 264 bytes")]),
    row("global_in_loop", &[Ints(64), Ints(64), Int(65)], "K(global int *p, global int *q, int n) {\n  int sum = 0;\n  for (int k = 0; k < n; k++)\n    sum += q[k];\n  p[get_global_id(0)] = sum;\n}",
        &[found("out-of-bounds read of 4 bytes", 4, "(0, 0, 0): it begins 0 bytes behind argument 1 (q) of 256 bytes")]),
    row("global_pointer_in_loop", &[Ints(64), Ints(64)], "K(global int *p, global int *q) {\n  int sum = 0;\n  for (global int *r = q; r <= q + 64; r++)\n    sum += *r;\n  p[get_global_id(0)] = sum;\n}",
        &[found("out-of-bounds read of 4 bytes", 4, "(0, 0, 0): it begins 0 bytes behind argument 1 (q) of 256 bytes")]),
    row("global_inlined", &[Ints(64)], "void put(global int *p, int i) {\n  p[i] = i;\n}\nK(global int *p) {\n  put(p, get_global_id(0) + 1);\n}",
        &[found("out-of-bounds write of 4 bytes", 2, "(63, 0, 0): it begins 0 bytes behind argument 0 (p) of 256 bytes")]),
    row("global_of_two", &[Ints(64), Ints(8)], "K(global int *p, global int *q) {\n  int i = get_global_id(0);\n  global int *r = i & 1 ? p : q;\n  r[i] = i;\n}",
        &[found("out-of-bounds write of 4 bytes", 4, "(8, 0, 0): it begins 0 bytes behind argument 1 (q) of 32 bytes")]),
    row("global_byte", &[Ints(16)], "K(global uchar *p) {\n  p[get_global_id(0) + 1] = 1;\n}",
        &[found("out-of-bounds write of 1 byte", 2, "(63, 0, 0): it begins 0 bytes behind argument 0 (p) of 64 bytes")]),
    row("global_null", &[Ints(64), Null], "K(global int *p, global int *q) {\n  if (get_global_id(0) == 5)\n    q[get_global_id(0)] = 1;\n}",
        &[found("out-of-bounds write of 4 bytes", 3, "(5, 0, 0): argument 1 (q) is a null pointer")]),
    row("global_read_only", &[Ints(64), ReadOnly(64)], "K(global int *p, global int *q) {\n  int i = get_global_id(0);\n  p[i] = q[i];\n  if (i == 9) q[i] = 1;\n}",
        &[found("write of 4 bytes in a read-only buffer", 4, "(9, 0, 0): in argument 1 (q)")]),
    row("global_write_only", &[WriteOnly(64)], "K(global int *p) {\n  int i = get_global_id(0);\n  p[i] += i;\n}",
        &[found("read of 4 bytes in a write-only buffer", 3, "(0, 0, 0): in argument 0 (p)")]),
    right("global_write_only_element", &[WriteOnly(256)], "K(global int4 *p) {\n  p[get_global_id(0)].y = 1;\n}"),
    row("global_atomic", &[Ints(64)], "K(global int *p) {\n  atomic_inc(p + get_global_id(0) * 2);\n}",
        &[found("out-of-bounds atomic operation on 4 bytes", 2, "(32, 0, 0): it begins 0 bytes behind argument 0 (p) of 256 bytes")]),
    row("global_two_places", &[Ints(64), Ints(64)], "K(global int *p, global int *q) {\n  int i = get_global_id(0);\n  p[i + 1] = q[i + 2];\n}",
        &[found("out-of-bounds read of 4 bytes", 3, "(62, 0, 0): it begins 0 bytes behind"), found("out-of-bounds write of 4 bytes", 3, "(63, 0, 0): it begins 0 bytes behind")]),
    right("global_right", &[Ints(64), Ints(64)], "K(global int *p, global int *q) {\n  int i = get_global_id(0);\n  p[i] = q[63 - i];\n}"),
    right("global_end_pointer", &[Ints(64)], "K(global int *p) {\n  global int *end = p + 64;\n  for (global int *r = p; r != end; r++) if (r - p == get_global_id(0)) *r = 1;\n}"),
    right("global_guarded", &[Ints(50)], "K(global int *p) {\n  int i = get_global_id(0);\n  if (i >= 50) return;\n  p[i] = i;\n}"),
    // Local memory.
    row("local_variable", &[Ints(64)], "K(global int *p) {\n  local int tile[32];\n  int i = get_local_id(0);\n  tile[i + 1] = i;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  p[get_global_id(0)] = tile[i];\n}",
        &[found("out-of-bounds write of 4 bytes", 4, "(31, 0, 0): it begins 0 bytes behind local variable tile of 128 bytes"), found("result made of an undefined value", 6, "(0, 0, 0)")]),
    row("local_argument", &[Ints(64), Local(128)], "K(global int *p, local int *tile) {\n  int i = get_local_id(0);\n  tile[i] = i;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  p[get_global_id(0)] = tile[i + 1];\n}",
        &[found("out-of-bounds read of 4 bytes", 5, "(31, 0, 0): it begins 0 bytes behind argument 1 (tile) of 128 bytes")]),
    row("local_neighbour", &[Ints(64)], "K(global int *p) {\n  local int a[32], b[32];\n  int i = get_local_id(0);\n  a[i] = b[i] = i;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  p[get_global_id(0)] = a[i] + b[i - 1];\n}",
        &[found("out-of-bounds read of 4 bytes", 6, "(0, 0, 0): it begins 4 bytes before local variable b of 128 bytes")]),
    row("local_atomic", &[Ints(64), Local(64)], "K(global int *p, local int *bins) {\n  int i = get_local_id(0);\n  if (i < 16) bins[i] = 0;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  atomic_add(&bins[i], 1);\n}",
        &[found("out-of-bounds atomic operation on 4 bytes", 5, "(16, 0, 0): it begins 0 bytes behind argument 1 (bins) of 64 bytes")]),
    right("local_right", &[Ints(64), Local(128)], "K(global int *p, local int *tile) {\n  int i = get_local_id(0);\n  tile[i] = i;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  p[get_global_id(0)] = tile[31 - i];\n}"),
    // Private memory.
    row("private_array", &[Ints(64), Int(5)], "K(global int *p, int n) {\n  int t[4];\n  for (int k = 0; k < n; k++)\n    t[k] = k * k;\n  p[get_global_id(0)] = t[n & 3];\n}",
        &[found("out-of-bounds write of 4 bytes", 4, "(0, 0, 0): it begins 0 bytes behind private variable t of 16 bytes")]),
    row("private_constant_index", &[Ints(64)], "K(global int *p) {\n  int t[4] = {1, 2, 3, 4};\n  global int *q = p;\n  int *end = t + 4;\n  q[get_global_id(0)] = *end;\n}",
        &[found("out-of-bounds read of 4 bytes", 5, "(0, 0, 0): it begins 0 bytes behind private variable t of 16 bytes")]),
    row("private_member", &[Ints(64), Int(4)], "struct S { int a[4]; int b; };\nK(global int *p, int n) {\n  struct S s;\n  for (int k = 0; k < 4; k++) s.a[k] = k;\n  s.b = 7;\n  p[get_global_id(0)] = s.a[n];\n}",
        &[found("index beyond a member of 4 elements", 6, "(0, 0, 0): the index is 4")]),
    row("private_inlined", &[Ints(64)], "int last(int *t, int n) {\n  return t[n];\n}\nK(global int *p) {\n  int t[8];\n  for (int k = 0; k < 8; k++) t[k] = k;\n  p[get_global_id(0)] = last(t, get_local_id(0) / 3);\n}",
        &[found("out-of-bounds read of 4 bytes", 2, "(24, 0, 0): it begins 0 bytes behind private variable t of 32 bytes")]),
    right("private_right", &[Ints(64), Int(4)], "struct S { int a[4]; int b; };\nK(global int *p, int n) {\n  struct S s;\n  for (int k = 0; k < n; k++) s.a[k] = k;\n  s.b = 7;\n  p[get_global_id(0)] = s.a[n - 1] + s.b;\n}"),
    // Constant memory.
    row("constant_variable", &[Ints(64)], "constant int table[4] = {1, 2, 3, 4};\nK(global int *p) {\n  int i = get_global_id(0);\n  p[i] = table[i];\n}",
        &[found("out-of-bounds read of 4 bytes", 4, "(4, 0, 0): it begins 0 bytes behind program variable table of 16 bytes")]),
    row("constant_argument", &[Ints(64), Ints(32)], "K(global int *p, constant int *q) {\n  int i = get_global_id(0);\n  p[i] = q[i];\n}",
        &[found("out-of-bounds read of 4 bytes", 3, "(32, 0, 0): it begins 0 bytes behind argument 1 (q) of 128 bytes")]),
    right("constant_right", &[Ints(64), Ints(64)], "constant int table[4] = {1, 2, 3, 4};\nK(global int *p, constant int *q) {\n  int i = get_global_id(0);\n  p[i] = q[i] + table[i & 3];\n}"),
    // Generic pointers, and pointers in memory.
    Row { needs: &[GENERIC], ..row("generic", &[Ints(64), Ints(64)], "int get(int *p, int i) {\n  return p[i];\n}\nK(global int *p, global int *q) {\n  int t[4] = {1, 2, 3, 4};\n  int i = get_global_id(0);\n  q[i] = get(i < 32 ? t : (int *)p, i & 3) + get(p, i + 1);\n}",
        &[found("out-of-bounds read of 4 bytes", 2, "(63, 0, 0): it begins 0 bytes behind argument 0 (p) of 256 bytes")]) },
    right("async_copy", &[Ints(64), Local(128), Ints(64)], "K(global int *p, local int *t, global int *q) {\n  event_t e = async_work_group_copy(t, p, 32, 0);\n  wait_group_events(1, &e);\n  q[get_global_id(0)] = t[get_local_id(0)];\n}"),
    row("async_copy_behind", &[Ints(50), Local(128)], "K(global int *p, local int *t) {\n  event_t e = async_work_group_copy(t, p + 20, 32, 0);\n  wait_group_events(1, &e);\n}",
        &[found("out-of-bounds read of 4 bytes", 2, "(30, 0, 0): it begins 0 bytes behind argument 0 (p) of 200 bytes")]),
    // Barriers.
    race("barrier_in_branch", &[Ints(64), Local(32)], "K(global int *p, local int *t) {\n  int i = get_local_id(0);\n  t[i] = i;\n  if (i < 5)\n    barrier(CLK_LOCAL_MEM_FENCE);\n  p[get_global_id(0)] = t[i];\n}",
        &[found("barrier that not all work-items come to", 5, "(0, 0, 0)")]),
    race("barrier_in_loop", &[Ints(64)], "void wait(void) {\n  barrier(CLK_GLOBAL_MEM_FENCE);\n}\nK(global int *p) {\n  for (int k = 0; k <= get_local_id(0); k++)\n    wait();\n}",
        &[found("barrier that not all work-items come to", 2, "(1, 0, 0)")]),
    row("collective_in_branch", &[Ints(64), Ints(64)], "K(global int *p, global int *q) {\n  local int t[32];\n  int i = get_local_id(0);\n  event_t e = 0;\n  if (i < 4)\n    e = async_work_group_copy(t, q, 32, e);\n  wait_group_events(1, &e);\n  p[get_global_id(0)] = i;\n}",
        &[found("group function that not all work-items come to", 6, "(0, 0, 0)"), found("wait for an event that no copy has given", 7, "(4, 0, 0)")]),
    row("collective_differs", &[Ints(64), Ints(64)], "K(global int *p, global int *q) {\n  local int t[33];\n  int i = get_local_id(0);\n  event_t e = async_work_group_copy(t, q + (i == 3), 32, 0);\n  wait_group_events(1, &e);\n  p[get_global_id(0)] = t[i];\n}",
        &[found("arguments of a group function that differ among work-items", 4, "(3, 0, 0)")]),
    row("event_null", &[Ints(64)], "K(global int *p) {\n  event_t e = 0;\n  wait_group_events(1, &e);\n  p[get_global_id(0)] = 1;\n}",
        &[found("wait for an event that no copy has given", 3, "(0, 0, 0)")]),
    row("event_of_branch", &[Ints(64), Ints(64), Int(0)], "void wait(event_t *e, int n) {\n  wait_group_events(n, e);\n}\nK(global int *p, global int *q, int n) {\n  local int t[32];\n  event_t e[2], none = 0;\n  e[1] = none;\n  e[0] = async_work_group_copy(t, q, 32, 0);\n  if (n) e[1] = async_work_group_copy(t, q, 32, 0);\n  wait(e, 1);\n  wait(e, 2);\n  p[get_global_id(0)] = t[get_local_id(0)];\n}",
        &[found("wait for an event that no copy has given", 2, "(0, 0, 0)")]),
    right("event_chained", &[Ints(64), Local(128)], "K(global int *p, local int *t) {\n  event_t e = async_work_group_copy(t, p, 8, 0);\n  for (int k = 1; k < 4; k++) e = async_work_group_strided_copy(t + 8 * k, p + 8 * k, 8, 1, e);\n  event_t f[3] = {e, e, async_work_group_copy(p + 32, t, 0, 0)};\n  wait_group_events(3, f);\n}"),
    race("race_copy_before", &[Ints(64), Ints(64), Local(64)], "K(global int *p, global int *q, local int *t) {\n  int i = get_local_id(0);\n  t[i] = 0;\n  event_t e = async_work_group_copy(t, q, 8, 0);\n  wait_group_events(1, &e);\n  p[get_global_id(0)] = t[i];\n}",
        &[found("data race: write of 4 bytes", 4, "(0, 0, 0): in argument 2 (t)\n    with the write by work-item (1, 0, 0)")]),
    race("race_copy_behind", &[Ints(64), Ints(64), Local(64)], "K(global int *p, global int *q, local int *t) {\n  int i = get_local_id(0);\n  t[i] = i;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  event_t e = async_work_group_copy(p + 8 * get_group_id(0), t, 8, 0);\n  t[i] = 0;\n  wait_group_events(1, &e);\n}",
        &[found("data race: write of 4 bytes", 6, "(1, 0, 0): in argument 2 (t)\n    with the read by several work-items")]),
    row("aligned_cast", &[Ints(65)], "K(global char *p) {\n  int i = get_global_id(0);\n  *(global int *)(p + 4 * i + (i == 9 ? 2 : 0)) = i;\n}",
        &[found("access at an address that is no multiple of 4 bytes", 3, "(9, 0, 0): it begins at byte 38 of argument 0 (p)")]),
    row("aligned_private", &[Ints(64)], "K(global int *p) {\n  char a[32];\n  int i = get_global_id(0);\n  for (int k = 0; k < 32; k++) a[k] = k;\n  p[i] = *(short *)(a + (i & 7)) & 1;\n}",
        &[found("access at an address that is no multiple of 2 bytes", 5, "(1, 0, 0): it begins at byte 1 of private variable a")]),
    right("aligned_right", &[Ints(256)], "K(global char *p) {\n  int i = get_global_id(0);\n  *(global int4 *)(p + 16 * i) = (int4)(i);\n  *(global short *)(p + 16 * i + 2) = i;\n}"),
    race("barrier_after_return", &[Ints(64)], "K(global int *p) {\n  if (get_local_id(0) == 0) return;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  p[get_global_id(0)] = 1;\n}",
        &[found("barrier that not all work-items come to", 3, "(1, 0, 0)")]),
    right("barrier_in_uniform_branch", &[Ints(64), Int(1)], "K(global int *p, int n) {\n  if (n) barrier(CLK_LOCAL_MEM_FENCE);\n  for (int k = 0; k < n; k++) barrier(CLK_LOCAL_MEM_FENCE);\n  p[get_global_id(0)] = 1;\n}"),
    // Data races, in groups of one thread, which is in the same order at all widths.
    race("race_local_read", &[Ints(64), Local(32)], "K(global int *p, local int *t) {\n  int i = get_local_id(0);\n  t[i] = i;\n  p[get_global_id(0)] = t[7 - i];\n}",
        &[found("data race: read of 4 bytes", 4, "(0, 0, 0): in argument 1 (t)\n    with the write by work-item (7, 0, 0)\n    at k")]),
    race("race_local_write", &[Ints(64)], "K(global int *p) {\n  local int last;\n  last = get_local_id(0);\n  barrier(CLK_LOCAL_MEM_FENCE);\n  p[get_global_id(0)] = last;\n}",
        &[found("data race: write of 4 bytes", 3, "(1, 0, 0): in local variable last\n    with the write by work-item (0, 0, 0)\n    at k")]),
    race("race_local_phases", &[Ints(64), Local(32)], "K(global int *p, local int *t) {\n  int i = get_local_id(0);\n  t[i] = i;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  int x = t[7 - i];\n  t[i] = x + 1;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  p[get_global_id(0)] = t[i];\n}",
        &[found("data race: write of 4 bytes", 6, "(0, 0, 0): in argument 1 (t)\n    with the read by work-item (7, 0, 0)\n    at k")]),
    race("race_global_in_group", &[Ints(64)], "K(global int *p) {\n  p[get_group_id(0)] = get_local_id(0) + 100;\n}",
        &[found("data race: write of 4 bytes", 2, "(1, 0, 0): in argument 0 (p)\n    with the write by work-item (0, 0, 0)\n    at k")]),
    race("race_global_across_groups", &[Ints(64)], "K(global int *p) {\n  int i = get_local_id(0);\n  p[i] = 100 + get_group_id(0);\n}",
        &[found("data race: write of 4 bytes", 3, "(")]),
    race("race_global_bytes", &[Ints(64)], "K(global uchar *p) {\n  int i = get_global_id(0);\n  p[i] = i;\n  p[(i & ~1) + 64] = i;\n}",
        &[found("data race: write of 1 byte", 4, "(1, 0, 0): in argument 0 (p)\n    with the write by work-item (0, 0, 0)\n    at k")]),
    race("race_atomic", &[Ints(64), Ints(64)], "K(global int *p, global int *q) {\n  atomic_add(p + get_group_id(0), 1);\n  q[get_global_id(0)] = p[get_group_id(0)];\n}",
        &[found("data race: read of 4 bytes", 3, "(0, 0, 0): in argument 0 (p)\n    with the atomic operation by several work-items\n    at k")]),
    race("race_other_fence", &[Ints(64), Local(32)], "K(global int *p, local int *t) {\n  int i = get_local_id(0);\n  t[i] = i;\n  barrier(CLK_GLOBAL_MEM_FENCE);\n  p[get_global_id(0)] = t[7 - i];\n}",
        &[found("data race: read of 4 bytes", 5, "(0, 0, 0): in argument 1 (t)\n    with the write by work-item (7, 0, 0)\n    at k")]),
    race("race_unfenced_flag", &[Ints(64), Ints(64)], "K(global int *p, global int *q) {\n  local int last;\n  int i = get_local_id(0);\n  if (i == 0) {\n    p[get_group_id(0)] = 7;\n    last = atomic_inc(q) == 7;\n  }\n  barrier(CLK_LOCAL_MEM_FENCE);\n  if (last) q[8 + i] = p[i];\n  if (last && i == 0) atomic_xchg(q, 0);\n}",
        &[found("data race: read of 4 bytes", 9, "(")]),
    Row { needs: &[GENERIC], ..race("race_generic", &[Ints(64), Local(32)], "void put(int *t, int x) {\n  *t = x;\n}\nK(global int *p, local int *t) {\n  int i = get_local_id(0);\n  put(get_group_id(0) > 90 ? (int *)p : (int *)t + i, i);\n  p[get_global_id(0)] = t[7 - i];\n}",
        &[found("data race: read of 4 bytes", 7, "(0, 0, 0): in argument 1 (t)\n    with the write by work-item (7, 0, 0)\n    at put")]) },
    race("race_structure", &[Ints(80)], "typedef struct {\n  int a[64];\n} s;\nK(global int *p) {\n  local s t[2];\n  int i = get_local_id(0);\n  if (i == 0) t[0].a[63] = 1;\n  if (i == 1) t[1] = t[0];\n  if (i == 2) p[0] = t[1].a[63];\n}",
        &[found("data race: read of 256 bytes", 8, "(1, 0, 0): in local variable t\n    with the write by work-item (0, 0, 0)"), found("data race: read of 4 bytes", 9, "(2, 0, 0): in local variable t\n    with the write by work-item (1, 0, 0)")]),
    right("race_none_last_block", &[Ints(64), Ints(64)], "K(global int *p, global int *q) {\n  local int last;\n  int i = get_local_id(0);\n  if (i == 0) {\n    p[get_group_id(0)] = 7;\n    mem_fence(CLK_GLOBAL_MEM_FENCE);\n    last = atomic_inc(q) == 7;\n  }\n  barrier(CLK_LOCAL_MEM_FENCE);\n  if (last) q[8 + i] = p[i];\n  if (last && i == 0) q[0] = 0;\n}"),
    right("race_none_lock", &[Ints(64), Ints(64)], "K(global int *p, global int *q) {\n  if (get_local_id(0) == 0) {\n    while (atomic_cmpxchg(q, 0, 1)) ;\n    p[0] += get_group_id(0) + 1;\n    mem_fence(CLK_GLOBAL_MEM_FENCE);\n    atomic_xchg(q, 0);\n  }\n}"),
    race("race_vector_of_three", &[Ints(16)], "K(global int3 *p) {\n  p[1] = get_local_id(0);\n}",
        &[found("data race: write of 16 bytes", 2, "(1, 0, 0): in argument 0 (p)")]),
    race("race_copy_over_barrier", &[Ints(64), Ints(64), Local(64)], "K(global int *p, global int *q, local int *t) {\n  int i = get_local_id(0);\n  event_t e = async_work_group_copy(t, q, 8, 0);\n  barrier(CLK_LOCAL_MEM_FENCE);\n  p[get_global_id(0)] = t[i];\n  wait_group_events(1, &e);\n}",
        &[found("data race: read of 4 bytes", 5, "(0, 0, 0): in argument 2 (t)\n    with the write")]),
    race("race_copies", &[Ints(64), Ints(64), Local(64)], "K(global int *p, global int *q, local int *t) {\n  event_t e = async_work_group_copy(t, q, 8, 0);\n  e = async_work_group_copy(t, q + 16, 8, e);\n  wait_group_events(1, &e);\n  p[get_global_id(0)] = t[get_local_id(0)];\n}",
        &[found("data race: write of 4 bytes", 3, "(0, 0, 0): in argument 2 (t)\n    with the write")]),
    race("race_flags", &[Ints(64), Ints(64), Local(32)], "K(global int *p, global int *q, local int *t) {\n  int i = get_local_id(0);\n  t[i] = i;\n  barrier(q[0] < 0 ? CLK_LOCAL_MEM_FENCE : CLK_GLOBAL_MEM_FENCE);\n  p[get_global_id(0)] = t[7 - i];\n}",
        &[found("data race: read of 4 bytes", 5, "(0, 0, 0): in argument 2 (t)\n    with the write by work-item (7, 0, 0)\n    at k")]),
    right("race_none_nothing_changes", &[Ints(64), Ints(64)], "K(global int *p, global int *q) {\n  p[0] = 0;\n  q[get_global_id(0)] = p[0];\n}"),
    row("private_null", &[Ints(64)], "K(global int *p) {\n  int i = get_global_id(0), x = 0;\n  int *y = i == 9 ? 0 : &x;\n  y[0] += i;\n  p[i] = x;\n}",
        &[found("out-of-bounds read of 4 bytes", 4, "(9, 0, 0)"), found("out-of-bounds write of 4 bytes", 4, "(9, 0, 0)")]),
    row("misaligned_atomic", &[Ints(64)], "K(global int *p) {\n  if (get_global_id(0) == 9)\n    atomic_add((global int *)((global char *)p + 5), 1);\n}",
        &[found("access at an address that is no multiple of 4 bytes", 3, "(9, 0, 0): it begins at byte 5 of argument 0 (p)")]),
    right("race_none_reduction", &[Ints(64), Ints(64), Local(128)], "K(global int *p, global int *q, local int *t) {\n  int i = get_local_id(0);\n  t[i] = q[get_global_id(0)];\n  for (int n = 16; n > 0; n >>= 1) {\n    barrier(CLK_LOCAL_MEM_FENCE);\n    if (i < n) t[i] += t[i + n];\n  }\n  if (i == 0) p[get_group_id(0)] = t[0];\n}"),
    right("race_none_same_value", &[Ints(64)], "K(global int *p) {\n  if (p[get_global_id(0) + 0] >= 0) p[0] = 0;\n  local int any;\n  any = 1;\n}"),
    right("race_none_quadwords", &[Ints(64), Local(64)], "K(global long *p, local long *t) {\n  if (get_local_id(0) < 2) t[get_local_id(0)] = 0;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  atom_add(t, 1);\n  atom_max(t, 5);\n  atom_xchg(t + 1, 3);\n  atom_add(p, 1);\n}"),
    right("race_none_exchange", &[Ints(64), Local(4)], "K(global int *p, local int *t) {\n  int i = get_local_id(0);\n  if (i == 0) t[0] = 0;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  if (atomic_cmpxchg(t, i * 64, i * 64 + 1) == i * 64) p[get_global_id(0)] = t[0];\n}"),
    right("race_none_atomic", &[Ints(64), Local(128)], "K(global int *p, local int *t) {\n  int i = get_local_id(0);\n  t[i] = 0;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  atomic_add(t + (i & 3), i);\n  barrier(CLK_LOCAL_MEM_FENCE);\n  atomic_max(p + 1, t[i]);\n}"),
    right("race_none_bytes", &[Ints(64), Local(128)], "K(global uchar *p, local uchar *t) {\n  int i = get_local_id(0);\n  t[i] = i;\n  p[get_global_id(0)] = t[i];\n}"),
    right("printf", &[Ints(64)], "K(global int *p) {\n  if (get_global_id(0) == 1) printf(\"%d %s\\n\", p[3], \"x\");\n}"),
];

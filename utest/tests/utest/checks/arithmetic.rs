//! The table of operations without a result.

use super::Row;
use super::argument::Argument::{Int, Ints, Long};
use super::rows::{found, right, row};

const OVERFLOW: &str = "result that its signed type cannot represent";

/// A row of checks that are not the usual ones.
const fn with(tools: &'static str, row: Row) -> Row {
    Row { tools, ..row }
}

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row("divide", &[Ints(64)], "K(global int *p) {\n  int i = get_global_id(0);\n  p[i] = 100 / (i - 7);\n}",
        &[found("division by zero", 3, "(7, 0, 0)")]),
    row("remainder_vector", &[Ints(64)], "K(global uint *p) {\n  uint i = get_global_id(0);\n  uint2 r = (uint2)(5, 6) % (uint2)(1, i & 3);\n  p[i] = r.x + r.y;\n}",
        &[found("division by zero", 3, "(0, 0, 0)")]),
    row("convert", &[Ints(64)], "K(global int *p) {\n  int i = get_global_id(0);\n  float x = i * 1e8f;\n  p[i] = (int)x;\n}",
        &[found("conversion of a float that the integer's type cannot represent", 4, "(22, 0, 0)")]),
    right("arithmetic_right", &[Ints(64)], "K(global int *p) {\n  int i = get_global_id(0);\n  float x = i * -1e7f;\n  p[i] = (int)x / (i + 1) + convert_int_sat(x * 1e9f) + (char)(i - 128.9f) + (int)sin(x) % 3;\n}"),
    // Amounts of shifts.
    with("shift", row("shift_left", &[Ints(64)], "K(global int *p) {\n  int i = get_global_id(0);\n  p[i] = 1 << i;\n}",
        &[found("shift of 32 bits by 32 or more", 3, "(32, 0, 0): the amount is 32")])),
    with("shift", row("shift_negative", &[Ints(64), Int(5)], "int down(int x, int n) {\n  return x >> n;\n}\nK(global int *p, int n) {\n  int i = get_global_id(0);\n  p[i] = down(p[i], n - i);\n}",
        &[found("shift of 32 bits by 32 or more", 2, "(6, 0, 0): the amount is -1")])),
    with("shift", row("shift_long", &[Ints(128), Long(100)], "K(global ulong *p, ulong n) {\n  int i = get_global_id(0);\n  p[i] = p[i] >> (n - i);\n}",
        &[found("shift of 64 bits by 64 or more", 3, "(0, 0, 0): the amount is 100")])),
    with("shift", row("shift_int_by_long", &[Ints(64), Long(1 << 32)], "K(global int *p, long n) {\n  int i = get_global_id(0);\n  p[i] <<= n;\n}",
        &[found("shift of 32 bits by 32 or more", 3, "(0, 0, 0): the amount is 4294967296")])),
    with("shift", row("shift_vector", &[Ints(256)], "K(global uchar8 *p) {\n  int i = get_global_id(0);\n  uchar8 n = (uchar8)(0, 1, 2, 3, 4, i >> 2, 6, 7);\n  p[i] = p[i] << n;\n}",
        &[found("shift of 8 bits by 8 or more", 4, "(32, 0, 0): the amount is 8")])),
    with("shift", right("shift_right", &[Ints(64)], "#define ROTATE(x, n) ((x) << ((n) & 31) | (x) >> (-(n) & 31))\nK(global uint *p) {\n  int i = get_global_id(0);\n  p[i] = ROTATE(p[i], i) + (1u << (i & 31)) + (p[i] >> i / 2) + ((1ul << i) >> 40) + (p[i] << 31);\n}")),
    right("shift_not_asked", &[Ints(64)], "K(global int *p) {\n  int i = get_global_id(0);\n  p[i] = (1 << i) + (0x7fffffff + i);\n}"),
    // Overflow of signed integers.
    with("overflow", row("overflow_sum", &[Ints(64)], "K(global int *p) {\n  int i = get_global_id(0);\n  p[i] = i + 0x7ffffff0;\n}",
        &[found(OVERFLOW, 3, "(16, 0, 0)")])),
    with("overflow", row("overflow_difference", &[Ints(64)], "K(global int *p) {\n  int i = get_global_id(0);\n  p[i] = -i - 0x7fffffe0;\n}",
        &[found(OVERFLOW, 3, "(33, 0, 0)")])),
    with("overflow", row("overflow_product", &[Ints(64), Int(1 << 26)], "K(global int *p, int n) {\n  int i = get_global_id(0);\n  p[i] = i * n;\n}",
        &[found(OVERFLOW, 3, "(32, 0, 0)")])),
    with("overflow", row("overflow_long_product", &[Ints(128), Long(1 << 58)], "K(global long *p, long n) {\n  long i = get_global_id(0);\n  p[i] = i * n;\n}",
        &[found(OVERFLOW, 3, "(32, 0, 0)")])),
    with("overflow", row("overflow_negation", &[Ints(64), Int(i32::MIN)], "K(global int *p, int n) {\n  int i = get_global_id(0);\n  if (i == 9) p[i] = -n;\n}",
        &[found(OVERFLOW, 3, "(9, 0, 0)")])),
    with("overflow", row("overflow_increment", &[Ints(64), Int(0x7fff_ffff)], "K(global int *p, int n) {\n  int i = get_global_id(0), sum = n - i;\n  for (int k = 0; k < 3; k++)\n    sum++;\n  p[i] = sum;\n}",
        &[found(OVERFLOW, 4, "(0, 0, 0)")])),
    with("overflow", row("overflow_quotient", &[Ints(64), Int(i32::MIN)], "K(global int *p, int n) {\n  int i = get_global_id(0);\n  p[i] = n / (i - 5 | 1);\n}",
        &[found(OVERFLOW, 3, "(3, 0, 0)")])),
    with("overflow", row("overflow_remainder", &[Ints(128), Long(i64::MIN)], "K(global long *p, long n) {\n  long i = get_global_id(0);\n  p[i] = n % (long2)(7, i - 8 | 1).y;\n}",
        &[found(OVERFLOW, 3, "(6, 0, 0)")])),
    with("overflow", right("overflow_right", &[Ints(64), Int(0x7fff_ffff), Long(i64::MAX)], "K(global int *p, int n, long m) {\n  int i = get_global_id(0);\n  char c = 100 + i;\n  uint u = (uint)n * 3u + 0x80000000u;\n  p[i] = n - i + (-n - 1 + i) + c + u + (n / 64 * i - n) + (int)(m / 64 * -i / 2 - m / 64 * -i / 3) + (-n - 1) / (i + 1);\n}")),
];

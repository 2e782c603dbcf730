//! The table of accesses to images.

use gencl_utest::Need;
use opencl_sys::{
    CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY,
    CL_MEM_OBJECT_IMAGE3D,
};

use super::Row;
use super::argument::Argument::{self, Image, ImageOfBuffer, Ints, ToEdge, Unaddressed};
use super::rows::{found, right, row};

const LINE: Argument = Image(CL_MEM_OBJECT_IMAGE1D, [64, 1, 1]);
const LINES: Argument = Image(CL_MEM_OBJECT_IMAGE1D_ARRAY, [64, 4, 1]);
const PLANE: Argument = Image(CL_MEM_OBJECT_IMAGE2D, [48, 8, 1]);
const PLANES: Argument = Image(CL_MEM_OBJECT_IMAGE2D_ARRAY, [64, 8, 4]);
const VOLUME: Argument = Image(CL_MEM_OBJECT_IMAGE3D, [64, 8, 4]);

const READ: &str = "out-of-bounds read of an image";
const WRITE: &str = "out-of-bounds write of an image";

/// A row of two dimensions.
const fn plane(row: Row) -> Row {
    Row { sizes: &[(64, 32), (8, 1)], ..row }
}

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row("image_write_x", &[PLANE], "K(write_only image2d_t image) {\n  int i = get_global_id(0);\n  write_imagef(image, (int2)(i, 3), (float4)(1));\n}",
        &[found(WRITE, 3, "(48, 0, 0): x is 48, the width of argument 0 (image) 48")]),
    plane(row("image_write_y", &[PLANE], "void put(write_only image2d_t to, int x, int y) {\n  if (x < 48) write_imagef(to, (int2)(x, y), (float4)(1));\n}\nK(write_only image2d_t image) {\n  put(image, get_global_id(0), get_global_id(1) - 1);\n}",
        &[found(WRITE, 2, "(0, 0, 0): y is -1, the height of argument 0 (image) 8")])),
    row("image_write_line", &[LINE], "K(write_only image1d_t image) {\n  write_imagef(image, (int)get_global_id(0) + 2, (float4)(1));\n}",
        &[found(WRITE, 2, "(62, 0, 0): x is 64, the width of argument 0 (image) 64")]),
    row("image_write_layer", &[LINES], "K(write_only image1d_array_t image) {\n  int i = get_global_id(0);\n  write_imagef(image, (int2)(i, i / 12), (float4)(1));\n}",
        &[found(WRITE, 3, "(48, 0, 0): the layer is 4, the array size of argument 0 (image) 4")]),
    row("image_write_buffer", &[ImageOfBuffer(60)], "K(write_only image1d_buffer_t image) {\n  write_imagef(image, (int)get_global_id(0), (float4)(1));\n}",
        &[found(WRITE, 2, "(60, 0, 0): x is 60, the width of argument 0 (image) 60")]),
    Row { needs: &[Need::Feature("__opencl_c_3d_image_writes")], ..row("image_write_volume", &[VOLUME], "K(write_only image3d_t image) {\n  int i = get_global_id(0);\n  write_imagef(image, (int4)(i, 1, i - 60, 0), (float4)(1));\n}",
        &[found(WRITE, 3, "(0, 0, 0): z is -60, the depth of argument 0 (image) 4")]) },
    Row { needs: &[Need::Feature("__opencl_c_read_write_images")], ..row("image_read_write", &[PLANE], "K(read_write image2d_t image) {\n  int i = get_global_id(0);\n  float4 v = read_imagef(image, (int2)(i / 2, i / 6));\n  write_imagef(image, (int2)(i / 2, 8), v);\n}",
        &[found(READ, 3, "(48, 0, 0): y is 8, the height of argument 0 (image) 8"), found(WRITE, 4, "(0, 0, 0): y is 8, the height of argument 0 (image) 8")]) },
    row("image_load", &[Ints(256), PLANES], "K(global float4 *p, read_only image2d_array_t image) {\n  int i = get_global_id(0);\n  p[i] = read_imagef(image, (int4)(i, 7, i == 40 ? 4 : 3, 0));\n}",
        &[found(READ, 3, "(40, 0, 0): the layer is 4, the array size of argument 1 (image) 4")]),
    row("image_sample", &[Ints(256), VOLUME], "constant sampler_t nearest = CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;\nK(global float4 *p, read_only image3d_t image) {\n  int i = get_global_id(0);\n  for (int k = 0; k < 2; k++)\n    p[i] = read_imagef(image, nearest, (float4)(i, 7.9f, i / 20.0f + k, 0));\n}",
        &[found(READ, 5, "(60, 0, 0): z is 4, the depth of argument 1 (image) 4")]),
    row("image_sample_integers", &[Ints(256), PLANE], "K(global float4 *p, read_only image2d_t image) {\n  const sampler_t nearest = CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;\n  int i = get_global_id(0);\n  p[i] = read_imagef(image, nearest, (int2)(0, 11 - i));\n}",
        &[found(READ, 4, "(0, 0, 0): y is 11, the height of argument 1 (image) 8")]),
    row("image_sample_argument", &[Ints(256), LINE, Unaddressed(false)], "K(global float4 *p, read_only image1d_t image, sampler_t s) {\n  int i = get_global_id(0);\n  p[i] = read_imagef(image, s, i - 0.5f);\n}",
        &[found(READ, 3, "(0, 0, 0): x is -1, the width of argument 1 (image) 64")]),
    row("image_sample_normalized", &[Ints(256), LINE, Unaddressed(true)], "K(global float4 *p, read_only image1d_t image, sampler_t s) {\n  int i = get_global_id(0);\n  p[i] = read_imagef(image, s, i / 60.0f);\n}",
        &[found(READ, 3, "(60, 0, 0): x is 64, the width of argument 1 (image) 64")]),
    row("image_two_samplers", &[Ints(256), LINE, ToEdge(false), Unaddressed(false)], "K(global float4 *p, read_only image1d_t image, sampler_t s, sampler_t t) {\n  int i = get_global_id(0);\n  if (i & 1)\n    p[i] = read_imagef(image, t, i + 2.0f);\n  else\n    p[i] = read_imagef(image, s, i + 2.0f);\n}",
        &[found(READ, 4, "(63, 0, 0): x is 65, the width of argument 1 (image) 64")]),
    plane(right("image_right", &[PLANE, PLANE], "K(write_only image2d_t to, read_only image2d_t from) {\n  int2 at = (int2)(get_global_id(0), get_global_id(1));\n  if (at.x < get_image_width(to)) write_imagef(to, at, read_imagef(from, (int2)(47, 7) - at));\n}")),
    right("image_defined_outside", &[Ints(256), PLANES, LINE, ToEdge(false)], "K(global float4 *p, read_only image2d_array_t image, read_only image1d_t line, sampler_t s) {\n  const sampler_t border = CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST, none = CLK_ADDRESS_NONE;\n  int i = get_global_id(0);\n  p[i] = read_imagef(image, border, (float4)(i - 9, 99, -9, 0)) + read_imagef(line, s, 70) + read_imagef(image, none, (float4)(63.9f, 0, 9, 0));\n}"),
    right("image_normalized_right", &[Ints(256), PLANE, Unaddressed(true)], "K(global float4 *p, read_only image2d_t image, sampler_t s) {\n  int i = get_global_id(0);\n  p[i] = read_imagef(image, s, (float2)(i / 64.0f, 0.999f));\n}"),
];

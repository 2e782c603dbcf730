"""pyopencl's own algorithms, whose kernels are generated and real, against numpy.

    pip install pyopencl mako numpy
    OCL_ICD_VENDORS=target/release/gencl.icd python3 utest/python/pyopencl_algorithms.py

Ends with the line "N passed, N failed".
"""

import os
import sys
import traceback

os.environ.setdefault("PYOPENCL_NO_CACHE", "1")

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import GenericScanKernel, InclusiveScanKernel

platform = cl.get_platforms()[0]
device = platform.get_devices()[0]
context = cl.Context([device])
queue = cl.CommandQueue(context)
random = np.random.default_rng(1)


def vector_addition():
    a = random.random(50_000, dtype=np.float32)
    b = random.random(50_000, dtype=np.float32)
    flags = cl.mem_flags
    a_dev = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=a)
    b_dev = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=b)
    out_dev = cl.Buffer(context, flags.WRITE_ONLY, a.nbytes)
    program = cl.Program(context, """
        __kernel void sum(__global const float *a, __global const float *b, __global float *out)
        {
            int i = get_global_id(0);
            out[i] = a[i] + b[i];
        }""").build()
    program.sum(queue, a.shape, None, a_dev, b_dev, out_dev)
    out = np.empty_like(a)
    cl.enqueue_copy(queue, out, out_dev)
    np.testing.assert_array_equal(out, a + b)


def array_arithmetic():
    a = random.integers(-1000, 1000, 10_001).astype(np.int32)
    a_dev = cl_array.to_device(queue, a)
    np.testing.assert_array_equal((3 * a_dev + a_dev * a_dev - 7).get(), 3 * a + a * a - 7)
    x = random.random(10_001, dtype=np.float32)
    x_dev = cl_array.to_device(queue, x)
    np.testing.assert_allclose((x_dev * 2.5 + 1).get(), x * np.float32(2.5) + 1, rtol=1e-6)


def elementwise():
    a = random.random(3000, dtype=np.float32)
    a_dev = cl_array.to_device(queue, a)
    out = cl_array.empty_like(a_dev)
    kernel = ElementwiseKernel(context, "float k, float *a, float *out", "out[i] = k * sqrt(a[i]) + i", "ew")
    kernel(np.float32(2), a_dev, out)
    np.testing.assert_allclose(out.get(), 2 * np.sqrt(a) + np.arange(3000, dtype=np.float32), rtol=1e-5)


def reduction_sum():
    for n in (10, 1000, 123_457):
        a = random.integers(-500, 500, n).astype(np.int32)
        assert cl_array.sum(cl_array.to_device(queue, a)).get() == a.sum()


def reduction_min_max():
    a = random.random(70_001, dtype=np.float32)
    a_dev = cl_array.to_device(queue, a)
    assert cl_array.max(a_dev).get() == a.max()
    assert cl_array.min(a_dev).get() == a.min()


def reduction_dot():
    a = random.random(20_000, dtype=np.float32)
    b = random.random(20_000, dtype=np.float32)
    kernel = ReductionKernel(context, np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*y[i]",
                             arguments="__global float *x, __global float *y")
    result = kernel(cl_array.to_device(queue, a), cl_array.to_device(queue, b)).get()
    np.testing.assert_allclose(result, np.dot(a.astype(np.float64), b), rtol=1e-4)


def scan_inclusive():
    kernel = InclusiveScanKernel(context, np.int32, "a+b", neutral="0")
    for n in (10, 2 ** 10 - 5, 2 ** 16 + 17):
        a = random.integers(0, 10, n).astype(np.int32)
        a_dev = cl_array.to_device(queue, a)
        kernel(a_dev)
        np.testing.assert_array_equal(a_dev.get(), np.cumsum(a))


def scan_compaction():
    n = 30_011
    a = random.integers(0, 1000, n).astype(np.int32)
    a_dev = cl_array.to_device(queue, a)
    out = cl_array.empty_like(a_dev)
    count = cl_array.empty(queue, 1, np.int32)
    kernel = GenericScanKernel(
        context, np.int32,
        arguments="__global int *ary, __global int *out, __global int *count",
        input_expr="(ary[i] > 300) ? 1 : 0", scan_expr="a+b", neutral="0",
        output_statement="""
            if (prev_item != item) out[item-1] = ary[i];
            if (i+1 == N) *count = item;
        """)
    kernel(a_dev, out, count)
    expected = a[a > 300]
    assert count.get()[0] == len(expected)
    np.testing.assert_array_equal(out.get()[:len(expected)], expected)


def main():
    print(platform.name, "/", device.name)
    passed = failed = 0
    for test in (vector_addition, array_arithmetic, elementwise, reduction_sum, reduction_min_max, reduction_dot,
                 scan_inclusive, scan_compaction):
        try:
            test()
            passed += 1
            print("ok    ", test.__name__)
        except Exception:
            failed += 1
            print("FAILED", test.__name__)
            traceback.print_exc()
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())

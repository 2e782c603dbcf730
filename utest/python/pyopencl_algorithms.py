"""pyopencl's own algorithms, whose kernels are generated and real, against numpy.

    apt-get install python3-pyopencl           # or: pip install pyopencl mako numpy
    OCL_ICD_VENDORS=target/release/vendors python3 utest/python/pyopencl_algorithms.py [PART-OF-NAME]

The last line counts as those of `cargo test` do: "test result: ok. N passed; N failed; N ignored".
"""

import os
import sys
import traceback

os.environ.setdefault("PYOPENCL_NO_CACHE", "1")

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
import pyopencl.clmath as clmath
import pyopencl.clrandom as clrandom
from pyopencl.algorithm import ListOfListsBuilder, RadixSort, copy_if, partition, unique
from pyopencl.bitonic_sort import BitonicSort
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import ExclusiveScanKernel, GenericScanKernel, InclusiveScanKernel
from pyopencl.tools import dtype_to_ctype, get_or_register_dtype, match_dtype_to_c_struct

platform = cl.get_platforms()[0]
device = platform.get_devices()[0]
context = cl.Context([device])
queue = cl.CommandQueue(context)
random = np.random.default_rng(1)

INTEGERS = [np.dtype(kind + size) for size in ("1", "2", "4", "8") for kind in "iu"]
FLOATS = [np.dtype(np.float32)]
if "cl_khr_fp64" in device.extensions:
    FLOATS.append(np.dtype(np.float64))
NUMBERS = INTEGERS + FLOATS

TESTS = []


def test(*parameters):
    """Registers a function as a test, or as one for each of the parameters."""
    def register(function):
        if not parameters:
            TESTS.append((function.__name__, function))
        for parameter in parameters:
            TESTS.append((f"{function.__name__}/{parameter}", lambda p=parameter: function(p)))
        return function
    return register


def numbers(n, dtype):
    """Values for which sums of a few and products of two do not overflow more than C's would."""
    if dtype.kind == "f":
        return (random.random(n) * 200 - 100).astype(dtype)
    low = 0 if dtype.kind == "u" else -100
    return random.integers(low, 100, n).astype(dtype)


def close(result, expected, tolerance=1e-5):
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


@test()
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


@test(*NUMBERS)
def array_arithmetic(dtype):
    a, b = numbers(3001, dtype), numbers(3001, dtype)
    a_dev, b_dev = cl_array.to_device(queue, a), cl_array.to_device(queue, b)
    three, seven = dtype.type(3), dtype.type(7)
    for result, expected in [
            (a_dev + b_dev, a + b), (a_dev * b_dev, a * b),
            (three * a_dev + seven, three * a + seven), (abs(a_dev), abs(a))]:
        assert result.dtype == expected.dtype
        close(result.get(), expected)
    # A difference is made with dtype(-1), which numpy 2 refuses for unsigned types.
    if dtype.kind != "u":
        close((-a_dev).get(), -a)
        close((a_dev - b_dev).get(), a - b)


@test(*INTEGERS)
def array_bits(dtype):
    a, b = numbers(1001, dtype), numbers(1001, dtype)
    a_dev, b_dev = cl_array.to_device(queue, a), cl_array.to_device(queue, b)
    for result, expected in [(a_dev & b_dev, a & b), (a_dev | b_dev, a | b), (a_dev ^ b_dev, a ^ b)]:
        np.testing.assert_array_equal(result.get(), expected)


@test(*FLOATS)
def array_division(dtype):
    a, b = numbers(2001, dtype), numbers(2001, dtype) + dtype.type(300)
    a_dev, b_dev = cl_array.to_device(queue, a), cl_array.to_device(queue, b)
    close((a_dev / b_dev).get(), a / b)
    close((dtype.type(2) / b_dev).get(), dtype.type(2) / b)
    close((b_dev ** dtype.type(1.5)).get(), b ** dtype.type(1.5), 1e-4)


@test(*NUMBERS)
def array_comparison(dtype):
    a, b = numbers(1500, dtype), numbers(1500, dtype)
    a[::3] = b[::3]
    a_dev, b_dev = cl_array.to_device(queue, a), cl_array.to_device(queue, b)
    for result, expected in [
            (a_dev < b_dev, a < b), (a_dev <= b_dev, a <= b), (a_dev == b_dev, a == b), (a_dev != b_dev, a != b)]:
        np.testing.assert_array_equal(result.get().astype(bool), expected)
    smaller = cl_array.if_positive(a_dev < b_dev, a_dev, b_dev)
    np.testing.assert_array_equal(smaller.get(), np.minimum(a, b))
    np.testing.assert_array_equal(cl_array.maximum(a_dev, b_dev).get(), np.maximum(a, b))


@test(*NUMBERS)
def array_conversion(dtype):
    a = (np.arange(500) % 100).astype(dtype)
    a_dev = cl_array.to_device(queue, a)
    for other in NUMBERS:
        np.testing.assert_array_equal(a_dev.astype(other).get(), a.astype(other))


@test()
def array_views():
    a = numbers(40 * 50, np.dtype(np.int32)).reshape(40, 50)
    a_dev = cl_array.to_device(queue, a)
    np.testing.assert_array_equal(a_dev[5:9].get(), a[5:9])
    np.testing.assert_array_equal(a_dev.reshape(50, 40).get(), a.reshape(50, 40))
    a_dev[2:4] = 11
    a[2:4] = 11
    np.testing.assert_array_equal(a_dev.get(), a)


@test()
def array_take_put_arange():
    a = numbers(5000, np.dtype(np.float32))
    indices = random.permutation(5000)[:700].astype(np.int32)
    a_dev, indices_dev = cl_array.to_device(queue, a), cl_array.to_device(queue, indices)
    np.testing.assert_array_equal(cl_array.take(a_dev, indices_dev).get(), a[indices])
    steps = cl_array.arange(queue, 12, 12000, 7, dtype=np.int32)
    np.testing.assert_array_equal(steps.get(), np.arange(12, 12000, 7, dtype=np.int32))
    values = cl_array.arange(queue, 700, dtype=np.float32)
    out = cl_array.zeros(queue, 5000, np.float32)
    cl_array.multi_put([values], indices_dev, out=[out])
    expected = np.zeros(5000, np.float32)
    expected[indices] = np.arange(700)
    np.testing.assert_array_equal(out.get(), expected)


@test()
def array_complex():
    a = (random.random(1000) + 1j * random.random(1000)).astype(np.complex64)
    b = (random.random(1000) - 2j * random.random(1000)).astype(np.complex64)
    a_dev, b_dev = cl_array.to_device(queue, a), cl_array.to_device(queue, b)
    close((a_dev * b_dev + a_dev).get(), a * b + a)
    close(a_dev.conj().get(), a.conj())
    close(a_dev.real.get() - a_dev.imag.get(), a.real - a.imag)
    close((a_dev / b_dev).get(), a / b, 1e-4)


@test()
def elementwise():
    a = random.random(3000, dtype=np.float32)
    a_dev = cl_array.to_device(queue, a)
    out = cl_array.empty_like(a_dev)
    kernel = ElementwiseKernel(context, "float k, float *a, float *out", "out[i] = k * sqrt(a[i]) + i", "ew")
    kernel(np.float32(2), a_dev, out)
    close(out.get(), 2 * np.sqrt(a) + np.arange(3000, dtype=np.float32))


# Name, and the range of the argument.
FUNCTIONS = {
    "ceil": (-9, 9), "floor": (-9, 9), "fabs": (-9, 9), "exp": (-9, 9), "log": (0.1, 9), "log10": (0.1, 9), "sqrt": (0, 9),
    "sin": (-9, 9), "cos": (-9, 9), "tan": (-1.4, 1.4), "asin": (-1, 1), "acos": (-1, 1), "atan": (-9, 9), "sinh": (-3, 3),
    "cosh": (-3, 3), "tanh": (-3, 3), "exp2": (-9, 9), "log2": (0.1, 9), "cbrt": (-9, 9), "rint": (-9, 9), "trunc": (-9, 9),
    "expm1": (-2, 2), "log1p": (-0.9, 9), "asinh": (-9, 9), "acosh": (1, 9), "atanh": (-0.9, 0.9),
}


@test(*FUNCTIONS)
def function_of(name):
    low, high = FUNCTIONS[name]
    for dtype in FLOATS:
        a = np.linspace(low, high, 1234).astype(dtype)
        numpy_name = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
                      "atanh": "arctanh"}.get(name, name)
        expected = getattr(np, numpy_name)(a.astype(np.float64))
        result = getattr(clmath, name)(cl_array.to_device(queue, a)).get()
        assert result.dtype == dtype
        close(result, expected, 2e-6)


@test(*FLOATS)
def functions_of_two(dtype):
    a, b = numbers(999, dtype), numbers(999, dtype)
    a_dev, b_dev = cl_array.to_device(queue, a), cl_array.to_device(queue, b)
    close(clmath.fmod(a_dev, b_dev).get(), np.fmod(a, b), 1e-3 if dtype.itemsize == 4 else 1e-9)
    close(clmath.atan2(a_dev, b_dev).get(), np.arctan2(a, b))
    fraction, exponent = clmath.frexp(a_dev)
    expected = np.frexp(a)
    np.testing.assert_array_equal(fraction.get(), expected[0])
    np.testing.assert_array_equal(exponent.get(), expected[1])
    part, whole = clmath.modf(a_dev)
    np.testing.assert_array_equal(part.get(), np.modf(a)[0])
    np.testing.assert_array_equal(whole.get(), np.modf(a)[1])


@test(*NUMBERS)
def reduction_sum(dtype):
    wide = np.dtype(np.float64) if dtype.kind == "f" else np.dtype(np.int64)
    for n in (1, 10, 1000, 123_457):
        a = numbers(n, dtype)
        total = cl_array.sum(cl_array.to_device(queue, a), dtype=dtype).get()
        if dtype.kind == "f":
            assert abs(total - a.sum(dtype=wide)) <= 1e-5 * abs(a).sum(dtype=wide)
        else:
            np.testing.assert_array_equal(total, a.sum(dtype=wide).astype(dtype))


@test(*NUMBERS)
def reduction_min_max(dtype):
    for n in (3, 70_001):
        a = numbers(n, dtype)
        a_dev = cl_array.to_device(queue, a)
        assert cl_array.max(a_dev).get() == a.max()
        assert cl_array.min(a_dev).get() == a.min()


@test()
def reduction_dot():
    a = random.random(20_000, dtype=np.float32)
    b = random.random(20_000, dtype=np.float32)
    kernel = ReductionKernel(context, np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*y[i]",
                             arguments="__global float *x, __global float *y")
    a_dev, b_dev = cl_array.to_device(queue, a), cl_array.to_device(queue, b)
    expected = np.dot(a.astype(np.float64), b)
    close(kernel(a_dev, b_dev).get(), expected, 1e-4)
    close(cl_array.dot(a_dev, b_dev).get(), expected, 1e-4)


@test()
def reduction_argmin():
    layout = np.dtype([("value", np.int32), ("index", np.int32)])
    layout, declaration = match_dtype_to_c_struct(device, "smallest", layout)
    layout = get_or_register_dtype("smallest", layout)
    preamble = declaration + """
        smallest smaller(smallest a, smallest b)
        { return b.value < a.value || (b.value == a.value && b.index < a.index) ? b : a; }
        smallest at(int value, int index) { smallest s; s.value = value; s.index = index; return s; }"""
    kernel = ReductionKernel(context, layout, neutral="at(INT_MAX, INT_MAX)", reduce_expr="smaller(a, b)",
                             map_expr="at(x[i], i)", arguments="__global int *x", preamble=preamble)
    for n in (17, 50_003):
        a = random.integers(-10 * n, 10 * n, n).astype(np.int32)
        result = kernel(cl_array.to_device(queue, a)).get()
        assert (result["value"], result["index"]) == (a.min(), a.argmin())


# pyopencl scans values whose size is a multiple of four bytes.
@test(*[dtype for dtype in NUMBERS if dtype.itemsize >= 4])
def scan_inclusive(dtype):
    kernel = InclusiveScanKernel(context, dtype, "a+b", neutral="0")
    for n in (10, 2 ** 10 - 5, 2 ** 14 + 17):
        a = random.integers(0, 10, n).astype(dtype)
        a_dev = cl_array.to_device(queue, a)
        kernel(a_dev)
        np.testing.assert_array_equal(a_dev.get(), np.cumsum(a, dtype=dtype))


@test()
def scan_exclusive():
    kernel = ExclusiveScanKernel(context, np.int32, "a > b ? a : b", neutral="-1")
    a = random.integers(0, 10_000_000, 33_333).astype(np.int32)
    a_dev = cl_array.to_device(queue, a)
    kernel(a_dev)
    np.testing.assert_array_equal(a_dev.get(), np.concatenate([[-1], np.maximum.accumulate(a)[:-1]]))


@test()
def scan_segmented():
    kernel = GenericScanKernel(
        context, np.int32, arguments="__global const int *ary, __global const char *starts, __global int *out",
        input_expr="ary[i]", scan_expr="across_seg_boundary ? b : (a+b)", neutral="0",
        is_segment_start_expr="starts[i]", output_statement="out[i] = item;")
    for n in (100, 20_011):
        a = random.integers(0, 100, n).astype(np.int32)
        starts = (random.random(n) < 0.02).astype(np.int8)
        starts[0] = 1
        a_dev, starts_dev = cl_array.to_device(queue, a), cl_array.to_device(queue, starts)
        out = cl_array.empty_like(a_dev)
        kernel(a_dev, starts_dev, out)
        begins = np.flatnonzero(starts)
        expected = np.concatenate([np.cumsum(part) for part in np.split(a, begins[1:])])
        np.testing.assert_array_equal(out.get(), expected)


@test()
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


@test()
def algorithm_copy_partition_unique():
    a = np.sort(random.integers(0, 2000, 9000)).astype(np.int32)
    a_dev = cl_array.to_device(queue, a)
    chosen, count, _ = copy_if(a_dev, "ary[i] % 3 == 0")
    np.testing.assert_array_equal(chosen.get()[:count.get()], a[a % 3 == 0])
    low, high, count, _ = partition(a_dev, "ary[i] < 700")
    np.testing.assert_array_equal(low.get()[:count.get()], a[a < 700])
    np.testing.assert_array_equal(high.get()[:len(a) - count.get()], a[a >= 700])
    single, count, _ = unique(a_dev)
    np.testing.assert_array_equal(single.get()[:count.get()], np.unique(a))


@test(np.dtype(np.uint32), np.dtype(np.int32), np.dtype(np.uint64))
def sort_radix(dtype):
    sort = RadixSort(context, f"__global {dtype_to_ctype(dtype)} *ary", key_expr="ary[i]",
                     sort_arg_names=["ary"], scan_kernel=GenericScanKernel)
    a = random.integers(0, 2 ** 24, 10_007).astype(dtype)
    (result,), _ = sort(cl_array.to_device(queue, a), key_bits=24)
    np.testing.assert_array_equal(result.get(), np.sort(a))


@test(*[dtype for dtype in NUMBERS if dtype.itemsize >= 4])
def sort_bitonic(dtype):
    for n in (8, 512, 2 ** 13):
        a = random.integers(0, 10 ** 6, n).astype(dtype)
        a_dev = cl_array.to_device(queue, a)
        sorted_dev, event = BitonicSort(context)(a_dev)
        event.wait()
        np.testing.assert_array_equal(sorted_dev.get(), np.sort(a))


@test()
def sparse_lists():
    builder = ListOfListsBuilder(
        context, [("mylist", np.int32)],
        """//CL//
        void generate(LIST_ARG_DECL USER_ARG_DECL index_type i)
        {
            int count = i % 4;
            for (int j = 0; j < count; ++j) { APPEND_mylist(i * 10 + j); }
        }
        """, arg_decls=[])
    result, _ = builder(queue, 2000)
    starts = result["mylist"].starts.get()
    assert result["mylist"].count == starts[-1]
    expected = np.array([i * 10 + j for i in range(2000) for j in range(i % 4)])
    np.testing.assert_array_equal(result["mylist"].lists.get(), expected)
    np.testing.assert_array_equal(np.diff(starts), np.arange(2000) % 4)


@test()
def sparse_matrix_times_vector():
    rows, columns = 700, 900
    dense = np.where(random.random((rows, columns)) < 0.02, random.random((rows, columns)), 0).astype(np.float32)
    row, column = np.nonzero(dense)
    starts = np.searchsorted(row, np.arange(rows + 1)).astype(np.int32)
    x = random.random(columns, dtype=np.float32)
    kernel = ElementwiseKernel(
        context, "int *starts, int *columns, float *values, float *x, float *y",
        "float sum = 0; for (int k = starts[i]; k < starts[i + 1]; ++k) sum += values[k] * x[columns[k]]; y[i] = sum",
        "csr")
    y = cl_array.empty(queue, rows, np.float32)
    kernel(cl_array.to_device(queue, starts), cl_array.to_device(queue, column.astype(np.int32)),
           cl_array.to_device(queue, dense[row, column]), cl_array.to_device(queue, x), y,
           range=slice(rows))
    close(y.get(), dense.astype(np.float64) @ x, 1e-4)


@test("PhiloxGenerator", "ThreefryGenerator")
def random_numbers(name):
    generator = getattr(clrandom, name)(context)
    uniform = generator.uniform(queue, 20_000, np.float32, a=2, b=6).get()
    assert 2 <= uniform.min() and uniform.max() <= 6 and abs(uniform.mean() - 4) < 0.05
    normal = generator.normal(queue, 20_000, np.float32, mu=1, sigma=2).get()
    assert abs(normal.mean() - 1) < 0.1 and abs(normal.std() - 2) < 0.1
    whole = generator.uniform(queue, 20_000, np.int32, a=-20, b=30).get()
    assert whole.min() == -20 and whole.max() == 29


def main():
    print(platform.name, "/", device.name)
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    passed = failed = 0
    for name, run in TESTS:
        if part not in name:
            continue
        try:
            run()
            passed += 1
            print(f"test {name} ... ok", flush=True)
        except Exception:
            failed += 1
            print(f"test {name} ... FAILED", flush=True)
            traceback.print_exc(limit=4)
    result = "FAILED" if failed else "ok"
    print(f"\ntest result: {result}. {passed} passed; {failed} failed; 0 ignored")
    return failed != 0


sys.exit(main())

"""The wheel's plugin for pytest, on tests of kernels of which some have faults.

    pip install pytest pyopencl numpy
    OCL_ICD_VENDORS=target/release/vendors python3 utest/python/pytest_plugin.py

The last line counts as those of `cargo test` do: "test result: ok. N passed; N failed; N ignored".
"""

import os
import pathlib
import subprocess
import sys
import tempfile

WHEEL = pathlib.Path(__file__).resolve().parents[2] / "packaging/wheel"

TESTS = '''
import numpy as np
import pyopencl as cl

context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
queue = cl.CommandQueue(context)
SOURCE = """
kernel void shift(global const int *a, global int *b, int n) {
    int i = get_global_id(0);
    b[i] = a[i + n];
}"""


def shifted(n):
    a = np.arange(64, dtype=np.int32)
    b = np.empty_like(a)
    flags = cl.mem_flags
    buffers = [cl.Buffer(context, flags.COPY_HOST_PTR, hostbuf=a), cl.Buffer(context, flags.READ_WRITE, a.nbytes)]
    kernel = cl.Kernel(cl.Program(context, SOURCE).build(), "shift")
    kernel(queue, (64,), None, *buffers, np.int32(n))
    cl.enqueue_copy(queue, b, buffers[1])
    return b


def test_right():
    assert shifted(0)[5] == 5


def test_faulty():
    assert shifted(1)[5] == 6


def test_wrong_and_faulty():
    assert shifted(2)[5] == 5
'''


def run(folder, *options):
    file = pathlib.Path(folder) / "test_kernels.py"
    file.write_text(TESTS)
    environment = os.environ | {"PYTHONPATH": str(WHEEL), "PYOPENCL_NO_CACHE": "1", "GENCL_CACHE": "off"}
    command = [sys.executable, "-m", "pytest", "-p", "gencl.pytest_plugin", "-p", "no:cacheprovider", *options, str(file)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def unchecked(folder):
    status, text = run(folder)
    return status == 1 and "1 failed, 2 passed" in text, text


def checked(folder):
    status, text = run(folder, "--gencl-check")
    words = [
        "2 failed, 1 passed",
        "out-of-bounds read of 4 bytes in kernel shift",
        "at shift (<source>:4:12)",
        "work-item (63, 0, 0): it begins 0 bytes behind argument 0 (a) of 256 bytes",
        "gencl-check: 1 in kernels of this test",
        "gencl-check",
    ]
    return status == 1 and all(word in text for word in words), text


def some_tools(folder):
    status, text = run(folder, "--gencl-check", "--gencl-check-tools", "race,arithmetic")
    return status == 1 and "1 failed, 2 passed" in text, text


def main():
    failed = 0
    cases = [unchecked, checked, some_tools]
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            is_right, text = case(folder)
        print(f"test {case.__name__} ... {'ok' if is_right else 'FAILED'}")
        if not is_right:
            failed += 1
            print(text)
    result = "FAILED" if failed else "ok"
    print(f"test result: {result}. {len(cases) - failed} passed; {failed} failed; 0 ignored")
    sys.exit(1 if failed else 0)


main()

"""The wheel's plugin for pytest, on tests of kernels of which some have faults.

    pip install pytest pyopencl numpy
    OCL_ICD_VENDORS=target/release/vendors python3 utest/python/pytest_plugin.py

The last line counts as those of `cargo test` do: "test result: ok. N passed; N failed; N ignored".
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

WHEEL = pathlib.Path(__file__).resolve().parents[2] / "packaging/wheel"

TESTS = '''
import os

import numpy as np
import pyopencl as cl

context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
queue = cl.CommandQueue(context)
SOURCE = """
kernel void shift(global const int *a, global int *b, int n) {
    int i = get_global_id(0);
    b[i] = a[i + n];
    for (int k = 1; k < STEPS; k++)
        b[i] = b[i] * 3 & 63 | a[i] & 64;
    b[i] = STEPS > 1 ? a[i + n] : b[i];
}"""
STEPS = os.environ.get("STEPS", "1")


def shifted(n):
    a = np.arange(64, dtype=np.int32)
    b = np.empty_like(a)
    flags = cl.mem_flags
    buffers = [cl.Buffer(context, flags.COPY_HOST_PTR, hostbuf=a), cl.Buffer(context, flags.READ_WRITE, a.nbytes)]
    kernel = cl.Kernel(cl.Program(context, SOURCE).build([f"-DSTEPS={STEPS}"]), "shift")
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


def run(folder, *options, **variables):
    file = pathlib.Path(folder) / "test_kernels.py"
    file.write_text(TESTS)
    environment = os.environ | {"PYTHONPATH": str(WHEEL), "PYOPENCL_NO_CACHE": "1", "GENCL_CACHE": "off"} | variables
    command = [sys.executable, "-m", "pytest", "-p", "gencl.pytest_plugin", "-p", "no:cacheprovider"]
    command += [f"--rootdir={folder}", *options, str(file)]
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
        "gencl-check: 1 in this test",
        "gencl-check",
    ]
    return status == 1 and all(word in text for word in words), text


def some_tools(folder):
    status, text = run(folder, "--gencl-check", "--gencl-check-tools", "race,arithmetic")
    return status == 1 and "1 failed, 2 passed" in text, text


def profiled(folder):
    """The first run writes the file, with which later ones are compared."""
    file = pathlib.Path(folder) / "baseline.json"
    option = f"--gencl-profile-baseline={file}"
    status, text = run(folder, option)
    tests = json.loads(file.read_text())["tests"] if file.exists() else {}
    launches, clocks = tests.get("test_kernels.py::test_right", {}).get("shift", (0, 0))
    # A test that fails by itself has none.
    if status != 1 or "2 tests written to" not in text or len(tests) != 2 or launches != 1 or clocks < 100:
        return False, text
    before = file.read_text()
    for variables, options, words in [
        ({}, [], ["1 failed, 2 passed"]),
        ({"STEPS": "9"}, [], ["3 failed", f"and took {clocks:,} clocks in 1 launch: ", "kernel shift takes "]),
        ({"STEPS": "9"}, ["--gencl-profile-tolerance=100000"], ["1 failed, 2 passed"]),
        ({"STEPS": "9"}, ["--gencl-check"], ["kernels with checks take other clocks"]),
    ]:
        _, text = run(folder, option, *options, **variables)
        if not all(word in text for word in words) or file.read_text() != before:
            return False, text
    _, text = run(folder, option, "--gencl-profile-update", STEPS="9")
    return file.read_text() != before and "statistics:" not in text, text


def main():
    failed = 0
    cases = [unchecked, checked, some_tools, profiled]
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

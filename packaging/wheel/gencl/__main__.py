"""Runs programs with gencl.

    python -m gencl                       prints the devices, and where the files are
    python -m gencl run PROGRAM [ARGS]    runs an OpenCL program with this driver alone
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

from gencl import LIBRARY, PREFIX, variables

CL_DEVICE_TYPE_ALL = 0xFFFFFFFF
CL_DEVICE_NAME = 0x102B


def main() -> int | str:
    """The command line."""
    arguments = sys.argv[1:]
    if not arguments:
        return diagnose()
    if arguments[0] == "run" and len(arguments) > 1:
        return run(arguments[1], arguments[1:])
    return (__doc__ or "").strip()


def tool() -> str:
    """The program in bin with the name by which this one was called."""
    name = Path(sys.argv[0]).name
    return run(str(PREFIX / "bin" / name), [name, *sys.argv[1:]])


def run(program: str, arguments: list[str]) -> str:
    """Becomes a program, for which the driver is the only one unless the user has chosen others."""
    if "OCL_ICD_VENDORS" not in os.environ:
        os.environ.update(variables(os.environ))
    try:
        os.execvp(program, arguments)
    except OSError as error:
        return f"gencl: {program}: {error.strerror}"


def diagnose() -> int:
    """Prints the devices, and where the files are."""
    print(f"driver    {LIBRARY}\ncompiler  {PREFIX / 'bin/genclc'}")
    names = devices()
    print("\n".join(f"device    {name}" for name in names) or "device    none")
    return 0 if names else 1


def devices() -> list[str]:
    """The names of the driver's devices, which need no ICD loader to be found."""
    driver = ctypes.CDLL(str(LIBRARY))
    platform, count = ctypes.c_void_p(), ctypes.c_uint()
    if driver.clIcdGetPlatformIDsKHR(1, ctypes.byref(platform), None):
        return []
    if driver.clGetDeviceIDs(platform, ctypes.c_ulong(CL_DEVICE_TYPE_ALL), 0, None, ctypes.byref(count)):
        return []
    found, name = (ctypes.c_void_p * count.value)(), ctypes.create_string_buffer(256)
    driver.clGetDeviceIDs(platform, ctypes.c_ulong(CL_DEVICE_TYPE_ALL), count, found, None)
    names = []
    for device in found:
        driver.clGetDeviceInfo(ctypes.c_void_p(device), CL_DEVICE_NAME, ctypes.c_size_t(len(name)), name, None)
        names.append(name.value.decode())
    return names


if __name__ == "__main__":
    sys.exit(main())

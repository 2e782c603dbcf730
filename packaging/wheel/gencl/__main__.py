"""Runs programs with gencl.

    python -m gencl                       tells whether the driver works (gencl diagnose)
    python -m gencl run PROGRAM [ARGS]    runs an OpenCL program with this driver alone
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gencl import PREFIX, loader, variables


def main() -> str:
    """The command line."""
    arguments = sys.argv[1:]
    if not arguments:
        return run(str(PREFIX / "bin/gencl"), ["gencl", "diagnose"])
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
    os.environ.update(loader())
    try:
        os.execvp(program, arguments)
    except OSError as error:
        return f"gencl: {program}: {error.strerror}"


if __name__ == "__main__":
    sys.exit(main())

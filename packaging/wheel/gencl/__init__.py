"""gencl, an OpenCL driver with a software GPU: where its files are, and what other programs need to find it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

PREFIX = Path(__file__).resolve().parent
LIBRARY = PREFIX / "lib/gencl/libgencl.so"


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables with which any ICD loader loads this driver and no other, in an environment."""
    # The .icd file has the library's name without its folder.
    folders = [str(LIBRARY.parent), environment.get("LD_LIBRARY_PATH", "")]
    return {"OCL_ICD_VENDORS": str(PREFIX / "etc/OpenCL/vendors"), "LD_LIBRARY_PATH": ":".join(filter(None, folders))}


def loader() -> dict[str, str]:
    """The variables by which `gencl diagnose` asks pyopencl's ICD loader, if there is one. The system may have none."""
    found = sorted(PREFIX.parent.glob("pyopencl/.libs/libOpenCL*"))
    # That loader crashes without pyopencl's folder, which pyopencl sets itself when it is imported.
    return {"GENCL_ICD_LOADER": str(found[0]), "PYOPENCL_HOME": str(found[0].parents[1])} if found else {}

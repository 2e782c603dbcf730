"""A plugin for pytest: `pytest --gencl-check` finds faults in the OpenCL kernels that tests run, and in their calls;
`pytest --gencl-profile-baseline FILE` finds kernels that have become slower (`pytest_profile`).

Programs are built with checks (`GENCL_DEBUG=check`). What these find while a test runs is the test's failure, with the
line of the kernel; what comes later is told at the end, and the session fails.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest

from gencl import LIBRARY, pytest_profile, variables


class Faults(Exception):
    """Faults in kernels, as text."""


class Checker:
    """Reads what the driver writes to a folder: a file for each process, with a line of JSON for each finding."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.read: dict[Path, int] = {}

    def new(self) -> list[str]:
        """The findings since the last call, each place once."""
        found: dict[tuple[str, str], str] = {}
        for path in sorted(Path(self.folder).glob("*.jsonl")):
            text = path.read_bytes()[self.read.get(path, 0) :]
            # The last line may not be complete yet.
            complete = text[: text.rfind(b"\n") + 1]
            self.read[path] = self.read.get(path, 0) + len(complete)
            for line in complete.splitlines():
                finding = json.loads(line)
                # One in a kernel has a site; one in a call has its place in its message.
                place = json.dumps(finding["site"]) if "site" in finding else finding["message"]
                found.setdefault((finding.get("kernel", ""), place), finding["message"])
        return list(found.values())

    # Not a wrapper that changes the outcome: Debian 12's pluggy has no `force_exception`.
    @pytest.hookimpl(trylast=True)
    def pytest_runtest_call(self) -> None:
        """Behind the test, if it passed: what was found is its failure."""
        messages = self.new()
        if messages:
            text = "\n\n".join(messages)
            raise Faults(f"gencl-check: {len(messages)} in this test\n\n{text}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """A test that failed by itself also tells what was found."""
        messages = self.new() if call.when == "call" else []
        if messages:
            item.add_report_section("call", "gencl-check", "\n\n".join(messages))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        messages = self.new()
        if messages:
            print("\n\ngencl-check, outside of tests:\n\n" + "\n\n".join(messages))
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gencl")
    group.addoption("--gencl-check", action="store_true", help="find faults in the OpenCL kernels that tests run")
    group.addoption(
        "--gencl-check-tools",
        metavar="NAMES",
        help="only these checks, separated by commas: memory, arithmetic, race, sync, undefined, api, order, shift, "
        "overflow; default (all but the last two) or all",
    )
    pytest_profile.add_options(group)


def pytest_configure(config: pytest.Config) -> None:
    profiles = config.getoption("--gencl-profile-baseline")
    if not profiles and not config.getoption("--gencl-check"):
        return
    folder = tempfile.TemporaryDirectory(prefix="gencl-pytest-")
    config.add_cleanup(folder.cleanup)
    options = [os.environ.get("GENCL_DEBUG", "")]
    if profiles:
        config.pluginmanager.register(pytest_profile.profiler(config, folder.name), "gencl-profile")
        options.append(f"profile={folder.name}")
    else:
        config.pluginmanager.register(Checker(folder.name), "gencl-check")
        options += ["check", f"check-output={folder.name}"]
        tools = config.getoption("--gencl-check-tools")
        if tools:
            options.append("check-tools=" + tools.replace(",", "+"))
    os.environ["GENCL_DEBUG"] = ",".join(filter(None, options))
    # It keeps binaries, which were compiled with other options.
    os.environ["PYOPENCL_NO_CACHE"] = "1"
    if "OCL_ICD_VENDORS" not in os.environ and LIBRARY.exists():
        os.environ.update(variables(os.environ))

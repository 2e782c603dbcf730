"""`pytest --gencl-profile-baseline FILE` compares the clocks of tests' kernels with those of an earlier run.

The simulator's cycle model counts them (`GENCL_DEBUG=profile`): they do not depend on the machine. A test fails when one of
its kernels takes more clocks than the file says, beyond a tolerance. Where there is no file, it is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

VERSION = 1


class Slower(Exception):
    """Kernels that have become slower, as text."""


class Clocks(NamedTuple):
    """Of all launches of a kernel in a test."""

    launches: int
    clocks: int

    def __str__(self) -> str:
        return f"{self.clocks:,} clocks in {self.launches} launch{'' if self.launches == 1 else 'es'}"


class Lines:
    """Reads files of JSON lines that processes append to, each line once."""

    def __init__(self, folder: str, pattern: str) -> None:
        self.folder, self.pattern = Path(folder), pattern
        self.read: dict[Path, int] = {}

    def new(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The lines since the last call, with the name of the process' folder."""
        for path in sorted(self.folder.glob(self.pattern)):
            begin = self.read.get(path, 0)
            with path.open("rb") as file:
                file.seek(begin)
                text = file.read()
            # The last line may not be complete yet.
            complete = text[: text.rfind(b"\n") + 1]
            self.read[path] = begin + len(complete)
            for line in complete.splitlines():
                yield path.relative_to(self.folder).parts[0], json.loads(line)


class Profiler:
    """Compares tests with a file, or writes it."""

    def __init__(self, folder: str, file: Path, tolerance: float, update: bool) -> None:
        self.folder, self.file, self.tolerance = folder, file, tolerance
        self.trace = Lines(folder, "*/trace.jsonl")
        # The simulator writes what a launch took before anyone learns that it has ended.
        self.launches = Lines(folder, "*/counts.json.live.*/launches.jsonl")
        self.names: dict[tuple[str, int], str] = {}
        self.tests: dict[str, dict[str, Clocks]] = {}
        self.known: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
        if self.known and self.known.get("version") != VERSION:
            raise pytest.UsageError(f"{file}: no baseline of this version of gencl")
        self.writes = update or not self.known
        self.missing = 0

    def device(self) -> str:
        """The device that the launches ran on."""
        heads = [json.loads(path.read_text()) for path in Path(self.folder).glob("*/counts.json.live.*/head.json")]
        return ", ".join(sorted({head["device"] for head in heads}))

    def new(self) -> dict[str, Clocks]:
        """The clocks of kernels since the last call."""
        for process, line in self.trace.new():
            if line["type"] == "launch":
                self.names[process, line["launch"]["number"]] = line["launch"]["kernel"]
        found: dict[str, Clocks] = {}
        for process, line in self.launches.new():
            name = self.names.get((process, line["number"]), "?")
            launches, clocks = found.get(name, Clocks(0, 0))
            found[name] = Clocks(launches + 1, clocks + line["cycles"])
        return dict(sorted(found.items()))

    def slower(self, test: str) -> list[str]:
        """What has become slower in a test."""
        known = self.known["tests"].get(test)
        if known is None:
            self.missing += 1
            return []
        if self.known["device"] != self.device():
            return [f"{self.file} is of {self.known['device']}, not of {self.device()}"]
        slower = []
        for name, now in self.tests[test].items():
            before = Clocks(*known[name]) if name in known else now
            if now.clocks > before.clocks * (1 + self.tolerance / 100):
                percent = 100 * (now.clocks / max(before.clocks, 1) - 1)
                slower.append(f"kernel {name} takes {now}, and took {before}: {percent:.1f}% more")
        return slower

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """What was launched before is of no test."""
        self.new()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """Behind the test, if it passed."""
        clocks = self.new()
        if not clocks:
            return
        self.tests[item.nodeid] = clocks
        slower = [] if self.writes else self.slower(item.nodeid)
        if slower:
            raise Slower("gencl-profile: slower than the baseline\n\n" + "\n".join(slower))

    def pytest_sessionfinish(self) -> None:
        if self.writes and self.tests:
            tests = self.known.get("tests", {}) | self.tests
            baseline = {"version": VERSION, "device": self.device(), "tests": dict(sorted(tests.items()))}
            self.file.write_text(json.dumps(baseline, indent=1) + "\n")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.writes and self.tests:
            terminalreporter.write_line(f"gencl-profile: {len(self.tests)} tests written to {self.file}")
        elif self.missing:
            text = f"gencl-profile: {self.missing} tests are not in {self.file}: --gencl-profile-update adds them"
            terminalreporter.write_line(text)


def add_options(group: Any) -> None:
    group.addoption(
        "--gencl-profile-baseline",
        metavar="FILE",
        help="fail tests whose OpenCL kernels take more clocks than the file says; written if it does not exist",
    )
    group.addoption("--gencl-profile-update", action="store_true", help="write the clocks of these tests to the file")
    group.addoption(
        "--gencl-profile-tolerance",
        metavar="PERCENT",
        type=float,
        default=2.0,
        help="how many more clocks a kernel may take (2)",
    )


def profiler(config: pytest.Config, folder: str) -> Profiler:
    """The comparison that the options ask for; the driver writes to the folder."""
    file = config.getoption("--gencl-profile-baseline")
    if config.getoption("--gencl-check"):
        raise pytest.UsageError("--gencl-profile-baseline: kernels with checks take other clocks (--gencl-check)")
    if hasattr(config, "workerinput") or config.getoption("numprocesses", None):
        raise pytest.UsageError("--gencl-profile-baseline: tests run in one process, without -n")
    tolerance = config.getoption("--gencl-profile-tolerance")
    return Profiler(folder, Path(file), tolerance, config.getoption("--gencl-profile-update"))

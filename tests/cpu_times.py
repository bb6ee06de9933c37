"""``--cpu-times``: which tests take most processor time, in their process and in those that it started."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

SHOWN = 40
TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds() -> float:
    """Of this process, its descendants, and those of them that ended. The database server is not among them."""
    used: dict[int, int] = {}
    children: dict[int, list[int]] = defaultdict(list)
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended
        children[int(fields[1])].append(int(folder.name))
        used[int(folder.name)] = sum(map(int, fields[11:15]))
    tree = [os.getpid()]
    for pid in tree:
        tree += children[pid]
    return sum(used.get(pid, 0) for pid in tree) / TICKS


class CpuTimes:
    def __init__(self) -> None:
        self.last = processor_seconds()
        self.phases: list[tuple[float, str]] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """After set-up, call and teardown. In a worker of xdist the number travels with the report."""
        report = yield
        now = processor_seconds()
        report.cpu_seconds = now - self.last
        self.last = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.phases.append((getattr(report, "cpu_seconds", 0.0), f"{report.when:<8} {report.nodeid}"))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section(f"most processor time, of {sum(seconds for seconds, _ in self.phases):.0f} s")
        for seconds, phase in sorted(self.phases, reverse=True)[:SHOWN]:
            terminalreporter.write_line(f"{seconds:6.1f} s {phase}")

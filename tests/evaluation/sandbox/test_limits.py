"""What the author of a program is told about its end."""

from __future__ import annotations

import pytest

from evaluation.sandbox.limits import MIB, Reason, SandboxLimits, SandboxResult
from evaluation.sandbox.run import _exit_code, _explain_setup

LIMITS = SandboxLimits(seconds=2.5, memory=64 * MIB, output=2048, files=4096)


@pytest.mark.parametrize(
    ("reason", "exit_status", "stderr", "said"),
    [
        ("ok", 0, b"", "It ended normally."),
        ("timeout", None, b"", "It was stopped: it ran longer than 2.5 s."),
        ("memory", None, b"", "It was stopped: it used more than 64 MiB of memory."),
        ("output", None, b"", "It was stopped: it printed more than 2 KiB."),
        ("files", None, b"", "It was stopped: it made more than 4,096 files and locks."),
        ("killed", 137, b"", "It was killed by signal 9, as happens at a CPU or memory limit."),
        ("crash", 3, b"", "It ended with status 3."),
        ("crash", 1, b"Traceback\nValueError: no\n", "It ended with status 1: ValueError: no"),
    ],
)
def test_each_end_is_told_in_a_sentence(reason: Reason, exit_status: int | None, stderr: bytes, said: str):
    assert SandboxResult(b"", stderr, exit_status, reason, 1.0).explain(LIMITS) == said


@pytest.mark.parametrize(
    ("report", "status"),
    [
        (b'{"child-pid": 7}\n{"exit-code": 3}\n', 3),
        (b'{"child-pid": 7}\n', None),
        (b'not JSON\n[1]\n{"exit-code": "3"}\n{"exit-code": 0}\n', 0),
        (b"", None),
    ],
)
def test_the_exit_status_is_the_one_that_bubblewrap_reports(report: bytes, status: int | None):
    assert _exit_code(report) == status


def test_what_else_keeps_the_sandbox_from_being_set_up_is_told_with_its_last_line():
    assert _explain_setup("first\nbwrap: no space left", 1) == (
        "The sandbox could not be set up, so untrusted code is not run (bwrap: no space left)."
    )
    assert _explain_setup("", 4).endswith("(status 4).")

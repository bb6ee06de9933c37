"""What `make run` and `make setup` install."""

from __future__ import annotations

import re
from pathlib import Path

from studio.dev.bootstrap import ALL, TO_RUN


def pins(lock: Path) -> set[str]:
    return set(re.findall(r"^[\w.-]+==[^\s;]+", lock.read_text(), re.MULTILINE))


def test_what_tests_need_holds_what_running_needs_in_the_same_versions():
    assert pins(TO_RUN) < pins(ALL)

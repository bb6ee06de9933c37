"""What came of running a script on generated histories: pure data, made elsewhere, read by rules."""

from __future__ import annotations

from studio.domain.base import Spec

ANALYSIS = 2
"""Version of reading, generating and examining. A report of another version counts as not run yet."""


class GraderReport(Spec):
    """One script, by its content. All tuples hold keys in the script's order."""

    sha256: str
    keys: tuple[str, ...] | None = None
    """What ``score([])`` returned; None: nothing, see ``problem``."""
    problem: str = ""
    line: int | None = None
    """The script's line that the problem is in, if it is in one."""
    tried: int = 0
    """How many histories it was run on, the empty one included."""
    failed: str = ""
    """What went wrong on one of them; empty: nothing."""
    always: tuple[str, ...] = ()
    """Earned on every history, the empty one included."""
    never: tuple[str, ...] = ()
    """Earned on none."""
    by_draft: tuple[str, ...] = ()
    """Earned where a message was only drafted."""
    by_anyone: tuple[str, ...] = ()
    """Earned also where every message went to a stranger."""

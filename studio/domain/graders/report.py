"""Results of running a grader script on generated histories."""

from __future__ import annotations

from studio.domain.base import Spec

ANALYSIS = 3
"""Version of the analysis. Reports with another version are discarded."""


class GraderReport(Spec):
    """Report on one script. Keys are in the script's order."""

    sha256: str
    keys: tuple[str, ...] | None = None
    """Keys returned by ``score([])``; None if it failed, see ``problem``."""
    problem: str = ""
    line: int | None = None
    """Line of the problem, if known."""
    tried: int = 0
    """Number of histories, including the empty one."""
    failed: str = ""
    """Error on one of the histories; empty if none failed."""
    always: tuple[str, ...] = ()
    """Earned on every history, including the empty one."""
    never: tuple[str, ...] = ()
    """Earned on no history."""
    by_draft: tuple[str, ...] = ()
    """Earned by a message that was only drafted."""
    by_anyone: tuple[str, ...] = ()
    """Earned even if every message went to a stranger."""

"""A person in the agent's seat: the same tools, used one at a time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from evaluation.tools import Corpus, Shell, Surroundings, Tool, Toolbox, Workspace, World, general_names, toolbox_for
from evaluation.tools.general import GENERAL

__all__ = ["SHELL", "Tool", "Toolbox", "World", "general_names", "tools_for_person", "why_no_shell"]
SHELL = "exec"
COMMAND_SECONDS = 60.0
"""The person waits for the page."""


def tools_for_person(
    workspace: Path,
    names: Iterable[str],
    world: World | None = None,
    corpus: Corpus | None = None,
    shell_seconds: float = 0,
) -> Toolbox:
    """Those of an agent that binds ``names``. What needs an agent's own loop is left out: a person writes to the user
    on the rehearsal's page, and does the work of helpers. ``shell_seconds``: what commands took so far."""
    place = Workspace(workspace)
    shell = Shell(place, used=shell_seconds, most=COMMAND_SECONDS, clock=(world or World()).clock)
    return toolbox_for(Surroundings(place, asks=False, corpus=corpus, shell=shell), names, world)


def why_no_shell() -> str:
    """Empty where commands can be run."""
    return GENERAL[SHELL].lacking()

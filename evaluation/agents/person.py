"""A person in the agent's seat: the same tools, used one at a time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from evaluation.tools import Corpus, Surroundings, Tool, Toolbox, Workspace, World, general_names, toolbox_for

__all__ = ["Tool", "Toolbox", "general_names", "tools_for_person"]


def tools_for_person(
    workspace: Path, names: Iterable[str], world: World | None = None, corpus: Corpus | None = None
) -> Toolbox:
    """Those of an agent that binds ``names``. What needs an agent's own loop is left out, and so is the shell: a person
    writes to the user, and changes files, on the rehearsal's page."""
    return toolbox_for(Surroundings(Workspace(workspace), asks=False, corpus=corpus), names, world)

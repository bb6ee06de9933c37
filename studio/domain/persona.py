"""A persona: who the simulated user is, and what their assistant can reach (paper, section 3.2)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from studio.domain.base import FileRef, JsonDict, Spec


class Skill(Spec):
    """A folder the agent may read on demand; ``name`` is the folder's name."""

    name: str
    files: tuple[FileRef, ...] = ()


class PersonaSpec(Spec):
    """A persona with everything shared by its tasks. Never shown to the agent, but for tools and skills."""

    user_id: str
    """The folder's name; its case is kept."""
    name: str = ""
    role_text: str = ""
    occupation: str = ""
    routines: str = ""
    working_style: str = ""
    attributes: JsonDict = Field(default_factory=dict)
    """Facts in a word or two each: age, role, organisation, tone, habits. The text stays the source; these are for
    people who look something up."""
    preferences: JsonDict = Field(default_factory=dict)
    long_term_goals: tuple[Any, ...] = ()
    """Usually sentences; kept as read."""
    tools: tuple[str, ...] = ()
    """Names as the persona's ``tools.yaml`` has them, trimmed and without doubles."""
    skills: tuple[Skill, ...] = ()
    scripts: tuple[FileRef, ...] = ()
    """Rule graders, by their path below the persona's folder (``scripts/x.py``)."""
    files: tuple[FileRef, ...] = ()
    """Everything else that lay in the folder; kept, never staged."""
    profile_source: JsonDict = Field(default_factory=dict)
    tools_source: Any = None
    """``tools.yaml`` as read: a mapping or a bare list; None: there was none."""

    def script(self, path: str) -> FileRef | None:
        """The grader that a task's ``tools_evaluation_path`` names, if it lies in this persona's folder."""
        below = script_path(self.user_id, path)
        return next((file for file in self.scripts if file.path == below), None)


def script_path(user_id: str, path: str) -> str:
    """A task's ``tools_evaluation_path`` as a path below the folder of the persona ``user_id``."""
    return path.strip().removeprefix("./").removeprefix(f"data/{user_id}/")

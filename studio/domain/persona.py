"""A persona: the simulated user and the tools and skills of their assistant (paper, section 3.2)."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import Field

from studio.domain.app_data import FOLDER
from studio.domain.base import About, FileRef, JsonDict, Spec
from studio.domain.web_pages import is_web_page


class Skill(Spec):
    """A folder the agent can read on demand; ``name`` is the folder's name."""

    name: str
    files: tuple[FileRef, ...] = ()


class PersonaSpec(Spec):
    """A persona with everything its tasks share. The agent sees only tools and skills."""

    user_id: Annotated[str, About("the user's id")]
    """The folder's name, case preserved."""
    name: Annotated[str, About("the name")] = ""
    role_text: Annotated[str, About("the role", page="who they are")] = ""
    occupation: Annotated[str, About("the occupation")] = ""
    routines: Annotated[str, About("the routines")] = ""
    working_style: Annotated[str, About("the working style")] = ""
    attributes: Annotated[JsonDict, About("the facts")] = Field(default_factory=dict)
    """Short facts for reference (age, role, organisation, tone, habits); the texts are authoritative."""
    preferences: Annotated[JsonDict, About("the preferences")] = Field(default_factory=dict)
    long_term_goals: Annotated[tuple[Any, ...], About("the long-term goals")] = ()
    """Usually sentences; stored as read."""
    tools: Annotated[tuple[str, ...], About("the tools")] = ()
    """Names from ``tools.yaml``, trimmed and without duplicates."""
    skills: Annotated[tuple[Skill, ...], About("the skills", identity="name")] = ()
    scripts: Annotated[tuple[FileRef, ...], About("the grader scripts", identity="path")] = ()
    """Grader scripts, with paths below the persona's folder (``scripts/x.py``)."""
    files: Annotated[tuple[FileRef, ...], About("other files", identity="path")] = ()
    """All other files of the folder; stored, never staged."""
    profile_source: Annotated[JsonDict, About("keys found only in the imported profile")] = Field(default_factory=dict)
    tools_source: Annotated[Any, About("the format of the tools file")] = None
    """``tools.yaml`` as read: a mapping or a list; None if there was none."""

    @property
    def app_data(self) -> dict[str, FileRef]:
        """What simulated apps hold at the episode's start: app → its file, ``apps/<app>.json``."""
        files = ((PurePosixPath(file.path), file) for file in self.files if file.path.endswith(".json"))
        return {path.stem: file for path, file in files if path.parent.as_posix() == FOLDER}

    @property
    def web_pages(self) -> tuple[FileRef, ...]:
        """What stands for the web: ``web/<name>.md``."""
        return tuple(file for file in self.files if is_web_page(file.path))

    def script(self, path: str) -> FileRef | None:
        below = script_path(self.user_id, path)
        return next((file for file in self.scripts if file.path == below), None)


def script_path(user_id: str, path: str) -> str:
    """A task's ``tools_evaluation_path`` as a path below the folder of the persona ``user_id``."""
    return path.strip().removeprefix("./").removeprefix(f"data/{user_id}/")

"""Validation of drafts before they are stored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from pydantic_core import PydanticSerializationError

from studio.domain.archive import why_unsafe
from studio.domain.base import FileRef
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
ID_LENGTH = 200
PATH_LENGTH = 500


class StaleDraftError(Exception):
    """Someone else saved first; ``current`` is the newest version."""

    def __init__(self, current: int) -> None:
        super().__init__("Someone else has saved this in the meantime. Compare, then save again.")
        self.current = current


class DraftError(ValueError):
    """A draft that cannot be saved. ``field`` and ``item``, a 1-based position, locate the problem; the message says
    what to do."""

    def __init__(self, field: str, message: str, item: int | None = None) -> None:
        super().__init__(message)
        self.field = field
        self.item = item


def validate_storable(spec: TaskSpec | PersonaSpec) -> None:
    """Raise DraftError for text that PostgreSQL cannot store and for values out of range."""
    if isinstance(spec, TaskSpec):
        for field, message, fix in spec.size_problems():
            raise DraftError(field, f"{message} {fix}")
    _validate_characters(spec)
    if isinstance(spec, TaskSpec):
        _validate_task(spec)
    else:
        _validate_long("user_id", spec.user_id, ID_LENGTH)
        _validate_long("name", spec.name, ID_LENGTH)
        if not spec.user_id.strip():
            raise DraftError("user_id", "Enter an id for the persona; it is used as its folder name.")
        _validate_folder("user_id", spec.user_id)
        for position, tool in enumerate(spec.tools, 1):
            _validate_long("tools", tool, ID_LENGTH, position)
        for position, skill in enumerate(spec.skills, 1):
            _validate_long("skills", skill.name, ID_LENGTH, position)
            _validate_folder("skills", skill.name, position)
            _validate_paths("skills", skill.files)
        _validate_paths("scripts", spec.scripts)
        _validate_paths("files", spec.files)


def _validate_characters(spec: TaskSpec | PersonaSpec) -> None:
    """Fields are searched only to name the invalid one."""
    with suppress(PydanticSerializationError):  # half of a surrogate pair, which UTF-8 has not
        if "\\u0000" not in spec.model_dump_json():
            return
    for name, value in spec.model_dump().items():
        for inner in _texts(value):
            if match := UNSTORABLE.search(inner):
                raise DraftError(name, f"This contains the character U+{ord(match[0]):04X}: remove it.")


def validate_unused_id(task_id: str, others: Iterable[str]) -> None:
    """Raise DraftError if another task has this id, ignoring case, since ids are folder names."""
    for other in others:
        if other.casefold() == task_id.casefold():
            raise DraftError("task_id", f"The episode already has a task “{other}”. Choose another id.")


def _validate_task(spec: TaskSpec) -> None:
    if not spec.task_id.strip():
        raise DraftError("task_id", "Enter an id for the task; it is used as its folder name.")
    for name in ("task_id", "user_id", "environment_id", "task_type", "group"):
        _validate_long(name, getattr(spec, name), ID_LENGTH)
    _validate_long("category", spec.category, 20)
    _validate_long("grader_script", spec.grader_script, PATH_LENGTH)
    for position, item in enumerate(spec.checklist, 1):
        if not 0 < item.weight < float("inf"):
            raise DraftError("checklist", "Enter a weight greater than 0.", position)
    for name in ("intents", "checklist"):
        uids = [item.uid for item in getattr(spec, name)]
        if len(set(uids)) < len(uids):
            raise DraftError(
                name,
                "Two items have the same internal id. Reload the page and save again.",
            )
    _validate_folder("task_id", spec.task_id)
    _validate_paths("assets", spec.assets)
    _validate_artifacts(spec)
    _validate_dependencies(spec)


def _validate_artifacts(spec: TaskSpec) -> None:
    """Any text may describe an artifact, but a reference is exported as a file and needs a valid name."""
    seen = set()
    for position, artifact in enumerate(spec.expected_artifacts, 1):
        _validate_long("expected_artifacts", artifact.path, PATH_LENGTH, position)
        if not artifact.path.strip():
            raise DraftError("expected_artifacts", "Give the file a name.", position)
        if artifact.path in seen:
            raise DraftError("expected_artifacts", f"“{artifact.path}” is listed twice. Remove one.", position)
        seen.add(artifact.path)
        if artifact.reference and (why := why_unsafe(artifact.path)):
            raise DraftError("expected_artifacts", f"“{artifact.path}” is not a valid file name. {why}", position)


def _validate_dependencies(spec: TaskSpec) -> None:
    seen = set()
    for position, dependency in enumerate(spec.depends_on, 1):
        if dependency.task_id == spec.task_id:
            raise DraftError(
                "depends_on",
                "A task cannot depend on itself. Remove this dependency.",
                position,
            )
        if dependency.task_id in seen:
            raise DraftError(
                "depends_on",
                "This task is listed twice. Remove one of the two.",
                position,
            )
        seen.add(dependency.task_id)


def _validate_folder(field: str, name: str, item: int | None = None) -> None:
    if why := why_unsafe(name) or ("The name contains a slash." if "/" in name else ""):
        raise DraftError(field, f"“{name}” is not a valid folder name. {why}", item)


def _validate_paths(field: str, files: Sequence[FileRef]) -> None:
    seen: set[str] = set()
    for position, file in enumerate(files, 1):
        _validate_long(field, file.path, PATH_LENGTH, position)
        if why := why_unsafe(file.path):
            raise DraftError(field, f"“{file.path}” is not a valid file name. {why}", position)
        if file.path in seen:
            raise DraftError(field, f"There are two files “{file.path}”. Rename or remove one.", position)
        seen.add(file.path)


def _validate_long(field: str, text: str, limit: int, item: int | None = None) -> None:
    if len(text) > limit:
        raise DraftError(
            field,
            f"This has {len(text)} characters; the limit is {limit}. Shorten it.",
            item,
        )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(key)
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)

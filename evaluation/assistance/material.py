"""The material that a prompt may show and an answer may refer to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.assistance.kinds import ROW_FIELDS, WHOLE_TASK
from evaluation.assistance.proposals import row_number, text_of
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec


@dataclass(frozen=True)
class Material:
    task: TaskSpec
    persona: PersonaSpec
    files: Mapping[str, str] = field(default_factory=dict)
    """Text of the task's files, by path."""
    earlier: Mapping[str, str] = field(default_factory=dict)
    """Titles of the earlier tasks of the episode, by task id."""
    given_away: Sequence[tuple[int, str]] = ()
    """Leaks that the checks find in the request: 1-based intent number, and the leaking text."""


def translatable_texts(task: TaskSpec, field: str) -> dict[str, str]:
    """Non-empty texts of a field, or of the whole task, by the id that the answer must repeat (``intents.2``)."""
    texts: dict[str, str] = {}
    for name in ("title", "description", "initial_request", "reference_workflow"):
        if field in (WHOLE_TASK, name):
            texts[name] = getattr(task, name)
    for name in ROW_FIELDS:
        if field in (WHOLE_TASK, name):
            rows = [(row.uid, text_of(task, name, row.uid) or "") for row in getattr(task, name)]
            texts |= {f"{name}.{row_number(task, name, uid)}": text for uid, text in rows}
    return {name: text for name, text in texts.items() if text.strip()}


def available_tools(material: Material) -> tuple[str, ...]:
    return tuple(name for name in material.persona.tools if not material.task.tools or name in material.task.tools)

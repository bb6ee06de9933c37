"""What a model may look at when it helps, and what of it can be named in an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.assistance.kinds import ROW_FIELDS, WHOLE
from evaluation.assistance.proposals import number_of, text_at
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec


@dataclass(frozen=True)
class Material:
    """What a model may look at."""

    task: TaskSpec
    persona: PersonaSpec
    files: Mapping[str, str] = field(default_factory=dict)
    """Texts of the task's files, by path."""
    earlier: Mapping[str, str] = field(default_factory=dict)
    """Titles of the sessions before it, by task id."""
    given_away: Sequence[tuple[int, str]] = ()
    """What the checks say the request gives away: 1-based intents, and the words."""


def texts_of(task: TaskSpec, field: str) -> dict[str, str]:
    """What a translation of a field, or of the whole task, is about, by names that a model gives back."""
    texts: dict[str, str] = {}
    for name in ("title", "description", "initial_request", "reference_workflow"):
        if field in (WHOLE, name):
            texts[name] = getattr(task, name)
    for name in ROW_FIELDS:
        if field in (WHOLE, name):
            rows = [(one.uid, text_at(task, name, one.uid) or "") for one in getattr(task, name)]
            texts |= {f"{name}.{number_of(task, name, uid)}": text for uid, text in rows}
    return {name: text for name, text in texts.items() if text.strip()}


def tools_of(material: Material) -> tuple[str, ...]:
    return tuple(name for name in material.persona.tools if not material.task.tools or name in material.task.tools)

"""The material that a prompt may show and an answer may refer to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.assistance.kinds import ROW_FIELDS, WHOLE_TASK
from evaluation.assistance.proposals import row_number, text_of
from studio.domain.app_data import AppCard
from studio.domain.checks.questions import is_written
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.domain.tool_catalog import ToolCard


@dataclass(frozen=True)
class Material:
    task: TaskSpec
    persona: PersonaSpec
    files: Mapping[str, str] = field(default_factory=dict)
    """Text of the task's files as the agent reads them, by path."""
    earlier: Mapping[str, TaskSpec] = field(default_factory=dict)
    """The earlier tasks of the episode, by task id."""
    given_away: Sequence[tuple[int, str]] = ()
    """What the request gives away, as the findings have it: 1-based intent number, and the words that say it."""
    tools: Sequence[ToolCard] = ()
    """What the agent can call in this task."""
    apps: Mapping[str, AppCard] = field(default_factory=dict)
    """The simulated apps those tools belong to, with the persona's data."""
    guidelines: str = ""
    """The studio's own for what is proposed."""
    dismissed: Sequence[str] = ()
    """Texts proposed before in the same place, which an author did not want."""

    @property
    def written_intents(self) -> list[tuple[int, str]]:
        """Numbers and texts of the hidden intents that are no blanks of a template."""
        texts = ((number, intent.content) for number, intent in enumerate(self.task.intents, 1))
        return [(number, text) for number, text in texts if is_written(text)]


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


def available_tools(bound: Iterable[str], task: TaskSpec) -> tuple[str, ...]:
    """``bound``: the persona's."""
    return tuple(name for name in bound if not task.tools or name in task.tools)

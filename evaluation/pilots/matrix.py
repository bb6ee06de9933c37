"""A pilot's sessions as a table of tasks and runs, and its progress."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import BigIntegerField, Count, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from evaluation.models import Pilot, Session

ORDER = ("finished", "failed", "error", "running", "waiting", "cancelled")
OVER = ("finished", "failed", "cancelled")
PARTS = ("agent", "user", "judge")
MAX_REASONS = 3


@dataclass
class TaskRow:
    task_id: str
    title: str
    position: int
    cells: list[Any] = field(default_factory=list)
    """Sessions, in the order of the runs."""


@dataclass
class PersonaRows:
    name: str
    rows: list[TaskRow] = field(default_factory=list)


@dataclass(frozen=True)
class PilotProgress:
    """A pilot's progress over all its sessions."""

    states: list[tuple[str, int]]
    """Number of sessions by state."""
    turns: int
    tokens: int
    reasons: list[tuple[str, int]]
    """Why infrastructure failures stopped sessions, most frequent first."""

    @property
    def total(self) -> int:
        return sum(number for _, number in self.states)

    @property
    def over(self) -> int:
        return sum(number for state, number in self.states if state in OVER)

    @property
    def stopped(self) -> bool:
        return any(state == Session.State.ERROR for state, _ in self.states)


def session_matrix(sessions: Iterable[Any]) -> list[PersonaRows]:
    personas: dict[int, PersonaRows] = {}
    rows: dict[tuple[int, str], TaskRow] = {}
    for session in sessions:
        group = personas.setdefault(session.persona_id, PersonaRows(session.persona_name or session.persona_user))
        key = (session.persona_id, session.task_id)
        if key not in rows:
            rows[key] = TaskRow(
                session.task_id, (session.task_title or "").strip() or session.task_id, session.position
            )
            group.rows.append(rows[key])
        rows[key].cells.append(session)
    return list(personas.values())


def pilot_progress(pilot: Pilot) -> PilotProgress:
    """In two queries, regardless of the number of sessions."""
    sessions = Session.objects.filter(run__pilot=pilot).order_by()
    usage = {part: Sum(Cast(KeyTextTransform(part, "tokens"), BigIntegerField())) for part in PARTS}
    by_state = {
        row["state"]: row
        for row in sessions.values("state").annotate(number=Count("pk"), taken=Sum("turn_count"), **usage)
    }
    failures = sessions.filter(state=Session.State.ERROR).exclude(reason="").values_list("reason")
    return PilotProgress(
        states=[(state, by_state[state]["number"]) for state in ORDER if state in by_state],
        turns=_total(by_state.values(), ["taken"]),
        tokens=_total(by_state.values(), PARTS),
        reasons=list(failures.annotate(number=Count("pk")).order_by("-number", "reason")[:MAX_REASONS]),
    )


def _total(rows: Iterable[Mapping[str, Any]], names: Sequence[str]) -> int:
    return sum(row[name] or 0 for row in rows for name in names)

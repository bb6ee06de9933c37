"""A pilot's sessions as a table: a line for each task, a column for each run; and how far all of them are."""

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
PLAYERS = ("agent", "user", "judge")
MOST_REASONS = 3


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
    """How far a pilot is, over all its sessions."""

    states: list[tuple[str, int]]
    """How many sessions are in which state."""
    turns: int
    tokens: int
    reasons: list[tuple[str, int]]
    """Why sessions stopped by our own failures did, the most frequent first."""

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
    """``sessions`` as ``queries.sessions_of`` gives them."""
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
    """Two queries, however many sessions."""
    sessions = Session.objects.filter(run__pilot=pilot).order_by()
    spent = {part: Sum(Cast(KeyTextTransform(part, "tokens"), BigIntegerField())) for part in PLAYERS}
    found = {
        row["state"]: row
        for row in sessions.values("state").annotate(number=Count("pk"), taken=Sum("turn_count"), **spent)
    }
    failures = sessions.filter(state=Session.State.ERROR).exclude(reason="").values_list("reason")
    return PilotProgress(
        states=[(state, found[state]["number"]) for state in ORDER if state in found],
        turns=_total(found.values(), ["taken"]),
        tokens=_total(found.values(), PLAYERS),
        reasons=list(failures.annotate(number=Count("pk")).order_by("-number", "reason")[:MOST_REASONS]),
    )


def _total(rows: Iterable[Mapping[str, Any]], names: Sequence[str]) -> int:
    return sum(row[name] or 0 for row in rows for name in names)

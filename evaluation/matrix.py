"""A pilot's sessions as a table: a line for each task, a column for each run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation.models import Session

ORDER = ("finished", "failed", "error", "running", "waiting", "cancelled")


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
class Matrix:
    personas: list[PersonaRows]
    runs: range
    states: list[tuple[str, int]]
    """How many sessions are in which state."""
    total: int
    over: int
    turns: int
    tokens: int
    reasons: list[tuple[str, int]]
    """Why sessions stopped by our own failures did, the most frequent first."""


def matrix_of(sessions: Sequence[Any], runs: int) -> Matrix:
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
    states = Counter(session.state for session in sessions)
    reasons = Counter(session.reason for session in sessions if session.state == Session.State.ERROR and session.reason)
    over = sum(states[state] for state in ("finished", "failed", "cancelled"))
    return Matrix(
        personas=list(personas.values()),
        runs=range(1, runs + 1),
        states=[(state, states[state]) for state in ORDER if states[state]],
        total=len(sessions),
        over=over,
        turns=sum(session.turn_count for session in sessions),
        tokens=sum(sum(session.tokens.get(part, 0) for part in ("agent", "user", "judge")) for session in sessions),
        reasons=reasons.most_common(3),
    )

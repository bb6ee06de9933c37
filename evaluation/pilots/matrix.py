"""A pilot's sessions as a table of tasks and runs, and its progress."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, Max, Min, Sum
from django.utils import timezone

from evaluation.call_records import calls_in_flight
from evaluation.models import Pilot, Session
from evaluation.models.pilots import ROLES
from evaluation.models.sessions import PARTS
from studio.models import Event

ADVICE = {
    "MissingKeyError": "Set the variable on every machine with a worker, restart the workers, then retry.",
    "KeyRejectedError": "Check the key with the provider, set it again on every machine with a worker, then retry.",
    "QuotaExceededError": "Add credit to the account at the provider, then retry.",
    "RateLimitError": "Wait, or lower the endpoint’s concurrent requests in Settings, then retry.",
    "EndpointUnreachableError": "Check that the service runs and that workers can reach its address, then retry.",
    "EndpointAddressError": "An administrator can allow the address with STUDIO_MODEL_NETWORKS. Then retry.",
    "EndpointTimeoutError": "The service is too slow or overloaded. Retry later; a new pilot takes a longer timeout "
    "from the endpoint’s settings.",
    "ServerError": "The service itself fails. Retry once it works again.",
    "TruncatedAnswerError": "The connection breaks. Check proxies between the workers and the service, then retry.",
    "UnreadableAnswerError": "What answers does not speak the OpenAI API. Check the endpoint’s address.",
    "RequestRejectedError": "Correct the endpoint’s model name or parameters, then start a new pilot.",
    "ContextTooLongError": "The conversation is too long for this model. Choose one that reads more for this part.",
    "ContextCutError": "Give the model a longer context at its server (Ollama: OLLAMA_CONTEXT_LENGTH), then retry.",
    "ContentFilteredError": "Choose a model whose service lets such tasks through, or change the task.",
    "UnusableJsonError": "The model does not answer in the form asked for. Choose another for it in a new pilot.",
    "MissingContentError": "A file of the benchmark is not stored. Restore it, or upload it to the task again.",
    "BudgetSpentError": "Raise the budget, then retry.",
    "SandboxUnavailableError": "Make the sandbox work on the workers (docs/operations.md), then retry.",
    "WorkerLostError": "Look for the cause in the workers’ logs, often too little memory, then retry.",
}
DEFECT = "This looks like a defect of the studio. Report it with the worker’s log; retrying may help."
NAMES = {"agent": "agent", "user_model": "user model", "judge": "judge"}
ORDER = ("finished", "failed", "error", "running", "waiting", "cancelled")
OVER = ("finished", "failed", "cancelled")
MAX_REASONS = 3
KNOWN_SESSIONS = 3
"""Fewer that are over say nothing about the rest."""


@dataclass
class TaskRow:
    task_id: str
    title: str
    position: int
    arm: str
    """Of an ablation."""
    cells: list[Any] = field(default_factory=list)
    """Sessions, in the order of the runs."""


@dataclass
class PersonaRows:
    name: str
    rows: list[TaskRow] = field(default_factory=list)


@dataclass(frozen=True)
class Reason:
    text: str
    number: int
    """Of sessions."""
    advice: str
    """Empty while all of them are tried again."""


@dataclass(frozen=True)
class Left:
    """What is left of a pilot, going by its sessions that are over."""

    known: int
    """Sessions that the estimate goes by."""
    calls: int
    tokens: int
    cost: Decimal
    minutes: int | None


@dataclass(frozen=True)
class PilotProgress:
    """A pilot's progress over all its sessions."""

    states: list[tuple[str, int]]
    """Number of sessions by state."""
    turns: int
    tokens: int
    tokens_by_part: dict[str, int]
    """By agent, user and judge."""
    calls: int
    cost: Decimal
    unpriced: int
    """Calls of unknown cost."""
    reasons: list[Reason]
    """Why technical failures stopped sessions, most frequent first."""
    next_try: datetime | None
    """Of the sessions that are tried again by themselves."""
    left: Left | None

    @property
    def total(self) -> int:
        return sum(number for _, number in self.states)

    @property
    def over(self) -> int:
        return sum(number for state, number in self.states if state in OVER)

    def number(self, state: str) -> int:
        return dict(self.states).get(state, 0)


def session_matrix(sessions: Iterable[Any]) -> list[PersonaRows]:
    personas: dict[int, PersonaRows] = {}
    rows: dict[tuple[int, str, str], TaskRow] = {}
    for session in sessions:
        group = personas.setdefault(session.persona_id, PersonaRows(session.persona_name or session.persona_user))
        key = (session.persona_id, session.task_id, session.arm)
        if key not in rows:
            title = (session.task_title or "").strip() or session.task_id
            rows[key] = TaskRow(session.task_id, title, session.position, session.arm)
            group.rows.append(rows[key])
        rows[key].cells.append(session)
    return list(personas.values())


@dataclass(frozen=True)
class Savings:
    """What the sessions taken over used where they ran."""

    sessions: int
    calls: int
    tokens: int
    cost: Decimal


def saved_by_taking_over(pilot: Pilot) -> Savings | None:
    if pilot.base_id is None:
        return None
    usage = {part: Sum(f"{part}_tokens") for part in PARTS}
    row = pilot.taken_sessions.order_by().aggregate(number=Count("pk"), asked=Sum("calls"), paid=Sum("cost"), **usage)
    return Savings(row["number"], row["asked"] or 0, _total([row], PARTS), row["paid"] or Decimal(0))


def pilot_progress(pilot: Pilot) -> PilotProgress:
    """In three queries, regardless of the number of sessions."""
    sessions = Session.objects.filter(run__pilot=pilot).order_by()
    usage = {part: Sum(f"{part}_tokens") for part in PARTS}
    by_state = {
        row["state"]: row
        for row in sessions.values("state").annotate(
            number=Count("pk"),
            taken=Sum("turn_count"),
            asked=Sum("calls"),
            paid=Sum("cost"),
            unknown=Sum("unpriced"),
            **usage,
        )
    }
    stopped = sessions.filter(state=Session.State.ERROR)
    failures = stopped.exclude(reason="").values_list("reason", "failure")
    return PilotProgress(
        states=[(state, by_state[state]["number"]) for state in ORDER if state in by_state],
        turns=_total(by_state.values(), ["taken"]),
        tokens=_total(by_state.values(), PARTS),
        tokens_by_part={part: _total(by_state.values(), [part]) for part in PARTS},
        calls=_total(by_state.values(), ["asked"]),
        cost=sum((row["paid"] or Decimal(0) for row in by_state.values()), start=Decimal(0)),
        unpriced=_total(by_state.values(), ["unknown"]),
        reasons=[
            Reason(text, number, "" if retried == number else advice_for(kind))
            for text, kind, number, retried in failures.annotate(
                number=Count("pk"), retried=Count("retry_at")
            ).order_by("-number", "reason")[:MAX_REASONS]
        ],
        next_try=stopped.aggregate(first=Min("retry_at"))["first"] if pilot.state == Pilot.State.RUNNING else None,
        left=_estimate_left(pilot, by_state),
    )


def _estimate_left(pilot: Pilot, by_state: Mapping[str, Mapping[str, Any]]) -> Left | None:
    """None before KNOWN_SESSIONS are over, and when nothing is left."""
    done = [by_state[state] for state in ("finished", "failed") if state in by_state]
    known = _total(done, ["number"])
    left = sum(row["number"] for state, row in by_state.items() if state not in OVER)
    if known < KNOWN_SESSIONS or not left:
        return None
    share = Decimal(left) / known
    return Left(
        known,
        round(_total(done, ["asked"]) * share),
        round(_total(done, PARTS) * share),
        sum((row["paid"] or Decimal(0) for row in done), start=Decimal(0)) * share,
        _minutes_left(pilot, left) if pilot.state == Pilot.State.RUNNING else None,
    )


def _minutes_left(pilot: Pilot, left: int) -> int | None:
    """By the sessions that ended since the pilot last went on: it does not work while it is paused."""
    since = _going_since(pilot)
    done = Session.objects.filter(run__pilot=pilot, state__in=("finished", "failed"), ended_at__gte=since).count()
    if done < KNOWN_SESSIONS:
        return None
    passed = (timezone.now() - since).total_seconds()
    return max(1, round(left / done * passed / 60))


def _going_since(pilot: Pilot) -> datetime:
    resumed = Event.objects.filter(
        benchmark=pilot.benchmark_id, verb__in=("resumed", "retried"), at__gte=pilot.created_at, data__pilot=pilot.pk
    ).aggregate(last=Max("at"))
    return resumed["last"] or pilot.created_at


def _total(rows: Iterable[Mapping[str, Any]], names: Sequence[str]) -> int:
    return sum(row[name] or 0 for row in rows for name in names)


def advice_for(kind: str) -> str:
    """``kind`` is the exception's class name; empty for sessions that did not run here."""
    return ADVICE.get(kind, DEFECT if kind else "Fix the cause, then retry.")


def calls_by_role(pilot: Pilot) -> list[tuple[str, int]]:
    """Without those of none. An endpoint that serves several roles is named once, for the first."""
    endpoints = {(pilot.endpoint(role).base_url, pilot.endpoint(role).model): role for role in reversed(ROLES)}
    counted = [(NAMES[role], calls_in_flight(pilot, role)) for role in endpoints.values()]
    return [(name, number) for name, number in counted if number]

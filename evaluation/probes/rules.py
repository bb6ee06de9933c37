"""Rules and grader scripts on every saved version: what they alone say is stored by content, and costs nothing."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import asdict

from django.db import transaction
from django.db.models import Exists, OuterRef

from evaluation.feasibility.kinds import ProbedItem, kinds_for
from evaluation.feasibility.turns import decide_turn
from evaluation.models import Probe, ReferenceSolution
from evaluation.probes.validation import ProbedEpisode, load_probed
from evaluation.protocol.given import GivenTurn
from evaluation.protocol.participants import InfrastructureError
from studio.celery import enqueue
from studio.domain.task import TaskSpec
from studio.models import Blob, Persona, Task, TaskState
from studio.personas.tool_servers import policy

logger = logging.getLogger(__name__)
PROBE_RULES = "evaluation.tasks.probe_rules"
AT_ONCE = 20
"""Tasks of one sweep."""
SEEN = "seen"
"""Kind of the row that says that a content was looked at."""


def probe_rules(tasks: Iterable[int]) -> None:
    """Store what rules say of these tasks, by key, as they are now. Idempotent; without a sandbox, nothing is stored of
    those that have a grader script."""
    rows = Task.objects.filter(pk__in=list(tasks)).values_list("persona", "pk")
    by_persona: dict[int, set[int]] = {}
    for persona, pk in rows:
        by_persona.setdefault(persona, set()).add(pk)
    for row in Persona.objects.filter(pk__in=by_persona).select_related("benchmark"):
        place = load_probed(row)
        for task, spec in place.tasks:
            if task.pk in by_persona[row.pk]:
                try:
                    _probe(place, task, spec)
                except InfrastructureError as error:
                    logger.warning("Task %d was not probed: %s", task.pk, error)


def probe_rules_later(tasks: Iterable[int]) -> None:
    """In a worker, after the commit."""
    keys = list(tasks)
    transaction.on_commit(lambda: enqueue(PROBE_RULES, keys), robust=True)


def sweep_rules() -> None:
    """Those saved since the last sweep, a few at a time."""
    seen = Probe.objects.filter(task=OuterRef("pk"), content=OuterRef("content"), kind=SEEN)
    placed = Task.objects.filter(~Exists(seen), position__isnull=False).exclude(state=TaskState.RETIRED)
    probe_rules(placed.order_by("pk").values_list("pk", flat=True)[:AT_ONCE])


def _probe(place: ProbedEpisode, row: Task, task: TaskSpec) -> None:
    ruled = bool(task.grader_script) or any(item.grader == "rule" for item in task.scored_items)
    for kind in kinds_for(task, place.episode) if ruled else ():
        turn = None if kind.asks else place.given(kind.name, task)
        if turn is not None:
            solution = place.solved[task.task_id] if kind.name == "reference" else None
            _store(place, row, task, kind.name, turn, solution)
    Probe.objects.bulk_create([Probe(task=row, content=row.content, kind=SEEN, items=[])], ignore_conflicts=True)


def _store(
    place: ProbedEpisode,
    row: Task,
    task: TaskSpec,
    kind: str,
    turn: GivenTurn,
    solution: ReferenceSolution | None,
) -> None:
    place_of = {"task": row, "content": row.content, "kind": kind, "solution": solution}
    if Probe.objects.filter(validation=None, **place_of).exists():
        return
    items: list[ProbedItem] = decide_turn(task, place.episode, turn, place.solutions, Blob.objects.read, policy())
    Probe.objects.bulk_create([Probe(**place_of, items=[asdict(item) for item in items])], ignore_conflicts=True)

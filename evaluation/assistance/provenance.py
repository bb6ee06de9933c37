"""The origin of each text in a task: an author's own words, a model's, or a model's that people edited.

A row's uid outlives edits, moves, copies and imports of what was exported here, and so does its origin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from evaluation.assistance.kinds import ROW_FIELDS
from evaluation.assistance.proposals import row_number, text_of
from evaluation.models import ProposalDecision
from studio.domain.task import TaskSpec
from studio.domain.text.coverage import word_overlap
from studio.drafts.load import load_tasks
from studio.models import Benchmark, Task

KEPT = 0.25
"""Share of a proposed text's words that must still be there; with fewer, the words are the author's own."""
TASKS_AT_ONCE = 500

Place = tuple[str, str]
"""Field and uid of a row, empty for a whole field."""


@dataclass(frozen=True)
class ProposalOrigin:
    """The latest accepted proposal for a row or field whose words still stand there."""

    model: str
    scripted: bool
    by: str
    version: int | None
    accepted: str
    """The text that was accepted."""
    edited: bool
    """Whether people changed the proposed text, before accepting it or since."""


def load_origins(task: Task) -> dict[Place, ProposalOrigin]:
    return origins_in(load_tasks([task.pk]))[task.pk]


def origins_in(specs: Mapping[int, TaskSpec]) -> dict[int, dict[Place, ProposalOrigin]]:
    """Of the texts of these tasks, by task key; what is not in it are people's own words. One query for some hundred
    tasks."""
    found: dict[int, dict[Place, ProposalOrigin]] = {pk: {} for pk in specs}
    keys = list(specs)
    for start in range(0, len(keys), TASKS_AT_ONCE):
        part = keys[start : start + TASKS_AT_ONCE]
        tasks_of: dict[str, list[int]] = {}
        for pk in part:
            uids = [row.uid for row in specs[pk].intents] + [row.uid for row in specs[pk].checklist]
            for uid in uids:
                tasks_of.setdefault(uid, []).append(pk)
        for decision in _accepted(Q(uid__in=[*tasks_of]) | Q(uid=None, proposal__task__in=part)):
            place = (decision.field, str(decision.uid or ""))
            for pk in tasks_of.get(place[1], ()) if decision.uid else [decision.proposal.task_id]:
                current = text_of(specs[pk], *place)
                found[pk].pop(place, None)
                if current and word_overlap(_proposed(decision), current) >= KEPT:
                    found[pk][place] = _origin(decision, current)
    return found


def _accepted(which: Q) -> QuerySet[ProposalDecision]:
    """Accepted texts, the newest last. The criterion of an accepted rule is none: an author wrote it."""
    accepted = ProposalDecision.objects.filter(which, accepted=True, revision__isnull=False)
    return accepted.exclude(proposal__kind="rule").select_related("by", "proposal", "revision").order_by("pk")


def _proposed(decision: ProposalDecision) -> str:
    rows = decision.proposal.rows or ()
    return str(rows[decision.row]["text"])


def _origin(decision: ProposalDecision, current: str) -> ProposalOrigin:
    proposal = decision.proposal
    return ProposalOrigin(
        proposal.model,
        proposal.scripted,
        str(decision.by),
        decision.revision.number if decision.revision else None,
        decision.text,
        current != _proposed(decision),
    )


@dataclass(frozen=True)
class ScriptedText:
    """A field or row that still has the text a scripted model proposed."""

    task_pk: int
    location: str
    """``intent 2``, ``item 1``, ``title``."""


def tasks_with_scripted_texts(benchmark: Benchmark) -> set[int]:
    """Tasks in which text of a scripted model was accepted at some time."""
    of_benchmark = Q(proposal__task__persona__benchmark=benchmark, proposal__scripted=True)
    return set(_accepted(of_benchmark).values_list("proposal__task_id", flat=True))


def scripted_texts(tasks: Iterable[int]) -> Iterator[ScriptedText]:
    """In the current version of these tasks, in the order of their texts."""
    specs = load_tasks(tasks)
    for pk, origins in origins_in(specs).items():
        spec = specs[pk]
        for (field, uid), origin in sorted(origins.items(), key=lambda each: _order(spec, each[0])):
            if origin.scripted and text_of(spec, field, uid) == origin.accepted:
                number = row_number(spec, field, uid)
                noun = "intent" if field == "intents" else "item"
                yield ScriptedText(
                    pk, f"{noun} {number}" if number else field.replace("_", " ").replace("initial ", "")
                )


def _order(spec: TaskSpec, place: Place) -> tuple[bool, str, int]:
    field, uid = place
    return field in ROW_FIELDS, field, row_number(spec, field, uid) or 0

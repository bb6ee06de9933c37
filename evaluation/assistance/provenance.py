"""The origin of each text in a task: an author's own words, a model's, or a model's that people edited.

A row's uid outlives edits, moves, copies and imports of what was exported from its benchmark, and so does its origin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import Q, QuerySet

from evaluation.assistance.kinds import ROW_FIELDS
from evaluation.assistance.proposals import row_number, text_of
from evaluation.models import ProposalDecision
from studio.domain.task import TaskSpec
from studio.domain.text.coverage import word_overlap
from studio.drafts.load import load_tasks
from studio.models import Benchmark, Event, Task
from studio.tasks.delete import ever_in

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
    """Of this task; None if the text was accepted in another one."""
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
        for decision in _told_to(part, _accepted(Q(uid__in=[*tasks_of]) | Q(uid=None, proposal__task__in=part))):
            place = (decision.field, str(decision.uid or ""))
            for pk in tasks_of.get(place[1], ()) if decision.uid else [decision.proposal.task_id]:
                current = text_of(specs[pk], *place)
                found[pk].pop(place, None)
                if current and word_overlap(_proposed(decision), current) >= KEPT:
                    found[pk][place] = _origin(decision, current, pk)
    return found


def _told_to(tasks: Sequence[int], decisions: QuerySet[ProposalDecision]) -> Iterator[ProposalDecision]:
    """Those of these tasks' benchmark, or of a version that one of them was copied from. Anybody can write a uid into
    a file and import it, which must tell nothing of other benchmarks."""
    here = ever_in(Benchmark.objects.filter(personas__tasks__in=tasks))
    rows = list(decisions.annotate(is_here=Q(proposal__task__in=here)))
    copied = {} if all(row.is_here for row in rows) else _copied_from(Q(task__in=tasks))
    for row in rows:
        version = row.revision.number if row.revision else 0
        if row.is_here or version <= copied.get(row.proposal.task_id, 0):
            yield row


def _copied_from(copies: Q) -> dict[int, int]:
    """Tasks that others are copies of, however many times over: the newest version copied, by task key."""
    found: dict[int, int] = {}
    while True:
        events = Event.objects.filter(copies, verb__in=("copied", "moved")).order_by()
        rows = [(data["from"], data["from_version"]) for data in events.values_list("data", flat=True)]
        newer = [(pk, version) for pk, version in sorted(rows) if version > found.get(pk, 0)]
        if not newer:
            return found
        found.update(newer)
        copies = Q(task__in=[pk for pk, _ in newer])


def _accepted(which: Q) -> QuerySet[ProposalDecision]:
    """Accepted texts, the newest last. The criterion of an accepted rule is none: an author wrote it."""
    accepted = ProposalDecision.objects.filter(which, accepted=True, revision__isnull=False)
    rows = accepted.exclude(proposal__kind="rule").select_related("by", "proposal", "revision").order_by("pk")
    return rows.defer("revision__spec", "revision__pieces", "proposal__findings", "proposal__options")


def _proposed(decision: ProposalDecision) -> str:
    rows = decision.proposal.rows or ()
    return str(rows[decision.row]["text"])


def _origin(decision: ProposalDecision, current: str, task: int) -> ProposalOrigin:
    proposal = decision.proposal
    return ProposalOrigin(
        proposal.model,
        proposal.scripted,
        str(decision.by),
        decision.revision.number if decision.revision and proposal.task_id == task else None,
        decision.text,
        current != _proposed(decision),
    )


@dataclass(frozen=True)
class ScriptedText:
    """A field or row that still has the text a scripted model proposed."""

    task_pk: int
    location: str
    """``intent 2``, ``item 1``, ``title``."""


def tasks_with_proposed_texts(benchmark: Benchmark, *, scripted: bool = False) -> set[int]:
    """Tasks in which a model's text was accepted at some time, or that have a row for which it was: in no others need
    one look for origins. ``scripted``: only of scripted models."""
    copied = _copied_from(Q(benchmark=benchmark))
    here = ever_in(Benchmark.objects.filter(pk=benchmark.pk))
    where = Q(proposal__task__in=here) | Q(proposal__task__in=copied)
    rows = _accepted(where & Q(proposal__scripted=True) if scripted else where).values_list("proposal__task_id", "uid")
    tasks, uids = {pk for pk, _ in rows}, {str(uid) for _, uid in rows if uid}
    if uids:
        with connection.cursor() as cursor:
            cursor.execute(HAVING_ROWS, [benchmark.pk, [*uids]])
            tasks.update(pk for (pk,) in cursor.fetchall())
    return tasks


HAVING_ROWS = """SELECT t.id FROM studio_task t JOIN studio_persona p ON p.id = t.persona_id
     WHERE p.benchmark_id = %s AND EXISTS (
           SELECT FROM jsonb_path_query(t.spec::jsonb, '$.*[*].uid') AS uid WHERE uid #>> '{}' = ANY(%s))"""
"""Tasks that have a row with one of these uids."""


def scripted_texts(benchmark: Benchmark, tasks: Iterable[int]) -> Iterator[ScriptedText]:
    """In the current version of these tasks, in the order of their texts."""
    having = tasks_with_proposed_texts(benchmark, scripted=True)
    specs = load_tasks(pk for pk in tasks if pk in having)
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

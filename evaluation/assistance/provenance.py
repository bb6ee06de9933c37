"""The origin of each text in a task: an author's own words, a model's, or a model's that people edited.

A row's uid outlives edits, moves, copies and imports of what was exported from its benchmark, and so does its origin. A
field's text has that of the task that it was copied from. Files of another studio tell the origins that it knew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf

from django.db import connection
from django.db.models import Q, QuerySet

from evaluation.assistance.kinds import ROW_FIELDS
from evaluation.assistance.proposals import row_number, text_of
from evaluation.models import ProposalDecision
from studio.domain.task import TaskSpec
from studio.domain.text.coverage import word_overlap
from studio.domain.text_origins import TextOrigin
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
    """Of the texts of these tasks, by task key; what is not in it are people's own words. A few queries for some
    hundred tasks."""
    found: dict[int, dict[Place, ProposalOrigin]] = {pk: {} for pk in specs}
    keys = list(specs)
    for start in range(0, len(keys), TASKS_AT_ONCE):
        part = {pk: specs[pk] for pk in keys[start : start + TASKS_AT_ONCE]}
        lineage = _lineage(part)
        for told in (*_imported(lineage), *_proposed(part, lineage)):
            current = text_of(part[told.task], *told.place)
            found[told.task].pop(told.place, None)
            if current and word_overlap(told.text, current) >= KEPT:
                origin = replace(told.origin, edited=told.origin.edited or current != told.text)
                found[told.task][told.place] = origin
    return found


@dataclass(frozen=True)
class _Told:
    """That a model proposed ``text`` for a place of a task."""

    task: int
    place: Place
    text: str
    origin: ProposalOrigin


Lineage = Mapping[int, Mapping[int, float]]
"""By task: itself and the tasks it is a copy of, however many times over, each with the newest version it has texts
of."""


def _lineage(tasks: Iterable[int]) -> Lineage:
    copied: dict[int, list[tuple[int, int]]] = {}
    wanted = set(tasks)
    while wanted:
        events = Event.objects.filter(task__in=wanted, verb__in=("copied", "moved")).order_by("pk")
        for task, data in events.values_list("task_id", "data"):
            copied.setdefault(task, []).append((data["from"], data["from_version"]))
        wanted = {pk for task in wanted for pk, _ in copied.get(task, ())} - copied.keys()
    found: dict[int, dict[int, float]] = {}
    for task in tasks:
        found[task], later = {task: inf}, [task]
        while later:
            for pk, version in copied.get(later.pop(), ()):
                if version > found[task].get(pk, 0):
                    found[task][pk] = version
                    later.append(pk)
    return found


def _imported(lineage: Lineage) -> Iterator[_Told]:
    """What files of elsewhere told when these tasks came, or those that they are copies of."""
    events = _imports_that_tell(Q(task__in={pk for line in lineage.values() for pk in line})).order_by("pk")
    told = list(events.values_list("task_id", "data"))
    for task, line in lineage.items():
        for pk, data in told:
            if data["version"] <= line.get(pk, 0):
                for row in data["origins"]:
                    origin = ProposalOrigin(row["model"], row["scripted"], "", None, row["text"], row["edited"])
                    yield _Told(task, (row["field"], row["uid"]), row["text"], origin)


def _imports_that_tell(which: Q) -> QuerySet[Event]:
    return Event.objects.filter(which, verb="imported", task__isnull=False, data__has_key="origins")


def _proposed(specs: Mapping[int, TaskSpec], lineage: Lineage) -> Iterator[_Told]:
    """Of a row, also what was accepted elsewhere in its benchmark. Anybody can write a uid into a file and import it,
    which must tell nothing of other benchmarks."""
    having: dict[str, list[int]] = {}
    for pk, spec in specs.items():
        for uid in [row.uid for row in spec.intents] + [row.uid for row in spec.checklist]:
            having.setdefault(uid, []).append(pk)
    here = ever_in(Benchmark.objects.filter(personas__tasks__in=[*specs]))
    known = {pk for line in lineage.values() for pk in line}
    decisions = _accepted(Q(uid__in=[*having]) | Q(uid=None, proposal__task__in=known))
    for decision in decisions.annotate(is_here=Q(proposal__task__in=here)):
        source, version = decision.proposal.task_id, decision.revision.number if decision.revision else 0
        for pk in having.get(str(decision.uid), ()) if decision.uid else specs:
            if version <= lineage[pk].get(source, 0) or (decision.uid and decision.is_here):
                text = _text_of(decision)
                yield _Told(pk, (decision.field, str(decision.uid or "")), text, _origin(decision, text, pk))


def _accepted(which: Q) -> QuerySet[ProposalDecision]:
    """Accepted texts, the newest last. The criterion of an accepted rule is none: an author wrote it."""
    accepted = ProposalDecision.objects.filter(which, accepted=True, revision__isnull=False)
    rows = accepted.exclude(proposal__kind="rule").select_related("by", "proposal", "revision").order_by("pk")
    return rows.defer("revision__spec", "revision__pieces", "proposal__findings", "proposal__options")


def _text_of(decision: ProposalDecision) -> str:
    rows = decision.proposal.rows or ()
    return str(rows[decision.row]["text"])


def _origin(decision: ProposalDecision, text: str, task: int) -> ProposalOrigin:
    proposal = decision.proposal
    return ProposalOrigin(
        proposal.model,
        proposal.scripted,
        str(decision.by),
        decision.revision.number if decision.revision and proposal.task_id == task else None,
        decision.text,
        edited=False,
    )


def told_origins(specs: Mapping[int, TaskSpec]) -> dict[int, list[TextOrigin]]:
    """By task key, for files that leave the studio."""
    return {
        pk: [
            TextOrigin(
                field=field,
                row=row_number(specs[pk], field, uid) or 0,
                model=origin.model,
                scripted=origin.scripted,
                edited=origin.edited,
            )
            for (field, uid), origin in sorted(places.items(), key=lambda each: _order(specs[pk], each[0]))
        ]
        for pk, places in origins_in(specs).items()
    }


@dataclass(frozen=True)
class ScriptedText:
    """A field or row that still has the text a scripted model proposed."""

    task_pk: int
    location: str
    """``intent 2``, ``item 1``, ``title``."""


def tasks_with_proposed_texts(benchmark: Benchmark, *, scripted: bool = False) -> set[int]:
    """Tasks in which a model's text was accepted at some time, or that have a row for which it was, with their copies:
    in no others need one look for origins. ``scripted``: only of scripted models."""
    events = Event.objects.filter(benchmark=benchmark, verb__in=("copied", "moved"))
    lineage = _lineage(set(events.values_list("task_id", flat=True)))
    known = {pk for line in lineage.values() for pk in line}
    where = Q(proposal__task__in=ever_in(Benchmark.objects.filter(pk=benchmark.pk))) | Q(proposal__task__in=known)
    rows = _accepted(where & Q(proposal__scripted=True) if scripted else where).values_list("proposal__task_id", "uid")
    tasks, uids = {pk for pk, _ in rows}, {str(uid) for _, uid in rows if uid}
    for task, data in _imports_that_tell(Q(benchmark=benchmark) | Q(task__in=known)).values_list("task_id", "data"):
        told = [row for row in data["origins"] if row["scripted"] or not scripted]
        tasks |= {task} if told else set()
        uids |= {row["uid"] for row in told if row["uid"]}
    tasks |= {pk for pk, line in lineage.items() if tasks & line.keys()}
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

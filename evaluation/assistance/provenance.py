"""The origin of text in a task: which model proposed it, who accepted it, and whether they edited it first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db.models import F, QuerySet

from evaluation.models import ProposalDecision
from studio.domain.anchors import TEXT_FIELDS
from studio.drafts.load import load_tasks
from studio.models import Benchmark, Task


@dataclass(frozen=True)
class ProposalOrigin:
    """The latest accepted proposal for a row or field."""

    model: str
    scripted: bool
    by: str
    edited: bool
    version: int | None


def load_origins(task: Task) -> dict[tuple[str, str], ProposalOrigin]:
    """By field and row uid (empty for a whole field); one query."""
    accepted = (
        ProposalDecision.objects.filter(proposal__task=task, accepted=True, revision__isnull=False)
        .select_related("by")
        .annotate(model=F("proposal__model"), was_scripted=F("proposal__scripted"), version=F("revision__number"))
        .order_by("pk")
    )
    return {
        (each.field, str(each.uid or "")): ProposalOrigin(
            each.model, each.was_scripted, str(each.by), each.edited, each.version
        )
        for each in accepted
    }


@dataclass(frozen=True)
class ScriptedText:
    """A field or row that still has the text a scripted model proposed."""

    task_pk: int
    location: str
    """``intent 2``, ``item 1``, ``title``."""


def tasks_with_scripted_texts(benchmark: Benchmark) -> set[int]:
    """Tasks in which text of a scripted model was accepted at some time."""
    return set(_scripted_decisions(benchmark).values_list("proposal__task_id", flat=True))


def _scripted_decisions(benchmark: Benchmark) -> QuerySet[ProposalDecision]:
    return ProposalDecision.objects.filter(
        proposal__task__persona__benchmark=benchmark,
        proposal__scripted=True,
        accepted=True,
        revision__isnull=False,
    )


def scripted_texts(benchmark: Benchmark, tasks: Iterable[int]) -> Iterator[ScriptedText]:
    """In the current version of these tasks; a constant number of queries."""
    wanted = set(tasks)
    if not wanted:
        return
    accepted = [
        row
        for row in _scripted_decisions(benchmark)
        .order_by("pk")
        .values_list("proposal__task_id", "field", "uid", "text")
        if row[0] in wanted
    ]
    if not accepted:
        return
    keys = {task for task, *_ in accepted}
    specs = load_tasks(keys)
    for task, field, uid, text in dict.fromkeys(accepted):
        spec = specs[task]
        if field in ("intents", "checklist"):
            rows = (
                [(intent.uid, intent.content) for intent in spec.intents]
                if field == "intents"
                else [(item.uid, item.criterion) for item in spec.checklist]
            )
            found = ((number, row) for number, (key, row) in enumerate(rows, 1) if key == str(uid))
            number, current = next(found, (0, ""))
            location = f"{'intent' if field == 'intents' else 'item'} {number}"
        else:
            current = getattr(spec, field) if field in TEXT_FIELDS else ""
            location = field.replace("_", " ").replace("initial ", "")
        if current and current == text:
            yield ScriptedText(task, location)

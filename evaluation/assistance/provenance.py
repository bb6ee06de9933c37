"""Where words of a task come from: what a model proposed, who took it, and whether they changed it first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db.models import F

from evaluation.models import SuggestionDecision
from studio.models import Benchmark, ChecklistItem, HiddenIntent, Task

TEXTS = ("title", "description", "initial_request", "reference_workflow")


@dataclass(frozen=True)
class Origin:
    """The latest words a row or field has from a model."""

    model: str
    scripted: bool
    by: str
    changed: bool
    version: int | None


def origins(task: Task) -> dict[tuple[str, str], Origin]:
    """By field and row (an empty one for a field as a whole); in one query."""
    taken = (
        SuggestionDecision.objects.filter(suggestion__task=task, taken=True, revision__isnull=False)
        .select_related("by")
        .annotate(model=F("suggestion__model"), was_scripted=F("suggestion__scripted"), version=F("revision__number"))
        .order_by("pk")
    )
    return {
        (one.field, str(one.uid or "")): Origin(one.model, one.was_scripted, str(one.by), one.changed, one.version)
        for one in taken
    }


@dataclass(frozen=True)
class ScriptedWords:
    """A place of a task that still says what a scripted model proposed."""

    task_pk: int
    place: str


def scripted_words(benchmark: Benchmark, tasks: Iterable[int]) -> Iterator[ScriptedWords]:
    """In these tasks as they stand now; in a number of queries that does not grow with them."""
    wanted = set(tasks)
    decisions = SuggestionDecision.objects.filter(
        suggestion__task__episode__persona__benchmark=benchmark,
        suggestion__scripted=True,
        taken=True,
        revision__isnull=False,
    )
    taken = [
        row
        for row in decisions.order_by("pk").values_list("suggestion__task_id", "field", "uid", "text")
        if row[0] in wanted
    ]
    if not taken:
        return
    keys = {task for task, *_ in taken}
    rows = {
        "intents": {
            (task, uid): (number, text)
            for task, uid, number, text in HiddenIntent.objects.filter(task__in=keys).values_list(
                "task_id", "uid", "position", "content"
            )
        },
        "checklist": {
            (task, uid): (number, text)
            for task, uid, number, text in ChecklistItem.objects.filter(task__in=keys).values_list(
                "task_id", "uid", "position", "criterion"
            )
        },
    }
    fields = {row["pk"]: row for row in Task.objects.filter(pk__in=keys).values("pk", *TEXTS)}
    for task, field, uid, text in dict.fromkeys(taken):
        if field in rows:
            number, now = rows[field].get((task, uid), (0, "")) if uid else (0, "")
            name = f"{'intent' if field == 'intents' else 'item'} {number}"
        else:
            now, name = fields[task].get(field, ""), field.replace("_", " ").replace("initial ", "")
        if now and now == text:
            yield ScriptedWords(task, name)

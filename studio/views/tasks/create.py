"""A new session of an episode: from nothing, or begun with something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render

from studio import access
from studio.access import SignedInRequest
from studio.domain.task import TaskSpec
from studio.drafts.validate import DraftError
from studio.forms import personas as sheets
from studio.forms.post_data import number_of
from studio.models import Persona, Task, TaskTemplate
from studio.search import task_filters
from studio.tasks import templates
from studio.tasks.copy_tasks import CopyError
from studio.tasks.create import create_task
from studio.tasks.start import Template, start_task
from studio.tasks.starting_points import StartingPoint, starting_points

MOST_FOUND = 12


@dataclass(frozen=True)
class TemplateCard:
    """Something a task can begin with, as it is offered."""

    value: str
    name: str
    when: str
    trigger: str
    intents: int
    items: int
    files: int = 0


@login_required
def new_task(request: SignedInRequest, slug: str, user_id: str) -> HttpResponse:
    """``?before=`` names the session in front of which it goes; without, it comes last. ``?from=`` chooses what it
    begins with, ``?q=`` looks for a task to begin with."""
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "edit")
    asked = request.POST if request.method == "POST" else request.GET
    before = asked.get("before", "")
    later = persona.episode.tasks.filter(pk=before, position__isnull=False).first() if number_of(before) else None
    suggested = f"{persona.user_id}_task_{persona.episode.tasks.count() + 1:03d}"
    form = sheets.NewTaskForm(request.POST if request.method == "POST" else None, initial={"task_id": suggested})
    chosen = asked.get("from", "")
    start = _start(persona, chosen)
    gone = bool(chosen) and start is None
    if request.method == "POST" and not gone and form.is_valid():
        try:
            return redirect(_begin(request, persona, start, form.cleaned_data, later.task_id if later else ""))
        except DraftError as refusal:
            form.add_error(refusal.field if refusal.field in form.fields else None, str(refusal))
        except CopyError as refusal:
            form.add_error(None, str(refusal))
    context = {
        "persona": persona,
        "benchmark": persona.benchmark,
        "form": form,
        "later": later,
        "chosen": chosen,
        "gone": gone,
        "from_task": isinstance(start, Task),
        "q": asked.get("q", "").replace("\0", "")[:200],
        "points": [_of_point(point) for point in starting_points().values()],
        "templates": [_of_template(row) for row in templates.templates_of(persona.benchmark)],
    }
    context["found"] = _found(persona, str(context["q"]), start)
    refused = request.method == "POST"
    return render(request, "studio/tasks/new.html", context, status=404 if gone else 422 if refused else 200)


def _begin(
    request: SignedInRequest, persona: Persona, start: Template | None, given: dict[str, Any], before: str
) -> Task:
    if start is None:
        if not given["title"].strip():
            raise DraftError("title", "Enter a title that says what the task is about.")
        spec = TaskSpec(user_id=persona.user_id, **given)
        return create_task(persona, spec, by=request.user, before=before)
    begun = start_task(
        persona,
        start,
        task_id=given["task_id"],
        title=given["title"],
        request=given["initial_request"],
        by=request.user,
        before=before,
    )
    for word in begun.words[:5]:
        messages.warning(request, word)
    return begun.task


def _start(persona: Persona, chosen: str) -> Template | None:
    """What ``kind:key`` names, of this benchmark; None where there is no such thing."""
    kind, _, key = chosen.partition(":")
    if kind == "point":
        return starting_points().get(key)
    if kind == "template" and number_of(key):
        return TaskTemplate.objects.filter(benchmark=persona.benchmark, pk=key).first()
    if kind == "task" and number_of(key):
        rows = Task.objects.filter(episode__persona__benchmark=persona.benchmark, pk=key)
        return rows.select_related("group", "episode__persona__benchmark__taxonomy").first()
    return None


def _found(persona: Persona, q: str, start: Template | None) -> list[TemplateCard]:
    """Tasks to begin with: the one that is chosen, then those that say ``q``, or the persona's own."""
    narrow = {"q": q} if q.strip() else {"persona": persona.user_id}
    rows = task_filters.tasks_of(persona.benchmark, narrow).tasks
    chosen = (
        list(task_filters.tasks_of(persona.benchmark, {}).tasks.filter(pk=start.pk)) if isinstance(start, Task) else []
    )
    others = [row for row in rows[: MOST_FOUND + 1] if row not in chosen]
    return [_of_task(row) for row in (*chosen, *others[:MOST_FOUND])]


def _of_point(point: StartingPoint) -> TemplateCard:
    spec = point.spec
    trigger = str(task_filters.TRIGGERS[spec.trigger.kind])
    return TemplateCard(
        f"point:{point.key}", point.name, point.when, trigger, len(spec.intents), len(spec.scored_items)
    )


def _of_template(row: TaskTemplate) -> TemplateCard:
    trigger = str(task_filters.TRIGGERS.get(row.trigger_kind, row.trigger_kind))
    return TemplateCard(f"template:{row.pk}", row.name, row.when, trigger, row.n_intents, row.n_items, row.n_files)


def _of_task(row: Any) -> TemplateCard:
    where = f"{row.episode.persona}" + (f", {row.position:02d}" if row.position else "")
    return TemplateCard(f"task:{row.pk}", str(row), where, row.get_trigger_kind_display(), row.n_intents, row.n_items)

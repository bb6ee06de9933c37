"""New tasks: blank, or from a starting point or another task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from studio.access import SignedInRequest
from studio.domain.task import TaskSpec
from studio.drafts.validate import DraftError
from studio.forms.personas import NewTaskForm
from studio.forms.post_data import number_of
from studio.models import Benchmark, Persona, Task
from studio.models.tasks import TRIGGERS
from studio.search import task_filters
from studio.tasks.copy_tasks import CopyError
from studio.tasks.create import StartingPoint, Template, create_task, start_task, starting_points
from studio.views.pages import persona_page, show

MOST_RESULTS, MOST_TEMPLATES = 12, 100


@dataclass(frozen=True)
class TemplateCard:
    value: str
    name: str
    when: str
    trigger: str
    intents: int
    items: int


@persona_page("edit")
def new_task(request: SignedInRequest, persona: Persona) -> HttpResponse:
    """``before`` is the task to insert it before (default: at the end), ``from`` the template, ``q`` a search for tasks
    to start from."""
    data = request.POST if request.method == "POST" else request.GET
    before = data.get("before", "")
    next_task = persona.tasks.filter(pk=before, position__isnull=False).first() if number_of(before) else None
    suggested = f"{persona.user_id}_task_{persona.tasks.count() + 1:03d}"
    form = NewTaskForm(request.POST if request.method == "POST" else None, initial={"task_id": suggested})
    chosen = data.get("from", "")
    template = _template(persona, chosen)
    template_missing = bool(chosen) and template is None
    if request.method == "POST" and not template_missing and form.is_valid():
        try:
            return redirect(
                _create(request, persona, template, form.cleaned_data, next_task.task_id if next_task else "")
            )
        except DraftError as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        except CopyError as error:
            form.add_error(None, str(error))
    context = {
        "form": form,
        "next_task": next_task,
        "chosen": chosen,
        "template_missing": template_missing,
        "from_task": isinstance(template, Task),
        "q": data.get("q", "").replace("\0", "")[:200],
        "starting_points": [_starting_point_card(point) for point in starting_points().values()],
        "templates": _templates(persona.benchmark),
    }
    context["matches"] = _search(persona, str(context["q"]), template)
    status = 404 if template_missing else 422 if request.method == "POST" else 200
    return show(request, persona, "studio/tasks/new.html", context, status=status)


def _create(
    request: SignedInRequest, persona: Persona, template: Template | None, values: dict[str, Any], before: str
) -> Task:
    if template is None:
        if not values["title"].strip():
            raise DraftError("title", "Enter a title that says what the task is about.")
        spec = TaskSpec(user_id=persona.user_id, **values)
        return create_task(persona, spec, by=request.user, before=before)
    new = start_task(
        persona,
        template,
        task_id=values["task_id"],
        title=values["title"],
        request=values["initial_request"],
        by=request.user,
        before=before,
    )
    for warning in new.warnings[:5]:
        messages.warning(request, warning)
    return new.task


def _template(persona: Persona, chosen: str) -> Template | None:
    """The template ``kind:key`` of this benchmark, or None."""
    kind, _, key = chosen.partition(":")
    if kind == "point":
        return starting_points().get(key)
    if kind == "task" and number_of(key):
        rows = Task.objects.filter(persona__benchmark=persona.benchmark, pk=key)
        return rows.select_related("persona__benchmark__taxonomy").first()
    return None


def _templates(benchmark: Benchmark) -> list[TemplateCard]:
    marked = Task.objects.filter(persona__benchmark=benchmark, is_template=True)
    return [_task_card(row) for row in marked.select_related("persona").order_by("title", "pk")[:MOST_TEMPLATES]]


def _search(persona: Persona, q: str, template: Template | None) -> list[TemplateCard]:
    narrow = {"q": q} if q.strip() else {"persona": persona.user_id}
    rows = task_filters.filter_tasks(persona.benchmark, narrow).tasks
    chosen = [template] if isinstance(template, Task) else []
    others = [row for row in rows[: MOST_RESULTS + 1] if row not in chosen]
    return [_task_card(row) for row in (*chosen, *others[:MOST_RESULTS])]


def _starting_point_card(point: StartingPoint) -> TemplateCard:
    spec = point.spec
    trigger = str(TRIGGERS[spec.trigger.kind])
    return TemplateCard(
        f"point:{point.key}", point.name, point.when, trigger, len(spec.intents), len(spec.scored_items)
    )


def _task_card(row: Task) -> TemplateCard:
    where = f"{row.persona}, {row.position:02d}" if row.position else str(row.persona)
    return TemplateCard(f"task:{row.pk}", str(row), where, row.get_trigger_kind_display(), row.n_intents, row.n_items)

"""Task templates: save a task as one, list, rename and delete them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from studio import access
from studio.access import SignedInRequest
from studio.drafts.load import load_task
from studio.forms.post_data import number_of
from studio.models import Benchmark
from studio.models.listed_tasks import TRIGGERS
from studio.tasks import templates as task_templates
from studio.tasks.templates import TaskTemplateError


@login_required
def templates(request: SignedInRequest, slug: str) -> HttpResponse:
    return _page(request, access.find_benchmark(request.user, slug))


@login_required
@require_POST
def change(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    benchmark = access.find_benchmark(request.user, slug)
    template = get_object_or_404(benchmark.templates.defer("spec"), pk=pk)
    if not task_templates.may_change(request.user, template):
        access.require(request.user, benchmark, "manage")
    if "delete" in request.POST:
        task_templates.delete_template(template, by=request.user)
        messages.success(request, f"Deleted “{template}”. Tasks started from it are not affected.")
        return redirect("studio:templates", slug)
    values = {name: request.POST.get(name, "") for name in ("name", "when")}
    try:
        task_templates.rename_template(template, **values, by=request.user)
    except TaskTemplateError as error:
        return _page(request, benchmark, {"pk": pk, "field": error.field, "text": str(error), **values}, 422)
    messages.success(request, "Saved.")
    return redirect("studio:templates", slug)


@login_required
def save(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    task = access.find_task(request.user, slug, user_id, pk)
    benchmark = task.persona.benchmark
    access.require(request.user, benchmark, "edit")
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "persona": task.persona,
        "task": task,
        "version": number_of(request.POST.get("version")) or task.version,
        "values": {name: request.POST.get(name, "") for name in ("name", "when")},
        "n_files": task.n_files,
        "n_intents": task.n_intents,
        "n_items": len(load_task(task).checklist),
        "templates": task_templates.templates_of(benchmark),
    }
    if request.method == "POST":
        try:
            template = task_templates.save_template(
                task, **context["values"], version=context["version"], by=request.user
            )
        except TaskTemplateError as error:
            context["refusal"] = {"field": error.field, "text": str(error)}
            return render(request, "studio/tasks/template_new.html", context, status=422)
        messages.success(request, f"Saved as the template “{template}”. New tasks can start from it.")
        return redirect(task)
    return render(request, "studio/tasks/template_new.html", context)


def _page(
    request: SignedInRequest, benchmark: Benchmark, refusal: dict[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    can = access.actions_in(request.user, benchmark)
    rows = list(task_templates.templates_of(benchmark))
    editable = [row.pk for row in rows if "manage" in can or ("edit" in can and row.created_by_id == request.user.pk)]
    context = {
        "benchmark": benchmark,
        "templates": rows,
        "editable": editable,
        "triggers": TRIGGERS,
        "refusal": refusal,
    }
    return render(request, "studio/tasks/templates.html", context, status=status)

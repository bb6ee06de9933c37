"""Copying and moving tasks, with a preview."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect

from studio import access
from studio.access import SignedInRequest
from studio.forms.post_data import number_of
from studio.models import Benchmark, Task
from studio.tasks import copy_tasks
from studio.views.pages import benchmark_page, show


@benchmark_page()
def copy(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """Preview first; ``sure`` copies only if the choices are those of the preview (``previewed``)."""
    data = request.POST if request.method == "POST" else request.GET
    tasks = _tasks(benchmark, data.getlist("task"))
    targets = access.personas_to_edit(request.user)
    target_key = data.get("target", "")
    if target_key:
        target = next((persona for persona in targets if str(persona.pk) == target_key), None)
        if target is None:
            raise Http404
    else:
        own = {task.persona_id for task in tasks}
        target = next((persona for persona in targets if len(own) == 1 and persona.pk in own), None)
    can_move = access.may(request.user, benchmark, "edit")
    moving, keep_scripts = data.get("does") == "moved" and can_move, data.get("scripts") == "theirs"
    previewed = f"{target.pk if target else ''} {moving} {keep_scripts}"
    context = {
        "tasks": tasks,
        "targets": targets,
        "target": target,
        "can_move": can_move,
        "moving": moving,
        "keep_scripts": keep_scripts,
        "previewed": previewed,
    }
    try:
        if target and request.method == "POST" and "sure" in data and data.get("previewed") == previewed:
            rows = copy_tasks.copy_tasks(tasks, target, by=request.user, moving=moving, keep_scripts=keep_scripts)
            done = "moved" if moving else "copied"
            messages.success(request, f"{len(rows)} {'task' if len(rows) == 1 else 'tasks'} {done} to {target}.")
            return redirect(f"{target.get_absolute_url()}?task={rows[0].pk}")
        context["plan"] = (
            copy_tasks.plan_copy(tasks, target, moving=moving, keep_scripts=keep_scripts) if target else None
        )
    except copy_tasks.CopyError as error:
        context["refusal"] = str(error)
    status = 409 if "refusal" in context else 200
    return show(request, benchmark, "studio/tasks/copy.html", context, status=status)


def _tasks(benchmark: Benchmark, chosen: list[str]) -> list[Task]:
    """The chosen tasks. Raises Http404 unless all are in this benchmark."""
    keys = {number_of(entry.partition(":")[0]) for entry in chosen} - {0}
    rows = Task.objects.filter(persona__benchmark=benchmark, pk__in=keys)
    tasks = list(
        rows.select_related("persona__benchmark__taxonomy").order_by("persona__position", "position", "task_id")
    )
    if len(tasks) != len(keys):
        raise Http404
    return tasks

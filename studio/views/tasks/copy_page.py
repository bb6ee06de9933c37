"""Copying and moving tasks: first what would happen to each, then it happens."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render

from studio import access
from studio.access import SignedInRequest
from studio.forms.post_data import number_of
from studio.models import Benchmark, Task
from studio.tasks import copy_tasks as copying


@login_required
def copy(request: SignedInRequest, slug: str) -> HttpResponse:
    """The tasks named, and where to. What was looked at is what is done: another choice is shown again first."""
    benchmark = access.find_benchmark(request.user, slug)
    asked = request.POST if request.method == "POST" else request.GET
    tasks = _tasks(benchmark, asked.getlist("task"))
    targets = access.personas_to_edit(request.user)
    wanted = asked.get("target", "")
    if wanted:
        target = next((persona for persona in targets if str(persona.pk) == wanted), None)
        if target is None:
            raise Http404
    else:
        own = {task.episode.persona_id for task in tasks}
        target = next((persona for persona in targets if len(own) == 1 and persona.pk in own), None)
    can_move = access.may(request.user, benchmark, "edit")
    moving, theirs = asked.get("does") == "moved" and can_move, asked.get("scripts") == "theirs"
    looked = f"{target.pk if target else ''} {moving} {theirs}"
    context = {
        "benchmark": benchmark,
        "tasks": tasks,
        "targets": targets,
        "target": target,
        "can_move": can_move,
        "moving": moving,
        "theirs": theirs,
        "looked": looked,
    }
    try:
        if target and request.method == "POST" and "sure" in asked and asked.get("looked") == looked:
            rows = copying.copy_tasks(tasks, target, by=request.user, moving=moving, keep_scripts=theirs)
            done = "moved" if moving else "copied"
            messages.success(request, f"{len(rows)} {'task' if len(rows) == 1 else 'tasks'} {done} to {target}.")
            return redirect(f"{target.get_absolute_url()}?task={rows[0].pk}")
        context["plan"] = copying.plan_copy(tasks, target, moving=moving, keep_scripts=theirs) if target else None
    except copying.CopyError as refusal:
        context["refusal"] = str(refusal)
    return render(request, "studio/tasks/copy.html", context, status=409 if "refusal" in context else 200)


def _tasks(benchmark: Benchmark, chosen: list[str]) -> list[Task]:
    """All of them are this benchmark's, or there is nothing here."""
    keys = {number_of(entry.partition(":")[0]) for entry in chosen} - {0}
    rows = Task.objects.filter(episode__persona__benchmark=benchmark, pk__in=keys)
    tasks = list(
        rows.select_related("group", "episode__persona__benchmark__taxonomy").order_by(
            "episode__persona__position", "position", "task_id"
        )
    )
    if len(tasks) != len(keys):
        raise Http404
    return tasks

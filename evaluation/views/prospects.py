"""Can this be done? A page of each persona."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluation.trials.outlook import outlook
from studio import access
from studio.access import SignedInRequest


@login_required
@require_safe
def can_be_done(request: SignedInRequest, slug: str, user_id: str) -> HttpResponse:
    persona = access.find_persona(request.user, slug, user_id)
    request.room = "benchmarks"
    found = outlook(persona)
    context = {
        "persona": persona,
        "benchmark": persona.benchmark,
        "prospects": found,
        "impossible": sum(bool(each.obstacles) for each in found),
        "told_earlier": sum(bool(each.told) for each in found),
        "remedies": {obstacle.remedy for each in found for obstacle in each.obstacles},
        "addresses": {task.task_id: task.get_absolute_url() for task in persona.tasks.only("task_id", "persona")},
    }
    return render(request, "evaluation/trials/can_be_done.html", context)

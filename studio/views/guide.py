"""What the studio is for, and the guided first task."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from studio.access import SignedInRequest, benchmarks_allowing
from studio.reports.guide import guide_of, leave_guide, pass_step, start_guide


@login_not_required
@require_GET
def introduction(request: HttpRequest) -> HttpResponse:
    may_write = benchmarks_allowing(request.user, "edit").exists()
    return render(request, "studio/guide/introduction.html", {"may_write": may_write})


@require_GET
def strip(request: SignedInRequest) -> HttpResponse:
    """The part of a page that says what to do next."""
    guide = guide_of(request.user, benchmarks_allowing(request.user, "edit"))
    return render(request, "studio/guide/strip.html", {"guide": guide})


@require_POST
def act(request: SignedInRequest, action: str) -> HttpResponse:
    """Start or leave the guide, or pass a step."""
    if action == "start":
        start_guide(request.user)
    elif action == "leave":
        leave_guide(request.user)
        return redirect("studio:home")
    else:
        pass_step(request.user, action)
    guide = guide_of(request.user, benchmarks_allowing(request.user, "edit"))
    return redirect(guide.address if guide else "studio:home")

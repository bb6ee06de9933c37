"""The home page: to-do list, recent activity, progress of benchmarks."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from studio import access
from studio.access import SignedInRequest
from studio.activity.feed import activity_feed, recent_events, start_visit
from studio.models import Membership, Revision, Role, User
from studio.reports.guide import STEPS, guide_of
from studio.reports.progress import by_latest_activity, progress_grids, progress_of
from studio.reports.todo import MAX_ITEMS, SHOWN, todo_of, waiting_on_others

GRIDS = 3
"""Benchmarks shown with a grid of their tasks; others get one line each."""
ROWS = 24
"""Personas in all grids together; the rest are only counted."""
LINES = 9


def home(request: SignedInRequest) -> HttpResponse:
    shown = MAX_ITEMS if request.GET.get("waiting") == "all" else SHOWN
    newest = list(by_latest_activity(access.benchmarks_for(request.user))[: GRIDS + LINES + 1])
    roles = set(Membership.objects.filter(user=request.user).values_list("role", flat=True))
    return render(
        request,
        "studio/home.html",
        {
            "grids": progress_grids(newest[:GRIDS], limit=ROWS // max(1, len(newest[:GRIDS]))),
            "lines": progress_of(newest[GRIDS : GRIDS + LINES]),
            "more": len(newest) > GRIDS + LINES,
            "todo": todo_of(request.user, limit=shown),
            "others": waiting_on_others(request.user, limit=shown),
            "activity": activity_feed(request.user, start_visit(request.user, timezone.now())),
            "first_task": _is_new_author(request.user, roles),
            "guide": guide_of(request.user, access.benchmarks_allowing(request.user, "edit")),
            "steps": STEPS,
            "upcoming": upcoming(roles),
        },
    )


def activity(request: SignedInRequest) -> HttpResponse:
    events = recent_events(access.benchmarks_for(request.user))
    return render(
        request, "studio/activity/feed.html", {"page": Paginator(events, 50).get_page(request.GET.get("page"))}
    )


def upcoming(roles: set[str]) -> list[str]:
    kinds = [
        ("your drafts, requested changes", {Role.AUTHOR, Role.OWNER}),
        ("tasks to review", {Role.REVIEWER, Role.OWNER}),
        ("audits assigned to you", {Role.AUDITOR}),
        ("decisions to adjudicate and what blocks a release", {Role.RELEASE_MANAGER, Role.OWNER}),
    ]
    return [text for text, needed in kinds if needed & roles] or ["requests for you"]


def _is_new_author(user: User, roles: set[str]) -> bool:
    """Whether to offer the guide: to who may write, has not, and did not decline."""
    may_write = bool(roles & access.ALLOWED["edit"])
    return may_write and not user.guide_step and not Revision.objects.filter(created_by=user).exists()

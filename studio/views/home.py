"""Where everybody starts: what waits for me, my benchmarks, what happened."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from studio import access, queries

SHOWN = 12


@login_required
def home(request: HttpRequest) -> HttpResponse:
    mine = access.benchmarks_for(request.user)
    shown = list(mine[:SHOWN])
    return render(
        request,
        "studio/home.html",
        {
            "benchmarks": shown,
            "counts": queries.benchmark_counts(shown),
            "more": mine.count() > SHOWN,
            "reviews": queries.waiting_for(request.user, mine)[:SHOWN],
            "sent_back": queries.sent_back(request.user, mine)[:SHOWN],
            "drafts": queries.drafts_of(request.user, mine).exclude(state="changes_requested")[:SHOWN],
            "events": queries.recent_events(mine)[:SHOWN],
        },
    )

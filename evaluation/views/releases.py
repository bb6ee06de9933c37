"""Releases: what blocks the next, cutting it, and those there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Page, Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from evaluation import visibility
from evaluation.forms.releases import ReleaseForm
from evaluation.releases.cut import ReleaseBlockedError, ReleaseError, cut_release
from evaluation.releases.readiness import Blocker, release_blockers
from studio.access import SignedInRequest, benchmarks_for, find_benchmark, may, require
from studio.models import Benchmark

PER_PAGE = 50
SHOWN = 6
"""Of a kind, beside the other kinds."""
KINDS = {
    "no-tasks": "no tasks",
    "task-not-approved": "not approved",
    "task-not-piloted": "current version not piloted with a real model",
    "too-few-audited": "too few audited decisions of real judges",
    "judges-disagree": "people disagree with the judges",
    "pack-unreadable": "cannot be read back",
}


@dataclass(frozen=True)
class Shown:
    """Something that stands in the way, and where to mend it."""

    blocker: Blocker
    link: str
    link_words: str


@dataclass(frozen=True)
class Kind:
    """What stands in the way for the same reason."""

    code: str
    words: str
    number: int
    shown: list[Shown]
    page: Page[Any]

    @property
    def more(self) -> bool:
        return self.number > len(self.shown)


@login_required
@require_GET
def releases(request: SignedInRequest) -> HttpResponse:
    """Of every benchmark the person belongs to."""
    found = visibility.visible_releases(request.user).defer("manifest")
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    mine = list(benchmarks_for(request.user).order_by("name"))
    return render(request, "evaluation/releases/list.html", {"page": page, "benchmarks": mine})


@login_required
@require_http_methods(["GET", "POST"])
def release_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """What blocks a release of the benchmark, and the button once nothing does, or someone takes it upon themselves."""
    benchmark = find_benchmark(request.user, slug)
    form = ReleaseForm(request.POST or None)
    if request.method == "POST":
        require(request.user, benchmark, "release")
        if form.is_valid():
            accept = form.cleaned_data["accept"]
            try:
                return redirect(cut_release(benchmark, form.cleaned_data["version"], by=request.user, accept=accept))
            except ReleaseError as refused:
                form.add_error("version", str(refused))
            except ReleaseBlockedError:
                form.add_error("accept", "The release is blocked. Fix the blockers, or waive them with a reason.")
    blockers = release_blockers(benchmark)
    asked = request.GET.get("kind", "")
    if asked not in {one.code for one in blockers}:
        asked = ""
    form.fields["accept"].required = bool(blockers)  # what is asked of people; the rule asks again
    return render(
        request,
        "evaluation/releases/new.html",
        {
            "benchmark": benchmark,
            "form": form,
            "blockers": blockers,
            "kinds": _kinds(benchmark, blockers, asked, request.GET.get("page")),
            "asked": asked,
            "unacceptable": [one for one in blockers if not one.acceptable],
            "may_release": may(request.user, benchmark, "release"),
            "releases": visibility.visible_releases(request.user).filter(benchmark=benchmark).defer("manifest")[:20],
        },
    )


@login_required
@require_GET
def release(request: SignedInRequest, pk: int) -> HttpResponse:
    row = get_object_or_404(visibility.visible_releases(request.user), pk=pk)
    return render(
        request,
        "evaluation/releases/release.html",
        {
            "release": row,
            "manifest": row.manifest,
            "size": row.blob.size,
            "tasks": row.tasks.select_related("revision__task__episode__persona__benchmark").order_by(
                "revision__task__episode__persona__position", "revision__task__position"
            ),
        },
    )


@login_required
@require_GET
def release_download(request: SignedInRequest, pk: int) -> HttpResponse:
    """The archive, to the byte."""
    row = get_object_or_404(visibility.visible_releases(request.user), pk=pk)
    response = HttpResponse(bytes(row.blob.content), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{row.benchmark.slug}-{row.version}.zip"'
    response["X-Content-Type-Options"] = "nosniff"
    response["ETag"] = f'"{row.sha256}"'
    return response


def _kinds(benchmark: Benchmark, blockers: Sequence[Blocker], asked: str, number: str | None) -> list[Kind]:
    """By kind, in the order given: the first few of each, or a page of the kind that is asked for."""
    kinds = []
    for code, found in groupby(blockers, key=lambda one: one.code):
        if asked in ("", code):
            page = Paginator(list(found), PER_PAGE if asked else SHOWN).get_page(number if asked else 1)
            shown = [_shown(benchmark, one) for one in page]
            kinds.append(Kind(code, _words(code), page.paginator.count, shown, page))
    return kinds


def _words(code: str) -> str:
    return KINDS.get(code) or "found by the check “" + code.removeprefix("check-").replace("-", " ") + "”"


def _shown(benchmark: Benchmark, one: Blocker) -> Shown:
    if one.code == "task-not-piloted":
        return Shown(one, f"{reverse('evaluation:pilot_new', args=[benchmark.slug])}?task={one.task}", "Start a pilot")
    if one.code in ("too-few-audited", "judges-disagree"):
        return Shown(one, reverse("annotations:campaigns"), "Go to audits")
    if one.task_pk is not None:
        return Shown(one, reverse("studio:task", args=[benchmark.slug, one.persona, one.task_pk]), "Go to task")
    return Shown(one, benchmark.get_absolute_url(), "Go to benchmark")

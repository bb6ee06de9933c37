"""Releases: the list, what blocks the next one, and cutting it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db import transaction
from django.http import FileResponse, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evaluation.audits.blindness import (
    find_release,
    is_evidence_closed,
    open_pilots,
    open_releases,
    record_look,
    require_judges_open,
)
from evaluation.forms.releases import ErratumForm, ExceptionForm, LimitsForm, ReleaseForm
from evaluation.models import ReleaseException, ReleaseRequest
from evaluation.releases.blocker_kinds import BlockerKind, blocked_releases, open_blockers, readiness_of, released_tasks
from evaluation.releases.candidate import load_candidate
from evaluation.releases.comparison import changes_since, draft_changes
from evaluation.releases.download import archive_response, find_held_out, site_response, statement_response
from evaluation.releases.elsewhere import accept_elsewhere
from evaluation.releases.errata import publish_erratum
from evaluation.releases.evidence import pilots_of_next_release
from evaluation.releases.exceptions import EVIDENCE, Accepted, Exceptions, accept_blockers, digest, withdraw_exception
from evaluation.releases.pins import earlier_releases
from evaluation.releases.readiness import (
    APPROVED_ELSEWHERE,
    CREDITS,
    FILE_GONE,
    FILE_UNKNOWN,
    LICENCE_UNKNOWN,
    NO_CONTRIBUTORS,
    NOT_VALIDATED,
    TOLD,
    UNREADABLE,
    UNSIGNED,
    Blocker,
    find_blockers,
    limits_of,
    set_limits,
)
from evaluation.releases.requests import BLOCKED, newest_request, request_release
from evaluation.releases.signing import key_of, replace_key
from evaluation.releases.site import pilots_of
from studio.access import SignedInRequest, benchmarks_for, find_benchmark, may, require, why_not
from studio.domain.base import JsonDict
from studio.domain.episode import Split
from studio.domain.options import OptionsError
from studio.domain.phrases import count_of
from studio.forms.benchmarks import ChangedElsewhere, changed_elsewhere, seen
from studio.models import Benchmark, Task
from studio.reports.todo import register
from studio.views.pages import page_of

register("releases", blocked_releases, last=True)

PER_PAGE = 50
ROWS_PER_KIND = 6
"""Blockers listed of each kind, and exceptions of each reason."""
KIND_LABELS = {
    "no-tasks": "no tasks",
    "task-not-approved": "not approved",
    APPROVED_ELSEWHERE: "approved elsewhere, not accepted here",
    NOT_VALIDATED: "not validated",
    "task-not-piloted": "current version not piloted with a real model",
    "too-few-audited": "too few audited decisions of real judges",
    "truth-not-measured": "too few decisions audited with the whole session",
    "judges-disagree": "people disagree with the judges",
    "judges-wrong-in-truth": "people who know the whole session disagree with the judges",
    "evidence-not-shown": "judges were not shown enough to decide",
    "task-blocked": "the user could not go on",
    "tool-missing": "a tool that no agent gets",
    "grader-missing": "grader script missing",
    "grader-broken": "grader script grades nothing",
    "judge-not-compared": "a judge that has not been compared with people",
    "judge-worse": "a judge that does worse than the one in use",
    UNREADABLE: "cannot be read back",
    LICENCE_UNKNOWN: "licence unknown",
    NO_CONTRIBUTORS: "no contributors named",
    FILE_UNKNOWN: "files from elsewhere without source or licence",
    UNSIGNED: "cannot be signed",
    FILE_GONE: "files from elsewhere that are gone",
    TOLD: "tells of held-out tasks",
}

AUDITS = ("too-few-audited", "truth-not-measured", "judges-disagree", "judges-wrong-in-truth", "evidence-not-shown")


@dataclass(frozen=True)
class BlockerRow:
    blocker: Blocker
    link: str
    link_text: str
    accepted: bool = False

    @property
    def label(self) -> str:
        return label_of(self.blocker.code)

    @property
    def query(self) -> str:
        """Of the page on which it is accepted."""
        blocker = self.blocker
        scope = {"persona": blocker.persona, "task": blocker.task, "place": blocker.place}
        return urlencode({"rule": blocker.code, "one": 1, **scope})


@dataclass(frozen=True)
class TaskRow:
    task: Task
    blockers: list[BlockerRow]


@dataclass(frozen=True)
class ExceptionRow:
    row: ReleaseException
    label: str
    covers: str
    """In words."""
    blockers: list[Blocker]
    """That would block a release without it; none: it no longer applies."""


@dataclass(frozen=True)
class BlockerGroup:
    code: str
    label: str
    number: int
    rows: list[BlockerRow]
    page: Page[Any]
    acceptable: bool

    @property
    def more(self) -> bool:
        return self.number > len(self.rows)


@require_GET
def releases(request: SignedInRequest) -> HttpResponse:
    rows = open_releases(request.user).defer("manifest")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    benchmarks = list(benchmarks_for(request.user).order_by("name"))
    return render(request, "evaluation/releases/list.html", {"page": page, "benchmarks": benchmarks})


@require_http_methods(["GET", "POST"])
def release_new(request: SignedInRequest, slug: str) -> HttpResponse:
    benchmark = find_benchmark(request.user, slug)
    sealed = is_evidence_closed(request.user, benchmark)
    kinds, accepted, rows_of_exceptions = readiness_of(benchmark, sealed=sealed)
    newest = newest_request(benchmark, request.user)
    refused: JsonDict = (newest and newest.refused) or {}
    known = {each.message for kind in kinds if kind.code == TOLD for each in kind[:]}
    found: list[JsonDict] = [each for each in refused.get("found", []) if each["message"] not in known]
    shown = ", ".join(f"{kind.number} {kind.code}" for kind in kinds)
    drafted = ""
    if request.method == "POST":
        require(request.user, benchmark, "release")
        require_judges_open(request.user, benchmark, EVIDENCE)
        form = ReleaseForm(request.POST)
        if form.is_valid():
            with form.rejecting():
                if request.POST.get("shown", shown) != shown:
                    raise OptionsError("accept", "What blocks the release has changed. Look at it again.")
                if kinds and not (form.options().accept and all(kind.acceptable for kind in kinds)):
                    raise OptionsError("accept", BLOCKED)
                request_release(benchmark, form.options(), by=request.user)
                return redirect("evaluation:release_new", slug)
    elif newest and refused:
        form = ReleaseForm(newest.options)
        form.full_clean()
        form.reject(OptionsError(refused["field"], refused["message"]))
    else:
        drafted = draft_changes(benchmark) if may(request.user, benchmark, "release") else ""
        form = ReleaseForm(initial={"changes": drafted})
    blockers = sum(each.number for each in kinds)
    kind = request.GET.get("kind", "")
    if kind not in {each.code for each in kinds}:
        kind = ""
    by_task = request.GET.get("by") == "task" and not kind
    rows = Paginator(released_tasks(benchmark), PER_PAGE)
    tasks: Page[Any] | None = rows.get_page(request.GET.get("page")) if by_task else None
    found_in_cut = sum(each["acceptable"] for each in found)
    exceptions = blockers + found_in_cut
    form.fields["accept"].required = bool(exceptions)  # for the form; cut_release enforces it
    return render(
        request,
        "evaluation/releases/new.html",
        {
            "benchmark": benchmark,
            "why_not_release": why_not("release", benchmark),
            "form": form,
            "citable": [] if sealed else form.citable(pilots_of_next_release(benchmark)),
            "under_way": newest if newest and newest.is_going_on else None,
            "drafted": drafted,
            "blockers": blockers,
            "found": found,
            "exceptions": exceptions,
            "shown": shown,
            "told": found_in_cut + len(known),
            "groups": _groups(benchmark, kinds, kind, request.GET.get("page")),
            "accepted": [] if sealed else _accepted(accepted, rows_of_exceptions),
            "kind": kind,
            "tasks": tasks,
            "by_task": _by_task(benchmark, tasks, sealed=sealed) if tasks else None,
            "unacceptable": [each[:1][0] for each in kinds if not each.acceptable],
            "approved_elsewhere": APPROVED_ELSEWHERE,
            "sealed": sealed,
            "key": key_of(benchmark),
            "may_replace_key": may(request.user, benchmark, "manage"),
            "may_release": may(request.user, benchmark, "release"),
            "releases": open_releases(request.user).filter(benchmark=benchmark).defer("manifest")[:20],
        },
    )


@require_GET
def release_request(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """How far a release is; once it is there, or was refused, the way to it."""
    benchmark = find_benchmark(request.user, slug, "release")
    row = get_object_or_404(ReleaseRequest.objects.select_related("made"), benchmark=benchmark, pk=pk)
    page = reverse("evaluation:release_new", args=[slug])
    if row.is_going_on and request.htmx:
        return render(request, "evaluation/releases/parts/under_way.html", {"benchmark": benchmark, "under_way": row})
    if row.made is not None:
        page = row.made.get_absolute_url()
    return HttpResponse(headers={"HX-Redirect": page}) if request.htmx else redirect(page)


@require_POST
def release_accept(request: SignedInRequest, slug: str) -> HttpResponse:
    """Accept that a task, or all of them, was approved elsewhere."""
    benchmark = find_benchmark(request.user, slug, "release")
    task = request.POST.get("task")
    tasks = None if task is None else [int(task)] if task.isdecimal() and len(task) < 19 else []
    try:
        number = accept_elsewhere(benchmark, tasks, by=request.user)
        messages.success(request, f"Accepted under your name: {count_of(number, 'task')}.")
    except OptionsError as error:
        messages.error(request, str(error))
    return redirect("evaluation:release_new", slug)


@require_http_methods(["GET", "POST"])
def release_except(request: SignedInRequest, slug: str) -> HttpResponse:
    """Accept one blocker, those of a persona, or all of a kind as they are now."""
    benchmark = find_benchmark(request.user, slug, "release")
    require_judges_open(request.user, benchmark, EVIDENCE)
    asked = request.POST if request.method == "POST" else request.GET
    blockers = [each for each in open_blockers(benchmark) if each.code == asked.get("rule")]
    scope = (asked.get("persona", ""), asked.get("task", ""), asked.get("place", ""))
    meant = next((each for each in blockers if (each.persona, each.task, each.place) == scope), None)
    if len(blockers) == 1:
        [meant] = blockers
    scopes = {"one": "This alone, as it is now"} if meant else {}
    if len(blockers) > 1:
        scopes["all"] = f"All {len(blockers)} as they are now"
    if meant and meant.task:
        scopes["persona"] = f"All tasks of {meant.persona}, also later ones and whatever changes"
    of_one = {"persona": meant.persona, "task": meant.task, "place": meant.place} if meant else {}
    initial = {"rule": asked.get("rule", ""), "shown": digest(blockers), **of_one}
    posted = request.POST.copy() if request.method == "POST" else None
    form = ExceptionForm(posted, scopes=scopes or {"all": ""}, initial=initial)
    if posted is not None and form.is_valid():
        with form.rejecting():
            accept_blockers(benchmark, blockers, form.options(), by=request.user)
            return redirect("evaluation:release_new", slug)
        posted["shown"] = digest(blockers)  # it is shown now
    context = {
        "benchmark": benchmark,
        "form": form,
        "label": label_of(asked.get("rule", "")),
        "shown": [meant] if meant else blockers[:PER_PAGE],
        "more": 0 if meant else max(0, len(blockers) - PER_PAGE),
    }
    return render(request, "evaluation/releases/except.html", context, status=422 if form.errors else 200)


@require_POST
def release_exception_withdraw(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    benchmark = find_benchmark(request.user, slug, "release")
    withdraw_exception(get_object_or_404(ReleaseException, benchmark=benchmark, pk=pk), by=request.user)
    messages.success(request, "Withdrawn.")
    return redirect("evaluation:release_new", slug)


@require_POST
def release_key(request: SignedInRequest, slug: str) -> HttpResponse:
    """Sign with a new key from now on."""
    benchmark = find_benchmark(request.user, slug, "manage")
    try:
        key = replace_key(benchmark, by=request.user)
        messages.success(request, f"Releases are signed by {key.fingerprint} from now on. Publish this fingerprint.")
    except OptionsError as error:
        messages.error(request, str(error))
    return redirect("evaluation:release_new", slug)


@require_http_methods(["GET", "POST"])
def release_limits(request: SignedInRequest, slug: str) -> HttpResponse:
    """What audits and validations have to show before a release."""
    theirs: ChangedElsewhere | None = None
    with transaction.atomic():
        benchmark = find_benchmark(request.user, slug, lock=request.method == "POST")
        initial = limits_of(benchmark).model_dump()
        now, form = LimitsForm(initial=initial), LimitsForm(request.POST or None, initial=initial)
        if request.method == "POST":
            require(request.user, benchmark, "manage")
            theirs = changed_elsewhere(request.POST, [form], [now])
            if theirs is not None:
                form = LimitsForm(theirs.data, initial=initial)
            elif form.is_valid():
                set_limits(benchmark, form.options(), by=request.user)
                messages.success(request, "Saved.")
                return redirect("evaluation:release_new", slug)
    may_change = may(request.user, benchmark, "manage")
    if not may_change:
        for field in form.fields.values():
            field.disabled = True
    context = {"benchmark": benchmark, "form": form, "may_change": may_change, "theirs": theirs, "seen": seen([now])}
    status = 409 if theirs else 422 if form.errors else 200
    return render(request, "evaluation/releases/limits.html", context, status=status)


@require_http_methods(["GET", "POST"])
def release(request: SignedInRequest, pk: int) -> HttpResponse:
    """With its errata; publishes another one."""
    row = find_release(request.user, pk)
    form = ErratumForm(request.POST or None)
    if request.method == "POST":
        require(request.user, row.benchmark, "release")
        if form.is_valid():
            with form.rejecting():
                publish_erratum(row, form.options(), by=request.user)
                return redirect(f"{row.get_absolute_url()}#errata")
    earlier = list(earlier_releases(row).defer("manifest"))
    since = next((each for each in earlier if str(each.pk) == request.GET.get("since")), None)
    held_out = row.held_out_pack
    packs = [row.manifest, *([held_out.manifest] if held_out else [])]
    split_of = {task["sha256"]: task.get("split", Split.PUBLIC) for pack in packs for task in pack["tasks"]}
    splits = [(Split(name).label, split) for name, split in row.manifest.get("splits", {}).items()]
    frozen = row.tasks.select_related("revision__task__persona__benchmark").order_by(
        "revision__task__persona__position", "revision__task__position"
    )
    return render(
        request,
        "evaluation/releases/release.html",
        {
            "release": row,
            "manifest": row.manifest,
            "size": row.size,
            "solutions": sum("solution" in task for task in row.manifest["tasks"]),
            "rows_open": ROWS_PER_KIND,
            "form": form,
            "may_release": may(request.user, row.benchmark, "release"),
            "may_start": may(request.user, row.benchmark, "pilot"),
            "held_out": held_out,
            "splits": splits if held_out or len(splits) > 1 else [],
            "earlier": earlier,
            "changes": changes_since(row, since) if since else None,
            "may_fetch_held_out": may(request.user, row.benchmark, "manage"),
            "tasks": [
                (each.revision, Split(split_of.get(each.revision.sha256, Split.PUBLIC)).label) for each in frozen
            ],
        },
    )


@require_GET
def release_download(request: SignedInRequest, pk: int) -> FileResponse:
    return archive_response(find_release(request.user, pk))


@require_GET
def release_held_out(request: SignedInRequest, pk: int) -> FileResponse:
    return archive_response(find_held_out(request.user, pk))


@require_GET
def release_held_out_statement(request: SignedInRequest, pk: int) -> HttpResponse:
    return statement_response(find_held_out(request.user, pk))


@require_GET
def release_statement(request: SignedInRequest, pk: int) -> HttpResponse:
    return statement_response(find_release(request.user, pk))


@require_GET
def release_site(request: SignedInRequest, pk: int) -> HttpResponse:
    row = find_release(request.user, pk)
    pilots = pilots_of(row, open_pilots(request.user))
    record_look(request.user, pilots)
    return site_response(row, pilots)


def _groups(benchmark: Benchmark, kinds: Sequence[BlockerKind], kind: str, number: str | None) -> list[BlockerGroup]:
    groups = []
    for each in kinds:
        if kind in ("", each.code):
            page = page_of(each, PER_PAGE if kind else ROWS_PER_KIND, number if kind else 1)
            rows = [_row(benchmark, blocker) for blocker in page]
            groups.append(
                BlockerGroup(each.code, label_of(each.code), page.paginator.count, rows, page, each.acceptable)
            )
    return groups


def _by_task(benchmark: Benchmark, page: Page[Any], *, sealed: bool) -> list[TaskRow]:
    """These tasks, each with what blocks it."""
    candidate = load_candidate(benchmark, {task.pk for task in page})
    found = find_blockers(candidate, may_be_empty=True, sealed=sealed)
    rows = [TaskRow(task, []) for task in page]
    by_key = {row.task.pk: row.blockers for row in rows}
    standing, accepted = Exceptions(benchmark).split(found)
    for blockers, is_accepted in ((standing, False), ([each.blocker for each in accepted], True)):
        for blocker in blockers:
            if blocker.task_pk in by_key:
                by_key[blocker.task_pk].append(replace(_row(benchmark, blocker), accepted=is_accepted))
    return rows


def _accepted(accepted: Sequence[Accepted], exceptions: Sequence[ReleaseException]) -> list[ExceptionRow]:
    by_row: dict[int, list[Blocker]] = {row.pk: [] for row in exceptions}
    for blocker, row in accepted:
        by_row[row.pk].append(blocker)
    return [ExceptionRow(row, label_of(row.rule), _scope(row), by_row[row.pk]) for row in exceptions]


def _scope(row: ReleaseException) -> str:
    if row.persona:
        return f"all tasks of {row.persona}, also later ones"
    persona, task, place, *_ = row.covers[0]
    if len(row.covers) > 1:
        return f"{count_of(len(row.covers), 'task' if task else 'case')}, as they were then"
    return f"{persona} · {task} alone" if task else place or "the benchmark"


def label_of(code: str) -> str:
    return KIND_LABELS.get(code) or "found by the check “" + code.removeprefix("check-").replace("-", " ") + "”"


def _row(benchmark: Benchmark, blocker: Blocker) -> BlockerRow:
    if blocker.code == TOLD:
        return BlockerRow(blocker, _page_of(benchmark, blocker.place), "Go to where it stands")
    if blocker.code == NOT_VALIDATED:
        address = reverse("evaluation:task_validation", args=[benchmark.slug, blocker.persona, blocker.task_pk])
        return BlockerRow(blocker, address, "See its probes")
    if blocker.code == "task-not-piloted":
        return BlockerRow(
            blocker, f"{reverse('evaluation:pilot_new', args=[benchmark.slug])}?task={blocker.task}", "Start a pilot"
        )
    if blocker.code in ("judge-not-compared", "judge-worse"):
        return BlockerRow(blocker, reverse("evaluation:judges", args=[benchmark.slug]), "Compare judges")
    if blocker.code in CREDITS:
        address = f"{reverse('studio:benchmark_edit', args=[benchmark.slug])}#credits"
        return BlockerRow(blocker, address, "Go to settings")
    if blocker.code in AUDITS:
        return BlockerRow(blocker, f"{reverse('annotations:campaigns')}?benchmark={benchmark.slug}", "Go to audits")
    if blocker.task_pk is not None:
        return BlockerRow(
            blocker, reverse("studio:task", args=[benchmark.slug, blocker.persona, blocker.task_pk]), "Go to task"
        )
    return BlockerRow(blocker, benchmark.get_absolute_url(), "Go to benchmark")


def _page_of(benchmark: Benchmark, path: str) -> str:
    """Where a file of a pack is edited."""
    _, _, inner = path.partition("data/")
    user_id, _, inside = inner.partition("/")
    folder, _, rest = inside.partition("/")
    name = rest.partition("/")[0]
    if not user_id:
        return f"{reverse('studio:benchmark_edit', args=[benchmark.slug])}#credits"
    if folder in ("tasks", "references"):
        task = Task.objects.filter(persona__benchmark=benchmark, persona__user_id=user_id, task_id=name).first()
        if task:
            return task.get_absolute_url()
    pages = {"apps": "studio:apps", "skills": "studio:skill", "profile.yaml": "studio:profile"}
    arguments = [benchmark.slug, user_id, *([name] if folder == "skills" else [])]
    return reverse(pages.get(folder, "studio:persona"), args=arguments)

"""Grader scripts: written, compared with what they were, taken away. Running them is evaluation's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from studio import access, drafts
from studio.drafts import scripts
from studio.forms.posted import number_of
from studio.history import Difference, FieldChange, line_pieces
from studio.models import Blob, Finding, GraderScript, Persona, ScriptReport, Task
from studio.spec.checks.rules.grader_keys import keys_named
from studio.spec.graders import ANALYSIS, GraderReport, read_script
from studio.spec.task import TaskSpec
from studio.starter_script import STARTER
from studio.views.serving import download


@dataclass(frozen=True)
class KeyPlace:
    """A key, and which item of each task it is."""

    key: str
    mark: str
    """``always`` or ``never`` earned; empty: neither, or not run yet."""
    places: tuple[tuple[Task, int], ...]


@login_required
@require_http_methods(["GET", "POST"])
def script(request: HttpRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """The script, to read or, for authors, to write."""
    persona = access.find_persona(request.user, slug, user_id)
    found = find_script(persona, pk)
    if "download" in request.GET:
        return download(found.path, bytes(found.blob.content))
    if request.method == "GET":
        return render(request, "studio/script.html", page_context(request, persona, found))
    access.require(request.user, persona.benchmark, "edit")
    source = scripts.plain(request.POST.get("source", ""))
    base, note = request.POST.get("base", ""), request.POST.get("note", "")
    context: dict[str, Any] = {"note": note}
    try:
        saved = scripts.save_script(found.pk, source, by=request.user, base_sha256=base, note=note)
    except drafts.DraftRefused as refusal:
        context["error"] = str(refusal)
    except scripts.StaleScript as stale:
        context |= {"stale": _changes(stale.current, source), "base": stale.sha256}
    else:
        messages.success(request, "Saved." if saved.blob_id != found.blob_id else "Nothing has changed.")
        return redirect("studio:script", slug, user_id, pk)
    context = page_context(request, persona, found, source=source) | context
    return render(request, "studio/script.html", context, status=409 if "stale" in context else 422)


@login_required
@require_http_methods(["GET", "POST"])
def create(request: HttpRequest, slug: str, user_id: str) -> HttpResponse:
    """A new script, begun from a starter. ``task`` names the task it is to grade."""
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "edit")
    wanted = number_of(request.POST.get("task") or request.GET.get("task"))
    task = access.find_task(request.user, slug, user_id, wanted) if wanted else None
    name, error = request.POST.get("name", f"{task.task_id.strip()}.py" if task else ""), ""
    if request.method == "POST":
        try:
            made = scripts.create_script(
                persona.pk, name, STARTER, by=request.user, task_id=task.pk if task else None
            )  # fmt: skip
            return redirect("studio:script", slug, user_id, made.pk)
        except drafts.DraftRefused as refusal:
            error = str(refusal)
    context = {"persona": persona, "benchmark": persona.benchmark, "task": task, "name": name, "error": error}
    return render(request, "studio/script_new.html", context, status=422 if error else 200)


@login_required
def version(request: HttpRequest, slug: str, user_id: str, pk: int, number: int) -> HttpResponse:
    """What a save of the script changed."""
    persona = access.find_persona(request.user, slug, user_id)
    found = find_script(persona, pk)
    versions = scripts.script_versions(found)
    shown = next((one for one in versions if one.revision.number == number), None)
    if shown is None:
        raise Http404
    texts = Blob.objects.read([shown.sha256, shown.before])
    now, before = (texts.get(sha, b"").decode("utf-8", "replace") for sha in (shown.sha256, shown.before))
    context = {
        "persona": persona,
        "benchmark": persona.benchmark,
        "script": found,
        "shown": shown,
        "is_now": shown.sha256 == found.blob_id,
        "changes": _changes(before, now) if shown.before else [],
        "text": now,
        "can": access.actions_in(request.user, persona.benchmark),
    }
    return render(request, "studio/script_version.html", context)


@login_required
@require_POST
def restore(request: HttpRequest, slug: str, user_id: str, pk: int, number: int) -> HttpResponse:
    """Make an earlier text the script again, as a new version."""
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "edit")
    found = find_script(persona, pk)
    shown = next((one for one in scripts.script_versions(found) if one.revision.number == number), None)
    if shown is None:
        raise Http404
    text = Blob.objects.read([shown.sha256])[shown.sha256].decode("utf-8", "replace")
    try:
        scripts.save_script(
            found.pk, text, by=request.user, note=f"{found.path} as in version {number}.", verb="restored"
        )
        messages.success(request, f"The script says what it said in version {number}.")
    except drafts.DraftRefused as refusal:
        messages.error(request, str(refusal))
    return redirect("studio:script", slug, user_id, pk)


@login_required
@require_POST
def remove(request: HttpRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "edit")
    found = find_script(persona, pk)
    try:
        scripts.remove_script(found.pk, by=request.user)
    except drafts.DraftRefused as refusal:
        messages.error(request, f"Not removed. {refusal}")
        return redirect("studio:script", slug, user_id, pk)
    messages.success(request, f"{found.path} is removed. Its versions stay in the persona's history.")
    return redirect("studio:profile", slug, user_id)


def find_script(persona: Persona, pk: int) -> GraderScript:
    return get_object_or_404(persona.grader_scripts.select_related("blob"), pk=pk)


def page_context(
    request: HttpRequest, persona: Persona, found: GraderScript, *, source: str | None = None
) -> dict[str, Any]:
    """What the page of a script shows, with what was typed in place of what is stored if there is something."""
    stored = scripts.text_of(found.blob)
    row = ScriptReport.objects.filter(sha256=found.blob_id, analysis=ANALYSIS).first()
    report = GraderReport.model_validate(row.report) if row else None
    using = scripts.tasks_using(persona, found.path)
    reading = read_script(stored) if stored is not None else None
    return {
        "persona": persona,
        "benchmark": persona.benchmark,
        "script": found,
        "name": found.path.rpartition("/")[2],
        "source": stored if source is None else source,
        "readable": stored is not None,
        "changed": source is not None and stored is not None and scripts.plain(stored) != source,
        "base": found.blob_id,
        "report": report,
        "problem_line": (reading.line if reading and reading.problem else None) or (report.line if report else None),
        "problem": (reading.problem if reading else "") or (report.problem if report else ""),
        "using": using,
        "keys": keys_of(report, using),
        "findings": Finding.objects.filter(task__in=using, rule__startswith="grader-").order_by("rule"),
        "versions": scripts.script_versions(found)[:12],
        "can": access.actions_in(request.user, persona.benchmark),
        "longest": scripts.LONGEST,
    }


def keys_of(report: GraderReport | None, using: list[Task]) -> list[KeyPlace]:
    """The keys as the items they are in each task: after those of its checklist, in the script's order."""
    if report is None or report.keys is None:
        return []
    scored = {task.pk: task.checklist.exclude(criterion="").count() for task in using}
    marks = dict.fromkeys(report.never, "never") | dict.fromkeys(report.always, "always")
    return [
        KeyPlace(key, marks.get(key, ""), tuple((task, scored[task.pk] + place) for task in using))
        for place, key in enumerate(report.keys, 1)
    ]


def _changes(before: str, now: str) -> list[FieldChange]:
    return [FieldChange("source", "Text", [Difference("", line_pieces(before, now))])] if before != now else []


@dataclass(frozen=True)
class TaskKey:
    """A key as one task has it: the item it is, or the item that names it in vain."""

    key: str
    number: int | None = None
    named_by: int | None = None


def script_keys(script: GraderScript, task: TaskSpec) -> list[TaskKey]:
    """The keys the task's script gives, as items of the task; then those its checklist names and it does not give."""
    keys: list[str] = script.keys or []
    first = len(task.scored_items) + 1
    found = [TaskKey(key, number) for number, key in enumerate(keys, first)]
    if script.keys is not None:
        named = {key: position for position, key, _ in keys_named(task) if key not in keys}
        found += [TaskKey(key, named_by=position) for key, position in named.items()]
    return found

"""Grader scripts: their page, new ones, and their versions compared and restored. Trials are in evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect

from studio import access
from studio.access import SignedInRequest
from studio.domain.checks.rules.graders import mentioned_keys
from studio.domain.diff import Difference, FieldChange, line_pieces
from studio.domain.graders import ANALYSIS, GraderReport, read_script
from studio.domain.task import TaskSpec
from studio.drafts.editor import Outcome, Saved
from studio.drafts.validate import DraftError
from studio.files.downloads import download
from studio.forms.post_data import Posted, number_of
from studio.models import Blob, Finding, GraderScript, Persona, ScriptReport, Task
from studio.personas.files import FileVersions, save_file
from studio.personas.scripts import (
    MAX_SCRIPT,
    SCRIPTS,
    STARTER_SCRIPT,
    ScriptText,
    ScriptVersion,
    create_script,
    script_versions,
    tasks_graded_by,
)
from studio.views.editing import FilePage, ReadForm
from studio.views.pages import persona_page, place_of, show


class ScriptPage(FilePage[ScriptText]):
    """``name``: the script's key."""

    kind, key, template = SCRIPTS, "script", "studio/personas/script.html"

    def __init__(self, request: SignedInRequest, persona: Persona, name: str) -> None:
        super().__init__(request, persona, name)
        self.script = find_script(persona, number_of(name))
        self.versions.name = self.script.path

    def address_of(self, name: str) -> str:
        return self.reverse("script", name)

    @property
    def exists(self) -> bool:
        return True

    def read(self, data: QueryDict, base: ScriptText, *, store: bool = False) -> ReadForm[ScriptText]:
        typed = Posted(data).text("source")
        return ReadForm(ScriptText(source=typed.rstrip("\n")), typed)

    def file_context(self, values: str | None, spec: ScriptText) -> dict[str, Any]:
        stored = _readable(self.script)
        row = ScriptReport.objects.filter(sha256=self.script.blob_id, analysis=ANALYSIS).first()
        report = GraderReport.model_validate(row.report) if row else None
        using = tasks_graded_by(self.persona, self.script.path)
        reading = read_script(stored) if stored is not None else None
        return {
            "script": self.script,
            "name": self.script.path.rpartition("/")[2],
            "source": f"{spec.source}\n" if values is None else values,
            "readable": stored is not None,
            "note": self.request.POST.get("note", ""),
            "report": report,
            "problem_line": (reading.line if reading and reading.problem else None)
            or (report.line if report else None),
            "problem": (reading.problem if reading else "") or (report.problem if report else ""),
            "using": using,
            "keys": keys_of(report, using),
            "findings": Finding.objects.filter(task__in=using, rule__startswith="grader-").order_by("rule"),
            "versions": script_versions(self.script)[:12],
            "longest": MAX_SCRIPT,
        }

    def show(self) -> HttpResponse:
        if "download" in self.request.GET:
            return download(self.script.path, bytes(self.script.blob.content))
        return super().show()

    def announce(self, outcome: Outcome[ScriptText]) -> None:
        messages.success(self.request, "Saved." if isinstance(outcome, Saved) else "Nothing has changed.")


def _readable(script: GraderScript) -> str | None:
    """None if it is not UTF-8."""
    try:
        return bytes(script.blob.content).decode()
    except UnicodeDecodeError:
        return None


def find_script(persona: Persona, pk: int) -> GraderScript:
    return get_object_or_404(persona.grader_scripts.select_related("blob"), pk=pk)


@dataclass(frozen=True)
class KeyUse:
    """A key of the script, and the item it is in each task."""

    key: str
    mark: str
    """``always`` or ``never`` earned in trials; empty: neither, or not run yet."""
    items: tuple[tuple[Task, int], ...]


def keys_of(report: GraderReport | None, using: list[Task]) -> list[KeyUse]:
    """A task's checklist items come first, then the script's keys in order."""
    if report is None or report.keys is None:
        return []
    marks = dict.fromkeys(report.never, "never") | dict.fromkeys(report.always, "always")
    return [
        KeyUse(key, marks.get(key, ""), tuple((task, task.n_items + position) for task in using))
        for position, key in enumerate(report.keys, 1)
    ]


@dataclass(frozen=True)
class TaskScriptKey:
    """A key in one task: the number of its item, or of the item that refers to it although the script lacks it."""

    key: str
    number: int | None = None
    named_by: int | None = None


def script_keys(script: GraderScript, task: TaskSpec) -> list[TaskScriptKey]:
    """The script's keys as items of the task, then keys that only its checklist names."""
    keys: list[str] = script.keys or []
    first = len(task.scored_items) + 1
    rows = [TaskScriptKey(key, number) for number, key in enumerate(keys, first)]
    if script.keys is not None:
        named = {key: position for position, key, _ in mentioned_keys(task) if key not in keys}
        rows += [TaskScriptKey(key, named_by=position) for key, position in named.items()]
    return rows


@persona_page("edit", "GET", "POST")
def create(request: SignedInRequest, persona: Persona) -> HttpResponse:
    task_pk = number_of(request.POST.get("task") or request.GET.get("task"))
    task = access.find_task(request.user, persona.benchmark.slug, persona.user_id, task_pk) if task_pk else None
    name, message = request.POST.get("name", f"{task.task_id.strip()}.py" if task else ""), ""
    if request.method == "POST":
        try:
            new = create_script(persona, name, STARTER_SCRIPT, by=request.user, task_id=task.pk if task else None)
            return redirect("studio:script", *place_of(persona), new.pk)
        except DraftError as error:
            message = str(error)
    context, status = {"task": task, "name": name, "error": message}, 422 if message else 200
    return show(request, persona, "studio/personas/script_new.html", context, status=status)


@persona_page()
def version(request: SignedInRequest, persona: Persona, pk: int, number: int) -> HttpResponse:
    script = find_script(persona, pk)
    shown = _find_version(script, number)
    texts = Blob.objects.read([shown.sha256, shown.before])
    now, before = (texts.get(sha, b"").decode("utf-8", "replace") for sha in (shown.sha256, shown.before))
    context = {
        "script": script,
        "shown": shown,
        "is_now": shown.sha256 == script.blob_id,
        "changes": _changes(before, now) if shown.before else [],
        "text": now,
    }
    return show(request, persona, "studio/personas/script_version.html", context)


@persona_page("edit", "POST")
def restore(request: SignedInRequest, persona: Persona, pk: int, number: int) -> HttpResponse:
    script = find_script(persona, pk)
    _find_version(script, number)
    text = FileVersions(SCRIPTS, persona, script.path).at(number)
    note = f"{script.path} as in version {number}."
    try:
        save_file(SCRIPTS, persona, script.path, text, by=request.user, note=note, verb="restored")
        messages.success(request, f"Restored version {number} of the script.")
    except DraftError as error:
        messages.error(request, str(error))
    return redirect("studio:script", *place_of(persona), pk)


def _find_version(script: GraderScript, number: int) -> ScriptVersion:
    """Raises Http404."""
    for version in script_versions(script):
        if version.revision.number == number:
            return version
    raise Http404


def _changes(before: str, now: str) -> list[FieldChange]:
    return [FieldChange("source", "Text", [Difference("", line_pieces(before, now))])] if before != now else []

"""What the page of a grader script shows, and what is typed there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import QueryDict
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.urls import reverse

from studio import access
from studio.access import SignedInRequest
from studio.domain.checks.rules.grader_keys import mentioned_keys
from studio.domain.graders import ANALYSIS, GraderReport, read_script
from studio.domain.task import TaskSpec
from studio.drafts.editor import Outcome, Saved
from studio.forms.post_data import Posted
from studio.models import Finding, GraderScript, Persona, ScriptReport, Task
from studio.personas import scripts
from studio.personas.editors import ScriptEditor
from studio.personas.versions import ScriptText
from studio.views.editing import PersonaPage, ReadForm


class ScriptPage(PersonaPage[ScriptText]):
    def __init__(self, request: SignedInRequest, persona: Persona, found: GraderScript) -> None:
        super().__init__(request, ScriptEditor(persona, found, request.user))
        self.found = found
        self.address = reverse("studio:script", args=[persona.benchmark.slug, persona.user_id, found.pk])

    def read(self, data: QueryDict, base: ScriptText, *, store: bool = False) -> ReadForm[ScriptText]:
        typed = Posted(data).text("source")
        return ReadForm(ScriptText(source=typed.rstrip("\n")), {"source": typed, "note": data.get("note", "")})

    def context(self, sheet: dict[str, str] | None, spec: ScriptText) -> dict[str, Any]:
        typed = sheet or {"source": spec.source + "\n"}
        return page_context(self.request, self.persona, self.found, **typed)

    def html(
        self, context: dict[str, Any], theirs: ScriptText, spec: ScriptText, sent: ReadForm[ScriptText]
    ) -> str:  # fmt: skip
        sheet = sent.values if sent.errors else sent.values | {"source": spec.source + "\n"}
        page = self.context(sheet, spec) | {"errors": sent.errors} | context
        return render_to_string("studio/personas/script.html", page, self.request)

    def announce(self, outcome: Outcome[ScriptText]) -> None:
        messages.success(self.request, "Saved." if isinstance(outcome, Saved) else "Nothing has changed.")


@dataclass(frozen=True)
class KeyUse:
    """A key, and which item of each task it is."""

    key: str
    mark: str
    """``always`` or ``never`` earned; empty: neither, or not run yet."""
    places: tuple[tuple[Task, int], ...]


def find_script(persona: Persona, pk: int) -> GraderScript:
    return get_object_or_404(persona.grader_scripts.select_related("blob"), pk=pk)


def page_context(
    request: SignedInRequest, persona: Persona, found: GraderScript, *, source: str | None = None, note: str = ""
) -> dict[str, Any]:
    """What the page of a script shows, with what was typed in place of what is stored if there is something."""
    stored = scripts.text_of(found.blob)
    row = ScriptReport.objects.filter(sha256=found.blob_id, analysis=ANALYSIS).first()
    report = GraderReport.model_validate(row.report) if row else None
    using = scripts.tasks_graded_by(persona, found.path)
    reading = read_script(stored) if stored is not None else None
    return {
        "persona": persona,
        "benchmark": persona.benchmark,
        "script": found,
        "name": found.path.rpartition("/")[2],
        "source": stored if source is None else source,
        "readable": stored is not None,
        "note": note,
        "on_version": persona.version,
        "report": report,
        "problem_line": (reading.line if reading and reading.problem else None) or (report.line if report else None),
        "problem": (reading.problem if reading else "") or (report.problem if report else ""),
        "using": using,
        "keys": keys_of(report, using),
        "findings": Finding.objects.filter(task__in=using, rule__startswith="grader-").order_by("rule"),
        "versions": scripts.script_versions(found)[:12],
        "can": access.actions_in(request.user, persona.benchmark),
        "longest": scripts.MAX_SCRIPT,
    }


def keys_of(report: GraderReport | None, using: list[Task]) -> list[KeyUse]:
    """The keys as the items they are in each task: after those of its checklist, in the script's order."""
    if report is None or report.keys is None:
        return []
    scored = {task.pk: task.checklist.exclude(criterion="").count() for task in using}
    marks = dict.fromkeys(report.never, "never") | dict.fromkeys(report.always, "always")
    return [
        KeyUse(key, marks.get(key, ""), tuple((task, scored[task.pk] + place) for task in using))
        for place, key in enumerate(report.keys, 1)
    ]


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
        named = {key: position for position, key, _ in mentioned_keys(task) if key not in keys}
        found += [TaskKey(key, named_by=position) for key, position in named.items()]
    return found

"""The grader script editor and its context."""

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
from studio.domain.checks.rules.graders import mentioned_keys
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
    def __init__(self, request: SignedInRequest, persona: Persona, script: GraderScript) -> None:
        super().__init__(request, ScriptEditor(persona, script, request.user))
        self.script = script
        self.address = reverse("studio:script", args=[persona.benchmark.slug, persona.user_id, script.pk])

    def read(self, data: QueryDict, base: ScriptText, *, store: bool = False) -> ReadForm[ScriptText]:
        typed = Posted(data).text("source")
        return ReadForm(ScriptText(source=typed.rstrip("\n")), {"source": typed, "note": data.get("note", "")})

    def context(self, values: dict[str, str] | None, spec: ScriptText) -> dict[str, Any]:
        typed = values or {"source": spec.source + "\n"}
        return page_context(self.request, self.persona, self.script, **typed)

    def html(
        self, context: dict[str, Any], theirs: ScriptText, spec: ScriptText, sent: ReadForm[ScriptText]
    ) -> str:  # fmt: skip
        values = sent.values if sent.errors else sent.values | {"source": spec.source + "\n"}
        page = self.context(values, spec) | {"errors": sent.errors} | context
        return render_to_string("studio/personas/script.html", page, self.request)

    def announce(self, outcome: Outcome[ScriptText]) -> None:
        messages.success(self.request, "Saved." if isinstance(outcome, Saved) else "Nothing has changed.")


@dataclass(frozen=True)
class KeyUse:
    """A key of the script, and the item it is in each task."""

    key: str
    mark: str
    """``always`` or ``never`` earned in trials; empty: neither, or not run yet."""
    items: tuple[tuple[Task, int], ...]


def find_script(persona: Persona, pk: int) -> GraderScript:
    return get_object_or_404(persona.grader_scripts.select_related("blob"), pk=pk)


def page_context(
    request: SignedInRequest, persona: Persona, script: GraderScript, *, source: str | None = None, note: str = ""
) -> dict[str, Any]:
    """Context of a script's page; ``source``: typed text, shown instead of the stored one."""
    stored = scripts.text_of(script.blob)
    row = ScriptReport.objects.filter(sha256=script.blob_id, analysis=ANALYSIS).first()
    report = GraderReport.model_validate(row.report) if row else None
    using = scripts.tasks_graded_by(persona, script.path)
    reading = read_script(stored) if stored is not None else None
    return {
        "persona": persona,
        "benchmark": persona.benchmark,
        "script": script,
        "name": script.path.rpartition("/")[2],
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
        "versions": scripts.script_versions(script)[:12],
        "can": access.actions_in(request.user, persona.benchmark),
        "longest": scripts.MAX_SCRIPT,
    }


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

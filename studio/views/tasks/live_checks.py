"""What the task editor shows while the user types: findings, the evidence map, the first message."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpResponse, JsonResponse, QueryDict
from django.template.loader import render_to_string

from studio.access import SignedInRequest
from studio.domain.checks.fixes import fix_for
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.opening_message import opening_message
from studio.domain.task import TaskSpec
from studio.findings import waivers
from studio.forms import signals
from studio.forms.files import content_of
from studio.forms.fixes import changes_of
from studio.forms.post_data import Posted, number_of
from studio.forms.tasks import TaskForm, posted_task_form, read_task_form, without_empty_rows
from studio.models import Task
from studio.tasks import checks
from studio.tasks.versions import spec_at
from studio.views.pages import frame, task_page
from studio.views.tasks import editor_context

ROW_INPUTS = {"intents": "content", "checklist": "criterion", "assets": "path", "expected_artifacts": "path"}
"""The input of a row that its findings are about, by list."""
MARK = ("input", "passage", "severity", "message", "fingerprint")
"""What the page needs to underline the words of a finding."""


@task_page("edit", "POST")
def check(request: SignedInRequest, task: Task) -> HttpResponse:
    form, spec, texts = read_editor(request, task)
    episode = checks.episode_with(task, spec)
    findings = checks.check_unsaved(task, spec, texts=texts, episode=episode)
    return JsonResponse(findings_response(request, task, form, spec, findings, episode))


def read_editor(request: SignedInRequest, task: Task) -> tuple[TaskForm, TaskSpec, Mapping[str, str]]:
    """The form as sent, without empty rows; the task in it, row by row; and its edited texts by SHA-256."""
    base = spec_at(task, number_of(request.POST.get("base_version")))
    form = posted_task_form(Posted(request.POST), base, editor_context.file_tokens(task))
    spec, _ = read_task_form(form, base)
    edited = [row for row in form.files if row["text"] is not None]
    texts = {content[0]: row["text"] for row in edited if (content := content_of(row))}
    return without_empty_rows(form, spec), spec, texts


def findings_response(
    request: SignedInRequest, task: Task, form: TaskForm, spec: TaskSpec, findings: list[Finding], episode: EpisodeSpec
) -> dict[str, Any]:
    open_findings, waived = waivers.split_waived(task, findings)
    context = frame(request, task) | {"typing": True}
    rows = finding_rows(open_findings, form, episode)
    pane = context | {"findings": rows, "waived": waived}
    return {
        "findings": render_to_string("studio/findings/parts/task.html", pane, request),
        "evidence": render_to_string(
            "studio/tasks/parts/evidence_map.html",
            context
            | {
                "form": form,
                "map": checks.evidence_map(task, spec),
                "task_names": editor_context.task_names(checks.placed_tasks(task)),
            },
            request,
        ),
        "marks": [{name: row[name] for name in MARK} for row in rows if row["passage"]],
        "fingerprints": [row["fingerprint"] for row in rows],
        "sections": editor_context.marked_sections(open_findings),
        "count": len(open_findings),
        "parts": editor_context.counts(form, spec),
    }


@task_page("edit", "POST")
def signal(request: SignedInRequest, task: Task) -> HttpResponse:
    """The first message and the signal's errors for the page as it is; with ``to``, its inputs in that format."""
    base = spec_at(task, number_of(request.POST.get("base_version")))
    data: QueryDict = request.POST
    format_errors: dict[str, str] = {}
    if to := data.get("to", ""):
        try:
            data = signals.switch_format(data, base.trigger.payload, to)
        except signals.SignalFormatError as error:
            format_errors = {error.input_name: str(error)}
    form = posted_task_form(Posted(data), base, editor_context.file_tokens(task))
    spec, errors = read_task_form(form, base)
    answer: dict[str, Any] = {
        "opening": opening_message(spec),
        "errors": {name: text for name, text in errors.items() if name.startswith("payload")} | format_errors,
    }
    if to and not format_errors:
        context = {"form": form, "examples": editor_context.examples(spec.trigger.kind)}
        answer["signal"] = render_to_string("studio/tasks/rows/signal.html", context, request)
    elif data.get("kind"):
        answer["examples"] = editor_context.examples(spec.trigger.kind)
    return JsonResponse(answer)


def finding_rows(findings: Iterable[Any], form: TaskForm, episode: EpisodeSpec) -> list[dict[str, Any]]:
    """Findings with their input and their one-click fix, for a page whose rows may have moved since it was rendered."""
    result = []
    for finding in findings:
        name = finding.field
        rows = getattr(form, name, None) if name in ROW_INPUTS else None
        if rows and finding.item and finding.item <= len(rows):
            name = f"{name}.{rows[finding.item - 1]['key']}.{ROW_INPUTS[name]}"
        one_click = fix_for(finding, episode)
        result.append(
            finding.model_dump()
            | {
                "fingerprint": finding.fingerprint,
                "input": name,
                "one_click": one_click,
                "changes": json.dumps(changes_of(one_click, form), ensure_ascii=False) if one_click else "",
            }
        )
    return result

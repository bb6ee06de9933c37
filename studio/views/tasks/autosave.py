"""What the editor's page says while somebody writes: check this, keep this, who else is here."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST

from studio import access
from studio.access import SignedInRequest
from studio.domain.checks.fixes import fix_for
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.opening_message import opening_message
from studio.domain.task import TaskSpec
from studio.drafts.autosave import EditorKey, discard_autosave
from studio.drafts.editor import Conflicted, Invalid, Outcome, Saved, Unchanged
from studio.drafts.validate import DraftError
from studio.files.previews import decode
from studio.files.tokens import FileTokens
from studio.findings import waivers
from studio.forms import signals
from studio.forms.files import content_of, edited_contents
from studio.forms.fixes import changes_of
from studio.forms.post_data import Posted, number_of
from studio.forms.tasks import (
    TaskForm,
    posted_task_form,
    read_task_form,
    task_form,
    with_row_keys_of,
    without_empty_rows,
)
from studio.models import Blob, Task
from studio.tasks import checks
from studio.tasks.save import TaskEditor
from studio.tasks.versions import cached_spec_at, spec_at
from studio.views.conflicts import INPUTS
from studio.views.editing import EditorPage, ReadForm, autosave_response
from studio.views.tasks import editor_context

ROWS = INPUTS | {"assets": "path", "expected_artifacts": "path"}
"""The input that stands for a row in a finding, by the rows' name."""
ROW_INPUTS = ROWS | {"checklist": "weight", "depends_on": "task_id"}
"""The input beside which a row's error is shown."""


@login_required
@require_POST
def check(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """What the checks say of the page as it stands: the side pane's two lists, and the words to mark."""
    row = access.find_task(request.user, slug, user_id, pk)
    access.require(request.user, row.episode.persona.benchmark, "edit")
    sheet, spec, typed = read_editor(request, row)
    episode = checks.episode_with(row, spec)
    found = checks.check_unsaved(row, spec, texts=typed, episode=episode)
    return JsonResponse(findings_response(request, row, sheet, spec, found, episode))


def read_editor(request: SignedInRequest, row: Task) -> tuple[TaskForm, TaskSpec, Mapping[str, str]]:
    """The page as it was sent, the task it says, row by row, and the texts of its files by hash."""
    base = cached_spec_at(row, number_of(request.POST.get("base_version")))
    sheet = posted_task_form(Posted(request.POST), base, tokens_of(row))
    spec, _ = read_task_form(sheet, base)
    typed = {known[0]: one["text"] for one in sheet.files if one["text"] is not None and (known := content_of(one))}
    return without_empty_rows(sheet, spec), spec, typed


def findings_response(
    request: SignedInRequest, row: Task, sheet: TaskForm, spec: TaskSpec, found: list[Finding], episode: EpisodeSpec
) -> dict[str, Any]:
    """These findings of a task in its episode as the page takes them in."""
    benchmark = row.episode.persona.benchmark
    left, allowed = waivers.split_waived(row, found)
    parts = {"task": row, "persona": row.episode.persona, "benchmark": benchmark, "typing": True}
    told = shown_findings(left, sheet, episode)
    pane = parts | {"findings": told, "can": access.actions_in(request.user, benchmark), "waived": allowed}
    return {
        "findings": render_to_string("studio/findings/parts/task.html", pane, request),
        "evidence": render_to_string(
            "studio/tasks/parts/evidence_map.html",
            parts
            | {
                "sheet": sheet,
                "map": checks.evidence_map(row, spec),
                "session_names": editor_context.session_names(row.episode.tasks.values("task_id", "title", "position")),
            },
            request,
        ),
        "marks": [
            {"input": one["input"], "words": one["words"], "severity": one["severity"], "message": one["message"]}
            for one in told
            if one["words"]
        ],
        "fingerprints": [one["fingerprint"] for one in told],
        "sections": editor_context.marked_sections(left),
        "count": len(left),
    }


class TaskPage(EditorPage[TaskSpec]):
    editor: TaskEditor

    def __init__(self, request: SignedInRequest, row: Task) -> None:
        super().__init__(request, row.episode.persona.benchmark)
        self.editor = TaskEditor(row, self.user)
        self.address = row.get_absolute_url()

    def read(self, data: QueryDict, base: TaskSpec, *, store: bool = False) -> ReadForm[TaskSpec]:
        sheet = posted_task_form(Posted(data), base, tokens_of(self.editor.task))
        if store:
            Blob.objects.store(edited_contents(sheet.files))
        spec, errors = read_task_form(sheet, base)
        return ReadForm(spec, sheet, errors)

    def html(self, context: dict[str, Any], theirs: TaskSpec, spec: TaskSpec, sent: ReadForm[TaskSpec]) -> str:
        sheet = sent.values if sent.errors else form_after(spec, sent.values, tokens_of(self.editor.task))
        page = editor_context.context(self.request, self.editor.task, theirs, sheet)
        page["opened"] = {one["key"] for one in sent.values.checklist if not one["brief"]}
        return render_to_string("studio/tasks/editor.html", page | context, self.request)

    def announce(self, outcome: Outcome[TaskSpec]) -> None:
        if isinstance(outcome, Unchanged):
            messages.info(self.request, f"Already saved as version {outcome.version}.")
        elif isinstance(outcome, Saved) and outcome.merged:
            text = f"Saved as version {outcome.version}, merged with changes saved since."
            messages.success(self.request, text)
        else:
            messages.success(self.request, f"Saved as version {outcome.version}.")

    def with_errors(self, form: ReadForm[TaskSpec], invalid: Invalid[TaskSpec]) -> ReadForm[TaskSpec]:
        errors = invalid.errors
        if invalid.refusal:
            errors = {_input_of(invalid.refusal, form.values): str(invalid.refusal)}
        return replace(form, values=replace(form.values, errors=dict(errors)), errors=errors)

    def state(self) -> dict[str, Any]:
        return {"state": self.editor.task.state}


def _input_of(error: DraftError, sheet: TaskForm) -> str:
    """The input beside which a refusal is shown, or its field."""
    rows = getattr(sheet, error.field, None)
    if isinstance(rows, list) and error.item and error.item <= len(rows):
        return f"{error.field}.{rows[error.item - 1]['key']}.{ROW_INPUTS.get(error.field, '')}"
    return error.field


@login_required
def autosave_task(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    return autosave_response(TaskPage(request, access.find_task(request.user, slug, user_id, pk)))


@login_required
@require_POST
def signal(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """What the assistant would receive first if the page were saved so, and what cannot be read of the signal. With
    ``to``: also the signal written that other way."""
    row = access.find_task(request.user, slug, user_id, pk)
    access.require(request.user, row.episode.persona.benchmark, "edit")
    base = spec_at(row, number_of(request.POST.get("base_version")))
    data: QueryDict = request.POST
    problem: dict[str, str] = {}
    if to := data.get("to", ""):
        try:
            data = signals.switch_format(data, base.trigger.payload, to)
        except signals.SignalFormatError as refusal:
            problem = {refusal.place: str(refusal)}
    sheet = posted_task_form(Posted(data), base, tokens_of(row))
    spec, errors = read_task_form(sheet, base)
    said: dict[str, Any] = {
        "opening": opening_message(spec),
        "errors": {name: text for name, text in errors.items() if name.startswith("payload")} | problem,
    }
    if to and not problem:
        shown = {"sheet": sheet, "examples": editor_context.examples(spec.trigger.kind)}
        said["signal"] = render_to_string("studio/tasks/rows/signal.html", shown, request)
    elif data.get("kind"):
        said["examples"] = editor_context.examples(spec.trigger.kind)
    return JsonResponse(said)


def autosave_posted(request: SignedInRequest, row: Task) -> None:
    """Autosave the page's text if a button of the page sent it along with something else."""
    if "base_version" in request.POST:
        TaskPage(request, row).autosave(request.POST)


class UnresolvedError(ValueError):
    """Autosaved text that cannot be saved as a version; the message says what to do."""


def save_autosaved(request: SignedInRequest, row: Task, *, note: str = "") -> None:
    """Make a version of the user's autosaved text before a step that concerns a version. Raises UnresolvedError."""
    outcome = TaskPage(request, row).save_autosaved(note=note)
    if isinstance(outcome, Conflicted):
        raise UnresolvedError("You both edited this field. Draft kept; resolve the conflict.")
    if isinstance(outcome, Invalid):
        unreadable = "Your last changes cannot be saved yet. See the fields marked below."
        raise UnresolvedError(str(outcome.refusal or unreadable))


@login_required
@require_POST
def discard(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """Discard the autosaved text."""
    row = access.find_task(request.user, slug, user_id, pk)
    access.require(request.user, row.episode.persona.benchmark, "edit")
    discard_autosave(EditorKey(task=row), request.user)
    return redirect(row)


def tokens_of(row: Task) -> FileTokens:
    return FileTokens(row.episode.persona.benchmark_id)


def form_after(spec: TaskSpec, sent: TaskForm, tokens: FileTokens) -> TaskForm:
    """The sheet of what a page that was ``sent`` says now: its rows are called as that page calls them, what it has
    open stays open."""
    sheet = with_row_keys_of(task_form(spec, tokens), sent)
    if sent.values[signals.SWITCH] == "raw":
        sheet.values |= {signals.SWITCH: "raw", "payload_raw": signals.raw_of(spec.trigger.payload)}
    open_texts(sheet.files, [one["key"] for one in sent.files if one["text"] is not None])
    return sheet


def open_texts(rows: Iterable[dict[str, Any]], edited: Collection[str]) -> None:
    """Give the rows that are edited on a page the text that they have now: it would go on saying what it said."""
    hashes = [(one, known[0]) for one in rows if one["key"] in edited and (known := one["content"])]
    contents = Blob.objects.read([sha256 for _, sha256 in hashes]) if hashes else {}
    for one, sha256 in hashes:
        if read := decode(contents.get(sha256, b"")):
            one |= {"text": read.text, "form": read.form}


def shown_findings(found: Iterable[Any], sheet: TaskForm, episode: EpisodeSpec) -> list[dict[str, Any]]:
    """Findings with the input that each is about and what one click would do, for a page whose rows have moved since
    it was drawn."""
    told = []
    for finding in found:
        name = finding.field
        rows = getattr(sheet, name, None) if name in ROWS else None
        if rows and finding.item and finding.item <= len(rows):
            name = f"{name}.{rows[finding.item - 1]['key']}.{ROWS[name]}"
        fix = fix_for(finding, episode)
        told.append(
            finding.model_dump()
            | {
                "fingerprint": finding.fingerprint,
                "input": name,
                "fix": fix,
                "changes": json.dumps(changes_of(fix, sheet), ensure_ascii=False) if fix else "",
            }
        )
    return told

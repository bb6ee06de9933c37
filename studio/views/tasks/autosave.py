"""Autosave and saving on the task editor's page."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string

from studio import access
from studio.access import SignedInRequest
from studio.domain.task import TaskSpec
from studio.drafts import autosave
from studio.drafts.autosave import EditorKey
from studio.drafts.editor import Conflicted, Invalid, Outcome, Saved, Unchanged
from studio.drafts.validate import DraftError
from studio.files.previews import decode
from studio.files.tokens import FileTokens
from studio.forms import signals
from studio.forms.files import edited_contents
from studio.forms.post_data import Posted
from studio.forms.tasks import TaskForm, posted_task_form, read_task_form, task_form, with_row_keys_of
from studio.models import Blob, Task
from studio.tasks.save import TaskEditor
from studio.views.autosave import autosave_response
from studio.views.editing import EditorPage, ReadForm
from studio.views.pages import task_page
from studio.views.tasks import editor_context

ERROR_INPUTS = {
    "intents": "content",
    "checklist": "weight",
    "assets": "path",
    "expected_artifacts": "path",
    "depends_on": "task_id",
}
"""The input of a row that its error is shown beside, by list."""
ENDS = {
    "in_review": "This task is in review. Saving a version withdraws it: reviewers see it again once you submit it.",
    "approved": "This task is approved. Saving a version ends the approval: the new version needs another review.",
}
"""What saving a version ends, by the task's state."""


class TaskPage(EditorPage[TaskSpec]):
    editor: TaskEditor
    template = "studio/tasks/editor.html"

    def __init__(self, request: SignedInRequest, task: Task) -> None:
        super().__init__(request, task.persona.benchmark)
        self.editor = TaskEditor(task, self.user)
        self.address = task.get_absolute_url()

    def read(self, data: QueryDict, base: TaskSpec, *, store: bool = False) -> ReadForm[TaskSpec]:
        form = posted_task_form(Posted(data), base, editor_context.file_tokens(self.editor.task))
        if store:
            Blob.objects.store(edited_contents(form.files))
        spec, errors = read_task_form(form, base)
        return ReadForm(spec, form, errors)

    def context(self, values: TaskForm | None, spec: TaskSpec) -> dict[str, Any]:
        versions, task = self.editor.versions, self.editor.task
        form = values or task_form(spec, editor_context.file_tokens(task))
        return editor_context.context(self.request, task, versions.at(versions.newest), form)

    def html(self, context: dict[str, Any], theirs: TaskSpec, spec: TaskSpec, sent: ReadForm[TaskSpec]) -> str:
        tokens = editor_context.file_tokens(self.editor.task)
        form = sent.values if sent.errors else _form_after(spec, sent.values, tokens)
        page = editor_context.context(self.request, self.editor.task, theirs, form)
        page["opened"] = {row["key"] for row in sent.values.checklist if not row["brief"]}
        return render_to_string(self.template, page | context, self.request)

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

    def question_before_save(self) -> str:
        return ENDS.get(self.editor.task.state, "")

    def state(self) -> dict[str, Any]:
        return {"state": self.editor.task.state}


def _input_of(error: DraftError, form: TaskForm) -> str:
    rows = getattr(form, error.field, None)
    if isinstance(rows, list) and error.item and error.item <= len(rows):
        return f"{error.field}.{rows[error.item - 1]['key']}.{ERROR_INPUTS.get(error.field, '')}"
    return error.field


@task_page()
def autosave_task(request: SignedInRequest, task: Task) -> HttpResponse:
    return autosave_response(TaskPage(request, task))


def autosave_posted(request: SignedInRequest, task: Task) -> None:
    if "base_version" in request.POST:
        TaskPage(request, task).autosave(request.POST)


class UnresolvedError(ValueError):
    pass


def save_autosaved(request: SignedInRequest, task: Task, *, note: str = "") -> None:
    """Save the user's autosaved text before a step that needs a version. Raises UnresolvedError."""
    outcome = TaskPage(request, task).save_autosaved(note=note)
    if isinstance(outcome, Conflicted):
        raise UnresolvedError("A newer version has other words in the same field. Draft kept; resolve the conflict.")
    if isinstance(outcome, Invalid):
        unreadable = "Your last changes cannot be saved yet. See the fields marked below."
        raise UnresolvedError(str(outcome.refusal or unreadable))


@task_page("edit", "POST")
def discard(request: SignedInRequest, task: Task) -> HttpResponse:
    autosave.discard(EditorKey(task=task), request.user)
    return redirect(task)


@task_page("view", "POST")
def take_back(request: SignedInRequest, task: Task, number: int) -> HttpResponse:
    """Discarded text is the autosaved text again."""
    row = get_object_or_404(autosave.discarded_texts(EditorKey(task=task), request.user), pk=number)
    access.require(request.user, task.persona.benchmark, "edit")
    autosave.take_back(row)
    return redirect(task)


def _form_after(spec: TaskSpec, sent: TaskForm, tokens: FileTokens) -> TaskForm:
    """The form for ``spec`` with the row keys, the signal's format and the edited files of the form the page sent."""
    form = with_row_keys_of(task_form(spec, tokens), sent)
    if sent.values[signals.SWITCH] == "raw":
        form.values |= {signals.SWITCH: "raw", "payload_raw": signals.raw_of(spec.trigger.payload)}
    _open_texts(form.files, [row["key"] for row in sent.files if row["text"] is not None])
    return form


def _open_texts(rows: Iterable[dict[str, Any]], edited: Collection[str]) -> None:
    hashes = [(row, content[0]) for row in rows if row["key"] in edited and (content := row["content"])]
    contents = Blob.objects.read([sha256 for _, sha256 in hashes]) if hashes else {}
    for row, sha256 in hashes:
        if decoded := decode(contents.get(sha256, b"")):
            row |= {"text": decoded.text, "form": decoded.form}

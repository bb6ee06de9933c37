"""What the editor's page says while somebody writes: check this, keep this, who else is here."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

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
from studio.drafts import autosave
from studio.drafts.autosave import Desk
from studio.drafts.rebase import ConflictError, OnTop
from studio.drafts.save_tasks import canonical
from studio.drafts.validate import DraftError
from studio.files.previews import decode
from studio.files.tokens import unseal
from studio.findings import waivers
from studio.forms import signals
from studio.forms.files import content_of, texts_of
from studio.forms.fixes import changes_of
from studio.forms.post_data import Posted, number_of
from studio.forms.tasks import Sheet, call_rows, read_sheet, rows_of, sheet_from, sheet_of
from studio.models import Blob, Task
from studio.tasks import editor
from studio.views.autosave import KeptPage, Read, answer, posted
from studio.views.conflicts import INPUTS, places
from studio.views.tasks import editor_context

ROWS = INPUTS | {"assets": "path", "expected_artifacts": "path"}
"""The input that stands for a row, by the rows' name."""


@login_required
@require_POST
def check(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """What the checks say of the page as it stands: the side pane's two lists, and the words to mark."""
    row = access.find_task(request.user, slug, user_id, pk)
    access.require(request.user, row.episode.persona.benchmark, "edit")
    sheet, spec, typed = as_typed(request, row)
    episode = editor.episode_with(row, spec)
    found = editor.check_unsaved(row, spec, texts=typed, episode=episode)
    return JsonResponse(judged(request, row, sheet, spec, found, episode))


def as_typed(request: SignedInRequest, row: Task) -> tuple[Sheet, TaskSpec, Mapping[str, str]]:
    """The page as it was sent, the task it says, row by row, and the texts of its files by hash."""
    base = editor.spec_shown(row, number_of(request.POST.get("base_version")))
    sheet = sheet_from(Posted(request.POST), base)
    spec, _ = read_sheet(sheet, base)
    typed = {known[0]: one["text"] for one in sheet.files if one["text"] is not None and (known := content_of(one))}
    return rows_of(sheet, spec), spec, typed


def judged(
    request: SignedInRequest, row: Task, sheet: Sheet, spec: TaskSpec, found: list[Finding], episode: EpisodeSpec
) -> dict[str, Any]:
    """These findings of a task in its episode as the page takes them in."""
    benchmark = row.episode.persona.benchmark
    left, allowed = waivers.sort_out(row, found)
    parts = {"task": row, "persona": row.episode.persona, "benchmark": benchmark, "typing": True}
    told = tell(left, sheet, episode)
    pane = parts | {"findings": told, "can": access.actions_in(request.user, benchmark), "waived": allowed}
    return {
        "findings": render_to_string("studio/findings/parts/task.html", pane, request),
        "evidence": render_to_string(
            "studio/tasks/parts/evidence_map.html",
            parts
            | {
                "sheet": sheet,
                "map": editor.map_evidence(row, spec),
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


class TaskPage(KeptPage[TaskSpec]):
    """The editor's page, of which a version is made after a rest as well."""

    versions: editor.TaskVersions
    by_itself = True

    def __init__(self, request: SignedInRequest, row: Task) -> None:
        super().__init__(request, row.episode.persona.benchmark)
        self.desk = Desk(task=row)
        self.versions = editor.TaskVersions(row)

    def read(self, data: QueryDict, base: TaskSpec, *, store: bool = False) -> Read[TaskSpec]:
        sheet = sheet_from(Posted(data), base)
        spec, errors = read_sheet(sheet, base)
        if store:
            Blob.objects.keep(texts_of(sheet.files))
        return Read(spec if errors else canonical(spec), sheet, errors)

    def html(self, context: dict[str, Any], theirs: TaskSpec, spec: TaskSpec, sent: Read[TaskSpec]) -> str:
        sheet = sent.sheet if sent.errors else sheet_after(spec, sent.sheet)
        page = editor_context.context(self.request, self.versions.task, theirs, sheet)
        page["opened"] = {one["key"] for one in sent.sheet.checklist if not one["brief"]}
        return render_to_string("studio/tasks/editor.html", page | context, self.request)

    def lock(self) -> None:
        rows = Task.objects.select_related("group", "episode__persona__benchmark")
        self.versions.task.refresh_from_db(from_queryset=rows.select_for_update(of=("self",)))

    def says(self) -> dict[str, Any]:
        return {"state": self.versions.task.state}

    def save(self, both: OnTop[TaskSpec], note: str) -> int:
        row = self.versions.task
        revision = editor.save_on_top(row.pk, both.spec, by=self.user, base_version=both.number, note=note)
        row.refresh_from_db(fields=["version", "state"])
        return revision.number


@login_required
def keep(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    return answer(TaskPage(request, access.find_task(request.user, slug, user_id, pk)))


@login_required
@require_POST
def signal(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """What the assistant would receive first if the page were saved so, and what cannot be read of the signal. With
    ``to``: also the signal written that other way."""
    row = access.find_task(request.user, slug, user_id, pk)
    access.require(request.user, row.episode.persona.benchmark, "edit")
    base = editor.spec_at(row, number_of(request.POST.get("base_version")))
    data: QueryDict = request.POST
    problem: dict[str, str] = {}
    if to := data.get("to", ""):
        try:
            data = signals.turned(data, base.trigger.payload, to)
        except signals.SignalFormatError as refusal:
            problem = {refusal.place: str(refusal)}
    sheet = sheet_from(Posted(data), base)
    spec, errors = read_sheet(sheet, base)
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


def keep_posted(request: SignedInRequest, row: Task) -> None:
    """Keep the page's words where a button of the page sent them along with something else it asks for."""
    if "base_version" in request.POST:
        TaskPage(request, row).keep_words(request.POST)


class UnresolvedError(ValueError):
    """Kept words of which no version can be made; the text says what to do."""


def settle(request: SignedInRequest, row: Task, *, note: str = "") -> None:
    """Make a version of what this person typed at the task and left, before a step that speaks of a version."""
    page = TaskPage(request, row)
    copy = autosave.copy_of(page.desk, page.user)
    if copy is None:
        return
    data = posted(copy.sheet or {})
    read = page.read(data, page.versions.at(copy.base_version), store=True)
    if read.errors:
        raise UnresolvedError("Your last changes cannot be saved yet. See the fields marked below.")
    undecided = places(data.getlist("undecided"), read.spec)
    try:
        editor.save_on_top(
            row.pk, read.spec, by=page.user, base_version=copy.base_version, note=note, undecided=undecided
        )
    except ConflictError as refusal:
        raise UnresolvedError("You both edited this field. Draft kept; resolve the conflict.") from refusal
    except DraftError as refusal:
        raise UnresolvedError(str(refusal)) from refusal
    autosave.drop_copy(page.desk, page.user, settled=copy.sheet or {})


@login_required
@require_POST
def discard(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """Go back to the newest version: what was typed since is not wanted."""
    row = access.find_task(request.user, slug, user_id, pk)
    access.require(request.user, row.episode.persona.benchmark, "edit")
    autosave.drop_copy(Desk(task=row), request.user)
    return redirect(row)


def sheet_after(spec: TaskSpec, sent: Sheet) -> Sheet:
    """The sheet of what a page that was ``sent`` says now: its rows are called as that page calls them, what it has
    open stays open."""
    sheet = call_rows(sheet_of(spec), sent)
    if sent.values[signals.SWITCH] == "raw":
        sheet.values |= {signals.SWITCH: "raw", "payload_raw": signals.raw_of(spec.trigger.payload)}
    open_texts(sheet.files, [one["key"] for one in sent.files if one["text"] is not None])
    return sheet


def open_texts(rows: Iterable[dict[str, Any]], edited: Collection[str]) -> None:
    """Give the rows that are edited on a page the text that they have now: it would go on saying what it said."""
    hashes = [(one, known[0]) for one in rows if one["key"] in edited and (known := unseal(one["stored"]))]
    contents = Blob.objects.read([sha256 for _, sha256 in hashes]) if hashes else {}
    for one, sha256 in hashes:
        if read := decode(contents.get(sha256, b"")):
            one |= {"text": read.text, "form": read.form}


def tell(found: Iterable[Any], sheet: Sheet, episode: EpisodeSpec) -> list[dict[str, Any]]:
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

"""The material for a request, read from the database in a constant number of queries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from evaluation.assistance.assistant import AssistanceError
from evaluation.assistance.kinds import (
    LANGUAGES,
    REFERENCE_OF,
    ROW_FIELDS,
    SHOWS_WORKPLACE,
    WRITES_ANEW,
    ProposalRequest,
)
from evaluation.assistance.material import Material, available_tools
from evaluation.assistance.opinions import known_opinions
from evaluation.assistance.proposals import ProposedChange
from evaluation.models import Proposal
from evaluation.protocol.assistance import Kind
from evaluation.tools.documents import read_document
from evaluation.tools.tool import ToolError
from studio.domain.app_data import AppCard, read_app
from studio.domain.base import FileRef
from studio.domain.checks.questions import questions_about
from studio.domain.checks.rules.leaks import given_away
from studio.domain.persona import PersonaSpec
from studio.domain.rule_values import record_apps
from studio.domain.task import TaskSpec
from studio.domain.tool_catalog import general_cards, tool_cards
from studio.drafts.load import load_episode
from studio.files.previews import decode
from studio.models import Blob, Task
from studio.tasks.guidelines import guidelines

MAX_FILE_BYTES = 16_000_000
"""Larger files are not read; a document may have pictures."""
MAX_TEXT_BYTES = 400_000
"""Likewise for plain text."""
MAX_DISMISSED = 40
"""The newest ones are told."""
WORKFLOW = "the reference workflow"
PASTED = "pasted text"
MAX_PASTED_CHARACTERS = 60_000
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def load_material(task: Task, spec: TaskSpec, request: ProposalRequest, *, read: bool = True) -> Material:
    """``spec`` is the version the request is about; everything else is current. See ``file_texts`` for ``read``."""
    episode = load_episode(task.persona)
    ids = [each.task_id for each in episode.tasks]
    earlier = episode.tasks[: ids.index(task.task_id)] if task.task_id in ids else ()
    persona, kind = episode.persona, request.kind
    opinions = known_opinions(task.persona.benchmark_id, questions_about(spec)) if kind == "reword" else None
    leaks = given_away(spec, opinions or {}) if kind == "reword" else ()
    named = available_tools(persona.tools, spec)
    return Material(
        task=spec,
        persona=persona,
        files=file_texts(_files_at_hand(spec, earlier), read=read) if kind in SHOWS_WORKPLACE else {},
        earlier={each.task_id: each for each in earlier},
        given_away=[(leak.number, leak.quote) for leak in leaks if leak.quote],
        tools=(*general_cards(persona), *tool_cards(named)[1]),
        apps=_apps(persona, named) if kind in SHOWS_WORKPLACE else {},
        guidelines=_guidelines(request.field) if kind in WRITES_ANEW else "",
        dismissed=_dismissed(task, request) if kind in WRITES_ANEW else (),
    )


def _files_at_hand(spec: TaskSpec, earlier: Sequence[TaskSpec]) -> list[FileRef]:
    """The task's own, then those that the tasks it builds on left in the workspace."""
    needed = {need.task_id for need in spec.depends_on}
    before = [file for task in earlier if task.task_id in needed for file in task.assets]
    by_path = {file.path: file for file in (*before, *spec.assets)}
    own = [file.path for file in spec.assets]
    return [by_path[path] for path in dict.fromkeys((*own, *by_path))]


def file_texts(files: Sequence[FileRef], *, read: bool = True) -> dict[str, str]:
    """As an agent reads them, by path; pictures and what cannot be read are left out. Documents take seconds to read:
    where it is enough to tell texts apart, ``read`` is false, and each file's sha256 stands for its text."""
    if not read:
        return {file.path: file.sha256 for file in files}
    contents = Blob.objects.read([file.sha256 for file in files if file.size <= MAX_FILE_BYTES])
    texts = {file.path: _text_of(file.path, contents.get(file.sha256, b"")) for file in files}
    return {path: text for path, text in texts.items() if text}


def _text_of(path: str, content: bytes) -> str:
    try:
        text = read_document(path, content)
    except ToolError:
        return ""
    if text is None and len(content) <= MAX_TEXT_BYTES and b"\0" not in content:
        text = decoded.text if (decoded := decode(content)) else ""
    return text or ""


def _apps(persona: PersonaSpec, tools: Sequence[str]) -> dict[str, AppCard]:
    wanted = [app.name for app in record_apps(tools)] if any("__" in name for name in tools) else []
    data = persona.app_data
    contents = Blob.objects.read([data[app].sha256 for app in wanted if app in data])
    return {app: read_app(app, contents.get(data[app].sha256) if app in data else None) for app in wanted}


def _guidelines(field: str) -> str:
    rows = (row for part in guidelines() if part["field"] == field for row in part["rows"])
    return "\n".join(f"- {row['aspect']}: {row['do']} Not: {row['avoid']}" for row in rows)


def _dismissed(task: Task, request: ProposalRequest) -> list[str]:
    same = Proposal.objects.filter(
        task=task, kind=request.kind, field=request.field, item=request.uid or None, decisions__accepted=False
    )
    rows = same.order_by("-pk", "decisions__row").values_list("rows", "decisions__row")[:MAX_DISMISSED]
    return [ProposedChange.model_validate(changes[row]).text for changes, row in rows if changes]


def reference_text(spec: TaskSpec, reference: str, pasted: str = "", *, read: bool = True) -> str:
    if reference == PASTED:
        return pasted[:MAX_PASTED_CHARACTERS]
    if reference == WORKFLOW:
        return spec.reference_workflow
    path = reference.removeprefix(REFERENCE_OF)
    return file_texts([file for file in spec.references if file.path == path], read=read).get(path, "")


def build_request(
    spec: TaskSpec, kind: str, field: str, *, uid: str = "", language: str = "", reference: str = "", pasted: str = ""
) -> ProposalRequest:
    """With no file read. ``spec`` is the version the request is about; ``pasted`` takes precedence over
    ``reference``. Raises AssistanceError."""
    options: dict[str, Any] = {}
    if kind == "translate":
        if language not in LANGUAGES:
            raise AssistanceError("Choose a language to translate into.")
        options = {"language": language}
    if kind == "checklist":
        chosen = PASTED if pasted.strip() else reference
        options = {"reference": chosen, "reference_text": reference_text(spec, chosen, pasted, read=False)}
    row_uid = uid if field in ROW_FIELDS and UUID.fullmatch(uid) else ""
    return ProposalRequest(kind=cast(Kind, kind), field=field, uid=row_uid, **options)


def request_of(proposal: Proposal, spec: TaskSpec, *, read: bool = True) -> ProposalRequest:
    options: Mapping[str, str] = proposal.options
    reference, pasted = options.get("reference", ""), options.get("reference_text", "")
    return ProposalRequest(
        kind=cast(Kind, proposal.kind),
        field=proposal.field,
        uid=str(proposal.item or ""),
        language=options.get("language", ""),
        reference=reference,
        reference_text=reference_text(spec, reference, pasted, read=read) if reference else "",
    )

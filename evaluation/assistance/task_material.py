"""The material for a request, read from the database in a constant number of queries."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from evaluation.assistance.assistant import AssistanceError
from evaluation.assistance.kinds import LANGUAGES, ROW_FIELDS, ProposalRequest
from evaluation.assistance.material import Material
from evaluation.models import Proposal
from evaluation.protocol.assistance import Kind
from studio.domain.checks.sources import opening_text
from studio.domain.task import TaskSpec
from studio.domain.text.leaks import find_leak, topic_of
from studio.drafts.load import load_episode
from studio.files.previews import preview
from studio.models import Blob, Task

MAX_FILE_BYTES = 400_000
"""Larger files are not read."""
MAX_REFERENCE_BYTES = 16_000_000
"""Higher, as a reference may be a document with pictures."""
WORKFLOW = "the reference workflow"
REFERENCE_OF = "the reference of "
"""Prefix of an expected artifact's path."""
PASTED = "pasted text"
MAX_PASTED_CHARACTERS = 60_000
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def load_material(task: Task, spec: TaskSpec) -> Material:
    """``spec`` is the version the request is about; everything else is current."""
    episode = load_episode(task.persona)
    ids = [each.task_id for each in episode.tasks]
    earlier = episode.tasks[: ids.index(task.task_id)] if task.task_id in ids else ()
    topic = topic_of(intent.content for intent in spec.intents)
    leaks = (
        (number, find_leak(intent.content, opening_text(spec), topic)) for number, intent in enumerate(spec.intents, 1)
    )
    return Material(
        task=spec,
        persona=episode.persona,
        files=file_texts(spec),
        earlier={each.task_id: each.title for each in earlier},
        given_away=[(number, leak.source) for number, leak in leaks if leak],
    )


def file_texts(spec: TaskSpec) -> dict[str, str]:
    contents = Blob.objects.read([file.sha256 for file in spec.assets if file.size <= MAX_FILE_BYTES])
    texts = {}
    for file in spec.assets:
        try:
            text = contents.get(file.sha256, b"\0").decode()
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            texts[file.path] = text
    return texts


def reference_text(spec: TaskSpec, reference: str, pasted: str = "") -> str:
    if reference == PASTED:
        return pasted[:MAX_PASTED_CHARACTERS]
    if reference == WORKFLOW:
        return spec.reference_workflow
    if reference.startswith(REFERENCE_OF) and (text := _attached_text(spec, reference.removeprefix(REFERENCE_OF))):
        return text
    return file_texts(spec).get(reference, "")


def _attached_text(spec: TaskSpec, path: str) -> str:
    file = next((each for each in spec.references if each.path == path), None)
    if file is None or file.size > MAX_REFERENCE_BYTES:
        return ""
    return preview(path, Blob.objects.read([file.sha256]).get(file.sha256, b"")).text


def build_request(
    spec: TaskSpec, kind: str, field: str, *, uid: str = "", language: str = "", reference: str = "", pasted: str = ""
) -> ProposalRequest:
    """``spec`` is the version the request is about; ``pasted`` takes precedence over ``reference``. Raises
    AssistanceError."""
    options: dict[str, Any] = {}
    if kind == "translate":
        if language not in LANGUAGES:
            raise AssistanceError("Choose a language to translate into.")
        options = {"language": language}
    if kind == "checklist":
        chosen = PASTED if pasted.strip() else reference
        options = {"reference": chosen, "reference_text": reference_text(spec, chosen, pasted)}
    row_uid = uid if field in ROW_FIELDS and UUID.fullmatch(uid) else ""
    return ProposalRequest(kind=cast(Kind, kind), field=field, uid=row_uid, **options)


def request_of(proposal: Proposal, spec: TaskSpec) -> ProposalRequest:
    options: Mapping[str, str] = proposal.options
    reference = options.get("reference", "")
    return ProposalRequest(
        kind=cast(Kind, proposal.kind),
        field=proposal.field,
        uid=str(proposal.item or ""),
        language=options.get("language", ""),
        reference=reference,
        reference_text=reference_text(spec, reference, options.get("reference_text", "")) if reference else "",
    )

"""What of a task a model is shown: read from the rows, in a number of queries that does not depend on the task."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evaluation.assistance.assistant import AssistanceError
from evaluation.assistance.kinds import LANGUAGES, ROW_FIELDS, Assignment
from evaluation.assistance.material import Material
from evaluation.models import Suggestion
from studio.domain.checks.sources import opening_text
from studio.domain.task import TaskSpec
from studio.domain.text.leaks import find_leak, topic_of
from studio.drafts.load import load_episode
from studio.files.previews import preview
from studio.models import Blob, Task

LARGEST_FILE = 400_000
"""Bytes; larger files are not read."""
LARGEST_REFERENCE = 16_000_000
"""Likewise of a reference, which may be a document with pictures."""
WORKFLOW = "the reference workflow"
REFERENCE_OF = "the reference of "
"""In front of an expected artifact's path."""
PASTED = "pasted text"
MOST_PASTED = 60_000
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def material_of(task: Task, spec: TaskSpec) -> Material:
    """``spec`` is the version of the task that is asked about; the rest is as it is now."""
    episode = load_episode(task.episode.persona)
    ids = [one.task_id for one in episode.tasks]
    earlier = episode.tasks[: ids.index(task.task_id)] if task.task_id in ids else ()
    topic = topic_of(intent.content for intent in spec.intents)
    leaks = (
        (number, find_leak(intent.content, opening_text(spec), topic)) for number, intent in enumerate(spec.intents, 1)
    )
    return Material(
        task=spec,
        persona=episode.persona,
        files=file_texts(spec),
        earlier={one.task_id: one.title for one in earlier},
        given_away=[(number, leak.place) for number, leak in leaks if leak],
    )


def file_texts(spec: TaskSpec) -> dict[str, str]:
    """The task's files that are text, by path."""
    contents = Blob.objects.read([file.sha256 for file in spec.assets if file.size <= LARGEST_FILE])
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
    """What a checklist shall be drawn from; empty: there is no such thing."""
    if reference == PASTED:
        return pasted[:MOST_PASTED]
    if reference == WORKFLOW:
        return spec.reference_workflow
    if reference.startswith(REFERENCE_OF) and (text := _attached(spec, reference.removeprefix(REFERENCE_OF))):
        return text
    return file_texts(spec).get(reference, "")


def _attached(spec: TaskSpec, path: str) -> str:
    """The words of an attached reference, also of a document that is no text file."""
    file = next((one for one in spec.references if one.path == path), None)
    if file is None or file.size > LARGEST_REFERENCE:
        return ""
    return preview(path, Blob.objects.read([file.sha256]).get(file.sha256, b"")).text


def assign(
    spec: TaskSpec, kind: str, field: str, *, uid: str = "", language: str = "", reference: str = "", pasted: str = ""
) -> Assignment:
    """What somebody asks for, with what it needs; ``spec`` is the version it is asked about. What is ``pasted`` goes
    before a ``reference``. Raises AssistanceError."""
    options: dict[str, str] = {}
    if kind == "translate":
        if language not in LANGUAGES:
            raise AssistanceError("Choose a language to translate into.")
        options = {"language": language}
    if kind == "checklist":
        chosen = PASTED if pasted.strip() else reference
        options = {"reference": chosen, "reference_text": reference_text(spec, chosen, pasted)}
    named = uid if field in ROW_FIELDS and UUID.fullmatch(uid) else ""
    return Assignment(kind=kind, field=field, uid=named, **options)  # type: ignore[arg-type]


def assignment_of(row: Suggestion, spec: TaskSpec) -> Assignment:
    """What a stored suggestion asked for. ``spec`` is the version it was asked about."""
    options: Mapping[str, str] = row.options
    reference = options.get("reference", "")
    return Assignment(
        kind=row.kind,  # type: ignore[arg-type]
        field=row.field,
        uid=str(row.item or ""),
        language=options.get("language", ""),
        reference=reference,
        reference_text=reference_text(spec, reference, options.get("reference_text", "")) if reference else "",
    )

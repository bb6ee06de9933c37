"""Grader scripts of a persona. Saving one makes a version of the persona and of every task that it grades, which ends
their approvals like any other edit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from django.db.models import F

from studio.domain.base import FileRef
from studio.domain.persona import PersonaSpec, script_path
from studio.drafts.load import load_episodes, load_tasks
from studio.drafts.save_personas import save_personas
from studio.drafts.save_tasks import save_tasks
from studio.drafts.validate import DraftError
from studio.findings.refresh import refresh_findings
from studio.models import Blob, GraderScript, Persona, PersonaRevision, Task, User
from studio.models.transactions import atomic_with_retry

MAX_SCRIPT = 200_000
"""Characters; the checks read no more of a script."""
FOLDER = "scripts/"
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,96}\.py")


@dataclass(frozen=True)
class ScriptVersion:
    """One content of a script, with the save of the persona that introduced it."""

    revision: PersonaRevision
    sha256: str
    before: str
    """Hash of the previous content; empty for the first version."""


@atomic_with_retry
def create_script(persona_id: int, name: str, source: str, *, by: User, task_id: int | None = None) -> GraderScript:
    """Create a script and, if given, have it grade the task. Raises DraftError."""
    name = name.strip()
    name = name if name.endswith(".py") else f"{name}.py"
    if not NAME.fullmatch(name):
        raise DraftError("name", "Use letters, digits, dots, dashes and underscores, such as lift_mail.py.")
    path = FOLDER + name
    row = Persona.objects.select_for_update(no_key=True).get(pk=persona_id)
    if any(script.path.casefold() == path.casefold() for script in row.grader_scripts.all()):
        raise DraftError("name", f"A script “{name}” already exists. Choose another name, or open that one.")
    _write(row, lambda spec: [*spec.scripts, _store_source(path, source)], (), by=by, note=f"New grader script {name}.")
    if task_id is not None:
        task = Task.objects.select_for_update(no_key=True, of=("self",)).get(
            pk=task_id, persona=row
        )  # fmt: skip
        spec = load_tasks([task.pk])[task.pk]
        spec = spec.model_copy(update={"grader_script": f"data/{row.user_id}/{path}"})
        save_tasks([(task, spec)], by=by, note=f"Graded by the new script {name}.")
    refresh_findings([row])
    return row.grader_scripts.get(path=path)


@atomic_with_retry
def save_script(script_id: int, source: str, *, by: User, note: str = "", verb: str = "edited") -> GraderScript:
    """Replace the script's text; no effect if it is the same. Raises DraftError."""
    persona = GraderScript.objects.values_list("persona", flat=True).get(pk=script_id)
    row = Persona.objects.select_for_update(no_key=True).get(pk=persona)
    script = GraderScript.objects.select_related("blob").get(pk=script_id)
    new_file, current = _store_source(script.path, source), text_of(script.blob)
    if current is not None and normalize_newlines(current) == normalize_newlines(source):
        return script
    using = tasks_graded_by(row, script.path)
    _write(
        row,
        lambda spec: [new_file if file.path == script.path else file for file in spec.scripts],
        using,
        by=by,
        note=note.strip()[:200] or f"Grader script {script.path.removeprefix(FOLDER)} changed.",
        verb=verb,
    )
    refresh_findings([row])
    return row.grader_scripts.select_related("blob").get(path=script.path)


@atomic_with_retry
def delete_script(script_id: int, *, by: User) -> None:
    """Remove a script that grades no task; its versions stay. Raises DraftError."""
    script = GraderScript.objects.get(pk=script_id)
    row = Persona.objects.select_for_update(no_key=True).get(pk=script.persona_id)
    if using := tasks_graded_by(row, script.path):
        names = ", ".join(f"“{task}”" for task in using[:3])
        raise DraftError("script", f"{names} {'is' if len(using) == 1 else 'are'} graded by it. Change that first.")
    name = script.path.removeprefix(FOLDER)
    _write(
        row, lambda spec: [file for file in spec.scripts if file.path != script.path], (), by=by,
        note=f"Grader script {name} removed.",
    )  # fmt: skip
    refresh_findings([row])


def tasks_graded_by(persona: Persona, path: str) -> list[Task]:
    rows = Task.objects.filter(persona=persona).exclude(grader_path="")
    return [row for row in rows if script_path(persona.user_id, row.grader_path) == path]


def script_versions(script: GraderScript) -> list[ScriptVersion]:
    versions: list[ScriptVersion] = []
    previous = ""
    rows = PersonaRevision.objects.filter(persona=script.persona_id).select_related("created_by")
    for revision in rows.annotate(scripts=F("spec__scripts")).defer("spec", "episode").order_by("number"):
        current = next((file["sha256"] for file in revision.scripts or () if file["path"] == script.path), "")
        if current and current != previous:
            versions.append(ScriptVersion(revision, current, previous))
        previous = current or previous
    return versions[::-1]


def normalize_newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def text_of(blob: Blob) -> str | None:
    try:
        return bytes(blob.content).decode()
    except UnicodeDecodeError:
        return None


def _store_source(path: str, source: str) -> FileRef:
    source = normalize_newlines(source)
    if len(source) > MAX_SCRIPT:
        raise DraftError("source", f"The script has {len(source):,} characters; at most {MAX_SCRIPT:,} are kept.")
    if "\0" in source:
        raise DraftError("source", "The script contains the character U+0000: remove it.")
    if not source.strip():
        raise DraftError("source", "The script is empty. Write score(tools_history), or remove the script.")
    content = (source.rstrip("\n") + "\n").encode("utf-8", "replace")
    [sha256] = Blob.objects.store([content])
    return FileRef(path=path, sha256=sha256, size=len(content))


def _write(
    row: Persona,
    change: Callable[[PersonaSpec], Iterable[FileRef]],
    using: Sequence[Task],
    *,
    by: User,
    note: str,
    verb: str = "edited",
) -> None:
    old = load_episodes([row])[row.pk]
    scripts = tuple(sorted(change(old.persona), key=lambda file: file.path))
    new = old.model_copy(update={"persona": old.persona.model_copy(update={"scripts": scripts})})
    save_personas([(row, old, new)], by=by, note=note, verb=verb)
    locked = list(
        Task.objects.select_for_update(no_key=True, of=("self",)).select_related("persona").filter(
            pk__in=[task.pk for task in using]
        )
    )  # fmt: skip
    specs = load_tasks(task.pk for task in locked)
    save_tasks(
        [(task, specs[task.pk]) for task in locked],
        by=by,
        note=note,
        touched={task.pk: "grader_script" for task in locked},
    )

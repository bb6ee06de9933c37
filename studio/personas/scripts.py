"""Grader scripts of a persona. Saving one outdates the approvals of the tasks that it grades."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.db.models import F

from studio.domain.base import Spec
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec, script_path
from studio.domain.storable import normalize_newlines
from studio.domain.task import TaskSpec
from studio.drafts.load import load_task
from studio.drafts.save_tasks import save_tasks
from studio.drafts.validate import DraftError
from studio.findings.refresh import refresh_findings
from studio.models import GraderScript, Persona, PersonaRevision, Task, User
from studio.models.transactions import atomic_with_retry
from studio.personas.files import Change, FileKind, save_file, stored_file, text_of, with_files

MAX_SCRIPT = 200_000
"""Characters; the checks read no more of a script."""
FOLDER = "scripts/"
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,96}\.py")


class ScriptText(Spec):
    """A grader script in its editor."""

    source: str = ""


class Scripts(FileKind[ScriptText]):
    """Named by their paths."""

    empty = ScriptText()

    def find(self, spec: PersonaSpec, name: str) -> ScriptText | None:
        text = text_of(next((file for file in spec.scripts if file.path == name), None))
        return None if text is None else ScriptText(source=text.rstrip("\n"))

    def put(self, episode: EpisodeSpec, name: str, text: ScriptText) -> Change:
        source = normalize_newlines(text.source).rstrip("\n")
        if len(source) > MAX_SCRIPT:
            raise DraftError("source", f"The script has {len(source):,} characters; at most {MAX_SCRIPT:,} are kept.")
        if "\0" in source:
            raise DraftError("source", "The script contains the character U+0000: remove it.")
        if not source.strip():
            raise DraftError("source", "The script is empty. Write score(tools_history), or remove the script.")
        spec = episode.persona
        if self.find(spec, name) == ScriptText(source=source):
            return Change(spec, "")
        files = with_files(spec.scripts, [stored_file(name, f"{source}\n".encode("utf-8", "replace"))])
        note = f"Grader script {name.removeprefix(FOLDER)} changed."
        return Change(spec.model_copy(update={"scripts": files}), note)

    def drop(self, episode: EpisodeSpec, name: str) -> Change:
        if using := _graded(episode, name):
            names = ", ".join(f"“{task.title.strip() or task.task_id}”" for task in using[:3])
            raise DraftError("script", f"{names} {'is' if len(using) == 1 else 'are'} graded by it. Change that first.")
        files = with_files(episode.persona.scripts, (), [name])
        note = f"Grader script {name.removeprefix(FOLDER)} removed."
        return Change(episode.persona.model_copy(update={"scripts": files}), note)


SCRIPTS = Scripts()


def _graded(episode: EpisodeSpec, path: str) -> list[TaskSpec]:
    user_id = episode.persona.user_id
    tasks = (*episode.tasks, *episode.unplaced)
    return [task for task in tasks if task.grader_script and script_path(user_id, task.grader_script) == path]


@dataclass(frozen=True)
class ScriptVersion:
    """One content of a script, with the save of the persona that introduced it."""

    revision: PersonaRevision
    sha256: str
    before: str
    """Hash of the previous content; empty for the first version."""


@atomic_with_retry
def create_script(persona: Persona, name: str, source: str, *, by: User, task_id: int | None = None) -> GraderScript:
    """Create a script and, if given, have it grade the task. Raises DraftError."""
    name = name.strip()
    name = name if name.endswith(".py") else f"{name}.py"
    if not NAME.fullmatch(name):
        raise DraftError("name", "Use letters, digits, dots, dashes and underscores, such as lift_mail.py.")
    path = FOLDER + name
    row = Persona.objects.select_for_update(no_key=True).get(pk=persona.pk)
    if row.grader_scripts.filter(path__iexact=path).exists():
        raise DraftError("name", f"A script “{name}” already exists. Choose another name, or open that one.")
    save_file(SCRIPTS, row, path, ScriptText(source=source), by=by, note=f"New grader script {name}.")
    if task_id is not None:
        task = Task.objects.select_for_update(no_key=True, of=("self",)).get(pk=task_id, persona=row)
        spec = load_task(task).model_copy(update={"grader_script": f"data/{row.user_id}/{path}"})
        save_tasks([(task, spec)], by=by, note=f"Graded by the new script {name}.")
        refresh_findings([row])
    return row.grader_scripts.get(path=path)


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


STARTER_SCRIPT = '''"""What has the agent to do with its tools? Say it here in a sentence.

The studio calls score() with the tool calls of a session, the oldest first:

    [{"tool_name": "write_file", "call": {"path": "letter.md", "content": "…"}, "result": "…"}, …]

It returns each key with 1 (earned) or 0 (not earned). For an empty list it returns every key with 0: that is how
the studio learns which keys there are. Each key counts like a checklist item of weight 1, beside the checklist.

Ask only for what the request, an intent or a file says. Look at who gets a message, and count what is sent, not
what is drafted. Python's standard library and PyYAML are there; the network is not.
"""

FILE = "letter.md"


def score(tools_history):
    earned = {"letter_written": 0, "letter_names_the_deadline": 0}
    for entry in tools_history:
        call = entry.get("call") or {}
        if tool_of(entry) == "write_file" and str(call.get("path", "")).endswith(FILE):
            earned["letter_written"] = 1
            if "deadline" in str(call.get("content", "")).lower():
                earned["letter_names_the_deadline"] = 1
    return earned


def tool_of(entry):
    """The tool's name as the tools list has it; apps are called with a prefix."""
    return str(entry.get("tool_name", "")).removeprefix("mcp_appworld_")
'''
